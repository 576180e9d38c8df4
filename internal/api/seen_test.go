package api_test

import (
	"fmt"
	"strings"
	"testing"
)

// A client that has a profile is not told of tools outside of it, also not as a
// guess at what it meant. It can name them, because a profile is no lock.
func TestSuggestionsAreWhatTheCallerSees(t *testing.T) {
	t.Parallel()
	d := library(t, map[string]any{
		"profiles": map[string]any{"notes": map[string]any{"servers": []string{"kb"}}},
		"clients":  map[string]any{"user": map[string]any{"profile": "notes", "mode": "search"}},
	})
	user := []string{"Authorization", "Bearer " + d.newToken()}
	for _, request := range [][]string{
		{"GET", "/v1/tools/%s", ""},
		{"POST", "/v1/tools/call", `{"name":"%s"}`},
	} {
		ask := func(name string, headers ...string) string {
			t.Helper()
			fill := func(text string) string {
				if strings.Contains(text, "%s") {
					return fmt.Sprintf(text, name)
				}
				return text
			}
			got := d.send(request[0], fill(request[1]), fill(request[2]), headers...)
			if got.status != 404 {
				t.Fatalf("%d %s", got.status, got.body)
			}
			return got.body
		}
		if body := ask("fault__eco"); !strings.Contains(body, "Tool not found: fault__eco. Did you mean fault__echo?") {
			t.Errorf("an administrator: %s", body)
		}
		if body := ask("fault__eco", user...); !strings.Contains(body, `"error":"Tool not found: fault__eco"`) {
			t.Errorf("a client that does not see it: %s", body)
		}
		if body := ask("get_item", user...); !strings.Contains(body, "Did you mean get_items?") {
			t.Errorf("a client that sees it: %s", body)
		}
	}
}

// The knowledge base's tools answer /v1/tools/call with the statuses and objects that
// /v1/items has for its errors, and null clears a field there as everywhere.
func TestCallsOfTheKnowledgeBase(t *testing.T) {
	t.Parallel()
	d := library(t, nil)
	call := func(name, parameters string) answer {
		return d.send("POST", "/v1/tools/call", fmt.Sprintf(`{"name":%q,"parameters":%s}`, name, parameters))
	}
	for _, c := range []struct {
		name, tool, parameters string
		status                 int
		has, hasNot            []string
	}{
		{"an empty title", "create_item", `{"type":"docs","title":""}`, 400, []string{
			`"success":false,"error":"Validation failed: title: Title is required`, `"code":"VALIDATION_ERROR","field":"title"`,
			`"details":{"constraint":"Title is required`, `"data":{"type":"ValidationError","details":{"constraint":`, `"timestamp":"20`, `"executionTime":`,
		}, []string{`\"`, `"result"`}},
		{"no type", "get_items", `{}`, 400, []string{`"field":"type"`, "Validation failed: type: "}, nil},
		{"four problems", "get_items", `{"type":"","limit":"x","start_date":"2026-02-02","end_date":"2026-02-01"}`, 400, []string{
			`"field":"limit"`, `"details":{"constraint":"Must be an integer","field":"limit","others":[`,
			`"error":"Validation failed: limit: Must be an integer; type: Type is required and must not be empty; start_date: Must not be after end_date (2026-02-01); it is 2026-02-02"`,
		}, nil},
		{"problems of several entries", "bulk_update", `{"updates":[{"type":"docs","id":1,"data":{"title":""}},{"type":"docs","id":0,"data":{"title":""}}]}`, 400, []string{
			`"error":"Validation failed: updates[0]: title: Title is required and must not be empty; updates[1]: id: Must be a positive integer; title: Title is required`,
		}, nil},
		{"the field as the tool calls it", "search_items", `{"query":"x","types":[1]}`, 400, []string{`"field":"types[0]"`}, nil},
		{"no such item", "get_item_detail", `{"type":"docs","id":99}`, 404, []string{`"code":"ITEM_NOT_FOUND"`, "Item not found: docs-99", `"data":{"type":"ItemNotFoundError"`}, nil},
		{"no such status", "update_item", `{"type":"docs","id":1,"status":"Nowhere"}`, 409, []string{`"code":"CONSTRAINT_VIOLATION"`, `"data":{"type":"ConstraintViolationError"`}, nil},
		{"null clears", "update_item", `{"type":"docs","id":2,"start_date":null,"description":null,"tags":null,"related":null}`, 200, []string{
			`"structuredContent":{`, `"start_date":null`, `"description":""`, `"tags":[]`, `"related":[]`, `"dropped_tags":["house"]`,
		}, nil},
		{"an empty text clears", "update_item", `{"type":"docs","id":2,"start_date":"","status":""}`, 200, []string{`"start_date":null`}, nil},
		{"null clears no title", "update_item", `{"type":"docs","id":2,"title":null}`, 400, []string{`"field":"title"`}, nil},
		{"null is no argument", "get_items", `{"type":"docs","limit":null,"statuses":null}`, 200, []string{`"limit":20`}, nil},
		{"an unknown argument", "get_items", `{"type":"docs","limt":1}`, 400, []string{`"field":"limt"`, "did you mean limit?"}, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := call(c.tool, c.parameters)
			got.want(t, c.status, c.has, c.hasNot)
		})
	}
}

// A tool whose description says that it is deprecated is found behind others, and
// hits say so.
func TestHitsSayWhatIsDeprecated(t *testing.T) {
	t.Parallel()
	d := openDoor(t, nil)
	if got := d.send("PATCH", "/v1/tools/fault__echo", `{"description":"DEPRECATED: use fault__count. Returns the text that it is given."}`); got.status != 200 {
		t.Fatalf("%d %s", got.status, got.body)
	}
	const deprecated = `"deprecated":true`
	if got := d.send("POST", "/v1/tools/search", `{"query":"return the given text"}`).body; strings.Count(got, deprecated) != 1 || !strings.Contains(got, `"name":"fault__echo"`) {
		t.Errorf("over REST: %s", got)
	}
	got := d.send("POST", "/mcp?mode=search",
		`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"search_tools","arguments":{"query":"return the given text"},"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"t","version":"1"},"io.modelcontextprotocol/clientCapabilities":{}}}}`,
		"Accept", "application/json, text/event-stream", "Mcp-Protocol-Version", "2026-07-28", "Mcp-Method", "tools/call", "Mcp-Name", "search_tools")
	if !strings.Contains(got.body, deprecated) {
		t.Errorf("search_tools: %d %s", got.status, got.body)
	}
}
