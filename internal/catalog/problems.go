package catalog

import (
	"cmp"
	"encoding/json"
	"maps"
	"math/big"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/santhosh-tekuri/jsonschema/v6/kind"

	"genkan/internal/gateway"
)

// refusal returns the error for arguments that do not fit a schema. The first
// problem is told in the seed's words if it has some (docs/differences.md).
func refusal(schema *jsonschema.Schema, arguments any, wrong *jsonschema.ValidationError) *gateway.Error {
	all := leaves(wrong, nil)
	slices.SortStableFunc(all, leaf.compare)
	d := describer{schema: schema, arguments: arguments}
	var problems []gateway.Problem
	for _, one := range all[:min(len(all), gateway.MaxProblems)] {
		problems = append(problems, d.problem(one))
	}
	return gateway.InvalidArguments(problems, len(all), d.lead)
}

// leaf is one thing that is wrong. Name is that of a missing or unknown field.
type leaf struct {
	*jsonschema.ValidationError
	name string
}

// compare orders missing fields before wrong types before the rest, as the seed
// checks them, and each by their paths.
func (l leaf) compare(other leaf) int {
	rank := func(l leaf) int {
		switch l.ErrorKind.(type) {
		case *kind.Required:
			return 0
		case *kind.Type:
			return 1
		default:
			return 2
		}
	}
	if byRank := rank(l) - rank(other); byRank != 0 {
		return byRank
	}
	if byPath := slices.Compare(l.InstanceLocation, other.InstanceLocation); byPath != 0 || rank(l) == 0 {
		return byPath // missing fields stay in the order of the schema
	}
	return strings.Compare(l.name, other.name)
}

// leaves collects what is wrong.
func leaves(e *jsonschema.ValidationError, into []leaf) []leaf {
	switch k := e.ErrorKind.(type) {
	case *kind.Required:
		for _, name := range k.Missing {
			into = append(into, leaf{e, name})
		}
		return into
	case *kind.AdditionalProperties:
		for _, name := range k.Properties {
			into = append(into, leaf{e, name})
		}
		return into
	case *kind.AnyOf, *kind.OneOf:
		if len(e.Causes) > 0 {
			return append(into, nearestForm(e)...)
		}
	case *kind.PropertyNames, *kind.Contains, *kind.MinContains, *kind.ContentSchema:
		return append(into, leaf{e, ""}) // their causes are not about a field
	}
	if len(e.Causes) == 0 {
		return append(into, leaf{e, ""})
	}
	for _, cause := range e.Causes {
		into = leaves(cause, into)
	}
	return into
}

// nearestForm returns what is wrong with a value that has none of several forms:
// the problems of the form that it is nearest to. Forms that are types or constants
// only become one rule.
func nearestForm(e *jsonschema.ValidationError) (best []leaf) {
	var types kind.Type
	var values kind.Enum
	onlyTypes, onlyValues := true, true
	least := -1
	for _, cause := range e.Causes {
		all := leaves(cause, nil)
		distance := len(all)
		for _, l := range all {
			here := slices.Equal(l.InstanceLocation, e.InstanceLocation)
			switch k := l.ErrorKind.(type) {
			case *kind.Type:
				onlyValues = false
				onlyTypes = onlyTypes && here
				types.Got, types.Want = k.Got, append(types.Want, k.Want...)
				if here {
					distance += 1 << 20 // it is something else altogether
				}
			case *kind.Const:
				onlyTypes = false
				onlyValues = onlyValues && here
				values.Got, values.Want = k.Got, append(values.Want, k.Want)
				distance += 1 << 10 // a constant tells which form is meant
			case *kind.Enum:
				onlyTypes = false
				onlyValues = onlyValues && here
				values.Got, values.Want = k.Got, append(values.Want, k.Want...)
			default:
				onlyTypes, onlyValues = false, false
			}
		}
		if least < 0 || distance < least {
			best, least = all, distance
		}
	}
	one := &jsonschema.ValidationError{InstanceLocation: e.InstanceLocation, ErrorKind: &types}
	switch {
	case onlyTypes:
		types.Want = slices.Compact(types.Want)
		return []leaf{{one, ""}}
	case onlyValues:
		one.ErrorKind = &values
		return []leaf{{one, ""}}
	}
	return best
}

// describer describes problems of arguments.
type describer struct {
	schema    *jsonschema.Schema
	arguments any
	// lead is the first problem in the seed's words; empty if it has none.
	lead gateway.Text
	// begun is set after the first problem, and listed after known fields were
	// listed once.
	begun, listed bool
}

