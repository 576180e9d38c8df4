package app

import (
	"context"
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"genkan/internal/api/client"
	"genkan/internal/workflow"
)

// followedCanary is in what calls send and receive.
const followedCanary = "canary-Wq7Rt2Zp9"

// Runs, changes and approvals reach administrators who follow events, without what was
// sent and received, and they are counted.
func TestWorkflowsAreFollowedAndCounted(t *testing.T) {
	t.Parallel()
	const canary = followedCanary
	h := openHouse(t, servers(conf{"one": child(t)}))
	h.waitReady("one")
	var made struct{ Token string }
	if err := json.Unmarshal([]byte(h.must(http.MethodPost, "/v1/tokens", `{"name":"alice"}`, http.StatusCreated)), &made); err != nil {
		t.Fatal(err)
	}
	admin, alice := watch(t, h.token, h.overHTTP), watch(t, made.Token, h.overHTTP)
	h.opened(admin, alice)

	h.use("loud", `{"tools":["one__echo"]}`, `const a = ctx.request.params.arguments; if (a.text == "no") return {action: "deny", reason: "no"}; a.text += "!"`, "")
	admin.until("workflow.stored", `"id":"loud","version":1`)
	admin.until("workflow.enabled", `"id":"loud","version":1`)
	h.mustCall("one__echo", `{"text":"`+canary+`"}`)
	ran := admin.until(client.EventWorkflowRun, `"workflow":"loud","version":1,"mode":"enforce"`, `"outcome":"ok","changed":true,"sent":true`)
	calls := h.recorded(everything)
	if last := calls[len(calls)-1]; !strings.Contains(string(ran.Data), `"call":"`+last.ID+`"`) || ran.Client != "admin" || ran.Topic != "workflows" || strings.Contains(string(ran.Data), canary) {
		t.Errorf("got %+v of call %s", ran, last.ID)
	}
	if _, err := h.call("one__echo", `{"text":"no"}`); err == nil {
		t.Error("it is not denied")
	}
	admin.until(client.EventWorkflowRun, `"outcome":"denied"`, `"sent":false`)

	if runs := h.must(http.MethodGet, "/v1/workflows/loud/runs", "", http.StatusOK); strings.Count(runs, `"workflow":"loud"`) != 2 {
		t.Errorf("the runs are %s", runs)
	}
	h.must(http.MethodPut, "/v1/workflows/loud/tests/one", `{"call":{"params":{"name":"one__echo","arguments":{"text":"a"}}},"expect":{}}`, http.StatusOK)
	admin.until("workflow.tested", `"id":"loud"`)
	h.must(http.MethodDelete, "/v1/workflows/loud/tests/one", "", http.StatusOK)
	admin.until("workflow.tested", `"id":"loud"`)

	h.must(http.MethodPost, "/v1/workflows/loud/disable", "", http.StatusOK)
	admin.until("workflow.disabled", `"id":"loud","version":1`)
	h.enable(approving)
	for _, how := range []string{"approved", "denied", "expired"} {
		if how == "expired" {
			h.enable(strings.Replace(approving, `"May it?"`, `"May it?","timeoutMs":1`, 1))
		}
		done := make(chan struct{})
		go func() {
			defer close(done)
			_, _ = h.call("one__echo", `{"text":"`+canary+`"}`)
		}()
		opened := admin.until(client.EventApprovalOpened, `"workflow":"ask","node":"person"`, `"tool":"one__echo"`)
		var pending client.ApprovalEvent
		if err := json.Unmarshal(opened.Data, &pending); err != nil || opened.Topic != "approvals" || strings.Contains(string(opened.Data), canary) {
			t.Errorf("%v: %+v", err, opened)
		}
		if how != "expired" {
			if err := h.workflows.desk.Decide(t.Context(), pending.ID, workflow.Decision{Granted: how == "approved", By: "boss"}); err != nil {
				t.Fatal(err)
			}
		}
		admin.until(client.EventApprovalClosed, `"id":"`+pending.ID+`"`, `"decision":"`+how+`"`)
		<-done
	}
	h.enable(strings.Replace(approving, `"May it?"`, `"May it?","timeoutMs":60000,"askClient":true`, 1))
	for action, how := range map[string]string{"accept": "approved", "decline": "denied", "": "denied"} {
		h.askedInClient(admin, action, how)
	}
	h.must(http.MethodDelete, "/v1/workflows/ask", "", http.StatusOK)
	admin.until("workflow.deleted", `"id":"ask"`)

	// Clients follow none of it.
	h.publishReload(nil)
	for {
		e := <-alice.events
		if e.Topic == "workflows" || e.Topic == "approvals" {
			t.Errorf("a client got %+v", e)
		}
		if len(alice.events) == 0 {
			break
		}
	}

	h.must(http.MethodPost, "/v1/workflows/loud/enable", `{}`, http.StatusOK)
	h.mustCall("one__echo", `{"text":"a"}`)
	if _, err := h.call("one__echo", `{"text":"no"}`); err == nil {
		t.Error("it is not denied")
	}
	metrics := h.must(http.MethodGet, "/metrics", "", http.StatusOK)
	for _, line := range []string{
		`genkan_workflow_runs_total{mode="enforce",outcome="ok",workflow="loud"} 1`,
		`genkan_workflow_runs_total{mode="enforce",outcome="denied",workflow="loud"} 1`,
		`genkan_workflow_runs_total{mode="enforce",outcome="failed",workflow="loud"} 0`,
		`genkan_workflow_changed_total{mode="enforce",workflow="loud"} 1`,
		`genkan_workflow_duration_seconds_count{mode="enforce",workflow="loud"} 2`,
		`genkan_workflow_duration_seconds_bucket{mode="enforce",workflow="loud",le="30"} 2`,
		`genkan_script_queue{pool="hooks"} 0`, `genkan_script_workers{pool="hooks",state="running"} 0`, `genkan_approvals_pending 0`, `genkan_workflows_off 0`,
	} {
		if !strings.Contains(metrics, line+"\n") {
			t.Errorf("the metrics lack %s", line)
		}
	}
	// Another workflow with the id of a deleted one has none of its runs, and calls keep its name.
	h.must(http.MethodDelete, "/v1/workflows/loud", "", http.StatusOK)
	h.must(http.MethodPut, "/v1/workflows/loud", strings.Replace(approving, `"id":"ask","name":"ask"`, `"id":"loud","name":"Another"`, 1), http.StatusOK)
	if runs := h.must(http.MethodGet, "/v1/workflows/loud/runs", "", http.StatusOK); !strings.Contains(runs, `"runs":[]`) {
		t.Errorf("the runs are %s", runs)
	}
}

