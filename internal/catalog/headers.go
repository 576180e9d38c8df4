package catalog

import (
	"bytes"
	"encoding/json"
	"maps"
	"net/http"
	"slices"
	"strings"

	"genkan/internal/gateway"
)

// headerKeyword marks a property of an input schema whose value also travels
// as a header over modern HTTP.
const headerKeyword = "x-mcp-header"

// headersOf finds the arguments that travel as headers. It reports false, and
// why, when a mark breaks a rule of the specification: such a tool counts as
// having none.
func headersOf(inputSchema []byte) ([]gateway.ParamHeader, gateway.Text, bool) {
	// Hardly any tool has marks, and the others are not decoded. Whoever escapes
	// a letter of the keyword is looked at too.
	if !bytes.Contains(inputSchema, []byte(headerKeyword)) && !bytes.Contains(inputSchema, []byte(`\u00`)) {
		return nil, gateway.Text{}, true
	}
	var schema any
	if json.Unmarshal(inputSchema, &schema) != nil {
		return nil, gateway.Text{}, true // no schema, no marks
	}
	m := marks{taken: map[string]bool{}}
	m.visit(schema, nil, true)
	if m.wrong != nil {
		return nil, *m.wrong, false
	}
	return m.found, gateway.Text{}, true
}

// marks walks a schema. It knows where schemas stand in a schema: the same
// letters in a default or an example are only data.
type marks struct {
	found []gateway.ParamHeader
	taken map[string]bool // header names, in lower case
	// wrong is the first thing that breaks a rule.
	wrong *gateway.Text
}

// visit looks at a schema. The path is that of its argument; fixed says that it
// leads there from the root through nothing but properties.
func (m *marks) visit(value any, path []string, fixed bool) {
	schema, ok := value.(map[string]any)
	if !ok || m.wrong != nil {
		return
	}
	if mark, marked := schema[headerKeyword]; marked {
		m.mark(mark, schema["type"], path, fixed)
	}
	// Sorted, so that the same schema always has the same headers and the same
	// complaint.
	for _, keyword := range slices.Sorted(maps.Keys(schema)) {
		inside := schema[keyword]
		switch keyword {
		case "properties":
			properties, _ := inside.(map[string]any)
			for _, name := range slices.Sorted(maps.Keys(properties)) {
				m.visit(properties[name], append(path[:len(path):len(path)], name), fixed)
			}
		case "patternProperties", "$defs", "definitions", "dependentSchemas", "dependencies":
			named, _ := inside.(map[string]any)
			for _, name := range slices.Sorted(maps.Keys(named)) {
				m.visit(named[name], append(path[:len(path):len(path)], keyword, name), false)
			}
		case "items", "prefixItems", "additionalItems", "unevaluatedItems", "contains",
			"additionalProperties", "unevaluatedProperties", "propertyNames", "contentSchema",
			"allOf", "anyOf", "oneOf", "not", "if", "then", "else":
			list, several := inside.([]any)
			if !several {
				list = []any{inside}
			}
			for _, one := range list {
				m.visit(one, append(path[:len(path):len(path)], keyword), false)
			}
		}
	}
}

func (m *marks) mark(mark, schemaType any, path []string, fixed bool) {
	where := strings.Join(path, ".")
	if where == "" {
		where = "inputSchema"
	}
	name, isText := mark.(string)
	switch {
	case !fixed || len(path) == 0:
		m.refuse(gateway.Textf("x-mcp-header at %s does not mark one argument: only properties inside properties can be marked", gateway.Short(where)))
	case !isText || name == "":
		m.refuse(gateway.Textf("x-mcp-header of %s is empty", gateway.Short(where)))
	case !isToken(name):
		m.refuse(gateway.Textf("x-mcp-header of %s holds a character that no header's name may have", gateway.Short(where)))
	case m.taken[strings.ToLower(name)]:
		m.refuse(gateway.Textf("x-mcp-header of %s stands at another argument too: %s", gateway.Short(where), gateway.Short(name)))
	case !isPrimitive(schemaType):
		m.refuse(gateway.Textf("x-mcp-header of %s is not at an integer, a string or a boolean", gateway.Short(where)))
	default:
		m.taken[strings.ToLower(name)] = true
		m.found = append(m.found, gateway.ParamHeader{Path: path, Key: http.CanonicalHeaderKey("Mcp-Param-" + name)})
	}
}

func (m *marks) refuse(why gateway.Text) {
	if m.wrong == nil {
		m.wrong = &why
	}
}

// isPrimitive reports whether a type is one that headers carry. It may be null
// besides, which is to say absent; the specification says what then happens to
// the header, so we do not take the tool away for it.
func isPrimitive(schemaType any) bool {
	if list, several := schemaType.([]any); several {
		list = slices.DeleteFunc(slices.Clone(list), func(t any) bool { return t == "null" })
		return len(list) == 1 && isPrimitive(list[0])
	}
	return schemaType == "string" || schemaType == "integer" || schemaType == "boolean"
}

// isToken reports whether a text can be a part of a header's name (RFC 9110,
// 5.6.2).
func isToken(text string) bool {
	return text != "" && !strings.ContainsFunc(text, func(c rune) bool {
		letter := c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9'
		return !letter && !strings.ContainsRune("!#$%&'*+-.^_`|~", c)
	})
}
