package template

import (
	"bytes"
	"encoding/json"
	"errors"
	"maps"
	"regexp"
	"regexp/syntax"
	"slices"
	"strconv"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/santhosh-tekuri/jsonschema/v6/kind"

	"genkan/internal/gateway"
	"genkan/internal/workflow"
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

var backreference = regexp.MustCompile(`^\\[1-9k]`)

// unsupported reports whether Go cannot read a regular expression of JavaScript.
func unsupported(e *syntax.Error) bool {
	return e.Code == syntax.ErrInvalidPerlOp || e.Code == syntax.ErrInvalidEscape && backreference.MatchString(e.Expr)
}

// mistake says what is wrong with a regular expression.
func mistake(code syntax.ErrorCode) gateway.Text {
	switch code {
	case syntax.ErrMissingParen:
		return gateway.Textf("a ( is not closed")
	case syntax.ErrMissingBracket:
		return gateway.Textf("a [ is not closed")
	case syntax.ErrUnexpectedParen:
		return gateway.Textf("a ) has no (")
	case syntax.ErrMissingRepeatArgument:
		return gateway.Textf("there is nothing to repeat")
	case syntax.ErrInvalidRepeatOp:
		return gateway.Textf("two repetitions follow each other")
	case syntax.ErrInvalidRepeatSize:
		return gateway.Textf("it cannot be repeated so often")
	case syntax.ErrTrailingBackslash:
		return gateway.Textf("it ends with a backslash")
	case syntax.ErrInvalidCharRange:
		return gateway.Textf("the range is the wrong way round")
	case syntax.ErrInvalidEscape:
		return gateway.Textf("the escape sequence is unknown")
	default:
		return gateway.Textf("%s", string(code))
	}
}

// check validates parameters, and a match unless it is nil. The error names each field and says what is
// wrong with it.
func (s *source) check(params json.RawMessage, m *workflow.Match) error {
	value, err := jsonschema.UnmarshalJSON(bytes.NewReader(params))
	if err != nil {
		return gateway.Errorf(gateway.CodeInvalid, "params are not JSON: %s", err.Error())
	}
	var problems gateway.Problems
	var wrong *jsonschema.ValidationError
	if errors.As(s.schema.Validate(value), &wrong) {
		s.describe(wrong, &problems)
	}
	if m == nil {
		m = &workflow.Match{}
	} else if s.NeedsMatch && len(m.Servers)+len(m.Tools)+len(m.Clients)+len(m.Annotations)+len(m.When) == 0 {
		problems.Add(gateway.Problem{
			Field: "match", Pointer: "/match", Keyword: "minProperties",
			Text: gateway.Textf("match must say which calls it is for: tools (such as github__merge_*), servers or clients"),
		})
	}
	for _, p := range m.Problems() {
		problems.Add(p)
	}
	if err := problems.Err(); err != nil {
		return err
	}
	return nil
}

// unknownParameter returns the problem of a parameter that the template does not have. Names
// are quoted: some of them are words of a sentence, such as also.
func (s *source) unknownParameter(at []string, name string) gateway.Problem {
	known := slices.Sorted(maps.Keys(s.fields))
	p := gateway.UnknownField(at, name, known, false)
	quoted := make([]string, len(known))
	for i, one := range known {
		quoted[i] = strconv.Quote(one)
	}
	near := gateway.Nearest(name, slices.Values(known))
	switch name = gateway.Short(name); {
	case len(known) == 0:
		p.Text = gateway.Textf("the template has no parameter %q, and no others", name)
	case near != "":
		p.Text = gateway.Textf("the template has no parameter %q; did you mean %q? Its parameters are %s", name, near, gateway.List(quoted))
	default:
		p.Text = gateway.Textf("the template has no parameter %q; its parameters are %s", name, gateway.List(quoted))
	}
	return p
}

// describe adds what is wrong. The schemas of templates use no other rules than these.
func (s *source) describe(e *jsonschema.ValidationError, to *gateway.Problems) {
	at := e.InstanceLocation
	field := gateway.FieldName(at)
	rule := func(keyword string, params map[string]any, text gateway.Text) {
		to.Add(gateway.Problem{Field: field, Pointer: gateway.Pointer(at), Keyword: keyword, Params: params, Text: text})
	}
	problem := func(keyword string, text gateway.Text) { rule(keyword, nil, text) }
	switch k := e.ErrorKind.(type) {
	case *kind.Required:
		for _, name := range k.Missing {
			to.Add(gateway.MissingField(at, name))
		}
	case *kind.AdditionalProperties:
		for _, name := range k.Properties {
			to.Add(s.unknownParameter(at, name))
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
		rule("anyOf", map[string]any{"missingProperties": names}, gateway.Textf("params need at least one of %s", gateway.List(names)))
	case *kind.MinLength:
		rule("minLength", map[string]any{"limit": k.Want}, gateway.Textf("%s must have at least %d characters, has %d", field, k.Want, k.Got))
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
		if broken, ok := errors.AsType[*syntax.Error](k.Err); ok && !unsupported(broken) {
			problem("format", gateway.Textf("%s is not a regular expression: %s: %s", field, mistake(broken.Code), gateway.Short(broken.Expr)))
			return
		}
		problem("format", gateway.Textf("%s must be a regular expression without lookaround, backreferences and flags, so that it takes linear time", field))
	default:
		for _, cause := range e.Causes {
			s.describe(cause, to)
		}
	}
}
