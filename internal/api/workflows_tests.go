package api

import (
	"encoding/json"
	"math"
	"net/http"
	"strconv"

	"genkan/internal/api/client"
	"genkan/internal/gateway"
	"genkan/internal/workflow"
)

// testIn and testOf convert tests, whose forms differ in their types only.
func testIn(t client.WorkflowTest) workflow.Test {
	return workflow.Test{ID: t.ID, Name: t.Name, Call: workflow.TestCall(t.Call), Answer: t.Answer, Expect: workflow.Expect(t.Expect)}
}

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
	in := client.WorkflowTest{ID: body.ID, Name: body.Name, Call: client.TestedCall(body.Call), Answer: body.Answer, Expect: client.ExpectedOutcome(body.Expect)}
	_, err := a.opt.Workflows.Workflow(r.Context(), r.PathValue("id"), 0)
	if err == nil {
		err = checkID(r.PathValue("test"), in.ID)
	}
	if err == nil && len(in.Call.Params) == 0 {
		err = refused(gateway.MissingField([]string{"call"}, "params"))
	}
	if err == nil {
		in.ID = r.PathValue("test")
		err = a.opt.Workflows.SaveTest(r.Context(), r.PathValue("id"), testIn(in))
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

func (a *API) runWorkflowTests(w http.ResponseWriter, r *http.Request, _ gateway.Identity) {
	unchanged(w)
	var in client.RunTestsRequest
	if status, wrong := decodeBody(w, r, &in); wrong != nil {
		a.refuseBody(w, status, wrong)
		return
	}
	if in.Version < 0 {
		a.fail(w, refused(outside("version", strconv.Itoa(in.Version), 1, math.MaxInt32)))
		return
	}
	s, err := a.opt.Workflows.Workflow(r.Context(), r.PathValue("id"), in.Version)
	var results []workflow.TestResult
	if err == nil {
		results, err = a.opt.Workflows.RunTests(r.Context(), s.ID, s.Version)
	}
	if err != nil {
		a.fail(w, err)
		return
	}
	out := client.WorkflowTestResults{Tests: []client.WorkflowTestResult{}}
	for _, t := range results {
		out.Tests = append(out.Tests, testResultOf(t))
		if t.Passed {
			out.Passed++
		} else {
			out.Failed++
		}
	}
	encode(w, http.StatusOK, out)
}

func testResultOf(t workflow.TestResult) client.WorkflowTestResult {
	out := client.WorkflowTestResult{ID: t.ID, Name: t.Name, Passed: t.Passed, Outcome: t.Outcome, Reason: t.Reason}
	for _, m := range t.Mismatches {
		out.Mismatches = append(out.Mismatches, client.TestMismatch{What: m.What, Want: orNullValue(m.Want), Got: orNullValue(m.Got)})
	}
	if !t.Passed && t.Outcome != workflow.OutcomeUnmatched {
		trace := traceOf(t.Trace)
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
