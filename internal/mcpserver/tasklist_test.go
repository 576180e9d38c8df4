package mcpserver_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"genkan/internal/testkit"
)

// tasksOf lists a client's tasks, page by page: the id and the status of each.
func tasksOf(c *client) (ids []string, pages int) {
	c.tb.Helper()
	for cursor := ""; ; {
		answer := c.do("tasks/list", cursor)
		var m struct {
			Result *struct {
				Tasks []struct {
					TaskID    string `json:"taskId"`
					Status    string `json:"status"`
					CreatedAt string `json:"createdAt"`
				} `json:"tasks"`
				NextCursor string `json:"nextCursor"`
			} `json:"result"`
		}
		if err := json.Unmarshal([]byte(answer), &m); err != nil || m.Result == nil || m.Result.Tasks == nil {
			c.tb.Fatalf("tasks/list is answered with %s", answer)
		}
		for _, task := range m.Result.Tasks {
			if task.CreatedAt == "" {
				c.tb.Errorf("a task is only %+v", task)
			}
			ids = append(ids, task.TaskID+" "+task.Status)
		}
		pages++
		if m.Result.NextCursor == "" {
			return ids, pages
		}
		cursor = fmt.Sprintf(`"cursor":%q`, m.Result.NextCursor)
	}
}

// TestTaskList: a legacy client sees its own tasks of all servers, in the order of
// their creation, and no others.
func TestTaskList(t *testing.T) {
	t.Parallel()
	house := upstreams(t, "-tasks")
	house["plain"] = child(t)
	h := openHouse(t, house)
	for _, wire := range []string{overHTTP, overStdio} {
		t.Run("over "+wire, func(t *testing.T) {
			c := h.connect(t, clientOptions{era: legacyEra, wire: wire})
			if ids, _ := tasksOf(c); len(ids) != 0 {
				t.Errorf("at first there are %v", ids)
			}
			var want []string
			gate := newGate(t)
			// A page has 50.
			many := 51
			if wire == overStdio {
				many = testkit.Count(4, many)
			}
			for i := range many {
				server := []string{"lh", "ls"}[i%2]
				want = append(want, taskOf(c, server, fmt.Sprintf(`{"gate":%q}`, gate))+" working")
			}
			ids, pages := tasksOf(c)
			if !slices.Equal(ids, want) || pages != (many+49)/50 {
				t.Errorf("on %d pages there are %v", pages, ids)
			}
			canceled := strings.TrimSuffix(want[0], " working")
			c.do("tasks/cancel", fmt.Sprintf(`"taskId":%q`, canceled))
			if ids, _ = tasksOf(c); ids[0] != canceled+" cancelled" {
				t.Errorf("the first is %s", ids[0])
			}
			for _, cursor := range []string{`"cursor":""`, `"cursor":7`, `"cursor":"made up"`, `"cursor":"dGFza3MgYmVoaW5kIHg"`} {
				if answer := c.do("tasks/list", cursor); errorCode(answer) != -32602 {
					t.Errorf("%s is answered with %s", cursor, answer)
				}
			}
			other := h.connect(t, clientOptions{era: legacyEra, wire: overHTTP, token: h.newToken("other-" + strings.ToLower(wire))})
			if ids, _ := tasksOf(other); len(ids) != 0 {
				t.Errorf("another client sees %v", ids)
			}
			gate.open(t)
		})
	}
	t.Run("where servers list theirs", func(t *testing.T) {
		for view, listed := range map[string]bool{"lh": true, "ms": false, "plain": false} {
			c := h.connect(t, clientOptions{era: legacyEra, wire: overHTTP, view: view})
			answer := c.do("tasks/list", "")
			if (errorCode(answer) == 0) != listed || !listed && errorCode(answer) != -32601 {
				t.Errorf("%s answers %s", view, answer)
			}
			begun := c.do("initialize", `"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"t","version":"1"}`)
			if strings.Contains(begun, `"tasks":{"list":{},`) != listed {
				t.Errorf("%s begins with %s", view, begun)
			}
		}
		c := h.connect(t, clientOptions{era: modernEra, wire: overHTTP})
		if answer := c.do("tasks/list", ""); errorCode(answer) != -32601 {
			t.Errorf("a modern client is answered with %s", answer)
		}
	})
}

// TestATaskThatItsServerForgot is forgotten here as well.
func TestATaskThatItsServerForgot(t *testing.T) {
	t.Parallel()
	h := openHouse(t, servers{"a": with(child(t, "-everything", "-tasks", "-era", "legacy"), map[string]any{"isolation": "shared"})})
	c := h.connect(t, clientOptions{era: legacyEra, wire: overHTTP})
	taskOf(c, "a", `{}`)
	c.call("a__crash", `{}`)
	h.waitForServer("a")
	if ids, _ := tasksOf(c); len(ids) != 0 {
		t.Errorf("there are %v", ids)
	}
}
