package api_test

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"path"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// surveyor asks a handler for the description of itself, makes requests of it,
// and holds every answer against it. It knows no route: what is described is
// surveyed.
type surveyor struct {
	handler    http.Handler
	operations []operation
	document   map[string]any
	compiler   *jsonschema.Compiler
	// tokens are those of the callers, by who they are.
	tokens map[string]string
	// secrets must be in no answer.
	secrets []string
	// names are what there is, by the collection: tools, servers.
	names map[string][]string
	// fitting are the answers that were held against a schema, and fit.
	fitting map[fit]bool
}

// fit is an answer, by its hash, that fits a schema.
type fit struct {
	schema *jsonschema.Schema
	body   [sha256.Size]byte
}

// operation is one method of one path, as it is described.
type operation struct {
	id, method, path string
	query            map[string]map[string]any // the schema of each parameter
	body             map[string]any            // the schema of the body; nil for none
	// closed is the schema that refuses a body.
	closed    *jsonschema.Schema
	responses map[string]map[string]*jsonschema.Schema // by status and media type
}

// wire is a request as it is sent.
type wire struct {
	who, what      string // whose it is, and what is special about it
	method, target string
	host           string
	remote         string // where it comes from; this machine unless said
	header         http.Header
	body           []byte
}

func (w wire) String() string {
	return fmt.Sprintf("%s: %s %.200q as %s, %.300q", w.what, w.method, w.target, w.who, w.body)
}

type reply struct {
	status   int
	header   http.Header
	body     []byte
	panicked string
}

// A name that is not ours, and a page that nobody knows.
const foreignHost, foreignOrigin = "evil.example", "https://evil.example"

// requestPatience is far more than any request takes. What takes it all hangs.
const requestPatience = time.Minute

// send hands a request to the handler as net/http does. It reports false for
// what no handler would be handed.
func send(handler http.Handler, w wire) (out reply, sent bool) {
	target, err := url.ParseRequestURI(w.target)
	if err != nil {
		return reply{}, false
	}
	ctx, cancel := context.WithTimeout(context.Background(), requestPatience)
	defer cancel()
	if w.header == nil {
		w.header = http.Header{}
	}
	r := (&http.Request{
		Method: w.method, URL: target, RequestURI: w.target, Host: w.host, Header: w.header,
		Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1, RemoteAddr: cmp.Or(w.remote, "127.0.0.1:1"),
		Body: io.NopCloser(bytes.NewReader(w.body)), ContentLength: int64(len(w.body)),
	}).WithContext(ctx)
	recorder := streamLeaver{httptest.NewRecorder(), cancel}
	defer func() {
		if p := recover(); p != nil {
			out, sent = reply{panicked: fmt.Sprintf("%v\n%s", p, debug.Stack())}, true
		}
	}()
	handler.ServeHTTP(recorder, r)
	return reply{status: recorder.Code, header: recorder.Result().Header, body: recorder.Body.Bytes()}, true
}

// streamLeaver is a client that leaves a stream after the first event.
type streamLeaver struct {
	*httptest.ResponseRecorder
	leave func()
}

func (l streamLeaver) Flush() {
	if l.Header().Get("Content-Type") == "text/event-stream" {
		l.leave()
	}
}

// newSurveyor reads the description that the handler serves.
func newSurveyor(tb testing.TB, handler http.Handler, tokens map[string]string) *surveyor {
	tb.Helper()
	s := &surveyor{handler: handler, tokens: tokens, names: map[string][]string{}, fitting: map[fit]bool{}}
	got, _ := s.as("nobody", wire{method: "GET", target: "/v1/openapi.json"})
	if got.status != http.StatusOK {
		tb.Fatalf("the description: %d %s", got.status, got.body)
	}
	whole, err := jsonschema.UnmarshalJSON(bytes.NewReader(got.body))
	if err != nil {
		tb.Fatal(err)
	}
	s.compiler = jsonschema.NewCompiler()
	s.compiler.DefaultDraft(jsonschema.Draft2020)
	s.compiler.AssertFormat()
	if err := s.compiler.AddResource("openapi.json", whole); err != nil {
		tb.Fatal(err)
	}
	s.document, _ = whole.(map[string]any)
	for where, item := range object(s.document, "paths") {
		for method := range asObject(item) {
			s.operations = append(s.operations, s.read(tb, where, method))
		}
	}
	slices.SortFunc(s.operations, func(a, b operation) int { return strings.Compare(a.path+a.method, b.path+b.method) })
	if len(s.operations) == 0 {
		tb.Fatal("nothing is described")
	}
	return s
}

