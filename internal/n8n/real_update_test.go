package n8n_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"reflect"
	"strings"
	"testing"

	"genkan/internal/testkit"
)

// stored is a workflow as n8n has it, without what every save changes.
func (l *realLab) stored(t *testing.T, id string) object {
	t.Helper()
	w := object{}
	l.Must(t, http.MethodGet, "/workflows/"+id, nil, &w)
	for _, key := range []string{"updatedAt", "versionCounter", "shared"} {
		delete(w, key)
	}
	return w
}

// same checks that two workflows differ in nothing but the keys that are named.
func same(t *testing.T, before, after object, but ...string) {
	t.Helper()
	left, right := object{}, object{}
	for key := range before {
		left[key], right[key] = before[key], after[key]
	}
	for _, key := range but {
		delete(left, key)
		delete(right, key)
	}
	for key := range left {
		if !reflect.DeepEqual(left[key], right[key]) {
			a, _ := json.Marshal(left[key])
			b, _ := json.Marshal(right[key])
			t.Errorf("%s was %.1000s and is %.1000s", key, a, b)
		}
	}
}

// says waits until a webhook has an answer.
func (l *realLab) says(t *testing.T, path, word string) {
	t.Helper()
	testkit.Eventually(t, func() bool {
		_, answer := l.Webhook(t, path)
		return string(answer) == `{"word":"`+word+`"}`
	}, "the webhook %s says %s", path, word)
}

// greet makes a published workflow that answers its webhook with a word. It has all that
// an update must keep.
func (l *realLab) greet(t *testing.T, path string) (id string) {
	t.Helper()
	id = l.data(t, "create_workflow", object{
		"name": "genkan-e2e greets " + path, "active": true, "tags": []string{"genkan-e2e-greets"},
		"nodes": []any{
			webhook("Hook", path, "lastNode"),
			object{
				"name": "Say", "type": "n8n-nodes-base.set", "typeVersion": 3.4, "position": []int{200, 0}, "notes": "kept",
				"parameters": object{"options": object{}, "assignments": object{"assignments": []any{object{"id": "a", "name": "word", "value": "one", "type": "string"}}}},
			},
		},
		"connections": connections("Hook", "Say"),
		"settings":    object{"executionOrder": "v1", "timezone": "Asia/Tokyo", "saveExecutionProgress": true},
		"pinData":     object{"Say": []any{object{"json": object{"pinned": true}}}},
		"staticData":  object{"counter": 7},
	})["id"].(string)
	t.Cleanup(func() { l.Delete(t, id) })
	l.says(t, path, "one")
	return id
}

// setWord is the operation that changes the word.
func setWord(word, was string) object {
	return object{"op": "patchField", "node": "Say", "path": "parameters.assignments.assignments.0.value", "find": was, "replace": word}
}

