package registry

import (
	"bytes"
	"encoding/json"
	"slices"

	"genkan/internal/jsonrpc"
)

// toolOptions is the value of tools.options in a definition: options by pattern of
// tool names. The first matching pattern applies, so toolOptions keeps the order
// in which the patterns were written.
type toolOptions struct {
	order  []string
	byName map[string]any
}

// restoreOptionOrder reads the order of tools.options from the JSON text, because
// decoding into a map loses it.
func (d definition) restoreOptionOrder(raw []byte) {
	tools, _ := d["tools"].(map[string]any)
	given, ok := tools["options"].(map[string]any)
	if !ok {
		return
	}
	o := &toolOptions{byName: given}
	_ = jsonrpc.Members(jsonrpc.Lookup(jsonrpc.Lookup(raw, "tools"), "options"), func(key, _ []byte) bool { // raw has been decoded without an error
		if !slices.Contains(o.order, string(key)) {
			o.order = append(o.order, string(key))
		}
		return true
	})
	tools["options"] = o
}

// merge applies a patch. Changed patterns keep their place; new ones are added at
// the end.
func (o *toolOptions) merge(patch *toolOptions) {
	inner := definition(o.byName)
	for _, name := range patch.order {
		if _, exists := inner[name]; !exists {
			o.order = append(o.order, name)
		}
		inner.merge(definition{name: patch.byName[name]})
	}
	o.order = slices.DeleteFunc(o.order, func(name string) bool { _, exists := inner[name]; return !exists })
}

// MarshalJSON writes the patterns in their order.
func (o *toolOptions) MarshalJSON() ([]byte, error) {
	var b bytes.Buffer
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	b.WriteByte('{')
	for i, name := range o.order {
		if i > 0 {
			b.WriteByte(',')
		}
		if err := encoder.Encode(name); err != nil {
			return nil, err
		}
		b.WriteByte(':')
		if err := encoder.Encode(o.byName[name]); err != nil {
			return nil, err
		}
	}
	b.WriteByte('}')
	return b.Bytes(), nil
}
