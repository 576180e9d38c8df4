package mcpserver_test

import (
	"net/http"
	"strings"
	"testing"

	"genkan/internal/testkit"
)

// A stream does not outlive the token that it was opened with: what comes after
// the revocation is not told.
func TestAStreamEndsWithItsToken(t *testing.T) {
	t.Parallel()
	h := openHouse(t, servers{"fault": child(t)})
	token := h.newToken("short-lived")
	session := h.initialize(token)
	open := request{method: http.MethodGet, header: headers("Mcp-Session-Id", session, "Authorization", "Bearer "+token)}
	legacyStream := h.open(open)
	listen := modern("1", "subscriptions/listen", `"notifications":{"toolsListChanged":true}`, "")
	listen.header.Set("Authorization", "Bearer "+token)
	modernStream := h.open(listen)
	modernStream.next() // the acknowledgement
	h.revoke("short-lived")
	testkit.Eventually(t, func() bool {
		r := legacy(session, "1", "ping", "")
		r.header.Set("Authorization", "Bearer "+token)
		return h.send(r).status == http.StatusUnauthorized
	}, "the token is refused")
	h.send(modernCall("1", "fault__add_tool", `{"name":"secret"}`)).want(t, http.StatusOK, 0)
	for _, s := range []*stream{legacyStream, modernStream} {
		if message, err := s.read(); err == nil {
			t.Errorf("after the revocation came %s", message)
		}
	}
}

// Genkan among its own servers would list its own tools, and those of that
// list, for ever.
func TestGenkanDoesNotServeItself(t *testing.T) {
	t.Parallel()
	h := openHouse(t, servers{"fault": child(t)})
	h.reload(servers{"self": {"url": h.base + "/mcp", "headers": map[string]any{"Authorization": "Bearer " + h.token}}})
	testkit.Eventually(t, func() bool {
		answer := string(h.send(request{method: http.MethodGet, path: "/v1/servers/self"}).body)
		return strings.Contains(answer, "calling itself") || strings.Contains(answer, "508")
	}, "it says what is wrong")
}
