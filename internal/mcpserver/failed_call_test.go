package mcpserver_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"
)

// wantFailure fails the test unless a message is a result that tells the model of a
// failure.
func wantFailure(tb testing.TB, message, code, words string) {
	tb.Helper()
	if errorCode(message) != 0 || member(tb, message, "result", "isError") != "true" ||
		member(tb, message, "result", "_meta", "genkan/error", "code") != fmt.Sprintf("%q", code) || !strings.Contains(text(message), words) {
		tb.Errorf("want a result with the code %s and %q, got %s", code, words, message)
	}
}

// TestFailuresThatAModelCanActOn are results over every transport, in both eras and
// in search mode. Unknown tools and errors of servers stay errors.
func TestFailuresThatAModelCanActOn(t *testing.T) {
	t.Parallel()
	h := startHouse(t, servers{
		"strict": with(child(t), map[string]any{"validate": true}),
		"short":  with(child(t, "-everything"), map[string]any{"tools": map[string]any{"options": map[string]any{"sleep": map[string]any{"timeout": "30ms"}}}}),
		"gone":   {"command": "no-such-command-anywhere"},
	})
	h.waitForServer("strict")
	h.waitForServer("short")
	h.send(request{path: "/v1/tools/short__count/disable", header: headers("Authorization", "Bearer "+h.token)}).want(t, http.StatusOK, 0)
	cases := []struct{ tool, arguments, code, words string }{
		{"strict__echo", `{"text":7}`, "invalid", "Invalid type for parameter text: expected string, is a number"},
		{"short__sleep", `{"ms":600000}`, "timeout", "Execution timeout after 30ms: short__sleep gave no answer"},
		{"short__count", `{}`, "disabled", "Tool is disabled: short__count. An admin has switched it off. Do not work around that: ask the user"},
		{"strict__crash", `{}`, "unavailable", "server strict"},
		{"gone__get", `{}`, "unavailable", "Server gone is down and has not listed any tools yet"},
	}
	// Models send these by mistake, and see no protocol error.
	wrongArguments := map[string]string{
		`"{\"text\":\"hi\"}"`: "arguments must be an object, is a string; give the JSON object itself",
		`["hi"]`:              "arguments must be an object, is an array",
		`7`:                   "arguments must be an object, is a number",
		`true`:                "arguments must be an object, is a boolean",
	}
	check := func(t *testing.T, modern bool, call func(tool, arguments string) string) {
		t.Helper()
		for _, c := range cases {
			answer := call(c.tool, c.arguments)
			wantFailure(t, answer, c.code, c.words)
			if complete := strings.Contains(answer, `"resultType":"complete"`); complete != modern {
				t.Errorf("modern %v: %s", modern, answer)
			}
		}
		for arguments, words := range wrongArguments {
			wantFailure(t, call("short__echo", arguments), "invalid", words)
		}
		if answer := call("short__pid", `null`); errorCode(answer) != 0 || strings.Contains(answer, "isError") {
			t.Errorf("null is not taken for no arguments: %s", answer)
		}
		answer := call("strict__ehco", `{}`)
		if errorCode(answer) != -32602 || !strings.Contains(answer, "Did you mean strict__echo?") {
			t.Errorf("an unknown tool: %s", answer)
		}
		answer = call("short__raw", `{"error_json":{"code":-32042,"message":"own","data":1.50}}`)
		if got := member(t, answer, "error"); got != `{"code":-32042,"message":"own","data":1.50}` {
			t.Errorf("a server's own error: %s", answer)
		}
	}
	for _, o := range kinds() {
		t.Run(o.String(), func(t *testing.T) { check(t, o.era == modernEra, h.connect(t, o).call) })
	}
	t.Run("SSE", func(t *testing.T) {
		c := h.sse("/sse", "")
		c.send(initializeLine)
		_ = c.next()
		id := 0
		check(t, false, func(tool, arguments string) string {
			id++
			c.send(legacyCall("", fmt.Sprint(id), tool, arguments).body)
			return c.answer(fmt.Sprint(id))
		})
	})
	t.Run("a batch", func(t *testing.T) {
		begin := legacy("", "0", "initialize", `{"protocolVersion":"2025-03-26","capabilities":{},"clientInfo":{"name":"t","version":"1"}}`)
		session := h.send(begin).header.Get("Mcp-Session-Id")
		check(t, false, func(tool, arguments string) string {
			r := legacyCall(session, "1", tool, arguments)
			r.body = `[{"jsonrpc":"2.0","id":2,"method":"ping"},` + r.body + `]`
			got := h.send(r)
			var answers []json.RawMessage
			if err := json.Unmarshal(got.body, &answers); err != nil || len(answers) != 2 || got.status != http.StatusOK {
				t.Fatalf("%d %s: %v", got.status, got.body, err)
			}
			return string(answers[1])
		})
	})
	t.Run("search mode", func(t *testing.T) {
		for _, era := range []string{legacyEra, modernEra} {
			c := h.connect(t, clientOptions{era: era, wire: overHTTP, query: "?mode=search"})
			call := func(tool, arguments string) string {
				return c.call("call_tool", fmt.Sprintf(`{"name":%q,"arguments":%s}`, tool, arguments))
			}
			for _, f := range cases {
				answer := call(f.tool, f.arguments)
				wantFailure(t, answer, f.code, f.words)
				if strings.Count(answer, "isError") != 1 {
					t.Errorf("wrapped twice: %s", answer)
				}
			}
			wantFailure(t, call("short__echo", `["hi"]`), "invalid", wrongArguments[`["hi"]`])
			// The tool call_tool exists, so its argument is what is wrong.
			wantFailure(t, call("strict__ehco", `{}`), "invalid", "Did you mean strict__echo? search_tools finds ids")
			// Only what the client sees is suggested.
			if answer := c.call("strict__ehco", `{}`); errorCode(answer) != -32602 || strings.Contains(answer, "strict__echo") {
				t.Errorf("a name outside of the view: %s", answer)
			}
		}
	})
	t.Run("in the view of one server", func(t *testing.T) {
		c := h.connect(t, clientOptions{era: legacyEra, wire: overHTTP, view: "short"})
		wantFailure(t, c.call("count", `{}`), "disabled", "Tool is disabled: short__count. An admin has switched it off. Do not work around that: ask the user")
	})
	t.Run("a call that makes a task", func(t *testing.T) {
		c := h.connect(t, clientOptions{era: legacyEra, wire: overHTTP})
		answer := c.do("tools/call", `"name":"short__count","arguments":{},"task":{}`)
		if errorCode(answer) != http.StatusForbidden || member(t, answer, "error", "data", "code") != `"disabled"` {
			t.Errorf("it is answered with %s", answer)
		}
	})
	t.Run("counted as failures", func(t *testing.T) {
		got := h.send(request{method: http.MethodGet, path: "/metrics", header: headers("Authorization", "Bearer "+h.token)})
		for _, outcome := range []string{"invalid", "timeout", "denied", "unavailable"} {
			if !strings.Contains(string(got.body), `outcome="`+outcome+`"`) {
				t.Errorf("the metrics have no outcome %s", outcome)
			}
		}
	})
}
