package mcpserver_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"genkan/internal/testkit"
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

// taskID is the id that a client is told, which is never the server's own.
func taskID(tb testing.TB, state string) string {
	tb.Helper()
	id := strings.Trim(member(tb, state, "taskId"), `"`)
	if len(id) < 20 {
		tb.Fatalf("the task is %s", state)
	}
	return id
}

// After a restart a task still belongs to its client alone, though all servers
// number their tasks alike. With two servers that create tasks, a request goes to
// the one that created it.
func TestTasksSurviveARestartForTheirOwner(t *testing.T) {
	t.Parallel()
	h := openHouse(t, servers{"new": taskServer(t, true), "old": taskServer(t, false), "older": taskServer(t, false)})
	stranger := h.newToken("stranger")
	made := h.send(withTasks(modernCall("1", "new__long", "{}")))
	modernID := taskID(t, member(t, made.last(), "result"))
	session := h.initialize(h.token)
	made = h.send(legacy(session, "1", "tools/call", `{"name":"old__long","arguments":{},"task":{"ttl":60000}}`))
	legacyID := taskID(t, member(t, made.last(), "result", "task"))

	h = h.again()
	session, theirs := h.initialize(h.token), h.initialize(stranger)
	for _, method := range []string{"tasks/get", "tasks/update", "tasks/cancel"} {
		ask := func(id, token string) response {
			r := withTasks(modern("2", method, `"taskId":"`+id+`"`, ""))
			r.header.Set("Mcp-Name", id)
			r.header.Set("Authorization", "Bearer "+token)
			return h.send(r)
		}
		if r := ask(modernID, h.token); taskID(t, member(t, r.last(), "result")) != modernID {
			t.Errorf("%s: %s", method, r.last())
		}
		for _, id := range []string{modernID, "t-1"} {
			ask(id, stranger).want(t, http.StatusOK, -32602)
		}
	}
	for _, method := range []string{"tasks/get", "tasks/result", "tasks/cancel"} {
		ask := func(id, session, token string) response {
			r := legacy(session, "2", method, `{"taskId":"`+id+`"}`)
			r.header.Set("Authorization", "Bearer "+token)
			return h.send(r)
		}
		if r := ask(legacyID, session, h.token); taskID(t, member(t, r.last(), "result")) != legacyID {
			t.Errorf("%s: %s", method, r.last())
		}
		for _, id := range []string{legacyID, "t-1"} {
			ask(id, theirs, stranger).want(t, http.StatusOK, -32602)
		}
	}
}

// A restarted server may reuse an id. Then the task belongs to the client whose
// call created it, not to the former owner of the id.
func TestAnIDThatAServerUsesAgain(t *testing.T) {
	t.Parallel()
	h := openHouse(t, servers{"a": with(child(t, "-everything", "-tasks", "-era", "legacy"), map[string]any{"isolation": "shared"})})
	first := h.connect(t, clientOptions{era: legacyEra, wire: overHTTP})
	second := h.connect(t, clientOptions{era: legacyEra, wire: overHTTP, token: h.newToken("second")})
	old := taskOf(first, "a", `{"text":"first"}`)
	first.call("a__crash", `{}`)
	h.waitForServer("a")
	taskOf(second, "a", `{"text":"second"}`)
	for _, method := range []string{"tasks/get", "tasks/result", "tasks/cancel"} {
		if answer := first.do(method, `"taskId":"`+old+`"`); errorCode(answer) != -32602 {
			t.Errorf("%s is answered with %s", method, answer)
		}
	}
}

