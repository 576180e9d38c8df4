package app

import (
	"net/http"
	"strings"
	"testing"

	"genkan/internal/testkit/n8nfake"
)

// The instances of n8n are sources, each under its name. Their tools are listed whether
// n8n answers or not.
func TestN8NInstancesAreSources(t *testing.T) {
	t.Parallel()
	fake := n8nfake.New(t)
	fake.Add(t, `{"id":"c1","name":"Child","nodes":[],"connections":{}}`)
	h := openHouse(t, conf{"n8n": []any{
		conf{"url": fake.URL + "/api/v1", "apiKey": n8nfake.Key},
		conf{"name": "staging", "url": "http://127.0.0.1:1", "apiKey": "k"},
	}})
	for _, tool := range []string{"n8n__list_workflows", "staging__list_workflows", "create_item"} {
		if !h.lists(tool) {
			t.Errorf("%s is not listed: %v", tool, h.tools())
		}
	}
	if got := h.mustCall("n8n__list_workflows", `{}`); !strings.Contains(got, `Child`) {
		t.Error(got)
	}
	_, alone := h.request(http.MethodPost, "/mcp/s/n8n", `{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"_meta":{`+modernMeta+`}}}`,
		http.Header{"Mcp-Protocol-Version": {"2026-07-28"}, "Mcp-Method": {"tools/list"}})
	if !strings.Contains(alone, `"list_workflows"`) || strings.Contains(alone, "create_item") {
		t.Errorf("alone it lists %s", alone)
	}
	_, down := h.request(http.MethodPost, "/mcp/s/staging",
		`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"list_workflows","arguments":{},"_meta":{`+modernMeta+`}}}`,
		http.Header{"Mcp-Protocol-Version": {"2026-07-28"}, "Mcp-Method": {"tools/call"}, "Mcp-Name": {"list_workflows"}})
	if !strings.Contains(down, `"isError":true`) || !strings.Contains(down, "http://127.0.0.1:1 cannot be reached") {
		t.Errorf("an instance that is down: %s", down)
	}
	if lines := h.logLines("n8n call failed"); len(lines) != 1 || lines[0]["level"] != "WARN" {
		t.Errorf("logged: %v", lines)
	}
}

// A server of the user that is called n8n keeps its name.
func TestAServerCalledN8NHidesTheInstance(t *testing.T) {
	t.Parallel()
	h := openHouse(t, conf{
		"mcpServers": conf{"n8n": child(t)},
		"n8n":        conf{"url": "http://127.0.0.1:1", "apiKey": "k"},
	})
	h.waitReady("n8n")
	if !h.lists("n8n__echo") || h.lists("n8n__list_workflows") {
		t.Errorf("%v", h.tools())
	}
}
