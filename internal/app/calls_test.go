package app

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"genkan/internal/api/client"
	"genkan/internal/testkit"
)

// Two clients with tokens see their own calls and nothing of each other's, live and in
// the history. An administrator sees both, and the log has who read what others sent.
func TestCallsOfOthers(t *testing.T) {
	t.Parallel()
	file := servers(conf{"one": child(t)})
	file["record"] = conf{"bodies": "all"}
	h := openHouse(t, file)
	h.waitReady("one")
	as := map[string]http.Header{"admin": nil}
	watchers := map[string]watcher{"admin": watch(t, h.token, h.overHTTP, "calls", "config")}
	for _, name := range []string{"alice", "bob"} {
		_, token, err := h.tokens.Add(t.Context(), name, false)
		if err != nil {
			t.Fatal(err)
		}
		as[name] = http.Header{"Authorization": {"Bearer " + token.Reveal()}}
		watchers[name] = watch(t, token.Reveal(), h.overHTTP, "calls", "config")
	}
	for _, w := range watchers {
		h.opened(w)
	}
	words := map[string]string{"alice": "word-of-alice-plum", "bob": "word-of-bob-pear"}
	for _, name := range []string{"alice", "bob"} {
		status, body := h.request(http.MethodPost, "/v1/tools/call", `{"name":"one__echo","parameters":{"text":"`+words[name]+`"}}`, as[name])
		if status != http.StatusOK {
			t.Fatal(body)
		}
	}
	ids := map[string]string{}
	for name, w := range watchers {
		for _, whose := range []string{"alice", "bob"} {
			if name != "admin" && name != whose {
				continue
			}
			for _, event := range []string{client.EventCallStarted, client.EventCallEnded} {
				e := w.until(event) // the next event about a call
				var call client.CallEnded
				if err := json.Unmarshal(e.Data, &call); err != nil || e.Client != whose || call.Client != whose || call.Server != "one" || call.Tool != "one__echo" ||
					(event == client.EventCallEnded) != (call.Outcome == "ok") || strings.Contains(string(e.Data), "word-of") {
					t.Errorf("%s got %s of %s: %s", name, e.Name, e.Client, e.Data)
				}
				ids[whose] = call.ID
			}
		}
	}
	read := "an administrator read what another client sent and received"
	for _, path := range []string{"/v1/calls", "/v1/calls?text=word-of", "/v1/calls/stats", "/v1/calls/" + ids["alice"], "/v1/calls/" + ids["bob"]} {
		for _, c := range []struct{ who, other string }{{"alice", "bob"}, {"bob", "alice"}} {
			_, body := h.request(http.MethodGet, path, "", as[c.who])
			if strings.Contains(body, words[c.other]) || strings.Contains(body, `"`+c.other+`"`) {
				t.Errorf("%s sees the call of %s at %s: %s", c.who, c.other, path, body)
			}
		}
	}
	if status, body := h.request(http.MethodGet, "/v1/calls/"+ids["bob"], "", as["bob"]); status != http.StatusOK || !strings.Contains(body, words["bob"]) {
		t.Errorf("bob's own: %s", body)
	}
	if lines := h.logLines(read); len(lines) != 0 {
		t.Errorf("clients that read their own are logged: %v", lines)
	}
	if status, body := h.request(http.MethodGet, "/v1/calls/"+ids["bob"], "", nil); status != http.StatusOK || !strings.Contains(body, words["bob"]) {
		t.Errorf("the administrator: %s", body)
	}
	lines := h.logLines(read)
	if len(lines) != 1 || lines[0]["client"] != "bob" || lines[0]["reader"] != "admin" || lines[0]["request_id"] != ids["bob"] {
		t.Errorf("the log has %v", lines)
	}
	if strings.Contains(h.log.String(), "word-of") {
		t.Error("the log has what was sent")
	}
}

