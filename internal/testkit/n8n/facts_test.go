package n8n

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"genkan/internal/testkit"
)

// run is what a node did once.
type run struct {
	ExecutionStatus string
	Source          []*struct{ PreviousNode string }
	Data            map[string][][]struct {
		JSON   map[string]any
		Binary map[string]map[string]any
	}
	Error    map[string]any
	Metadata struct {
		SubExecution *struct{ ExecutionID, WorkflowID string }
	}
}

// execution is one with data.
type execution struct {
	ID, Status, Mode string
	WaitTill         *string
	JSONSizeBytes    int
	WorkflowData     struct{ Nodes []struct{ Name string } }
	Data             struct {
		ResultData struct {
			Error   map[string]any
			RunData map[string][]run
		}
	}
}

// executions checks the executions of the workflows that Prepare made.
func (l *lab) executions(t *testing.T) {
	read := func(t *testing.T, name, status string) (e execution) {
		t.Helper()
		l.Must(t, http.MethodGet, "/executions/"+l.made[name].Execution+"?includeData=true", nil, &e)
		if e.Status != status {
			t.Fatalf("the status of %s is %s, not %s", name, e.Status, status)
		}
		return e
	}
	l.report.Fact(t, "branches and merge: two sources, and a node that never ran", func(t *testing.T) string {
		e := read(t, "Branch and merge", "success")
		runs := e.Data.ResultData.RunData
		if len(runs["Join"][0].Source) != 2 || len(e.WorkflowData.Nodes) != 7 || len(runs) != 6 || len(runs["Is big"][0].Data["main"]) != 2 {
			t.Errorf("%+v", e)
		}
		return "7 nodes, 6 in `runData`"
	})
	l.report.Fact(t, "an error: the run has it and no data", func(t *testing.T) string {
		e := read(t, "HTTP error", "error")
		last := e.Data.ResultData.RunData["HTTP Request"][0]
		if last.ExecutionStatus != "error" || last.Error == nil || last.Data != nil || e.Data.ResultData.Error == nil {
			t.Errorf("%+v", last)
		}
		return fmt.Sprintf("`%v`", last.Error["message"])
	})
	for _, c := range [][2]string{{"Code throws", "Cannot read properties of undefined"}, {"Stop and Error", "Order total is negative"}} {
		name, want := c[0], c[1]
		l.report.Fact(t, "an error: "+name, func(t *testing.T) string {
			message := fmt.Sprint(read(t, name, "error").Data.ResultData.Error["message"])
			if !strings.Contains(message, want) {
				t.Error(message)
			}
			return "`" + message + "`"
		})
	}
	l.report.Fact(t, "hidden errors: a success whose items have errors", func(t *testing.T) string {
		e := read(t, "Error output continues", "success")
		outputs := e.Data.ResultData.RunData["Call API"][0].Data["main"]
		if len(outputs) != 2 || len(outputs[0]) != 0 || len(outputs[1]) != 3 || outputs[1][0].JSON["error"] == nil {
			t.Errorf("%+v", outputs)
		}
		if thrown := e.Data.ResultData.RunData["Throw regular"][0]; thrown.ExecutionStatus != "success" || thrown.Data["main"][0][0].JSON["error"] == nil {
			t.Errorf("%+v", thrown)
		}
		return "3 items at the error output, 1 with `json.error`"
	})
	l.report.Fact(t, "a loop: an array of runs", func(t *testing.T) string {
		runs := read(t, "Loop over items", "success").Data.ResultData.RunData
		if len(runs["Loop Over Items"]) != 5 || len(runs["Work"]) != 4 {
			t.Errorf("%d and %d runs", len(runs["Loop Over Items"]), len(runs["Work"]))
		}
		return "5 and 4 runs"
	})
	l.report.Fact(t, "binary: metadata without bytes", func(t *testing.T) string {
		file := read(t, "Binary output", "success").Data.ResultData.RunData["To CSV"][0].Data["main"][0][0].Binary["data"]
		if file["fileName"] != "rows.csv" || file["mimeType"] != "text/csv" || file["id"] == nil {
			t.Errorf("%v", file)
		}
		return fmt.Sprintf("`fileSize` %v, `bytes` %v, `data` %q", file["fileSize"], file["bytes"], file["data"])
	})
	l.report.Fact(t, "a sub-workflow: its execution is named", func(t *testing.T) string {
		sub := read(t, "Parent calls child", "success").Data.ResultData.RunData["Call child"][0].Metadata.SubExecution
		if sub == nil || sub.WorkflowID != l.made[childName].Workflow || sub.ExecutionID != l.made[childName].Execution {
			t.Errorf("%+v, not %v", sub, l.made[childName])
		}
		return "`metadata.subExecution`; the child's mode is `" + read(t, childName, "success").Mode + "`"
	})
	l.report.Fact(t, "a wait: stopped, with waitTill", func(t *testing.T) string {
		if e := read(t, "Waits", "waiting"); e.WaitTill == nil {
			t.Errorf("%+v", e)
		}
		return "`waiting`"
	})
	l.report.Fact(t, "5,000 items", func(t *testing.T) string {
		start := time.Now()
		e := read(t, "Huge 5000 items", "error")
		items := 0
		for _, runs := range e.Data.ResultData.RunData {
			for _, run := range runs {
				for _, output := range run.Data["main"] {
					items += len(output)
				}
			}
		}
		if items < 10_000 {
			t.Errorf("%d items", items)
		}
		return fmt.Sprintf("%d items, `jsonSizeBytes` %d, read in %d ms", items, e.JSONSizeBytes, time.Since(start).Milliseconds())
	})
}

