package app

import (
	"bytes"
	"encoding/json"
	"slices"

	"genkan/internal/jsonrpc"
)

// patterns are tools.options of a definition: of several that match a tool, the
// first counts, so unlike other objects they keep the order that they were
// written in.
type patterns struct {
	order  []string
	byName map[string]any
}

// takePatterns puts the order of tools.options back, which the map that a
// definition is has lost.
func (d definition) takePatterns(raw []byte) {
	tools, _ := d["tools"].(map[string]any)
	given, ok := tools["options"].(map[string]any)
	if !ok {
		return
	}
	p := &patterns{byName: given}
	_ = jsonrpc.Members(jsonrpc.Lookup(jsonrpc.Lookup(raw, "tools"), "options"), func(key, _ []byte) bool { // it was decoded
		if !slices.Contains(p.order, string(key)) {
			p.order = append(p.order, string(key))
		}
		return true
	})
	tools["options"] = p
}

// merge changes what a patch names, in its place; what is new comes behind the
// others.
func (p *patterns) merge(patch *patterns) {
	inner := definition(p.byName)
	for _, name := range patch.order {
		if _, there := inner[name]; !there {
			p.order = append(p.order, name)
		}
		inner.merge(definition{name: patch.byName[name]})
	}
	p.order = slices.DeleteFunc(p.order, func(name string) bool { _, there := inner[name]; return !there })
}

// MarshalJSON keeps the order.
func (p *patterns) MarshalJSON() ([]byte, error) {
	var b bytes.Buffer
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	b.WriteByte('{')
	for i, name := range p.order {
		if i > 0 {
			b.WriteByte(',')
		}
		if err := encoder.Encode(name); err != nil {
			return nil, err
		}
		b.WriteByte(':')
		if err := encoder.Encode(p.byName[name]); err != nil {
			return nil, err
		}
	}
	b.WriteByte('}')
	return b.Bytes(), nil
}
