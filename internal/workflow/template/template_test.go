package template_test

import (
	"encoding/json"
	"regexp"
	"slices"
	"strings"
	"testing"

	"genkan/internal/gateway"
	"genkan/internal/workflow"
	"genkan/internal/workflow/template"
)

// needs are the params without which a template cannot be used.
var needs = map[string]string{
	"deny-argument": `{"arguments":["a"],"allow":["b"]}`, "fields": `{"drop":["a"]}`, "fill-in": `{"argument":"a","value":1}`, "notify-failure": `{"url":"https://example.com/x"}`,
	"explain-errors": `{"errors":[{"contains":"a","say":"b"}]}`, "tag-results": `{"note":"a"}`,
}

var some = workflow.Match{Servers: []string{"github"}}

func TestEachTemplateCanBeEnabled(t *testing.T) {
	b := newBench(t)
	var ids []string
	for _, tpl := range template.All() {
		ids = append(ids, tpl.ID)
		t.Run(tpl.ID, func(t *testing.T) {
			definitions, err := template.Use(tpl.ID, json.RawMessage(needs[tpl.ID]), template.Options{Match: some})
			if err != nil {
				t.Fatal(err)
			}
			b.enable(t, definitions)
			names := map[string]bool{}
			for _, d := range definitions {
				if names[d.Name] {
					t.Errorf("two are called %q", d.Name)
				}
				names[d.Name] = true
				if d.Enabled || !strings.HasPrefix(d.Name, tpl.Title) || d.Description != tpl.Description || !slices.Equal(d.Match.Servers, some.Servers) {
					t.Errorf("%+v", d)
				}
				raw, err := json.Marshal(d)
				if err != nil || regexp.MustCompile(`"\$(params|host|[a-z-]+\.js)`).Match(raw) {
					t.Errorf("a reference is left, or %v: %s", err, raw)
				}
			}
			made, err := template.Use(tpl.ID, json.RawMessage(needs[tpl.ID]), template.Options{ID: "mine", Name: "Mine", Match: some})
			if err != nil || made[0].ID != "mine" || made[0].Name != "Mine" || len(made) == 2 && (made[1].ID != "mine-list" || made[1].Name != "Mine (list of tools)") {
				t.Errorf("%v %+v", err, made)
			}
			if _, err := template.Use(tpl.ID, json.RawMessage(needs[tpl.ID]), template.Options{}); (err != nil) != tpl.NeedsMatch {
				t.Errorf("without match: %v", err)
			}
		})
	}
	want := []string{"ask-first", "cache-reads", "deny-argument", "deny-destructive", "explain-errors", "fields", "fill-in", "hide-tools", "notify-failure", "rate-limit", "redact", "select-only", "tag-results"}
	if !slices.Equal(ids, want) {
		t.Errorf("%v", ids)
	}
}

// A form shows these texts.
func TestTemplatesAreDescribedInBothLanguages(t *testing.T) {
	type schema struct {
		Properties map[string]struct{ Title, Description string }
	}
	for _, english := range template.All() {
		japanese := english.Japanese()
		var en, ja schema
		for tpl, into := range map[*template.Template]*schema{&english: &en, &japanese: &ja} {
			if err := json.Unmarshal(tpl.Params, into); err != nil {
				t.Fatal(err)
			}
		}
		texts := [][2]string{{english.Title, japanese.Title}, {english.Description, japanese.Description}}
		for name, p := range en.Properties {
			texts = append(texts, [2]string{p.Title, ja.Properties[name].Title}, [2]string{p.Description, ja.Properties[name].Description})
		}
		for _, pair := range texts {
			if pair[0] == "" || pair[1] == "" || pair[0] == pair[1] && pair[0] != "URL" || strings.ContainsFunc(pair[0], func(r rune) bool { return r > 0x3000 }) {
				t.Errorf("%s: %q", english.ID, pair)
			}
		}
	}
}