// problem describes a leaf: the field, the rule with its bound, and the value. Only
// numbers, booleans and what can be meant for a listed value are shown; a text may
// be a secret.
func (d *describer) problem(l leaf) gateway.Problem {
	first := !d.begun
	d.begun = true
	path := l.InstanceLocation
	is := shown(valueAt(d.arguments, path), false)
	p := gateway.Problem{Field: gateway.FieldName(path), Pointer: gateway.Pointer(path)}
	field := cmp.Or(p.Field, "arguments")
	rule := func(keyword string, params map[string]any, text gateway.Text) gateway.Problem {
		p.Keyword, p.Params, p.Text = keyword, params, text
		return p
	}
	limit := func(keyword, comparison string, want *big.Rat, text gateway.Text) gateway.Problem {
		return rule(keyword, map[string]any{"comparison": comparison, "limit": json.Number(number(want))}, text)
	}
	size := func(keyword string, want int, text gateway.Text) gateway.Problem {
		return rule(keyword, map[string]any{"limit": want}, text)
	}
	switch k := l.ErrorKind.(type) {
	case *kind.Required:
		p = gateway.MissingField(path, l.name)
		if first {
			d.lead = gateway.Textf("Required parameter missing: %s", p.Field)
		}
		return p
	case *kind.Type:
		got := any(gateway.TypeName(k.Got))
		if k.Got == "number" && slices.Contains(k.Want, "integer") {
			got = is
		}
		if first {
			d.lead = gateway.Textf("Invalid type for parameter %s: expected %s, is %s", field, gateway.Short(strings.Join(k.Want, " or ")), got)
		}
		return gateway.WrongType(path, k.Want, got)
	case *kind.AdditionalProperties:
		known := fieldsAt(d.schema, path)
		list := !d.listed && gateway.Nearest(l.name, slices.Values(known)) == ""
		d.listed = d.listed || list
		return gateway.UnknownField(path, l.name, known, list)
	case *kind.Enum:
		return oneOf(rule, field, k.Got, k.Want)
	case *kind.Const:
		return oneOf(rule, field, k.Got, []any{k.Want})
	case *kind.Minimum:
		return limit("minimum", ">=", k.Want, gateway.Textf("%s must be at least %s, is %s", field, number(k.Want), is))
	case *kind.Maximum:
		return limit("maximum", "<=", k.Want, gateway.Textf("%s must be at most %s, is %s", field, number(k.Want), is))
	case *kind.ExclusiveMinimum:
		return limit("exclusiveMinimum", ">", k.Want, gateway.Textf("%s must be more than %s, is %s", field, number(k.Want), is))
	case *kind.ExclusiveMaximum:
		return limit("exclusiveMaximum", "<", k.Want, gateway.Textf("%s must be less than %s, is %s", field, number(k.Want), is))
	case *kind.MultipleOf:
		divisor := number(k.Want)
		return rule("multipleOf", map[string]any{"multipleOf": json.Number(divisor)}, gateway.Textf("%s must be a multiple of %s, is %s", field, divisor, is))
	case *kind.MinLength:
		return size("minLength", k.Want, gateway.Textf("%s must have at least %d characters, has %d", field, k.Want, k.Got))
	case *kind.MaxLength:
		return size("maxLength", k.Want, gateway.Textf("%s must have at most %d characters, has %d", field, k.Want, k.Got))
	case *kind.MinItems:
		return size("minItems", k.Want, gateway.Textf("%s must have at least %d entries, has %d", field, k.Want, k.Got))
	case *kind.MaxItems:
		return size("maxItems", k.Want, gateway.Textf("%s must have at most %d entries, has %d", field, k.Want, k.Got))
	case *kind.MinProperties:
		return size("minProperties", k.Want, gateway.Textf("%s must have at least %d fields, has %d", field, k.Want, k.Got))
	case *kind.MaxProperties:
		return size("maxProperties", k.Want, gateway.Textf("%s must have at most %d fields, has %d", field, k.Want, k.Got))
	case *kind.Pattern:
		pattern := gateway.Short(k.Want)
		return rule("pattern", map[string]any{"pattern": pattern}, gateway.Textf("%s must match %s, is %s", field, pattern, is))
	case *kind.Format:
		format := gateway.Short(k.Want)
		return rule("format", map[string]any{"format": format}, gateway.Textf("%s must be a valid %s, is %s", field, format, is))
	case *kind.UniqueItems:
		i, j := k.Duplicates[0], k.Duplicates[1]
		return rule("uniqueItems", map[string]any{"i": j, "j": i}, gateway.Textf("%s must have each entry once; entries %d and %d are equal", field, i, j))
	case *kind.DependentRequired:
		return dependency(rule, field, k.Prop, k.Missing)
	case *kind.Dependency:
		return dependency(rule, field, k.Prop, k.Missing)
	case *kind.OneOf: // several matched: the others have causes
		return rule("oneOf", map[string]any{"passingSchemas": k.Subschemas},
			gateway.Textf("%s fits several of the forms of which it must have one only", field))
	case *kind.FalseSchema:
		return rule("false schema", nil, gateway.Textf("%s is not allowed", field))
	}
	keyword := gateway.Short(strings.Join(l.ErrorKind.KeywordPath(), "/"))
	if keyword == "" {
		keyword = "not" // the only other kind without a path
	}
	return rule(keyword, nil, gateway.Textf("%s breaks the rule %s of the schema", field, keyword))
}

