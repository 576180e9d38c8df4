package n8n

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"genkan/internal/testkit"
)

// deleting checks what stands in the way of deleting a workflow.
func (l *lab) deleting(t *testing.T) {
	const path = "genkan-e2e-deleting"
	id := l.Create(t, greeter("Deleted", path, "one"))
	at := "/workflows/" + id
	l.Must(t, http.MethodPost, at+"/activate", nil, nil)
	l.Webhook(t, path)
	ran := l.Settled(t, id)
	l.refused(t, "a published workflow is not deleted", http.MethodDelete, at, nil, 409, `{"message":"Cannot delete a published workflow. Unpublish it before deleting."}`)
	l.report.Fact(t, "nor one that is being unpublished", func(t *testing.T) string {
		l.Must(t, http.MethodPost, at+"/unpublish", nil, nil)
		start, refused := time.Now(), ""
		testkit.Eventually(t, func() bool {
			status, answer := l.Call(t, http.MethodDelete, at, nil)
			if status != http.StatusOK {
				refused = jsonCode(status, string(answer))
			}
			return status == http.StatusOK
		}, "the workflow is deleted")
		if refused == "" {
			return "it was deleted at once this time"
		}
		if !strings.Contains(refused, `409 `+"`"+`{"message":"Workflow is still being unpublished. Please try again in a few moments."}`) {
			t.Error(refused)
		}
		return fmt.Sprintf("%s for %d ms", refused, time.Since(start).Milliseconds())
	})
	l.refused(t, "a deleted workflow takes its executions with it", http.MethodGet, "/executions/"+ran, nil, 404, `{"message":"Not Found"}`)
}

// tags checks tags, which have ids and names.
func (l *lab) tags(t *testing.T) {
	id := l.Create(t, greeter("Tagged", "genkan-e2e-tags", "one"))
	defer l.Delete(t, id)
	made := map[string]string{}
	for _, name := range []string{"genkan-e2e-red", "genkan-e2e-blue"} {
		var tag struct{ ID string }
		l.Must(t, http.MethodPost, "/tags", map[string]any{"name": name}, &tag)
		defer l.Call(t, http.MethodDelete, "/tags/"+tag.ID, nil)
		made[name] = tag.ID
	}
	at := "/workflows/" + id + "/tags"
	l.refused(t, "a tag that is there already", http.MethodPost, "/tags", map[string]any{"name": "genkan-e2e-red"}, 409, `{"message":"Tag already exists"}`)
	l.refused(t, "a workflow's tags are not given by name", http.MethodPut, at, []any{map[string]any{"name": "genkan-e2e-red"}}, 400, `{"message":"request/body/0 must have required property 'id'"}`)
	l.refused(t, "nor by an id that is not there", http.MethodPut, at, []any{map[string]any{"id": "nope"}}, 404, `{"message":"Some tags not found"}`)
	l.report.Fact(t, "a list is filtered by names; several mean all of them; case counts", func(t *testing.T) string {
		l.Must(t, http.MethodPut, at, []any{map[string]any{"id": made["genkan-e2e-red"]}}, nil)
		for query, want := range map[string]int{"genkan-e2e-red": 1, "genkan-e2e-blue": 0, "genkan-e2e-red,genkan-e2e-blue": 0, "GENKAN-E2E-RED": 0} {
			var list page
			l.Must(t, http.MethodGet, "/workflows?tags="+query, nil, &list)
			if len(list.Data) != want {
				t.Errorf("%s: %d workflows, not %d", query, len(list.Data), want)
			}
		}
		return "`?tags=red,blue`"
	})
}

// running checks executions under way, stop and retry.
func (l *lab) running(t *testing.T) {
	const path = "genkan-e2e-running"
	slow := greeter("Runs for a while", path, "")
	slow.nodes()[0]["parameters"].(map[string]any)["responseMode"] = "onReceived"
	wait := slow.nodes()[1]
	wait["type"], wait["typeVersion"], wait["webhookId"] = "n8n-nodes-base.wait", 1.1, path+"-wait"
	wait["parameters"] = map[string]any{"amount": 50, "unit": "seconds"} // n8n keeps it in memory
	id := l.Create(t, slow)
	defer l.Delete(t, id)
	l.Must(t, http.MethodPost, "/workflows/"+id+"/activate", nil, nil)
	l.Webhook(t, path)
	var ran string
	l.report.Fact(t, "a running execution is listed with status=running only", func(t *testing.T) string {
		var running, all page
		testkit.Eventually(t, func() bool {
			l.Must(t, http.MethodGet, "/executions?status=running&workflowId="+id, nil, &running)
			return len(running.Data) == 1
		}, "it runs")
		ran, _ = running.Data[0]["id"].(string)
		l.Must(t, http.MethodGet, "/executions?workflowId="+id, nil, &all)
		if len(all.Data) != 0 {
			t.Errorf("%v", all.Data)
		}
		var e execution
		l.Must(t, http.MethodGet, "/executions/"+ran+"?includeData=true", nil, &e)
		if e.Status != "running" {
			t.Errorf("%+v", e)
		}
		return fmt.Sprintf("its `runData` has %d nodes", len(e.Data.ResultData.RunData))
	})
	l.report.Fact(t, "stop cancels it", func(t *testing.T) string {
		l.Must(t, http.MethodPost, "/executions/"+ran+"/stop", nil, nil)
		var e execution
		testkit.Eventually(t, func() bool {
			l.Must(t, http.MethodGet, "/executions/"+ran, nil, &e)
			return e.Status == "canceled"
		}, "it is canceled")
		return "`canceled`"
	})
	l.refused(t, "what does not run is not stopped", http.MethodPost, "/executions/"+ran+"/stop", nil, 409,
		`{"message":"Only running or waiting executions can be stopped and `+ran+` is currently canceled"}`)
	l.report.Fact(t, "retry runs a failed execution again and answers when it is over", func(t *testing.T) string {
		failed := l.made["HTTP error"].Execution
		var again struct{ ID, Mode, RetryOf, Status string }
		l.Must(t, http.MethodPost, "/executions/"+failed+"/retry", map[string]any{}, &again)
		if again.ID == failed || again.Mode != "retry" || again.RetryOf != failed || again.Status != "error" {
			t.Errorf("%+v", again)
		}
		return "mode `retry`, `retryOf`"
	})
	l.report.Fact(t, "retry of a success", func(t *testing.T) string {
		return answered(t, l.Instance, http.MethodPost, "/executions/"+l.made["Branch and merge"].Execution+"/retry", map[string]any{}, 409, `{"message":"`)
	})
}

// keys checks a key that lacks a scope.
func (l *lab) keys(t *testing.T) {
	l.report.Fact(t, "a key without the scope", func(t *testing.T) string {
		if !l.Own() {
			t.Skip("only an owner makes keys")
		}
		other := *l.Instance
		other.APIKey = l.Key(t, "workflow:list")
		other.Must(t, http.MethodGet, "/workflows?limit=1", nil, nil)
		return answered(t, &other, http.MethodGet, "/executions", nil, 403, `{"message":"Forbidden"}`)
	})
}