// updates checks that an update changes what it names, and publishes when it is told to.
func (l *realLab) updates(t *testing.T) {
	const path = "genkan-e2e-tools-greets"
	id := l.greet(t, path)
	l.report.Fact(t, "an update of a published workflow is a draft", func(t *testing.T) string {
		before := l.stored(t, id)
		l.data(t, "update_workflow", object{"id": id, "operations": []any{setWord("two", "one")}}).holds(t, map[string]any{"published": false})
		same(t, before, l.stored(t, id), "nodes", "versionId")
		l.says(t, path, "one")
		l.data(t, "get_workflow", object{"id": id}).holds(t, map[string]any{"active": true, "unpublishedChanges": true, "tags.0": "genkan-e2e-greets"})
		return "the webhook has the old answer; tags, settings, pinData and staticData stay"
	})
	l.report.Fact(t, "publish: true makes it live", func(t *testing.T) string {
		l.data(t, "update_workflow", object{"id": id, "publish": true, "operations": []any{setWord("three", "two")}}).holds(t, map[string]any{"published": true})
		l.says(t, path, "three")
		l.data(t, "get_workflow", object{"id": id}).holds(t, map[string]any{"active": true, "unpublishedChanges": nil})
		return "the webhook has the new answer"
	})
	l.report.Fact(t, "publish: true publishes an earlier draft", func(t *testing.T) string {
		l.data(t, "update_workflow", object{"id": id, "operations": []any{setWord("four", "three")}})
		l.data(t, "update_workflow", object{"id": id, "publish": true}).holds(t, map[string]any{"published": true})
		l.says(t, path, "four")
		return "without another change"
	})
	l.report.Fact(t, "what was read with raw is sent back and changes nothing", func(t *testing.T) string {
		before := l.stored(t, id)
		l.data(t, "update_workflow", l.data(t, "get_workflow", object{"id": id, "raw": true}))
		same(t, before, l.stored(t, id))
		return "the same `versionId`"
	})
	l.report.Fact(t, "somebody else's edit is not overwritten", func(t *testing.T) string {
		mine := l.data(t, "get_workflow", object{"id": id, "nodeNames": []string{"Say"}})["versionId"]
		l.data(t, "update_workflow", object{"id": id, "operations": []any{setWord("theirs", "four")}})
		before := l.stored(t, id)
		text := l.ask(t, "update_workflow", object{"id": id, "versionId": mine, "operations": []any{object{"op": "updateNode", "node": "Say", "changes": object{"notes": "mine"}}}})
		if !strings.Contains(text, "changed by somebody else") {
			t.Error(text)
		}
		same(t, before, l.stored(t, id))
		return "`versionId` differs"
	})
	l.refusedUpdates(t, id, path)
	l.report.Fact(t, "an archived workflow", func(t *testing.T) string {
		l.Must(t, http.MethodPost, "/workflows/"+id+"/archive", nil, nil)
		before := l.stored(t, id)
		text := l.ask(t, "update_workflow", object{"id": id, "operations": []any{object{"op": "updateNode", "node": "Say", "changes": object{"notes": "mine"}}}})
		if !strings.Contains(text, "Cannot update an archived workflow") || !strings.Contains(text, "The workflow is unchanged") {
			t.Error(text)
		}
		same(t, before, l.stored(t, id))
		return "n8n refuses it, and the answer says that nothing has changed"
	})
}

// refusedUpdates checks that the workflow is as it was after n8n has stored a change that it
// refuses to publish.
func (l *realLab) refusedUpdates(t *testing.T, id, path string) {
	other := l.greet(t, path+"-other")
	l.data(t, "update_workflow", object{"id": id, "operations": []any{setWord("four", "theirs")}})
	for _, one := range []struct {
		name, error string
		operations  []any
	}{
		{"a change that cannot be published is undone", "no trigger node", []any{object{"op": "removeNode", "node": "Hook"}}},
		{"a webhook of another workflow is undone", "conflict with one of the webhooks", []any{
			object{"op": "updateNode", "node": "Hook", "changes": object{"parameters": object{"path": path + "-other"}}},
		}},
		{"a new webhook of another workflow is undone", "conflict with one of the webhooks", []any{
			object{"op": "addNode", "node": object{"name": "Second", "type": "n8n-nodes-base.webhook", "typeVersion": 2, "parameters": object{"path": path + "-other", "httpMethod": "POST"}}},
		}},
	} {
		l.report.Fact(t, one.name, func(t *testing.T) string {
			before := l.stored(t, id)
			text := l.ask(t, "update_workflow", object{"id": id, "publish": true, "operations": one.operations, "pinData": object{}})
			if !strings.Contains(text, one.error) || !strings.Contains(text, "the workflow was restored") {
				t.Error(text)
			}
			same(t, before, l.stored(t, id), "versionId")
			l.says(t, path, "four")
			l.says(t, path+"-other", "one")
			return "nodes, connections, settings, tags, pinData and staticData are as before; both webhooks answer as before"
		})
	}
	l.report.Fact(t, "delete_workflow of a published workflow", func(t *testing.T) string {
		l.data(t, "delete_workflow", object{"id": other})
		if status, _ := l.Call(t, http.MethodGet, "/workflows/"+other, nil); status != http.StatusNotFound {
			t.Errorf("it is still there: %d", status)
		}
		return "unpublished, then deleted"
	})
}

