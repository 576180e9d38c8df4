package app

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"genkan/internal/api/client"
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
