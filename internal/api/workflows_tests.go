package api

import (
	"bytes"
	"encoding/json"
	"net/http"
	"regexp"

	"genkan/internal/api/client"
	"genkan/internal/gateway"
	"genkan/internal/workflow"
)

// newTest returns a test that a request has.
func (a *API) newTest(r *http.Request, id gateway.Identity, t client.NewWorkflowTest) (workflow.Test, error) {
	out := workflow.Test{ID: t.ID, Name: t.Name, Call: workflow.TestCall(t.Call), Answer: t.Answer, Expect: workflow.Expect(t.Expect)}
	switch {
	case t.From == "" && len(t.Call.Params) == 0:
		return out, refused(gateway.MissingField([]string{"call"}, "params"))
	case t.From == "":
		return out, nil
	case len(t.Call.Params) > 0 || len(t.Answer) > 0:
		return out, invalid("give either from, or call and answer")
	}
	redactor, err := a.opt.Calls.Redactor(r.Context())
	if err != nil {
		return out, err
	}
	redact := redacted(redactor)
	recorded, err := a.opt.Calls.Recorded(r.Context(), id, t.From)
	if err != nil {
		return out, err
	}
	if !recorded.Whole() {
		return out, notReplayable(&recorded)
	}
	past, err := a.pastOf(&recorded)
	if err != nil {
		return out, err
	}
	tool := past.Call.Tool
	// Tests are kept in the clear, and shown.
	out.Call = workflow.TestCall{
		Params: redact(recorded.Params), Server: tool.Source.Name(), Tool: tool.Name, Annotations: workflow.Annotations(tool), Client: recorded.Caller,
	}
	out.Answer = redact(recorded.Answered)
	return out, nil
}

// varies matches definitions that may make something else each time, or of secrets. What is in
// the script of a module is not known.
var varies = regexp.MustCompile(`\$\{secret:|"module"|\bDate\b|\brandom\b|\bstate\.`)

// expected is what a version of a workflow makes of a test now. The arguments and the answer
// are kept if they are the same each time and have no secrets.
func (a *API) expected(r *http.Request, s workflow.Stored, t workflow.Test) (workflow.Expect, error) {
	redactor, err := a.opt.Calls.Redactor(r.Context())
	if err != nil {
		return workflow.Expect{}, err
	}
	done, err := a.opt.Workflows.Try(r.Context(), s.Definition, []workflow.Test{t, t})
	if err != nil {
		return workflow.Expect{}, err
	}
	one, again := done[0], done[1]
	expect := workflow.Expect{Outcome: one.Outcome, Changed: &one.Trace.Changed}
	definition, err := json.Marshal(s.Definition)
	if err != nil || one.Outcome != workflow.OutcomeOK || !one.Trace.Changed || varies.Match(definition) {
		return expect, err
	}
	keep := func(first, second json.RawMessage) json.RawMessage {
		if _, found := redactor(first); len(found) > 0 || !bytes.Equal(first, second) {
			return nil
		}
		return first
	}
	expect.Arguments, expect.Response = keep(one.Arguments, again.Arguments), keep(one.Response, again.Response)
	return expect, nil
}

// testOf returns a test in REST's form.
func testOf(t workflow.Test) client.WorkflowTest {
	return client.WorkflowTest{ID: t.ID, Name: t.Name, Call: client.TestedCall(t.Call), Answer: t.Answer, Expect: client.ExpectedOutcome(t.Expect)}
}

func (a *API) listWorkflowTests(w http.ResponseWriter, r *http.Request, _ gateway.Identity) {
	id := r.PathValue("id")
	_, err := a.opt.Workflows.Workflow(r.Context(), id, 0)
	var all []workflow.Test
	if err == nil {
		all, err = a.opt.Workflows.Tests(r.Context(), id)
	}
	if err != nil {
		a.fail(w, err)
		return
	}
	out := client.WorkflowTests{Tests: []client.WorkflowTest{}}
	for _, t := range all {
		out.Tests = append(out.Tests, testOf(t))
	}
	encode(w, http.StatusOK, out)
}

