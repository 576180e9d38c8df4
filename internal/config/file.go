package config

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"

	"genkan/internal/gateway"
)

// logLevels, langs and schemas are functions because a package has no constants of
// these types, and a variable could be changed.
func logLevels() []string { return []string{"fatal", "error", "warn", "info", "debug", "trace"} }
func langs() []string     { return []string{"en", "ja"} }
func schemas() []string   { return []string{SchemasPlain, SchemasOriginal} }

// layer is what one source says; nil is silence. The file, the environment
// and the flags each make one, and a later one wins.
type layer struct {
	host         *string
	port         *int
	logLevel     *string
	lang         *string
	corsEnabled  *bool
	corsOrigins  *[]string
	rateLimit    RateLimit
	allowedHosts *[]string
	folders      []string
	behindProxy  *bool
	tlsCert      *string
	tlsKey       *string
	pageSize     int
	loginShell   *bool
	learn        *bool
	embeddings   Embeddings
	knowledge    Knowledge
	n8n          []N8N
	workflows    string
	approvals    Approvals
	record       Record
	budget       int
	schemas      *string
	servers      []Server
	rejected     []RejectedServer
	listing      Listing
	profiles     []Profile
	clients      []Client

	clientMetadataURL string

	// Where the file says it, for what can only be judged at the end.
	corsAt, tlsAt position
	// corsRefused says that an origin has had its own problem.
	corsRefused bool
}

// over lays l over the layer below it.
func (l layer) over(below layer) layer {
	return layer{
		host:         cmp.Or(l.host, below.host),
		port:         cmp.Or(l.port, below.port),
		logLevel:     cmp.Or(l.logLevel, below.logLevel),
		lang:         cmp.Or(l.lang, below.lang),
		corsEnabled:  cmp.Or(l.corsEnabled, below.corsEnabled),
		corsOrigins:  cmp.Or(l.corsOrigins, below.corsOrigins),
		rateLimit:    cmp.Or(l.rateLimit, below.rateLimit),
		allowedHosts: cmp.Or(l.allowedHosts, below.allowedHosts),
		folders:      below.folders,
		behindProxy:  cmp.Or(l.behindProxy, below.behindProxy),
		tlsCert:      cmp.Or(l.tlsCert, below.tlsCert),
		tlsKey:       cmp.Or(l.tlsKey, below.tlsKey),
		pageSize:     cmp.Or(l.pageSize, below.pageSize),
		loginShell:   cmp.Or(l.loginShell, below.loginShell),
		learn:        cmp.Or(l.learn, below.learn),
		embeddings:   below.embeddings,
		knowledge:    below.knowledge,
		n8n:          withN8N(below.n8n, l.n8n),
		workflows:    below.workflows,
		approvals:    below.approvals,
		record:       below.record,
		budget:       below.budget,
		schemas:      cmp.Or(l.schemas, below.schemas),
		servers:      append(below.servers, l.servers...),
		rejected:     below.rejected,
		listing:      below.listing,
		profiles:     append(below.profiles, l.profiles...),
		clients:      append(below.clients, l.clients...),
		corsAt:       cmp.Or(l.corsAt, below.corsAt),
		tlsAt:        cmp.Or(l.tlsAt, below.tlsAt),
		corsRefused:  l.corsRefused || below.corsRefused,

		clientMetadataURL: cmp.Or(l.clientMetadataURL, below.clientMetadataURL),
	}
}

// file decodes the tree of a file.
func (d *decoder) file(n *node) layer {
	var l layer
	if n == nil || n.kind == kindNull {
		return l
	}
	d.object(n, "", d.fileFields(&l))
	d.checkReferences(&l)
	return l
}