// refusals checks what n8n takes and refuses of a workflow.
func (l *lab) refusals(t *testing.T) {
	whole := greeter("Taken and refused", "genkan-e2e-refusals", "one")
	id := l.Create(t, whole)
	defer l.Delete(t, id)
	at := "/workflows/" + id
	for _, c := range []struct{ method, path, verb string }{{http.MethodPost, "/workflows", "create"}, {http.MethodPut, at, "update"}} {
		for _, missing := range [][2]string{
			{"name", "request/body must have required property 'name'"},
			{"nodes", "request/body must have required property 'nodes'"},
			{"connections", "request/body/connections must be object"},
			{"settings", "request/body must have required property 'settings'"},
		} {
			l.refused(t, c.verb+" without "+missing[0], c.method, c.path, whole.with(missing[0], nil), 400, `{"message":"`+missing[1]+`"}`)
		}
		l.report.Fact(t, c.verb+": keys that are read-only", func(t *testing.T) string {
			var keys []string
			for _, field := range []struct {
				key   string
				value any
			}{
				{"id", "x"},
				{"active", true},
				{"tags", []any{}},
				{"createdAt", "x"},
				{"updatedAt", "x"},
				{"versionId", "x"},
				{"isArchived", false},
				{"triggerCount", 1},
				{"meta", map[string]any{}},
				{"activeVersion", map[string]any{}},
			} {
				answered(t, l.Instance, c.method, c.path, whole.with(field.key, field.value), 400, `{"message":"request/body/`+field.key+` is read-only"}`)
				keys = append(keys, "`"+field.key+"`")
			}
			return "400 `request/body/KEY is read-only`: " + strings.Join(keys, ", ")
		})
		l.report.Fact(t, c.verb+": keys that are unknown", func(t *testing.T) string {
			keys := []string{"activeVersionId", "versionCounter", "sourceWorkflowId", "parentFolder"}
			if c.method == http.MethodPost {
				keys = append(keys, "description")
			} else {
				keys = append(keys, "projectId")
			}
			for _, key := range keys {
				answered(t, l.Instance, c.method, c.path, whole.with(key, "x"), 400, `{"message":"request/body Unrecognized key(s) in object: '`+key+`'"}`)
			}
			return "400 `request/body Unrecognized key(s) in object: 'KEY'`: `" + strings.Join(keys, "`, `") + "`"
		})
		l.report.Fact(t, c.verb+": nodes and settings are strict", func(t *testing.T) string {
			node := map[string]any{"extra": 1}
			for key, value := range greeter("", "p", "").nodes()[0] {
				node[key] = value
			}
			answered(t, l.Instance, c.method, c.path, whole.with("nodes", []any{node}), 400, `{"message":"request/body/nodes/0 Unrecognized key(s) in object: 'extra'"}`)
			return answered(t, l.Instance, c.method, c.path, whole.with("settings", map[string]any{"extra": 1}), 400, `{"message":"request/body/settings Unrecognized key(s) in object: 'extra'"}`)
		})
		l.report.Fact(t, c.verb+": malformed JSON is answered in HTML", func(t *testing.T) string {
			return answered(t, l.Instance, c.method, c.path, `{"name":`, 500, "<!DOCTYPE html>")
		})
	}
	l.report.Fact(t, "update: pinData, staticData, nodeGroups, shared and description are taken", func(t *testing.T) string {
		for key, value := range map[string]any{"pinData": map[string]any{}, "staticData": map[string]any{}, "nodeGroups": []any{}, "shared": []any{}, "description": "x"} {
			l.Must(t, http.MethodPut, at, whole.with(key, value), nil)
		}
		return "200"
	})
	l.report.Fact(t, "create: names that are given twice and connections that lead nowhere", func(t *testing.T) string {
		nodes := whole.nodes()
		return answered(t, l.Instance, http.MethodPost, "/workflows", whole.with("nodes", []any{nodes[0], nodes[0]}), 400, `{"message":"Workflow structure is invalid. nodes[1].id (duplicate_node_id): `)
	})
	for _, verb := range []string{"execute", "run", "test"} {
		l.refused(t, "there is no "+verb, http.MethodPost, at+"/"+verb, map[string]any{}, 405, `{"message":"POST method not allowed"}`)
	}
}

