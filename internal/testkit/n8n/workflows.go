package n8n

import (
	"embed"
	"encoding/json"
	"io/fs"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"genkan/internal/testkit"
)

// workflowFiles are the workflows that Prepare makes, in its order.
//
//go:embed workflows/*.json
var workflowFiles embed.FS

// childName is the workflow that another one calls, and childID stands for its id.
const (
	childName = "Child"
	childID   = "CHILD_ID"
)

// Prepared are the ids of a workflow and of its execution, which is "" if none can
// be started from outside.
type Prepared struct{ Workflow, Execution string }

// Prepare makes the workflows, publishes them, runs each once through its webhook
// and waits until it has finished, failed or waits. The ids are by the workflows'
// names:
//
//	Branch and merge         an If with two outputs, a Merge, a node that never runs
//	HTTP error               a request that is refused
//	Error output continues   a success that hides four failures
//	Loop over items          several runs of one node
//	Binary output            a file
//	Child                    run by the next
//	Parent calls child       a sub-workflow
//	Huge 5000 items          15,001 items, then a failure
//	Code throws              an exception
//	Scheduled + manual       not published, never run
//	Waits                    waits for two hours
//	Stop and Error           an error of the workflow's own
//
// In an n8n that is not ours they are deleted at the end.
func (i *Instance) Prepare(t *testing.T) map[string]Prepared {
	t.Helper()
	i.NeedsWriting(t)
	files, err := fs.Glob(workflowFiles, "workflows/*.json")
	if err != nil {
		t.Fatal(err)
	}
	made := map[string]Prepared{}
	for _, file := range files {
		raw, err := workflowFiles.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		w := Workflow{}
		if err := json.Unmarshal([]byte(strings.ReplaceAll(string(raw), childID, made[childName].Workflow)), &w); err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		id := i.Create(t, w)
		path := w.webhook()
		made[w.Name()] = Prepared{Workflow: id}
		if path == "" && w.Name() != childName {
			continue
		}
		i.Must(t, http.MethodPost, "/workflows/"+id+"/activate", nil, nil)
		if path == "" {
			continue
		}
		i.Webhook(t, path)
		made[w.Name()] = Prepared{Workflow: id, Execution: i.Settled(t, id)}
	}
	made[childName] = Prepared{Workflow: made[childName].Workflow, Execution: i.Settled(t, made[childName].Workflow)}
	return made
}

// Workflow is one as n8n's API takes it.
type Workflow map[string]any

// Name is its name.
func (w Workflow) Name() string {
	name, _ := w["name"].(string)
	return name
}

// webhook is the path of its webhook, or "".
func (w Workflow) webhook() string {
	nodes, _ := w["nodes"].([]any)
	for _, n := range nodes {
		node, _ := n.(map[string]any)
		parameters, _ := node["parameters"].(map[string]any)
		if path, ok := parameters["path"].(string); ok {
			return path
		}
	}
	return ""
}

// Create makes a workflow and returns its id. In an n8n that is not ours it is
// deleted at the end.
func (i *Instance) Create(t *testing.T, w Workflow) (id string) {
	t.Helper()
	i.NeedsWriting(t)
	var made struct{ ID string }
	i.Must(t, http.MethodPost, "/workflows", w, &made)
	if !i.Own() {
		t.Cleanup(func() { i.Delete(t, made.ID) })
	}
	return made.ID
}

// Delete unpublishes and deletes a workflow. One that is gone is no mistake.
func (i *Instance) Delete(t *testing.T, id string) {
	t.Helper()
	at := "/workflows/" + id
	i.Call(t, http.MethodPost, at+"/deactivate", nil)
	testkit.Eventually(t, func() bool {
		status, _ := i.Call(t, http.MethodDelete, at, nil)
		return status == http.StatusOK || status == http.StatusNotFound
	}, "workflow %s is deleted", id)
}

// Must calls the public API, fails the test if that fails, and decodes the answer.
func (i *Instance) Must(t *testing.T, method, path string, body, into any) {
	t.Helper()
	status, answer := i.Call(t, method, path, body)
	if status/100 != 2 {
		t.Fatalf("%s %s: %d %s", method, path, status, answer)
	}
	if into == nil {
		return
	}
	if err := json.Unmarshal(answer, into); err != nil {
		t.Fatalf("%s %s: %v", method, path, err)
	}
}

// Webhook calls a published webhook, which n8n registers a moment after its
// workflow is published. What it answers depends on the workflow: those that fail
// answer 500.
func (i *Instance) Webhook(t *testing.T, path string) (status int, answer []byte) {
	t.Helper()
	testkit.Eventually(t, func() bool {
		var err error
		status, answer, err = i.try(t.Context(), http.MethodPost, "/webhook/"+path, nil, map[string]any{})
		if err != nil {
			t.Fatal(err)
		}
		return status != http.StatusNotFound
	}, "the webhook %s is registered", path)
	return status, answer
}

// Execution is what the list tells of one.
type Execution struct {
	ID, Status, Mode, WorkflowID string
	StartedAt, StoppedAt         string
	WaitTill, RetryOf            *string
}

// Settled waits until the latest execution of a workflow no longer runs, and
// returns its id.
func (i *Instance) Settled(t *testing.T, workflow string) (id string) {
	t.Helper()
	testkit.Eventually(t, func() bool {
		var list struct{ Data []Execution }
		status, answer := i.Call(t, http.MethodGet, "/executions?limit=1&workflowId="+url.QueryEscape(workflow), nil)
		if status == http.StatusServiceUnavailable { // the execution leaves n8n no time for its database
			return false
		}
		if err := json.Unmarshal(answer, &list); err != nil || status != http.StatusOK {
			t.Fatalf("the executions of %s: %d %s", workflow, status, answer)
		}
		if len(list.Data) == 0 {
			return false
		}
		id = list.Data[0].ID
		return list.Data[0].StoppedAt != ""
	}, "workflow %s has an execution that is over or waits", workflow)
	return id
}
