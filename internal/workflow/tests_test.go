package workflow

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"genkan/internal/gateway"
	"genkan/internal/script"
	"genkan/internal/testkit"
)

func TestSavedTests(t *testing.T) {
	t.Parallel()
	const (
		selects = `start → hook → mcp → hook2 → end
			hook: if (!/^select/i.test(context.request.params.arguments.sql)) return {action: 'deny', reason: 'only SELECT'}; context.request.params.arguments.limit = 10
			hook2: context.response.content[0].text = context.response.content[0].text.replace('sk-1', '***'); console.log(1)`
		rows   = `{"content":[{"type":"text","text":"\"rows\" sk-1"}],"n":1234567890123456789}`
		params = `{"name":"db__query","arguments":{"sql":"select 1"}}`
	)
	for name, c := range map[string]struct {
		flow   string
		change func(d *Definition)
		test   string
		want   string // the mismatches, and the outcome
	}{
		"the outcome":                         {selects, nil, `{"expect":{"outcome":"ok"}}`, "ok"},
		"another outcome":                     {selects, nil, `{"expect":{"outcome":"denied"}}`, `outcome: "denied", not "ok"; ok`},
		"the arguments, in any order":         {selects, nil, `{"expect":{"arguments":{"limit": 10, "sql":"select 1"}}}`, "ok"},
		"other arguments":                     {selects, nil, `{"expect":{"arguments":{"limit":9,"sql":"select 1"}}}`, `arguments: {"limit":9,"sql":"select 1"}, not {"sql":"select 1","limit":10}; ok`},
		"a text of the response":              {selects, nil, `{"expect":{"responseContains":"\"rows\" ***"}}`, "ok"},
		"no such text":                        {selects, nil, `{"expect":{"responseContains":"sk-1"}}`, `response: "sk-1", not {"content":[{"type":"text","text":"\"rows\" ***"}],"n":1234567890123456789}; ok`},
		"the response":                        {selects, nil, `{"expect":{"response":{"n":1234567890123456789, "content":[{"text":"\"rows\" ***","type":"text"}]}}}`, "ok"},
		"a response that almost is it":        {selects, nil, `{"expect":{"response":{"n":1234567890123456788,"content":[{"text":"\"rows\" ***","type":"text"}]}}}`, `response: {"n":1234567890123456788,"content":[{"text":"\"rows\" ***","type":"text"}]}, not {"content":[{"type":"text","text":"\"rows\" ***"}],"n":1234567890123456789}; ok`},
		"a reason":                            {selects, nil, `{"call":{"params":{"name":"db__query","arguments":{"sql":"drop"}}},"expect":{"outcome":"denied","reasonContains":"SELECT"}}`, "denied"},
		"nothing is sent":                     {selects, nil, `{"call":{"params":{"name":"db__query","arguments":{"sql":"drop"}}},"expect":{"arguments":{"sql":"drop"}}}`, `arguments: {"sql":"drop"}, not null; denied`},
		"a client that it is not for":         {selects, func(d *Definition) { d.Match.Clients = []string{"!anna"} }, `{"expect":{"outcome":"unmatched","arguments":{"sql":"select 1"},"responseContains":"sk-1"}}`, "unmatched"},
		"a tool that it is not for":           {selects, func(d *Definition) { d.Match.Tools = []string{"db__write"} }, `{"expect":{"outcome":"ok"}}`, `outcome: "ok", not "unmatched"; unmatched`},
		"the server's own names":              {selects, func(d *Definition) { d.Match.Tools = []string{"pg__q"} }, `{"call":{"params":` + params + `,"server":"pg","tool":"q"},"expect":{"outcome":"ok"}}`, "ok"},
		"annotations":                         {selects, func(d *Definition) { d.Match.Annotations = map[string]bool{"readOnlyHint": true} }, `{"call":{"params":` + params + `,"annotations":{"readOnlyHint":true}},"expect":{"outcome":"ok"}}`, "ok"},
		"an expression that does not hold":    {selects, func(d *Definition) { d.Match.When = "args.sql == 'x'" }, `{"expect":{"outcome":"unmatched"}}`, "unmatched"},
		"an expression that fails":            {selects, func(d *Definition) { d.Match.When = "args.none == 'x'" }, `{"expect":{"outcome":"failed","reasonContains":"no such key"}}`, "failed"},
		"a hook that throws":                  {"start → mcp → hook → end\nhook: throw new Error('secret')", nil, `{"expect":{"outcome":"failed","reasonContains":"secret"}}`, "failed"},
		"a hook that throws and fails open":   {"start → hook → mcp → end\nhook: throw 1", func(d *Definition) { d.FailMode = open }, `{"expect":{"outcome":"passed","responseContains":"sk-1"}}`, "passed"},
		"a person is not asked":               {"start → approve → mcp → end", nil, `{"expect":{"outcome":"ok"}}`, "ok"},
		"state of a session that is not here": {"start → hook → mcp → end\nhook: state.set('n', 1); if (state.get('n') !== 1) throw 1", func(d *Definition) { d.State.Scope = scopeSession }, `{"expect":{"outcome":"ok"}}`, "ok"},
		"a list of tools":                     {"start → mcp → hook → end\nhook: context.response.tools.pop()", func(d *Definition) { d.Type, d.Match.Tools = ToolsList, []string{"db__*"} }, `{"call":{"server":"db"},"answer":{"tools":[{"name":"a"},{"name":"b"}]},"expect":{"response":{"tools":[{"name":"a"}]}}}`, "ok"},
		"a resource":                          {"start → mcp → end", func(d *Definition) { d.Type, d.Match.Servers = ResourcesRead, []string{"db"} }, `{"call":{"server":"db","params":{"uri":"a:b"}},"expect":{"outcome":"ok"}}`, "ok"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l, b, _ := newLibrary(t)
			d := flow("w", c.flow)
			if c.change != nil {
				c.change(d)
			}
			if _, err := l.Save(context.Background(), *d, 0); err != nil {
				t.Fatal(err)
			}
			test := Test{ID: "t", Call: TestCall{Params: []byte(params)}, Answer: []byte(rows)}
			if strings.Contains(c.test, `"call"`) {
				test.Call = TestCall{}
			}
			if err := json.Unmarshal([]byte(c.test), &test); err != nil {
				t.Fatal(err)
			}
			test.Call.Client = "anna"
			if err := l.SaveTest(context.Background(), "w", test); err != nil {
				t.Fatal(err)
			}
			results, err := l.RunTests(context.Background(), "w", 0)
			if err != nil || len(results) != 1 {
				t.Fatal(results, err)
			}
			got, r := "", results[0]
			for _, m := range r.Mismatches {
				got += fmt.Sprintf("%s: %s, not %s; ", m.What, m.Want, m.Got)
			}
			if got += r.Outcome; got != c.want || r.Passed != (len(r.Mismatches) == 0) {
				t.Errorf("got\n%s\nwanted\n%s\n%+v", got, c.want, r)
			}
			if len(b.server.sent) > 0 {
				t.Errorf("sent: %s", b.server.sent)
			}
		})
	}
}