func (a *API) putWorkflowTest(w http.ResponseWriter, r *http.Request, id gateway.Identity) {
	var body client.NewWorkflowTest
	if status, wrong := decodeBody(w, r, &body); wrong != nil {
		a.refuseBody(w, status, wrong)
		return
	}
	s, err := a.opt.Workflows.Workflow(r.Context(), r.PathValue("id"), 0)
	if err == nil {
		err = checkID(r.PathValue("test"), body.ID)
	}
	body.ID = r.PathValue("test")
	var in workflow.Test
	if err == nil {
		in, err = a.newTest(r, id, body)
	}
	if err == nil && body.From != "" && in.Expect.Empty() {
		in.Expect, err = a.expected(r, s, in)
	}
	if err == nil {
		err = a.opt.Workflows.SaveTest(r.Context(), s.ID, in)
	}
	if err != nil {
		a.fail(w, err)
		return
	}
	a.listWorkflowTests(w, r, id)
}

func (a *API) deleteWorkflowTest(w http.ResponseWriter, r *http.Request, _ gateway.Identity) {
	_, err := a.opt.Workflows.Workflow(r.Context(), r.PathValue("id"), 0)
	if err == nil {
		err = a.opt.Workflows.DeleteTest(r.Context(), r.PathValue("id"), r.PathValue("test"))
	}
	if err != nil {
		a.fail(w, err)
		return
	}
	encode(w, http.StatusOK, client.Done{Success: true})
}

func (a *API) runWorkflowTests(w http.ResponseWriter, r *http.Request, id gateway.Identity) {
	unchanged(w)
	var in client.RunTestsRequest
	if status, wrong := decodeBody(w, r, &in); wrong != nil {
		a.refuseBody(w, status, wrong)
		return
	}
	results, err := a.runTests(r, id, in)
	var redactor func([]byte) ([]byte, []string)
	if err == nil {
		redactor, err = a.opt.Calls.Redactor(r.Context())
	}
	if err != nil {
		a.fail(w, err)
		return
	}
	out := client.WorkflowTestResults{Tests: []client.WorkflowTestResult{}}
	for _, t := range results {
		out.Tests = append(out.Tests, a.testResultOf(t, redacted(redactor)))
		if t.Passed {
			out.Passed++
		} else {
			out.Failed++
		}
	}
	encode(w, http.StatusOK, out)
}

// runTests runs tests of a workflow.
func (a *API) runTests(r *http.Request, id gateway.Identity, in client.RunTestsRequest) ([]workflow.TestResult, error) {
	path := r.PathValue("id")
	d, err := a.definitionOf(r.Context(), path, in.Definition, in.Version)
	if err != nil {
		return nil, err
	}
	var tests []workflow.Test
	if len(in.Tests) > workflow.MostTests {
		return nil, invalid("tests may have %d at most", workflow.MostTests)
	}
	for _, t := range in.Tests {
		one, err := a.newTest(r, id, t)
		if err != nil {
			return nil, err
		}
		tests = append(tests, one)
	}
	if err := workflow.CheckTests(path, tests); err != nil {
		return nil, err
	}
	if len(in.Tests) == 0 {
		if tests, err = a.opt.Workflows.Tests(r.Context(), path); err != nil && (len(in.Definition) == 0 || !isNotFound(err)) {
			return nil, err
		}
	}
	return a.opt.Workflows.Try(r.Context(), d, tests)
}

// testResultOf returns a result in REST's form, without secrets.
func (a *API) testResultOf(t workflow.TestResult, redact func([]byte) []byte) client.WorkflowTestResult {
	out := client.WorkflowTestResult{ID: t.ID, Name: t.Name, Passed: t.Passed, Outcome: t.Outcome, Reason: a.language().Kept(string(redact([]byte(t.Reason))))}
	for _, m := range t.Mismatches {
		out.Mismatches = append(out.Mismatches, client.TestMismatch{What: m.What, Want: redact(orNullValue(m.Want)), Got: redact(orNullValue(m.Got))})
	}
	if !t.Passed && t.Outcome != workflow.OutcomeUnmatched {
		trace := a.traceOf(t.Trace.Redacted(redact))
		out.Trace = &trace
	}
	return out
}

// orNullValue makes a value that is not there null.
func orNullValue(raw json.RawMessage) json.RawMessage {
	if len(raw) == 0 {
		return json.RawMessage("null")
	}
	return raw
}
