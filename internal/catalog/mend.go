package catalog

import (
	"bytes"
	"strings"

	"genkan/internal/gateway"
	"genkan/internal/jsonrpc"
)

// One definition that a client does not understand makes some clients drop the
// whole list. So what clients are shown is mended where it breaks the rules of
// their era; what arguments are checked against stays the server's own. Where a
// mended schema cannot say the same it says less, and the server has the last
// word; only what one alternative says of a property may be more than another,
// which does not name it, asks for.
//
//   - In both eras an input schema is an object that says "type": "object".
//   - In the modern era any keyword may stand beside that, and an output schema
//     is whatever it is.
//   - The legacy era knows type, properties and required at the first level, and
//     of an output schema the same. There, combinations (anyOf, oneOf, allOf) and
//     references become plain properties: model providers refuse them. That is
//     not done for a server whose schemas are to stay original.

const typeObject = `"object"`

// mended is what clients are shown of a definition.
type mended struct {
	modern, legacy []byte
	// notes say what was done.
	notes []gateway.Text
}

// mend makes a definition one that clients can take. It reports false, and why,
// for a tool that cannot be called with an object. A well-formed definition
// keeps its bytes; with original, so does one with combinations.
func mend(definition []byte, original bool) (m mended, why gateway.Text, ok bool) {
	m = mended{modern: definition, legacy: definition}
	var stands [2]int
	err := jsonrpc.Members(definition, func(key, _ []byte) bool {
		switch string(key) {
		case "inputSchema":
			stands[0]++
		case "outputSchema":
			stands[1]++
		}
		return true
	})
	if err != nil || stands[0] > 1 || stands[1] > 1 {
		return m, gateway.Textf("it has a schema twice, and clients might read either"), false
	}

	in := repair{name: "inputSchema", original: original}
	if !in.input(jsonrpc.Lookup(definition, in.name)) {
		return m, in.why, false
	}
	m.modern = in.put(m.modern, in.modern)
	m.legacy = in.put(m.legacy, in.legacy)

	out := repair{name: "outputSchema", original: original}
	if stands[1] > 0 {
		out.output(jsonrpc.Lookup(definition, out.name))
		m.modern = out.put(m.modern, out.modern)
		m.legacy = out.put(m.legacy, out.legacy)
	}
	m.notes = append(in.notes, out.notes...)
	return m, gateway.Text{}, true
}

// repair is the work on one schema.
type repair struct {
	name string
	// original keeps combinations for everybody.
	original       bool
	modern, legacy outcome
	notes          []gateway.Text
	// why says why it cannot be mended.
	why gateway.Text
}

// outcome is what an era is shown: another schema, none, or, if it is zero, what
// is there already.
type outcome struct {
	schema []byte
	hidden bool
}

// put makes a definition show the outcome.
func (r *repair) put(definition []byte, o outcome) []byte {
	if o.hidden {
		return jsonrpc.Without(definition, r.name)
	}
	if o.schema == nil {
		return definition
	}
	if at := jsonrpc.LookupSpan(definition, r.name); at.Present() {
		return jsonrpc.Splice(nil, definition, jsonrpc.Edit{At: at, With: o.schema})
	}
	end := uint32(bytes.LastIndexByte(definition, '}')) //nolint:gosec // at most MaxMessage
	with := append(append([]byte(`,"`), r.name...), `":`...)
	return jsonrpc.Splice(nil, definition, jsonrpc.Edit{At: gateway.Span{Start: end, End: end}, With: append(with, o.schema...)})
}

func (r *repair) note(text gateway.Text) { r.notes = append(r.notes, text) }

// input mends an input schema. It reports false when no object fits it.
func (r *repair) input(raw []byte) bool {
	s, ok := parseFields(raw)
	if !ok {
		switch strings.TrimSpace(string(raw)) {
		case "", "null", "true", "[]": // an empty object is an array to some languages
			r.note(gateway.Textf("%s is missing or empty", r.name))
			r.modern.schema = []byte(`{"type":` + typeObject + `}`)
			r.legacy = r.modern
			return true
		}
		r.why = gateway.Textf("its %s is no JSON Schema of an object", r.name)
		return false
	}
	if !s.allowsObjects() {
		r.why = gateway.Textf("its %s asks for something else than an object", r.name)
		return false
	}
	plain, possible, removed := newFlattener(s, len(raw)).root()
	if !possible {
		r.why = gateway.Textf("its %s asks for something else than an object", r.name)
		return false
	}
	if r.shape(s) {
		r.modern.schema = s.encode()
		r.legacy = r.modern
	}
	r.plain(plain, removed)
	return true
}

// plain shows the legacy era what a schema was flattened to, if it had to be.
func (r *repair) plain(plain *fields, removed []string) {
	if len(removed) == 0 || r.original {
		return
	}
	plain.shape()
	r.legacy.schema = plain.encode()
	r.note(gateway.Textf("%s has %s at its first level; clients of the legacy era see plain properties instead",
		r.name, strings.Join(removed, ", ")))
}

// output mends an output schema for the legacy era, or leaves it out: a client
// would refuse a result that does not fit it, and can do without it.
func (r *repair) output(raw []byte) {
	s, ok := parseFields(raw)
	if !ok {
		r.note(gateway.Textf("%s is no JSON Schema and is not shown", r.name))
		r.modern.hidden, r.legacy.hidden = true, true
		return
	}
	f := newFlattener(s, len(raw))
	f.exact = true
	means := f.meansObject(s, 0)
	plain, possible, removed := f.root()
	if !means || !possible {
		r.note(gateway.Textf("%s is not of an object; clients of the legacy era are not shown it", r.name))
		r.legacy.hidden = true
		return
	}
	if r.shape(s) {
		r.legacy.schema = s.encode()
	}
	r.plain(plain, removed)
}

// shape mends the three keywords that clients look at, and notes it.
func (r *repair) shape(s *fields) bool {
	typed, parts := s.shape()
	if typed {
		r.note(gateway.Textf("%s does not say \"type\": \"object\"", r.name))
	}
	if parts {
		r.note(gateway.Textf("%s has properties or required in a form that JSON Schema does not know", r.name))
	}
	return typed || parts
}

// shape makes type, properties and required what every reader expects. It
// reports whether it changed the type, and the other two.
func (f *fields) shape() (typed, parts bool) {
	if string(f.get("type")) != typeObject {
		typed = true
		if f.has("type") {
			f.set("type", []byte(typeObject))
		} else {
			// At the beginning, where people look for it.
			g := &fields{at: map[string]int{}}
			g.set("type", []byte(typeObject))
			for _, one := range f.list {
				g.set(one.key, one.value)
			}
			*f = *g
		}
	}
	if raw := f.get("properties"); raw != nil {
		if properties, ok := parseFields(raw); !ok {
			f.drop("properties")
			parts = true
		} else if properties.shapeProperties() {
			f.set("properties", properties.encode())
			parts = true
		}
	}
	if raw := f.get("required"); raw != nil {
		if _, isList := elements(raw); !isList {
			f.drop("required")
			parts = true
		} else if required, pure := namesIn(raw); !pure {
			f.set("required", required.encode())
			parts = true
		}
	}
	return typed, parts
}

// shapeProperties makes each property an object: true and false are schemas
// too, but not to every client.
func (f *fields) shapeProperties() (changed bool) {
	for i, property := range f.list {
		if property.value[0] == '{' {
			continue
		}
		changed = true
		f.list[i].value = []byte(`{}`)
		if string(property.value) == "false" {
			f.list[i].value = []byte(`{"not":{}}`)
		}
	}
	return changed
}
