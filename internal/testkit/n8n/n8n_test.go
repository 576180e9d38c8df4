package n8n

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"net/http"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"genkan/internal/testkit"
)

func TestMain(m *testing.M) { testkit.Main(m) }

// lab is an n8n and the report on what is seen there.
type lab struct {
	*Instance
	made   map[string]Prepared
	report Report
}

// TestRealN8n checks what is written about n8n's API against a real one. The
// subtests share it.
func TestRealN8n(t *testing.T) {
	l := &lab{Instance: &Instance{}}
	t.Cleanup(func() {
		if left := group(l.pid); l.Own() && len(left) > 0 {
			t.Errorf("processes are left: %v", left)
		}
	})
	l.Instance = Start(t)
	start := time.Now().Add(-l.Started)
	t.Run("reads", func(t *testing.T) {
		if l.Own() {
			l.prepare(t)
		}
		l.reads(t)
	})
	t.Run("writes", func(t *testing.T) {
		l.NeedsWriting(t)
		if l.made == nil {
			l.made = l.Prepare(t)
		}
		l.executions(t)
		l.refusals(t)
		l.publishing(t)
		l.deleting(t)
		l.tags(t)
		l.running(t)
		l.keys(t)
	})
	text := l.report.String()
	if l.Own() {
		text = l.machine(t, time.Since(start)) + text
	}
	l.Keep(t, "facts", text)
}

// prepare makes the workflows and notes how long that takes.
func (l *lab) prepare(t *testing.T) {
	l.report.Fact(t, "the twelve workflows are created, published and run", func(t *testing.T) string {
		l.made = l.Prepare(t)
		if len(l.made) != 12 {
			t.Errorf("%d workflows: %v", len(l.made), l.made)
		}
		ran := 0
		for _, ids := range l.made {
			if ids.Execution != "" {
				ran++
			}
		}
		if ran != 11 {
			t.Errorf("%d executions: %v", ran, l.made)
		}
		return "12 workflows, 11 executions"
	})
}

// page is what n8n's lists answer.
type page struct {
	Data       []map[string]any
	NextCursor *string
}

// reads checks what needs no change, on anybody's instance.
func (l *lab) reads(t *testing.T) {
	for _, list := range []string{"workflows", "executions"} {
		l.report.Fact(t, "a list of "+list+" goes on at its cursor", func(t *testing.T) string {
			var first, second, both page
			l.Must(t, http.MethodGet, "/"+list+"?limit=1", nil, &first)
			if first.NextCursor == nil {
				t.Skip("there are fewer than two")
			}
			l.Must(t, http.MethodGet, "/"+list+"?limit=1&cursor="+*first.NextCursor, nil, &second)
			l.Must(t, http.MethodGet, "/"+list+"?limit=2", nil, &both)
			if first.Data[0]["id"] != both.Data[0]["id"] || second.Data[0]["id"] != both.Data[1]["id"] {
				t.Errorf("two pages: %v, %v; at once: %v, %v", first.Data[0]["id"], second.Data[0]["id"], both.Data[0]["id"], both.Data[1]["id"])
			}
			return "`nextCursor`, null on the last page"
		})
	}
	l.report.Fact(t, "a list of workflows takes an offset", func(t *testing.T) string {
		var both, second page
		l.Must(t, http.MethodGet, "/workflows?limit=2", nil, &both)
		if len(both.Data) < 2 {
			t.Skip("there are fewer than two")
		}
		l.Must(t, http.MethodGet, "/workflows?limit=1&offset=1", nil, &second)
		if second.Data[0]["id"] != both.Data[1]["id"] {
			t.Errorf("at offset 1: %v, not %v", second.Data[0]["id"], both.Data[1]["id"])
		}
		return "`?offset=1`"
	})
	l.report.Fact(t, "executions are listed without a workflow's name, newest first", func(t *testing.T) string {
		var list page
		l.Must(t, http.MethodGet, "/executions?limit=2", nil, &list)
		if len(list.Data) < 2 {
			t.Skip("there are fewer than two")
		}
		for _, key := range []string{"workflowName", "workflowData", "data"} {
			if _, ok := list.Data[0][key]; ok {
				t.Errorf("there is a key %s", key)
			}
		}
		newer, _ := list.Data[0]["startedAt"].(string)
		older, _ := list.Data[1]["startedAt"].(string)
		if newer < older {
			t.Errorf("%s stands before %s", newer, older)
		}
		return "`workflowId` only"
	})
	l.report.Fact(t, "an execution has data only if it is asked for", func(t *testing.T) string {
		var list page
		l.Must(t, http.MethodGet, "/executions?limit=1", nil, &list)
		if len(list.Data) == 0 {
			t.Skip("there is none")
		}
		id, _ := list.Data[0]["id"].(string)
		var without, with map[string]any
		l.Must(t, http.MethodGet, "/executions/"+id, nil, &without)
		l.Must(t, http.MethodGet, "/executions/"+id+"?includeData=true", nil, &with)
		if without["data"] != nil || without["workflowData"] != nil {
			t.Error("there are data without includeData")
		}
		if with["data"] == nil || with["workflowData"] == nil {
			t.Error("there are no data with includeData=true")
		}
		return "`?includeData=true` adds `data`, `workflowData` and `customData`"
	})
	for _, c := range []struct {
		name, path string
		status     int
		body       string
	}{
		{"a workflow that is not there", "/workflows/genkane2enothere", 404, `{"message":"Not Found"}`},
		{"an execution that is not there", "/executions/999999999", 404, `{"message":"Not Found"}`},
		{"an execution that is not a number", "/executions/abc", 400, `{"message":"request/params/executionId must be a positive integer"}`},
		{"a path that is not there", "/genkan-e2e", 404, `{"message":"not found"}`},
		{"a cursor that is none", "/workflows?cursor=zzz", 400, `{"message":"An invalid cursor was provided"}`},
		{"a status that is none", "/executions?status=bogus", 400, `{"message":"request/query/status Invalid enum value. Expected 'canceled' | 'crashed' | 'error' | 'new' | 'running' | 'success' | 'unknown' | 'waiting', received 'bogus'"}`},
	} {
		l.refused(t, c.name, http.MethodGet, c.path, nil, c.status, c.body)
	}
	l.report.Fact(t, "a wrong key", func(t *testing.T) string {
		other := *l.Instance
		other.APIKey = "wrong"
		return answered(t, &other, http.MethodGet, "/workflows", nil, 401, `{"message":"Unauthorized"}`)
	})
}