func TestEnablingNeedsTestsThatPass(t *testing.T) {
	t.Parallel()
	var log testkit.Buffer
	b := newBench(t, Options{Log: slog.New(slog.NewTextHandler(&log, nil))})
	l := NewLibrary(newMemory(), b.Engine, *testEnvironment, time.Now)
	ctx := context.Background()
	save := func(script string, base int) {
		t.Helper()
		if _, err := l.Save(ctx, *flow("w", "start → hook → mcp → end\nhook: "+script), base); err != nil {
			t.Fatal(err)
		}
	}
	save("return {action: 'deny', reason: 'no.'}", 0)
	for id, name := range map[string]string{"denies": "", "test-2": "refuses"} {
		if err := l.SaveTest(ctx, "w", Test{ID: id, Name: name, Expect: Expect{Outcome: OutcomeDenied}}); err != nil {
			t.Fatal(err)
		}
	}
	if err := l.Enable(ctx, "w", 0); err != nil {
		t.Fatal(err)
	}
	save("", 1)
	wantError(t, l.Enable(ctx, "w", 0), gateway.CodeConflict, `workflow "w" cannot be enabled: version 2 fails the tests "denies", "refuses";`)
	if got := b.call("do", "{}"); !strings.Contains(got, "refused this call: no. It was not sent") {
		t.Error(got)
	}
	if log.String() != "" {
		t.Error(log.String())
	}
	if err := l.ForceEnable(ctx, "w", 0); err != nil {
		t.Fatal(err)
	}
	if got := b.call("do", "{}"); !strings.Contains(got, "done") {
		t.Error(got)
	}
	if got := log.String(); !strings.Contains(got, "enabled by force") || !strings.Contains(got, "workflow=w version=2") || !strings.Contains(got, "denies refuses") {
		t.Error(got)
	}
	// What cannot be run cannot be forced.
	broken := *flow("w", "start → mcp")
	if _, err := l.Save(ctx, broken, 2); err != nil {
		t.Fatal(err)
	}
	wantError(t, l.ForceEnable(ctx, "w", 0), gateway.CodeInvalid, "every path must reach an end")
	// A rollback that is refused stores nothing.
	_, err := l.Rollback(ctx, "w", 2)
	wantError(t, err, gateway.CodeConflict, `version 2 fails the tests "denies", "refuses"`)
	_, err = l.Rollback(ctx, "w", 3)
	wantError(t, err, gateway.CodeInvalid, "every path must reach an end")
	if s, err := l.store.Workflow(ctx, "w", 0); err != nil || s.Running != 2 || s.Version != 3 {
		t.Errorf("%+v, %v", s, err)
	}
	for _, id := range []string{"denies", "test-2"} {
		if err := l.DeleteTest(ctx, "w", id); err != nil {
			t.Fatal(err)
		}
	}
	if s, err := l.Rollback(ctx, "w", 2); err != nil || s.Running != 4 {
		t.Errorf("%+v, %v", s, err)
	}
}

