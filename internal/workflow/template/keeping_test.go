package template_test

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"genkan/internal/gateway"
	"genkan/internal/workflow"
	"genkan/internal/workflow/template"
)

// inOneDay runs a test whose counts begin anew at midnight UTC. It runs once more if midnight
// came in between.
func inOneDay(t *testing.T, test func(b *bench) (wrong []string)) {
	t.Helper()
	for {
		day := time.Now().UTC().YearDay()
		wrong := test(newBench(t))
		if time.Now().UTC().YearDay() == day {
			for _, w := range wrong {
				t.Error(w)
			}
			return
		}
	}
}

func TestRateLimit(t *testing.T) {
	inOneDay(t, func(b *bench) (wrong []string) {
		b.answer = done
		use := func(params string) {
			b.use(t, "rate-limit", params, template.Options{Name: "w", Match: workflow.Match{Servers: []string{"github"}}})
		}
		use(`{"calls":3,"seconds":86400,"reason":"use search"}`)
		limited := regexp.MustCompile(`^denied: workflow "w" refused this call: list was called 3 times in 86400 s, which is the limit; use search\. It was not sent\. Wait [1-9][0-9]* s, then call it again$`)
		var passed atomic.Int64
		var calls sync.WaitGroup
		for range 20 {
			calls.Go(func() {
				if got := b.call("anna", "github__list", ""); got == done {
					passed.Add(1)
				} else if !limited.MatchString(got) {
					t.Error(got)
				}
			})
		}
		calls.Wait()
		if n := passed.Load(); n != 3 {
			wrong = append(wrong, fmt.Sprintf("%d calls passed at once", n))
		}
		for _, c := range [][2]string{{"anna", "github__get"}, {"bob", "github__list"}, {"anna", "fs__list"}} {
			if got := b.call(c[0], c[1], ""); got != done {
				wrong = append(wrong, fmt.Sprintf("%s: %s", c, got))
			}
		}
		use(`{"calls":1,"seconds":86400,"count":"all clients"}`)
		b.call("carl", "github__read", "")
		if got := b.call("dora", "github__read", ""); !strings.Contains(got, "read was called once in 86400 s, which is the limit. It") {
			wrong = append(wrong, "another client is not counted: "+got)
		}
		return wrong
	})
}

// As a step it counts the calls of all runs, whatever the workflow says of its state, and each
// step counts for itself.
func TestRateLimitAsAStep(t *testing.T) {
	for _, scope := range []string{"", "run", "session", "workflow"} {
		inOneDay(t, func(b *bench) (wrong []string) {
			b.answer = done
			d := drawn(t, "rate-limit", `{"calls":2,"seconds":86400}`)
			d.State.Scope = scope
			second := d.Nodes[len(d.Nodes)-1]
			second.ID = "second"
			d.Nodes = append(d.Nodes, second)
			d.Edges = []workflow.Edge{{Source: "start", Target: "hook"}, {Source: "hook", Target: "second"}, {Source: "second", Target: "call"}, {Source: "call", Target: "end"}}
			b.enable(t, []workflow.Definition{d})
			for n, passes := range []bool{true, true, false} {
				b.session = fmt.Sprint("s", n)
				if got := b.call("anna", "github__list", ""); (got == done) != passes {
					wrong = append(wrong, fmt.Sprintf("scope %q, call %d: %s", scope, n, got))
				}
			}
			return wrong
		})
	}
}

