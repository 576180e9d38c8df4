package storetest

import (
	"encoding/json"
	"errors"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"genkan/internal/gateway"
	"genkan/internal/workflow"
)

// RunWorkflows runs the part of the suite that is about workflows, for a store that keeps
// nothing else.
func RunWorkflows(t *testing.T, open func(t *testing.T) Stores) {
	for name, test := range workflowTests() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test(t, open(t))
		})
	}
}

func workflowTests() map[string]func(*testing.T, Stores) {
	return map[string]func(*testing.T, Stores){
		"Workflows":        testWorkflows,
		"WorkflowMissing":  testWorkflowMissing,
		"WorkflowNames":    testWorkflowNames,
		"WorkflowVersions": testWorkflowVersions,
		"WorkflowDrafts":   testWorkflowDrafts,
		"WorkflowTests":    testWorkflowTests,
		"WorkflowsAtOnce":  testWorkflowsAtOnce,
		"WorkflowSwitch":   testWorkflowSwitch,
		"HookModules":      testHookModules,
		"Libraries":        testLibraries,
	}
}

func testWorkflowSwitch(t *testing.T, s Stores) {
	for _, want := range []workflow.Switch{{}, {Off: true, By: "admin", At: 7}, {By: "名前", At: 8}} {
		if want != (workflow.Switch{}) {
			must(t, s.Workflows.PutSwitch(t.Context(), want))
		}
		for _, handle := range []Stores{s, s.Another(t)} {
			got, err := handle.Workflows.Switch(t.Context())
			must(t, err)
			wantEqual(t, got, want)
		}
	}
}

const newWorkflowAt = 2

// newWorkflow is a definition with keys that only an editor knows.
func newWorkflow(t testing.TB, id string, version int, script string) *workflow.Definition {
	t.Helper()
	quoted, err := json.Marshal(script)
	must(t, err)
	d, err := workflow.Parse([]byte(`{"name":"名前 <&>","workflowType":"tools/call","nodes":[
		{"id":"hook","type":"hook","position":{"x":1.50},"data":{"hook":{"script":` + string(quoted) + `,"big":1234567890123456789}}}],
		"edges":[{"source":"start","target":"hook","sourceHandle":"out","animated":true}],"createdAt":1,"updatedAt":` + strconv.Itoa(newWorkflowAt) + `,
		"vars":{"key":"${secret:KEY}"},"match":{"tools":["!*__x"]},"viewport":{"zoom":1e2}}`))
	must(t, err)
	d.ID, d.Version = id, version
	return d
}

func putWorkflow(t testing.TB, s Stores, d *workflow.Definition) {
	t.Helper()
	must(t, s.Workflows.PutWorkflow(t.Context(), d, "", savedBefore(d.Version)))
}

// savedBefore is when newWorkflow says that the version before was saved.
func savedBefore(version int) workflow.Millis {
	if version == 1 {
		return 0
	}
	return newWorkflowAt
}

// wantWorkflows compares what is stored with definitions and the versions that run.
func wantWorkflows(t testing.TB, s Stores, running []int, want ...*workflow.Definition) {
	t.Helper()
	all, err := s.Workflows.Workflows(t.Context())
	must(t, err)
	if len(all) != len(want) {
		t.Fatalf("%d workflows, want %d", len(all), len(want))
	}
	for i, d := range want {
		wantDefinition(t, all[i].Definition, d)
		if all[i].Running != running[i] || all[i].File != "" {
			t.Errorf("%q runs version %d, want %d", d.ID, all[i].Running, running[i])
		}
	}
}

func wantDefinition(t testing.TB, got, want *workflow.Definition) {
	t.Helper()
	a, err := got.MarshalJSON()
	must(t, err)
	b, err := want.MarshalJSON()
	must(t, err)
	wantEqual(t, string(a), string(b))
}

