package workflow

import (
	"context"
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	"genkan/internal/gateway"
	"genkan/internal/jsonrpc"
)

// matcher says which calls a workflow is for.
type matcher struct {
	servers, tools, clients patterns
	annotations             map[string]bool
	when                    *expression
}

func (b *Builder) matcher(m *Match) matcher {
	for _, tool := range m.Tools {
		if name := strings.TrimPrefix(tool, "!"); !strings.Contains(name, "__") && !strings.ContainsAny(name, "*?") {
			b.Problem("the tool %q matches nothing; tools are matched as server__tool, so write *__%s for the tool of any server", gateway.Short(tool), gateway.Short(name))
		}
	}
	for hint := range m.Annotations {
		b.OneOf("a key of match.annotations", hint, hintReadOnly, hintDestructive, hintIdempotent, hintOpenWorld)
	}
	made := matcher{servers: m.Servers, tools: m.Tools, clients: m.Clients, annotations: m.Annotations}
	if m.When != "" {
		b.node = &Node{ID: matchWhen}
		made.when = b.compileExpression(m.When, true)
		b.node = nil
		for i := range b.problems {
			if p := &b.problems[i]; p.Node == matchWhen {
				p.Reason = gateway.Textf("\"Only if\" (match.when): %s", p.Reason)
			}
		}
	}
	return made
}

// Problems returns what is wrong with the values of a match, each at its field.
func (m *Match) Problems() (all []gateway.Problem) {
	add := func(keyword string, text gateway.Text, path ...string) {
		path = append([]string{"match"}, path...)
		all = append(all, gateway.Problem{Field: gateway.FieldName(path), Pointer: gateway.Pointer(path), Keyword: keyword, Text: text})
	}
	check := func(part Match, path ...string) {
		b := &Builder{}
		b.matcher(&part)
		for _, p := range b.problems {
			if p.Line > 0 {
				p.Reason = gateway.Textf("line %d, column %d: %s", p.Line, p.Column, p.Reason)
			}
			add("format", p.Reason, path...)
		}
	}
	for _, list := range []struct {
		name     string
		patterns []string
	}{{"tools", m.Tools}, {"servers", m.Servers}, {"clients", m.Clients}} {
		for i, pattern := range list.patterns {
			at := strconv.Itoa(i)
			switch {
			case strings.TrimSpace(pattern) == "":
				add("minLength", gateway.Textf("%s is empty", gateway.FieldName([]string{"match", list.name, at})), list.name, at)
				all[len(all)-1].Params = map[string]any{"limit": 1}
			case list.name == "tools":
				check(Match{Tools: []string{pattern}}, list.name, at)
			}
		}
	}
	check(Match{Annotations: m.Annotations}, "annotations")
	check(Match{When: m.When}, "when")
	return all
}

// UnmatchedTools returns the patterns of tools that match none of the names server__tool.
func (m *Match) UnmatchedTools(names []string) (unmatched []string) {
	for _, pattern := range m.Tools {
		wanted := strings.TrimPrefix(pattern, "!")
		if !slices.ContainsFunc(names, func(name string) bool { return glob(wanted, name) }) {
			unmatched = append(unmatched, pattern)
		}
	}
	return unmatched
}

// NoServers returns the patterns by which a match is for none of the servers; none if it
// is for at least one. A server that lists nothing now counts.
func (m *Match) NoServers(servers []string) []string {
	var known []string
	for _, server := range servers {
		if patterns(m.Servers).match(server) {
			known = append(known, server)
		}
	}
	wanted := func(of []string) []string {
		return slices.DeleteFunc(slices.Clone(of), func(one string) bool { return strings.HasPrefix(one, "!") })
	}
	if len(known) == 0 {
		return wanted(m.Servers)
	}
	named := func(tool string) bool { // also by a pattern, and if the server is not said
		server, _, said := strings.Cut(tool, "__")
		return !said || slices.ContainsFunc(known, func(name string) bool { return glob(server, name) })
	}
	if tools := wanted(m.Tools); len(tools) > 0 && !slices.ContainsFunc(tools, named) {
		return tools
	}
	return nil
}

