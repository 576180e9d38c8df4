package n8n_test

import (
	"context"
	"encoding/json"
	"io"
	"strings"
	"testing"

	"genkan/internal/n8n"
	"genkan/internal/testkit/n8nfake"
)

const failedExecution = `{"id":"7","finished":false,"mode":"webhook","status":"error","startedAt":"2026-11-16T10:00:00.000Z","stoppedAt":"2026-11-16T10:00:01.000Z","workflowId":"c1",
"workflowData":{"id":"c1","name":"Orders","nodes":[{"name":"Start","type":"n8n-nodes-base.webhook","parameters":{}},{"name":"Send","type":"n8n-nodes-base.httpRequest","parameters":{"url":"http://127.0.0.1:9"}}],"connections":{}},
"data":{"resultData":{"lastNodeExecuted":"Send","error":{"message":"connect ECONNREFUSED"},"runData":{
"Start":[{"startTime":1794823200000,"executionTime":1,"executionIndex":0,"executionStatus":"success","source":[],"data":{"main":[[{"json":{"order":42}}]]}}],
"Send":[{"startTime":1794823200500,"executionTime":30,"executionIndex":1,"executionStatus":"error","source":[{"previousNode":"Start"}],"error":{"message":"connect ECONNREFUSED","stack":"stack-canary"}}]}}}}`

// An execution is summed up, and read node by node, without what is nobody's business.
func TestExecutions(t *testing.T) {
	t.Parallel()
	fake := n8nfake.New(t)
	fake.AddExecution(t, failedExecution)
	reader := &n8n.Reader{Dir: t.TempDir()}
	defer reader.Close()
	s := newSource(t, fake.URL, n8nfake.Key, n8n.Setup{Executions: reader})
	summary := ask(t, s, "", "get_execution", json.RawMessage(`{"id":"7"}`))
	for _, want := range []string{`"success":true`, `"status":"error"`, `"failedNodes":1`, `"nodeName":"Send"`, "ECONNREFUSED", `"order":42`, "get_execution_by_node"} {
		if !strings.Contains(summary, want) {
			t.Errorf("the summary lacks %s: %s", want, summary)
		}
	}
	node := ask(t, s, "", "get_execution_by_node", json.RawMessage(`{"id":"7","nodeName":"Send"}`))
	if !strings.Contains(node, `"url":"http://127.0.0.1:9"`) || !strings.Contains(node, `"order":42`) || strings.Contains(node, "canary") {
		t.Error(node)
	}
	whole := ask(t, s, "", "get_execution", json.RawMessage(`{"id":"7","raw":true}`))
	if !strings.Contains(whole, `"runData"`) || strings.Contains(whole, "canary") {
		t.Error(whole)
	}
	unknown := ask(t, s, "", "get_execution_by_node", json.RawMessage(`{"id":"7","nodeName":"send"}`))
	if !strings.Contains(unknown, "NotFoundError") || !strings.Contains(unknown, "Send") {
		t.Error(unknown)
	}
}

// counted counts how often executions are opened, with their data and without.
type counted struct{ whole, facts int }

func (c *counted) OpenExecution(_ context.Context, _ string, data bool) (io.ReadCloser, error) {
	if data {
		c.whole++
	} else {
		c.facts++
	}
	return io.NopCloser(strings.NewReader(failedExecution)), nil
}

func TestDataIsReadOnce(t *testing.T) {
	t.Parallel()
	reader := &n8n.Reader{Dir: t.TempDir()}
	defer reader.Close()
	from := &counted{}
	for range 3 {
		if _, err := reader.Summary(t.Context(), from, n8n.ExecutionQuery{ID: "7"}); err != nil {
			t.Fatal(err)
		}
	}
	if *from != (counted{1, 2}) {
		t.Errorf("%+v", *from)
	}
}
