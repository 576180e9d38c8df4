package n8n_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"genkan/internal/n8n"
	"genkan/internal/testkit/n8nfake"
)

// What a trigger is sent: the data in its own form, and never the API key, which the
// workflow would see.
func TestTriggersAreCalledInTheirOwnForm(t *testing.T) {
	t.Parallel()
	fake := n8nfake.New(t)
	for _, w := range []string{
		`{"id":"hook","type":"n8n-nodes-base.webhook","parameters":{"path":"/a b/","httpMethod":"POST"}}`,
		`{"id":"get","type":"n8n-nodes-base.webhook","parameters":{"path":"users/:id"}}`,
		`{"id":"bare","type":"n8n-nodes-base.webhook","parameters":{}}`,
		`{"id":"old","type":"n8n-nodes-base.webhook","parameters":{"path":"x","httpMethod":"POST"}}`,
		`{"id":"form","type":"n8n-nodes-base.formTrigger","parameters":{"options":{"path":"ask"},"formFields":{"values":[{"fieldLabel":"Name"},{"fieldName":"Kind"}]}}}`,
		`{"id":"chat","type":"@n8n/n8n-nodes-langchain.chatTrigger","parameters":{"public":true}}`,
	} {
		var node map[string]any
		if err := json.Unmarshal([]byte(w), &node); err != nil {
			t.Fatal(err)
		}
		node["name"], node["webhookId"] = "My Hook", "w-"+node["id"].(string)
		if node["id"] == "old" {
			delete(node, "webhookId")
		}
		raw, _ := json.Marshal(map[string]any{"id": node["id"], "name": "W", "active": true, "nodes": []any{node}, "connections": map[string]any{}})
		fake.Add(t, string(raw))
	}
	reader := &n8n.Reader{Dir: t.TempDir()}
	defer reader.Close()
	s := newSource(t, fake.URL, n8nfake.Key, n8n.Setup{Executions: reader})
	for _, one := range []struct{ id, arguments, url, body string }{
		{"hook", `{"data":{"n":1,"text":"<x>"},"headers":{"X-Token":"t"}}`, "POST /webhook/a%20b", `{"n":1,"text":"<x>"}`},
		{"get", `{"data":{"id":"a/b","q":[1],"s":"x y"}}`, "GET /webhook/w-get/users/a%2Fb?q=%5B1%5D&s=x+y", ""},
		{"bare", `{}`, "GET /webhook/w-bare", ""},
		{"old", `{}`, "POST /webhook/old/my%2520hook/x", "{}"},
		{"form", `{"data":{"name":"Hanako","Kind":["a"]}}`, "POST /form/ask", "name=\"field-0\"\r\n\r\nHanako"},
		{"form", `{"data":{"Kind":["a"]},"test":true}`, "POST /form-test/ask", "name=\"field-1\"\r\n\r\n[\"a\"]"},
		{"chat", `{"data":{"chatInput":"Hi","sessionId":"a\nb` + strings.Repeat("x", 100_000) + `"}}`, "POST /webhook/w-chat/chat", `"sessionId":"a\nbx`},
		{"chat", `{"data":{"chatInput":"Hi","sessionId":"s1"}}`, "POST /webhook/w-chat/chat", `{"action":"sendMessage","chatInput":"Hi","sessionId":"s1"}`},
	} {
		var arguments map[string]any
		if err := json.Unmarshal([]byte(one.arguments), &arguments); err != nil {
			t.Fatal(err)
		}
		arguments["id"] = one.id
		got := ask(t, s, "", "run_workflow", arguments)
		if !strings.Contains(got, "n8n does not listen") {
			t.Errorf("%s: %s", one.id, got)
		}
		all := fake.Triggered()
		last := all[len(all)-1]
		if at := last.Method + " " + last.URL; at != one.url || !strings.Contains(last.Body, one.body) || one.body == "" && last.Body != "" {
			t.Errorf("%s: %s\n%s", one.id, at, last.Body)
		}
		if fmt.Sprint(last) != strings.ReplaceAll(fmt.Sprint(last), n8nfake.Key, "") {
			t.Errorf("%s: the trigger was sent the API key", one.id)
		}
		if one.id == "hook" && last.Header.Get("X-Token") != "t" {
			t.Errorf("%v", last.Header)
		}
	}
	if n := len(fake.Triggered()); n != 8 {
		t.Errorf("%d calls of triggers, not one each", n)
	}
}

// The published version of a workflow runs, not the draft.
func TestThePublishedTriggerIsCalled(t *testing.T) {
	t.Parallel()
	fake := n8nfake.New(t)
	id := fake.Add(t, `{"id":"w","name":"W","active":true,"nodes":[{"id":"h","name":"H","type":"n8n-nodes-base.webhook","webhookId":"x","parameters":{"path":"live"}}],"connections":{}}`)
	fake.Edit(id, func(w map[string]any) {
		w["nodes"].([]any)[0].(map[string]any)["parameters"] = map[string]any{"path": "draft"}
	})
	s := newSource(t, fake.URL, n8nfake.Key, n8n.Setup{Executions: &n8n.Reader{Dir: t.TempDir()}})
	ask(t, s, "", "run_workflow", map[string]any{"id": id})
	ask(t, s, "", "run_workflow", map[string]any{"id": id, "test": true})
	if got := fake.Triggered(); len(got) != 2 || got[0].URL != "/webhook/live" || got[1].URL != "/webhook-test/draft" {
		t.Errorf("%v", got)
	}
}

