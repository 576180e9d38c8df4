package template

import (
	"bytes"
	"encoding/json"
	"errors"
	"maps"
	"regexp"
	"slices"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/santhosh-tekuri/jsonschema/v6/kind"

	"genkan/internal/gateway"
)

func compile(schema []byte) (*jsonschema.Schema, error) {
	value, err := jsonschema.UnmarshalJSON(bytes.NewReader(schema))
	if err != nil {
		return nil, err
	}
	c := jsonschema.NewCompiler()
	c.UseRegexpEngine(compileRegexp)
	c.AssertFormat()
	if err := c.AddResource("params", value); err != nil {
		return nil, err
	}
	return c.Compile("params")
}

// notScript finds what regular expressions of JavaScript do not have, or not as Go does.
var notScript = regexp.MustCompile(`^(?:[^\\([]|\\.|\[[^[]|\((?:[^?]|\?:))*(?:\\[AzQECa]|\[\[:|\(\?[^:])`)

// compileRegexp accepts regular expressions that JavaScript and Go have in common: those
// take linear time.
func compileRegexp(text string) (jsonschema.Regexp, error) {
	if notScript.MatchString(text) {
		return nil, errors.ErrUnsupported
	}
	return regexp.Compile(text)
}

// check validates parameters. The error names each field and says what is wrong with it.
func (s *source) check(params json.RawMessage) error {
	value, err := jsonschema.UnmarshalJSON(bytes.NewReader(params))
	if err != nil {
		return gateway.Errorf(gateway.CodeInvalid, "params are not JSON: %s", err.Error())
	}
	var wrong *jsonschema.ValidationError
	if !errors.As(s.schema.Validate(value), &wrong) {
		return nil
	}
	var problems gateway.Problems
	s.describe(wrong, &problems)
	return problems.Err()
}

// describe adds what is wrong. The schemas of templates use no other rules than these.
func (s *source) describe(e *jsonschema.ValidationError, to *gateway.Problems) {
	at := e.InstanceLocation
	field := gateway.FieldName(at)
	problem := func(keyword string, text gateway.Text) {
		to.Add(gateway.Problem{Field: field, Pointer: gateway.Pointer(at), Keyword: keyword, Text: text})
	}
	switch k := e.ErrorKind.(type) {
	case *kind.Required:
		for _, name := range k.Missing {
			to.Add(gateway.MissingField(at, name))
		}
	case *kind.AdditionalProperties:
		for _, name := range k.Properties {
			to.Add(gateway.UnknownField(at, name, slices.Sorted(maps.Keys(s.fields)), true))
		}
	case *kind.Type:
		if len(at) == 0 {
			to.Add(gateway.NotAnObject("params", k.Got))
		} else {
			to.Add(gateway.WrongType(at, k.Want, gateway.TypeName(k.Got)))
		}
	case *kind.Enum:
		var words []string
		for _, word := range k.Want {
			words = append(words, string(encode(word)))
		}
		problem("enum", gateway.Textf("%s must be one of %s, is %s", field, gateway.List(words), gateway.Short(string(encode(k.Got)))))
	case *kind.AnyOf: // one of several fields must be there
		var names []string
		for _, cause := range e.Causes {
			if missing, ok := cause.ErrorKind.(*kind.Required); ok {
				names = append(names, missing.Missing...)
			}
		}
		problem("anyOf", gateway.Textf("params need at least one of %s", gateway.List(names)))
	case *kind.MinLength:
		problem("minLength", gateway.Textf("%s must have at least %d characters, has %d", field, k.Want, k.Got))
	case *kind.MaxLength:
		problem("maxLength", gateway.Textf("%s must have at most %d characters, has %d", field, k.Want, k.Got))
	case *kind.MinItems:
		problem("minItems", gateway.Textf("%s must have at least %d entries, has %d", field, k.Want, k.Got))
	case *kind.MaxItems:
		problem("maxItems", gateway.Textf("%s must have at most %d entries, has %d", field, k.Want, k.Got))
	case *kind.Minimum:
		problem("minimum", gateway.Textf("%s must be at least %s, is %s", field, k.Want.RatString(), k.Got.RatString()))
	case *kind.Maximum:
		problem("maximum", gateway.Textf("%s must be at most %s, is %s", field, k.Want.RatString(), k.Got.RatString()))
	case *kind.Pattern: // the only pattern in use
		problem("pattern", gateway.Textf("%s must be an http or https URL", field))
	case *kind.Format: // the only format in use
		problem("format", gateway.Textf("%s must be a regular expression without lookaround, backreferences and flags, so that it takes linear time", field))
	default:
		for _, cause := range e.Causes {
			s.describe(cause, to)
		}
	}
}