func testWorkflows(t *testing.T, s Stores) {
	wantWorkflows(t, s, nil)
	b, a := newWorkflow(t, "b", 1, "one"), newWorkflow(t, "a", 1, "one")
	putWorkflow(t, s, b)
	putWorkflow(t, s, a)
	wantWorkflows(t, s, []int{0, 0}, a, b)
	must(t, s.Workflows.RunWorkflow(t.Context(), "b", 1, 0))
	b2 := newWorkflow(t, "b", 2, "two")
	putWorkflow(t, s, b2)
	for _, handle := range []Stores{s, s.Another(t)} {
		wantWorkflows(t, handle, []int{0, 1}, a, b2)
		for version, want := range []*workflow.Definition{b2, b, b2} {
			got, err := handle.Workflows.Workflow(t.Context(), "b", version)
			must(t, err)
			wantDefinition(t, got.Definition, want)
			if got.Running != 1 {
				t.Errorf("version %d says that %d runs", version, got.Running)
			}
		}
	}
	must(t, s.Workflows.RunWorkflow(t.Context(), "b", 2, 0))
	must(t, s.Workflows.RunWorkflow(t.Context(), "b", 2, 0))
	wantWorkflows(t, s, []int{0, 2}, a, b2)
	must(t, s.Workflows.RunWorkflow(t.Context(), "b", 0, 0))
	wantWorkflows(t, s, []int{0, 0}, a, b2)
	wantRan(t, s, 0, 2)

	// A workflow is deleted with its versions, and one with its id begins anew.
	must(t, s.Workflows.RunWorkflow(t.Context(), "b", 2, 0))
	must(t, s.Workflows.DeleteWorkflow(t.Context(), "b"))
	wantWorkflows(t, s, []int{0}, a)
	versions, err := s.Workflows.Versions(t.Context(), "b")
	must(t, err)
	if len(versions) != 0 {
		t.Errorf("%d versions are left", len(versions))
	}
	wantCode(t, s.Workflows.PutWorkflow(t.Context(), newWorkflow(t, "b", 3, ""), "", savedBefore(3)), gateway.CodeConflict)
	putWorkflow(t, s, b)
	wantWorkflows(t, s, []int{0, 0}, a, b)
	wantRan(t, s, 0, 0)
}

// wantRan checks which version of each workflow was enabled last.
func wantRan(t *testing.T, s Stores, want ...int) {
	t.Helper()
	all, err := s.Another(t).Workflows.Workflows(t.Context())
	must(t, err)
	var got []int
	for _, one := range all {
		got = append(got, one.Ran)
	}
	wantEqual(t, got, want)
}

func testWorkflowMissing(t *testing.T, s Stores) {
	putWorkflow(t, s, newWorkflow(t, "w", 1, ""))
	w := s.Workflows
	for name, err := range map[string]error{
		"run":              w.RunWorkflow(t.Context(), "none", 0, 0),
		"run a version":    w.RunWorkflow(t.Context(), "w", 2, 0),
		"delete":           w.DeleteWorkflow(t.Context(), "none"),
		"put a test":       w.PutTests(t.Context(), "none", []workflow.Test{{ID: "t"}}),
		"delete a test":    w.DeleteTest(t.Context(), "w", "none"),
		"delete a module":  w.DeleteModule(t.Context(), "none"),
		"read":             second(w.Workflow(t.Context(), "none", 0)),
		"read a version":   second(w.Workflow(t.Context(), "w", 2)),
		"a negative one":   second(w.Workflow(t.Context(), "w", -1)),
		"another case":     second(w.Workflow(t.Context(), "W", 0)),
		"read a module":    second(w.Module(t.Context(), "none", 0)),
		"a module, by one": second(w.Module(t.Context(), "w", 1)),
	} {
		var e *gateway.Error
		if !errors.As(err, &e) || e.Code != gateway.CodeNotFound {
			t.Errorf("%s: %v", name, err)
		}
	}
	for _, version := range []int{0, 1, 3, -1} {
		wantCode(t, w.PutWorkflow(t.Context(), newWorkflow(t, "w", version, ""), "", savedBefore(version)), gateway.CodeConflict)
		wantCode(t, w.PutModule(t.Context(), workflow.Module{ID: "m", Version: version + version%2}), gateway.CodeConflict)
	}
	wantCode(t, w.PutWorkflow(t.Context(), newWorkflow(t, "new", 2, ""), "", savedBefore(2)), gateway.CodeConflict)
	wantWorkflows(t, s, []int{0}, newWorkflow(t, "w", 1, "")) // nothing is left of what was refused
	_, err := w.Workflows(canceled(t))
	wantCode(t, err, gateway.CodeCanceled)
}