func failedOn(id int) string {
	return strings.Replace(strings.ReplaceAll(failedExecution, "\n", ""), `"id":"7"`, fmt.Sprintf(`"id":"%d"`, id), 1)
}

// A search reads 50 executions a call. The cursor leads through all of them, each once.
func TestASearchGoesOnWhereItEnded(t *testing.T) {
	t.Parallel()
	const executions = 120
	fake := n8nfake.New(t)
	for id := 1; id <= executions; id++ {
		fake.AddExecution(t, failedOn(id))
	}
	s := newSource(t, fake.URL, n8nfake.Key, n8n.Setup{})
	var ids []string
	cursor := ""
	for calls := 1; ; calls++ {
		before := len(fake.Requests())
		var got struct {
			Data struct {
				Searched   int
				NextCursor string
				Executions []struct{ ID string }
			}
		}
		if err := json.Unmarshal([]byte(ask(t, s, "", "search_executions", map[string]any{"text": "econn", "cursor": cursor})), &got); err != nil {
			t.Fatal(err)
		}
		for _, e := range got.Data.Executions {
			ids = append(ids, e.ID)
		}
		read := slices.DeleteFunc(fake.Requests()[before:], func(r string) bool { return !strings.HasPrefix(r, "GET /executions/") })
		if len(read) > 50 || got.Data.Searched != len(read) {
			t.Errorf("call %d read %d executions and says %d", calls, len(read), got.Data.Searched)
		}
		if cursor = got.Data.NextCursor; cursor == "" {
			if calls != 3 {
				t.Errorf("%d calls", calls)
			}
			break
		}
	}
	for i, id := range ids {
		if id != fmt.Sprint(executions-i) {
			t.Fatalf("%v", ids)
		}
	}
	if len(ids) != executions {
		t.Errorf("%d found", len(ids))
	}
}

// An execution that takes all the time is named, and the next call goes on behind it.
func TestASearchEndsInTime(t *testing.T) {
	t.Parallel()
	fake := n8nfake.New(t)
	for id := 1; id <= 3; id++ {
		fake.AddExecution(t, failedOn(id))
	}
	fake.Fail(n8nfake.Fault{Method: http.MethodGet, Path: "/executions/3", Wait: true})
	hasty := newSource(t, fake.URL, n8nfake.Key, n8n.Setup{})
	hasty.SetSearchTime(10 * time.Millisecond)
	first := ask(t, hasty, "", "search_executions", map[string]any{"text": "econn"})
	if !strings.Contains(first, `"unread":["3"],"nextCursor":"3."`) {
		t.Fatal(first)
	}
	rest := ask(t, newSource(t, fake.URL, n8nfake.Key, n8n.Setup{}), "", "search_executions", map[string]any{"text": "econn", "cursor": "3."})
	if !strings.Contains(rest, `"count":2,"searched":2`) {
		t.Error(rest)
	}
}

// What n8n cannot give is an error, not an empty answer.
func TestASearchThatCannotReadFails(t *testing.T) {
	t.Parallel()
	fake := n8nfake.New(t)
	for id := 1; id <= 5; id++ {
		fake.AddExecution(t, failedOn(id))
	}
	fake.Scopes("execution:list")
	got := ask(t, newSource(t, fake.URL, n8nfake.Key, n8n.Setup{}), "", "search_executions", map[string]any{"text": "econn"})
	if !strings.Contains(got, "Give it the scope execution:read") {
		t.Error(got)
	}
}

// A workflow that was published just now is run when n8n should have put the new version
// in place, and later runs do not wait.
func TestARunWaitsForAVersionThatWasJustPublished(t *testing.T) {
	t.Parallel()
	const settling = 100 * time.Millisecond
	for name, publish := range map[string]map[string]any{
		"activate_workflow": {"id": "w"},
		"update_workflow":   {"id": "w", "publish": true, "operations": []any{map[string]any{"op": "addNode", "node": map[string]any{"name": "End", "type": "n8n-nodes-base.noOp"}}}},
	} {
		fake := n8nfake.New(t)
		fake.Add(t, `{"id":"w","name":"W","active":true,"nodes":[{"id":"h","name":"Hook","type":"n8n-nodes-base.webhook","webhookId":"h","typeVersion":2,"position":[0,0],"parameters":{"path":"w","httpMethod":"POST"}}],"connections":{}}`)
		reader := &n8n.Reader{Dir: t.TempDir()}
		t.Cleanup(reader.Close)
		s := newSource(t, fake.URL, n8nfake.Key, n8n.Setup{Executions: reader})
		s.SetSettling(settling)
		began := time.Now()
		if got := ask(t, s, "", name, publish); !strings.Contains(got, `"success":true`) {
			t.Fatal(got)
		}
		ask(t, s, "", "run_workflow", map[string]any{"id": "w"})
		if took := time.Since(began); took < settling || len(fake.Triggered()) != 1 {
			t.Errorf("%s: run after %v, %d times", name, took, len(fake.Triggered()))
		}
		s.SetSettling(time.Hour)
		ask(t, s, "", "run_workflow", map[string]any{"id": "w"})
		if len(fake.Triggered()) != 2 {
			t.Errorf("%s: the second run waits", name)
		}
	}
}