type ruleFunc func(keyword string, params map[string]any, text gateway.Text) gateway.Problem

// oneOf describes a value that is none of the allowed ones.
func oneOf(rule ruleFunc, field string, got any, allowed []any) gateway.Problem {
	const most = 50
	is := shown(got, true)
	words := make([]string, 0, min(len(allowed), most))
	for _, one := range allowed[:min(len(allowed), most)] {
		raw, err := json.Marshal(one)
		if err == nil {
			words = append(words, gateway.Short(string(raw)))
		}
	}
	if len(allowed) == 1 {
		return rule("const", map[string]any{"allowedValue": allowed[0]}, gateway.Textf("%s must be %s, is %s", field, gateway.List(words), is))
	}
	return rule("enum", map[string]any{"allowedValues": allowed[:min(len(allowed), most)]},
		gateway.Textf("%s must be one of %s, is %s", field, gateway.List(words), is))
}

// dependency describes a field that lacks the fields that go with it.
func dependency(rule ruleFunc, object, field string, missing []string) gateway.Problem {
	names := gateway.List(missing)
	return rule("dependentRequired", map[string]any{"property": gateway.Short(field), "missingProperty": names},
		gateway.Textf("%s: %s needs %s beside it", object, gateway.Short(field), names))
}

// fieldsAt returns the names of the fields that an object at a path may have.
func fieldsAt(s *jsonschema.Schema, path []string) []string {
	for s != nil && s.Ref != nil {
		s = s.Ref
	}
	if s == nil {
		return nil
	}
	if len(path) == 0 {
		return slices.Sorted(maps.Keys(s.Properties))
	}
	if next := s.Properties[path[0]]; next != nil {
		return fieldsAt(next, path[1:])
	}
	return fieldsAt(s.Items2020, path[1:])
}

// valueAt returns the value at a path.
func valueAt(value any, path []string) any {
	for _, part := range path {
		switch v := value.(type) {
		case map[string]any:
			value = v[part]
		case []any:
			i, err := strconv.Atoi(part)
			if err != nil || i >= len(v) {
				return nil
			}
			value = v[i]
		}
	}
	return value
}

// wordLike reports whether a text may stand in an enumeration.
func wordLike(text string) bool {
	return utf8.RuneCountInString(text) <= 32 && !strings.ContainsFunc(text, func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsNumber(r) && !strings.ContainsRune("_.:/-", r)
	})
}

// shown returns a value as a message repeats it: a number or a boolean as it is, and
// of everything else the type and size. A short word is shown if words is set.
func shown(value any, words bool) any {
	const longest = 32
	switch v := value.(type) {
	case nil:
		return "null"
	case bool:
		return strconv.FormatBool(v)
	case json.Number:
		if len(v) <= longest {
			return v.String()
		}
		return gateway.Textf("a number of %d characters", len(v))
	case string:
		if words && wordLike(v) {
			return strconv.Quote(v)
		}
		return gateway.Textf("a string of %d characters", utf8.RuneCountInString(v))
	case []any:
		return gateway.Textf("an array of %d entries", len(v))
	default:
		return gateway.TypeName("object")
	}
}

// number returns a number of a schema as JSON. A long one is rounded.
func number(r *big.Rat) string {
	const longest = 24
	if r.IsInt() {
		if text := r.Num().String(); len(text) <= longest {
			return text
		}
	} else if f, _ := r.Float64(); f != 0 {
		return strconv.FormatFloat(f, 'g', -1, 64)
	}
	return new(big.Float).SetRat(r).Text('g', 10)
}
