package mcpserver_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// taskServer is a server of one era that makes a task of every call that may
// become one.
func taskServer(tb testing.TB, modernEra bool) map[string]any {
	tb.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		raw, _ := io.ReadAll(r.Body)
		var m struct {
			ID     json.RawMessage `json:"id"`
			Method string          `json:"method"`
			Params struct {
				TaskID string          `json:"taskId"`
				Task   json.RawMessage `json:"task"`
				Meta   map[string]any  `json:"_meta"`
			} `json:"params"`
		}
		_ = json.Unmarshal(raw, &m)
		capabilities, _ := m.Params.Meta["io.modelcontextprotocol/clientCapabilities"].(map[string]any)
		extensions, _ := capabilities["extensions"].(map[string]any)
		_, declared := extensions["io.modelcontextprotocol/tasks"]
		answer := func(result string) {
			w.Header().Set("Content-Type", "application/json")
			_, _ = fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"result":%s}`, m.ID, result)
		}
		switch {
		case r.Method != http.MethodPost:
			w.WriteHeader(http.StatusMethodNotAllowed)
		case m.ID == nil:
			w.WriteHeader(http.StatusAccepted)
		case m.Method == "server/discover" && modernEra:
			answer(`{"resultType":"complete","supportedVersions":["2026-07-28"],"capabilities":{"tools":{},"extensions":{"io.modelcontextprotocol/tasks":{}}},"ttlMs":0,"cacheScope":"private"}`)
		case m.Method == "initialize" && !modernEra:
			answer(`{"protocolVersion":"2025-11-25","capabilities":{"tools":{},"tasks":{"cancel":{},"requests":{"tools":{"call":{}}}}},"serverInfo":{"name":"t","version":"1"}}`)
		case m.Method == "tools/list":
			answer(`{"tools":[{"name":"long","inputSchema":{"type":"object"},"execution":{"taskSupport":"optional"}}]}`)
		case m.Method == "tools/call" && modernEra && declared:
			answer(`{"resultType":"task","taskId":"t-1","status":"working","ttlMs":60000}`)
		case m.Method == "tools/call" && !modernEra && m.Params.Task != nil:
			answer(`{"task":{"taskId":"t-1","status":"working","ttl":60000}}`)
		case m.Method == "tools/call":
			answer(`{"content":[{"type":"text","text":"at once"}]}`)
		case strings.HasPrefix(m.Method, "tasks/"):
			if modernEra && r.Header.Get("Mcp-Name") != m.Params.TaskID {
				w.WriteHeader(http.StatusBadRequest)
				return
			}
			answer(fmt.Sprintf(`{"resultType":"complete","taskId":%q,"status":"completed","asked":%q}`, m.Params.TaskID, m.Method))
		default:
			w.Header().Set("Content-Type", "application/json")
			w.WriteHeader(http.StatusNotFound)
			_, _ = fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"error":{"code":-32601,"message":"no"}}`, m.ID)
		}
	}))
	tb.Cleanup(server.Close)
	return map[string]any{"url": server.URL}
}

// withTasks makes a modern client one that knows tasks.
func withTasks(r request) request {
	r.body = strings.Replace(r.body, `clientCapabilities":{}`, `clientCapabilities":{"extensions":{"io.modelcontextprotocol/tasks":{}}}`, 1)
	return r
}