func TestTestsThatAreRefused(t *testing.T) {
	t.Parallel()
	l, _, store := newLibrary(t)
	ctx := context.Background()
	wantError(t, l.SaveTest(ctx, "w", Test{ID: "t"}), gateway.CodeNotFound, `there is no workflow "w"`)
	_, err := l.RunTests(ctx, "w", 0)
	wantError(t, err, gateway.CodeNotFound, `there is no workflow "w"`)
	if _, err := l.Save(ctx, *flow("w", "start → mcp → end"), 0); err != nil {
		t.Fatal(err)
	}
	for says, test := range map[string]Test{
		"cannot be an id":                        {ID: "a/b"},
		`call.params of test "t" cannot be used`: {ID: "t", Call: TestCall{Params: []byte(`{"a":1,"a":2}`)}},
		"cannot be used:":                        {ID: "t", Call: TestCall{Params: []byte(`[]`)}},
		"must be a JSON object":                  {ID: "t", Answer: []byte(`[]`)},
		"must be a JSON object: the":             {ID: "t", Answer: []byte(`{`)},
		`expect.outcome is "good"`:               {ID: "t", Expect: Expect{Outcome: "good"}},
		"more than 4 MB together":                {ID: "t", Name: strings.Repeat("x", 5<<20)},
	} {
		wantError(t, l.SaveTest(ctx, "w", test), gateway.CodeInvalid, says)
	}
	for i := range MostTests {
		if err := store.PutTests(ctx, "w", []Test{{ID: fmt.Sprint(i)}}); err != nil {
			t.Fatal(err)
		}
	}
	wantError(t, l.SaveTest(ctx, "w", Test{ID: "more"}), gateway.CodeInvalid, "would have 201 tests")
	if err := l.SaveTest(ctx, "w", Test{ID: "7"}); err != nil {
		t.Error(err)
	}
}

// Tests beside a definition are saved with it, in one step: all of them, or nothing.
func TestTestsAreSavedWithDefinitions(t *testing.T) {
	t.Parallel()
	l, _, store := newLibrary(t)
	counted := &countedTests{Store: store}
	l.store = counted
	ctx := t.Context()
	with := func(tests ...Test) *Definition {
		d, err := flow("w", "start → mcp → end").WithTests(tests)
		if err != nil {
			t.Fatal(err)
		}
		return &d
	}
	var many []Test
	for i := range MostTests {
		many = append(many, Test{ID: fmt.Sprint(i), Call: TestCall{Params: []byte(`{"a": [1, 2]}`)}})
	}
	if _, err := l.Save(ctx, *with(many...), 0); err != nil || counted.reads != 1 || counted.writes != 1 {
		t.Fatalf("%d reads, %d writes, %v", counted.reads, counted.writes, err)
	}
	for says, tests := range map[string][]Test{
		"would have 201 tests":  {{ID: "more"}},
		"would have 202 tests":  append(many, Test{ID: "more"}, Test{ID: "another"}),
		"more than 4 MB":        {{ID: "1", Name: strings.Repeat("x", 2<<20)}, {ID: "2", Name: strings.Repeat("x", 2<<20)}},
		"cannot be an id":       {{ID: "1", Name: "new"}, {ID: "a/b"}},
		"must be a JSON object": {{ID: "1", Answer: []byte("[]")}},
	} {
		_, err := l.Save(ctx, *with(tests...), 1)
		wantError(t, err, gateway.CodeInvalid, says)
		wantError(t, l.CheckNewTests(ctx, with(tests...)), gateway.CodeInvalid, says)
		_, err = l.SaveTests(ctx, with(tests...))
		wantError(t, err, gateway.CodeInvalid, says)
	}
	if s, err := l.Workflow(ctx, "w", 0); err != nil || s.Version != 1 || counted.writes != 1 {
		t.Errorf("something was stored: %+v, %v", s, err)
	}
	// Only what differs is stored.
	if changed, err := l.SaveTests(ctx, with(Test{ID: "7", Call: TestCall{Params: []byte(`{"a":[1,2]}`)}})); err != nil || changed {
		t.Errorf("white space is a change: %v", err)
	}
	if changed, err := l.SaveTests(ctx, with(many[1], Test{ID: "7", Name: "edited"})); err != nil || !changed {
		t.Errorf("an edit is no change: %v", err)
	}
	if tests, err := l.Tests(ctx, "w"); err != nil || len(tests) != MostTests || counted.stored != MostTests+1 {
		t.Errorf("%d tests, %d were stored, %v", len(tests), counted.stored, err)
	}
}

