package workflow

import (
	_ "embed"
	"encoding/json"
	"maps"
	"slices"
)

//go:embed nodes.json
var nodesFile []byte

// NodeDescription describes a node type for editors.
type NodeDescription struct {
	Type        string `json:"type"`
	Title       string `json:"title"`
	Description string `json:"description"`
	// Data is the JSON Schema of the node's data.
	Data json.RawMessage `json:"data"`
}

// Descriptions returns the built-in node types, and the JSON Schema of what a definition
// has besides nodes and edges, with English or Japanese texts.
func Descriptions(japanese bool) (nodes []NodeDescription, settings json.RawMessage) {
	var file struct {
		Nodes    []any
		Settings any
		Defs     map[string]any `json:"$defs"`
		Japanese map[string]string
	}
	if err := json.Unmarshal(nodesFile, &file); err != nil {
		panic(err) // a test reads it
	}
	complete := func(value any) any { return describe(value, file.Defs, file.Japanese, japanese) }
	raw, _ := encode(complete(file.Nodes))
	_ = json.Unmarshal(raw, &nodes)
	settings, _ = encode(complete(file.Settings))
	return nodes, settings
}

// describe replaces references to definitions by what they refer to, and translates
// texts.
func describe(value any, defs map[string]any, table map[string]string, japanese bool) any {
	switch v := value.(type) {
	case []any:
		out := slices.Clone(v)
		for i := range out {
			out[i] = describe(out[i], defs, table, japanese)
		}
		return out
	case map[string]any:
		out := map[string]any{}
		if ref, ok := v["$ref"].(string); ok {
			target, _ := defs[ref[len("#/$defs/"):]].(map[string]any)
			maps.Copy(out, target)
		}
		maps.Copy(out, v)
		delete(out, "$ref")
		for key, each := range out {
			if text, ok := each.(string); ok && japanese && (key == "title" || key == "description") {
				out[key] = table[text]
				continue
			}
			out[key] = describe(each, defs, table, japanese)
		}
		return out
	default:
		return value
	}
}