// A request about a task goes to the server that made it, for the caller whose
// call made it.
func TestTasksFindTheirServer(t *testing.T) {
	h := openHouse(t, servers{"new": taskServer(t, true), "newer": taskServer(t, true), "old": taskServer(t, false)})
	ofTask := func(method, id string) request {
		r := withTasks(modern("2", method, `"taskId":"`+id+`"`, ""))
		r.header.Set("Mcp-Name", id)
		return r
	}
	t.Run("modern", func(t *testing.T) {
		h.send(ofTask("tasks/get", "t-1")).want(t, http.StatusOK, -32602)
		if r := h.send(withTasks(modernCall("1", "new__long", "{}"))); member(t, r.last(), "result", "taskId") != `"t-1"` {
			t.Fatalf("the call was answered with %s", r.last())
		}
		for _, method := range []string{"tasks/get", "tasks/update", "tasks/cancel"} {
			if r := h.send(ofTask(method, "t-1")); member(t, r.last(), "result", "asked") != `"`+method+`"` {
				t.Errorf("%s: %s", method, r.last())
			}
		}
		foreign := ofTask("tasks/get", "t-1")
		foreign.header.Set("Authorization", "Bearer "+h.newToken("stranger"))
		h.send(foreign).want(t, http.StatusOK, -32602)
		wrong := ofTask("tasks/get", "t-1")
		wrong.header.Set("Mcp-Name", "t-2")
		h.send(wrong).want(t, http.StatusBadRequest, -32020)
	})
	t.Run("legacy", func(t *testing.T) {
		session := h.initialize(h.token)
		r := h.send(legacy(session, "1", "tools/call", `{"name":"old__long","arguments":{},"task":{"ttl":60000}}`))
		if member(t, r.last(), "result", "task", "taskId") != `"t-1"` {
			t.Fatalf("the call was answered with %s", r.last())
		}
		for _, method := range []string{"tasks/get", "tasks/result", "tasks/cancel"} {
			if r := h.send(legacy(session, "2", method, `{"taskId":"t-1"}`)); member(t, r.last(), "result", "asked") != `"`+method+`"` {
				t.Errorf("%s: %s", method, r.last())
			}
		}
	})
	t.Run("across the eras there are none", func(t *testing.T) {
		if r := h.send(withTasks(modernCall("1", "old__long", "{}"))); text(r.last()) != "at once" {
			t.Errorf("modern to legacy: %s", r.last())
		}
		session := h.initialize(h.token)
		if r := h.send(legacyCall(session, "1", "new__long", "{}")); text(r.last()) != "at once" {
			t.Errorf("legacy to modern: %s", r.last())
		}
	})
	t.Run("they are announced where there are any", func(t *testing.T) {
		if got := member(t, h.send(modern("1", "server/discover", "", "")).last(), "result", "capabilities", "extensions"); got != `{"io.modelcontextprotocol/tasks":{}}` {
			t.Errorf("modern: %s", got)
		}
		r := h.send(legacy("", "1", "initialize", `{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"t","version":"1"}}`))
		if got := member(t, r.last(), "result", "capabilities", "tasks"); got != `{"cancel":{},"requests":{"tools":{"call":{}}}}` {
			t.Errorf("legacy: %s", got)
		}
		// None of these lists them.
		h.send(legacy(h.initialize(h.token), "2", "tasks/list", `{}`)).want(t, http.StatusOK, -32601)
	})
}

// One version lets clients send arrays, and only that one.
func TestBatches(t *testing.T) {
	h := openHouse(t, servers{"fault": child(t)})
	begin := func(version string) string {
		r := h.send(legacy("", "0", "initialize", `{"protocolVersion":"`+version+`","capabilities":{},"clientInfo":{"name":"t","version":"1"}}`))
		return r.header.Get("Mcp-Session-Id")
	}
	one := func(id, text string) string {
		return legacyCall("", id, "fault__echo", `{"text":"`+text+`"}`).body
	}
	note := `{"jsonrpc":"2.0","method":"notifications/never-heard-of"}`
	session := begin("2025-03-26")
	send := func(body string) response {
		return h.send(request{body: body, header: headers("Mcp-Session-Id", session)})
	}
	r := send("[" + one("1", "a") + "," + note + "," + one("2", "b") + `,{"jsonrpc":"2.0","id":3,"method":"no/such"}]`)
	var answers []struct {
		ID    int `json:"id"`
		Error *struct {
			Code int `json:"code"`
		} `json:"error"`
	}
	if err := json.Unmarshal(r.body, &answers); err != nil || r.status != http.StatusOK {
		t.Fatalf("%d %s: %v", r.status, r.body, err)
	}
	if len(answers) != 3 || answers[0].ID != 1 || answers[1].ID != 2 || answers[2].Error == nil || answers[2].Error.Code != -32601 {
		t.Errorf("the answers are %s", r.body)
	}
	if r := send("[" + note + "]"); r.status != http.StatusAccepted {
		t.Errorf("only notifications: %d %s", r.status, r.body)
	}
	send("[]").want(t, http.StatusBadRequest, -32600)
	send("["+strings.Repeat(note+",", 300)+note+"]").want(t, http.StatusBadRequest, -32600)
	session = begin("2025-06-18")
	send("["+one("1", "a")+"]").want(t, http.StatusBadRequest, -32600)

	p := h.stdio()
	p.send(`{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-03-26","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}`)
	p.next()
	p.send("[" + one("1", "a") + "," + one("2", "b") + "]")
	if first, second := p.next(), p.next(); text(first)+text(second) != "ab" && text(first)+text(second) != "ba" {
		t.Errorf("over stdio: %s, %s", first, second)
	}
}