// The Japanese form has the order of the English one, its own texts to begin with, and
// titles for what is chosen from.
func TestJapaneseFormsOfTemplates(t *testing.T) {
	for _, c := range []struct{ id, want string }{
		{"redact", `"x-titles":{"address":`},
		{"ask-first", `"default":"この呼び出しを`},
	} {
		for _, tpl := range template.All() {
			if tpl.ID == c.id && !strings.Contains(string(tpl.Japanese().Params), c.want) {
				t.Errorf("%s: %s has no %s", c.id, tpl.Japanese().Params, c.want)
			}
			if form := string(tpl.Japanese().Params); tpl.ID == "redact" && strings.Index(form, `"kinds"`) > strings.Index(form, `"also"`) {
				t.Errorf("the order is another: %s", form)
			}
		}
	}
}

// What a person reads in the drawing is in the language of the form.
func TestWorkflowsOfATemplateSpeakJapanese(t *testing.T) {
	for _, tpl := range template.All() {
		made, err := template.Use(tpl.ID, json.RawMessage(needs[tpl.ID]), template.Options{Match: some, Japanese: true})
		if err != nil {
			t.Fatal(tpl.ID, err)
		}
		for i, d := range made {
			if ja := tpl.Japanese(); i == 0 && d.Name != ja.Title || i > 0 && !strings.HasPrefix(d.Name, ja.Title+"（") || d.Description != ja.Description {
				t.Errorf("%s: %q, %q", tpl.ID, d.Name, d.Description)
			}
			for _, n := range d.Nodes {
				var data struct{ Label string }
				if err := json.Unmarshal(n.Data, &data); len(n.Data) > 0 && err != nil {
					t.Fatal(err)
				}
				if data.Label != "" && !strings.ContainsFunc(data.Label, func(r rune) bool { return r > 0x3000 }) {
					t.Errorf("%s: the label %q", tpl.ID, data.Label)
				}
			}
		}
	}
}

func TestWrongParams(t *testing.T) {
	for _, c := range []struct{ id, params, want string }{
		{"redakt", `{}`, `there is no template "redakt"; there are ask-first, cache-reads,`},
		{"redact", `{"kinds":"keys"}`, "kinds must be an array, is a string"},
		{"redact", `{"kinds":["keys","names"]}`, `kinds.1 must be one of "keys", "mail", "phone", "card", "id", "address", is "names"`},
		{"redact", `{"kind":["keys"]}`, `the template has no parameter "kind"; did you mean "kinds"? Its parameters are "also", "kinds"`},
		{"redact", `{"what":1}`, `the template has no parameter "what"; its parameters are "also", "kinds"`},
		{"redact", `{"also":["(?=x)"]}`, "also.0 must be a regular expression without lookaround"},
		{"redact", `{"also":["(?i)x"]}`, "also.0 must be a regular expression"},
		{"redact", `{"also":["(.)\\1"]}`, "also.0 must be a regular expression without lookaround"},
		{"redact", `{"also":["a(x"]}`, "also.0 is not a regular expression: a ( is not closed: a(x"},
		{"redact", `{"also":["([a-z"]}`, "also.0 is not a regular expression: a [ is not closed: [a-z"},
		{"redact", `{"also":["a","b)"]}`, "also.1 is not a regular expression: a ) has no (: b)"},
		{"redact", `{"also":["*x"]}`, "also.0 is not a regular expression: there is nothing to repeat: *"},
		{"redact", `{"also":[""]}`, "also.0 must have at least 1 characters, has 0"},
		{"redact", `[]`, "params must be an object, is an array"},
		{"redact", `{`, "params are not JSON"},
		{"deny-argument", `{}`, "arguments is required"},
		{"deny-argument", `{"arguments":["a"]}`, "params need at least one of allow, deny, allowPattern, denyPattern"},
		{"deny-argument", `{"arguments":[],"deny":["x"]}`, "arguments must have at least 1 entries, has 0"},
		{"fill-in", `{"argument":"project_id"}`, "value is required"},
		{"ask-first", `{"timeoutMs":5}`, "timeoutMs must be at least 1000, is 5"},
		{"ask-first", `{"timeoutMs":1.5e9}`, "timeoutMs must be at most 86400000, is 1500000000"},
		{"ask-first", `{"timeoutMs":2000.5}`, "timeoutMs must be an integer, is a number"},
		{"notify-failure", `{"url":"ftp://x"}`, "url must be an http or https URL"},
		{"notify-failure", `{"url":"https://u@evil/ x"}`, "url must be an http or https URL"},
		{"notify-failure", `{"format":"xml"}`, "url is required"},
		{"notify-failure", `{"format":"xml"}`, `format must be one of "json", "slack", "discord", is "xml"`},
		{"hide-tools", `{}`, "match must say which calls it is for: tools (such as github__merge_*), servers or clients"},
	} {
		options := template.Options{Match: some}
		if c.id == "hide-tools" {
			options.Match = workflow.Match{}
		}
		made, err := template.Use(c.id, json.RawMessage(c.params), options)
		if err == nil || made != nil || !strings.Contains(gateway.AsError(err).Text(), c.want) {
			t.Errorf("%s %s: %v, want %s", c.id, c.params, err, c.want)
		}
	}
	for _, pattern := range []string{`a(?:b)+\(?c`, `[(?]`, `^\\d+$`, `日本.*`} {
		raw, _ := json.Marshal(map[string]any{"also": []string{pattern}})
		if _, err := template.Use("redact", raw, template.Options{}); err != nil {
			t.Errorf("%s: %v", pattern, err)
		}
	}
}

