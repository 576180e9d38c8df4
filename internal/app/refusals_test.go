package app

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
)

// Every refused request leaves a line and a count, and no token.
func TestRefusalsLeaveATrace(t *testing.T) {
	t.Parallel()
	h := openHouse(t, servers(conf{}))
	_, client, err := h.tokens.Add(t.Context(), "cursor", false)
	if err != nil {
		t.Fatal(err)
	}
	bearer := http.Header{"Authorization": {"Bearer " + client.Reveal()}}
	const wrong = "Bearer not-a-token-of-this-house"
	for _, test := range []struct {
		method, path, body string
		header             http.Header
		host               string
		status             int
		reason, client     string
	}{
		{"GET", "/v1/tools?key=hidden-in-query", "", http.Header{"Authorization": {wrong}}, "", 401, "wrong_token", ""},
		{"GET", "/v1/tools", "", http.Header{"Authorization": {}}, "", 401, "no_token", ""},
		{"POST", "/mcp", "{}", http.Header{"Authorization": {wrong}}, "", 401, "wrong_token", ""},
		{"POST", "/mcp", "{}", http.Header{"Origin": {"https://evil.example"}}, "", 403, "foreign_origin", ""},
		{"GET", "/v1/tools", "", nil, "evil.example", 403, "foreign_host", ""},
		{"POST", "/v1/reload", "", bearer, "", 403, "admin_only", "cursor"},
		{"POST", "/v1/tools/call", `{"name":"hidden-in-body"`, bearer, "", 400, "validation_error", "cursor"},
		{"GET", "/v1/nothing", "", bearer, "", 404, "not_found", "cursor"},
		{"GET", "/nothing", "", bearer, "", 404, "not_found", "cursor"},
		{"GET", "/v1/servers/nobody", "", bearer, "", 404, "not_found", "cursor"},
		{"DELETE", "/v1/tools", "", bearer, "", 405, "method_not_allowed", "cursor"},
		{"POST", "/mcp", `{"hidden-in-body"`, bearer, "", 400, "bad_request", "cursor"},
		{"PUT", "/mcp", "", bearer, "", 405, "wrong_method", "cursor"},
		{"POST", "/mcp/s/nobody", "{}", bearer, "", 404, "not_found", "cursor"},
		{"POST", "/messages?sessionId=hidden-in-query", "{}", bearer, "", 404, "not_found", "cursor"},
	} {
		t.Run(test.method+" "+test.path+" "+test.reason, func(t *testing.T) {
			before := len(h.logLines("a request was refused"))
			r, err := http.NewRequestWithContext(t.Context(), test.method, h.base+test.path, strings.NewReader(test.body))
			if err != nil {
				t.Fatal(err)
			}
			r.Host = test.host
			r.Header.Set("Content-Type", "application/json")
			r.Header.Set("Authorization", "Bearer "+h.token)
			for name, values := range test.header {
				r.Header[name] = values
			}
			resp, err := h.http.Do(r)
			if err != nil {
				t.Fatal(err)
			}
			_ = resp.Body.Close()
			if resp.StatusCode != test.status {
				t.Errorf("status %d, want %d", resp.StatusCode, test.status)
			}
			lines := h.logLines("a request was refused")
			if len(lines) != before+1 {
				t.Fatalf("%d lines, want one", len(lines)-before)
			}
			line := lines[before]
			path, _, _ := strings.Cut(test.path, "?")
			path = strings.NewReplacer("/v1/servers/nobody", "/v1/servers/{name}", "/mcp/s/nobody", "/mcp/s/{server}").Replace(path)
			for key, want := range map[string]any{
				"reason": test.reason, "status": float64(test.status), "method": test.method, "path": path, "client": test.client,
			} {
				if line[key] != want {
					t.Errorf("%s is %v, want %v", key, line[key], want)
				}
			}
			if !strings.HasPrefix(fmt.Sprint(line["remote_address"]), "127.0.0.1:") {
				t.Errorf("the remote address is %v", line["remote_address"])
			}
		})
	}
	// An unknown tool is a call, and has a line as such.
	if _, err := h.call("no_such_tool", `{}`); err == nil {
		t.Error("an unknown tool was called")
	}
	if calls := h.logLines("call"); len(calls) != 1 || calls[0]["tool_name"] != "no_such_tool" {
		t.Errorf("the calls are %v", calls)
	}
	if _, metrics := h.request("GET", "/metrics", "", nil); !strings.Contains(metrics, `genkan_refusals_total{reason="wrong_token"} 2`) ||
		!strings.Contains(metrics, `genkan_refusals_total{reason="unknown_tool"} 1`) {
		t.Error("the metrics do not count them")
	}
	for _, secret := range []string{"hidden-in", "not-a-token", client.Reveal(), h.token} {
		if strings.Contains(h.log.String(), secret) {
			t.Errorf("the log has %q", secret)
		}
	}
}

// Changes of an administrator are logged, with names and without values.
func TestChangesByAnAdministratorLeaveATrace(t *testing.T) {
	t.Parallel()
	h := openHouse(t, servers(conf{"one": child(t)}))
	h.waitReady("one")
	const secret = "hidden-value-of-a-key-0123456789"
	command := child(t)
	command["env"].(conf)["API_KEY"] = secret
	definition := strings.ReplaceAll(fmt.Sprintf(`{"name":"two","command":%q,"disabled":true,"env":{"API_KEY":%q}}`, command["command"], secret), "\n", "")
	for _, test := range []struct{ method, path, body, operation, name string }{
		{"POST", "/v1/servers", definition, "addServer", "two"},
		{"PATCH", "/v1/servers/two", `{"disabled":true}`, "changeServer", "two"},
		{"DELETE", "/v1/servers/two", "", "removeServer", "two"},
		{"POST", "/v1/servers/one/restart", "", "restartServer", "one"},
		{"POST", "/v1/tools/one__echo/disable", "", "disableTool", "one__echo"},
		{"PATCH", "/v1/tools/one__echo", `{"description":"hidden-value"}`, "changeTool", "one__echo"},
		{"POST", "/v1/reload", "", "reload", ""},
		{"DELETE", "/v1/search/learned?client=cursor", "", "forgetLearned", "cursor"},
	} {
		t.Run(test.operation, func(t *testing.T) {
			before := len(h.logLines("a change was made over REST"))
			if status, text := h.request(test.method, test.path, test.body, nil); status >= 400 {
				t.Fatal(status, text)
			}
			lines := h.logLines("a change was made over REST")
			if len(lines) != before+1 {
				t.Fatalf("%d lines, want one", len(lines)-before)
			}
			line := lines[before]
			if line["operation"] != test.operation || line["name"] != test.name || line["client"] != "admin" || line["admin"] != true {
				t.Errorf("the line is %v", line)
			}
		})
	}
	if status, _ := h.request("DELETE", "/v1/servers/two", "", nil); status != http.StatusNotFound {
		t.Error(status)
	}
	if lines := h.logLines("a change was made over REST"); lines[len(lines)-1]["operation"] == "removeServer" {
		t.Error("what failed is said to be done")
	}
	for _, message := range []string{"secrets of a server are kept", "secrets of a server are forgotten"} {
		if lines := h.logLines(message); len(lines) != 1 || lines[0]["server"] != "two" {
			t.Errorf("%s: %v", message, lines)
		}
	}
	if strings.Contains(h.log.String(), "hidden-value") {
		t.Error("the log has a value")
	}
}
