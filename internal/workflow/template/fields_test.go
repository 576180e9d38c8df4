package template_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"genkan/internal/testkit"
	"genkan/internal/workflow/template"
)

// Each result is given in both forms: as JSON in a text, and as structuredContent.
func TestFields(t *testing.T) {
	b := newBench(t)
	for _, c := range []struct{ params, was, want string }{
		{`{"drop":["junk","items.*.url"]}`, `{"id":1234567890123456789,"junk":{"a":1},"items":[{"url":"x","t":"あ\u3042"},{"t":1.0}]}`, `{"id":1234567890123456789,"items":[{"t":"あ\u3042"},{"t":1.0}]}`},
		{`{"keep":["items.*.title","total"]}`, `{"total":2,"next":"x","items":[{"id":1,"title":"a","user":{"title":"no"}},{"id":2},7]}`, `{"total":2,"items":[{"title":"a"},{}]}`},
		{`{"keep":["items"],"drop":["items.*.user.*_url"]}`, `{"x":1,"items":[{"user":{"a_url":1,"url":2}}]}`, `{"items":[{"user":{"url":2}}]}`},
		{`{"drop":["**.*_url","**._links"]}`, `[{"html_url":1,"user":{"avatar_url":"x","login":"a","_links":{"self":[]}}},{"n":[[{"x_url":1}]]}]`, `[{"user":{"login":"a"}},{"n":[[{}]]}]`},
		{`{"drop":["*"]}`, `{"a":1,"b":[]}`, `{}`},
		{`{"keep":["a.**"]}`, `{"a":{"b":{"c":1}},"d":1}`, `{"a":{"b":{"c":1}}}`},
		{`{"keep":["**.id"]}`, `{"a":{"id":1,"x":2},"b":[{"id":{"y":3}}],"c":4}`, `{"a":{"id":1},"b":[{"id":{"y":3}}]}`},
		{`{"drop":["/a.b/c~1d"]}`, `{"a.b":{"c/d":1,"e":2},"a":{"b":3}}`, `{"a.b":{"e":2},"a":{"b":3}}`},
		{`{"drop":["0","2"]}`, `[10,11,12,13]`, `[11,13]`},
		{`{"drop":["a"]}`, `{"A":1,"b":"a","c":{"a":1}}`, `{"A":1,"b":"a","c":{"a":1}}`},
		{`{"drop":["x"]}`, `{}`, `{}`},
		{`{"drop":["x"]}`, `[]`, `[]`},
		{`{"drop":["s"]}`, `{"s":"} ] \" , :","t":"{\"s\":1}","u":""}`, `{"t":"{\"s\":1}","u":""}`},
		{`{"drop":["__proto__","constructor"]}`, `{"constructor":1,"a":2}`, `{"a":2}`},
	} {
		b.use(t, "fields", c.params, template.Options{})
		b.answer = text(c.was)
		if got := textOf(t, b.call("anna", "github__list", "")); got != c.want {
			t.Errorf("text: %s of %s\n got %s\nwant %s", c.params, c.was, got, c.want)
		}
		b.answer = `{"content":[],"structuredContent":` + c.was + `}`
		if got := b.call("anna", "github__list", ""); got != `{"content":[],"structuredContent":`+c.want+`}` {
			t.Errorf("structured: %s of %s\n got %s\nwant %s", c.params, c.was, got, c.want)
		}
	}
}

func TestFieldsKeepWhatIsNotTheirs(t *testing.T) {
	b := newBench(t)
	b.use(t, "fields", `{"drop":["a"]}`, template.Options{})
	deep := strings.Repeat("[", 3000) + strings.Repeat("]", 3000)
	for name, c := range map[string]struct{ was, want string }{
		"spaces of what stays":       {text("{\n  \"a\": 1,\n  \"b\": [ 1, 2 ],\n  \"c\": {}\n}\n"), text("{\n  \"b\": [ 1, 2 ],\n  \"c\": {}\n}\n")},
		"the last one goes":          {text("{\n  \"b\": 1,\n  \"a\": 2\n}"), text("{\n  \"b\": 1\n}")},
		"prose":                      {text(`a: 1 and {"a":1}`), ""},
		"what looks like JSON":       {text(`[note] {"a":1}`), ""},
		"JSON that is cut off":       {text(`{"a":1,"b":`), ""},
		"JSON with something behind": {text(`{"a":1} x`), ""},
		"a comma too many":           {text(`{"a":1,}`), ""},
		"JSON that is too deep":      {text(deep), ""},
		"an error":                   {`{"content":[{"type":"text","text":"{\"a\":1}"}],"isError":true}`, ""},
		"images, null and nothing":   {`{"content":[{"type":"image","data":"eyJhIjoxfQ==","mimeType":"image/png"},null,{"type":"text","text":""}]}`, ""},
		"an embedded resource":       {`{"content":[{"type":"resource","resource":{"uri":"x","text":"{\"a\":1,\"b\":2}"}}]}`, `{"content":[{"type":"resource","resource":{"uri":"x","text":"{\"b\":2}"}}]}`},
		"a structured null":          {`{"content":[],"structuredContent":null}`, ""},
	} {
		t.Run(name, func(t *testing.T) {
			if b.answer = c.was; c.want == "" {
				c.want = c.was
			}
			if got := b.call("anna", "github__list", ""); got != c.want {
				t.Errorf("\n got %.500s\nwant %.500s", got, c.want)
			}
		})
	}
	b.use(t, "fields", `{"keep":["a"]}`, template.Options{})
	for _, prose := range []string{"[draft]", "[1] see [2]", "{x}", "[1, two]", `{"a" 1}`} {
		b.answer = text(prose)
		if got := textOf(t, b.call("anna", "github__list", "")); got != prose {
			t.Errorf("%s became %s", prose, got)
		}
	}
	b.use(t, "fields", `{"drop":["a"]}`, template.Options{})
	const rows = `{"a":"gone","id":1234567890123456789},`
	n := testkit.Count(1<<14, 1<<15) / len(rows)
	b.answer = text("[" + strings.Repeat(rows, n) + "0]")
	if got := b.call("anna", "github__list", ""); got != b.answer {
		t.Errorf("a at the top: %.200s", got)
	}
	b.use(t, "fields", `{"drop":["*.a"]}`, template.Options{})
	if got := textOf(t, b.call("anna", "github__list", "")); got != "["+strings.Repeat(`{"id":1234567890123456789},`, n)+"0]" {
		t.Errorf("a long text: %.200s", got)
	}
}

