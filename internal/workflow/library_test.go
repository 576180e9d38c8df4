package workflow

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	"genkan/internal/gateway"
	"genkan/internal/jsonrpc"
)

func newLibrary(tb testing.TB) (*Library, *bench, *memory) {
	tb.Helper()
	b, store := newBench(tb, Options{}), newMemory()
	return NewLibrary(store, b.Engine, *testEnvironment, func() time.Time { return time.UnixMilli(1_758_000_000_000) }), b, store
}

func wantError(t *testing.T, err error, code gateway.Code, text string) {
	t.Helper()
	if e := gateway.AsError(err); e == nil || e.Code != code || !strings.Contains(e.Text(), text) {
		t.Errorf("%v instead of %s: %s", err, code, text)
	}
}

func TestDraftsVersionsAndRollback(t *testing.T) {
	t.Parallel()
	l, b, _ := newLibrary(t)
	ctx := context.Background()
	answers := func(text string) Definition {
		return *flow("w", `start → hook → end
			hook: return {action: 'respond', response: '`+text+`'}`)
	}
	save := func(d Definition, base int) int {
		t.Helper()
		s, err := l.Save(ctx, d, base)
		if err != nil {
			t.Fatal(err)
		}
		return s.Version
	}
	says := func(want string) {
		t.Helper()
		if got := b.call("do", "{}"); !strings.Contains(got, want) {
			t.Errorf("%s instead of %s", got, want)
		}
	}
	if n := save(answers("one"), 0); n != 1 {
		t.Errorf("version %d", n)
	}
	says("done") // a draft
	if err := l.Enable(ctx, "w", 0); err != nil {
		t.Fatal(err)
	}
	says("one")
	save(answers("two"), 1)
	says("one") // until it is enabled
	if _, err := l.Save(ctx, answers("x"), 1); true {
		wantError(t, err, gateway.CodeConflict, "its version is 2, and this change was made to version 1")
	}
	if err := l.Enable(ctx, "w", 2); err != nil {
		t.Fatal(err)
	}
	says("two")
	broken := answers("three")
	broken.Edges = nil
	save(broken, 2) // a draft may be invalid
	wantError(t, l.Enable(ctx, "w", 3), gateway.CodeInvalid, `workflow "w" cannot run: node "start": nothing follows it; every path must reach an end: add one with +; node "hook"`)
	says("two")
	if s, err := l.Rollback(ctx, "w", 1); err != nil || s.Version != 4 || s.Running != 4 || s.CreatedAt == 0 {
		t.Errorf("%+v, %v", s, err)
	}
	says("one")
	if err := l.Disable(ctx, "w"); err != nil {
		t.Fatal(err)
	}
	says("done")
	wantError(t, l.Enable(ctx, "none", 0), gateway.CodeNotFound, "")
	_, err := l.Save(ctx, Definition{ID: "a/b"}, 0)
	wantError(t, err, gateway.CodeInvalid, "cannot be an id")
}

func TestStepsOfDraftAreOneVersion(t *testing.T) {
	t.Parallel()
	l, _, _ := newLibrary(t)
	ctx := context.Background()
	save := func(base Base, draft string) (Stored, error) {
		return l.SaveDraft(ctx, *flow("w", "start → mcp → end"), base, draft)
	}
	var base Base
	step := func(draft string) {
		t.Helper()
		s, err := save(base, draft)
		if err != nil || s.UpdatedAt <= base.At {
			t.Fatal(s.UpdatedAt, err)
		}
		base = s.Base()
	}
	want := func(want ...int) {
		t.Helper()
		all, err := l.Versions(ctx, "w")
		var got []int
		for _, d := range all {
			got = append(got, d.Version)
		}
		if err != nil || !slices.Equal(got, want) {
			t.Errorf("versions %v, %v; want %v", got, err, want)
		}
	}
	step("morning")
	first := base
	step("morning")
	step("morning")
	want(1)

	// Whoever has read an earlier step is told, though the number is the same.
	_, err := save(first, "morning")
	wantError(t, err, gateway.CodeConflict, `workflow "w" was changed meanwhile: its version 1 was saved again`)
	_, err = save(first, "")
	wantError(t, err, gateway.CodeConflict, `workflow "w" was changed meanwhile: its version 1 was saved again`)
	if err := l.Enable(ctx, "w", 1); err != nil {
		t.Fatal(err)
	}
	step("morning")
	step("morning")
	want(2, 1) // what ran stays
	step("evening")
	step("evening")
	want(3, 2, 1)
	_, err = save(Base{Version: 2}, "evening")
	wantError(t, err, gateway.CodeConflict, "its version is 3, and this change was made to version 2")
	if s, err := l.Rollback(ctx, "w", 1); err != nil || s.Version != 4 {
		t.Error(s.Version, err)
	}
	want(4, 3, 2, 1)
}

