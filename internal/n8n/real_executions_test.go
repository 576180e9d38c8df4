package n8n_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"genkan/internal/gateway"
	"genkan/internal/n8n"
	"genkan/internal/testkit"
	n8nreal "genkan/internal/testkit/n8n"
)

// realLab is a real n8n with workflows and executions, and the tools for it.
type realLab struct {
	*n8nreal.Instance
	made   map[string]n8nreal.Prepared
	source *n8n.Source
	report n8nreal.Report
}

func newRealLab(t *testing.T, i *n8nreal.Instance) *realLab {
	return &realLab{Instance: i, made: i.Prepare(t), source: realSource(t, i.URL, i.APIKey)}
}

// realSource is the source as it is set up for users.
func realSource(t *testing.T, url, key string) *n8n.Source {
	t.Helper()
	client, err := n8n.NewClient(n8n.Options{URL: url, Key: gateway.Secret(key)})
	if err != nil {
		t.Fatal(err)
	}
	reader := &n8n.Reader{Dir: t.TempDir()}
	t.Cleanup(func() {
		reader.Close()
		client.Close()
	})
	return n8n.New(client, n8n.Setup{Executions: reader})
}

// object is a part of an answer.
type object map[string]any

func (l *realLab) ask(t *testing.T, tool string, arguments object) string {
	t.Helper()
	return ask(t, l.source, "", tool, arguments)
}

// data calls a tool, which must succeed, and returns the data of its answer.
func (l *realLab) data(t *testing.T, tool string, arguments object) object {
	t.Helper()
	return succeeded(t, l.ask(t, tool, arguments))
}

// succeeded returns the data of an answer that is no error.
func succeeded(t *testing.T, text string) object {
	t.Helper()
	var answer struct {
		Success bool
		Data    object
	}
	if err := json.Unmarshal([]byte(text), &answer); err != nil || !answer.Success {
		t.Fatal(text)
	}
	return answer.Data
}

// at returns what is at a path such as "output.items.0.json".
func (o object) at(path string) any {
	var v any = map[string]any(o)
	for step := range strings.SplitSeq(path, ".") {
		switch in := v.(type) {
		case map[string]any:
			v = in[step]
		case []any:
			i := 0
			if _, err := fmt.Sscan(step, &i); err != nil || i >= len(in) {
				return nil
			}
			v = in[i]
		default:
			return nil
		}
	}
	return v
}

// holds checks values by their paths, as text.
func (o object) holds(t *testing.T, want map[string]any) {
	t.Helper()
	for path, value := range want {
		if got := o.at(path); fmt.Sprint(got) != fmt.Sprint(value) {
			raw, _ := json.Marshal(o)
			t.Errorf("%s is %v, not %v: %.2000s", path, got, value, raw)
		}
	}
}

// reads reads what there is, on anybody's instance.
func (l *realLab) reads(t *testing.T) {
	for _, one := range l.data(t, "list_workflows", object{"limit": 5})["workflows"].([]any) {
		id := one.(map[string]any)["id"]
		l.data(t, "get_workflow", object{"id": id})
		l.data(t, "get_workflow", object{"id": id, "raw": true})
		l.data(t, "get_workflow_connections", object{"id": id})
		l.data(t, "validate_workflow", object{"id": id})
	}
	for _, one := range l.data(t, "list_executions", object{"limit": 5})["executions"].([]any) {
		id := one.(map[string]any)["id"]
		text := l.ask(t, "get_execution", object{"id": id})
		if n := o200k(t, text); n > 1000 {
			t.Errorf("the summary of execution %v has %d tokens", id, n)
		}
		if nodes, _ := succeeded(t, text)["availableNodes"].([]any); len(nodes) > 0 {
			l.data(t, "get_execution_by_node", object{"id": id, "nodeName": nodes[0].(map[string]any)["nodeName"]})
		}
	}
}

