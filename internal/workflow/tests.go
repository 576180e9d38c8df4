package workflow

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"reflect"
	"slices"
	"strings"
	"time"

	"genkan/internal/gateway"
	"genkan/internal/jsonrpc"
)

// Test is a call that is kept with a workflow, and what the workflow must make of it.
type Test struct {
	ID   string   `json:"id"`
	Name string   `json:"name,omitempty"`
	Call TestCall `json:"call"`
	// Answer is the result that the call has; without it, an empty one.
	Answer json.RawMessage `json:"answer,omitempty"`
	Expect Expect          `json:"expect"`
}

// TestCall is the call of a test.
type TestCall struct {
	// Params are those of the request, as in MCP.
	Params json.RawMessage `json:"params,omitempty"`
	// Server and Tool are the server's own names. Without them, the name in Params is
	// server__tool.
	Server string `json:"server,omitempty"`
	Tool   string `json:"tool,omitempty"`
	// Annotations are those of the tool, and Client is who calls.
	Annotations json.RawMessage `json:"annotations,omitempty"`
	Client      string          `json:"client,omitempty"`
}

// Expect says what a workflow must make of a call. What is empty is not checked.
type Expect struct {
	// Outcome is one of the outcomes of a run, or OutcomeUnmatched.
	Outcome string `json:"outcome,omitempty"`
	// Changed is whether the call or its answer is changed.
	Changed *bool `json:"changed,omitempty"`
	// Reason is a part of the reason why the call is refused.
	Reason string `json:"reasonContains,omitempty"`
	// Arguments are those that are sent to the server.
	Arguments json.RawMessage `json:"arguments,omitempty"`
	// Contains is a part of a text in the response, and Response the whole response.
	Contains string          `json:"responseContains,omitempty"`
	Response json.RawMessage `json:"response,omitempty"`
}

// Empty reports whether nothing is checked.
func (e *Expect) Empty() bool {
	return e.Outcome == "" && e.Changed == nil && e.Reason == "" && len(e.Arguments) == 0 && e.Contains == "" && len(e.Response) == 0
}

// OutcomeUnmatched is the outcome of a test whose call the workflow is not for.
const OutcomeUnmatched = "unmatched"

// TestResult is what a workflow made of the call of a test.
type TestResult struct {
	ID     string `json:"id"`
	Name   string `json:"name,omitempty"`
	Passed bool   `json:"passed"`
	// Mismatches are what the test did not expect.
	Mismatches []Mismatch `json:"mismatches,omitempty"`

	Outcome string `json:"outcome"`
	Reason  string `json:"reason,omitempty"`
	// Arguments are those that would have been sent; nil if the run did not come to that.
	Arguments json.RawMessage `json:"arguments,omitempty"`
	Response  json.RawMessage `json:"response,omitempty"`
	Trace     Trace           `json:"-"`
}

// Mismatch is a part of a result that is not as a test expects it: outcome, changed,
// reason, arguments or response.
type Mismatch struct {
	What string          `json:"what"`
	Want json.RawMessage `json:"want"`
	Got  json.RawMessage `json:"got"`
}

// MostTests is how many tests a workflow may have.
const MostTests = 200

// largestTests is how many bytes the tests of a workflow may have together, in JSON.
const (
	largestTests = 4 << 20
	testsTime    = time.Minute
)

// Tests returns the tests of a workflow.
func (l *Library) Tests(ctx context.Context, id string) ([]Test, error) {
	if _, err := l.store.Workflow(ctx, id, 0); err != nil {
		return nil, err
	}
	return l.store.Tests(ctx, id)
}

// Tests returns the tests in the definition's `tests` member. The error says why they cannot be
// kept.
func (d *Definition) Tests() (tests []Test, err error) {
	for _, m := range d.rest {
		if m.key != testsKey {
			continue
		}
		if err := json.Unmarshal(m.value, &tests); err != nil {
			return nil, gateway.Errorf(gateway.CodeInvalid, "its tests cannot be read: %s", err.Error())
		}
	}
	return tests, CheckTests(d.ID, tests)
}

