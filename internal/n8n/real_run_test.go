package n8n_test

import (
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"

	"genkan/internal/testkit"
)

// run calls run_workflow until n8n listens, which takes it a moment after publishing.
func (l *realLab) run(t *testing.T, arguments object) (answer string) {
	t.Helper()
	testkit.Eventually(t, func() bool {
		answer = l.ask(t, "run_workflow", arguments)
		return !strings.Contains(answer, "does not listen")
	}, "n8n listens")
	return answer
}

// ran calls run_workflow, which must succeed, and checks its data.
func (l *realLab) ran(t *testing.T, arguments object, want map[string]any) object {
	t.Helper()
	data := succeeded(t, l.run(t, arguments))
	data.holds(t, want)
	return data
}

// runs runs workflows through their triggers.
func (l *realLab) runs(t *testing.T) {
	for _, one := range []struct {
		workflow, seen string
		want           map[string]any
	}{
		{"Branch and merge", "the last node's answer and the summary", map[string]any{"response.status": 200, "response.body.tag": "BIG", "execution.status": "success", "execution.statistics.executedNodes": 6}},
		{"HTTP error", "500, with the root cause", map[string]any{"response.status": 500, "execution.status": "error", "execution.error.nodeName": "HTTP Request", "execution.error.inputItem.orderId": "A-1001"}},
		{"Error output continues", "hidden errors are counted", map[string]any{"execution.status": "success", "execution.statistics.hiddenErrors": 4}},
		{"Huge 5000 items", "n8n answers at once; the end is waited for", map[string]any{"response.status": 200, "execution.status": "error", "execution.statistics.totalItemsProcessed": 15001}},
		{"Waits", "`waiting` is an end", map[string]any{"execution.status": "waiting"}},
	} {
		l.report.Fact(t, "run_workflow: "+one.workflow, func(t *testing.T) string {
			l.data(t, "run_workflow", object{"id": l.made[one.workflow].Workflow, "wait": 120}).holds(t, one.want)
			return one.seen
		})
	}
	l.report.Fact(t, "run_workflow: what has no trigger or is not published", func(t *testing.T) string {
		if text := l.ask(t, "run_workflow", object{"id": l.made["Child"].Workflow}); !strings.Contains(text, "has no webhook, form or chat trigger") {
			t.Error(text)
		}
		id := l.workflow(t, false, webhook("Hook", "genkan-e2e-run-draft", "lastNode"))
		if text := l.ask(t, "run_workflow", object{"id": id}); !strings.Contains(text, "is not active") {
			t.Error(text)
		}
		if text := l.ask(t, "run_workflow", object{"id": id, "test": true}); !strings.Contains(text, "n8n's editor") {
			t.Error(text)
		}
		return "the error says what to do"
	})
	l.triggers(t)
	l.report.Fact(t, "run_workflow: a workflow that takes longer", func(t *testing.T) string {
		const path = "genkan-e2e-run-slow"
		id := l.workflow(t, true, webhook("Hook", path, "lastNode"), object{"name": "Wait", "type": "n8n-nodes-base.wait", "typeVersion": 1.1, "webhookId": path, "parameters": object{"amount": 50, "unit": "seconds"}})
		text := l.run(t, object{"id": id, "wait": 2})
		if !strings.Contains(text, "The workflow still runs") || !strings.Contains(text, `"status":"running"`) {
			t.Error(text)
		}
		page := l.data(t, "list_executions", object{"workflowId": id})
		if page["count"] != 1. {
			t.Errorf("it ran %v times", page["count"])
		}
		l.data(t, "stop_execution", object{"id": page.at("executions.0.id")})
		return "the answer has its id, and it was not run again"
	})
	l.report.Fact(t, "run_workflow: ten callers at once", func(t *testing.T) string {
		id := l.workflow(t, true, webhook("Hook", "genkan-e2e-run-many", "lastNode"), object{
			"name": "Code", "type": "n8n-nodes-base.code", "typeVersion": 2,
			"parameters": object{"jsCode": "return [{json: {got: $input.first().json.body.n}}];"},
		})
		l.run(t, object{"id": id, "data": object{"n": -1}})
		answers := make([]object, 10)
		var group sync.WaitGroup
		for n := range answers {
			group.Go(func() { answers[n] = l.data(t, "run_workflow", object{"id": id, "data": object{"n": n}, "wait": 120}) })
		}
		group.Wait()
		seen := map[any]int{}
		for n, answer := range answers {
			answer.holds(t, map[string]any{"response.body.got": n, "otherExecutions": nil})
			seen[answer.at("execution.id")]++
			l.data(t, "get_execution_by_node", object{"id": answer.at("execution.id"), "nodeName": "Code"}).holds(t, map[string]any{"output.items.0.json.got": n})
		}
		if len(seen) != len(answers) {
			t.Errorf("executions: %v", seen)
		}
		return "each gets its own execution"
	})
}

// workflow makes a chain of nodes and returns its id.
func (l *realLab) workflow(t *testing.T, active bool, nodes ...object) (id string) {
	t.Helper()
	names := make([]string, len(nodes))
	for i, n := range nodes {
		names[i] = n["name"].(string)
	}
	made := l.data(t, "create_workflow", object{"name": "genkan-e2e " + t.Name(), "nodes": nodes, "connections": connections(names...), "active": active})
	if made["activationError"] != nil {
		t.Fatal(made)
	}
	id = made["id"].(string)
	t.Cleanup(func() { l.Delete(t, id) })
	return id
}