func second[T any](_ T, err error) error { return err }

func testWorkflowNames(t *testing.T, s Stores) {
	names := oddNames()
	var want []*workflow.Definition
	for _, name := range names {
		d := newWorkflow(t, name, 1, name)
		putWorkflow(t, s, d)
		must(t, s.Workflows.PutTests(t.Context(), name, []workflow.Test{{ID: name, Name: name}}))
		must(t, s.Workflows.PutModule(t.Context(), workflow.Module{ID: name, Version: 1, Script: name}))
		want = append(want, d)
	}
	slices.SortFunc(want, func(a, b *workflow.Definition) int { return strings.Compare(a.ID, b.ID) })
	wantWorkflows(t, s, make([]int, len(want)), want...)
	for _, name := range names {
		tests, err := s.Workflows.Tests(t.Context(), name)
		must(t, err)
		wantEqual(t, tests, []workflow.Test{{ID: name, Name: name}})
		must(t, s.Workflows.RunWorkflow(t.Context(), name, 1, 0))
		must(t, s.Workflows.DeleteTest(t.Context(), name, name))
		must(t, s.Workflows.DeleteWorkflow(t.Context(), name))
		m, err := s.Workflows.Module(t.Context(), name, 0)
		must(t, err)
		wantEqual(t, m.Script, name)
		must(t, s.Workflows.DeleteModule(t.Context(), name))
	}
	wantWorkflows(t, s, nil)
}

func testWorkflowVersions(t *testing.T, s Stores) {
	const many = 120 // more than two digits, because 9 must not come after 10
	for version := 1; version <= many; version++ {
		putWorkflow(t, s, newWorkflow(t, "w", version, strconv.Itoa(version)))
	}
	large := newWorkflow(t, "w", many+1, strings.Repeat("日本語", 1<<15))
	putWorkflow(t, s, large)
	wantWorkflows(t, s.Another(t), []int{0}, large)
	all, err := s.Workflows.Versions(t.Context(), "w")
	must(t, err)
	for i, v := range all[1:] {
		wantDefinition(t, v.Definition, newWorkflow(t, "w", many-i, strconv.Itoa(many-i)))
	}
	if len(all) != many+1 {
		t.Errorf("%d versions", len(all))
	}
	// Each says when it was enabled last, also once another runs.
	for _, version := range []int{1, 2} {
		must(t, s.Workflows.RunWorkflow(t.Context(), "w", version, 0))
	}
	all, err = s.Another(t).Workflows.Versions(t.Context(), "w")
	must(t, err)
	for _, v := range all {
		if (v.EnabledAt != 0) != (v.Version < 3) || v.EnabledAt != 0 && time.Since(v.EnabledAt.Time()).Abs() > time.Hour {
			t.Errorf("version %d was enabled at %v", v.Version, v.EnabledAt.Time())
		}
	}
}

// testWorkflowDrafts: a step of a draft takes the place of the one before, under its number,
// unless that has been run.
func testWorkflowDrafts(t *testing.T, s Stores) {
	now := workflow.Millis(0)
	save := func(version int, draft string, base workflow.Millis) error {
		d := newWorkflow(t, "w", version, draft)
		d.UpdatedAt = now + 1
		err := s.Workflows.PutWorkflow(t.Context(), d, draft, base)
		if err == nil {
			now++
		}
		return err
	}
	step := func(version int, draft string) {
		t.Helper()
		must(t, save(version, draft, now))
		got, err := s.Another(t).Workflows.Workflow(t.Context(), "w", 0)
		must(t, err)
		wantEqual(t, got.Base(), workflow.Base{Version: version, At: now})
		wantEqual(t, got.Draft, draft)
	}
	want := func(versions ...int) {
		t.Helper()
		all, err := s.Another(t).Workflows.Versions(t.Context(), "w")
		must(t, err)
		var got []int
		for _, d := range all {
			got = append(got, d.Version)
		}
		wantEqual(t, got, versions)
	}
	step(1, "")
	step(2, "")
	step(3, "a")
	step(3, "a")
	step(3, "a")
	want(3, 2, 1)
	step(4, "b")
	step(5, "")
	step(6, "b")
	want(6, 5, 4, 3, 2, 1)

	// Another draft, none, an old version, and what somebody else has saved again stay.
	wantCode(t, save(6, "a", now), gateway.CodeConflict)
	wantCode(t, save(6, "", now), gateway.CodeConflict)
	wantCode(t, save(4, "b", now), gateway.CodeConflict)
	wantCode(t, save(8, "b", now), gateway.CodeConflict)
	wantCode(t, save(6, "b", now-1), gateway.CodeConflict)
	wantCode(t, save(7, "b", now-1), gateway.CodeConflict)
	wantCode(t, s.Workflows.RunWorkflow(t.Context(), "w", 6, now-1), gateway.CodeConflict)
	wantRan(t, s, 0)

	// A version that has been run stays, also after another is run, or none.
	must(t, s.Workflows.RunWorkflow(t.Context(), "w", 6, now))
	must(t, s.Workflows.RunWorkflow(t.Context(), "w", 0, 0))
	wantCode(t, save(6, "b", now), gateway.CodeConflict)
	step(7, "b")
	step(7, "b")
	want(7, 6, 5, 4, 3, 2, 1)

	// Drafts of another workflow are others.
	must(t, s.Workflows.PutWorkflow(t.Context(), newWorkflow(t, "v", 1, ""), "b", 0))
	step(7, "b")
	must(t, s.Workflows.DeleteWorkflow(t.Context(), "v"))
}