// WithTests returns a definition with these tests beside it, and no others.
func (d Definition) WithTests(tests []Test) (Definition, error) {
	d.rest = slices.DeleteFunc(slices.Clone(d.rest), func(m member) bool { return m.key == testsKey })
	if len(tests) == 0 {
		return d, nil
	}
	raw, err := encode(tests)
	d.rest = append(d.rest, member{testsKey, raw})
	return d, err
}

const testsKey = "tests"

// SaveTest adds a test to a workflow, or replaces the one with its id.
func (l *Library) SaveTest(ctx context.Context, id string, t Test) error {
	_, err := l.saveTests(ctx, id, []Test{t})
	return err
}

// SaveTests is SaveTest for all tests in the definition's `tests` member. It reports whether
// one of them was added or changed. The definition itself is not saved.
func (l *Library) SaveTests(ctx context.Context, d *Definition) (changed bool, err error) {
	tests, err := d.Tests()
	if err != nil {
		return false, err
	}
	return l.saveTests(ctx, d.ID, tests)
}

func (l *Library) saveTests(ctx context.Context, id string, tests []Test) (changed bool, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if _, err := l.store.Workflow(ctx, id, 0); err != nil {
		return false, err
	}
	tests, err = l.newTests(ctx, id, tests)
	if err != nil || len(tests) == 0 {
		return false, err
	}
	if err := l.store.PutTests(ctx, id, tests); err != nil {
		return false, err
	}
	l.tell(Change{What: ChangeTested, Workflow: id})
	return true, nil
}

// CheckNewTests returns why the tests in the definition's `tests` member cannot be kept beside
// those that the workflow has.
func (l *Library) CheckNewTests(ctx context.Context, d *Definition) error {
	tests, err := d.Tests()
	if err == nil {
		_, err = l.newTests(ctx, d.ID, tests)
	}
	return err
}

// newTests returns those of the tests that a workflow does not have, or has in another form. The
// error says why it cannot have them.
func (l *Library) newTests(ctx context.Context, id string, tests []Test) (changed []Test, err error) {
	if len(tests) == 0 {
		return nil, nil
	}
	all, err := l.store.Tests(ctx, id)
	if err != nil {
		return nil, err
	}
	all = slices.Clone(all)
	for _, t := range tests {
		i := slices.IndexFunc(all, func(o Test) bool { return o.ID == t.ID })
		switch {
		case i < 0:
			all = append(all, t)
		case sameTest(all[i], t):
			continue
		default:
			all[i] = t
		}
		changed = append(changed, t)
	}
	if len(changed) == 0 {
		return nil, nil
	}
	return changed, CheckTests(id, all)
}

// CheckTests returns what keeps tests from being run, or from being kept with a workflow.
func CheckTests(id string, tests []Test) error {
	if len(tests) > MostTests {
		return gateway.Errorf(gateway.CodeInvalid, "workflow %q would have %d tests, and %d are the most that it may have; leave some out, or delete others first", gateway.Short(id), len(tests), MostTests)
	}
	size := 0
	for i := range tests {
		raw, err := tests[i].check()
		if err != nil {
			return err
		}
		size += len(raw)
	}
	if size > largestTests {
		return gateway.Errorf(gateway.CodeInvalid, "the tests of workflow %q would have more than %d MB together, which is the most that can be kept; leave some out, or delete others first", gateway.Short(id), largestTests/megabyte)
	}
	return nil
}

// check returns the test in JSON, or what is wrong with it.
func (t *Test) check() ([]byte, error) {
	raw, encoding := json.Marshal(t)
	outcomes := []string{"", OutcomeOK, OutcomeDenied, OutcomeFailed, OutcomePassed, OutcomeUnmatched}
	switch {
	case !validID(t.ID):
		return nil, wrongID(t.ID)
	case encoding != nil || len(t.Answer) > 0 && t.Answer[0] != '{':
		return nil, gateway.Errorf(gateway.CodeInvalid, "the answer of test %q must be a JSON object: the result that the server is to have returned", t.ID)
	case !slices.Contains(outcomes, t.Expect.Outcome):
		return nil, gateway.Errorf(gateway.CodeInvalid, "%s is %q and must be one of %v", "expect.outcome", gateway.Short(t.Expect.Outcome), outcomes[1:])
	}
	if _, err := t.Call.call(ToolsCall); err != nil {
		return nil, gateway.Errorf(gateway.CodeInvalid, "call.params of test %q cannot be used: %s", t.ID, err)
	}
	return raw, nil
}

