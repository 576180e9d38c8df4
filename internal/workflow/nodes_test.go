package workflow

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"testing"
)

// Every built-in node type is described in both languages, with the ways out that it has
// and the settings that it reads.
func TestNodeDescriptions(t *testing.T) {
	t.Parallel()
	english, settings := Descriptions(false)
	japanese, _ := Descriptions(true)
	var types []string
	for i, n := range english {
		types = append(types, n.Type)
		var texts func(at string, value any)
		texts = func(at string, value any) {
			switch v := value.(type) {
			case []any:
				for _, each := range v {
					texts(at, each)
				}
			case map[string]any:
				if v["$ref"] != nil {
					t.Errorf("%s: a reference is left", at)
				}
				for key, each := range v {
					if text, ok := each.(string); ok && (key == "title" || key == "description") && text == "" {
						t.Errorf("%s.%s has no Japanese", at, key)
					}
					texts(at+"."+key, each)
				}
			}
		}
		raw, _ := json.Marshal(japanese[i])
		texts(n.Type, decode(raw))
		var schema struct{ Properties map[string]json.RawMessage }
		if err := json.Unmarshal(n.Data, &schema); err != nil {
			t.Error(err)
		}
		// A setting that the node reads refuses a value of a wrong type.
		for name := range schema.Properties {
			d := flow("w", "start → mcp → end")
			d.Nodes = append(d.Nodes, Node{ID: "x", Type: n.Type, Data: json.RawMessage(`{"` + name + `":[[1]]}`)})
			if problems := Validate(d, testEnvironment); !slices.ContainsFunc(problems, func(p Problem) bool {
				return p.Node == "x" && strings.Contains(p.String(), "its data cannot be read")
			}) {
				t.Errorf("%s does not read %s: %v", n.Type, name, problems)
			}
		}
	}
	if !slices.Equal(slices.Sorted(slices.Values(types)), slices.Sorted(maps.Keys(nodeTypes()))) {
		t.Errorf("described are %v", types)
	}
	var described struct{ Properties map[string]json.RawMessage }
	if err := json.Unmarshal(settings, &described); err != nil {
		t.Fatal(err)
	}
	for name := range described.Properties {
		d := Definition{}
		if json.Unmarshal([]byte(`{"`+name+`":[[1]]}`), &d) == nil {
			t.Errorf("a definition has no %s", name)
		}
	}
}
