package api_test

import (
	"fmt"
	"log/slog"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"genkan/internal/identity"
	"genkan/internal/sqlite"
)

// newToken makes a token as `genkan tokens add` does: from another process.
func (d door) newToken() string { return d.newTokenFor("user") }

func (d door) newTokenFor(name string) string {
	d.t.Helper()
	store, err := sqlite.Open(d.t.Context(), filepath.Join(d.data, "genkan.db"), slog.New(slog.DiscardHandler))
	if err != nil {
		d.t.Fatal(err)
	}
	defer func() { _ = store.Close() }()
	_, secret, err := identity.NewTokens(store, "", time.Now).Add(d.t.Context(), name, false)
	if err != nil {
		d.t.Fatal(err)
	}
	return secret.Reveal()
}

// step is one request and what must come of it.
type step struct {
	name         string
	method, path string
	body         string
	status       int
	has, hasNot  []string
	token        string
	contentType  string
}

func (d door) walk(t *testing.T, steps []step) {
	t.Helper()
	for _, s := range steps {
		headers := []string{}
		if s.token != "" {
			headers = append(headers, "Authorization", "Bearer "+s.token)
		}
		if s.contentType != "" {
			headers = append(headers, "Content-Type", s.contentType)
		}
		got := d.send(s.method, s.path, s.body, headers...)
		if got.status != s.status {
			t.Errorf("%s: status %d, want %d: %.400s", s.name, got.status, s.status, got.body)
		}
		for _, part := range s.has {
			if !strings.Contains(got.body, part) {
				t.Errorf("%s: the answer lacks %s: %.600s", s.name, part, got.body)
			}
		}
		for _, part := range s.hasNot {
			if strings.Contains(got.body, part) {
				t.Errorf("%s: the answer has %s: %.600s", s.name, part, got.body)
			}
		}
	}
}

// Tags that several callers add and remove at the same time are not lost, and the
// tags of the configuration are where adding begins.
func TestTagsOfToolsAreAddedAndRemoved(t *testing.T) {
	t.Parallel()
	d := openDoor(t, map[string]any{"fault-tools": map[string]any{"options": map[string]any{"pid": map[string]any{"tags": []string{"slow", "old"}}}}})
	const echo, pid = "/v1/tools/fault__echo", "/v1/tools/fault__pid"
	d.walk(t, []step{
		{name: "added to those of the configuration", method: "PATCH", path: pid, body: `{"addTags":["mine","slow"]}`, status: 200, has: []string{`"tags":["slow","old","mine"]`}},
		{name: "removed", method: "PATCH", path: pid, body: `{"addTags":["more"],"removeTags":["old","nobody"]}`, status: 200, has: []string{`"tags":["slow","mine","more"]`}},
		{name: "after a whole list", method: "PATCH", path: pid, body: `{"tags":["a","b"],"addTags":["c"],"removeTags":["a"]}`, status: 200, has: []string{`"tags":["b","c"]`}},
		{name: "an empty tag", method: "PATCH", path: pid, body: `{"addTags":[""]}`, status: 400, has: []string{`"field":"tags"`}},
		{name: "all at first", method: "PATCH", path: echo, body: `{"tags":["old 0","old 1","old 2","old 3","old 4","old 5","old 6","old 7"]}`, status: 200},
	})
	var all sync.WaitGroup
	for i := range 8 {
		all.Go(func() {
			if got := d.send("PATCH", echo, fmt.Sprintf(`{"addTags":["new %d"],"removeTags":["old %d"]}`, i, i)); got.status != 200 {
				t.Errorf("status %d: %s", got.status, got.body)
			}
		})
	}
	all.Wait()
	body := d.send("GET", echo, "").body
	for i := range 8 {
		if !strings.Contains(body, fmt.Sprintf("new %d", i)) || strings.Contains(body, fmt.Sprintf("old %d", i)) {
			t.Errorf("caller %d was lost: %s", i, body)
		}
	}
}

