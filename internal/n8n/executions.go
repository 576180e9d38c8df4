package n8n

import (
	"context"
	"encoding/json"
	"slices"
	"sync"

	"genkan/internal/gateway"
)

// usualExecutions and maxExecutions are how many executions a list has.
const usualExecutions, maxExecutions = 20, 100

// deletedName stands for the name of a workflow that does not exist any more. It is part
// of the protocol.
const deletedName = "Deleted Workflow"

type executionAnswer struct {
	ID            string  `json:"id"`
	WorkflowID    string  `json:"workflowId"`
	WorkflowName  string  `json:"workflowName,omitempty"`
	Status        string  `json:"status"`
	StartedAt     *string `json:"startedAt,omitempty"`
	StoppedAt     *string `json:"stoppedAt,omitempty"`
	ExecutionTime *int64  `json:"executionTime,omitempty"` // milliseconds
	WaitTill      *string `json:"waitTill,omitempty"`
}

func listExecutions(ctx context.Context, s *Source, _ *gateway.Call, in *arguments) (answer, error) {
	q := in.executionQuery()
	q.limit = in.number("limit", usualExecutions, 1, maxExecutions)
	whole := in.flag("raw")
	if in.err != nil {
		return answer{}, in.err
	}
	found, next, err := s.executions(ctx, q)
	if err != nil {
		return answer{}, err
	}
	named := s.workflowNames(ctx, found)
	out := struct {
		Count      int    `json:"count"`
		Executions []any  `json:"executions"`
		NextCursor string `json:"nextCursor,omitempty"`
	}{len(found), []any{}, next}
	for i := range found {
		e := &found[i]
		if whole {
			var fields map[string]json.RawMessage
			if json.Unmarshal(e.raw, &fields) == nil {
				fields["workflowName"] = mustEncode(named[e.WorkflowID])
				out.Executions = append(out.Executions, fields)
			}
			continue
		}
		one := executionAnswer{
			ID: e.ID, WorkflowID: e.WorkflowID, WorkflowName: named[e.WorkflowID], Status: e.Status,
			StartedAt: e.StartedAt, StoppedAt: e.StoppedAt, WaitTill: e.WaitTill,
		}
		start, began := timeOf(e.StartedAt)
		if stop, ended := timeOf(e.StoppedAt); began && ended {
			one.ExecutionTime = new(stop.Sub(start).Milliseconds())
		}
		out.Executions = append(out.Executions, one)
	}
	message := gateway.Textf("Found %d executions", len(found))
	if len(found) == 1 {
		message = say("Found 1 execution")
	}
	return answer{message: message, data: out}, nil
}

// executions returns a page of executions, newest first. n8n lists running ones only on
// request, so the first page without a status has them, too.
func (s *Source) executions(ctx context.Context, q executionQuery) ([]execution, string, error) {
	var running []execution
	if q.status == "" && q.cursor == "" && q.limit > 1 {
		live := q
		live.status, live.limit = "running", q.limit-1
		var err error
		if running, _, err = s.client.listExecutions(ctx, live); err != nil {
			return nil, "", err
		}
		q.limit -= len(running)
	}
	found, next, err := s.client.listExecutions(ctx, q)
	if err != nil {
		return nil, "", err
	}
	for _, one := range running {
		if !slices.ContainsFunc(found, func(e execution) bool { return e.ID == one.ID }) {
			found = append(found, one)
		}
	}
	slices.SortStableFunc(found, func(a, b execution) int { return compareIDs(b.ID, a.ID) })
	return found, next, nil
}

// lookups is how many names are asked for at once, and manyNames from how many on the
// list of workflows is read instead.
const lookups, manyNames = 4, 4

