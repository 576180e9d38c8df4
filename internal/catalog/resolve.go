package catalog

import (
	"errors"
	"regexp"
	"slices"
	"strings"

	"github.com/yosida95/uritemplate/v3"

	"genkan/internal/gateway"
	"genkan/internal/jsonrpc"
)

// Resolve sets the tool of a call. Only here a name becomes a tool, and a URI a
// server. Arguments of a tool that are not an object are refused, so that no later
// step or server meets them.
func (c *Catalog) Resolve(call *gateway.Call) error {
	tool := c.Find(call.Kind, call.Name)
	if tool == nil {
		if call.Kind == gateway.KindTool {
			if entry, ok := c.current.Load().Entry(call.Name); ok && entry.Override.Disabled {
				e := Disabled(c.nameInAll(&entry, call.Name))
				e.Meant = entry.Tool
				return e
			}
		}
		e := c.unknown(call.Kind, call.Name)
		if m := c.meant(call.Kind, call.Name); m != nil {
			e.Meant = &gateway.Tool{Kind: call.Kind, Source: m.Source}
		}
		return e
	}
	call.Tool = tool
	if args := call.Params.Get(call.Params.Arguments); call.Kind == gateway.KindTool && args != nil && args[0] != '{' {
		return gateway.InvalidInput([]gateway.Problem{gateway.NotAnObject("arguments", jsonrpc.TypeOf(args))}, 1)
	}
	return nil
}

// nameInAll returns the name that a tool has where all servers are shown, which the
// administrator's commands use.
func (c *Catalog) nameInAll(entry *Entry, name string) string {
	for i := range c.mounts {
		if m := &c.mounts[i].Mount; m.Source == entry.Tool.Source && m.PrefixInAll != "" {
			return m.PrefixInAll + "__" + entry.Tool.Name
		}
	}
	return name
}

// Find returns what has a name that clients use; nil for nothing. A resource belongs
// to the server that lists it, then to one with a matching template, then to the
// first server with resources; of several, to the first in the configuration. A
// template that matches every URI does not count: it would take resources that
// other servers have and do not list. No server is asked.
func (c *Catalog) Find(kind gateway.Kind, name string) *gateway.Tool {
	if int(kind) >= gateway.KindCount {
		return nil // tasks are their servers' own
	}
	s := c.current.Load()
	if t, ok := s.lists[kind].byName[name]; ok {
		return t
	}
	if kind != gateway.KindResource {
		return nil
	}
	for _, p := range s.patterns {
		if p.matches.MatchString(name) {
			return p.template
		}
	}
	for i := range c.mounts {
		source := c.mounts[i].Source
		if gateway.Offers(source, gateway.KindResource) || gateway.Offers(source, gateway.KindTemplate) {
			t := *c.mounts[i].resources
			t.Name, t.Exposed = name, gateway.Short(name) // errors and the log repeat Exposed
			return &t
		}
	}
	return nil
}

// pattern matches the URIs of a template.
type pattern struct {
	matches  *regexp.Regexp
	template *gateway.Tool
}

// newPattern reports false for a template that is not valid. It stays listed: its
// server may understand it.
func newPattern(t *gateway.Tool) (pattern, bool) {
	const most = 2048 // of the template's bytes: a long one makes a huge expression
	if len(t.Name) > most {
		return pattern{}, false
	}
	parsed, err := uritemplate.New(t.Name)
	if err != nil {
		return pattern{}, false
	}
	return pattern{matches: parsed.Regexp(), template: t}, true
}

// matchesAll reports whether the pattern matches URIs of any scheme.
func (p pattern) matchesAll() bool {
	const scheme = "x-genkan-probe:"
	return slices.ContainsFunc([]string{"//host/path/to.file?query=1#part", "//host", "part"}, func(rest string) bool {
		return p.matches.MatchString(scheme + rest)
	})
}

// maxMatches bounds the work of findOverlaps.
const maxMatches = 200_000

// findOverlaps reports templates that match what other servers list, and
// templates that match everything where there are other servers with resources.
func (s *Snapshot) findOverlaps() (found []Finding) {
	listed := s.lists[gateway.KindResource].items
	suspect := func(p pattern, note gateway.Text) {
		found = append(found, Finding{
			Kind: gateway.KindTemplate, Server: p.template.Source.Name(), Name: p.template.Name, Suspect: true, Notes: []gateway.Text{note},
		})
	}
	for _, p := range s.wide {
		for _, other := range slices.Concat(listed, s.lists[gateway.KindTemplate].items) {
			if by := other.Source.Name(); by != p.template.Source.Name() {
				suspect(p, gateway.Textf("it matches every address, also those of server %s; reads of addresses that nobody lists go to the first server with resources", by))
				break
			}
		}
	}
	left := maxMatches
	for _, p := range s.patterns {
		count, first := map[string]int{}, map[string]string{}
		var servers []string
		for _, r := range listed {
			by := r.Source.Name()
			if by == p.template.Source.Name() {
				continue
			}
			if left--; left < 0 {
				return found
			}
			if !p.matches.MatchString(r.Name) {
				continue
			}
			if count[by]++; count[by] == 1 {
				first[by] = gateway.Short(r.Name)
				servers = append(servers, by)
			}
		}
		for _, by := range servers {
			suspect(p, gateway.Textf("it matches %d addresses that server %s lists, such as %s; those are read from %s", count[by], by, first[by], by))
		}
	}
	return found
}