// The register, as a story: a change of a tool is visible to the next request of
// every caller.
func TestTheRegister(t *testing.T) {
	t.Parallel()
	d := openDoor(t, nil)
	const echo, pid = "/v1/tools/fault__echo", "/v1/tools/fault__pid"
	call := `{"name":"fault__echo","parameters":{"text":"x"}}`
	d.walk(t, []step{
		{name: "nothing is tagged", method: "GET", path: "/v1/tools?tag=text", status: 200, has: []string{`"total":0`, `"tools":[]`}},
		{
			name: "everything at once", method: "PATCH", path: echo, status: 200,
			body: `{"description":"Says it <again>.","category":"talk","tags":["text","demo","text"],"author":"o'brien","version":"2.1.0",` +
				`"examples":[{"description":"say hi","parameters":{"text":"hi"},"expectedResult":{"n":1.50}}],"dependencies":["fault__pid"]}`,
			has: []string{
				`"name":"fault__echo"`, `"description":"Says it <again>."`, `"category":"talk"`, `"tags":["text","demo"]`, `"author":"o'brien"`,
				`"version":"2.1.0"`, `"examples":[{"description":"say hi","parameters":{"text":"hi"},"expectedResult":{"n":1.50}}]`,
				`"dependencies":["fault__pid"]`, `"enabled":true`,
			},
		},
		{name: "it is found by its tag", method: "GET", path: "/v1/tools?tag=demo", status: 200, has: []string{`"total":1`, `"name":"fault__echo"`}},
		{name: "by its category", method: "GET", path: "/v1/tools?category=talk&server=fault", status: 200, has: []string{`"total":1`}},
		{name: "not by a part of it", method: "GET", path: "/v1/tools?category=tal", status: 200, has: []string{`"total":0`}},
		{name: "what is not said stays", method: "PATCH", path: echo, body: `{"category":"speech"}`, status: 200, has: []string{`"category":"speech"`, `"tags":["text","demo"]`, "Says it"}},
		{name: "an empty change", method: "PATCH", path: echo, body: `{}`, status: 200, has: []string{`"category":"speech"`}},
		{name: "nothing is empty", method: "PATCH", path: echo, body: `{"category":"","tags":null,"description":null,"version":null,"author":"","examples":[]}`, status: 200, has: []string{`"tags":[]`, `"version":"1.0.0"`, `"examples":[]`}, hasNot: []string{"category", "author", "Says it"}},

		{
			name: "switched off, with a warning", method: "POST", path: pid + "/disable", status: 200,
			has: []string{`"success":true`, `"enabled":false`, `"dependants":["fault__echo"]`, `"warning":"These tools were said to be of no use without it: fault__echo"`},
		},
		{name: "again", method: "POST", path: pid + "/disable", status: 200, has: []string{`"enabled":false`}},
		{name: "its call", method: "POST", path: "/v1/tools/call", body: `{"name":"fault__pid"}`, status: 403, has: []string{`"code":"TOOL_DISABLED"`, "Tool is disabled: fault__pid", "genkan tools enable fault__pid", `"executionTime":`}},
		{name: "it is still shown", method: "GET", path: pid, status: 200, has: []string{`"enabled":false`}},
		{name: "all of them", method: "GET", path: "/v1/tools", status: 200, has: []string{`"total":11`}},
		{name: "those that are on", method: "GET", path: "/v1/tools?enabled=true", status: 200, has: []string{`"total":10`}, hasNot: []string{"fault__pid\",\"server"}},
		{name: "those that are off", method: "GET", path: "/v1/tools?enabled=false", status: 200, has: []string{`"total":1`, `"name":"fault__pid"`}},
		{name: "clients see one fewer", method: "GET", path: "/v1/servers/fault", status: 200, has: []string{`"tools":10`}},
		{name: "switched on", method: "POST", path: pid + "/enable", status: 200, has: []string{`"success":true`, `"enabled":true`}, hasNot: []string{"warning"}},
		{name: "its call goes through", method: "POST", path: "/v1/tools/call", body: `{"name":"fault__pid"}`, status: 200},
		{name: "off by a change", method: "PATCH", path: echo, body: `{"enabled":false}`, status: 200, has: []string{`"enabled":false`}},
		{name: "that counts too", method: "POST", path: "/v1/tools/call", body: call, status: 403, has: []string{"TOOL_DISABLED"}},
		{name: "and on", method: "PATCH", path: echo, body: `{"enabled":true}`, status: 200, has: []string{`"enabled":true`}},
		{name: "and its call", method: "POST", path: "/v1/tools/call", body: call, status: 200},
	})
}