// executions reads what the workflows did.
func (l *realLab) executions(t *testing.T) {
	for _, one := range []struct {
		what, workflow, seen string
		summary              map[string]any
		node                 string
		details              map[string]any
		more                 object
	}{
		{
			what: "branches", workflow: "Branch and merge", node: "Is big", seen: "both outputs are counted",
			summary: map[string]any{"status": "success", "statistics.totalNodes": 7, "statistics.executedNodes": 6, "statistics.totalItemsProcessed": 25},
			details: map[string]any{"outputs.0.total": 2, "outputs.1.total": 4, "output.total": 4, "output.items.0.json.kind": "small"}, more: object{"outputIndex": 1},
		},
		{
			what: "merge", workflow: "Branch and merge", node: "Join", seen: "both inputs are named",
			details: map[string]any{"inputs.0.nodeName": "Tag big", "inputs.1.nodeName": "Tag small", "output.total": 6, "output.items.5.json.tag": "small"},
		},
		{
			what: "a node that never ran", workflow: "Branch and merge", node: "Never reached", seen: "`notExecuted`, with the nodes that did",
			details: map[string]any{"status": "notExecuted", "runs": 0, "executedNodes.0": "Webhook"},
		},
		{
			what: "error", workflow: "HTTP error", node: "HTTP Request", seen: "message, cause and the item that failed",
			summary: map[string]any{"status": "error", "error.nodeName": "HTTP Request", "error.cause": "connect ECONNREFUSED 127.0.0.1:9", "error.inputItem.orderId": "A-1001", "statistics.failedNodes": 1},
			details: map[string]any{"status": "error", "error.httpCode": "ECONNREFUSED", "input.items.0.json.orderId": "A-1001", "output.total": 0},
		},
		{
			what: "an exception", workflow: "Code throws", node: "Bad code", seen: "the line of the code",
			summary: map[string]any{"error.nodeName": "Bad code", "error.lineNumber": 1},
			details: map[string]any{"error.message": "Cannot read properties of undefined (reading 'deep') [line 1]"},
		},
		{
			what: "an error of the workflow's own", workflow: "Stop and Error", node: "Stop", seen: "its text",
			summary: map[string]any{"error.message": "Order total is negative"},
			details: map[string]any{"error.message": "Order total is negative"},
		},
		{
			what: "hidden error", workflow: "Error output continues", node: "Call API", seen: "4 in a `success`, and the guidance leads to them",
			summary: map[string]any{"status": "success", "statistics.hiddenErrors": 4, "hiddenErrors.0.nodeName": "Call API", "hiddenErrors.0.count": 3, "hiddenErrors.1.message": "boom regular [line 1]"},
			details: map[string]any{"hiddenErrors": 3, "output.items.0.json.error.message": "connect ECONNREFUSED 127.0.0.1:9"},
		},
		{
			what: "loop", workflow: "Loop over items", node: "Work", seen: "4 runs, each can be read",
			summary: map[string]any{"availableNodes.2.runs": 5, "availableNodes.3.runs": 4, "availableNodes.3.items": 7},
			details: map[string]any{"runIndex": 1, "runs": 4, "input.from.runIndex": 1, "output.items.0.json.sq": 4}, more: object{"runIndex": 1},
		},
		{
			what: "binary", workflow: "Binary output", node: "To CSV", seen: "metadata without bytes or ids",
			summary: map[string]any{"status": "success"},
			details: map[string]any{"output.items.0.binary.data.fileName": "rows.csv", "output.items.0.binary.data.bytes": 14, "output.items.0.binary.data.id": nil, "output.items.0.binary.data.data": nil},
		},
		{
			what: "sub-workflow", workflow: "Parent calls child", node: "Call child", seen: "its execution is named, and the guidance leads to it",
			summary: map[string]any{"status": "success"},
			details: map[string]any{"subExecution.executionId": l.made["Child"].Execution, "_guidance.example": "get_execution(id: '" + l.made["Child"].Execution + "')"},
		},
		{
			what: "the sub-workflow itself", workflow: "Child", node: "Child code", seen: "read like any other",
			summary: map[string]any{"workflowName": "Child", "statistics.totalItemsProcessed": 4},
			details: map[string]any{"output.items.1.json.child": true},
		},
		{
			what: "wait", workflow: "Waits", node: "Wait", seen: "`waiting`, with `waitTill`",
			summary: map[string]any{"status": "waiting", "statistics.executedNodes": 2},
			details: map[string]any{"status": "waiting"},
		},
		{
			what: "5,000 items", workflow: "Huge 5000 items", node: "Add flag", seen: "15,001 items, the last is read by its offset",
			summary: map[string]any{"status": "error", "statistics.totalItemsProcessed": 15001, "error.nodeName": "Post VIP", "error.inputItem.customer": "Customer 0"},
			details: map[string]any{"output.total": 5000, "output.items.0.json.id": 4999, "output.nextItemOffset": nil}, more: object{"itemOffset": 4999},
		},
	} {
		l.report.Fact(t, "execution: "+one.what, func(t *testing.T) string {
			id := l.made[one.workflow].Execution
			l.data(t, "get_execution", object{"id": id}).holds(t, one.summary)
			arguments := object{"id": id, "nodeName": one.node}
			for key, value := range one.more {
				arguments[key] = value
			}
			l.data(t, "get_execution_by_node", arguments).holds(t, one.details)
			return one.seen
		})
	}
	l.report.Fact(t, "executions never show stacks, resume tokens or what n8n runs next", func(t *testing.T) string {
		for name, ids := range l.made {
			if ids.Execution == "" || name == "Huge 5000 items" {
				continue
			}
			_, n8ns := l.Call(t, http.MethodGet, "/executions/"+ids.Execution+"?includeData=true", nil)
			whole := l.ask(t, "get_execution", object{"id": ids.Execution, "raw": true})
			for _, secret := range []string{`"stack"`, `"resumeToken"`, `"nodeExecutionStack"`} {
				if strings.Contains(whole, secret) {
					t.Errorf("%s has %s", name, secret)
				}
			}
			if !strings.Contains(string(n8ns), `"resumeToken"`) {
				t.Errorf("n8n no longer answers with a resumeToken")
			}
		}
		return "neither with `raw`"
	})
	l.report.Fact(t, "a node's name in another case", func(t *testing.T) string {
		text := l.ask(t, "get_execution_by_node", object{"id": l.made["HTTP error"].Execution, "nodeName": "http request"})
		if !strings.Contains(text, "Did you mean 'HTTP Request'?") {
			t.Error(text)
		}
		return "the right one is suggested"
	})
}