func testWorkflowTests(t *testing.T, s Stores) {
	one := workflow.Test{
		ID: "one", Name: "一つ", Answer: []byte(`{"content":[]}`),
		Call:   workflow.TestCall{Params: []byte(`{"arguments":{"n":1234567890123456789}}`), Server: "s", Tool: "t", Client: "c", Annotations: []byte(`{"readOnlyHint":true}`)},
		Expect: workflow.Expect{Outcome: "denied", Reason: "no", Arguments: []byte(`{}`), Contains: "x", Response: []byte(`{}`)},
	}
	two := workflow.Test{ID: "two", Call: workflow.TestCall{Params: []byte(`{}`)}}
	want := func(id string, want ...workflow.Test) {
		t.Helper()
		got, err := s.Another(t).Workflows.Tests(t.Context(), id)
		must(t, err)
		wantEqual(t, got, want)
	}
	want("w")
	putWorkflow(t, s, newWorkflow(t, "w", 1, ""))
	putWorkflow(t, s, newWorkflow(t, "v", 1, ""))
	must(t, s.Workflows.PutTests(t.Context(), "w", []workflow.Test{two, one}))
	must(t, s.Workflows.PutTests(t.Context(), "v", []workflow.Test{two}))
	want("w", one, two)
	two.Name = "changed"
	must(t, s.Workflows.PutTests(t.Context(), "w", []workflow.Test{two}))
	putWorkflow(t, s, newWorkflow(t, "w", 2, "")) // tests are those of all versions
	want("w", one, two)
	must(t, s.Workflows.DeleteTest(t.Context(), "w", "one"))
	want("w", two)
	// A version brings its tests, or none of both is stored.
	must(t, s.Workflows.PutWorkflow(t.Context(), newWorkflow(t, "w", 3, ""), "", savedBefore(3), one))
	want("w", one, two)
	three := one
	three.ID = "three"
	wantCode(t, s.Workflows.PutWorkflow(t.Context(), newWorkflow(t, "w", 3, ""), "", savedBefore(3), three), gateway.CodeConflict)
	want("w", one, two)
	must(t, s.Workflows.DeleteWorkflow(t.Context(), "w"))
	want("w")
	putWorkflow(t, s, newWorkflow(t, "w", 1, ""))
	want("w")
	must(t, s.Workflows.DeleteWorkflow(t.Context(), "w"))
	two.Name = ""
	want("v", two)
}

