package api

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"genkan/internal/gateway"
	"genkan/internal/jsonrpc"
)

// maxBody is the largest body of a REST request, in bytes. bodyPatience is how long
// reading it may take.
const (
	maxBody = 1 << 20
	// maxWorkflows is that of requests with workflows: a definition may have 4 MB and
	// its tests as much, and one request may have several.
	maxWorkflows = 16 << 20
	bodyPatience = 30 * time.Second
)

// decodeBody decodes a JSON body strictly. status belongs to the error.
func decodeBody(w http.ResponseWriter, r *http.Request, into any) (status int, wrong *gateway.Error) {
	body, status, wrong := readBody(w, r)
	if wrong != nil {
		return status, wrong
	}
	return decode(body, into)
}

// readBody reads a JSON body. status belongs to the error.
func readBody(w http.ResponseWriter, r *http.Request) (body []byte, status int, wrong *gateway.Error) {
	// A body that does not arrive must not hold a connection for ever.
	control := http.NewResponseController(w)
	_ = control.SetReadDeadline(time.Now().Add(bodyPatience))
	defer func() { _ = control.SetReadDeadline(time.Time{}) }()
	if !jsonrpc.IsJSON(r.Header.Get("Content-Type")) {
		return nil, http.StatusUnsupportedMediaType, invalid("the Content-Type must be application/json, in UTF-8")
	}
	most := int64(maxBody)
	if one, ok := w.(*response); ok && one.largest > 0 {
		most = one.largest
	}
	size := r.ContentLength
	if size < 0 || size > most {
		size = most
	}
	if !metered(w, int(size)) {
		return nil, http.StatusTooManyRequests, gateway.ErrShareUsedUp
	}
	body, err := jsonrpc.ReadBodyLimit(r.Body, r.ContentLength, int(most))
	if errors.Is(err, jsonrpc.ErrTooLarge) {
		// Read on for a while. A client that is still sending would otherwise see a
		// broken connection instead of the answer.
		_, _ = io.CopyN(io.Discard, r.Body, 16*maxBody)
		return nil, http.StatusRequestEntityTooLarge, invalid("the body is larger than %d MiB", most>>20)
	}
	if err != nil {
		return nil, http.StatusBadRequest, invalid("the body could not be read")
	}
	return body, 0, nil
}

// decode decodes a JSON object strictly: only the fields of into, each once.
func decode(body []byte, into any) (status int, wrong *gateway.Error) {
	t := reflect.TypeOf(into).Elem()
	if json.Valid(body) {
		c := bodyCheck{}
		c.object(bytes.TrimSpace(body), t, nil)
		if c.wrong != nil {
			return http.StatusBadRequest, invalid("the body is not what was expected: %s", c.wrong)
		}
		if wrong := c.problems.Err(); wrong != nil {
			return http.StatusBadRequest, wrong
		}
	}
	d := json.NewDecoder(bytes.NewReader(body))
	d.DisallowUnknownFields()
	if err := d.Decode(into); err != nil {
		var wrongType *json.UnmarshalTypeError
		if errors.As(err, &wrongType) && wrongType.Field != "" {
			field := gateway.Short(wrongType.Field)
			return http.StatusBadRequest, refused(breaks(field, "type", map[string]any{"type": jsonType(wrongType.Type)},
				gateway.Textf("%s must not be a %s", field, gateway.Short(wrongType.Value))))
		}
		return http.StatusBadRequest, invalid("the body is not what was expected: %s", gateway.Textf("it is not valid JSON"))
	}
	if d.More() {
		return http.StatusBadRequest, invalid("the body must be one JSON object")
	}
	return 0, nil
}

// bodyCheck collects what is wrong in a body, so that its sender learns all of it at
// once and by the names of JSON.
type bodyCheck struct {
	problems gateway.Problems
	// wrong is set if an object has a key twice, or one that differs from a field's
	// only in case.
	wrong error
}