// listing lists executions and workflows page by page.
func (l *realLab) listing(t *testing.T) {
	l.report.Fact(t, "list_executions reaches every execution once, with its workflow's name", func(t *testing.T) string {
		seen := map[string]string{}
		next := object{"limit": 4}
		for {
			page := l.data(t, "list_executions", next)
			for _, one := range page["executions"].([]any) {
				e := object(one.(map[string]any))
				id := fmt.Sprint(e["id"])
				if seen[id] != "" {
					t.Errorf("%s is listed twice", id)
				}
				seen[id] = fmt.Sprint(e["workflowName"])
			}
			if page["nextCursor"] == nil {
				break
			}
			next = object{"limit": 4, "cursor": page["nextCursor"]}
		}
		for name, ids := range l.made {
			if ids.Execution != "" && seen[ids.Execution] != name {
				t.Errorf("execution %s is of %q, not of %q", ids.Execution, seen[ids.Execution], name)
			}
		}
		return "pages of 4"
	})
	l.report.Fact(t, "list_executions by status and workflow", func(t *testing.T) string {
		for _, one := range []object{{"status": "waiting"}, {"workflowId": l.made["Waits"].Workflow}} {
			l.data(t, "list_executions", one).holds(t, map[string]any{"executions.0.id": l.made["Waits"].Execution, "executions.0.status": "waiting"})
		}
		return "`waiting`"
	})
	l.report.Fact(t, "list_workflows reaches every workflow once", func(t *testing.T) string {
		seen := map[string]int{}
		for offset := any(0); offset != nil; {
			page := l.data(t, "list_workflows", object{"limit": 5, "offset": offset})
			for _, one := range page["workflows"].([]any) {
				seen[fmt.Sprint(one.(map[string]any)["id"])]++
			}
			offset = page["nextOffset"]
		}
		for name, ids := range l.made {
			if seen[ids.Workflow] != 1 {
				t.Errorf("%s is listed %d times", name, seen[ids.Workflow])
			}
		}
		return "pages of 5"
	})
}

