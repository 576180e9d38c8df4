package api

import (
	"bytes"
	"cmp"
	"encoding/json"
	"net/http"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"genkan/internal/api/client"
	"genkan/internal/gateway"
)

// object is a JSON object whose members keep their order, so that the document
// shows the fields of a type in the order of their declaration.
type object []member

type member struct {
	key   string
	value any
}

func (o *object) add(key string, value any) { *o = append(*o, member{key, value}) }

// MarshalJSON encodes the members in order.
func (o object) MarshalJSON() ([]byte, error) {
	var b bytes.Buffer
	b.WriteByte('{')
	for i, m := range o {
		if i > 0 {
			b.WriteByte(',')
		}
		key, err := json.Marshal(m.key)
		if err != nil {
			return nil, err
		}
		value, err := json.Marshal(m.value)
		if err != nil {
			return nil, err
		}
		b.Write(key)
		b.WriteByte(':')
		b.Write(value)
	}
	b.WriteByte('}')
	return b.Bytes(), nil
}

// schemas are the types of the API by name, in the order of their first use.
type schemas struct {
	types []reflect.Type
	// closed are the types that occur only in requests. They are decoded strictly.
	closed map[reflect.Type]bool
}

func collect(routes []route) *schemas {
	s := &schemas{closed: map[reflect.Type]bool{}}
	s.visit(reflect.TypeFor[client.Failure](), false)
	for _, one := range routes {
		if one.answer != nil {
			s.visit(reflect.TypeOf(one.answer), false)
		}
	}
	for _, one := range routes {
		if one.body != nil {
			s.visit(reflect.TypeOf(one.body), true)
		}
	}
	return s
}

// isNamed reports whether a type is described under its own name.
func isNamed(t reflect.Type) bool {
	return t.Kind() == reflect.Struct && t != reflect.TypeFor[time.Time]()
}

func (s *schemas) visit(t reflect.Type, closed bool) {
	switch {
	case t == reflect.TypeFor[json.RawMessage]():
	case t.Kind() == reflect.Pointer || t.Kind() == reflect.Slice:
		s.visit(t.Elem(), closed)
	case isNamed(t) && !slices.Contains(s.types, t):
		s.types = append(s.types, t)
		s.closed[t] = closed
		for i := range t.NumField() {
			s.visit(t.Field(i).Type, closed)
		}
	}
}

// schemaOf returns the JSON Schema of a type. Structs are references.
func schemaOf(t reflect.Type) object {
	switch {
	case t == reflect.TypeFor[json.RawMessage]():
		return object{}
	case t == reflect.TypeFor[time.Time]():
		return object{{"type", "string"}, {"format", "date-time"}}
	case isNamed(t):
		return object{{"$ref", "#/components/schemas/" + t.Name()}}
	}
	switch t.Kind() {
	case reflect.Pointer:
		return schemaOf(t.Elem())
	case reflect.Slice:
		return object{{"type", "array"}, {"items", schemaOf(t.Elem())}}
	case reflect.Bool:
		return object{{"type", "boolean"}}
	case reflect.Int, reflect.Int64:
		return object{{"type", "integer"}}
	case reflect.Float32, reflect.Float64:
		return object{{"type", "number"}}
	case reflect.String:
		return object{{"type", "string"}}
	default:
		return object{{"type", "object"}}
	}
}

// orNull allows null for an optional field of a request. Null means the same as no
// field.
func orNull(schema object) object {
	switch {
	case len(schema) == 0:
		return schema
	case schema[0].key == "type":
		nullable := slices.Clone(schema)
		nullable[0].value = []any{schema[0].value, "null"}
		return nullable
	default:
		return object{{"anyOf", []object{schema, {{"type", "null"}}}}}
	}
}

// typeField is one field of a type of the API.
type typeField struct {
	name, about string
	required    bool
	of          reflect.Type
}

func fieldsOfType(t reflect.Type) []typeField {
	var all []typeField
	for i := range t.NumField() {
		f := t.Field(i)
		if f.Anonymous { // its fields are encoded as fields of the outer type
			all = append(all, fieldsOfType(f.Type)...)
			continue
		}
		name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		all = append(all, typeField{
			name: name, about: f.Tag.Get("doc"), of: f.Type,
			required: !strings.Contains(options, "omitempty") && !strings.Contains(options, "omitzero"),
		})
	}
	return all
}

// describe returns the schema of a struct.
func (s *schemas) describe(t reflect.Type) object {
	properties := object{}
	required := []string{}
	for _, f := range fieldsOfType(t) {
		schema := schemaOf(f.of)
		// Optional fields of a request, and required pointers of an answer, may be
		// null.
		if s.closed[t] && !f.required || !s.closed[t] && f.required && f.of.Kind() == reflect.Pointer {
			schema = orNull(schema)
		}
		if f.about != "" {
			schema.add("description", f.about)
		}
		properties.add(f.name, schema)
		if f.required {
			required = append(required, f.name)
		}
	}
	out := object{{"type", "object"}, {"properties", properties}}
	if len(required) > 0 {
		out.add("required", required)
	}
	if s.closed[t] {
		out.add("additionalProperties", false)
	}
	return out
}

// shownPath returns the path without the syntax of Go's patterns.
func (r *route) shownPath() string { return strings.TrimSuffix(r.path, "{$}") }

// good returns the status of a successful answer.
func (r *route) good() int {
	if r.status != 0 {
		return r.status
	}
	return http.StatusOK
}