func (d *decoder) fileFields(l *layer) []field {
	// A file that says listen and also host or port is contradicting itself
	// sooner or later.
	var listen, apart bool
	clash := func(n *node) bool {
		if listen && apart {
			d.problems.add(n.at, "listen already has the host and the port; write either listen, or host and port")
			return true
		}
		return false
	}
	return append(d.listingFields(&l.listing), []field{
		{"mcpServers", func(n *node, at string) { l.servers = d.servers(n, at) }},
		{"listen", func(n *node, at string) {
			listen = true
			s, ok := d.text(n, at)
			if clash(n) || !ok {
				return
			}
			host, port, err := checkListen(s)
			if err != nil {
				d.problems.add(n.at, "%s %s", at, err)
				return
			}
			l.host, l.port = &host, &port
		}},
		{"host", func(n *node, at string) {
			apart = true
			if host, ok := d.checked(n, at, checkHost); ok && !clash(n) {
				l.host = &host
			}
		}},
		{"port", func(n *node, at string) {
			apart = true
			if port, ok := d.integer(n, at, 1, 65535); ok && !clash(n) {
				l.port = &port
			}
		}},
		{"logLevel", func(n *node, at string) { d.word(&l.logLevel, n, at, logLevels()) }},
		{"lang", func(n *node, at string) { d.word(&l.lang, n, at, langs()) }},
		{"cors", func(n *node, at string) { d.object(n, at, d.corsFields(l)) }},
		{"rateLimit", func(n *node, at string) {
			const unsaid = -1
			limit := RateLimit{Max: unsaid, TimeWindow: DefaultTimeWindow}
			d.object(n, at, d.rateLimitFields(&limit))
			switch {
			case limit.Max == unsaid && n.kind == kindMap:
				d.problems.add(n.at, "%s needs max, the number of calls per timeWindow; 0 is no limit", at)
			case limit.Max > 0:
				l.rateLimit = limit
			}
		}},
		{"allowedHosts", func(n *node, at string) {
			hosts := []string{}
			d.list(n, at, func(_ string, item *node, at string) {
				if h, ok := d.checked(item, at, checkAllowedHost); ok {
					hosts = append(hosts, h)
				}
			})
			l.allowedHosts = &hosts
		}},
		{"folders", func(n *node, at string) {
			d.list(n, at, func(_ string, item *node, at string) {
				if folder, ok := d.checked(item, at, checkFolder); ok {
					l.folders = append(l.folders, folder)
				}
			})
		}},
		{"behindProxy", func(n *node, at string) { d.flag(&l.behindProxy, n, at) }},
		{"tls", func(n *node, at string) {
			l.tlsAt = n.at
			d.object(n, at, d.tlsFields(l))
		}},
		{"oauth", func(n *node, at string) { d.object(n, at, d.fileOAuthFields(l)) }},
		{"pageSize", func(n *node, at string) { l.pageSize, _ = d.integer(n, at, 0, maxInt) }},
		{"loginShell", func(n *node, at string) { d.flag(&l.loginShell, n, at) }},
		{"learn", func(n *node, at string) { d.flag(&l.learn, n, at) }},
		{"embeddings", func(n *node, at string) { l.embeddings = d.embeddings(n, at, DefaultEmbeddingsWeight) }},
		{KnowledgeSource, func(n *node, at string) { d.object(n, at, d.knowledgeFields(&l.knowledge)) }},
		{N8NSource, func(n *node, at string) { l.n8n = d.n8n(n, at) }},
		{"workflows", func(n *node, at string) { l.workflows, _ = d.checked(n, at, checkFolder) }},
		{"approvals", func(n *node, at string) { l.approvals = d.approvals(n, at) }},
		{"record", func(n *node, at string) { d.record(&l.record, n, at) }},
		{"budget", func(n *node, at string) { l.budget = d.budget(n, at) }},
		{"schemas", func(n *node, at string) { d.word(&l.schemas, n, at, schemas()) }},
		{"profiles", func(n *node, at string) { l.profiles = d.profiles(n, at) }},
		{"clients", func(n *node, at string) { l.clients = d.clients(n, at) }},
	}...)
}

func (d *decoder) corsFields(l *layer) []field {
	return []field{
		{"enabled", func(n *node, at string) {
			l.corsAt = n.at
			d.flag(&l.corsEnabled, n, at)
		}},
		{"origin", func(n *node, at string) {
			origins := []string{}
			add := func(n *node, at string) {
				if o, ok := d.checked(n, at, checkOrigin); ok {
					origins = append(origins, o)
				} else {
					l.corsRefused = true
				}
			}
			switch n.kind {
			case kindText:
				add(n, at)
			case kindList:
				for i, item := range n.items {
					add(item, fmt.Sprintf("%s[%d]", at, i))
				}
			default:
				d.problems.add(n.at, "%s must be text or a list of texts, found %s", at, n.kind.text())
				l.corsRefused = true
			}
			l.corsOrigins = &origins
		}},
	}
}

