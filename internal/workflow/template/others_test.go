package template_test

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"genkan/internal/gateway"
	"genkan/internal/testkit"
	"genkan/internal/workflow"
	"genkan/internal/workflow/template"
)

func TestAskFirst(t *testing.T) {
	b := newBench(t)
	b.answer = done
	b.use(t, "ask-first", `{"message":"Merge?","timeoutMs":60000}`, template.Options{Name: "w", Match: workflow.Match{Tools: []string{"github__merge_*"}}})
	if got := b.call("anna", "github__merge_pull_request", `{"n":1}`); got != refusedByPerson("w") || b.sent != nil {
		t.Error(got)
	}
	b.grant = true
	if got := b.call("anna", "github__merge_pull_request", `{"n":1}`); got != done || !slices.Equal(b.sent, []string{`{"n":1}`}) {
		t.Error(got)
	}
	if q := b.asked[1]; len(b.asked) != 2 || q.Message != "Merge?" || q.Timeout != time.Minute || string(q.Arguments) != `{"n":1}` {
		t.Errorf("%+v", b.asked)
	}
	if got := b.call("anna", "github__list", ""); got != done || len(b.asked) != 2 {
		t.Errorf("another tool: %s", got)
	}
}

func TestHideTools(t *testing.T) {
	b := newBench(t)
	b.use(t, "hide-tools", "", template.Options{Match: workflow.Match{Tools: []string{"github__admin_*"}, Clients: []string{"guest*"}}})
	tools := []string{`{"name":"admin_reset"}`, `{"name":"list", "x":1.0}`}
	if got := b.list(t, "guest-1", "github", tools...); !slices.Equal(got, tools[1:]) {
		t.Errorf("guest: %s", got)
	}
	if got := b.list(t, "anna", "github", tools...); !slices.Equal(got, tools) {
		t.Errorf("anna: %s", got)
	}
	if got := b.list(t, "guest-1", "github", tools[0]); len(got) != 0 {
		t.Errorf("only hidden tools: %s", got)
	}
}

func TestNotifyFailure(t *testing.T) {
	b := newBench(t)
	use := func(params string) { b.use(t, "notify-failure", params, template.Options{}) }
	// told waits until so many hooks have run, and returns what was sent.
	told := func(runs int) (bodies []string) {
		t.Helper()
		testkit.Eventually(t, func() bool {
			b.mu.Lock()
			defer b.mu.Unlock()
			n := 0
			for _, trace := range b.traces {
				if trace.Detached {
					n++
				}
			}
			return n >= runs
		}, "%d hooks have not run", runs)
		b.mu.Lock()
		defer b.mu.Unlock()
		for _, r := range b.fetched {
			if r.URL != "https://hooks.example/x" || r.Method != http.MethodPost {
				t.Errorf("%+v", r)
			}
			bodies = append(bodies, r.Body)
		}
		b.fetched, b.traces = nil, nil
		return bodies
	}
	use(`{"url":"https://hooks.example/x"}`)
	b.answer = done
	b.call("anna", "github__list", "")
	failed := `{"content":[{"type":"image","data":""},{"type":"text","text":"no <such> repo"},null],"isError":true}`
	b.answer = failed
	if got := b.call("anna", "github__list", ""); got != failed {
		t.Errorf("the answer passes: %s", got)
	}
	bodies := told(1)
	var body struct{ Server, Tool, Client, Error, Text string }
	if len(bodies) != 1 || json.Unmarshal([]byte(bodies[0]), &body) != nil || body.Server+body.Tool+body.Client != "githublistanna" || body.Error != "\nno <such> repo\n" {
		t.Fatalf("%s", bodies)
	}
	// The next two are too early, and another tool is told of at once.
	b.call("anna", "github__list", "")
	b.call("anna", "github__list", "")
	b.fails = gateway.Errorf(gateway.CodeUnavailable, "server github is down")
	if got := b.call("anna", "github__get", ""); got != "unavailable: server github is down" {
		t.Errorf("the error passes: %s", got)
	}
	if bodies := told(3); len(bodies) != 1 || !strings.Contains(bodies[0], "github__get failed for anna: server github is down") {
		t.Errorf("%s", bodies)
	}
	b.fails = nil
	for format, want := range map[string]string{
		"slack":   `{"text":"github__list failed for anna: \nno &lt;such&gt; repo\n`,
		"discord": `{"content":"github__list failed for anna: \nno <such> repo\n`,
	} {
		use(`{"url":"https://hooks.example/x","everySeconds":0,"format":"` + format + `"}`)
		b.call("anna", "github__list", "")
		if bodies := told(1); len(bodies) != 1 || !strings.HasPrefix(bodies[0], want) {
			t.Errorf("%s: %s", format, bodies)
		}
	}
	b.answer = `{"content":[{"type":"text","text":"` + strings.Repeat("x", 100_000) + `"}],"isError":true}`
	b.call("anna", "github__list", "")
	if bodies := told(1); len(bodies) != 1 || len(bodies[0]) > 3000 {
		t.Errorf("%d", len(bodies[0]))
	}
}