// allFailures returns the failures of a route and those of its kind of route,
// ordered by status.
func (r *route) allFailures() []restError {
	all := slices.Clone(r.failures)
	if r.who != forAll { // for a wrong Host or Origin
		all = append(all, restErrorOf(gateway.CodeDenied))
	}
	if r.needsToken() {
		// CodeUnavailable is for a store that cannot look a token up.
		all = append(all, restError{http.StatusUnauthorized, "AUTHENTICATION_ERROR"}, restErrorOf(gateway.CodeInternal), restErrorOf(gateway.CodeUnavailable))
		// CodeLimited is for a caller that has used up its rate limit, or its share of
		// the memory.
		all = append(all, restErrorOf(gateway.CodeLimited))
	}
	if r.strict() {
		all = append(all, restErrorOf(gateway.CodeInvalid))
	}
	if r.body != nil {
		for _, status := range []int{http.StatusBadRequest, http.StatusRequestEntityTooLarge, http.StatusUnsupportedMediaType} {
			all = append(all, restError{status, "VALIDATION_ERROR"})
		}
	}
	slices.SortStableFunc(all, func(a, b restError) int {
		return cmp.Or(cmp.Compare(a.status, b.status), cmp.Compare(a.code, b.code))
	})
	return slices.Compact(all)
}

func (r *route) needsToken() bool { return r.who == forCallers || r.who == forAdmins }

// describe returns the OpenAPI operation of a route.
func (r *route) describe() object {
	out := object{{"operationId", r.id}, {"summary", r.summary}}
	about := r.about
	if r.who == forAdmins {
		about = strings.TrimSpace(about + " For the admin token.")
	}
	if about != "" {
		out.add("description", about)
	}
	if !r.needsToken() {
		out.add("security", []string{})
	}
	parameters := []object{}
	for segment := range strings.SplitSeq(r.shownPath(), "/") {
		if name, ok := strings.CutPrefix(segment, "{"); ok {
			parameters = append(parameters, object{{"name", strings.TrimSuffix(name, "}")}, {"in", "path"}, {"required", true}, {"schema", object{{"type", "string"}}}})
		}
	}
	for _, q := range r.query {
		parameters = append(parameters, q.describe())
	}
	if len(parameters) > 0 {
		out.add("parameters", parameters)
	}
	if r.body != nil {
		out.add("requestBody", object{{"required", true}, {"content", content("", r.body)}})
	}
	good := object{{"description", http.StatusText(r.good())}}
	if r.answer != nil {
		good.add("content", content(r.media, r.answer))
	}
	responses := object{{strconv.Itoa(r.good()), good}}
	if r.leads != 0 {
		responses.add(strconv.Itoa(r.leads), object{{"description", http.StatusText(r.leads)}})
	}
	codes := map[int][]string{}
	var statuses []int
	for _, f := range r.allFailures() {
		if codes[f.status] == nil {
			statuses = append(statuses, f.status)
		}
		codes[f.status] = append(codes[f.status], f.code)
	}
	for _, status := range statuses {
		failure := object{{"description", strings.Join(codes[status], ", ")}}
		if status == http.StatusTooManyRequests {
			failure.add("headers", object{{"Retry-After", object{
				{"description", "Seconds until trying again makes sense."}, {"schema", object{{"type", "integer"}}},
			}}})
		}
		failure.add("content", content("", client.Failure{}))
		responses.add(strconv.Itoa(status), failure)
	}
	out.add("responses", responses)
	return out
}

func (q *query) describe() object {
	schema := object{{"type", q.kind}}
	if q.kind == "integer" {
		schema.add("minimum", q.least)
		schema.add("maximum", q.most)
	}
	if q.otherwise != 0 {
		schema.add("default", q.otherwise)
	}
	out := object{{"name", q.name}, {"in", "query"}}
	if q.about != "" {
		out.add("description", q.about)
	}
	out.add("schema", schema)
	return out
}

func content(media string, value any) object {
	if media == "" {
		media = "application/json"
	}
	return object{{media, object{{"schema", schemaOf(reflect.TypeOf(value))}}}}
}

// apiIntroduction is the first paragraph of the description.
const apiIntroduction = "What a genkan holds, and calls of its tools. Every answer is JSON. " +
	"Whatever fails is answered with a Failure, whose error says what happened and what to do next."

// describe returns the whole API as an OpenAPI 3.1 document.
func describe(routes []route) object {
	var order []string
	byPath := map[string]object{}
	for _, one := range routes {
		path := one.shownPath()
		if byPath[path] == nil {
			order = append(order, path)
		}
		byPath[path] = append(byPath[path], member{strings.ToLower(one.method), one.describe()})
	}
	paths := object{}
	for _, path := range order {
		paths.add(path, byPath[path])
	}
	all := collect(routes)
	types := object{}
	for _, t := range all.types {
		types.add(t.Name(), all.describe(t))
	}
	return object{
		{"openapi", "3.1.0"},
		{"info", object{{"title", "Genkan"}, {"version", "1"}, {"description", apiIntroduction}}},
		{"security", []object{{{"token", []string{}}}}},
		{"paths", paths},
		{"components", object{
			{"securitySchemes", object{{"token", object{
				{"type", "http"},
				{"scheme", "bearer"},
				{"description", "The token of a client (genkan tokens add NAME), or the admin token of the data directory."},
			}}}},
			{"schemas", types},
		}},
	}
}

// openAPI answers with the OpenAPI document.
func (a *API) openAPI(w http.ResponseWriter, _ *http.Request, _ gateway.Identity) {
	document, err := a.document()
	if err != nil {
		a.fail(w, err)
		return
	}
	encode(w, http.StatusOK, json.RawMessage(document))
}