// TestEnableRefusesWhatWasSavedAgain: a step that takes the place of another one while the
// tests of that run does not become active untested.
func TestEnableRefusesWhatWasSavedAgain(t *testing.T) {
	t.Parallel()
	other, b, store := newLibrary(t)
	ctx := context.Background()
	s, err := other.SaveDraft(ctx, *flow("w", "start → mcp → end"), Base{}, "a")
	if err != nil {
		t.Fatal(err)
	}
	l := NewLibrary(&whileTested{store, func() {
		if _, err := other.SaveDraft(ctx, *flow("w", "start → mcp → end"), s.Base(), "a"); err != nil {
			t.Error(err)
		}
	}}, b.Engine, *testEnvironment, time.Now)
	wantError(t, l.Enable(ctx, "w", 1), gateway.CodeConflict, "was saved again")
	if now, err := store.Workflow(ctx, "w", 0); err != nil || now.Running != 0 || now.Version != 1 {
		t.Error(now.Running, now.Version, err)
	}
}

// whileTested does something when tests are read.
type whileTested struct {
	Store
	do func()
}

func (w *whileTested) Tests(ctx context.Context, id string) ([]Test, error) {
	w.do()
	return w.Store.Tests(ctx, id)
}

// Params that do not fit the schema of a module keep a workflow from being enabled, and
// never stop one that runs.
func TestParamsOfModulesAreChecked(t *testing.T) {
	t.Parallel()
	l, b, store := newLibrary(t)
	ctx := context.Background()
	l.env.Params = func(schema, params json.RawMessage) error { // as if {"need": KEY} were a schema
		var problems gateway.Problems
		if key := jsonrpc.LookupText(schema, "need"); jsonrpc.Lookup(params, key) == nil {
			problems.Add(gateway.MissingField(nil, key))
		}
		if err := problems.Err(); err != nil {
			return err
		}
		return nil
	}
	module := func(need string, base int) error {
		_, err := l.SaveModule(ctx, Module{ID: "m", Script: `return {action: 'respond', response: params.word}`, Params: json.RawMessage(`{"need":"` + need + `"}`)}, base)
		return err
	}
	with := func(params string) Definition {
		return *flow("w", `start → hook → end
			hook: {"hook":{"module":"m","blocking":true`+params+`}}`)
	}
	if err := module("word", 0); err != nil {
		t.Fatal(err)
	}
	for i, params := range []string{"", `,"params":null`, `,"params":{"n":1}`} {
		if _, err := l.Save(ctx, with(params), i); err != nil {
			t.Fatal(err)
		}
		wantError(t, l.Enable(ctx, "w", 0), gateway.CodeInvalid, `workflow "w" cannot run: node "hook": params.word is required`)
	}
	if _, err := l.Save(ctx, with(`,"params":{"word":"hi"}`), 3); err != nil {
		t.Fatal(err)
	}
	if err := l.Enable(ctx, "w", 0); err != nil {
		t.Fatal(err)
	}
	// A schema that its users would break is refused.
	wantError(t, module("other", 1), gateway.CodeInvalid, "params.other is required")
	// One that was enabled before params were checked goes on, and its module can be changed.
	newer := store.modules["m"][0]
	newer.Params = json.RawMessage(`{"need":"other"}`)
	store.modules["m"][0] = newer
	if broken, err := l.Load(ctx); err != nil || len(broken) > 0 {
		t.Error(broken, err)
	}
	if got := b.call("do", "{}"); !strings.Contains(got, "hi") {
		t.Error(got)
	}
	if err := module("other", 1); err != nil {
		t.Error(err)
	}
	if problems := l.Validate(ctx, &Definition{ID: "w", Type: ToolsCall, Nodes: with("").Nodes, Edges: with("").Edges}); len(problems) != 1 {
		t.Error(problems)
	}
}