// value checks a value that becomes one of a type. An optional field may be null.
func (c *bodyCheck) value(raw []byte, t reflect.Type, path []string) {
	switch {
	case string(raw) == "null" || t == reflect.TypeFor[json.RawMessage]() || reflect.PointerTo(t).Implements(reflect.TypeFor[json.Unmarshaler]()):
		return
	case t.Kind() == reflect.Pointer:
		c.value(raw, t.Elem(), path)
		return
	case t.Kind() == reflect.Interface:
		return
	}
	want := jsonType(t)
	is := jsonrpc.TypeOf(raw)
	if want == "integer" && is == "number" {
		if _, err := strconv.ParseInt(string(raw), 10, 64); err != nil {
			c.problems.Add(gateway.WrongType(path, []string{want}, gateway.Short(string(raw))))
		}
		return
	}
	if want != is {
		c.problems.Add(gateway.WrongType(path, []string{want}, gateway.TypeName(is)))
		return
	}
	switch t.Kind() {
	case reflect.Slice:
		c.list(raw, t.Elem(), path)
	case reflect.Struct, reflect.Map:
		c.object(raw, t, path)
	default: // it has nothing inside
	}
}

func (c *bodyCheck) list(raw []byte, t reflect.Type, path []string) {
	i := 0
	_ = jsonrpc.Elements(raw, func(one []byte) bool {
		at := slices.Concat(path, []string{strconv.Itoa(i)})
		if i++; string(one) == "null" && t != reflect.TypeFor[json.RawMessage]() {
			c.problems.Add(gateway.WrongType(at, []string{jsonType(t)}, gateway.TypeName("null")))
		}
		c.value(one, t, at)
		return c.wrong == nil
	})
}

func (c *bodyCheck) object(raw []byte, t reflect.Type, path []string) {
	var names, missing []string
	types := map[string]reflect.Type{}
	if t.Kind() == reflect.Struct {
		for _, f := range fieldsOfType(t) {
			names, types[f.name] = append(names, f.name), f.of
			// Handlers check the required fields of a body, together with their values.
			if f.required && path != nil {
				missing = append(missing, f.name)
			}
		}
	}
	if err := jsonrpc.CheckObject(raw, names...); err != nil {
		c.wrong = err
		return
	}
	_ = jsonrpc.Members(raw, func(key, value []byte) bool {
		at := slices.Concat(path, []string{string(key)})
		missing = slices.DeleteFunc(missing, func(name string) bool { return name == string(key) })
		switch of, known := types[string(key)]; {
		case t.Kind() == reflect.Map:
			c.value(value, t.Elem(), at)
		case known:
			c.value(value, of, at)
		default:
			c.problems.Add(gateway.UnknownField(path, string(key), names, true))
		}
		return c.wrong == nil
	})
	for _, name := range missing {
		c.problems.Add(gateway.MissingField(path, name))
	}
}

// jsonType returns the type of JSON Schema that values of a Go type have.
func jsonType(t reflect.Type) string {
	switch t.Kind() {
	case reflect.Pointer:
		return jsonType(t.Elem())
	case reflect.String:
		return "string"
	case reflect.Bool:
		return "boolean"
	case reflect.Int, reflect.Int32, reflect.Int64:
		return "integer"
	case reflect.Float32, reflect.Float64:
		return "number"
	case reflect.Slice:
		return "array"
	default:
		return "object"
	}
}

func invalid(format string, values ...any) *gateway.Error {
	return gateway.Errorf(gateway.CodeInvalid, format, values...)
}

// refused returns the error for input with one problem.
func refused(p gateway.Problem) *gateway.Error { return gateway.InvalidInput([]gateway.Problem{p}, 1) }

// breaks returns the problem of a field that breaks a rule of JSON Schema.
func breaks(field, keyword string, params map[string]any, text gateway.Text) gateway.Problem {
	return gateway.Problem{Field: field, Pointer: gateway.Pointer(strings.Split(field, ".")), Keyword: keyword, Params: params, Text: text}
}

// outside returns the problem of a number that is not from least to most.
func outside(field, given string, least, most int) gateway.Problem {
	n, err := strconv.Atoi(given)
	given = gateway.Short(given)
	keyword, params := "maximum", map[string]any{"comparison": "<=", "limit": most}
	switch {
	case err != nil && !errors.Is(err, strconv.ErrRange):
		keyword, params, given = "type", map[string]any{"type": "integer"}, strconv.Quote(given)
	case n < least:
		keyword, params = "minimum", map[string]any{"comparison": ">=", "limit": least}
	}
	return breaks(field, keyword, params, gateway.Textf("%s must be a whole number from %d to %d, is %s", field, least, most, given))
}

// fieldsOf returns the names of the fields of the struct behind a pointer.
func fieldsOf(into any) []string {
	var names []string
	for _, f := range fieldsOfType(reflect.TypeOf(into).Elem()) {
		names = append(names, f.name)
	}
	return names
}
