package catalog

import (
	"cmp"
	"context"
	"slices"
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

// Check refuses what does not make sense, and names the field.
func (o *Override) Check() error {
	if len(o.Description) > longestDescription {
		return wrongField("description", gateway.Textf("must not be longer than %d bytes", longestDescription))
	}
	for _, one := range []struct{ field, text string }{
		{"category", o.Category}, {"author", o.Author}, {"version", o.Version},
	} {
		if one.text != "" && !isWord(one.text) {
			return wrongField(one.field, notAWord())
		}
	}
	for _, list := range []struct {
		field string
		words []string
	}{{"tags", o.Tags}, {"dependencies", o.Dependencies}} {
		if len(list.words) > mostWords {
			return wrongField(list.field, gateway.Textf("must not have more than %d entries", mostWords))
		}
		if !allOf(list.words, isWord) {
			return wrongField(list.field, notAWord())
		}
	}
	if len(o.Examples) > mostExamples {
		return wrongField("examples", gateway.Textf("must not have more than %d entries", mostExamples))
	}
	for _, example := range o.Examples {
		switch {
		case strings.TrimSpace(example.Description) == "":
			return wrongField("examples.description", gateway.Textf("is required"))
		case len(example.Parameters) > 0 && example.Parameters[0] != '{':
			return wrongField("examples.parameters", gateway.Textf("must be an object"))
		case len(example.Description)+len(example.Parameters)+len(example.ExpectedResult) > largestExample:
			return wrongField("examples", gateway.Textf("must not be longer than %d bytes", largestExample))
		}
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

func allOf(words []string, fits func(string) bool) bool {
	return !slices.ContainsFunc(words, func(word string) bool { return !fits(word) })
}

// isWord reports whether a text is one line without space around it.
func isWord(text string) bool {
	return text != "" && len(text) <= longestWord && utf8.ValidString(text) && strings.TrimSpace(text) == text &&
		!strings.ContainsFunc(text, unicode.IsControl)
}

func notAWord() gateway.Text {
	return gateway.Textf("must be one line of at most %d bytes, without space around it", longestWord)
}

func wrongField(field string, why gateway.Text) error {
	e := gateway.Errorf(gateway.CodeInvalid, "%s: %s", field, why)
	e.Field = field
	return e
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