func (d *decoder) knowledgeFields(k *Knowledge) []field {
	return []field{
		{"enabled", func(n *node, at string) {
			var on *bool
			d.flag(&on, n, at)
			k.Off = !or(on, true)
		}},
		{"statuses", func(n *node, at string) { k.Statuses = d.statuses(n, at) }},
		{"semantic", func(n *node, at string) { k.Semantic = d.embeddings(n, at, DefaultSemanticWeight) }},
	}
}

// record reads what the call history keeps: settings, or off for nothing.
func (d *decoder) record(r *Record, n *node, at string) {
	if n.kind == kindBool || n.kind == kindText {
		on, ok := d.switched(n, at)
		r.Off = ok && !on
		return
	}
	d.object(n, at, d.recordFields(r))
}

func (d *decoder) recordFields(r *Record) []field {
	return []field{
		{"enabled", func(n *node, at string) {
			var on *bool
			d.flag(&on, n, at)
			r.Off = !or(on, true)
		}},
		{"bodies", func(n *node, at string) {
			if n.kind == kindBool && n.text == "false" { // off, as YAML 1.1 reads it
				r.Bodies = BodiesOff
				return
			}
			r.Bodies, _ = d.oneOf(n, at, []string{BodiesLocal, BodiesAll, BodiesOff})
		}},
		{"replay", func(n *node, at string) {
			on, ok := d.switched(n, at)
			r.NoReplay = ok && !on
		}},
		{"days", func(n *node, at string) { r.Days, _ = d.integer(n, at, 1, 3650) }},
		{"megabytes", func(n *node, at string) { r.Megabytes, _ = d.integer(n, at, 16, 1<<20) }},
	}
}

// budget reads a number of tokens, or off for any number.
func (d *decoder) budget(n *node, at string) int {
	if n.kind == kindBool && n.text == "false" || n.kind == kindText && strings.EqualFold(n.text, "off") {
		return gateway.NoBudget
	}
	tokens, err := strconv.Atoi(n.text)
	if n.kind != kindNumber || err != nil || tokens < gateway.LeastBudget || tokens > maxInt || strconv.Itoa(tokens) != n.text {
		d.problems.add(n.at, "%s must be a number of tokens in digits, %d or more", at, gateway.LeastBudget)
		d.problems.hint(gateway.Textf("; off is any number"))
		return 0
	}
	return tokens
}

// switched reads on or off, or a boolean.
func (d *decoder) switched(n *node, at string) (on, ok bool) {
	if n.kind == kindBool {
		return n.text == "true", true
	}
	if n.kind == kindText {
		if word, ok := fold(n.text, []string{"on", "off"}); ok {
			return word == "on", true
		}
	}
	d.problems.add(n.at, "%s must be on or off", at)
	return false, false
}

func (d *decoder) rateLimitFields(r *RateLimit) []field {
	return []field{
		{"max", func(n *node, at string) { r.Max, _ = d.integer(n, at, 0, maxInt) }},
		{"timeWindow", func(n *node, at string) {
			if v, ok := d.duration(n, at); ok {
				r.TimeWindow = v
			}
		}},
	}
}

func (d *decoder) tlsFields(l *layer) []field {
	path := func(into **string) func(*node, string) {
		return func(n *node, at string) {
			if s, ok := d.text(n, at); ok && s != "" {
				*into = &s
			}
		}
	}
	return []field{{"cert", path(&l.tlsCert)}, {"key", path(&l.tlsKey)}}
}

func (d *decoder) word(into **string, n *node, at string, words []string) {
	if w, ok := d.oneOf(n, at, words); ok {
		*into = &w
	}
}

func (d *decoder) flag(into **bool, n *node, at string) {
	if b, ok := d.truth(n, at); ok {
		*into = &b
	}
}
