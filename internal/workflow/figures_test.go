package workflow

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"genkan/internal/gateway"
	"genkan/internal/script"
)

// Runs are counted by what became of them and by mode. Rehearsals do not count.
func TestRunsAreCounted(t *testing.T) {
	t.Parallel()
	d := flow("w", `start → hook → mcp → hook2 → end
		hook: const a = context.request.params.arguments; if (a.bad) throw 1; if (a.no) return {action: 'deny'}
		hook2: if (context.request.params.arguments.more) context.response.content[0].text += '!'`)
	watching := flow("s", `start → end
		end: {"outcome":"deny"}`)
	watching.Mode = shadow
	b := newBench(t, Options{}, d, watching)
	for _, arguments := range []string{`{}`, `{"more":true}`, `{"no":true}`, `{"bad":true}`} {
		b.call("do", arguments)
	}
	past := Past{Call: b.newCall("do", `{}`), Answer: &gateway.Result{Raw: []byte(`{"content":[]}`)}}
	w := b.Set().Workflow("w")
	if got := b.Rehearse(t.Context(), w, past); !got.Matched || got.Err != nil {
		t.Errorf("%+v", got)
	}
	if got := b.test(t.Context(), w, Test{ID: "t", Call: TestCall{Params: []byte(`{"name":"github__do"}`)}}); got.Outcome != OutcomeOK {
		t.Errorf("%+v", got)
	}
	b.Close(context.Background())
	runs := b.Runs()
	if r := runs[WorkflowAndMode{"w", false}]; r.Runs != 4 || r.Denied != 1 || r.Failed != 1 || r.Changed != 1 || r.Dropped != 0 ||
		r.Buckets[len(r.Buckets)-1] != 4 || r.Total == 0 || r.P50 == 0 || r.P95 < r.P50 {
		t.Errorf("%+v", r)
	}
	if r := runs[WorkflowAndMode{"s", true}]; r.Runs != 2 || r.Denied != 2 { // of the calls that were made
		t.Errorf("%+v", r)
	}
	if got := b.Stats("w")["hook"].Runs; got != 4 {
		t.Errorf("rehearsals count: %d", got)
	}
	b.Use(NewSet(nil))
	if len(b.Runs()) > 0 {
		t.Error("figures of a workflow that is gone")
	}
}

// All workflows can be turned off at once. What they keep stays, and others are told.
func TestAllWorkflowsOff(t *testing.T) {
	t.Parallel()
	l, b, store := newLibrary(t)
	var told []string
	l.OnChange(func(c Change) {
		told = append(told, strings.Join(strings.Fields(fmt.Sprint(c.What, " ", c.Workflow, " ", c.Module, " ", c.Version, " ", c.By)), " "))
	})
	ctx := context.Background()
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	save := func(d *Definition, base int) {
		t.Helper()
		_, err := l.Save(ctx, *d, base)
		must(err)
		must(l.Enable(ctx, d.ID, 0))
	}
	deny := flow("deny", `start → end
		end: {"outcome":"deny"}`)
	hide := flow("hide", `start → mcp → hook → end
		hook: context.response.tools = []`)
	hide.Type = ToolsList
	save(deny, 0)
	save(hide, 0)
	tools := func() int {
		t.Helper()
		listed, err := b.Tools(ctx, gateway.Identity{ClientID: "anna"}, gateway.View{}, b.server, []gateway.Tool{{Name: "do", Definition: []byte(`{"name":"do"}`)}})
		must(err)
		return len(listed)
	}
	state := func(off bool) {
		t.Helper()
		if passes := strings.Contains(b.call("do", "{}"), "done"); passes != off || tools() != map[bool]int{true: 1}[off] || b.Set().ListsFor("anna") == off {
			t.Errorf("off: %v, the call passes: %v, tools: %d", off, passes, tools())
		}
		if got := len(b.Set().Applying(nil, "")); got != map[bool]int{false: 2}[off] {
			t.Errorf("off: %v, %d apply", off, got)
		}
	}
	state(false)
	must(l.TurnOff(ctx, "anna"))
	must(l.TurnOff(ctx, "bob")) // it is off already
	state(true)
	save(deny, 1) // it stays off
	state(true)
	if b.Runs()[WorkflowAndMode{"deny", false}].Runs != 1 {
		t.Error("figures are lost")
	}
	if got, err := l.Switch(ctx); err != nil || got != (Switch{Off: true, By: "anna", At: 1_758_000_000_000}) {
		t.Errorf("%+v, %v", got, err)
	}
	// Another process turns them on again.
	must(store.PutSwitch(ctx, Switch{By: "other"}))
	must(l.catchUp(ctx))
	state(false)
	_, err := l.SaveModule(ctx, Module{ID: "m", Script: "1"}, 0)
	must(err)
	must(l.DeleteModule(ctx, "m"))
	must(l.Delete(ctx, "deny"))
	want := []string{
		"stored deny 1", "enabled deny 1", "stored hide 1", "enabled hide 1", "off 0 anna", "stored deny 2", "enabled deny 2",
		"on 0 other", "stored m 1", "deleted m 0", "disabled deny 2", "deleted deny 0",
	}
	if !slices.Equal(told, want) {
		t.Errorf("told %q", told)
	}
}

// A workflow that something else relies on goes on while all are turned off.
func TestAlwaysWorkflowsStayOn(t *testing.T) {
	t.Parallel()
	l, b, _ := newLibrary(t)
	deny := flow("deny", `start → end
		end: {"outcome":"deny"}`)
	deny.Always = true
	if _, err := l.Save(t.Context(), *deny, 0); err != nil {
		t.Fatal(err)
	}
	if err := l.Enable(t.Context(), "deny", 0); err != nil {
		t.Fatal(err)
	}
	if err := l.TurnOff(t.Context(), "anna"); err != nil {
		t.Fatal(err)
	}
	if got := b.call("do", "{}"); strings.Contains(got, "done") || !b.Set().Off() {
		t.Errorf("off: %v, the call was answered %s", b.Set().Off(), got)
	}
}