// askedInClient calls a tool with a client that asks its own person. Administrators see
// that, and how the person decides. If action is empty, an administrator is faster and
// refuses the call.
func (h *testHouse) askedInClient(admin watcher, action, how string) {
	t := h.t
	t.Helper()
	answer := make(chan struct{})
	session, err := mcp.NewClient(&mcp.Implementation{Name: "t", Version: "1"}, &mcp.ClientOptions{
		ElicitationHandler: func(context.Context, *mcp.ElicitRequest) (*mcp.ElicitResult, error) {
			<-answer
			if action == "" {
				return &mcp.ElicitResult{Action: "accept", Content: map[string]any{"allow": true}}, nil
			}
			return &mcp.ElicitResult{Action: action, Content: map[string]any{"allow": true}}, nil
		},
	}).Connect(t.Context(), &mcp.StreamableClientTransport{Endpoint: h.base + "/mcp", HTTPClient: &http.Client{Transport: withToken{h.token, h.http.Transport}}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		_, _ = session.CallTool(t.Context(), &mcp.CallToolParams{Name: "one__echo", Arguments: json.RawMessage(`{"text":"` + followedCanary + `"}`)})
	}()
	opened := admin.until(client.EventApprovalOpened, `"workflow":"ask","node":"person"`, `"inClient":true`)
	var pending client.ApprovalEvent
	if err := json.Unmarshal(opened.Data, &pending); err != nil || strings.Contains(string(opened.Data), followedCanary) {
		t.Errorf("%v: %+v", err, opened)
	}
	if list := h.must(http.MethodGet, "/v1/approvals", "", http.StatusOK); !strings.Contains(list, pending.ID) || !strings.Contains(list, `"inClient":true`) {
		t.Errorf("the list is %s", list)
	}
	if action == "" {
		h.must(http.MethodPost, "/v1/approvals/"+pending.ID, `{"decision":"deny"}`, http.StatusOK)
	} else {
		close(answer)
	}
	admin.until(client.EventApprovalClosed, `"id":"`+pending.ID+`"`, `"decision":"`+how+`"`, `"by":"admin"`)
	if action == "" { // a modern client holds its call until its person has answered
		close(answer)
	}
	<-done
	_ = session.Close()
}
