package catalog

import (
	"cmp"
	"context"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"genkan/internal/gateway"
	"genkan/internal/jsonrpc"
)

// ToolKey identifies a tool by its server and the server's own name for it. The name
// that clients use depends on the configuration.
type ToolKey struct{ Server, Name string }

// Override is what people say about a tool. Zero fields leave what the server says.
type Override struct {
	// Disabled takes the tool away from MCP clients, and refuses its calls.
	Disabled bool
	// Description replaces the server's in lists.
	Description string
	Category    string
	Author      string
	Version     string
	Tags        []string
	Examples    []Example
	// Dependencies are the tools that this one needs, by the names that clients
	// use.
	Dependencies []string
}

// Labels are what a tool is registered with.
type Labels struct {
	Version, Category string
	Tags              []string
	Examples          []Example
}

// or says what nobody has said otherwise.
func (o Override) or(l Labels) Override {
	o.Version, o.Category = cmp.Or(o.Version, l.Version), cmp.Or(o.Category, l.Category)
	if len(o.Tags) == 0 {
		o.Tags = l.Tags
	}
	if len(o.Examples) == 0 {
		o.Examples = l.Examples
	}
	return o
}

// Example shows how a tool is used.
type Example = gateway.ToolExample

// OverrideStore keeps overrides.
type OverrideStore interface {
	// Overrides are all that are not zero.
	Overrides(ctx context.Context) (map[ToolKey]Override, error)
	// ChangeOverride lets change edit the override of a tool, and stores it, in one
	// transaction. An error of change leaves the override as it was.
	ChangeOverride(ctx context.Context, key ToolKey, change func(*Override) error) (Override, error)
}

// IsZero reports whether nothing was said.
func (o *Override) IsZero() bool {
	return !o.Disabled && o.Description == "" && o.Category == "" && o.Author == "" && o.Version == "" &&
		len(o.Tags) == 0 && len(o.Examples) == 0 && len(o.Dependencies) == 0
}

// Limits of overrides. A description goes into every list as a whole.
const (
	longestDescription = 16 << 10 // bytes
	longestWord        = 128      // bytes of a tag, a category, a name, a version
	mostWords          = 64       // tags, or dependencies
	mostExamples       = 32
	largestExample     = 64 << 10 // bytes
)

// Check returns everything that does not make sense.
func (o *Override) Check() error {
	var problems gateway.Problems
	longest := func(field string, has, limit int) {
		if has > limit {
			problems.Add(wrongField(field, "maxLength", map[string]any{"limit": limit},
				gateway.Textf("%s must have at most %d bytes, has %d", field, limit, has)))
		}
	}
	most := func(field string, has, limit int) bool {
		if has > limit {
			problems.Add(wrongField(field, "maxItems", map[string]any{"limit": limit},
				gateway.Textf("%s must have at most %d entries, has %d", field, limit, has)))
		}
		return has <= limit
	}
	word := func(field, text string) {
		if !isWord(text) {
			problems.Add(wrongField(field, "format", map[string]any{"format": "word"},
				gateway.Textf("%s must be one line of at most %d bytes, without space around it, is %q", field, longestWord, gateway.Short(text))))
		}
	}
	longest("description", len(o.Description), longestDescription)
	for _, one := range []struct{ field, text string }{
		{"category", o.Category}, {"author", o.Author}, {"version", o.Version},
	} {
		if one.text != "" {
			word(one.field, one.text)
		}
	}
	for _, list := range []struct {
		field string
		words []string
	}{{"tags", o.Tags}, {"dependencies", o.Dependencies}} {
		if most(list.field, len(list.words), mostWords) {
			for _, one := range list.words {
				word(list.field, one) // its place may not be that in a request, which can add tags
			}
		}
	}
	if most("examples", len(o.Examples), mostExamples) {
		for i, example := range o.Examples {
			at := []string{"examples", strconv.Itoa(i)}
			if strings.TrimSpace(example.Description) == "" {
				problems.Add(gateway.MissingField(at, "description"))
			}
			if len(example.Parameters) > 0 && example.Parameters[0] != '{' {
				problems.Add(gateway.WrongType(append(at, "parameters"), []string{"object"}, gateway.TypeName(jsonrpc.TypeOf(example.Parameters))))
			}
			longest(gateway.FieldName(at), len(example.Description)+len(example.Parameters)+len(example.ExpectedResult), largestExample)
		}
	}
	if wrong := problems.Err(); wrong != nil {
		return wrong
	}
	return nil
}

// Tidy removes duplicates.
func (o *Override) Tidy() { o.Tags, o.Dependencies = once(o.Tags), once(o.Dependencies) }

func once(words []string) []string {
	var out []string
	for _, word := range words {
		if !slices.Contains(out, word) {
			out = append(out, word)
		}
	}
	return out
}

// isWord reports whether a text is one line without space around it.
func isWord(text string) bool {
	return text != "" && len(text) <= longestWord && utf8.ValidString(text) && strings.TrimSpace(text) == text &&
		!strings.ContainsFunc(text, unicode.IsControl)
}

func wrongField(field, keyword string, params map[string]any, text gateway.Text) gateway.Problem {
	return gateway.Problem{Field: field, Pointer: gateway.Pointer(strings.Split(field, ".")), Keyword: keyword, Params: params, Text: text}
}

// describeAs puts a better description into a definition.
func describeAs(definition []byte, description string) []byte {
	definition = jsonrpc.Without(definition, "description")
	after := jsonrpc.LookupSpan(definition, "name").End // there is one, soleName has seen it
	return jsonrpc.Splice(nil, definition, jsonrpc.Edit{
		At:   gateway.Span{Start: after, End: after},
		With: jsonrpc.AppendQuoted([]byte(`,"description":`), description),
	})
}