// refused checks that n8n answers a request with an error.
func (l *lab) refused(t *testing.T, name, method, path string, body any, status int, answer string) {
	t.Helper()
	l.report.Fact(t, name, func(t *testing.T) string {
		return answered(t, l.Instance, method, path, body, status, answer)
	})
}

// answered checks an answer, of which the expected text is the beginning, and
// returns it for the report.
func answered(t *testing.T, i *Instance, method, path string, body any, status int, answer string) string {
	t.Helper()
	got, raw := i.Call(t, method, path, body)
	if got != status || !strings.HasPrefix(string(raw), answer) {
		t.Errorf("%s %s: %d %.500s, not %d %s", method, path, got, raw, status, answer)
	}
	return jsonCode(got, fmt.Sprintf("%.200s", raw))
}

// jsonCode is a status and a body as Markdown.
func jsonCode(status int, body string) string {
	return fmt.Sprintf("%d `%s`", status, strings.ReplaceAll(body, "\n", " "))
}

// greeter is a small workflow that answers its webhook with a word.
func greeter(name, path, word string) Workflow {
	return Workflow{
		"name": name,
		"nodes": []any{
			map[string]any{
				"id": "hook", "name": "Hook", "type": "n8n-nodes-base.webhook", "typeVersion": 2, "position": []int{0, 0}, "webhookId": path,
				"parameters": map[string]any{"path": path, "httpMethod": "POST", "responseMode": "lastNode", "options": map[string]any{}},
			},
			map[string]any{
				"id": "say", "name": "Say", "type": "n8n-nodes-base.set", "typeVersion": 3.4, "position": []int{200, 0},
				"parameters": map[string]any{"options": map[string]any{}, "assignments": map[string]any{"assignments": []any{
					map[string]any{"id": "a", "name": "word", "value": word, "type": "string"},
				}}},
			},
		},
		"connections": map[string]any{"Hook": map[string]any{"main": [][]any{{map[string]any{"node": "Say", "type": "main", "index": 0}}}}},
		"settings":    map[string]any{},
	}
}

// with returns a copy that has one key more, or none of that name if the value is nil.
func (w Workflow) with(key string, value any) Workflow {
	copied := Workflow{}
	for k, v := range w {
		copied[k] = v
	}
	copied[key] = value
	if value == nil {
		delete(copied, key)
	}
	return copied
}

// decode reads JSON that must be right.
func decode[T any](t *testing.T, raw []byte) (v T) {
	t.Helper()
	if err := json.Unmarshal(raw, &v); err != nil {
		t.Fatal(err)
	}
	return v
}

// A second process waits until the first has installed.
func TestTakeLockWaits(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lock")
	first, err := takeLock(t.Context(), path, t.Logf)
	if err != nil {
		t.Fatal(err)
	}
	told := make(chan struct{})
	taken := make(chan error)
	go func() {
		second, err := takeLock(t.Context(), path, func(string, ...any) { close(told) })
		if err == nil {
			second()
		}
		taken <- err
	}()
	<-told
	select {
	case <-taken:
		t.Fatal("the lock is taken twice")
	default:
	}
	first()
	if err := <-taken; err != nil {
		t.Fatal(err)
	}
}

// n8n gets nothing of the user's environment, and listens on loopback only.
func TestEnvironment(t *testing.T) {
	t.Setenv("N8N_ENCRYPTION_KEY", "theirs")
	env := strings.Join(environment("/dir", "/node/bin", "1", "2"), "\n")
	if strings.Contains(env, "theirs") || !strings.Contains(env, "N8N_LISTEN_ADDRESS=127.0.0.1\n") || !strings.Contains(env, "N8N_RUNNERS_BROKER_LISTEN_ADDRESS=127.0.0.1\n") {
		t.Error(env)
	}
}

// Of a long log the end is kept.
func TestTail(t *testing.T) {
	var log tail
	for i := range 2 * tailSize {
		_, _ = fmt.Fprintln(&log, i)
	}
	if got := log.String(); len(got) != tailSize || !strings.HasSuffix(got, fmt.Sprintf("\n%d\n", 2*tailSize-1)) {
		t.Errorf("%d bytes: …%q", len(got), got[max(0, len(got)-20):])
	}
}

// Every workflow that Prepare makes can be read, and those that it can start have
// a webhook of their own.
func TestWorkflowFiles(t *testing.T) {
	files, err := fs.Glob(workflowFiles, "workflows/*.json")
	if err != nil || len(files) != 12 {
		t.Fatal(files, err)
	}
	seen := map[string]string{"": ""}
	for _, file := range files {
		raw, err := workflowFiles.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		path := decode[Workflow](t, raw).webhook()
		if other := seen[path]; other != "" || path != "" && !strings.HasPrefix(path, "genkan-e2e-") {
			t.Errorf("%s: the path %q (%s has it as well)", file, path, other)
		}
		if path != "" {
			seen[path] = file
		}
	}
}