func TestCacheReads(t *testing.T) {
	b := newBench(t)
	use := func(params string) {
		b.sent = nil
		definitions, err := template.Use("cache-reads", json.RawMessage(params), template.Options{ID: fmt.Sprint("w", len(params)), Match: workflow.Match{Servers: []string{"github"}}})
		if err != nil {
			t.Fatal(err)
		}
		definitions[0].Limits = workflow.Limits{PayloadKB: 8 << 10, HookMemMB: 1024} // with the race detector

		b.enable(t, definitions)
	}
	const reads = `{"readOnlyHint":true}`
	n := 0
	call := func(client, annotations, args string) (again bool) {
		t.Helper()
		n++
		b.answer = fmt.Sprintf(`{"content":[{"type":"text","text":"answer %d"}]}`, n)
		sent := len(b.sent)
		got := b.callMarked(client, "github__get", annotations, args)
		if again = len(b.sent) == sent; again == (got == b.answer) {
			t.Errorf("sent again: %v, got %s", !again, got)
		}
		return again
	}
	check := func(what string, got, want bool) {
		t.Helper()
		if got != want {
			t.Errorf("%s: answered again is %v", what, got)
		}
	}
	use(`{}`)
	check("first", call("anna", reads, `{"a":1,"b":[{"c":2,"d":3}]}`), false)
	check("equal", call("anna", reads, `{"b":[{"d":3,"c":2}],"a":1}`), true)
	check("other arguments", call("anna", reads, `{"a":1}`), false)
	check("other client", call("bob", reads, `{"a":1}`), false)
	check("no hint", call("anna", `{}`, `{"x":1}`), false)
	check("no hint, equal", call("anna", `{}`, `{"x":1}`), false)
	// Numbers that a script cannot tell apart, and those that it would change.
	check("a long integer", call("anna", reads, `{"project_id":1234567890123456789}`), false)
	check("another one", call("anna", reads, `{"project_id":1234567890123456790}`), false)
	check("the same", call("anna", reads, `{"project_id":1234567890123456790}`), false)
	check("the longest", call("anna", reads, `{"project_id":[-9007199254740991]}`), false)
	check("the longest, equal", call("anna", reads, `{"project_id":[-9007199254740991]}`), true)
	b.answer = `{"content":[],"structuredContent":{"ids":[1234567890123456789]}}`
	for range 2 {
		if got := b.callMarked("anna", "github__get", reads, `{"ids":1}`); got != b.answer {
			t.Error(got)
		}
	}
	// Sessions of one client are apart, and its calls without one are together.
	b.session = "s1"
	check("in a session", call("anna", reads, `{"a":1}`), false)
	check("again in it", call("anna", reads, `{"a":1}`), true)
	b.session = "s2"
	check("in another session", call("anna", reads, `{"a":1}`), false)
	b.session = ""
	check("without a session", call("anna", reads, `{"a":1}`), true)
	// Errors are not kept.
	b.answer = `{"content":[],"isError":true}`
	b.callMarked("anna", "github__get", reads, `{"e":1}`)
	check("after an error", call("anna", reads, `{"e":1}`), false)
	// An answer that is too large passes, and old ones make room for new ones.
	b.answer = `{"content":[{"type":"text","text":"` + strings.Repeat("x", 2<<20) + `"}]}`
	for range 2 {
		if got := b.callMarked("anna", "github__get", reads, `{"large":1}`); got != b.answer {
			t.Errorf("a large answer: %.200s", got)
		}
		trace := b.traces[len(b.traces)-1]
		if last := trace.Steps[2]; trace.Outcome != workflow.OutcomeOK || len(last.Console) != 1 || !strings.Contains(last.Console[0].Text, "1024 KB (state.maxKB)") {
			t.Errorf("%s: %+v", trace.Outcome, last)
		}
	}
	check("what was there before it", call("anna", reads, `{"a":1}`), true)
	for i := range 4 {
		b.answer = `{"content":[{"type":"text","text":"` + strings.Repeat("x", 400<<10) + `"}]}`
		b.callMarked("anna", "github__get", reads, fmt.Sprintf(`{"i":%d}`, i))
	}
	check("the newest", call("anna", reads, `{"i":3}`), true)
	check("the oldest", call("anna", reads, `{"i":0}`), false)

	use(`{"all":true,"scope":"workflow"}`)
	check("first of all", call("anna", `{}`, `{"y":1}`), false)
	check("for another client", call("bob", `{}`, `{"y":1}`), true)
}

func TestExplainErrors(t *testing.T) {
	b := newBench(t)
	b.use(t, "explain-errors", `{"errors":[{"contains":"Rate Limit","say":"Wait a minute."},{"contains":"limit","say":"second"}]}`, template.Options{})
	b.answer = `{"content":[{"type":"image","data":"eA==","mimeType":"image/png"},{"type":"text","text":"API rate limit exceeded"}],"isError":true}`
	if got, want := b.call("anna", "github__get", ""), `{"content":[{"type":"text","text":"Wait a minute."},{"type":"image","data":"eA==","mimeType":"image/png"},{"type":"text","text":"API rate limit exceeded"}],"isError":true}`; got != want {
		t.Error(got)
	}
	for _, answer := range []string{done, `{"content":[{"type":"text","text":"no such repo"}],"isError":true}`} {
		if b.answer = answer; b.call("anna", "github__get", "") != answer {
			t.Errorf("%s was changed", answer)
		}
	}
	b.fails = gateway.Errorf(gateway.CodeUnavailable, "server github is down; rate limit")
	if got := b.call("anna", "github__get", ""); !strings.Contains(got, "Wait a minute.") {
		t.Errorf("an error of the call: %s", got)
	}
	b.fails = nil
	b.use(t, "explain-errors", `{"errors":[{"contains":"secret","say":"Ask anna."}],"original":false}`, template.Options{})
	b.answer = `{"content":[{"type":"text","text":"no secret x"}],"structuredContent":{"e":"secret x"},"isError":true}`
	if got := b.call("anna", "github__get", ""); strings.Contains(got, "secret") || !strings.Contains(got, "Ask anna.") {
		t.Error(got)
	}
}

func TestTagResults(t *testing.T) {
	b := newBench(t)
	match := workflow.Match{Servers: []string{"wiki"}}
	b.use(t, "tag-results", `{"note":"From the wiki."}`, template.Options{Match: match})
	b.answer = `{"content":[{"type":"text","text":"a"}],"structuredContent":{"n":1.0}}`
	if got, want := b.call("anna", "wiki__get", ""), `{"content":[{"type":"text","text":"From the wiki."},{"type":"text","text":"a"}],"structuredContent":{"n":1.0}}`; got != want {
		t.Error(got)
	}
	b.use(t, "tag-results", `{"note":"From the wiki.","place":"end"}`, template.Options{Match: match})
	if got, want := b.call("anna", "wiki__get", ""), `{"content":[{"type":"text","text":"a"},{"type":"text","text":"From the wiki."}],"structuredContent":{"n":1.0}}`; got != want {
		t.Error(got)
	}
	b.answer = `{"content":[{"type":"text","text":"no"}],"isError":true}`
	if got := b.call("anna", "wiki__get", ""); got != b.answer {
		t.Errorf("an error: %s", got)
	}
}
