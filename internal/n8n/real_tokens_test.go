package n8n_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/tiktoken-go/tokenizer"

	"genkan/internal/gateway"
	"genkan/internal/lang"
	"genkan/internal/n8n"
)

// o200k counts tokens as models of OpenAI do.
func o200k(t testing.TB, text string) int {
	t.Helper()
	codec, err := tokenizer.Get(tokenizer.O200kBase)
	if err != nil {
		t.Fatal(err)
	}
	n, err := codec.Count(text)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// tokenTable is a table of tokens with their limits.
type tokenTable struct {
	t *testing.T
	b strings.Builder
}

// row adds a figure, which must not be above its limit; 0 is no limit.
func (t *tokenTable) row(what string, tokens, limit int, peers string) {
	t.t.Helper()
	shown := ""
	if limit > 0 {
		shown = fmt.Sprint(limit)
		if tokens > limit {
			t.t.Errorf("%s: %d tokens, more than %d", what, tokens, limit)
			shown += " MISSED"
		}
	}
	fmt.Fprintf(&t.b, "| %s | %d | %s | %s |\n", what, tokens, shown, peers)
}

// tokens measures answers. It must run before others add workflows.
func (l *realLab) tokens(t *testing.T) {
	table := &tokenTable{t: t}
	table.b.WriteString("Counted with o200k. The peers' figures are of the same workflows.\n\n| | tokens | at most | peers |\n|---|---:|---:|---|\n")
	for _, one := range lang.All() {
		client, err := n8n.NewClient(n8n.Options{URL: l.URL, Key: gateway.Secret(l.APIKey)})
		if err != nil {
			t.Fatal(err)
		}
		var all []json.RawMessage
		for _, tool := range n8n.New(client, n8n.Setup{Translate: one.Translator(), Executions: &n8n.Reader{}}).List(gateway.KindTool) {
			all = append(all, json.RawMessage(tool.Definition))
		}
		client.Close()
		raw, err := json.Marshal(all)
		if err != nil {
			t.Fatal(err)
		}
		table.row(fmt.Sprintf("the schemas of all %d tools (%s)", len(all), one), o200k(t, string(raw)), 3500, "12,400 and 33,500")
	}
	if l.Own() {
		if count := l.data(t, "list_workflows", nil)["count"]; count != 12. {
			t.Errorf("there are %v workflows", count)
		}
		table.row("list_workflows, 12", o200k(t, l.ask(t, "list_workflows", nil)), 330, "n8n's own 699, n8n-mcp 868")
	}
	for _, name := range []string{"HTTP error", "Code throws", "Stop and Error"} {
		table.row("get_execution, failed: "+name, o200k(t, l.ask(t, "get_execution", object{"id": l.made[name].Execution})), 400, "n8n-mcp 157 without the error's text, 1,650 with it")
	}
	huge := l.made["Huge 5000 items"].Execution
	table.row("get_execution, 5,000 items", o200k(t, l.ask(t, "get_execution", object{"id": huge})), 400, "raw 1,370,000; n8n-mcp 962 and 2,896")
	largest, of, nodes := 0, "", 0
	for name, ids := range l.made {
		if ids.Execution == "" {
			continue
		}
		for _, one := range l.data(t, "get_execution", object{"id": ids.Execution})["availableNodes"].([]any) {
			node := one.(map[string]any)["nodeName"].(string)
			nodes++
			if n := o200k(t, l.ask(t, "get_execution_by_node", object{"id": ids.Execution, "nodeName": node})); n > largest {
				largest, of = n, name+", "+node
			}
		}
	}
	table.row(fmt.Sprintf("get_execution_by_node, the largest of %d (%s)", nodes, of), largest, 5000, "")
	id := l.large(t)
	in, out := 0, 0
	for _, one := range []struct {
		tool      string
		arguments object
	}{
		{"get_workflow", object{"id": id, "nodeNames": []string{"Node 42"}}},
		{"update_workflow", object{"id": id, "operations": []any{
			object{"op": "patchField", "node": "Node 42", "path": "parameters.jsCode", "find": "factor = 42", "replace": "factor = 43"},
		}}},
	} {
		sent, err := json.Marshal(object{"name": one.tool, "arguments": one.arguments})
		if err != nil {
			t.Fatal(err)
		}
		answer := l.ask(t, one.tool, one.arguments)
		if !strings.HasPrefix(answer, `{"success":true`) {
			t.Error(answer)
		}
		in += o200k(t, string(sent))
		out += o200k(t, answer)
	}
	table.row(fmt.Sprintf("one node of 100 is read and changed: %d in, %d out", in, out), in+out, 600, "")
	_, whole := l.Call(t, http.MethodGet, "/workflows/"+id, nil)
	table.row("the same workflow whole", o200k(t, string(whole)), 0, "")
	l.Delete(t, id)
	l.Keep(t, "tokens", table.b.String()+"\n"+l.reductions(t))
}

// reductions compares answers with those of n8n itself.
func (l *realLab) reductions(t *testing.T) string {
	type pair struct{ ours, raw int }
	sum := map[string]*pair{}
	add := func(what, ours string, raw []byte) {
		if sum[what] == nil {
			sum[what] = &pair{}
		}
		sum[what].ours += o200k(t, ours)
		sum[what].raw += o200k(t, string(raw))
	}
	get := func(path string) []byte {
		_, raw := l.Call(t, http.MethodGet, path, nil)
		return raw
	}
	add("list_workflows", l.ask(t, "list_workflows", nil), get("/workflows?limit=100"))
	add("list_executions", l.ask(t, "list_executions", object{"limit": 20}), get("/executions?limit=20"))
	for name, ids := range l.made {
		whole := get("/workflows/" + ids.Workflow)
		add("get_workflow", l.ask(t, "get_workflow", object{"id": ids.Workflow}), whole)
		add("get_workflow_connections", l.ask(t, "get_workflow_connections", object{"id": ids.Workflow}), whole)
		var w object
		if err := json.Unmarshal(whole, &w); err != nil {
			t.Fatal(err)
		}
		made := l.ask(t, "create_workflow", object{"name": "genkan-e2e copy", "nodes": w["nodes"], "connections": w["connections"]})
		var answer struct{ Data struct{ ID string } }
		if err := json.Unmarshal([]byte(made), &answer); err != nil || answer.Data.ID == "" {
			t.Fatal(made)
		}
		// What n8n answers to POST and PUT is the workflow.
		add("create_workflow", made, get("/workflows/"+answer.Data.ID))
		add("update_workflow", l.ask(t, "update_workflow", object{"id": answer.Data.ID, "name": "genkan-e2e copied"}), get("/workflows/"+answer.Data.ID))
		l.Delete(t, answer.Data.ID)
		if ids.Execution == "" {
			continue
		}
		raw := get("/executions/" + ids.Execution + "?includeData=true")
		summary := l.ask(t, "get_execution", object{"id": ids.Execution})
		add("get_execution", summary, raw)
		if name != "Huge 5000 items" {
			add("get_execution without the largest", summary, raw)
		}
		last := l.data(t, "get_execution", object{"id": ids.Execution})["availableNodes"].([]any)
		add("get_execution_by_node", l.ask(t, "get_execution_by_node", object{"id": ids.Execution, "nodeName": last[len(last)-1].(map[string]any)["nodeName"]}), raw)
	}
	var b strings.Builder
	b.WriteString("What is saved against n8n's own answers: the sum over the twelve workflows and their executions.\n\n| | n8n | Genkan | saved | goal |\n|---|---:|---:|---:|---:|\n")
	mean := 0.
	goals := []struct {
		what string
		goal float64
	}{
		{"list_workflows", 60},
		{"get_workflow", 85},
		{"get_workflow_connections", 70},
		{"create_workflow", 90},
		{"update_workflow", 90},
		{"list_executions", 60},
		{"get_execution", 98},
		{"get_execution_by_node", 90},
		{"get_execution without the largest", 0},
	}
	for _, one := range goals {
		p := sum[one.what]
		saved := 100 * (1 - float64(p.ours)/float64(p.raw))
		goal := ""
		if one.goal > 0 {
			mean += saved / float64(len(goals)-1)
			goal = fmt.Sprintf("%.0f %%", one.goal)
		}
		switch {
		case saved >= one.goal:
		case one.what == "list_executions": // see below
			goal += " MISSED"
		default:
			t.Errorf("%s saves %.1f %%, not %.0f %%", one.what, saved, one.goal)
		}
		fmt.Fprintf(&b, "| %s | %d | %d | %.1f %% | %s |\n", one.what, p.raw, p.ours, saved, goal)
	}
	if mean < 75 {
		t.Errorf("the mean is %.1f %%", mean)
	}
	fmt.Fprintf(&b, "| the mean of those with a goal | | | %.1f %% | 75 %% |\n", mean)
	b.WriteString("\nn8n's list of executions has no data and no names of workflows. The names and durations that list_executions adds take up what it leaves out.\n")
	return b.String()
}