// A person cancels a call that has not ended: its client gets an error that says so, the
// history has it, the server is told to stop, and calls that it made end with it.
func TestCancelACall(t *testing.T) {
	t.Parallel()
	received := filepath.Join(t.TempDir(), "received")
	h := openHouse(t, servers(conf{"one": child(t, "-record", received)}))
	h.waitReady("one")
	as := map[string]http.Header{"admin": nil}
	for _, name := range []string{"alice", "bob"} {
		_, token, err := h.tokens.Add(t.Context(), name, false)
		if err != nil {
			t.Fatal(err)
		}
		as[name] = http.Header{"Authorization": {"Bearer " + token.Reveal()}}
	}
	admin := watch(t, h.token, h.overHTTP, "calls", "config")
	h.opened(admin)
	begun := func() (call client.CallStarted) {
		if err := json.Unmarshal(admin.until(client.EventCallStarted).Data, &call); err != nil {
			t.Fatal(err)
		}
		return call
	}
	cancel := func(who, id, language string) (int, string) {
		header := http.Header{"Accept-Language": {language}}
		maps.Copy(header, as[who])
		return h.request(http.MethodPost, "/v1/calls/"+id+"/cancel", "", header)
	}
	// send calls the tool sleep, for as long as nobody cancels it.
	send := func(who, path, body string) <-chan string {
		answer := make(chan string, 1)
		header := http.Header{"Mcp-Protocol-Version": {"2026-07-28"}, "Mcp-Method": {"tools/call"}, "Mcp-Name": {"one__sleep"}}
		maps.Copy(header, as[who])
		go func() {
			status, text, err := h.tryRequest(http.MethodPost, path, body, header)
			answer <- fmt.Sprint(status, " ", text, " ", err)
		}()
		return answer
	}
	const said = "a person canceled this call in Genkan; the server was told to stop"
	const overREST = `{"name":"one__sleep","parameters":{"ms":3600000}}`

	// Over MCP the model reads it.
	answer := send("alice", "/mcp", `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"one__sleep","arguments":{"ms":3600000},"_meta":{`+modernMeta+`}}}`)
	id := begun().ID
	testkit.Eventually(t, func() bool { raw, _ := os.ReadFile(received); return strings.Contains(string(raw), "3600000") }, "the server has the call")
	if status, text := cancel("bob", id, "en"); status != http.StatusNotFound {
		t.Errorf("a stranger: %d %s", status, text)
	}
	if status, text := cancel("alice", id, "en"); status != http.StatusOK {
		t.Fatalf("%d %s", status, text)
	}
	if got := <-answer; !strings.Contains(got, `"isError":true`) || !strings.Contains(got, `{"code":"canceled"}`) || !strings.Contains(got, said) {
		t.Error(got)
	}
	testkit.Eventually(t, func() bool {
		raw, _ := os.ReadFile(received)
		return strings.Contains(string(raw), "notifications/cancelled")
	}, "the server is told")
	admin.until(client.EventCallEnded, id, `"outcome":"canceled"`, said)
	if got := h.must(http.MethodGet, "/v1/calls/"+id, "", http.StatusOK); !strings.Contains(got, `"outcome":"canceled"`) || !strings.Contains(got, said) || strings.Contains(got, `"bytesOut":0,`) {
		t.Error(got)
	}
	if lines := h.logLines("a change was made over REST"); len(lines) != 1 || lines[0]["operation"] != "cancelCall" || lines[0]["name"] != id || lines[0]["client"] != "alice" {
		t.Errorf("logged %v", lines)
	}

	// It has ended.
	if status, text := cancel("admin", id, "en"); status != http.StatusConflict || !strings.Contains(text, "has ended already") {
		t.Errorf("%d %s", status, text)
	}
	if status, text := cancel("admin", id, "ja"); status != http.StatusConflict || !strings.Contains(text, "すでに終わっている") {
		t.Errorf("%d %s", status, text)
	}
	if status, text := cancel("admin", "AAAAAA-1", "en"); status != http.StatusNotFound {
		t.Errorf("%d %s", status, text)
	}

	// Over REST, by an administrator, who may end anybody's.
	answer = send("bob", "/v1/tools/call", overREST)
	id = begun().ID
	if status, text := cancel("admin", id, "en"); status != http.StatusOK {
		t.Fatalf("%d %s", status, text)
	}
	if got := <-answer; !strings.HasPrefix(got, "499 ") || !strings.Contains(got, `"CANCELED"`) || !strings.Contains(got, "a person canceled this call in Genkan") {
		t.Error(got)
	}

	// What a script called ends with the call that it ran around.
	h.enable(`{"id":"asks","name":"asks","workflowType":"tools/call","match":{"tools":["one__echo"]},"limits":{"hookMs":30000},
		"nodes":[{"id":"start","type":"start"},{"id":"hook","type":"hook","data":{"hook":{"script":"await call('one__sleep', {ms: 3600000})","blocking":true}}},
		{"id":"call","type":"mcp-call"},{"id":"end","type":"end"}],
		"edges":[{"source":"start","target":"hook"},{"source":"hook","target":"call"},{"source":"call","target":"end"}]}`)
	answer = send("admin", "/v1/tools/call", `{"name":"one__echo","parameters":{"text":"a"}}`)
	outer, inner := begun(), begun()
	if inner.Parent != outer.ID {
		t.Fatalf("%+v below %+v", inner, outer)
	}
	if status, text := cancel("admin", outer.ID, "en"); status != http.StatusOK {
		t.Fatalf("%d %s", status, text)
	}
	if got := <-answer; !strings.HasPrefix(got, "499 ") || !strings.Contains(got, "before it was sent") {
		t.Error(got)
	}
	admin.until(client.EventCallEnded, inner.ID, `"outcome":"canceled"`, "a person canceled this call in Genkan")
}

// How far a call is, is told to its caller and to administrators, in numbers alone.
func TestProgressOfCallsIsFollowed(t *testing.T) {
	t.Parallel()
	h := openHouse(t, servers(conf{"one": child(t)}))
	h.waitReady("one")
	_, token, err := h.tokens.Add(t.Context(), "bob", false)
	if err != nil {
		t.Fatal(err)
	}
	admin, bob := watch(t, h.token, h.overHTTP, "calls", "config"), watch(t, token.Reveal(), h.overHTTP, "calls", "config")
	h.opened(admin)
	h.opened(bob)
	for _, tool := range []string{`{"name":"one__progress","parameters":{"n":3}}`, `{"name":"one__echo","parameters":{"text":"x"}}`} {
		as := http.Header{}
		if strings.Contains(tool, "echo") {
			as.Set("Authorization", "Bearer "+token.Reveal())
		}
		if status, body := h.request(http.MethodPost, "/v1/tools/call", tool, as); status != http.StatusOK {
			t.Fatal(body)
		}
	}
	var begun client.CallStarted
	if err := json.Unmarshal(admin.until(client.EventCallStarted).Data, &begun); err != nil {
		t.Fatal(err)
	}
	e := admin.until(client.EventCallProgress)
	if want := `{"id":"` + begun.ID + `","server":"one","tool":"one__progress","done":1,"total":3}`; string(e.Data) != want {
		t.Errorf("%s, want %s", e.Data, want)
	}
	for _, e := range bob.upTo(client.EventCallEnded, "one__echo") {
		if e.Name == client.EventCallProgress || strings.Contains(string(e.Data), "one__progress") {
			t.Errorf("bob got %s %s", e.Name, e.Data)
		}
	}
}
