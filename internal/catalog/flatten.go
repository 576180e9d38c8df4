package catalog

import (
	"net/url"
	"slices"
	"strings"

	"genkan/internal/jsonrpc"
)

// flattener turns combinations and references at the first level of a schema
// into plain properties.
type flattener struct {
	whole *fields // what references are resolved in
	// left bounds the work in bytes: references to references could make a
	// small schema endless. What is beyond counts as unknown, which lets
	// everything through.
	left int
	open []string // references on the way, which may lead back to themselves
	// exact keeps of alternatives only what every one of them says: nothing
	// that fits the original may fail the result.
	exact bool
}

func newFlattener(whole *fields, size int) *flattener {
	return &flattener{whole: whole, left: 64<<10 + 8*size}
}

// deepest is how deep combinations may stand in one another.
const deepest = 32

// root flattens the whole schema. It reports whether an object can fit it, and
// the keywords that are gone.
func (f *flattener) root() (plain *fields, possible bool, removed []string) {
	plain = f.whole.clone()
	if !slices.ContainsFunc(combinations, plain.has) {
		return plain, true, nil
	}
	possible, followed := f.flatten(plain, 0)
	for _, word := range combinations {
		if f.whole.has(word) && (word != "$ref" || followed) {
			removed = append(removed, word)
		}
	}
	return plain, possible, removed
}

// combinations are the keywords that are flattened, in the order in which that
// is done.
var combinations = []string{"$ref", "allOf", "anyOf", "oneOf", "not", "enum", "const"}

// flatten works on a schema in place. It reports whether an object can fit it,
// and whether its reference, if any, was followed.
func (f *flattener) flatten(s *fields, depth int) (possible, followed bool) {
	if !s.allowsObjects() {
		return false, true
	}
	own := propertiesOf(s)
	required, _ := namesIn(s.get("required"))
	united := newUnion()
	possible = true

	if target, name, ok := f.target(s.get("$ref")); ok {
		followed = true
		s.drop("$ref")
		f.open = append(f.open, name)
		branch, fits := f.branch(target, depth)
		f.open = f.open[:len(f.open)-1]
		possible = possible && fits
		united.all(branch)
		s.adopt(branch)
	}
	if list, ok := elements(s.get("allOf")); ok {
		for _, raw := range list {
			branch, fits := f.branch(raw, depth)
			possible = possible && fits
			united.all(branch)
		}
	}
	for _, word := range []string{"anyOf", "oneOf"} {
		list, ok := elements(s.get(word))
		if !ok || len(list) == 0 {
			continue
		}
		either := newUnion()
		alternatives := 0
		for _, raw := range list {
			if branch, fits := f.branch(raw, depth); fits {
				either.any(branch, alternatives == 0)
				alternatives++
			}
		}
		possible = possible && alternatives > 0
		if f.exact {
			either.keepCommon(alternatives)
		}
		united.join(either)
	}
	if gone := s.drop(combinations[1:]...); followed || len(gone) > 0 {
		s.drop("unevaluatedProperties") // it looks into what is gone
	}

	for _, name := range united.names.list {
		// The schema's own word on a property counts; what the branches add
		// narrows it further, and the server will say so.
		if !own.has(name) {
			own.set(name, united.property(name))
		}
	}
	if len(own.list) > 0 {
		s.set("properties", own.encode())
	}
	for _, name := range united.required.list {
		required.add(name)
	}
	if len(required.list) > 0 {
		s.set("required", required.encode())
	}
	return possible, followed
}

// adopt takes over what the target of a reference says besides properties and
// required, but for what means something else in another place.
func (f *fields) adopt(target *fields) {
	ownPatterns := f.has("patternProperties")
	for _, one := range target.list {
		switch one.key {
		case "properties", "required", "$ref", "$id", "$anchor", "$schema", "$defs", "definitions",
			"if", "then", "else", "unevaluatedProperties":
			continue
		case "additionalProperties":
			if ownPatterns {
				continue
			}
		}
		if !f.has(one.key) {
			f.set(one.key, one.value)
		}
	}
}

// branch flattens a part of a combination. One that cannot be read lets
// everything through.
func (f *flattener) branch(raw []byte, depth int) (s *fields, possible bool) {
	anything := &fields{at: map[string]int{}}
	f.left -= len(raw) + 64
	if string(raw) == "false" {
		return anything, false
	}
	if f.left < 0 || depth >= deepest {
		return anything, true
	}
	s, ok := parseFields(raw)
	if !ok {
		return anything, true
	}
	possible, _ = f.flatten(s, depth+1)
	return s, possible
}

// target finds what a reference within the schema means. Others stay as they
// are: nothing is fetched.
func (f *flattener) target(ref []byte) (target []byte, name string, ok bool) {
	text, _ := jsonrpc.Unquote(ref)
	pointer, found := strings.CutPrefix(string(text), "#/")
	if !found || slices.Contains(f.open, pointer) {
		return nil, "", false
	}
	steps := strings.Split(pointer, "/")
	if len(steps) < 2 || steps[0] != "$defs" && steps[0] != "definitions" {
		return nil, "", false
	}
	target = f.whole.get(steps[0])
	for _, step := range steps[1:] {
		if plain, err := url.PathUnescape(step); err == nil {
			step = plain
		}
		step = strings.ReplaceAll(strings.ReplaceAll(step, "~1", "/"), "~0", "~")
		f.left -= len(target)
		if f.left < 0 {
			return nil, "", false
		}
		target = jsonrpc.Lookup(target, step)
	}
	return target, pointer, target != nil
}

// meansObject reports whether a schema is that of an object, as far as it says.
func (f *flattener) meansObject(s *fields, depth int) bool {
	if types := s.types(); types != nil {
		rest := slices.DeleteFunc(types, func(t string) bool { return t == "object" || t == "null" })
		return s.allowsObjects() && len(rest) == 0
	}
	if s.has("properties") || s.has("required") {
		return true
	}
	means := func(raw []byte) bool {
		f.left -= len(raw) + 64
		branch, ok := parseFields(raw)
		return ok && f.left >= 0 && depth < deepest && f.meansObject(branch, depth+1)
	}
	if target, name, ok := f.target(s.get("$ref")); ok {
		f.open = append(f.open, name)
		meant := means(target)
		f.open = f.open[:len(f.open)-1]
		if meant {
			return true
		}
	}
	if list, ok := elements(s.get("allOf")); ok && slices.ContainsFunc(list, means) {
		return true
	}
	for _, word := range []string{"anyOf", "oneOf"} {
		list, _ := elements(s.get(word))
		list = slices.DeleteFunc(list, func(raw []byte) bool { return jsonrpc.LookupText(raw, "type") == "null" })
		if len(list) > 0 && !slices.ContainsFunc(list, func(raw []byte) bool { return !means(raw) }) {
			return true
		}
	}
	return false
}

func propertiesOf(s *fields) *fields {
	properties, ok := parseFields(s.get("properties"))
	if !ok {
		return &fields{at: map[string]int{}}
	}
	properties.shapeProperties()
	return properties
}
