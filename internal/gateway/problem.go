package gateway

import (
	"cmp"
	"slices"
	"strings"
)

// Problem is one thing that is wrong in a caller's input.
type Problem struct {
	// Field is the path of the field, with dots between its parts; empty for the
	// whole input.
	Field string
	// Pointer is the JSON Pointer of the value that breaks the rule. If a field is
	// missing or unknown, that is the object around it.
	Pointer string
	// Keyword is JSON Schema's keyword for the rule, and Params are its values.
	Keyword string
	Params  map[string]any
	// Text says what is wrong. It names the field.
	Text Text
}

// MaxProblems is how many problems an Error describes. It counts the others.
const MaxProblems = 10

// Problems collects what is wrong in a caller's input.
type Problems struct {
	kept  []Problem
	total int
}

// Add adds a problem. It is counted only if MaxProblems are kept already.
func (p *Problems) Add(one Problem) {
	if p.total++; p.total <= MaxProblems {
		p.kept = append(p.kept, one)
	}
}

// Err returns the error for the problems; nil if there are none.
func (p *Problems) Err() *Error {
	if p.total == 0 {
		return nil
	}
	return InvalidInput(p.kept, p.total)
}

// InvalidInput returns the error for input with problems, of which there must be at
// most MaxProblems. Total is how many there are with those that are left out.
func InvalidInput(problems []Problem, total int) *Error {
	e := Errorf(CodeInvalid, "Validation failed: %s", problemTexts(problems, total))
	e.Field, e.Problems = problems[0].Field, problems
	return e
}

// InvalidArguments is InvalidInput for the arguments of a tool. The first problem is
// told as lead says it, unless that is empty.
func InvalidArguments(problems []Problem, total int, lead Text) *Error {
	e := InvalidInput(problems, total)
	if lead.Format != "" {
		texts := problemTexts(problems, total)
		texts.Each[0] = lead
		e.Message, e.Values = "%s", []any{texts}
	}
	return e
}

func problemTexts(problems []Problem, total int) Texts {
	texts := Texts{Between: Apart}
	for _, p := range problems {
		texts.Each = append(texts.Each, p.Text)
	}
	if more := total - len(problems); more > 0 {
		texts.Each = append(texts.Each, Textf("and %d more", more))
	}
	return texts
}

// MissingField is the problem of an object that lacks a required field.
func MissingField(object []string, name string) Problem {
	field := FieldName(object, name)
	return Problem{
		Field: field, Pointer: Pointer(object), Keyword: "required", Params: map[string]any{"missingProperty": Short(name)},
		Text: Textf("%s is required", field),
	}
}

// UnknownField is the problem of an object that has a field beside the known ones,
// which the problem lists if list is set.
func UnknownField(object []string, name string, known []string, list bool) Problem {
	p := Problem{
		Field: FieldName(object, name), Pointer: Pointer(object), Keyword: "additionalProperties",
		Params: map[string]any{"additionalProperty": Short(name)},
	}
	near := Nearest(name, slices.Values(known))
	list = list && len(known) > 0
	switch {
	case near != "" && list:
		p.Text = Textf("%s is unknown; did you mean %s? There are %s", p.Field, FieldName(object, near), List(known))
	case near != "":
		p.Text = Textf("%s is unknown; did you mean %s?", p.Field, FieldName(object, near))
	case !list:
		p.Text = Textf("%s is unknown", p.Field)
	default:
		p.Text = Textf("%s is unknown; there are %s", p.Field, List(known))
	}
	return p
}

// WrongType is the problem of a value that has none of the wanted types of JSON
// Schema. Is describes the value.
func WrongType(path, want []string, is any) Problem {
	want = slices.Clone(want)
	slices.SortStableFunc(want, func(a, b string) int { return strings.Count(a, "null") - strings.Count(b, "null") }) // a string or null
	p := Problem{Field: FieldName(path), Pointer: Pointer(path), Keyword: "type", Params: map[string]any{"type": want}}
	if len(want) == 1 {
		p.Params["type"] = want[0]
	}
	names := make([]Text, len(want))
	for i, one := range want {
		names[i] = TypeName(one)
	}
	var wanted any = Texts{Each: names, Between: ", "}
	if len(names) == 2 {
		wanted = Textf("%s or %s", names[0], names[1])
	}
	p.Text = Textf("%s must be %s, is %s", cmp.Or(p.Field, "arguments"), wanted, is)
	return p
}

// NotAnObject is the problem of arguments that have another type of JSON. A string is
// often an object that the caller has encoded twice.
func NotAnObject(field, is string) Problem {
	p := WrongType([]string{field}, []string{"object"}, TypeName(is))
	if is == "string" {
		p.Text = Textf("%s must be an object, is a string; give the JSON object itself, not a string that contains it", field)
	}
	return p
}

// TypeName is the name of a type of JSON Schema in a sentence.
func TypeName(name string) Text {
	switch name {
	case "string":
		return Textf("a string")
	case "number":
		return Textf("a number")
	case "integer":
		return Textf("an integer")
	case "boolean":
		return Textf("a boolean")
	case "array":
		return Textf("an array")
	case "object":
		return Textf("an object")
	default:
		return Textf("%s", Short(name)) // null
	}
}

// FieldName is the path of a field with dots between its parts. A long one is cut.
func FieldName(object []string, name ...string) string {
	return Short(strings.Join(slices.Concat(object, name), "."))
}

// Pointer is a path as a JSON Pointer. A long one is cut.
func Pointer(path []string) string {
	var b strings.Builder
	for _, part := range path {
		b.WriteByte('/')
		_, _ = pointerEscapes.WriteString(&b, part)
	}
	return Short(b.String())
}

var pointerEscapes = strings.NewReplacer("~", "~0", "/", "~1") //nolint:gochecknoglobals // built once, and never changed

// List is Names for many words: a long list is cut after a word.
func List(words []string) Texts {
	const most = 300 // bytes
	size := 0
	for i, w := range words {
		if size += len(w) + 2; size > most {
			if i == 0 {
				return Names([]string{Short(w)})
			}
			return Names(append(slices.Clip(words[:i]), "…"))
		}
	}
	return Names(words)
}
