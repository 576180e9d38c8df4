package api

import (
	"bytes"
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"html/template"
	"net/http"
	"reflect"
	"strings"
	"time"

	"genkan/internal/gateway"
)

//go:embed docs.html
var docsTemplate string

// docsPage is the page and its content security policy: a browser may show it with
// its own style. It loads nothing, sends nothing and runs no scripts.
type docsPage struct {
	html   []byte
	policy string
}

// shownRoute and shownStruct are the routes and types as the page shows them.
type shownRoute struct {
	Method, Path, ID, Summary, About, Who string
	Query                                 []shownField
	Body, Answer                          *shownWord
	Status                                int
	Failures                              []shownFailure
}

type shownFailure struct {
	Status int
	Code   string
}

type shownStruct struct {
	Name   string
	Fields []shownField
}

type shownField struct {
	Name     string
	Type     shownWord
	About    string
	Required bool
}

// shownWord is a type in words, and the type on the page that it links to.
type shownWord struct{ Word, Leads string }

// docs answers with a page for people. It is made of the same table as the OpenAPI
// document.
func (a *API) docs(w http.ResponseWriter, _ *http.Request, _ gateway.Identity) {
	page, err := a.page()
	if err != nil {
		a.fail(w, err)
		return
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.Header().Set("X-Content-Type-Options", "nosniff")
	w.Header().Set("Cache-Control", "no-store")
	w.Header().Set("Content-Security-Policy", page.policy)
	w.Header().Set("Referrer-Policy", "no-referrer")
	_, _ = w.Write(page.html)
}

func renderDocs(routes []route) (docsPage, error) {
	page, err := template.New("docs").Parse(docsTemplate)
	if err != nil {
		return docsPage{}, err
	}
	shown := struct {
		Introduction string
		Routes       []shownRoute
		Types        []shownStruct
	}{Introduction: apiIntroduction}
	for _, one := range routes {
		shown.Routes = append(shown.Routes, one.shown())
	}
	for _, t := range collect(routes).types {
		one := shownStruct{Name: t.Name()}
		for _, f := range fieldsOfType(t) {
			one.Fields = append(one.Fields, shownField{f.name, shownType(f.of), f.about, f.required})
		}
		shown.Types = append(shown.Types, one)
	}
	var b bytes.Buffer
	if err := page.Execute(&b, shown); err != nil {
		return docsPage{}, err
	}
	_, style, _ := bytes.Cut(b.Bytes(), []byte("<style>"))
	style, _, _ = bytes.Cut(style, []byte("</style>"))
	sum := sha256.Sum256(style)
	return docsPage{
		html: b.Bytes(),
		policy: "default-src 'none'; style-src 'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) +
			"'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
	}, nil
}

func (r *route) shown() shownRoute {
	who := map[access]string{forAll: "everybody", forVisitors: "everybody", forCallers: "with a token", forAdmins: "with the admin token"}[r.who]
	out := shownRoute{
		Method: r.method, Path: r.shownPath(), ID: r.id, Summary: r.summary, About: r.about, Who: who, Status: r.good(),
	}
	for _, q := range r.query {
		out.Query = append(out.Query, shownField{Name: q.name, Type: shownWord{Word: q.words()}, About: q.about})
	}
	if r.body != nil {
		out.Body = new(shownType(reflect.TypeOf(r.body)))
	}
	if r.answer != nil {
		out.Answer = new(shownType(reflect.TypeOf(r.answer)))
	}
	for _, f := range r.allFailures() {
		out.Failures = append(out.Failures, shownFailure{f.status, f.code})
	}
	return out
}

// words describes the values of a parameter.
func (q *query) words() string {
	text := map[string]string{"string": "text", "boolean": "true or false", "integer": "whole number"}[q.kind]
	switch {
	case q.most != 0:
		text += fmt.Sprintf(", %d to %d", q.least, q.most)
	case q.least != 0:
		text += fmt.Sprintf(", %d or more", q.least)
	}
	if q.otherwise != 0 {
		text += fmt.Sprintf("; %d unless said", q.otherwise)
	}
	return text
}

// shownType returns a type in words, with a link to its description.
func shownType(t reflect.Type) shownWord {
	out := shownWord{Word: wordFor(t)}
	for t.Kind() == reflect.Pointer || t.Kind() == reflect.Slice && t != reflect.TypeFor[json.RawMessage]() {
		t = t.Elem()
	}
	if isNamed(t) {
		out.Leads = t.Name()
	}
	return out
}

// wordFor returns the name of a type for people.
func wordFor(t reflect.Type) string {
	switch {
	case t == reflect.TypeFor[json.RawMessage]():
		return "any JSON"
	case t == reflect.TypeFor[time.Time]():
		return "time"
	case isNamed(t):
		return t.Name()
	}
	switch t.Kind() {
	case reflect.Pointer:
		return wordFor(t.Elem())
	case reflect.Slice:
		return "list of " + wordFor(t.Elem())
	case reflect.Bool:
		return "true or false"
	case reflect.Int, reflect.Int64:
		return "whole number"
	case reflect.Float32, reflect.Float64:
		return "number"
	case reflect.String:
		return "text"
	default:
		return strings.ToLower(t.Kind().String())
	}
}