// Messages of a server about a task, and requests for it, use the client's id of
// the task towards the client; the server sees its own id.
func TestReferencesToTasksAreTranslated(t *testing.T) {
	t.Parallel()
	const related = "io.modelcontextprotocol/related-task"
	for _, wire := range []string{overHTTP, overStdio} {
		for _, server := range []string{"lh", "ls"} {
			t.Run("over "+wire+" of "+server, func(t *testing.T) {
				record := recordFile(t)
				flags := []string{"-everything", "-tasks", "-era", "legacy", "-record", record}
				house := servers{"ls": with(child(t, flags...), map[string]any{"isolation": "shared"})}
				if server == "lh" {
					house = servers{"lh": sibling(t, flags...)}
				}
				h := openHouse(t, house)
				c := h.connect(t, clientOptions{era: legacyEra, wire: wire, capabilities: canBeAsked, answer: func(q question) string {
					id := member(t, q.params, "_meta", related, "taskId")
					return `"result":{"action":"accept","content":{"name":"Hana"},"_meta":{"` + related + `":{"taskId":` + id + `}}}`
				}})
				gate := newGate(t)
				id := taskOf(c, server, fmt.Sprintf(`{"gate":%q,"ask":true,"text":"hello "}`, gate))
				// The task asks once somebody waits for its result: before that nothing says
				// whose the question is.
				var result string
				var waiting sync.WaitGroup
				waiting.Go(func() { result = c.do("tasks/result", `"taskId":"`+id+`"`) })
				testkit.Eventually(t, func() bool { return countLines(t, record, `"tasks/result"`) > 0 }, "the result is waited for")
				gate.open(t)
				waiting.Wait()
				if got := member(t, result, "result", "_meta", related, "taskId"); got != `"`+id+`"` || !strings.Contains(result, "Hana") {
					t.Errorf("the result is %s", result)
				}
				for _, asked := range c.questions() {
					if got := member(t, asked.params, "_meta", related, "taskId"); got != `"`+id+`"` {
						t.Errorf("the client was asked %v", asked)
					}
				}
				c.mustSay(server+"__echo", `{"text":"x"}`)
				c.do("tools/call", `"name":"`+server+`__echo","arguments":{"text":"y"},"_meta":{"`+related+`":{"taskId":"`+id+`"}}`)
				if n := countLines(t, record, id); n > 0 {
					t.Errorf("the server sees the client's id %d times", n)
				}
				c.await("notifications/tasks/status")
				if at := c.place(`-task-1"`); at >= 0 {
					t.Errorf("the client sees the server's id: %s", c.all[at])
				}
			})
		}
	}
}

// A request about a task goes to the server that made it, for the caller whose
// call made it.
func TestTasksFindTheirServer(t *testing.T) {
	t.Parallel()
	h := openHouse(t, servers{"new": taskServer(t, true), "newer": taskServer(t, true), "old": taskServer(t, false)})
	ofTask := func(method, id string) request {
		r := withTasks(modern("2", method, `"taskId":"`+id+`"`, ""))
		r.header.Set("Mcp-Name", id)
		return r
	}
	stranger := h.newToken("stranger")
	t.Run("modern", func(t *testing.T) {
		h.send(ofTask("tasks/get", "t-1")).want(t, http.StatusOK, -32602)
		r := h.send(withTasks(modernCall("1", "new__long", "{}")))
		id := taskID(t, member(t, r.last(), "result"))
		if again := taskID(t, member(t, h.send(withTasks(modernCall("1", "new__long", "{}"))).last(), "result")); again != id {
			t.Errorf("one task has the ids %s and %s", id, again)
		}
		if other := taskID(t, member(t, h.send(withTasks(modernCall("1", "newer__long", "{}"))).last(), "result")); other == id {
			t.Error("tasks of two servers have one id")
		}
		for _, method := range []string{"tasks/get", "tasks/update", "tasks/cancel"} {
			r := h.send(ofTask(method, id))
			if member(t, r.last(), "result", "asked") != `"`+method+`"` || taskID(t, member(t, r.last(), "result")) != id {
				t.Errorf("%s: %s", method, r.last())
			}
			h.send(ofTask(method, "t-1")).want(t, http.StatusOK, -32602) // the server's own
			foreign := ofTask(method, id)
			foreign.header.Set("Authorization", "Bearer "+stranger)
			h.send(foreign).want(t, http.StatusOK, -32602)
		}
		wrong := ofTask("tasks/get", id)
		wrong.header.Set("Mcp-Name", "t-2")
		h.send(wrong).want(t, http.StatusBadRequest, -32020)
	})
	t.Run("legacy", func(t *testing.T) {
		session, theirs := h.initialize(h.token), h.initialize(stranger)
		r := h.send(legacy(session, "1", "tools/call", `{"name":"old__long","arguments":{},"task":{"ttl":60000}}`))
		id := taskID(t, member(t, r.last(), "result", "task"))
		for _, method := range []string{"tasks/get", "tasks/result", "tasks/cancel"} {
			r := h.send(legacy(session, "2", method, `{"taskId":"`+id+`"}`))
			if member(t, r.last(), "result", "asked") != `"`+method+`"` || taskID(t, member(t, r.last(), "result")) != id {
				t.Errorf("%s: %s", method, r.last())
			}
			for _, named := range []string{"t-1", id[:len(id)-1] + "A", id + "AAAA"} {
				h.send(legacy(session, "2", method, `{"taskId":"`+named+`"}`)).want(t, http.StatusOK, -32602)
			}
			foreign := legacy(theirs, "2", method, `{"taskId":"`+id+`"}`)
			foreign.header.Set("Authorization", "Bearer "+stranger)
			h.send(foreign).want(t, http.StatusOK, -32602)
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
		// None of these servers lists tasks.
		h.send(legacy(h.initialize(h.token), "2", "tasks/list", `{}`)).want(t, http.StatusOK, -32601)
	})
}

// One version lets clients send arrays, and only that one.
func TestBatches(t *testing.T) {
	t.Parallel()
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
