package mcpserver_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"genkan/internal/testkit"
)

// TestWhoReadsHowAServerIsStarted: why a server is down names commands, folders and
// variables only to the user whom genkan runs as. Other clients read whom to ask.
func TestWhoReadsHowAServerIsStarted(t *testing.T) {
	t.Parallel()
	folder := with(child(t), map[string]any{"cwd": "/hidden-place/folder"})
	h := startHouse(t, servers{
		"path":    {"command": "/hidden-place/bin/server"},
		"command": {"command": "hidden-place-command"},
		"lacking": with(child(t), map[string]any{"env": map[string]any{"KEY": "${HIDDEN_PLACE_KEY}"}}),
		"folder":  folder,
	})
	hidden := map[string]string{
		"path": "/hidden-place/bin/server", "command": "hidden-place-command", "lacking": "HIDDEN_PLACE_KEY", "folder": "/hidden-place/folder",
	}
	for name := range hidden {
		testkit.Eventually(t, func() bool {
			var status struct{ State string }
			h.getJSON("/v1/servers/"+name, &status)
			return status.State == "down"
		}, "server %s is down", name)
	}
	guest := h.newToken("guest")
	rest := func(token, method, path, body string) string {
		return string(h.send(request{method: method, path: path, body: body, header: headers("Authorization", "Bearer "+token)}).body)
	}
	// Everything that a client can ask about a server that is down.
	answers := func(t *testing.T, o clientOptions, name string) map[string]string {
		t.Helper()
		all := map[string]string{"call": h.connect(t, o).call(name+"__x", `{}`)}
		if o.wire == overStdio {
			return all
		}
		o.query = "?mode=search"
		c := h.connect(t, o)
		all["call in search mode"] = c.call("call_tool", fmt.Sprintf(`{"name":"%s__x","arguments":{}}`, name))
		all["reading call in search mode"] = c.call("call_read_tool", fmt.Sprintf(`{"name":"%s__x","arguments":{}}`, name))
		all["description in search mode"] = c.call("describe_tool", fmt.Sprintf(`{"name":"%s__x"}`, name))
		all["search in search mode"] = c.call("search_tools", fmt.Sprintf(`{"query":"x","server":%q}`, name))
		o.query, o.view = "", name
		all["call in the view of the server"] = h.connect(t, o).call("x", `{}`)
		token := o.token
		if token == "" {
			token = h.token
		}
		all["REST: call"] = rest(token, http.MethodPost, "/v1/tools/call", fmt.Sprintf(`{"name":"%s__x"}`, name))
		all["REST: tool"] = rest(token, http.MethodGet, "/v1/tools/"+name+"__x", "")
		all["REST: server"] = rest(token, http.MethodGet, "/v1/servers/"+name, "")
		all["REST: servers"] = rest(token, http.MethodGet, "/v1/servers", "")
		return all
	}
	for name, hidden := range hidden {
		t.Run(name, func(t *testing.T) {
			for _, era := range []string{legacyEra, modernEra} {
				for what, answer := range answers(t, clientOptions{era: era, wire: overHTTP, token: guest}, name) {
					if strings.Contains(answer, hidden) || !strings.Contains(answer, "ask whoever runs this genkan") {
						t.Errorf("a client reads, as the answer to a %s %s: %s", era, what, answer)
					}
				}
				for what, answer := range answers(t, clientOptions{era: era, wire: overHTTP}, name) {
					if !strings.Contains(answer, hidden) {
						t.Errorf("an administrator reads, as the answer to a %s %s: %s", era, what, answer)
					}
				}
				for what, answer := range answers(t, clientOptions{era: era, wire: overStdio}, name) {
					if !strings.Contains(answer, hidden) {
						t.Errorf("the local user reads, as the answer to a %s %s: %s", era, what, answer)
					}
				}
			}
		})
	}
}
