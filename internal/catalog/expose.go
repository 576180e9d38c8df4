package catalog

import (
	"bytes"
	"log/slog"

	"genkan/internal/gateway"
	"genkan/internal/jsonrpc"
)

// take turns a source's list of a kind into what clients see. A definition that
// cannot be used is left out and reported; the others stay.
func (m *mounted) take(kind gateway.Kind, log *slog.Logger) {
	list := m.Source.List(kind)
	tools := make([]*gateway.Tool, 0, len(list))
	var findings []Finding
	var filtered []string
	overrides := map[string]Override{}
	allowed := make([]gateway.Tool, 0, len(list))
	for _, t := range list {
		if kind == gateway.KindTool && m.Allows != nil && !m.Allows(t.Name) {
			filtered = append(filtered, t.Name)
			continue
		}
		t.Kind = kind
		if said := m.said(&t); !said.IsZero() {
			overrides[t.Name] = said
			if said.Description != "" {
				t.Definition = describeAs(t.Definition, said.Description)
			}
		}
		allowed = append(allowed, t)
	}
	if kind == gateway.KindTool && m.Rewrite != nil {
		allowed = m.rewritten(allowed)
	}
	for _, t := range allowed {
		notes, ok := m.expose(&t)
		if len(notes) > 0 {
			findings = append(findings, Finding{Kind: kind, Server: m.Source.Name(), Name: t.Name, LeftOut: !ok, Notes: notes})
		}
		if ok {
			if doubts := doubt(&t); len(doubts) > 0 {
				findings = append(findings, Finding{Kind: kind, Server: m.Source.Name(), Name: t.Name, Suspect: true, Notes: doubts})
			}
		}
		if ok {
			tools = append(tools, &t)
			continue
		}
		log.Warn("left out: a definition cannot be used", "kind", kind.String(), "server", m.Source.Name(),
			"tool_name", gateway.Short(t.Name), "reason", gateway.Texts{Each: notes, Between: gateway.Apart}.String())
	}
	m.lists[kind], m.findings[kind] = tools, findings
	if kind == gateway.KindTool {
		names := make([]string, len(list))
		for i := range list {
			names[i] = list[i].Name
		}
		m.filtered, m.overrides, m.since = filtered, overrides, m.Overrides.listed(m.Source.Name(), names)
	}
}

// rewritten returns what Rewrite leaves of a list. Tools that clients cannot be shown
// are left out before.
func (m *mounted) rewritten(list []gateway.Tool) []gateway.Tool {
	own := make(map[string]*gateway.Tool, len(list))
	usable := make([]gateway.Tool, 0, len(list))
	for i := range list {
		t := &list[i]
		if _, ok := soleName(t); ok && own[t.Name] == nil {
			own[t.Name] = t
			usable = append(usable, *t)
		}
	}
	left := m.Rewrite(usable)
	tools := make([]gateway.Tool, 0, len(left))
	for i := range left {
		t := own[left[i].Name]
		if t == nil {
			continue // the source does not have it any more, or it was there before
		}
		delete(own, t.Name)
		if definition := left[i].Definition; !bytes.Equal(definition, t.Definition) {
			t.InputSchema = jsonrpc.Lookup(t.Definition, "inputSchema")
			t.Rewritten = &gateway.Rewritten{
				Name: jsonrpc.LookupText(definition, "name"), InputSchema: jsonrpc.Lookup(definition, "inputSchema"),
				Annotations: jsonrpc.Lookup(t.Definition, "annotations"),
			}
			t.Definition = definition
		}
		tools = append(tools, *t)
	}
	return tools
}

// said returns what people say about a tool, completed by the configuration.
func (m *mounted) said(t *gateway.Tool) Override {
	if t.Kind != gateway.KindTool {
		return Override{}
	}
	return m.Overrides.of(ToolKey{m.Source.Name(), t.Name}).or(m.labels(t))
}

// labels returns what the configuration or a built-in source says about a tool.
func (m *mounted) labels(t *gateway.Tool) (l Labels) {
	if m.Labels != nil {
		l = m.Labels(t.Name)
	}
	if own := t.Labels; own != nil {
		said := Override{Version: l.Version, Category: l.Category, Tags: l.Tags, Examples: l.Examples}.
			or(Labels{Category: own.Category, Tags: own.Tags, Examples: own.Examples})
		l = Labels{Version: said.Version, Category: said.Category, Tags: said.Tags, Examples: said.Examples}
	}
	return l
}

