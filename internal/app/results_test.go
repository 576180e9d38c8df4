package app

import (
	"encoding/json"
	"fmt"
	"net/http"
	"regexp"
	"strings"
	"testing"

	"genkan/internal/mcpserver"
)

var resultID = regexp.MustCompile(`with the id ([a-z0-9]+)`)

// Large answers reach agents as outlines through every door, and whole where programs
// read them. The budget is that of the tool, its server, the client or all.
func TestLargeAnswers(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("a line of a long text\n", 3000) // about 18,000 tokens
	args, err := json.Marshal(map[string]string{"text": long})
	if err != nil {
		t.Fatal(err)
	}
	budgets := func(server, clients conf) conf {
		config := servers(conf{"one": with(child(t), server)})
		config["budget"], config["clients"] = 5000, clients
		return config
	}
	h := openHouse(t, budgets(conf{}, conf{}))
	h.waitReady("one")
	outlined := func(what, text string, want bool) string {
		t.Helper()
		found := resultID.FindStringSubmatch(text)
		if (found != nil) != want {
			t.Errorf("%s: an outline is %v, want %v", what, found != nil, want)
		}
		if found == nil {
			return ""
		}
		if len(text) > 5000*4 {
			t.Errorf("%s: the outline has %d bytes", what, len(text))
		}
		return found[1]
	}

	outline := h.mustCall("one__echo", string(args))
	id := outlined("a modern client", outline, true)
	var whole strings.Builder
	for offset := 0; offset < 3000; offset += 500 {
		whole.WriteString(h.mustCall("read_result", fmt.Sprintf(`{"id":%q,"offset":%d,"limit":500}`, id, offset)))
	}
	if whole.String() != long {
		t.Errorf("the parts make %d bytes of %d", whole.Len(), len(long))
	}
	calls := h.recorded(everything)
	if first := calls[0].Entry; first.Outcome != "ok" || first.TokensSaved < 10_000 || first.TokensOut > 3000 {
		t.Errorf("recorded %+v", first)
	}
	if second := calls[1].Entry; second.Tool != "read_result" || second.TokensSaved > -2000 {
		t.Errorf("recorded %+v", second)
	}
	_, metrics := h.request(http.MethodGet, "/metrics", "", nil)
	for _, want := range []string{`\ngenkan_tokens_saved_total \d{5}\n`, `\ngenkan_tokens_read_back_total \d{5}\n`, `\ngenkan_results_stored_bytes \d{5}\n`} {
		if !regexp.MustCompile(want).MatchString(metrics) {
			t.Errorf("the metrics lack %s", want)
		}
	}

	lines := h.talk(mcpserver.StdioOptions{Client: "cursor"},
		`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"Cursor","version":"1.7"}}}`,
		`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"one__echo","arguments":`+string(args)+`}}`)
	foreign := outlined("a legacy client over stdio", lines[1], true)
	if text, err := h.call("read_result", `{"id":"`+foreign+`"}`); err == nil {
		t.Errorf("another client reads it: %.80s", text)
	}
	at := func(path, tool, arguments string) string {
		_, answer := h.request(http.MethodPost, path, fmt.Sprintf(
			`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":%q,"arguments":%s,"_meta":{%s}}}`, tool, arguments, modernMeta),
			http.Header{"Mcp-Protocol-Version": {"2026-07-28"}, "Mcp-Method": {"tools/call"}, "Mcp-Name": {tool}})
		return answer
	}
	id = outlined("a server alone", at("/mcp/s/one", "echo", string(args)), true)
	if answer := at("/mcp/s/one", "read_result", `{"id":"`+id+`","limit":1}`); !strings.Contains(answer, "a line of a long text") {
		t.Errorf("a server alone: read_result answers %.200s", answer)
	}
	outlined("call_tool of search mode", at("/mcp?mode=search", "call_tool", `{"name":"one__echo","arguments":`+string(args)+`}`), true)

	rest := func(options string) string {
		_, answer := h.request(http.MethodPost, "/v1/tools/call", `{"name":"one__echo","parameters":`+string(args)+options+`}`, nil)
		return answer
	}
	outlined("REST", rest(""), false)
	id = outlined("REST with a budget", rest(`,"options":{"budget":1000}`), true)
	if _, answer := h.request(http.MethodPost, "/v1/tools/call", `{"name":"read_result","parameters":{"id":"`+id+`","limit":1}}`, nil); !strings.Contains(answer, "a line of a long text") {
		t.Errorf("REST: read_result answers %.200s", answer)
	}
	if answer := rest(`,"options":{"budget":499}`); !strings.Contains(answer, "options.budget must be at least 500, is 499") {
		t.Errorf("too small a budget: %.200s", answer)
	}
	if _, tools := h.request(http.MethodGet, "/v1/tools", "", nil); strings.Contains(tools, "read_result") {
		t.Error("the registry lists read_result")
	}

	for what, c := range map[string]struct {
		server, clients conf
		want            bool
	}{
		"the server's":                 {conf{"budget": 50_000}, nil, false},
		"the server's, off":            {conf{"budget": "off"}, conf{"admin": conf{"budget": 1000}}, false},
		"the tool's before the server": {conf{"budget": "off", "tools": conf{"options": conf{"ec*": conf{"budget": 1000}}}}, nil, true},
		"the client's":                 {conf{}, conf{"admin": conf{"budget": 50_000}}, false},
		"another client's":             {conf{}, conf{"cursor": conf{"budget": "off"}}, true},
	} {
		h.reload(budgets(c.server, c.clients))
		outlined("the budget is "+what, h.mustCall("one__echo", string(args)), c.want)
	}

	off := budgets(conf{}, conf{})
	off["budget"] = "off"
	h.reload(off)
	outlined("no budget at all", h.mustCall("one__echo", string(args)), false)
	if answer, err := h.mcp("tools/list", "", ""); err != nil || strings.Contains(answer, "read_result") {
		t.Errorf("without any budget read_result is listed: %v", err)
	}
}