// countedTests counts how often tests are read and written.
type countedTests struct {
	Store
	reads, writes, stored int
}

func (c *countedTests) Tests(ctx context.Context, id string) ([]Test, error) {
	c.reads++
	return c.Store.Tests(ctx, id)
}

func (c *countedTests) PutWorkflow(ctx context.Context, d *Definition, draft string, base Millis, tests ...Test) error {
	c.writes++
	c.stored += len(tests)
	return c.Store.PutWorkflow(ctx, d, draft, base, tests...)
}

func (c *countedTests) PutTests(ctx context.Context, id string, tests []Test) error {
	c.writes++
	c.stored += len(tests)
	return c.Store.PutTests(ctx, id, tests)
}

// A script that takes forever does not hold up who runs tests.
func TestTestsEnd(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, Options{Runner: runnerFunc(hangs)})
		l := NewLibrary(newMemory(), b.Engine, *testEnvironment, time.Now)
		d := flow("w", "start → hook → mcp → end\nhook: x")
		d.Limits.TotalMs = 3_600_000
		if _, err := l.Save(t.Context(), *d, 0); err != nil {
			t.Fatal(err)
		}
		if err := l.SaveTest(t.Context(), "w", Test{ID: "t"}); err != nil {
			t.Fatal(err)
		}
		_, err := l.RunTests(t.Context(), "w", 0)
		wantError(t, err, gateway.CodeTimeout, `the tests of workflow "w" took longer than 1m`)
	})
}

// What another process changes is loaded, and nothing is when other things change.
func TestChangesOfOtherProcesses(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		here, store := newBench(t, Options{}), newMemory()
		l := NewLibrary(store, here.Engine, *testEnvironment, time.Now)
		there := NewLibrary(store, newBench(t, Options{}).Engine, *testEnvironment, time.Now)
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		var sequence atomic.Int64
		go l.Watch(ctx, func(context.Context) (int64, error) { return sequence.Load(), nil })
		pass := func() *Set {
			sequence.Add(1)
			time.Sleep(2 * watchInterval)
			synctest.Wait()
			return here.Set()
		}
		if _, err := there.SaveModule(ctx, Module{ID: "m", Script: "return {action: 'deny', reason: 'one'}"}, 0); err != nil {
			t.Fatal(err)
		}
		if _, err := there.Save(ctx, *flow("w", "start → hook → mcp → end\nhook: {\"hook\":{\"module\":\"m\",\"blocking\":true}}"), 0); err != nil {
			t.Fatal(err)
		}
		if err := there.Enable(ctx, "w", 0); err != nil {
			t.Fatal(err)
		}
		pass()
		if got := here.call("do", "{}"); !strings.Contains(got, "one") {
			t.Error(got)
		}
		if set := here.Set(); pass() != set {
			t.Error("loaded again")
		}
		if _, err := there.SaveModule(ctx, Module{ID: "m", Script: "return {action: 'deny', reason: 'two'}"}, 1); err != nil {
			t.Fatal(err)
		}
		pass()
		if got := here.call("do", "{}"); !strings.Contains(got, "two") {
			t.Error(got)
		}
		if err := there.Delete(ctx, "w"); err != nil {
			t.Fatal(err)
		}
		pass()
		if got := here.call("do", "{}"); !strings.Contains(got, "done") {
			t.Error(got)
		}
	})
}

// hangs runs a script that takes forever.
func hangs(ctx context.Context, _ script.Job) (script.Result, error) {
	<-ctx.Done()
	return script.Result{}, context.Cause(ctx)
}