// Who may not, and what cannot be.
func TestTheRegisterRefuses(t *testing.T) {
	t.Parallel()
	d := openDoor(t, nil)
	const echo = "/v1/tools/fault__echo"
	change := func(name, body, field string, has ...string) step {
		return step{name: name, method: "PATCH", path: echo, body: body, status: 400, has: append(has, `"code":"VALIDATION_ERROR"`, fmt.Sprintf(`"field":%q`, field))}
	}
	user := d.newToken()
	d.walk(t, []step{
		{name: "a user's change", method: "PATCH", path: echo, body: `{"enabled":false}`, token: user, status: 403, has: []string{`"code":"AUTHORIZATION_ERROR"`}},
		{name: "a user's switch", method: "POST", path: echo + "/disable", token: user, status: 403, has: []string{`"code":"AUTHORIZATION_ERROR"`}},
		{name: "a user looks", method: "GET", path: echo, token: user, status: 200, has: []string{`"enabled":true`}},
		{name: "nobody's change", method: "PATCH", path: echo, body: `{}`, token: "gk_wrong", status: 401, has: []string{`"code":"AUTHENTICATION_ERROR"`}},
		{name: "no such tool", method: "PATCH", path: "/v1/tools/fault__ecko", body: `{}`, status: 404, has: []string{`"code":"TOOL_NOT_FOUND"`, "Did you mean fault__echo"}},
		{name: "no such tool to switch", method: "POST", path: "/v1/tools/nothing/enable", status: 404, has: []string{`"code":"TOOL_NOT_FOUND"`}},
		change("an unknown field", `{"colour":"red"}`, "colour", "there are enabled, description"),
		change("a wrong type", `{"tags":"one"}`, "tags", "tags must be an array, is a string"),
		change("a wrong type inside", `{"tags":["a",1]}`, "tags.1", "tags.1 must be a string, is a number"),
		change("neither on nor off", `{"enabled":null}`, "enabled"),
		change("an empty tag", `{"tags":[""]}`, "tags", "must be one line"),
		change("a category of two lines", `{"category":"a\nb"}`, "category"),
		change("a description for a manual", `{"description":"`+strings.Repeat("x", 17<<10)+`"}`, "description"),
		change("an example of nothing", `{"examples":[{"parameters":{}}]}`, "examples.0.description", "is required"),
		change("an example with a list", `{"examples":[{"description":"d","parameters":[]}]}`, "examples.0.parameters"),
		change("an example with more", `{"examples":[{"description":"d","result":1}]}`, "examples.0.result", "examples.0.result is unknown; there are description, parameters, expectedResult"),
		{name: "a key twice", method: "PATCH", path: echo, body: `{"category":"a","category":"b"}`, status: 400, has: []string{"stands twice"}},
		{name: "another case", method: "PATCH", path: echo, body: `{"Category":"a"}`, status: 400, has: []string{"only in case"}},
		{name: "no JSON", method: "PATCH", path: echo, body: `{"category":`, status: 400, has: []string{"not valid JSON"}},
		{name: "a list", method: "PATCH", path: echo, body: `[]`, status: 400, has: []string{`"code":"VALIDATION_ERROR"`}},
		{name: "2 MB", method: "PATCH", path: echo, body: `{"description":"` + strings.Repeat("x", 2<<20) + `"}`, status: 413, has: []string{`"code":"VALIDATION_ERROR"`}},
		{name: "plain text", method: "PATCH", path: echo, body: `{}`, contentType: "text/plain", status: 415},
		{name: "enabled by half", method: "GET", path: "/v1/tools?enabled=maybe", status: 400, has: []string{`"field":"enabled"`}},
		{name: "nothing has changed", method: "GET", path: echo, status: 200, has: []string{`"enabled":true`, `"tags":[]`}, hasNot: []string{"category"}},
	})
}