// What a workflow shows of a tool does not decide which workflows it has.
func TestAnnotationsAreTheServersOwn(t *testing.T) {
	t.Parallel()
	tame := flow("tame", `start → mcp → hook → end
		hook: for (const t of context.response.tools) t.annotations = {readOnlyHint: true}`)
	hide := flow("hide", `start → mcp → hook → end
		hook: context.response.tools = []`)
	tame.Type, hide.Type = ToolsList, ToolsList
	tame.Order = 1 // hide sees what tame has made
	hide.Match.Annotations = map[string]bool{"destructiveHint": true}
	b := newBench(t, Options{}, tame, hide)
	tools := []gateway.Tool{
		{Name: "drop", Definition: []byte(`{"name":"drop","annotations":{"destructiveHint":true}}`)},
		{Name: "both", Definition: []byte(`{"name":"both","annotations":{"readOnlyHint":true,"destructiveHint":true}}`)},
		{Name: "silent", Definition: []byte(`{"name":"silent"}`)},
		{Name: "read", Definition: []byte(`{"name":"read","annotations":{"destructiveHint":false}}`)},
	}
	listed, err := b.Tools(context.Background(), gateway.Identity{ClientID: "anna"}, gateway.View{}, b.server, tools)
	if err != nil || len(listed) != 1 || string(listed[0].Definition) != `{"name":"read","annotations":{"readOnlyHint":true}}` {
		t.Errorf("%v, %+v", err, listed)
	}
	guard := flow("guard", `start → end
		end: {"outcome":"deny"}`)
	guard.Match.Annotations = map[string]bool{"destructiveHint": true}
	b.use(t, guard)
	call := b.newCall("drop", "{}")
	call.Tool.Definition = []byte(`{"name":"drop","annotations":{"readOnlyHint":true}}`)
	call.Tool.Rewritten = &gateway.Rewritten{Name: "drop", Annotations: []byte(`{"destructiveHint":true}`)}
	if got := said(b.handler.Handle(context.Background(), call)); !strings.HasPrefix(got, "denied") {
		t.Error(got)
	}
}

// Which workflows are for a tool and a client is known without a call.
func TestApplyingWorkflows(t *testing.T) {
	t.Parallel()
	all, mine, prompts, lists := flow("b", "start → mcp → end"), flow("a", "start → mcp → end"), flow("c", "start → mcp → end"), flow("d", "start → mcp → end")
	mine.Match, mine.Order = Match{Tools: []string{"github__do"}, Clients: []string{"anna"}, When: "args.x == 1"}, 5
	prompts.Type, lists.Type = PromptsGet, ToolsList
	b := newBench(t, Options{}, all, mine, prompts, lists)
	do, other := b.newCall("do", "{}").Tool, b.newCall("other", "{}").Tool
	for want, c := range map[string]struct {
		tool   *gateway.Tool
		client string
	}{
		"b d a": {do, "anna"}, "b d": {other, "anna"}, "b c d": {nil, "bob"}, "b c d a": {nil, ""},
		"c": {&gateway.Tool{Kind: gateway.KindPrompt, Name: "p", Source: b.server}, "anna"},
	} {
		var got []string
		for _, w := range b.Set().Applying(c.tool, c.client) {
			got = append(got, w.ID)
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%v instead of %s", got, want)
		}
	}
}

// The last runs of a workflow are found, those of lists too.
func TestLastTraces(t *testing.T) {
	t.Parallel()
	s := NewTraces(10, nil)
	at := time.Unix(0, 0)
	for i, call := range []string{"1", "2", "2", "", "3"} {
		s.Trace(Trace{Call: call, Workflow: []string{"w", "v"}[i%2], Version: i, Started: at.Add(time.Duration(i)), Outcome: OutcomeOK})
	}
	versions := func(workflow string, most int, want func(*Trace) bool) (out []int) {
		for _, t := range s.Last(workflow, most, want) {
			out = append(out, t.Version)
		}
		return out
	}
	if got := fmt.Sprint(versions("w", 10, nil), versions("w", 2, nil), versions("v", 10, nil), versions("x", 10, nil),
		versions("w", 10, func(t *Trace) bool { return t.Call == "2" })); got != "[4 2 0] [4 2] [3 1] [] [2]" {
		t.Error(got)
	}
}

// slowQueue runs scripts after a second in a queue.
type slowQueue struct{ inProcess }

func (q slowQueue) Run(ctx context.Context, job script.Job) (script.Result, error) {
	time.Sleep(time.Second)
	result, err := q.inProcess.Run(ctx, job)
	result.Queue = time.Second
	return result, err
}

// The time in a queue counts where a call waits for it, and not beside the path.
func TestQueuesOfDetachedHooksDoNotCount(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, Options{Runner: slowQueue{}}, flow("w", `start → beside
			start → hook → mcp → end
			beside: 1
			hook: 2`))
		b.call("do", `{}`)
		b.Close(context.Background())
		if got := b.Stats("w"); got["hook"].P95 != time.Second || got["beside"].Runs != 1 || got["beside"].P95 != 0 {
			t.Errorf("%+v", got)
		}
		beside, ok := b.traces.find(func(t Trace) bool { return t.Detached })
		if !ok || beside.Took() != 0 || beside.Steps[0].Queue != time.Second {
			t.Errorf("%+v", beside)
		}
	})
}