// sameTest reports whether two tests say the same, whatever their white space.
func sameTest(a, b Test) bool {
	one, err := json.Marshal(a)
	other, wrong := json.Marshal(b)
	return err == nil && wrong == nil && sameJSON(one, other)
}

// DeleteTest removes a test.
func (l *Library) DeleteTest(ctx context.Context, id, test string) error {
	if err := l.store.DeleteTest(ctx, id, test); err != nil {
		return err
	}
	l.tell(Change{What: ChangeTested, Workflow: id})
	return nil
}

// RunTests runs the tests of a workflow with one of its versions; 0 is the newest.
// Nothing is sent.
func (l *Library) RunTests(ctx context.Context, id string, version int) ([]TestResult, error) {
	s, err := l.store.Workflow(ctx, id, version)
	if err != nil {
		return nil, err
	}
	tests, err := l.store.Tests(ctx, id)
	if err != nil {
		return nil, err
	}
	return l.Try(ctx, s.Definition, tests)
}

// Try runs tests with a definition, which need not be stored. Nothing is sent.
func (l *Library) Try(ctx context.Context, d *Definition, tests []Test) ([]TestResult, error) {
	if len(tests) == 0 {
		return nil, nil
	}
	id := d.ID
	w, problems := Compile(d, l.environment(ctx, Module{}))
	if len(problems) > 0 {
		return nil, Invalid(id, problems)
	}
	ctx, cancel := context.WithTimeoutCause(ctx, testsTime, gateway.Errorf(gateway.CodeTimeout, "the tests of workflow %q took longer than %s", id, testsTime))
	defer cancel()
	results := make([]TestResult, len(tests))
	for i, t := range tests {
		results[i] = l.engine.test(ctx, w, t)
		if ctx.Err() != nil {
			return nil, gateway.AsError(context.Cause(ctx))
		}
	}
	return results, nil
}

// failing returns the names of the tests that fail with a version of a workflow; the id of one
// without a name.
func (l *Library) failing(ctx context.Context, id string, version int) (names []string, err error) {
	results, err := l.RunTests(ctx, id, version)
	for _, r := range results {
		if !r.Passed {
			names = append(names, cmp.Or(r.Name, r.ID))
		}
	}
	return names, err
}

// test runs one test.
func (e *Engine) test(ctx context.Context, w *Workflow, t Test) TestResult {
	got := TestResult{ID: t.ID, Name: t.Name, Outcome: OutcomeUnmatched}
	call, err := t.Call.call(w.Type)
	if err != nil { // it was saved for a workflow of another type
		got.Outcome, got.Reason = OutcomeFailed, err.Error()
		got.compare(t.Expect)
		return got
	}
	defer call.Release()
	answer := &gateway.Result{Raw: t.Answer}
	if len(t.Answer) == 0 {
		answer.Raw = []byte(`{"` + answerPart[w.Type] + `":[]}`)
	}
	answer.IsError = string(jsonrpc.Lookup(answer.Raw, "isError")) == "true"
	r := e.newRun(ctx, w, call, &chain{})
	r.rehearsed = true
	applies := w.match.clients.match(call.Identity.ClientID)
	if w.Type == ToolsList { // such a workflow gets the tools that it matches
		applies = applies && w.match.servers.match(call.Tool.Source.Name())
	} else {
		applies = applies && w.match.tool(call.Tool)
	}
	if applies {
		applies, err = w.match.applies(ctx, r)
	}
	result := answer
	switch {
	case err != nil:
		result, err = e.outcome(r, err, func(context.Context) (*gateway.Result, error) { return answer, nil })
	case applies:
		result, err = r.replay(answer)
	}
	if applies || err != nil {
		got.Outcome, got.Trace = r.trace.Outcome, r.trace
	}
	if !applies || r.called {
		got.Arguments = bytes.Clone(r.arguments())
	}
	if result != nil {
		got.Response = result.Raw
	}
	if err != nil {
		got.Reason = err.Error()
		if e := gateway.AsError(err); e.Err != nil {
			got.Reason = e.Err.Error()
		}
	}
	got.compare(t.Expect)
	without := func(raw []byte) []byte { return []byte(w.redact(e, string(raw))) }
	got.Reason, got.Trace = w.redact(e, got.Reason), got.Trace.Redacted(without)
	for i := range got.Mismatches {
		if m := &got.Mismatches[i]; len(m.Got) > 0 {
			m.Got = without(m.Got)
		}
	}
	return got
}

