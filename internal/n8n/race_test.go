package n8n_test

import (
	"bytes"
	"encoding/json"
	"log/slog"
	"net/http"
	"slices"
	"strings"
	"testing"

	"genkan/internal/gateway"
	"genkan/internal/n8n"
	"genkan/internal/testkit/n8nfake"
)

// rename is a change of a node, and puts counts the requests that save.
func rename(to string) map[string]any {
	return map[string]any{"id": "c1", "operations": []any{map[string]any{"op": "renameNode", "node": "Called", "to": to}}}
}

func puts(fake *n8nfake.N8N) (n int) {
	for _, r := range fake.Requests() {
		if strings.HasPrefix(r, http.MethodPut+" ") {
			n++
		}
	}
	return n
}

// A save whose answer is lost or cannot be read is looked up, never sent again: somebody
// else may have changed the workflow since.
func TestASaveWithoutAnAnswerIsLookedUp(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		fault n8nfake.Fault
		want  string
	}{
		"cut off":              {n8nfake.Fault{CutOff: true}, "Workflow saved as a draft"},
		"lost":                 {n8nfake.Fault{Drop: true, After: true}, "Workflow saved as a draft"},
		"a proxy's page":       {n8nfake.Fault{Status: 502, Body: "<html>", After: true}, "Workflow saved as a draft"},
		"not carried out":      {n8nfake.Fault{Drop: true}, "The workflow is unchanged"},
		"refused, yet a draft": {n8nfake.Fault{Status: 400, Body: `{"message":"no"}`, After: true}, "the workflow was restored"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			fake := n8nfake.New(t)
			fake.Add(t, child)
			c.fault.Method = http.MethodPut
			fake.Fail(c.fault)
			got := ask(t, newSource(t, fake.URL, n8nfake.Key, n8n.Setup{}), "", "update_workflow", rename("New"))
			restored := strings.Contains(c.want, "restored")
			if n := puts(fake); !strings.Contains(got, c.want) || n != 1 && !restored || restored && n != 2 {
				t.Errorf("%d saves: %s", n, got)
			}
		})
	}
}

// Somebody else's edit between reading and saving is noticed, and not overwritten.
func TestAnEditBetweenReadingAndSavingIsNoticed(t *testing.T) {
	t.Parallel()
	fake := n8nfake.New(t)
	fake.Add(t, child)
	// The code is checked after the workflow was read and before it is saved.
	s := newSource(t, fake.URL, n8nfake.Key, n8n.Setup{CheckCode: func(string) error {
		fake.Edit("c1", func(w map[string]any) { w["name"] = "Edited" })
		return nil
	}})
	got := ask(t, s, "", "update_workflow", map[string]any{"id": "c1", "operations": []any{
		map[string]any{"op": "updateNode", "node": "Called", "changes": map[string]any{"parameters": map[string]any{"jsCode": "return 1"}}},
	}})
	if !strings.Contains(got, "was changed by somebody else") || puts(fake) != 0 || fake.Workflow("c1")["name"] != "Edited" {
		t.Error(got)
	}
}

// The API key is in no answer, error or line of the log, whatever n8n answers.
func TestTheKeyIsNeverShown(t *testing.T) {
	t.Parallel()
	echo := `{"message":"bad key ` + n8nfake.Key + `","hint":"` + n8nfake.Key + `"}`
	faults := map[string]n8nfake.Fault{
		"none": {}, "401": {Status: 401, Body: echo}, "400": {Status: 400, Body: echo}, "404": {Status: 404, Body: echo},
		"500": {Status: 500, Body: echo}, "page": {Status: 502, Body: "<html>" + n8nfake.Key}, "no JSON": {Status: 200, Body: n8nfake.Key},
		"redirect": {Status: 302, Header: map[string]string{"Location": "/?key=" + n8nfake.Key}}, "drop": {Drop: true}, "cut off": {CutOff: true},
	}
	arguments := map[string]any{
		"id": "c1", "name": "W", "nodes": []any{}, "connections": map[string]any{}, "filePath": "no.json", "nodeName": "Send", "text": "x",
		"operations": []any{map[string]any{"op": "renameNode", "node": "Called", "to": "Now"}}, "trigger": "H",
	}
	for name, fault := range faults {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			fake := n8nfake.New(t)
			fake.Add(t, child)
			fake.AddExecution(t, failedExecution)
			var log bytes.Buffer
			reader := &n8n.Reader{Dir: t.TempDir()}
			defer reader.Close()
			s := newSource(t, fake.URL, n8nfake.Key, n8n.Setup{Executions: reader, Log: slog.New(slog.NewJSONHandler(&log, nil))})
			for _, tool := range s.List(gateway.KindTool) {
				if name != "none" {
					fault.Times = 20
					fake.Fail(fault)
				}
				var d struct {
					InputSchema struct{ Properties map[string]any }
				}
				if err := json.Unmarshal(tool.Definition, &d); err != nil {
					t.Fatal(err)
				}
				given := map[string]any{}
				for key := range d.InputSchema.Properties {
					if value, ok := arguments[key]; ok {
						given[key] = value
					}
				}
				if strings.Contains(tool.Name, "execution") && given["id"] != nil {
					given["id"] = "7"
				}
				if got := ask(t, s, t.TempDir(), tool.Name, given); strings.Contains(got, n8nfake.Key) {
					t.Errorf("%s: %s", tool.Name, got)
				}
			}
			if strings.Contains(log.String(), n8nfake.Key) || strings.Contains(s.Health().Problem.String(), n8nfake.Key) {
				t.Error("the log has the key")
			}
			if name != "none" && !slices.Contains([]string{"cut off"}, name) && log.Len() == 0 {
				t.Error("nothing failed")
			}
		})
	}
}