// tagging checks tags, which are names.
func (l *realLab) tagging(t *testing.T) {
	l.report.Fact(t, "tags by name", func(t *testing.T) string {
		const red, blue = "genkan-e2e-tool-red", "genkan-e2e-tool, blue"
		var ids [2]string
		for n := range ids {
			ids[n] = l.data(t, "create_workflow", object{"name": fmt.Sprint("genkan-e2e tags ", n), "nodes": []any{}, "connections": object{}, "tags": []string{red, blue}})["id"].(string)
			t.Cleanup(func() { l.Delete(t, ids[n]) })
		}
		t.Cleanup(func() {
			var known struct{ Data []struct{ ID, Name string } }
			l.Must(t, http.MethodGet, "/tags?limit=250", nil, &known)
			for _, one := range known.Data {
				if one.Name == red || one.Name == blue {
					l.Call(t, http.MethodDelete, "/tags/"+one.ID, nil)
				}
			}
		})
		l.data(t, "update_workflow", object{"id": ids[1], "tags": []string{red}})
		for _, one := range []struct {
			tags []string
			want int
		}{{[]string{red}, 2}, {[]string{blue}, 1}, {[]string{red, blue}, 1}} {
			if got := l.data(t, "list_workflows", object{"tags": one.tags})["count"]; got != float64(one.want) {
				t.Errorf("%v: %v workflows", one.tags, got)
			}
		}
		l.data(t, "update_workflow", object{"id": ids[1], "tags": []string{}})
		l.data(t, "get_workflow", object{"id": ids[1]}).holds(t, map[string]any{"tags": []any{}})
		return "made, found again, replaced, removed; a comma is no separator"
	})
}

// large makes a workflow of 100 nodes with code and returns its id.
func (l *realLab) large(t *testing.T) (id string) {
	t.Helper()
	names, nodes := []string{"Node 0"}, []any{webhook("Node 0", "genkan-e2e-large", "lastNode")}
	for n := 1; n < 100; n++ {
		name := fmt.Sprintf("Node %d", n)
		names = append(names, name)
		nodes = append(nodes, object{
			"name": name, "type": "n8n-nodes-base.code", "typeVersion": 2, "position": []int{n * 200, 0},
			"parameters": object{"jsCode": fmt.Sprintf("// step %d\nconst factor = %d;\nreturn $input.all().map(item => ({ json: { ...item.json, step%d: (item.json.value ?? 1) * factor } }));", n, n, n)},
		})
	}
	id = l.data(t, "create_workflow", object{"name": "genkan-e2e large", "nodes": nodes, "connections": connections(names...), "settings": object{"executionOrder": "v1"}})["id"].(string)
	t.Cleanup(func() { l.Delete(t, id) })
	return id
}

// largeWorkflow changes one node of a hundred.
func (l *realLab) largeWorkflow(t *testing.T) (id string) {
	id = l.large(t)
	l.report.Fact(t, "one node of 100 is changed alone", func(t *testing.T) string {
		before := l.stored(t, id)
		l.data(t, "update_workflow", object{"id": id, "operations": []any{
			object{"op": "patchField", "node": "Node 57", "path": "parameters.jsCode", "find": "factor = 57", "replace": "factor = 1057"},
		}})
		after := l.stored(t, id)
		same(t, before, after, "nodes", "versionId")
		changed := 0
		was, is := before["nodes"].([]any), after["nodes"].([]any)
		for n := range was {
			if !reflect.DeepEqual(was[n], is[n]) {
				changed++
			}
		}
		if code := fmt.Sprint(after.at("nodes.57.parameters.jsCode")); changed != 1 || !strings.Contains(code, "factor = 1057") {
			t.Errorf("%d nodes have changed: %s", changed, code)
		}
		return "99 nodes and the connections are as before"
	})
	return id
}