func TestModulesAreReferenced(t *testing.T) {
	t.Parallel()
	l, b, store := newLibrary(t)
	ctx := context.Background()
	module := func(script string, base int) error {
		_, err := l.SaveModule(ctx, Module{ID: "redact", Script: script}, base)
		return err
	}
	if err := module(`return {action: 'respond', response: 'one'}`, 0); err != nil {
		t.Fatal(err)
	}
	for id, ref := range map[string]string{"newest": "redact", "pinned": "redact@1"} {
		d := flow(id, `start → hook → end
			hook: {"hook":{"module":"`+ref+`","blocking":true}}`)
		d.Match.Tools = []string{"*__" + id}
		if _, err := l.Save(ctx, *d, 0); err != nil {
			t.Fatal(err)
		}
		if err := l.Enable(ctx, id, 0); err != nil {
			t.Fatal(err)
		}
	}
	wantError(t, module("let x = ;", 1), gateway.CodeInvalid, "cannot be compiled")
	wantError(t, module("", 0), gateway.CodeConflict, "its version is 1")
	if err := module(`return {action: 'respond', response: 'two'}`, 1); err != nil {
		t.Fatal(err)
	}
	if one, two := b.call("pinned", "{}"), b.call("newest", "{}"); !strings.Contains(one, "one") || !strings.Contains(two, "two") {
		t.Error(one, two)
	}
	wantError(t, l.DeleteModule(ctx, "redact"), gateway.CodeConflict, `hook module "redact" is used by newest, pinned;`)
	// A workflow that cannot run any more refuses what it was for.
	kept := store.modules["redact"]
	delete(store.modules, "redact")
	broken, err := l.Load(ctx)
	if err != nil || len(broken) != 2 {
		t.Error(broken, err)
	}
	if got := b.call("newest", "{}"); !strings.HasPrefix(got, `denied: workflow "newest" failed`) {
		t.Error(got)
	}
	if got := b.call("other", "{}"); !strings.Contains(got, "done") {
		t.Error(got)
	}
	for _, id := range []string{"newest", "pinned"} {
		if err := l.Delete(ctx, id); err != nil {
			t.Fatal(err)
		}
	}
	store.modules["redact"] = kept
	if err := l.DeleteModule(ctx, "redact"); err != nil {
		t.Error(err)
	}
}

