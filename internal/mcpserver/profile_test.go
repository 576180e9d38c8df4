package mcpserver_test

import (
	"net/http"
	"slices"
	"strings"
	"testing"
)

// TestProfiles: a profile is a named part of the catalog with its own URL. A client
// can be assigned one without asking.
func TestProfiles(t *testing.T) {
	t.Parallel()
	h := openHouse(t, servers{"a": child(t, "-everything"), "b": child(t, "-everything")}, map[string]any{
		"pinned": []string{"b__echo"},
		"profiles": map[string]any{
			"small":  map[string]any{"servers": []string{"a"}, "tools": map[string]any{"allow": []string{"a__e*"}, "deny": []string{"*__env"}}},
			"guided": map[string]any{"mode": "search", "pinned": []string{"a__echo"}},
		},
		"clients": map[string]any{"admin": map[string]any{"mode": "search"}},
	})
	listed := func(path string) []string {
		r := modern("1", "tools/list", "", "")
		r.path = path
		return names(t, h.send(r).last(), "tools", "name")
	}
	guides := []string{"search_tools", "describe_tool", "call_read_tool", "call_tool"}
	for path, want := range map[string]func(got []string) bool{
		"/mcp/p/small": func(got []string) bool {
			return slices.Contains(got, "a__echo") && !slices.Contains(got, "a__env") && !slices.ContainsFunc(got, func(n string) bool { return !strings.HasPrefix(n, "a__e") && n != "read_result" })
		},
		"/mcp/p/guided": func(got []string) bool {
			return slices.Equal(got, append(slices.Clone(guides), "a__echo", "read_result"))
		},
		"/mcp/p/guided?mode=all":   func(got []string) bool { return slices.Contains(got, "b__echo") && len(got) > 10 },
		"/mcp/p/small?mode=search": func(got []string) bool { return slices.Equal(got, append(slices.Clone(guides), "read_result")) },
		"/mcp": func(got []string) bool {
			return slices.Equal(got, append(slices.Clone(guides), "b__echo", "read_result"))
		}, // by the client's entry
		"/mcp?mode=all": func(got []string) bool { return slices.Contains(got, "a__echo") },
	} {
		if got := listed(path); !want(got) {
			t.Errorf("%s shows %v", path, got)
		}
	}
	for _, path := range []string{"/mcp/p/nosuch", "/mcp?mode=other", "/mcp/s/@small", "/mcp/s/~search:", "/mcp/p/a"} {
		r := modern("1", "tools/list", "", "")
		r.path = path
		if answer := h.send(r); answer.status != http.StatusNotFound {
			t.Errorf("%s: %d %s", path, answer.status, answer.body)
		}
	}
	// A tool outside of the profile can be neither called nor found in it.
	r := modernCall("1", "b__echo", `{"text":"x"}`)
	r.path = "/mcp/p/small"
	if answer := h.send(r).last(); errorCode(answer) != -32602 {
		t.Errorf("a tool that is not in the profile: %s", answer)
	}
	r = modernCall("1", "call_tool", `{"name":"b__echo","arguments":{"text":"x"}}`)
	r.path = "/mcp/p/small?mode=search"
	if answer := h.send(r).last(); !strings.Contains(answer, "Unknown tool: b__echo") {
		t.Errorf("through the guide: %s", answer)
	}
}