func TestFieldsOfTooLargeAnswers(t *testing.T) {
	b := newBench(t)
	b.answer = text(`{"a":"` + strings.Repeat("x", 1<<20) + `"}`)
	b.use(t, "fields", `{"drop":["a"]}`, template.Options{})
	if got := b.call("anna", "github__list", ""); got != b.answer {
		t.Errorf("open: %.300s", got)
	}
	b.use(t, "fields", `{"drop":["a"],"failMode":"closed"}`, template.Options{})
	if got := b.call("anna", "github__list", ""); !strings.Contains(got, "so the answer to this call is withheld") {
		t.Errorf("closed: %.300s", got)
	}
}

// A client checks results against the outputSchema that it was told.
func TestFieldsNeedNotBeThere(t *testing.T) {
	b := newBench(t)
	b.use(t, "fields", `{"drop":["a"]}`, template.Options{})
	got := b.list(t, "anna", "github",
		`{"name":"x", "inputSchema":{"type":"object","required":["q"]},"outputSchema":{"type":"object","required":["a"],"properties":{"required":{"type":"array","items":{"required":["b"],"maximum":1234567890123456789}}}}}`,
		`{"name":"y"}`,
		`{"name":"z","outputSchema":{"oneOf":[{"required":["a"]},{"required":["b"],"minProperties":1}],"properties":{"not":{"minItems":1},"oneOf":{"enum":[{"required":[1]}]}}}}`)
	want := []string{
		`{"name":"x","inputSchema":{"type":"object","required":["q"]},"outputSchema":{"type":"object","properties":{"required":{"type":"array","items":{"maximum":1234567890123456789}}}}}`,
		`{"name":"y"}`,
		`{"name":"z","outputSchema":{"properties":{"not":{},"oneOf":{"enum":[{"required":[1]}]}},"anyOf":[{},{}]}}`,
	}
	if !slices.Equal(got, want) {
		t.Errorf("%s", got)
	}
}

func TestFillIn(t *testing.T) {
	b := newBench(t)
	b.answer = done
	b.use(t, "fill-in", `{"argument":"project_id","value":1234567890123456789}`, template.Options{Match: some})
	for was, want := range map[string]string{
		``:   `{"project_id":1234567890123456789}`,
		`{}`: `{"project_id":1234567890123456789}`,
		`{"project_id":7, "n": 9007199254740993}`: `{"project_id":1234567890123456789,"n":9007199254740993}`,
	} {
		b.sent = nil
		if got := b.call("anna", "github__issues", was); got != done || !slices.Equal(b.sent, []string{want}) {
			t.Errorf("%s: %s, sent %s", was, got, b.sent)
		}
	}
	b.call("anna", "gitlab__issues", `{"q":1}`)
	if b.sent[1] != `{"q":1}` {
		t.Errorf("another server: %s", b.sent)
	}
	got := b.list(t, "anna", "github",
		`{"name":"issues","inputSchema":{"type":"object","properties":{"project_id":{"type":"integer"},"q":{"default":1234567890123456789}},"required":["project_id","q"]}}`,
		`{"name":"one","inputSchema":{"type":"object","properties":{"project_id":{}},"required":["project_id"]}}`,
		`{"name":"other", "inputSchema": {"type":"object"}}`, `{"name":"none"}`)
	want := []string{
		`{"name":"issues","inputSchema":{"type":"object","properties":{"q":{"default":1234567890123456789}},"required":["q"]}}`,
		`{"name":"one","inputSchema":{"type":"object","properties":{}}}`,
		`{"name":"other", "inputSchema": {"type":"object"}}`, `{"name":"none"}`,
	}
	if !slices.Equal(got, want) {
		t.Errorf("%s", got)
	}
	for _, value := range []string{`"$params"`, `{"a":[1.0,"\u3042"]}`, `null`, `false`} {
		b.use(t, "fill-in", `{"argument":"a\"b","value":`+value+`}`, template.Options{Match: some})
		b.sent = nil
		b.call("anna", "github__issues", `{}`)
		var sent map[string]json.RawMessage
		if err := json.Unmarshal([]byte(b.sent[0]), &sent); err != nil || string(sent[`a"b`]) != value {
			t.Errorf("%s: %s", value, b.sent)
		}
	}
}