// testWorkflowsAtOnce: of many who make the same version, one does, and the others are
// told.
func testWorkflowsAtOnce(t *testing.T, one Stores) {
	var won, modules atomic.Int64
	count := func(n *atomic.Int64, err error) error {
		var e *gateway.Error
		if errors.As(err, &e) && e.Code == gateway.CodeConflict {
			return nil
		}
		n.Add(1)
		return err
	}
	must(t, inParallel(one, one.Another(t), func(s Stores, id int) error {
		for version := 1; version <= rounds; version++ {
			d := newWorkflow(t, "w", version, strconv.Itoa(id))
			err := errors.Join(
				count(&won, s.Workflows.PutWorkflow(t.Context(), d, "", savedBefore(version))),
				count(&modules, s.Workflows.PutModule(t.Context(), workflow.Module{ID: "m", Version: version})),
			)
			if err != nil {
				return err
			}
		}
		return nil
	}))
	all, err := one.Workflows.Versions(t.Context(), "w")
	must(t, err)
	if won.Load() != rounds || modules.Load() != rounds || len(all) != rounds {
		t.Errorf("%d and %d versions were made, %d are there, want %d", won.Load(), modules.Load(), len(all), rounds)
	}
}

// testLibraries is the port in use: of two processes that save a change of the same
// version, one does, and the other is told.
func testLibraries(t *testing.T, one Stores) {
	library := func(s Stores) *workflow.Library {
		return workflow.NewLibrary(s.Workflows, workflow.NewEngine(workflow.Options{}), workflow.Environment{}, instant)
	}
	here, there := library(one), library(one.Another(t))
	for base := range rounds {
		results := make(chan error, 2)
		for _, l := range []*workflow.Library{here, there} {
			go func() {
				_, err := l.Save(t.Context(), workflow.Definition{ID: "w"}, base)
				results <- err
			}()
		}
		a, b := <-results, <-results
		if (a == nil) == (b == nil) {
			t.Fatalf("both or none: %v, %v", a, b)
		}
		wantCode(t, errors.Join(a, b), gateway.CodeConflict)
	}
}

func testHookModules(t *testing.T, s Stores) {
	b := workflow.Module{ID: "b", Version: 1, Description: "説明", Script: "return '<&>\u2028'", UpdatedAt: 1_758_000_000_123}
	a := workflow.Module{ID: "a", Version: 1}
	b2 := b
	b2.Version, b2.Script = 2, "return 2"
	for _, m := range []workflow.Module{b, a, b2} {
		must(t, s.Workflows.PutModule(t.Context(), m))
	}
	all, err := s.Another(t).Workflows.Modules(t.Context())
	must(t, err)
	wantEqual(t, all, []workflow.Module{a, b2})
	for version, want := range []workflow.Module{b2, b, b2} {
		got, err := s.Workflows.Module(t.Context(), "b", version)
		must(t, err)
		wantEqual(t, got, want)
	}
	must(t, s.Workflows.DeleteModule(t.Context(), "b"))
	all, err = s.Workflows.Modules(t.Context())
	must(t, err)
	wantEqual(t, all, []workflow.Module{a})
	must(t, s.Workflows.PutModule(t.Context(), b))
}

// testWorkflowSequence: other processes learn of every change, and of nothing else.
func testWorkflowSequence(t *testing.T, s Stores) {
	w := s.Workflows
	ctx := t.Context()
	for i, step := range []struct {
		changes bool
		do      func() error
	}{
		{true, func() error { return w.PutWorkflow(ctx, newWorkflow(t, "w", 1, ""), "", savedBefore(1)) }},
		{false, func() error { _ = w.PutWorkflow(ctx, newWorkflow(t, "w", 1, ""), "", savedBefore(1)); return nil }},
		{true, func() error { return w.RunWorkflow(ctx, "w", 1, 0) }},
		{false, func() error { _ = w.RunWorkflow(ctx, "w", 2, 0); return nil }},
		{true, func() error { return w.PutTests(ctx, "w", []workflow.Test{{ID: "t"}}) }},
		{true, func() error { return w.DeleteTest(ctx, "w", "t") }},
		{false, func() error { _ = w.DeleteTest(ctx, "w", "t"); return nil }},
		{true, func() error { return w.PutModule(ctx, workflow.Module{ID: "m", Version: 1}) }},
		{true, func() error { return w.DeleteModule(ctx, "m") }},
		{false, func() error { return second(w.Workflows(ctx)) }},
		{true, func() error { return w.DeleteWorkflow(ctx, "w") }},
	} {
		before := sequenceOf(t, s)
		must(t, step.do())
		if after := sequenceOf(t, s); (after > before) != step.changes {
			t.Errorf("step %d moved the change sequence from %d to %d", i, before, after)
		}
	}
}
