package catalog

import (
	"encoding/json"
	"slices"

	"genkan/internal/gateway"
	"genkan/internal/jsonrpc"
)

// Parameter is one argument of a tool, as far as its schema's first level says.
type Parameter struct {
	Name string
	// Type is string, number, boolean, object or array; any where the schema
	// leaves it open.
	Type        string
	Description string
	Required    bool
	// The rest is JSON as it stands in the schema, nil for what is not there.
	Default, Minimum, Maximum json.RawMessage
	Enum                      []json.RawMessage
	Pattern                   string
}

// Parameters are the arguments of a tool, in the order of its schema. Where
// that is made of combinations, they are those of the plain form that legacy
// clients see.
func Parameters(t *gateway.Tool) []Parameter {
	shown := t.Definition
	if t.Legacy != nil {
		shown = t.Legacy
	}
	schema := jsonrpc.Lookup(shown, "inputSchema")
	whole, ok := parseFields(schema)
	if !ok {
		return nil
	}
	f := newFlattener(whole, len(schema))
	required, _ := namesIn(whole.get("required"))
	var all []Parameter
	for _, property := range propertiesOf(whole).list {
		s, ok := parseFields(property.value)
		if !ok {
			s = &fields{at: map[string]int{}}
		}
		if target, _, ok := f.target(s.get("$ref")); ok {
			if referred, ok := parseFields(target); ok {
				s.adopt(referred)
			}
		}
		p := Parameter{
			Name: property.key, Type: typeOf(s, 0), Required: required.has[property.key],
			Default: s.get("default"), Minimum: s.get("minimum"), Maximum: s.get("maximum"),
		}
		if text, ok := jsonrpc.Unquote(s.get("description")); ok {
			p.Description = string(text)
		}
		if text, ok := jsonrpc.Unquote(s.get("pattern")); ok {
			p.Pattern = string(text)
		}
		if values, ok := elements(s.get("enum")); ok {
			for _, value := range values {
				p.Enum = append(p.Enum, value)
			}
		}
		all = append(all, p)
	}
	return all
}

// typeOf is the type of a property in one word. Null beside another type only
// says that there may be no value.
func typeOf(s *fields, depth int) string {
	types := slices.DeleteFunc(s.types(), func(name string) bool { return name == "null" })
	for i, name := range types {
		if name == "integer" {
			types[i] = "number"
		}
	}
	if types = slices.Compact(types); len(types) == 1 {
		return types[0]
	}
	if len(types) > 1 {
		return "any"
	}
	for _, word := range []string{"anyOf", "oneOf"} {
		if depth >= deepest {
			break
		}
		var found names
		list, _ := elements(s.get(word))
		for _, raw := range list {
			if branch, ok := parseFields(raw); ok && string(branch.get("type")) != `"null"` {
				found.add(typeOf(branch, depth+1))
			}
		}
		if len(found.list) == 1 {
			return found.list[0]
		}
	}
	if values, ok := elements(s.get("enum")); ok {
		var found names
		for _, value := range values {
			found.add(typeOfValue(value))
		}
		if len(found.list) == 1 {
			return found.list[0]
		}
	}
	switch {
	case s.has("properties"):
		return "object"
	case s.has("items"):
		return "array"
	case s.has("const"):
		return typeOfValue(s.get("const"))
	}
	return "any"
}

// typeOfValue returns the seed's type of a value. Null says nothing about the type.
func typeOfValue(value []byte) string {
	if t := jsonrpc.TypeOf(value); t != "null" {
		return t
	}
	return "any"
}