// call makes the call of a test.
func (c *TestCall) call(method string) (*gateway.Call, error) {
	raw := bytes.TrimSpace(c.Params)
	if len(raw) == 0 {
		raw = []byte("{}")
	}
	params, err := jsonrpc.ScanParams(bytes.Clone(raw))
	if err != nil {
		return nil, err
	}
	kinds := map[string]gateway.Kind{PromptsGet: gateway.KindPrompt, ResourcesRead: gateway.KindResource}
	name := cmp.Or(jsonrpc.LookupText(raw, "name"), jsonrpc.LookupText(raw, "uri"))
	server, own, prefixed := strings.Cut(name, "__")
	if !prefixed {
		server, own = "", name
	}
	definition, err := encode(struct {
		Name        string          `json:"name"`
		Annotations json.RawMessage `json:"annotations,omitempty"`
	}{cmp.Or(c.Tool, own), c.Annotations})
	return &gateway.Call{
		Method: method, Params: params, Name: name, Kind: kinds[method],
		Caller: gateway.Caller{Identity: gateway.Identity{ClientID: c.Client}},
		Tool:   &gateway.Tool{Name: cmp.Or(c.Tool, own), Exposed: name, Source: testServer(cmp.Or(c.Server, server)), Definition: definition},
	}, err
}

// testServer stands for the server of a test's call. It is never called.
type testServer string

func (s testServer) Name() string                     { return string(s) }
func (s testServer) List(gateway.Kind) []gateway.Tool { return nil }

func (s testServer) Handle(context.Context, *gateway.Call) (*gateway.Result, error) {
	return nil, errSkipped
}

// compare fills in what is not as expected.
func (r *TestResult) compare(want Expect) {
	check := func(what string, expected, same bool, want, got any) {
		if expected && !same {
			m := Mismatch{What: what}
			m.Want, _ = encode(want)
			m.Got, _ = encode(got)
			r.Mismatches = append(r.Mismatches, m)
		}
	}
	check("outcome", want.Outcome != "", r.Outcome == want.Outcome, want.Outcome, r.Outcome)
	if want.Changed != nil {
		check("changed", true, r.Trace.Changed == *want.Changed, *want.Changed, r.Trace.Changed)
	}
	check("reason", want.Reason != "", strings.Contains(r.Reason, want.Reason), want.Reason, r.Reason)
	check("arguments", len(want.Arguments) > 0, sameJSON(r.Arguments, want.Arguments), want.Arguments, r.Arguments)
	check("response", want.Contains != "", contains(decode(r.Response), want.Contains), want.Contains, r.Response)
	check("response", len(want.Response) > 0, sameJSON(r.Response, want.Response), want.Response, r.Response)
	r.Passed = len(r.Mismatches) == 0
}

// sameJSON reports whether two values are the same, whatever their white space and the
// order of their keys. Numbers are the same if they are written so.
func sameJSON(a, b []byte) bool { return reflect.DeepEqual(decode(a), decode(b)) }

func decode(raw []byte) (value any) {
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	if err := d.Decode(&value); err != nil {
		return errors.New("no JSON")
	}
	return value
}

// contains reports whether one of the texts in a value has a part.
func contains(value any, part string) bool {
	switch v := value.(type) {
	case string:
		return strings.Contains(v, part)
	case []any:
		return slices.ContainsFunc(v, func(each any) bool { return contains(each, part) })
	case map[string]any:
		for _, each := range v {
			if contains(each, part) {
				return true
			}
		}
	}
	return false
}