// ErrDisabled is why a call of a disabled tool is refused.
var ErrDisabled = errors.New("the tool is disabled")

// ErrNotListed is why a call is refused whose server has not listed any tools yet.
var ErrNotListed = errors.New("the server has not listed any tools yet")

// Disabled is the error for a call of a disabled tool.
func Disabled(name string) *gateway.Error {
	return &gateway.Error{
		Code: gateway.CodeDenied, Err: ErrDisabled, Unsent: true,
		Message: "Tool is disabled: %s. An admin has switched it off. Do not work around that: ask the user, who can have it switched on again",
		Values:  []any{name},
	}
}

// IsDisabled reports whether a call was refused because its own tool is disabled. The error
// of a workflow that called a disabled tool only has ErrDisabled among its causes.
func IsDisabled(e *gateway.Error) bool {
	return e != nil && e.Err == ErrDisabled //nolint:errorlint // no other cause counts
}

// DisabledForAdmins returns an error of Disabled with the command that switches the tool on
// again, and any other error unchanged. Agents do not get it: they would undo what an
// administrator has decided.
func DisabledForAdmins(e *gateway.Error) *gateway.Error {
	if !IsDisabled(e) || len(e.Values) == 0 {
		return e
	}
	name := e.Values[0]
	return &gateway.Error{
		Code: e.Code, Err: e.Err, Unsent: true,
		Message: "Tool is disabled: %s. An admin has switched it off; `genkan tools enable %s` switches it on again",
		Values:  []any{name, name},
	}
}

// unknown is the error for a name that nothing has.
func (c *Catalog) unknown(kind gateway.Kind, name string) *gateway.Error {
	asked := name
	name = gateway.Short(name)
	switch kind {
	case gateway.KindPrompt:
		return gateway.Errorf(gateway.CodeNotFound, "Unknown prompt: %s. prompts/list names the prompts there are", name)
	case gateway.KindResource, gateway.KindTemplate:
		return gateway.Errorf(gateway.CodeNotFound, "Resource not found: %s. resources/list names the resources there are", name)
	case gateway.KindTask:
		return gateway.Errorf(gateway.CodeNotFound, "Task not found: %s. It has ended long ago, or another client's call made it", name)
	case gateway.KindTool:
	}
	why := c.Unknown(asked)
	switch said := why.Sentence(); {
	case said.Format != "":
		// The tool may well exist, so this is no unknown name.
		return &gateway.Error{Code: gateway.CodeUnavailable, Err: ErrNotListed, Unsent: true, Message: said.Format, Values: said.Values}
	case why.Near != "":
		return gateway.Errorf(gateway.CodeNotFound,
			"Unknown tool: %s. Did you mean %s? tools/list names the tools there are", name, why.Near)
	}
	return gateway.Errorf(gateway.CodeNotFound,
		"Unknown tool: %s. tools/list names the tools there are", name)
}

// Unknown is what can be said about a name that no tool has.
type Unknown struct {
	// Server is the server whose prefix the name has, when that server has not
	// listed any tools yet. Down reports that it is down, and Problem why.
	Server  string
	Down    bool
	Problem gateway.Text
	// Near is the tool that was probably meant; empty when none is near.
	Near string
}

// Sentence says that the server is down or still starting; empty if Server is.
func (u Unknown) Sentence() gateway.Text {
	switch {
	case u.Down:
		return gateway.Textf(
			"Server %s is down and has not listed any tools yet: %s. `genkan servers %s` says more",
			u.Server, u.Problem, u.Server)
	case u.Server != "":
		return gateway.Textf(
			"Server %s is starting and has not listed any tools yet; try again in a moment. `genkan servers %s` shows what it waits for", u.Server, u.Server)
	}
	return gateway.Text{}
}

// meant returns the mount that a name is for that nothing has: the one with the longest
// prefix that the name begins with, or the only one if it has no prefix. It returns nil if
// there is none.
func (c *Catalog) meant(kind gateway.Kind, name string) *Mount {
	var prefixed, alone *Mount
	mounts := 0
	for i := range c.mounts {
		m := &c.mounts[i].Mount // its lists are another goroutine's
		if m.Claim == ClaimReserved {
			continue
		}
		mounts++
		switch {
		case m.Prefix == "":
			alone = m
		case kind != gateway.KindTool && kind != gateway.KindPrompt: // only these have prefixes
		case strings.HasPrefix(name, m.Prefix+"__") && (prefixed == nil || len(m.Prefix) > len(prefixed.Prefix)):
			prefixed = m
		}
	}
	if prefixed == nil && mounts == 1 {
		return alone
	}
	return prefixed
}

// Unknown returns what can be said about a name that no tool has: its server may be
// down, or the name may be misspelt. It compares the name with every tool's.
func (c *Catalog) Unknown(name string) Unknown {
	if m := c.meant(gateway.KindTool, name); m != nil && len(m.Source.List(gateway.KindTool)) == 0 {
		out := Unknown{Server: m.Source.Name()}
		health := gateway.HealthOf(m.Source)
		out.Problem, out.Down = health.Problem, health.Down
		return out
	}
	tools := c.current.Load().Tools()
	for _, t := range tools {
		if t.ListedName() == name { // as its server calls it
			return Unknown{Near: t.Exposed}
		}
	}
	return Unknown{Near: gateway.Nearest(name, func(yield func(string) bool) {
		for _, t := range tools {
			if !yield(t.Exposed) {
				return
			}
		}
	})}
}