// workflowNames returns the names of the workflows of executions, by id. A name that
// cannot be found out is missing.
func (s *Source) workflowNames(ctx context.Context, found []execution) map[string]string {
	named := map[string]string{}
	var unknown []string
	learn := func() {
		unknown = nil
		for i := range found {
			id := found[i].WorkflowID
			if name, ok := s.names.get(id); ok {
				named[id] = name
			} else if id != "" && !slices.Contains(unknown, id) {
				unknown = append(unknown, id)
			}
		}
	}
	if learn(); len(unknown) >= manyNames {
		if all, _, err := s.client.listWorkflows(ctx, listQuery{archived: true, limit: maxPage}); err == nil {
			for i := range all {
				s.names.put(all[i].ID, all[i].Name)
			}
		}
		learn()
	}
	var group sync.WaitGroup
	turns := make(chan struct{}, lookups)
	for _, id := range unknown {
		group.Go(func() {
			turns <- struct{}{}
			defer func() { <-turns }()
			w, err := s.client.getWorkflow(ctx, id, "get workflow")
			if err == nil {
				s.names.put(id, w.name())
			} else if own, ok := err.(*Error); ok && own.Name == nameNotFound { //nolint:errorlint // the client returns it unwrapped
				s.names.put(id, deletedName)
			}
		})
	}
	group.Wait()
	learn()
	return named
}

func (a *arguments) position(key string) *int {
	const most = 1 << 30
	if !a.has(key) {
		return nil
	}
	return new(a.number(key, 0, 0, most))
}

func executionQueryOf(s *Source, call *gateway.Call, in *arguments) ExecutionQuery {
	q := ExecutionQuery{
		ID: in.execution(), NodeName: in.text("nodeName"), NodeOffset: in.position("nodeOffset"),
		RunIndex: in.position("runIndex"), OutputIndex: in.position("outputIndex"),
		OutputType: in.text("outputType"), ItemOffset: in.position("itemOffset"), Raw: in.flag("raw"), Translate: s.Translate, Caller: call.Caller,
	}
	if in.has("itemLimit") {
		q.ItemLimit = new(in.number("itemLimit", 1, 1, 50))
	}
	return q
}

func getExecution(ctx context.Context, s *Source, call *gateway.Call, in *arguments) (answer, error) {
	q := executionQueryOf(s, call, in)
	if in.err != nil {
		return answer{}, in.err
	}
	got, err := s.Executions.Summary(ctx, s.client, q)
	message := say("Execution summary read")
	if got.Message.Format != "" {
		message = got.Message
	}
	return answer{message: message, data: got.Data}, err
}

func getExecutionByNode(ctx context.Context, s *Source, call *gateway.Call, in *arguments) (answer, error) {
	q := executionQueryOf(s, call, in)
	if in.err != nil {
		return answer{}, in.err
	}
	got, err := s.Executions.Node(ctx, s.client, q)
	message := gateway.Textf("Execution details of node '%s' read", q.NodeName)
	if got.Message.Format != "" {
		message = got.Message
	}
	return answer{message: message, data: got.Data}, err
}

func retryExecution(ctx context.Context, s *Source, _ *gateway.Call, in *arguments) (answer, error) {
	id, load, whole := in.execution(), in.flag("loadWorkflow"), in.flag("raw")
	if in.err != nil {
		return answer{}, in.err
	}
	e, err := s.client.runExecution(ctx, id, "retry", map[string]bool{"loadWorkflow": load})
	if err != nil {
		return answer{}, err
	}
	return executionDone(say("Execution retried"), e, whole, map[string]any{"id": e.ID, "retryOf": id, "status": e.Status})
}

func stopExecution(ctx context.Context, s *Source, _ *gateway.Call, in *arguments) (answer, error) {
	id, whole := in.execution(), in.flag("raw")
	if in.err != nil {
		return answer{}, in.err
	}
	e, err := s.client.runExecution(ctx, id, "stop", nil)
	if err != nil {
		return answer{}, err
	}
	return executionDone(say("Execution stopped"), e, whole, map[string]any{"id": id, "status": e.Status})
}

func executionDone(message gateway.Text, e execution, whole bool, data map[string]any) (answer, error) {
	if whole {
		fields := map[string]json.RawMessage{}
		_ = json.Unmarshal(e.raw, &fields) // it was decoded before
		// get_execution shows the data without its secrets.
		delete(fields, "data")
		delete(fields, "workflowData")
		return answer{message: message, data: fields}, nil
	}
	return answer{message: message, data: data}, nil
}