func TestListsOfTools(t *testing.T) {
	t.Parallel()
	const readRepo = `{"name": "read_repo", "inputSchema":{"type":"object","properties":{"id":{"maximum":1234567890123456789}}}}`
	tools := []gateway.Tool{
		{Name: "read_repo", Definition: []byte(readRepo)},
		{Name: "delete_repo", Definition: []byte(`{"name":"delete_repo","_meta":{"a":1},"annotations":{"destructiveHint":true}}`)},
		{Name: "merge", Definition: []byte(`{"name":"merge","description":"merges","inputSchema":{"properties":{"project":{}}}}`)},
	}
	for name, c := range map[string]struct {
		script, fails string
		match         Match
		mode          string
		want          []string
	}{
		"filtered":          {"context.response.tools = context.response.tools.filter(t => !t.annotations?.destructiveHint)", "", Match{}, "", []string{"read_repo " + readRepo, "merge " + string(tools[2].Definition)}},
		"renamed":           {"context.response.tools[1].name = 'remove'", "", Match{}, "", []string{"read_repo " + readRepo, `delete_repo {"name":"remove","_meta":{"a":1},"annotations":{"destructiveHint":true}}`, "merge " + string(tools[2].Definition)}},
		"rewritten":         {"const t = context.response.tools[2]; t.description = 'x'; delete t.inputSchema.properties.project", "", Match{}, "", []string{"read_repo " + readRepo, "delete_repo " + string(tools[1].Definition), `merge {"name":"merge","description":"x","inputSchema":{"properties":{}}}`}},
		"only some":         {"context.response.tools = []", "", Match{Tools: []string{"*__delete_*"}}, "", []string{"read_repo " + readRepo, "merge " + string(tools[2].Definition)}},
		"denied":            {"return {action: 'deny'}", "", Match{}, "", nil},
		"for another":       {"context.response.tools = []", "", Match{Clients: []string{"bob"}}, "", []string{"read_repo " + readRepo, "delete_repo " + string(tools[1].Definition), "merge " + string(tools[2].Definition)}},
		"in shadow":         {"context.response.tools = []", "", Match{}, shadow, []string{"read_repo " + readRepo, "delete_repo " + string(tools[1].Definition), "merge " + string(tools[2].Definition)}},
		"one that is added": {"context.response.tools.push({name: 'new'})", `lists the tool "new", which the server does not have`, Match{}, "", nil},
		"two of a name":     {"context.response.tools[1].name = 'merge'", `lists two tools as "merge"`, Match{}, "", nil},
		"it fails":          {"throw 1", "the tools of server github cannot be listed for client anna", Match{}, "", nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := flow("w", "start → mcp → hook → end\nhook: "+c.script)
			d.Type, d.Match, d.Mode = ToolsList, c.match, c.mode
			b := newBench(t, Options{}, d)
			listed, err := b.Tools(context.Background(), gateway.Identity{ClientID: "anna"}, gateway.View{}, b.server, tools)
			if c.fails != "" {
				wantError(t, err, gateway.CodeUnavailable, c.fails)
			} else if err != nil {
				t.Error(err)
			}
			var got []string
			for _, tool := range listed {
				got = append(got, tool.Name+" "+string(tool.Definition))
			}
			if !slices.Equal(got, c.want) {
				t.Errorf("got\n%s\nwanted\n%s", strings.Join(got, "\n"), strings.Join(c.want, "\n"))
			}
		})
	}
}

// When a workflow fails, the last list stands. What was made once is not made again.
func TestListsAreKept(t *testing.T) {
	t.Parallel()
	d := flow("w", `start → mcp → hook → end
		hook: state.set('n', (state.get('n') || 0) + 1); if (context.response.tools.length > 1) throw new Error('too many'); context.response.tools[0].description = String(state.get('n'))`)
	d.Type, d.State.Scope = ToolsList, scopeWorkflow
	b := newBench(t, Options{}, d)
	list := func(client string, names ...string) (string, error) {
		var tools []gateway.Tool
		for _, name := range names {
			raw, _ := json.Marshal(map[string]string{"name": name})
			tools = append(tools, gateway.Tool{Name: name, Definition: raw})
		}
		listed, err := b.Tools(context.Background(), gateway.Identity{ClientID: client}, gateway.View{}, b.server, tools)
		if len(listed) == 0 {
			return "", err
		}
		return string(listed[0].Definition), err
	}
	for range 2 {
		if got, err := list("anna", "a"); err != nil || got != `{"name":"a","description":"1"}` {
			t.Error(got, err)
		}
	}
	if got, _ := list("bob", "a"); got != `{"name":"a","description":"2"}` {
		t.Error(got)
	}
	got, err := list("anna", "a", "b")
	if got != `{"name":"a","description":"1"}` {
		t.Error(got)
	}
	wantError(t, err, gateway.CodeUnavailable, "the last list that it made stands")
	got, err = list("carl", "a", "b")
	if got != "" {
		t.Error(got)
	}
	wantError(t, err, gateway.CodeUnavailable, "its tools are hidden from this client")
	b.use(t, d) // a new version
	if got, _ := list("anna", "a"); got == `{"name":"a","description":"1"}` {
		t.Error(got)
	}
	if !b.Set().ListsFor("anna") || NewSet(nil).ListsFor("anna") {
		t.Error("whose lists?")
	}
}
