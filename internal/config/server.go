package config

import (
	"cmp"
	"net/http"
	"slices"
	"strings"
	"unicode"

	"genkan/internal/gateway"
)

// servers decodes mcpServers, in file order.
func (d *decoder) servers(n *node, at string) []Server {
	if !d.is(n, kindMap, at) {
		return nil
	}
	// Suggested names must not be each other's, nor one in the file.
	taken := make(map[string]bool, len(n.entries))
	for _, e := range n.entries {
		taken[e.key] = true
	}
	var servers []Server
	prefixes := map[string]string{}
	d.each(n, at, func(e entry) {
		if !gateway.IsServerName(e.key) {
			better := gateway.BetterServerName(e.key, func(s string) bool { return taken[s] })
			taken[better] = true
			d.problems.add(e.at, "%q cannot be the name of a server: %s",
				cutWord(e.key), gateway.HowAbout(gateway.WrongInName(e.key, "-", false, gateway.MaxServerName), better))
		}
		s, prefixAt := d.server(e, join(at, e.key))
		// A disabled twin (the local and the remote variant of one server)
		// has no tools and cannot be in the way.
		if s.Prefix != "" && !s.Disabled && gateway.IsServerName(e.key) {
			if other, again := prefixes[s.Prefix]; again {
				d.problems.add(prefixAt, "%s has the prefix %q, as %s has; their tools would be confused, so give one of them another prefix",
					join(at, e.key), s.Prefix, join(at, other))
			} else {
				prefixes[s.Prefix] = e.key
			}
		}
		servers = append(servers, s)
	})
	return servers
}

// serverDraft is a server while its keys are being read, in whatever order.
type serverDraft struct {
	Server
	kind     string              // "stdio", "http" or "sse", when the file says so
	given    map[string]position // the keys that were written
	prefixAt position
}

// server decodes one server; the position is the one of its prefix.
func (d *decoder) server(e entry, at string) (Server, position) {
	s := serverDraft{
		Server: Server{
			Name: e.key, Prefix: e.key, Isolation: IsolationAuto,
			Timeout: DefaultTimeout, StartupTimeout: DefaultStartupTimeout,
		},
		given:    map[string]position{},
		prefixAt: e.at,
	}
	if e.value.kind != kindNull {
		if !d.is(e.value, kindMap, at) {
			return s.Server, s.prefixAt
		}
		for _, k := range e.value.entries {
			if _, again := s.given[k.key]; !again && k.value.kind != kindNull {
				s.given[k.key] = k.at
			}
		}
		s.Definition = gateway.Secret(e.value.appendJSON(nil))
		d.unresolved, d.missing = nil, nil
		d.object(e.value, at, d.serverFields(&s))
		if len(d.unresolved) > 0 {
			s.Unresolved, s.Missing = gateway.Texts{Between: gateway.Apart, Each: d.unresolved}, d.missing
		}
	}
	d.transport(&s, e.at, at)
	return s.Server, s.prefixAt
}

// transport checks that a server is one thing: a process or an endpoint.
func (d *decoder) transport(s *serverDraft, serverAt position, at string) {
	command, isProcess := s.given["command"]
	url, isEndpoint := s.given["url"]
	switch {
	case isProcess && isEndpoint:
		if url.before(command) {
			url = command
		}
		d.problems.add(url, "%s has both command and url; keep one: command starts a process, url calls a remote server", at)
		return
	case !isProcess && !isEndpoint:
		d.problems.add(serverAt, "%s needs a command (a process to start) or a url (a remote server to call)", at)
		return
	}
	if s.kind == "stdio" && isEndpoint {
		d.problems.add(s.given["type"], "%s.type is stdio, but the server has a url; remove type", at)
	}
	if (s.kind == TransportHTTP || s.kind == TransportSSE) && isProcess {
		d.problems.add(s.given["type"], "%s.type is %s, but the server has a command; remove type", at, s.kind)
	}
	if isEndpoint && s.kind != "stdio" {
		s.Transport = s.kind
	}
	foreign, has, belongs := []string{"headers", "oauth"}, "command", "url"
	if isEndpoint {
		foreign, has, belongs = []string{"args", "env", "cwd"}, "url", "command"
	}
	for _, key := range foreign {
		if p, ok := s.given[key]; ok {
			d.problems.add(p, "%s.%s goes with %s, but the server has a %s; remove it", at, key, belongs, has)
		}
	}
}

