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
	maxBody      = 1 << 20
	bodyPatience = 30 * time.Second
)

var errQuota = &gateway.Error{
	Code: gateway.CodeLimited, RetryAfter: time.Second, Err: gateway.ErrShareUsedUp,
	Message: "too many large calls of this client are under way; try again in a moment",
}

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
	size := r.ContentLength
	if size < 0 || size > maxBody {
		size = maxBody
	}
	if !metered(w, int(size)) {
		return nil, http.StatusTooManyRequests, errQuota
	}
	body, err := jsonrpc.ReadBodyLimit(r.Body, r.ContentLength, maxBody)
	if errors.Is(err, jsonrpc.ErrTooLarge) {
		// Read on for a while. A client that is still sending would otherwise see a
		// broken connection instead of the answer.
		_, _ = io.CopyN(io.Discard, r.Body, 16*maxBody)
		return nil, http.StatusRequestEntityTooLarge, invalid("the body is larger than %d MiB", maxBody>>20)
	}
	if err != nil {
		return nil, http.StatusBadRequest, invalid("the body could not be read")
	}
	return body, 0, nil
}

// decode decodes a JSON object strictly: only the fields of into, each once.
func decode(body []byte, into any) (status int, wrong *gateway.Error) {
	known := fieldsOf(into)
	if err := jsonrpc.CheckObject(body, known...); err != nil && json.Valid(body) {
		return http.StatusBadRequest, invalid("the body is not what was expected: %s", err)
	}
	d := json.NewDecoder(bytes.NewReader(body))
	d.DisallowUnknownFields()
	if err := d.Decode(into); err != nil {
		why, field := bodyProblem(err, known)
		return http.StatusBadRequest, invalidField(field, "the body is not what was expected: %s", why)
	}
	if d.More() {
		return http.StatusBadRequest, invalid("the body must be one JSON object")
	}
	if err := checkInside(body, reflect.TypeOf(into).Elem()); err != nil {
		return http.StatusBadRequest, invalid("the body is not what was expected: %s", err)
	}
	return 0, nil
}

// checkInside refuses mistakes in nested values that a decoder accepts: keys that
// occur twice or differ from a field's only in case, and null as an entry of a
// list.
func checkInside(raw []byte, t reflect.Type) (wrong error) {
	raw = bytes.TrimSpace(raw)
	isObject := len(raw) > 0 && raw[0] == '{'
	switch kind := t.Kind(); {
	case t == reflect.TypeFor[json.RawMessage]() || string(raw) == "null":
	case kind == reflect.Pointer:
		return checkInside(raw, t.Elem())
	case kind == reflect.Slice:
		_ = jsonrpc.Elements(raw, func(one []byte) bool {
			if wrong = checkInside(one, t.Elem()); string(one) == "null" && t.Elem() != reflect.TypeFor[json.RawMessage]() {
				wrong = invalid("a list must not have null in it")
			}
			return wrong == nil
		})
	case kind == reflect.Map && isObject:
		if wrong = jsonrpc.CheckObject(raw); wrong != nil {
			return wrong
		}
		_ = jsonrpc.Members(raw, func(_, value []byte) bool {
			wrong = checkInside(value, t.Elem())
			return wrong == nil
		})
	case kind == reflect.Struct && isObject:
		names, fields := fieldsOf(reflect.New(t).Interface()), fieldsOfType(t)
		if wrong = jsonrpc.CheckObject(raw, names...); wrong != nil {
			return wrong
		}
		_ = jsonrpc.Members(raw, func(key, value []byte) bool {
			if i := slices.Index(names, string(key)); i >= 0 {
				wrong = checkInside(value, fields[i].of)
			}
			return wrong == nil
		})
	}
	return wrong
}

func invalid(format string, values ...any) *gateway.Error {
	return gateway.Errorf(gateway.CodeInvalid, format, values...)
}

func invalidField(field, format string, values ...any) *gateway.Error {
	e := gateway.Errorf(gateway.CodeInvalid, format, values...)
	e.Field = field
	return e
}

// fieldsOf returns the names of the fields of the struct behind a pointer.
func fieldsOf(into any) []string {
	var names []string
	for _, f := range fieldsOfType(reflect.TypeOf(into).Elem()) {
		names = append(names, f.name)
	}
	return names
}

// bodyProblem explains a decoding error without Go's terms, and returns the field
// that it is about.
func bodyProblem(err error, known []string) (why gateway.Text, field string) {
	var wrongType *json.UnmarshalTypeError
	if errors.As(err, &wrongType) {
		if wrongType.Field == "" {
			return gateway.Textf("it must be an object"), ""
		}
		field = gateway.Short(wrongType.Field)
		return gateway.Textf("%s must not be a %s", field, gateway.Short(wrongType.Value)), field
	}
	if quoted, ok := strings.CutPrefix(err.Error(), "json: unknown field "); ok {
		field, _ = strconv.Unquote(quoted)
		field = gateway.Short(field)
		return gateway.Textf("unknown field %s; there are %s", strconv.Quote(field), strings.Join(known, ", ")), field
	}
	return gateway.Textf("it is not valid JSON"), ""
}
