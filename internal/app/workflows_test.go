package app

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"genkan/internal/workflow"
)

// use saves and enables a workflow with one blocking hook before the call and one
// behind it. An empty script leaves its hook out.
func (h *testHouse) use(id, match, before, after string) {
	h.t.Helper()
	nodes, edges, last := []string{`{"id":"start","type":"start"}`}, []string{}, "start"
	add := func(id, kind, data string) {
		nodes = append(nodes, fmt.Sprintf(`{"id":%q,"type":%q,"data":%s}`, id, kind, data))
		edges = append(edges, fmt.Sprintf(`{"source":%q,"target":%q}`, last, id))
		last = id
	}
	hook := func(id, script string) {
		if script != "" {
			raw, _ := json.Marshal(map[string]any{"hook": map[string]any{"script": script, "blocking": true}})
			add(id, "hook", string(raw))
		}
	}
	hook("before", before)
	add("call", "mcp-call", "{}")
	hook("after", after)
	add("end", "end", "{}")
	raw := fmt.Sprintf(`{"id":%q,"name":%q,"workflowType":"tools/call","match":%s,"nodes":[%s],"edges":[%s]}`, id, id, match, strings.Join(nodes, ","), strings.Join(edges, ","))
	d, err := workflow.Parse([]byte(raw))
	if err != nil {
		h.t.Fatal(err)
	}
	saved, err := h.workflows.library.Save(h.t.Context(), *d, 0)
	if err != nil {
		h.t.Fatal(err)
	}
	if err := h.workflows.library.Enable(h.t.Context(), id, saved.Version); err != nil {
		h.t.Fatal(err)
	}
}

// Workflows run around calls of every door, and what they call is a call of the caller.
func TestWorkflowsRunAroundCalls(t *testing.T) {
	t.Parallel()
	h := openHouse(t, servers(conf{"one": child(t), "two": child(t)}))
	h.waitReady("one", "two")
	h.use("loud", `{"tools":["one__echo"]}`,
		`context.request.params.arguments.text = context.request.params.arguments.text.toUpperCase()`,
		`return {action: "continue", response: mapText(context.response, s => s + "!")}`)
	if got := h.mustCall("one__echo", `{"text":"hello"}`); got != "HELLO!" {
		t.Errorf("got %s", got)
	}
	if got := h.mustCall("two__echo", `{"text":"hello"}`); got != "hello" {
		t.Errorf("another server's tool: %s", got)
	}
	if _, answer := h.request(http.MethodPost, "/v1/tools/call", `{"name":"one__echo","parameters":{"text":"rest"}}`, nil); !strings.Contains(answer, "REST!") {
		t.Errorf("over REST: %s", answer)
	}

	h.use("no", `{"tools":["*__pid"]}`, `return {action: "deny", reason: "process ids are private"}`, "")
	if got, err := h.call("one__pid", `{}`); err == nil || !strings.Contains(err.Error(), `workflow "no" refused this call: process ids are private`) {
		t.Errorf("got %s, %v", got, err)
	}
	if status, answer := h.request(http.MethodPost, "/v1/tools/call", `{"name":"one__pid"}`, nil); status != http.StatusForbidden || !strings.Contains(answer, "process ids are private") {
		t.Errorf("over REST: %d %s", status, answer)
	}

	h.use("enrich", `{"tools":["two__echo"]}`, `
		const other = await call("one__echo", {text: "inner"});
		context.request.params.arguments.text += " and " + other;`, "")
	if got := h.mustCall("two__echo", `{"text":"outer"}`); got != "outer and INNER!" {
		t.Errorf("got %s", got)
	}
	calls := h.recorded(everything)
	last := calls[len(calls)-1]
	var children int
	for _, c := range calls {
		if c.Parent == last.ID && c.Tool == "one__echo" {
			children++
		}
	}
	if last.Tool != "two__echo" || children != 1 || last.Timing.Hooks == 0 {
		t.Errorf("recorded %+v with %d children", last.Entry, children)
	}
	traces := h.workflows.traces.Of(last.ID)
	if len(traces) != 1 || traces[0].Workflow != "enrich" || traces[0].Outcome != workflow.OutcomeOK || len(traces[0].Steps[0].Patch) != 1 {
		t.Errorf("traces %+v", traces)
	}

	h.use("broken", `{"tools":["one__raw"]}`, `null.x`, "")
	if got, err := h.call("one__raw", `{}`); err == nil || !strings.Contains(err.Error(), `workflow "broken" failed at its node "before"`) {
		t.Errorf("got %s, %v", got, err)
	}
	if err := h.workflows.library.Disable(t.Context(), "broken"); err != nil {
		t.Fatal(err)
	}
	if _, err := h.call("one__raw", `{"result_json":"{\"content\":[{\"type\":\"text\",\"text\":\"x\"}]}"}`); err != nil {
		t.Error(err)
	}
}