func (d *decoder) serverFields(s *serverDraft) []field {
	return []field{
		{"command", func(n *node, at string) { s.Command, _ = d.expanded(n, at, checkCommand) }},
		{"args", func(n *node, at string) {
			d.list(n, at, func(_ string, item *node, at string) {
				if v, ok := d.expanded(item, at, checkArgument); ok {
					s.Args = append(s.Args, v)
				}
			})
		}},
		{"env", func(n *node, at string) { s.Env = d.environment(n, at) }},
		{"cwd", func(n *node, at string) { s.Cwd, _ = d.expanded(n, at, checkArgument) }},
		{"url", func(n *node, at string) { s.URL, _ = d.expanded(n, at, checkURL) }},
		{"type", func(n *node, at string) { s.kind = d.serverType(n, at) }},
		{"headers", func(n *node, at string) { s.Headers = d.headers(n, at) }},
		{"oauth", func(n *node, at string) { s.OAuth = d.oauth(n, at) }},
		{"prefix", func(n *node, at string) {
			s.prefixAt = n.at
			s.Prefix, _ = d.checked(n, at, checkPrefix)
		}},
		{"overwrite", func(n *node, at string) { s.Overwrite, _ = d.truth(n, at) }},
		{"isolation", func(n *node, at string) {
			if w, ok := d.oneOf(n, at, []string{IsolationAuto, IsolationShared, IsolationSession, IsolationRoot}); ok {
				s.Isolation = w
			}
		}},
		{"timeout", func(n *node, at string) {
			if v, ok := d.duration(n, at); ok {
				s.Timeout = v
			}
		}},
		{"startupTimeout", func(n *node, at string) {
			if v, ok := d.duration(n, at); ok {
				s.StartupTimeout = v
			}
		}},
		{"disabled", func(n *node, at string) { s.Disabled, _ = d.truth(n, at) }},
		{"tools", func(n *node, at string) { d.object(n, at, d.serverToolFields(&s.Server)) }},
		{"budget", func(n *node, at string) { s.Budget = d.budget(n, at) }},
		{"validate", func(n *node, at string) { s.Validate, _ = d.truth(n, at) }},
		{"schemas", func(n *node, at string) { s.Schemas, _ = d.oneOf(n, at, schemas()) }},
	}
}

func (d *decoder) toolFields(f *ToolFilter) []field {
	return []field{
		{"allow", func(n *node, at string) {
			f.Allow = d.globs(n, at)
			if n.kind == kindList && len(n.items) == 0 {
				d.problems.add(n.at, "%s is empty, which would hide every tool; remove it, or use disabled: true", at)
			}
		}},
		{"deny", func(n *node, at string) { f.Deny = d.globs(n, at) }},
	}
}

// serverToolFields are what a server's tools have beside a profile's.
func (d *decoder) serverToolFields(s *Server) []field {
	return append(d.toolFields(&s.Tools), field{"options", func(n *node, at string) {
		if !d.is(n, kindMap, at) {
			return
		}
		d.each(n, at, func(e entry) {
			at := join(at, e.key)
			d.pattern(e.key, e.at, at)
			one := ToolOptions{Pattern: e.key}
			d.object(e.value, at, d.toolOptionFields(&one))
			s.ToolOptions = append(s.ToolOptions, one)
		})
	}})
}