func asObject(v any) map[string]any {
	o, _ := v.(map[string]any)
	return o
}

// object walks into a document.
func object(in map[string]any, keys ...string) map[string]any {
	for _, key := range keys {
		in = asObject(in[key])
	}
	return in
}

func (s *surveyor) read(tb testing.TB, where, method string) operation {
	tb.Helper()
	described := object(s.document, "paths", where, method)
	o := operation{
		method: strings.ToUpper(method), path: where, query: map[string]map[string]any{},
		responses: map[string]map[string]*jsonschema.Schema{},
	}
	o.id, _ = described["operationId"].(string)
	parameters, _ := described["parameters"].([]any)
	for _, one := range parameters {
		if p := asObject(one); p["in"] == "query" {
			o.query[p["name"].(string)] = object(p, "schema")
		}
	}
	if o.body = object(described, "requestBody", "content", "application/json", "schema"); o.body != nil {
		o.closed = s.compile(tb, "paths", where, method, "requestBody", "content", "application/json", "schema")
	}
	for status, response := range object(described, "responses") {
		o.responses[status] = map[string]*jsonschema.Schema{}
		for media := range object(asObject(response), "content") {
			o.responses[status][media] = s.compile(tb, "paths", where, method, "responses", status, "content", media, "schema")
		}
	}
	return o
}

func (s *surveyor) compile(tb testing.TB, keys ...string) *jsonschema.Schema {
	tb.Helper()
	at := "openapi.json#"
	for _, key := range keys {
		at += "/" + url.PathEscape(strings.NewReplacer("~", "~0", "/", "~1").Replace(key))
	}
	schema, err := s.compiler.Compile(at)
	if err != nil {
		tb.Fatalf("%s: %v", at, err)
	}
	return schema
}

// as sends a request with somebody's token.
func (s *surveyor) as(who string, w wire) (reply, bool) {
	header := http.Header{}
	maps.Copy(header, w.header)
	if token := s.tokens[who]; token != "" && header["Authorization"] == nil {
		header.Set("Authorization", "Bearer "+token)
	}
	if w.host == "" {
		w.host = "localhost:3000"
	}
	w.header, w.who = header, who
	return send(s.handler, w)
}

// find is the operation that a request is for. Without one, methods are those
// that the path has.
func (s *surveyor) find(method, escaped string) (found *operation, methods []string) {
	if method == http.MethodHead {
		method = http.MethodGet
	}
	most := 0
	for i := range s.operations {
		o := &s.operations[i]
		literals, fits := matches(o.path, escaped)
		if !fits || literals < most {
			continue
		}
		if literals > most { // it is no name, but a path of its own
			found, methods, most = nil, nil, literals
		}
		methods = append(methods, o.method)
		if o.method == method {
			found = o
		}
	}
	return found, methods
}

// matches compares a path with a template, and counts the literal segments.
func matches(template, escaped string) (literals int, ok bool) {
	want, have := strings.Split(template, "/"), strings.Split(escaped, "/")
	if len(want) != len(have) {
		return 0, false
	}
	for i := range want {
		segment, err := url.PathUnescape(have[i])
		switch {
		case err != nil:
			return 0, false
		case strings.HasPrefix(want[i], "{"):
			if segment == "" {
				return 0, false
			}
		case segment != want[i]:
			return 0, false
		default:
			literals++
		}
	}
	return literals, true
}

// problems are what is wrong with an answer.
func (s *surveyor) problems(w wire, r reply) (all []string) {
	complain := func(format string, values ...any) {
		all = append(all, fmt.Sprintf(format, values...)+fmt.Sprintf("\n  %s\n  %d %.500s", w, r.status, r.body))
	}
	if r.panicked != "" {
		complain("it panicked: %s", r.panicked)
		return all
	}
	for _, secret := range s.secrets {
		if bytes.Contains(r.body, []byte(secret)) || strings.Contains(fmt.Sprint(r.header), secret) {
			complain("a secret is in the answer")
		}
	}
	if bytes.Contains(r.body, []byte(`"code":"INTERNAL_ERROR"`)) {
		complain("it failed inside")
	}
	if r.status == http.StatusTooManyRequests {
		if n, err := strconv.Atoi(r.header.Get("Retry-After")); err != nil || n < 1 {
			complain("429 does not say when to come back")
		}
	}
	target, err := url.ParseRequestURI(w.target)
	if err != nil {
		return all
	}
	escaped := target.EscapedPath()
	if clean := path.Clean(escaped); clean != escaped && clean+"/" != escaped {
		// The mux leads to the clean path by itself.
		if r.status/100 != 3 && r.status < 400 {
			complain("a path that is not clean was answered")
		}
		return all
	}
	o, methods := s.find(w.method, escaped)
	switch {
	case o != nil:
		if r.status < 400 && o.responses["401"] != nil && (w.who == "nobody" || w.who == "a stranger") {
			complain("it was answered without a token")
		}
		if r.status < 400 && o.responses["403"] != nil && (w.host == foreignHost || w.header.Get("Origin") == foreignOrigin) {
			complain("it was answered to a foreign page")
		}
		s.compare(o, w, r, complain)
		s.refuses(o, target, w, r, complain)
	case len(methods) > 0:
		s.otherMethod(methods, r, complain)
	case strings.HasPrefix(escaped, "/v1/"):
		if r.status != http.StatusUnauthorized && r.status != http.StatusNotFound && r.status != http.StatusForbidden {
			complain("nothing is described here")
		}
	}
	return all
}

