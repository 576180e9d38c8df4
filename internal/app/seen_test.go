package app

import (
	"net/http"
	"strings"
	"testing"
)

// as runs a test's requests with a token of its own.
func (h *testHouse) as(name string) {
	h.t.Helper()
	_, secret, err := h.tokens.Add(h.t.Context(), name, false)
	if err != nil {
		h.t.Fatal(err)
	}
	h.token = secret.Reveal()
}

// seenAs is what is kept of the use of a token.
func (h *testHouse) seenAs(name string) string {
	h.t.Helper()
	if err := h.tokens.Flush(h.t.Context()); err != nil {
		h.t.Fatal(err)
	}
	tokens, err := h.tokens.List(h.t.Context())
	if err != nil {
		h.t.Fatal(err)
	}
	for _, t := range tokens {
		if t.Name == name && !t.LastUsed.IsZero() {
			return t.LastClient
		}
	}
	return "never"
}

// However a client comes, it is known when and by which name.
func TestClientsAreSeen(t *testing.T) {
	t.Parallel()
	h := openHouse(t, servers(conf{}))
	agent := http.Header{"User-Agent": {"tool/3"}}
	modern := http.Header{"User-Agent": {"node"}, "Mcp-Protocol-Version": {"2026-07-28"}, "Mcp-Method": {"tools/list"}}
	const meta = `{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{},` +
		`"io.modelcontextprotocol/clientInfo":{"name":"Modern","version":"2"}}`
	for _, c := range []struct {
		name, method, path, body string
		header                   http.Header
		want                     string
	}{
		{"rest", http.MethodGet, "/v1/tools", "", agent, "tool/3"},
		{"legacy", http.MethodPost, "/mcp", `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"Legacy","version":"1.0"}}}`, agent, "Legacy 1.0"},
		{"modern", http.MethodPost, "/mcp", `{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"_meta":` + meta + `}}`, modern, "Modern 2"},
		{"nameless", http.MethodPost, "/mcp", `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{}}}`, agent, "tool/3"},
	} {
		h.as(c.name)
		if got := h.seenAs(c.name); got != "never" {
			t.Errorf("%s was seen as %q before it came", c.name, got)
		}
		header := c.header.Clone()
		header.Set("Content-Type", "application/json")
		if status, body := h.request(c.method, c.path, c.body, header); status != http.StatusOK {
			t.Errorf("%s: status %d: %s", c.name, status, body)
		}
		if got := h.seenAs(c.name); got != c.want {
			t.Errorf("%s is seen as %q, want %q", c.name, got, c.want)
		}
	}
}

// Only admins see hidden tools and the output of servers.
func TestOnlyAdminsSeeWhatIsHidden(t *testing.T) {
	t.Parallel()
	h := openHouse(t, servers(conf{"one": with(child(t), conf{"tools": conf{"deny": []string{"sleep"}}})}))
	h.waitReady("one")
	for _, path := range []string{"/v1/servers", "/v1/servers/one"} {
		if _, body := h.request(http.MethodGet, path, "", nil); !strings.Contains(body, `"hidden":["sleep"]`) || !strings.Contains(body, `"tools":10`) {
			t.Errorf("%s for an admin: %s", path, body)
		}
	}
	h.as("editor")
	for _, path := range []string{"/v1/servers", "/v1/servers/one"} {
		_, body := h.request(http.MethodGet, path, "", nil)
		if strings.Contains(body, "sleep") || strings.Contains(body, "output") || !strings.Contains(body, `"tools":10`) {
			t.Errorf("%s for a client: %s", path, body)
		}
	}
}