// What a user writes is never taken for a reference.
// A key that match does not have is no exception that is ignored.
func TestWrongMatch(t *testing.T) {
	var match workflow.Match
	if err := json.Unmarshal([]byte(`{"clients":["!ops"],"tool":["*__delete_*"]}`), &match); err != nil {
		t.Fatal(err)
	}
	_, err := template.Use("hide-tools", nil, template.Options{Match: match})
	if err == nil || gateway.AsError(err).Text() != `match has no key "tool"; its keys are servers, tools, clients, annotations, when` {
		t.Error(err)
	}
}

// What is wrong with parameters and match is told at once, each at its field.
func TestProblemsOfMatch(t *testing.T) {
	match := workflow.Match{Tools: []string{"a__b", "write_file", ""}, Clients: []string{" "}, Annotations: map[string]bool{"read": true}, When: "this is not cel (("}
	_, err := template.Use("ask-first", json.RawMessage(`{"timeoutMs":5}`), template.Options{Match: match})
	fields := map[string]string{}
	for _, p := range gateway.AsError(err).Problems {
		fields[p.Field] = p.Text.String()
	}
	for field, want := range map[string]string{
		"timeoutMs":         "must be at least 1000",
		"match.tools.1":     `the tool "write_file" matches nothing; tools are matched as server__tool, so write *__write_file`,
		"match.tools.2":     "match.tools.2 is empty",
		"match.clients.0":   "match.clients.0 is empty",
		"match.annotations": `a key of match.annotations is "read"`,
		"match.when":        "line 1, column ",
	} {
		if !strings.Contains(fields[field], want) {
			t.Errorf("%s: %q", field, fields[field])
		}
	}
	if len(fields) != 6 {
		t.Errorf("got %v", fields)
	}
}

func TestParamsStayAsTheyAreWritten(t *testing.T) {
	made, err := template.Use("ask-first", json.RawMessage(`{"message":"$params.timeoutMs <b> \u3042"}`), template.Options{Match: some})
	if err != nil || !strings.Contains(string(made[0].Nodes[1].Data), `"message": "$params.timeoutMs <b> \u3042", "timeoutMs": 300000`) {
		t.Errorf("%v %s", err, made[0].Nodes[1].Data)
	}
}
