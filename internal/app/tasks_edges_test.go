package app

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
)

// tasks/list asks servers, so it counts as a call.
func TestListingTasksIsLimited(t *testing.T) {
	t.Parallel()
	h := openHouse(t, conf{"mcpServers": conf{"one": child(t, "-era", "legacy", "-everything", "-tasks")}, "rateLimit": conf{"max": 4, "timeWindow": "1h"}})
	h.waitReady("one")
	client := h.legacy("2025-11-25", "{}") // which counts as well
	refused := 0
	for range 6 {
		if text := client.ask("tasks/list", "{}"); strings.Contains(text, "requests in") {
			refused++
		}
	}
	if refused != 3 {
		t.Errorf("%d of 6 were refused", refused)
	}
}

// legacyClient is a client with a session.
type legacyClient struct {
	house   *testHouse
	session string
	lastID  int
}

func (h *testHouse) legacy(version, capabilities string) *legacyClient {
	h.t.Helper()
	r, err := http.NewRequest(http.MethodPost, h.base+"/mcp", strings.NewReader(fmt.Sprintf(
		`{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":%q,"capabilities":%s,"clientInfo":{"name":"t","version":"1"}}}`, version, capabilities)))
	if err != nil {
		h.t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+h.token)
	r.Header.Set("Content-Type", "application/json")
	resp, err := h.http.Do(r)
	if err != nil {
		h.t.Fatal(err)
	}
	_ = resp.Body.Close()
	return &legacyClient{house: h, session: resp.Header.Get("Mcp-Session-Id")}
}

// ask sends a request and returns all that comes back.
func (c *legacyClient) ask(method, params string) string {
	c.house.t.Helper()
	c.lastID++
	_, text, err := c.house.tryRequest(http.MethodPost, "/mcp", fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":%q,"params":%s}`, c.lastID, method, params),
		http.Header{"Mcp-Session-Id": {c.session}})
	if err != nil {
		c.house.t.Fatal(err)
	}
	return text
}

func (c *legacyClient) call(tool, arguments string) string {
	c.house.t.Helper()
	return c.ask("tools/call", fmt.Sprintf(`{"name":%q,"arguments":%s}`, tool, arguments))
}