// settingName is a setting by the name that the editor shows and the one in files.
func settingName(key string) gateway.Text {
	part, _, _ := strings.Cut(key, ".")
	switch {
	case key == "limits.payloadKB":
		return gateway.Textf("\"Largest call and answer for scripts (KB)\" (limits.payloadKB)")
	case part == "limits":
		return gateway.Textf("\"Limits\" (%s)", key)
	default:
		return gateway.Textf("%s", key)
	}
}

// matchWhen stands for a node in what is said about the expression.
const matchWhen = "match.when"

// tool reports whether the workflow is for a tool, whoever calls it.
func (m *matcher) tool(t *gateway.Tool) bool {
	server := t.Source.Name()
	return m.servers.match(server) && (len(m.tools) == 0 || m.tools.match(server+"__"+t.Name)) && m.hints(t)
}

// The hints of MCP.
const (
	hintReadOnly    = "readOnlyHint"
	hintDestructive = "destructiveHint"
	hintIdempotent  = "idempotentHint"
	hintOpenWorld   = "openWorldHint"
)

// hints reports whether a tool has the wanted annotations. By MCP, a tool that says
// nothing is neither read-only nor idempotent, and may destroy and reach anything.
func (m *matcher) hints(t *gateway.Tool) bool {
	if len(m.annotations) == 0 {
		return true
	}
	has := map[string]bool{hintReadOnly: false, hintDestructive: true, hintIdempotent: false, hintOpenWorld: true}
	annotations := Annotations(t)
	said := map[string]bool{}
	for hint := range has {
		var value bool
		if raw := jsonrpc.Lookup(annotations, hint); raw != nil && json.Unmarshal(raw, &value) == nil {
			has[hint], said[hint] = value, value
		}
	}
	// A tool that claims both is not believed that it only reads.
	has[hintReadOnly] = has[hintReadOnly] && !said[hintDestructive]
	has[hintDestructive] = has[hintDestructive] && !has[hintReadOnly]
	for hint, wanted := range m.annotations {
		if has[hint] != wanted {
			return false
		}
	}
	return true
}

// Annotations returns the annotations that the server itself gives its tool, whatever a
// workflow shows of it; nil if it gives none.
func Annotations(t *gateway.Tool) []byte {
	if t.Rewritten != nil {
		return t.Rewritten.Annotations
	}
	return jsonrpc.Lookup(t.Definition, "annotations")
}

// applies evaluates the expression of a matcher on a run that is about to begin.
func (m *matcher) applies(ctx context.Context, r *Run) (bool, error) {
	if m.when == nil {
		return true, nil
	}
	return m.when.holds(ctx, r)
}

// patterns are names with * and ?. One that begins with ! excludes.
type patterns []string

// match reports whether a name matches one of the patterns, and none that excludes.
// Patterns that only exclude match everything else.
func (p patterns) match(name string) bool {
	wanted, only := false, true
	for _, pattern := range p {
		if excluded, ok := strings.CutPrefix(pattern, "!"); ok {
			if glob(excluded, name) {
				return false
			}
			continue
		}
		only = false
		wanted = wanted || glob(pattern, name)
	}
	return wanted || only
}

// glob reports whether a name matches a pattern, in which * stands for any text and ?
// for one byte.
func glob(pattern, name string) bool {
	star, from := -1, 0
	p, n := 0, 0
	for n < len(name) {
		switch {
		case p < len(pattern) && pattern[p] == '*':
			star, from = p, n
			p++
		case p < len(pattern) && (pattern[p] == '?' || pattern[p] == name[n]):
			p++
			n++
		case star >= 0: // the last star takes one byte more
			from++
			p, n = star+1, from
		default:
			return false
		}
	}
	return strings.Trim(pattern[p:], "*") == ""
}