// compare holds an answer against what is described of its operation.
func (s *surveyor) compare(o *operation, w wire, r reply, complain func(string, ...any)) {
	contents, known := o.responses[strconv.Itoa(r.status)]
	if !known {
		complain("the status is not described")
		return
	}
	if len(contents) == 0 { // a redirect: whatever net/http says beside it
		if r.header.Get("Location") == "" {
			complain("an answer without a described body leads nowhere")
		}
		return
	}
	media, _, _ := strings.Cut(r.header.Get("Content-Type"), ";")
	schema := contents[media]
	if schema == nil {
		complain("the content type %q is not described", media)
		return
	}
	if media != "application/json" || w.method == http.MethodHead {
		return
	}
	same := fit{schema, sha256.Sum256(r.body)}
	if s.fitting[same] {
		return
	}
	value, err := jsonschema.UnmarshalJSON(bytes.NewReader(r.body))
	if err != nil {
		complain("the answer is not JSON: %v", err)
		return
	}
	if err := schema.Validate(value); err != nil {
		complain("the answer does not fit its schema: %v", err)
		return
	}
	s.fitting[same] = true
	details, _ := asObject(value)["details"].([]any) // those of the knowledge base are an object
	for _, one := range details {
		if asObject(one)["keyword"] == "" {
			complain("a detail does not say which rule is broken")
		}
	}
}

// refuses: what does not fit the description of a request is not carried out.
func (s *surveyor) refuses(o *operation, target *url.URL, w wire, r reply, complain func(string, ...any)) {
	if r.status >= 400 {
		return
	}
	for name, schema := range o.query {
		text := target.Query().Get(name)
		if text == "" || schema["type"] == "string" {
			continue
		}
		var value any
		if json.Unmarshal([]byte(text), &value) != nil || s.fits(schema, value) != nil {
			complain("?%s=%s is not as described, and was accepted", name, text)
		}
	}
	if _, needsToken := o.responses["401"]; needsToken && r.status < 300 {
		given, err := url.ParseQuery(target.RawQuery)
		if err != nil {
			complain("a query that cannot be read was accepted")
		}
		for name := range given {
			if o.query[name] == nil {
				complain("?%s is not described, and was accepted", name)
			}
		}
	}
	if o.closed == nil {
		return
	}
	value, err := jsonschema.UnmarshalJSON(bytes.NewReader(w.body))
	if err != nil {
		complain("a body that is not JSON was accepted")
	} else if err := o.closed.Validate(value); err != nil {
		complain("the body is not as described, and was accepted: %v", err)
	}
}

// fits checks a value against a schema that is not compiled yet.
func (s *surveyor) fits(schema map[string]any, value any) error {
	c := jsonschema.NewCompiler()
	if err := c.AddResource("one.json", schema); err != nil {
		return err
	}
	compiled, err := c.Compile("one.json")
	if err != nil {
		return err
	}
	return compiled.Validate(value)
}

// otherMethod: a path that is there says which methods it has.
func (s *surveyor) otherMethod(methods []string, r reply, complain func(string, ...any)) {
	switch r.status {
	case http.StatusUnauthorized, http.StatusForbidden:
		return
	case http.StatusMethodNotAllowed:
	default:
		complain("the path has no such method, which is a 405")
		return
	}
	for _, method := range methods {
		if !slices.Contains(strings.Split(r.header.Get("Allow"), ", "), method) {
			complain("Allow is %q and lacks %s", r.header.Get("Allow"), method)
		}
	}
}