// running starts, lists and stops an execution, and retries others.
func (l *realLab) running(t *testing.T) {
	const path = "genkan-e2e-tools-running"
	id := l.data(t, "create_workflow", object{
		"name": "genkan-e2e runs", "active": true,
		"nodes": []any{
			webhook("Hook", path, "onReceived"),
			object{"name": "Wait", "type": "n8n-nodes-base.wait", "typeVersion": 1.1, "webhookId": path, "parameters": object{"amount": 50, "unit": "seconds"}},
		},
		"connections": connections("Hook", "Wait"),
	})["id"].(string)
	t.Cleanup(func() { l.Delete(t, id) })
	l.Webhook(t, path)
	var ran string
	l.report.Fact(t, "list_executions has the running one first", func(t *testing.T) string {
		testkit.Eventually(t, func() bool {
			page := l.data(t, "list_executions", object{"limit": 2})
			ran = fmt.Sprint(page.at("executions.0.id"))
			return page.at("executions.0.status") == "running" && page.at("executions.0.workflowName") == "genkan-e2e runs"
		}, "it is listed")
		l.data(t, "get_execution", object{"id": ran}).holds(t, map[string]any{"status": "running"})
		return "`running`"
	})
	l.report.Fact(t, "stop_execution", func(t *testing.T) string {
		l.data(t, "stop_execution", object{"id": ran}).holds(t, map[string]any{"id": ran, "status": "canceled"})
		// A running execution is not kept, so the summary is new.
		testkit.Eventually(t, func() bool { return l.data(t, "get_execution", object{"id": ran})["status"] == "canceled" }, "it is canceled")
		again := l.ask(t, "stop_execution", object{"id": ran})
		if !strings.Contains(again, `"statusCode":409`) || !strings.Contains(again, "is currently canceled") {
			t.Error(again)
		}
		return "`canceled`; a second time 409"
	})
	l.report.Fact(t, "retry_execution", func(t *testing.T) string {
		failed := l.made["HTTP error"].Execution
		again := l.data(t, "retry_execution", object{"id": failed})
		again.holds(t, map[string]any{"retryOf": failed, "status": "error"})
		l.data(t, "get_execution", object{"id": again["id"]}).holds(t, map[string]any{"error.inputItem.orderId": "A-1001"})
		if text := l.ask(t, "retry_execution", object{"id": l.made["Branch and merge"].Execution}); !strings.Contains(text, `"statusCode":409`) {
			t.Error(text)
		}
		return "the retry is read like any other; a success cannot be retried (409)"
	})
}

// scopes checks that the scope that a refusal names is one of n8n's, and enough.
func (l *realLab) scopes(t *testing.T) {
	l.report.Fact(t, "a key that lacks a scope: the error names it, and with it the call succeeds", func(t *testing.T) string {
		if !l.Own() {
			t.Skip("only an owner makes keys")
		}
		id := l.data(t, "create_workflow", object{"name": "Scopes", "nodes": []any{webhook("Hook", "genkan-e2e-scopes", "onReceived")}, "connections": object{}})["id"].(string)
		var needed []string
		for _, one := range []struct {
			tool      string
			arguments object
		}{
			{"list_workflows", nil},
			{"get_workflow", object{"id": id}},
			{"update_workflow", object{"id": id, "name": "Scopes 2", "tags": []string{"genkan-e2e-scopes"}}},
			{"activate_workflow", object{"id": id}},
			{"deactivate_workflow", object{"id": id}},
			{"delete_workflow", object{"id": id}},
			{"create_workflow", object{"name": "Scopes 3", "nodes": []any{}, "connections": object{}}},
			{"list_executions", nil},
			{"get_execution", object{"id": l.made["HTTP error"].Execution}},
			{"retry_execution", object{"id": l.made["HTTP error"].Execution}},
			{"stop_execution", object{"id": l.made["Waits"].Execution}},
		} {
			scopes := []string{"tag:delete"}
			for {
				text := ask(t, realSource(t, l.URL, l.Key(t, scopes...)), "", one.tool, one.arguments)
				_, scope, lacks := strings.Cut(text, "Give it the scope ")
				if !lacks {
					if strings.Contains(text, "Forbidden") || strings.HasPrefix(text, `{"name"`) {
						t.Errorf("%s with %v: %s", one.tool, scopes, text)
					}
					break
				}
				scope, _, _ = strings.Cut(scope, " ")
				if slices.Contains(scopes, scope) {
					t.Errorf("%s with %v: %s", one.tool, scopes, text)
					break
				}
				scopes = append(scopes, scope)
				if !slices.Contains(needed, scope) {
					needed = append(needed, scope)
				}
			}
		}
		slices.Sort(needed)
		return "`" + strings.Join(needed, "`, `") + "`"
	})
}

func webhook(name, path, mode string) object {
	return object{
		"name": name, "type": "n8n-nodes-base.webhook", "typeVersion": 2, "webhookId": path,
		"parameters": object{"path": path, "httpMethod": "POST", "responseMode": mode, "options": object{}},
	}
}

// connections connects nodes to a chain.
func connections(names ...string) object {
	out := object{}
	for i, name := range names[1:] {
		out[names[i]] = object{"main": [][]any{{object{"node": name, "type": "main", "index": 0}}}}
	}
	return out
}