// triggers runs workflows through all kinds of triggers.
func (l *realLab) triggers(t *testing.T) {
	echo := object{"name": "Echo", "type": "n8n-nodes-base.code", "typeVersion": 2, "parameters": object{"jsCode": "const {headers, ...rest} = $input.first().json;\nreturn [{json: rest}];"}}
	last := func(t *testing.T, data object) object {
		t.Helper()
		return l.data(t, "get_execution_by_node", object{"id": data.at("execution.id"), "nodeName": "Echo"})
	}
	l.report.Fact(t, "run_workflow: a webhook with GET and a path with a parameter", func(t *testing.T) string {
		hook := webhook("Hook", "genkan-e2e-run/:who/greet", "lastNode")
		hook["parameters"].(object)["httpMethod"] = "GET"
		hook["webhookId"] = "8a3c0f7e-6f5d-4c5c-9d55-0c1e6f3b7a01"
		l.ran(t, object{"id": l.workflow(t, true, hook, echo), "data": object{"who": "Ann Lee", "times": 2}}, map[string]any{
			"response.status": 200, "response.body.params.who": "Ann Lee", "response.body.query.times": 2,
		})
		return "`data` is in the path and the query"
	})
	l.report.Fact(t, "run_workflow: a webhook with authentication", func(t *testing.T) string {
		var made struct{ ID string }
		l.Must(t, http.MethodPost, "/credentials", object{"name": "genkan-e2e", "type": "httpHeaderAuth", "data": object{"name": "X-Secret", "value": "open sesame"}}, &made)
		t.Cleanup(func() { l.Call(t, http.MethodDelete, "/credentials/"+made.ID, nil) })
		hook := webhook("Hook", "genkan-e2e-run-locked", "lastNode")
		hook["parameters"].(object)["authentication"] = "headerAuth"
		hook["credentials"] = object{"httpHeaderAuth": object{"id": made.ID, "name": "genkan-e2e"}}
		id := l.workflow(t, true, hook, echo)
		if text := l.ask(t, "run_workflow", object{"id": id}); !strings.Contains(text, "asks for authentication (headerAuth)") {
			t.Error(text)
		}
		if text := l.run(t, object{"id": id, "headers": object{"X-Secret": "wrong"}}); !strings.Contains(text, "refuses the authentication") {
			t.Error(text)
		}
		l.ran(t, object{"id": id, "headers": object{"X-Secret": "open sesame"}}, map[string]any{"response.status": 200, "execution.status": "success"})
		return "403 with a wrong secret, 200 with the right one"
	})
	l.report.Fact(t, "run_workflow: a form", func(t *testing.T) string {
		id := l.workflow(t, true, object{
			"name": "Form", "type": "n8n-nodes-base.formTrigger", "typeVersion": 2.2,
			"parameters": object{"formTitle": "Ask", "formFields": object{"values": []any{object{"fieldLabel": "Your name"}, object{"fieldLabel": "Age", "fieldType": "number"}}}, "options": object{}},
		}, echo)
		data := l.ran(t, object{"id": id, "data": object{"Your name": "Ann", "Age": 41}}, map[string]any{"execution.status": "success"})
		last(t, data).holds(t, map[string]any{"output.items.0.json.Your name": "Ann", "output.items.0.json.Age": 41})
		return "fields by label"
	})
	l.report.Fact(t, "run_workflow: a chat", func(t *testing.T) string {
		id := l.workflow(t, true, object{
			"name": "Chat", "type": "@n8n/n8n-nodes-langchain.chatTrigger", "typeVersion": 1.1,
			"parameters": object{"public": true, "options": object{"responseMode": "lastNode"}},
		}, echo)
		data := l.ran(t, object{"id": id, "data": object{"chatInput": "Hello"}}, map[string]any{"response.status": 200, "execution.status": "success"})
		last(t, data).holds(t, map[string]any{"output.items.0.json.chatInput": "Hello"})
		return "`chatInput`"
	})
}

// searching searches executions.
func (l *realLab) searching(t *testing.T) {
	l.report.Fact(t, "search_executions by text finds hidden errors, too", func(t *testing.T) string {
		found := l.data(t, "search_executions", object{"text": "econnrefused"})
		nodes := map[string]string{}
		for _, one := range found["executions"].([]any) {
			e := object(one.(map[string]any))
			nodes[fmt.Sprint(e["id"])] = fmt.Sprint(e["nodeName"])
		}
		for name, node := range map[string]string{"HTTP error": "HTTP Request", "Error output continues": "Call API", "Huge 5000 items": "Post VIP"} {
			if nodes[l.made[name].Execution] != node {
				t.Errorf("%s: %v", name, found)
			}
		}
		return fmt.Sprintf("%v of %v", found["count"], found["searched"])
	})
	l.report.Fact(t, "search_executions by node, workflow, status and time", func(t *testing.T) string {
		failed := l.made["Stop and Error"]
		one := l.data(t, "search_executions", object{"nodeName": "stop", "workflowId": failed.Workflow, "status": "error"})
		one.holds(t, map[string]any{"count": 1, "executions.0.id": failed.Execution, "executions.0.error": "Order total is negative", "executions.0.workflowName": "Stop and Error"})
		at := fmt.Sprint(one.at("executions.0.startedAt"))
		l.data(t, "search_executions", object{"workflowId": failed.Workflow, "after": at}).holds(t, map[string]any{"count": 1})
		l.data(t, "search_executions", object{"workflowId": failed.Workflow, "before": at}).holds(t, map[string]any{"count": 0})
		return "one"
	})
}
