package app

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"genkan/internal/gateway"
	"genkan/internal/jsonrpc"
	"genkan/internal/testkit"
	"genkan/internal/testkit/embeddings"
)

// The knowledge base is there without being asked for, among the servers' tools
// and alone, and goes by one line.
func TestTheKnowledgeBaseIsARoom(t *testing.T) {
	t.Parallel()
	h := openHouse(t, conf{"mcpServers": conf{"one": child(t)}})
	h.waitReady("one")
	for _, tool := range []string{"create_item", "bulk_update", "one__echo"} {
		if !h.lists(tool) {
			t.Errorf("%s is not listed: %v", tool, h.tools())
		}
	}
	h.mustCall("create_item", `{"type":"notes","title":"玄関を開ける"}`)
	if found := h.mustCall("search_items", `{"query":"玄関"}`); !strings.Contains(found, "玄関を開ける") {
		t.Errorf("found %s", found)
	}

	list := func(path string) string {
		t.Helper()
		_, text := h.request(http.MethodPost, path, `{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"_meta":{`+modernMeta+`}}}`,
			http.Header{"Mcp-Protocol-Version": {"2026-07-28"}, "Mcp-Method": {"tools/list"}})
		return text
	}
	if alone := list("/mcp/s/kb"); !strings.Contains(alone, `"create_item"`) || strings.Contains(alone, "echo") {
		t.Errorf("alone it lists %s", alone)
	}
	if guided := list("/mcp?mode=search"); !strings.Contains(guided, "one, kb") {
		t.Errorf("the guide does not name it: %s", guided)
	}
	status, found := h.request(http.MethodPost, "/v1/tools/search", `{"query":"find a path between two items"}`, http.Header{"Content-Type": {"application/json"}})
	if status != http.StatusOK || !strings.Contains(found, `"find_path"`) {
		t.Errorf("the search finds %s", found)
	}
	// Wrong arguments are told to the agent, which sees results only.
	if _, text := h.request(http.MethodPost, "/mcp?mode=search",
		`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"call_tool","arguments":{"name":"one__echo","arguments":{"text":5}},"_meta":{`+modernMeta+`}}}`,
		http.Header{"Mcp-Protocol-Version": {"2026-07-28"}, "Mcp-Method": {"tools/call"}, "Mcp-Name": {"call_tool"}}); !strings.Contains(text, `"isError":true`) || !strings.Contains(text, "parameter text: expected string") {
		t.Errorf("wrong arguments are answered with %s", text)
	}
	// Overrides of its tools are stored and shown as for any other tool.
	if status, text := h.request(http.MethodPatch, "/v1/tools/find_path", `{"examples":[{"description":"how are these connected","parameters":{"from_id":1}}]}`,
		http.Header{"Content-Type": {"application/json"}}); status != http.StatusOK {
		t.Errorf("an example: %s", text)
	}
	_, text := h.request(http.MethodPost, "/mcp?mode=search",
		`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"search_tools","arguments":{"query":"how are these two connected?"},"_meta":{`+modernMeta+`}}}`,
		http.Header{"Mcp-Protocol-Version": {"2026-07-28"}, "Mcp-Method": {"tools/call"}, "Mcp-Name": {"search_tools"}})
	if !strings.Contains(text, `"example":{"from_id":1}`) || !strings.Contains(text, `"matched":["two","connected"]`) {
		t.Errorf("the example is not shown: %s", text)
	}
	if status, text := h.request(http.MethodPost, "/v1/tools/delete_item/disable", "", nil); status != http.StatusOK {
		t.Errorf("disabling: %s", text)
	}
	if h.lists("delete_item") {
		t.Error("a disabled tool is listed")
	}

	h.reload(servers(conf{"one": child(t)}))
	if slices.ContainsFunc(h.tools(), func(name string) bool { return !strings.HasPrefix(name, "one__") }) {
		t.Errorf("switched off, it is listed: %v", h.tools())
	}
	h.reload(conf{"mcpServers": conf{"one": child(t)}})
	if found := h.mustCall("search_items", `{"query":"玄関"}`); !strings.Contains(found, "玄関を開ける") {
		t.Errorf("what was kept is gone: %s", found)
	}
}

// If a server has the name of a built-in source, or of one of its tools, the
// server's name stays.
func TestServersComeBeforeRooms(t *testing.T) {
	t.Parallel()
	h := openHouse(t, conf{"mcpServers": conf{"kb": child(t)}})
	h.waitReady("kb")
	if !h.lists("kb__echo") || h.lists("create_item") {
		t.Errorf("listed %v", h.tools())
	}
}