// expose works out what there is to know about a tool. It reports false when
// clients must not see it; the notes say why, or what is remarkable about it.
func (m *mounted) expose(t *gateway.Tool) (notes []gateway.Text, ok bool) {
	at, ok := soleName(t)
	if !ok {
		return []gateway.Text{gateway.Textf("it has no name, or more than one")}, false
	}
	name := t.ListedName()
	if longest := maxNameOf(t.Kind); len(name) > longest {
		return []gateway.Text{gateway.Textf("its name has %d bytes, and may have %d", len(name), longest)}, false
	}
	t.Exposed = name
	if t.Kind == gateway.KindTool || t.Kind == gateway.KindPrompt {
		t.Exposed = exposedName(m.Prefix, name)
	}
	if t.Kind == gateway.KindTool {
		if t.Rewritten == nil {
			t.InputSchema = jsonrpc.Lookup(t.Definition, "inputSchema")
		}
		var wrong gateway.Text
		if t.Headers, wrong, ok = headersOf(t.InputSchema); !ok {
			if t.ModernHTTP {
				return []gateway.Text{wrong}, false
			}
			// This server gets no such headers, so the tool can be called; but
			// modern HTTP clients of genkan must leave it out.
			notes = append(notes, gateway.Textf("modern clients over HTTP will not use it: %s", wrong))
		}
	}
	if t.Exposed != name {
		t.Definition = jsonrpc.Splice(nil, t.Definition,
			jsonrpc.Edit{At: at, With: jsonrpc.AppendQuoted(nil, t.Exposed)})
	}
	var cut []gateway.Text
	t.Definition, cut = cutTexts(t.Definition, t.Kind)
	notes = append(notes, cut...)
	if len(t.Definition) > maxDefinition {
		return []gateway.Text{gateway.Textf("its definition has %d bytes, and may have %d", len(t.Definition), maxDefinition)}, false
	}
	if t.Kind == gateway.KindTool {
		shown, why, ok := mend(t.Definition, m.OriginalSchemas)
		if !ok {
			return []gateway.Text{why}, false
		}
		t.Definition = shown.modern
		if !bytes.Equal(shown.legacy, shown.modern) {
			t.Legacy = shown.legacy
		}
		notes = append(notes, shown.notes...)
	}
	t.Source, t.Timeout = m.Source, m.Timeout
	if m.Options != nil && t.Kind == gateway.KindTool {
		t.Options = m.Options(t.Name)
	}
	t.Validate = m.Validate && t.Kind == gateway.KindTool
	// Prompts and resources are read only.
	t.ReadOnly = t.ReadOnly || t.Kind != gateway.KindTool
	return notes, true
}

// doubt looks for what in a definition misleads people or clients. A tool whose
// hints contradict each other counts as one that changes something, and is shown
// as one.
func doubt(t *gateway.Tool) (doubts []gateway.Text) {
	if note, found := invisible(t.Definition); found {
		doubts = append(doubts, note)
	}
	if t.Kind == gateway.KindTool && contradicts(t.Definition) {
		t.ReadOnly, t.Idempotent = false, false
		t.Definition = notReadOnly(t.Definition)
		if t.Legacy != nil {
			t.Legacy = notReadOnly(t.Legacy)
		}
		doubts = append(doubts, gateway.Textf("its annotations say both that it only reads and that it changes something; it counts as one that changes something"))
	}
	return doubts
}

// soleName finds the name in a definition. It must be there once, in one spelling:
// of two names, clients might show one and call the other.
func soleName(t *gateway.Tool) (gateway.Span, bool) {
	found := 0
	word := t.Kind.NameKey()
	err := jsonrpc.Members(t.Definition, func(key, _ []byte) bool {
		if bytes.EqualFold(key, []byte(word)) {
			found++
		}
		return true
	})
	named := t.Name != "" && jsonrpc.LookupText(t.Definition, word) == t.ListedName()
	return jsonrpc.LookupSpan(t.Definition, word), err == nil && found == 1 && named
}
