package template_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"genkan/internal/testkit"
	"genkan/internal/workflow"
	"genkan/internal/workflow/template"
)

// drawn is a workflow with one hook that names a template, where the template wants it.
func drawn(tb testing.TB, id, params string) workflow.Definition {
	tb.Helper()
	all := template.All()
	h := all[slices.IndexFunc(all, func(t template.Template) bool { return t.ID == id })].Hook
	settings := map[string]json.RawMessage{}
	for name, value := range h.Settings {
		settings[name] = value
	}
	settings["id"], settings["name"], settings["workflowType"] = json.RawMessage(`"w"`), json.RawMessage(`"w"`), json.RawMessage(`"tools/call"`)
	settings["nodes"] = json.RawMessage(fmt.Sprintf(`[{"id":"start","type":"start"},{"id":"call","type":"mcp-call","data":{"onError":%q}},{"id":"end","type":"end"},
		{"id":"hook","type":"hook","data":{"hook":{"template":%q,"params":%s,"blocking":%t,"partial":%t}}}]`, h.CallOnError, id, params, h.Blocking, h.Partial))
	path := []string{"start", "hook", "call", "end"}
	switch {
	case !h.Blocking:
		path = []string{"start", "call", "end", "call", "hook"}
	case h.Behind:
		path = []string{"start", "call", "hook", "end"}
	}
	var edges []string
	for i := range len(path) - 1 {
		if path[i] != "end" {
			edges = append(edges, fmt.Sprintf(`{"source":%q,"target":%q}`, path[i], path[i+1]))
		}
	}
	settings["edges"] = json.RawMessage("[" + strings.Join(edges, ",") + "]")
	raw, _ := json.Marshal(settings)
	d, err := workflow.Parse(raw)
	if err != nil {
		tb.Fatal(err)
	}
	return *d
}

// A template with one hook is a node of any workflow, without its script.
func TestHooks(t *testing.T) {
	b := newBench(t)
	var ids []string
	for _, tpl := range template.All() {
		if tpl.Hook == nil {
			continue
		}
		ids = append(ids, tpl.ID)
		if ja := tpl.Japanese().Hook; ja.Label == "" || ja.Label == tpl.Hook.Label || tpl.Hook.Label == "" || tpl.Hook.Types[0] != workflow.ToolsCall {
			t.Errorf("%s: %+v", tpl.ID, tpl.Hook)
		}
		params := needs[tpl.ID]
		if params == "" {
			params = "{}"
		}
		b.enable(t, []workflow.Definition{drawn(t, tpl.ID, params)})
	}
	if want := []string{"deny-argument", "deny-destructive", "explain-errors", "fields", "notify-failure", "rate-limit", "redact", "select-only", "tag-results"}; !slices.Equal(ids, want) {
		t.Errorf("%v", ids)
	}

	b.enable(t, []workflow.Definition{drawn(t, "redact", `{"kinds":["mail"]}`)})
	b.answer = text("write to a@example.com")
	if got := textOf(t, b.call("anna", "crm__get", "")); got != "write to [redacted:mail]" {
		t.Error(got)
	}
	b.enable(t, []workflow.Definition{drawn(t, "deny-argument", `{"arguments":["to"],"deny":["*@example.com"]}`)})
	if got := b.call("anna", "mail__send", `{"to":"a@example.com"}`); !strings.Contains(got, "which is not allowed") {
		t.Error(got)
	}
	// The host of its URL can be reached, and only failures are told of.
	b.enable(t, []workflow.Definition{drawn(t, "notify-failure", `{"url":"https://hooks.example/x","everySeconds":0}`)})
	b.call("anna", "crm__get", "")
	b.answer = `{"content":[{"type":"text","text":"gone"}],"isError":true}`
	b.call("anna", "crm__get", "")
	testkit.Eventually(t, func() bool {
		b.mu.Lock()
		defer b.mu.Unlock()
		return len(b.fetched) == 1 && strings.Contains(b.fetched[0].Body, "crm__get failed for anna: gone")
	}, "nobody is told")
}

// What is wrong with the params of a hook is a problem of its node.
func TestWrongHooks(t *testing.T) {
	b := newBench(t)
	for _, test := range []struct{ id, params, want string }{
		{"deny-argument", `{"arguments":["a"]}`, "params need at least one of"},
		{"deny-argument", `{"deny":["a"]}`, "arguments is required"},
		{"redact", `{"kinds":["names"]}`, `kinds.0 must be one of`},
		{"redact", `[]`, "params must be an object"},
	} {
		d := drawn(t, test.id, test.params)
		problems := workflow.Validate(&d, b.environment())
		if len(problems) != 1 || problems[0].Node != "hook" || !strings.Contains(problems[0].String(), test.want) {
			t.Errorf("%s %s: %v", test.id, test.params, problems)
		}
	}
	// Beside the path it would redact nothing.
	d := drawn(t, "redact", `{}`)
	for i := range d.Nodes {
		if n := &d.Nodes[i]; n.ID == "hook" {
			n.Data = []byte(strings.Replace(string(n.Data), `"blocking":true`, `"blocking":false`, 1))
		}
	}
	d.Edges = []workflow.Edge{{Source: "start", Target: "call"}, {Source: "call", Target: "hook"}, {Source: "call", Target: "end"}}
	if problems := workflow.Validate(&d, b.environment()); len(problems) != 1 || !strings.Contains(problems[0].String(), "must wait for it") {
		t.Error(problems)
	}
	if _, err := template.HookOf("ask-first", nil); err == nil || !strings.Contains(err.Error(), "there are deny-argument") {
		t.Error(err)
	}
}

// A step that stands on the wrong side of the call is a problem: before it there is no
// answer to redact, and behind it nothing is refused any more.
func TestSidesOfTheCall(t *testing.T) {
	b := newBench(t)
	for id, want := range map[string]string{
		"redact": "behind “Call the tool”", "fields": "behind “Call the tool”",
		"deny-destructive": "before “Call the tool”", "select-only": "before “Call the tool”",
	} {
		params := needs[id]
		if params == "" {
			params = "{}"
		}
		d := drawn(t, id, params)
		path := []string{"start", "hook", "call", "end"}
		if strings.HasPrefix(want, "before") {
			path = []string{"start", "call", "hook", "end"}
		}
		d.Edges = nil
		for i := range len(path) - 1 {
			d.Edges = append(d.Edges, workflow.Edge{Source: path[i], Target: path[i+1]})
		}
		if problems := workflow.Validate(&d, b.environment()); len(problems) != 1 || problems[0].Node != "hook" || !strings.Contains(problems[0].String(), want) {
			t.Errorf("%s: %v", id, problems)
		}
	}
	d := drawn(t, "notify-failure", needs["notify-failure"])
	d.Edges = []workflow.Edge{{Source: "start", Target: "call"}, {Source: "start", Target: "hook"}, {Source: "call", Target: "end"}}
	if problems := workflow.Validate(&d, b.environment()); len(problems) != 1 || !strings.Contains(problems[0].String(), "behind “Call the tool”") {
		t.Error(problems)
	}
}