func (d *decoder) toolOptionFields(o *ToolOptions) []field {
	return []field{
		{"timeout", func(n *node, at string) { o.Timeout, _ = d.duration(n, at) }},
		{"retry", func(n *node, at string) {
			if v, ok := d.integer(n, at, 0, mostRetries); ok {
				o.Retries = cmp.Or(v, gateway.NoRetries)
			}
		}},
		{"retryDelay", func(n *node, at string) {
			v, ok := d.duration(n, at)
			if ok && v > longestRetryGap {
				d.problems.add(n.at, "%s must not be longer than %s", at, longestRetryGap)
			}
			o.RetryDelay = v
		}},
		{"budget", func(n *node, at string) { o.Budget = d.budget(n, at) }},
		{"version", func(n *node, at string) { o.Version, _ = d.checked(n, at, checkLabel) }},
		{"category", func(n *node, at string) { o.Category, _ = d.checked(n, at, checkLabel) }},
		{"tags", func(n *node, at string) {
			o.Tags = []string{}
			d.list(n, at, func(_ string, item *node, at string) {
				if tag, ok := d.checked(item, at, checkLabel); ok && !slices.Contains(o.Tags, tag) {
					o.Tags = append(o.Tags, tag)
				}
			})
			if len(o.Tags) > mostTags {
				d.problems.add(n.at, "%s must not have more than %d entries", at, mostTags)
			}
		}},
	}
}

func (d *decoder) serverType(n *node, at string) string {
	switch w, _ := d.oneOf(n, at, []string{"stdio", "http", "streamable-http", "streamableHttp", "sse"}); w {
	case "streamable-http", "streamableHttp":
		return TransportHTTP
	default:
		return w
	}
}

// environment reads the variables of a process.
func (d *decoder) environment(n *node, at string) map[string]gateway.Secret {
	return d.secrets(n, at, checkArgument, func(e entry, _ map[string]gateway.Secret) bool {
		// Not repeated: a name like this is more likely half of a NAME=value.
		wrong := gateway.Textf("%s has a name that a variable cannot have; write NAME: value", at)
		blank := strings.ContainsFunc(e.key, func(r rune) bool { return unprintable(r) || unicode.IsSpace(r) })
		switch {
		case e.key == "" || strings.ContainsAny(e.key, "=\x00") || blank && !d.whole:
			d.problems.add(e.at, wrong.Format, wrong.Values...)
		case blank: // files have had such names
			d.unresolved = append(d.unresolved, wrong)
		default:
			return true
		}
		return false
	})
}

// headers reads the headers of an endpoint; their names ignore case.
func (d *decoder) headers(n *node, at string) map[string]gateway.Secret {
	return d.secrets(n, at, checkHeader, func(e entry, soFar map[string]gateway.Secret) bool {
		if !legalHeader(e.key) {
			d.problems.add(e.at, "%s has a name that a header cannot have; write Name: value", at)
			return false
		}
		for name := range soFar {
			if http.CanonicalHeaderKey(name) == http.CanonicalHeaderKey(e.key) {
				d.problems.add(e.at, "%s has %q and %q, which are the same header", at, cutWord(name), cutWord(e.key))
				return false
			}
		}
		return true
	})
}

// secrets reads a map whose values are not for anyone's eyes.
func (d *decoder) secrets(
	n *node, at string, check func(string) error, legal func(entry, map[string]gateway.Secret) bool,
) map[string]gateway.Secret {
	if !d.is(n, kindMap, at) {
		return nil
	}
	values := make(map[string]gateway.Secret, len(n.entries))
	d.each(n, at, func(e entry) {
		if e.value.kind == kindNull {
			// The "name" may be a value that lost its name: {ghp_…}.
			d.problems.add(e.at, "%s has an entry without a value; write name: value", at)
			return
		}
		if !legal(e, values) {
			return
		}
		if v, ok := d.expanded(e.value, join(at, e.key), check); ok {
			values[e.key] = gateway.Secret(v)
		}
	})
	return values
}

// expanded reads a text with variables, and checks what they make of it.
func (d *decoder) expanded(n *node, at string, check func(string) error) (string, bool) {
	s, ok := d.text(n, at)
	if !ok {
		return "", false
	}
	v, errs := expand(s, d.from)
	if len(errs) == 0 {
		if err := check(v); err != nil {
			errs = append(errs, err)
		}
	}
	for _, err := range errs {
		if gone, ok := err.(absence); ok { //nolint:errorlint // expand does not wrap
			d.unresolved = append(d.unresolved, gateway.Textf("%s %s", at, gone.flaw))
			d.missing = append(d.missing, gone.what)
			continue
		}
		d.problems.add(n.at, "%s %s", at, err)
	}
	return v, len(errs) == 0
}