// nodes are the nodes of a workflow that greeter made.
func (w Workflow) nodes() (nodes []map[string]any) {
	for _, n := range w["nodes"].([]any) {
		nodes = append(nodes, n.(map[string]any))
	}
	return nodes
}

// stored is what a workflow's versions are.
type stored struct {
	Active                     bool
	VersionID, ActiveVersionID string
	IsArchived                 bool
	Nodes                      []any
}

// publishing checks drafts and what is live.
func (l *lab) publishing(t *testing.T) {
	const path, name = "genkan-e2e-publishing", "Drafts"
	id := l.Create(t, greeter(name, path, "one"))
	defer l.Delete(t, id)
	at := "/workflows/" + id
	get := func(t *testing.T) (s stored) {
		t.Helper()
		l.Must(t, http.MethodGet, at, nil, &s)
		return s
	}
	says := func(t *testing.T, word string) {
		t.Helper()
		var answer []byte
		testkit.Eventually(t, func() bool {
			_, answer = l.Webhook(t, path)
			return string(answer) == `{"word":"`+word+`"}`
		}, "the webhook says %s", word)
	}
	l.report.Fact(t, "activate publishes", func(t *testing.T) string {
		l.Must(t, http.MethodPost, at+"/activate", nil, nil)
		if s := get(t); !s.Active || s.ActiveVersionID != s.VersionID {
			t.Errorf("%+v", s)
		}
		says(t, "one")
		return "`active`, `activeVersionId` = `versionId`"
	})
	l.report.Fact(t, "PUT on a published workflow goes live", func(t *testing.T) string {
		l.Must(t, http.MethodPut, at, greeter(name, path, "two"), nil)
		if s := get(t); s.ActiveVersionID != s.VersionID {
			t.Errorf("%+v", s)
		}
		says(t, "two")
		return "the webhook has the new answer"
	})
	l.report.Fact(t, "publishIfActive=false saves a draft", func(t *testing.T) string {
		l.Must(t, http.MethodPut, at+"?publishIfActive=false", greeter(name, path, "three"), nil)
		if s := get(t); !s.Active || s.ActiveVersionID == s.VersionID {
			t.Errorf("%+v", s)
		}
		says(t, "two")
		return "`activeVersionId` ≠ `versionId`; the webhook has the old answer"
	})
	l.report.Fact(t, "activate publishes a draft of a published workflow", func(t *testing.T) string {
		l.Must(t, http.MethodPost, at+"/activate", nil, nil)
		says(t, "three")
		return "as `publish` does"
	})
	l.report.Fact(t, "a 400 about the form changes nothing", func(t *testing.T) string {
		before := get(t)
		answered(t, l.Instance, http.MethodPut, at, greeter(name, path, "four").with("bogus", 1), 400, `{"message":"request/body Unrecognized`)
		if after := get(t); after.VersionID != before.VersionID {
			t.Errorf("%+v", after)
		}
		return "the same `versionId`"
	})
	l.report.Fact(t, "a 400 about publishing overwrites the draft", func(t *testing.T) string {
		before := get(t)
		broken := greeter(name, path, "five")
		seen := answered(t, l.Instance, http.MethodPut, at, broken.with("nodes", []any{broken.nodes()[1]}).with("connections", map[string]any{}), 400,
			`{"message":"Workflow cannot be activated because it has no trigger node. At least one trigger, webhook, or polling node is required."}`)
		if after := get(t); after.VersionID == before.VersionID || after.ActiveVersionID != before.ActiveVersionID || len(after.Nodes) != 1 {
			t.Errorf("%+v", after)
		}
		says(t, "three")
		return seen
	})
	l.report.Fact(t, "a 409 about a webhook overwrites the draft", func(t *testing.T) string {
		other := l.Create(t, greeter("Other", path+"-other", "other"))
		defer l.Delete(t, other)
		l.Must(t, http.MethodPost, "/workflows/"+other+"/activate", nil, nil)
		var before, after stored
		l.Must(t, http.MethodGet, "/workflows/"+other, nil, &before)
		seen := answered(t, l.Instance, http.MethodPut, "/workflows/"+other, greeter("Other", path, "other"), 409, `{"message":"There is a conflict with one of the webhooks."}`)
		l.Must(t, http.MethodGet, "/workflows/"+other, nil, &after)
		if after.VersionID == before.VersionID || after.ActiveVersionID != before.ActiveVersionID {
			t.Errorf("%+v", after)
		}
		return seen
	})
	l.report.Fact(t, "deactivate, publish and unpublish", func(t *testing.T) string {
		l.Must(t, http.MethodPut, at, greeter(name, path, "six"), nil)
		for _, verb := range []string{"deactivate", "publish", "unpublish"} {
			l.Must(t, http.MethodPost, at+"/"+verb, nil, nil)
			if s := get(t); s.Active != (verb == "publish") {
				t.Errorf("after %s: %+v", verb, s)
			}
		}
		return "200"
	})
	l.report.Fact(t, "archive unpublishes; an archived workflow is listed and not changed", func(t *testing.T) string {
		l.Must(t, http.MethodPost, at+"/publish", nil, nil)
		l.Must(t, http.MethodPost, at+"/archive", nil, nil)
		if s := get(t); s.Active || !s.IsArchived {
			t.Errorf("%+v", s)
		}
		var list page
		l.Must(t, http.MethodGet, "/workflows?limit=250&name="+name, nil, &list)
		if len(list.Data) != 1 || list.Data[0]["isArchived"] != true {
			t.Errorf("%v", list.Data)
		}
		seen := answered(t, l.Instance, http.MethodPut, at, greeter(name, path, "seven"), 400, `{"message":"Cannot update an archived workflow."}`)
		l.Must(t, http.MethodPost, at+"/unarchive", nil, nil)
		return seen
	})
}
