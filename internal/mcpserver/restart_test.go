package mcpserver_test

import (
	"encoding/base64"
	"fmt"
	"net/http"
	"strings"
	"testing"
)

// openSession opens a legacy session and returns its id.
func (h *house) openSession(path, token, version, capabilities string) string {
	h.tb.Helper()
	r := legacy("", "0", "initialize", fmt.Sprintf(`{"protocolVersion":%q,"capabilities":%s,"clientInfo":{"name":"t","version":"1"}}`, version, capabilities))
	r.path = path
	r.header.Set("Authorization", "Bearer "+token)
	id := h.send(r).header.Get("Mcp-Session-Id")
	if id == "" {
		h.tb.Fatal("no session was opened")
	}
	return id
}

// ping is the status of a request in a session.
func (h *house) ping(path, token, session string) int {
	h.tb.Helper()
	r := legacy(session, "1", "ping", "")
	r.path = path
	r.header.Set("Authorization", "Bearer "+token)
	return h.send(r).status
}

// TestSessionsOutliveTheProcess: many clients keep an id for ever and do not
// initialize again, so the id is valid after a restart, for the same caller and the
// same view.
func TestSessionsOutliveTheProcess(t *testing.T) {
	t.Parallel()
	h := openHouse(t, servers{"a": child(t, "-everything", "-era", "legacy"), "b": child(t)})
	other := h.newToken("other")
	session := h.openSession("/mcp", h.token, "2025-06-18", canBeAsked)
	alone := h.openSession("/mcp/s/a", other, "2024-11-05", `{}`)
	deaf := h.openSession("/mcp", h.token, "2025-11-25", `{}`)
	ended := h.openSession("/mcp", h.token, "2025-11-25", `{}`)
	bye := legacy(ended, "", "", "")
	bye.method, bye.body = http.MethodDelete, ""
	if got := h.send(bye).status; got != http.StatusNoContent {
		t.Errorf("DELETE: %d", got)
	}
	if got := h.ping("/mcp", h.token, ended); got != http.StatusNotFound {
		t.Errorf("a session that was ended: %d", got)
	}
	for range 2 {
		h = h.again()
		for name, c := range map[string]struct {
			path, token, session string
			want                 int
		}{
			"a session":                    {"/mcp", h.token, session, http.StatusOK},
			"of another caller":            {"/mcp", other, session, http.StatusNotFound},
			"of another view":              {"/mcp/s/a", h.token, session, http.StatusNotFound},
			"of a server alone":            {"/mcp/s/a", other, alone, http.StatusOK},
			"of a server, by another":      {"/mcp/s/a", h.token, alone, http.StatusNotFound},
			"of a server, at another's":    {"/mcp/s/b", other, alone, http.StatusNotFound},
			"of a server, at the whole":    {"/mcp", other, alone, http.StatusNotFound},
			"nobody's":                     {"/mcp", h.token, "made-up", http.StatusNotFound},
			"none that could be a session": {"/mcp", h.token, strings.Repeat("A", 40_000), http.StatusNotFound},
		} {
			if got := h.ping(c.path, c.token, c.session); got != c.want {
				t.Errorf("%s: %d, want %d", name, got, c.want)
			}
		}
		raw, err := base64.RawURLEncoding.DecodeString(session)
		if err != nil {
			t.Fatal(err)
		}
		for i := range raw {
			raw[i] ^= 1
			if got := h.ping("/mcp", h.token, base64.RawURLEncoding.EncodeToString(raw)); got != http.StatusNotFound {
				t.Errorf("with another byte %d it is answered with %d", i, got)
			}
			raw[i] ^= 1
		}
		// The client's capabilities are still known: it is asked, and answers.
		r := legacyCall(session, "5", "a__ask", `{}`)
		stream := h.open(r)
		asked := stream.next()
		h.send(request{
			body:   `{"jsonrpc":"2.0","id":` + member(t, asked, "id") + `,"result":{"action":"accept","content":{"name":"Hana"}}}`,
			header: http.Header{"Mcp-Session-Id": {session}},
		}).want(t, http.StatusAccepted, 0)
		if got := text(stream.next()); !strings.Contains(got, "Hana") {
			t.Errorf("the server learns %s", got)
		}
		if got := h.send(legacyCall(deaf, "5", "a__ask", `{}`)).last(); !strings.Contains(got, "capability") {
			t.Errorf("a client that cannot be asked: %s", got)
		}
		// It may have missed any change, so its stream begins with all of them.
		get := legacy(session, "", "", "")
		get.method, get.body = http.MethodGet, ""
		listening := h.open(get)
		heard := listening.next() + listening.next() + listening.next()
		for _, list := range []string{"tools", "prompts", "resources"} {
			if !strings.Contains(heard, "notifications/"+list+"/list_changed") {
				t.Errorf("the stream begins with %s", heard)
			}
		}
		listening.close()
	}
}

// TestSessionsOfAnotherHouse: an id is good where it was made.
func TestSessionsOfAnotherHouse(t *testing.T) {
	t.Parallel()
	one, two := openHouse(t, servers{"a": child(t)}), openHouse(t, servers{"a": child(t)})
	if got := two.ping("/mcp", two.token, one.openSession("/mcp", one.token, "2025-11-25", `{}`)); got != http.StatusNotFound {
		t.Errorf("a session of another house: %d", got)
	}
}