// A call that may only read is judged by the tool that is found in the end, whatever
// the caller saw before.
func TestReadingIsJudgedWhereTheToolIsFound(t *testing.T) {
	t.Parallel()
	h := openHouse(t, conf{})
	for name, want := range map[string]bool{"get_tags": true, "create_item": false} {
		raw, err := jsonrpc.ScanParams([]byte(`{"name":"` + name + `","arguments":{"type":"t","title":"x"}}`))
		if err != nil {
			t.Fatal(err)
		}
		call := &gateway.Call{Method: "tools/call", Params: raw, Name: name, Kind: gateway.KindTool, Terms: gateway.Terms{ReadOnly: true}}
		if _, err := h.house.Load().Handle(t.Context(), call); (err == nil) != want {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// The statuses are those of the configuration from the moment on that it is read.
// Items keep the ones that they have.
func TestStatusesAreConfigured(t *testing.T) {
	t.Parallel()
	statuses := func(all ...conf) conf { return conf{"kb": conf{"statuses": all}} }
	idea, done := conf{"name": "Idea"}, conf{"name": "Done", "closed": true}
	h := openHouse(t, statuses(done, idea))
	get := func(path string) string {
		t.Helper()
		status, text := h.request(http.MethodGet, path, "", nil)
		if status != http.StatusOK {
			t.Errorf("%s: %s", path, text)
		}
		return text
	}
	expect := func(what, text string, parts ...string) {
		t.Helper()
		for _, part := range parts {
			if !strings.Contains(text, part) {
				t.Errorf("%s: %s", what, text)
			}
		}
	}
	expect("configured", get("/v1/statuses"), `{"statuses":[{"name":"Done","closed":true},{"name":"Idea","closed":false}]}`)
	expect("made", h.mustCall("create_item", `{"type":"notes","title":"A lamp"}`), `"status":"Idea"`)

	// A newly closed status takes effect at once.
	h.reload(statuses(done, with(idea, conf{"closed": true}), conf{"name": "Todo"}))
	expect("closed", get("/v1/items"), `"total":0`)
	expect("all", get("/v1/items?includeClosed=true"), `"total":1`)
	expect("found", h.mustCall("search_items", `{"query":"lamp"}`), `"status":"Idea"`)

	// Without a word about them they are the usual ones; what has another keeps it.
	h.reload(conf{})
	expect("usual", get("/v1/statuses"), `{"statuses":[{"name":"Open","closed":false}`, `{"name":"Rejected","closed":true}]}`)
	expect("of it", get("/v1/items?status=Idea"), `"total":1`)
	expect("changed", h.mustCall("update_item", `{"type":"notes","id":1,"title":"Two lamps"}`), `"status":"Idea"`)
	refused, err := h.call("create_item", `{"type":"notes","title":"x","status":"Idea"}`)
	expect("given", fmt.Sprint(refused, err), "1004", "Items that have this status keep it, but no other gets it any more. Statuses: Open, ")
	expect("left", h.mustCall("update_item", `{"type":"notes","id":1,"status":"Open"}`), `"status":"Open"`)
	if status, text := h.request(http.MethodGet, "/v1/items?status=Idea", "", nil); status != http.StatusConflict {
		t.Errorf("a status that nothing has: %d %s", status, text)
	}
}

// A model in the configuration brings semantic_search, and a reload takes it away
// again.
func TestSemanticSearch(t *testing.T) {
	t.Parallel()
	model := embeddings.New(t, map[string]embeddings.Model{"m": embeddings.Meaning(16, "car vehicle automobile", "cat kitten")})
	with := conf{"kb": conf{"semantic": conf{"url": model.URL + "/v1", "model": "m", "apiKey": embeddings.Key}}}
	h := openHouse(t, with)
	h.mustCall("create_item", `{"type":"notes","title":"The automobile","content":"in the yard"}`)
	h.mustCall("create_item", `{"type":"notes","title":"A kitten","content":"on the roof"}`)
	testkit.Eventually(t, func() bool {
		found, err := h.call("semantic_search", `{"query":"vehicle"}`)
		return err == nil && strings.Contains(found, `"pending":0`) && strings.Index(found, "automobile") > 0
	}, "it is found by what it means")
	h.reload(conf{"kb": conf{"enabled": true}})
	if h.lists("semantic_search") || !h.lists("search_items") {
		t.Errorf("listed %v", h.tools())
	}
	if found := h.mustCall("search_items", `{"query":"automobile"}`); !strings.Contains(found, "The automobile") {
		t.Errorf("found %s", found)
	}
	h.reload(with)
	if found := h.mustCall("semantic_search", `{"query":"vehicle"}`); !strings.Contains(found, "automobile") {
		t.Errorf("found %s", found)
	}
}
