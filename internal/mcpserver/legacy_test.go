package mcpserver_test

import (
	"net/http"
	"strings"
	"testing"

	"genkan/internal/testkit"
)

// TestLegacyLifecycle walks through the life of a session over HTTP, as the
// 2025-11-25 page on transports has it.
func TestLegacyLifecycle(t *testing.T) {
	t.Parallel()
	record := recordFile(t)
	h := openHouse(t, servers{"fault": child(t, "-record", record)})

	t.Run("each version is answered with itself", func(t *testing.T) {
		for asked, want := range map[string]string{
			"2025-11-25": "2025-11-25", "2025-06-18": "2025-06-18",
			"2025-03-26": "2025-03-26", "2024-11-05": "2024-11-05",
			// Not known: our best. A modern version has no sessions.
			"1999-01-01": "2025-11-25", "2026-07-28": "2025-11-25",
		} {
			r := h.send(legacy("", `"i"`, "initialize", `{"protocolVersion":"`+asked+`","capabilities":{},"clientInfo":{"name":"t","version":"1"}}`))
			r.want(t, http.StatusOK, 0)
			if got := member(t, r.last(), "result", "protocolVersion"); got != `"`+want+`"` {
				t.Errorf("asked for %s, got %s, want %s", asked, got, want)
			}
			if got := member(t, r.last(), "result", "capabilities"); got != `{"tools":{"listChanged":true},"prompts":{"listChanged":true},"resources":{"subscribe":true,"listChanged":true},"completions":{},"logging":{}}` {
				t.Errorf("capabilities are %s", got)
			}
			if got := member(t, r.last(), "result", "serverInfo", "version"); got != `"1.2.3-test"` {
				t.Errorf("serverInfo.version is %s", got)
			}
			id := r.header.Get("Mcp-Session-Id")
			if len(id) < 20 || strings.ContainsFunc(id, func(c rune) bool { return c < 0x21 || c > 0x7e }) {
				t.Errorf("the session id %q is not long visible ASCII", id)
			}
		}
	})

	session := h.initialize(h.token)
	other := h.newToken("other")
	asOther := func(r request) request {
		r.header.Set("Authorization", "Bearer "+other)
		return r
	}

	t.Run("notifications and responses are accepted without a body", func(t *testing.T) {
		for _, body := range []request{
			legacy(session, "", "notifications/initialized", ""),
			legacy(session, "", "notifications/never-heard-of", `{"x":1}`),
			{body: `{"jsonrpc":"2.0","id":7,"result":{}}`, header: headers("Mcp-Session-Id", session)},
			{body: `{"jsonrpc":"2.0","id":7,"error":{"code":1,"message":"x"}}`, header: headers("Mcp-Session-Id", session)},
		} {
			if r := h.send(body); r.status != http.StatusAccepted || len(r.body) != 0 {
				t.Errorf("%s: %d %q, want 202 and no body", body.body, r.status, r.body)
			}
		}
	})
	t.Run("requests", func(t *testing.T) {
		if r := h.send(legacy(session, `"p"`, "ping", "")); r.last() != `{"jsonrpc":"2.0","id":"p","result":{}}` {
			t.Errorf("ping: %s", r.body)
		}
		h.send(legacy(session, "9", "no/such\nmethod", "{}")).want(t, http.StatusOK, -32601)
		if r := h.send(legacyCall(session, "10", "fault__echo", `{"text":"hi"}`)); text(r.last()) != "hi" {
			t.Errorf("echo: %s", r.body)
		}
		if r := h.send(legacyCall(session, "11", "nobody__echo", `{}`)); errorCode(r.last()) != -32602 || !strings.Contains(r.last(), "nobody__echo") {
			t.Errorf("an unknown tool: %s", r.body)
		}
	})
	t.Run("a session that is missing, unknown or somebody else's", func(t *testing.T) {
		h.send(legacy("", "1", "ping", "")).want(t, http.StatusBadRequest, -32600)
		h.send(legacy("NOSUCHSESSION", "1", "ping", "")).want(t, http.StatusNotFound, -32600)
		h.send(asOther(legacy(session, "1", "ping", ""))).want(t, http.StatusNotFound, -32600)
		for _, method := range []string{http.MethodGet, http.MethodDelete} {
			r := asOther(request{method: method, header: headers("Mcp-Session-Id", session)})
			if got := h.send(r); got.status != http.StatusNotFound {
				t.Errorf("%s of another's session: %d", method, got.status)
			}
		}
		// The other client's attempts have not harmed the session.
		h.send(legacy(session, "1", "ping", "")).want(t, http.StatusOK, 0)
	})
	t.Run("an id in use is refused, and free again afterwards", func(t *testing.T) {
		busy := make(chan response, 1)
		go func() { busy <- h.send(legacyCall(session, "77", "fault__sleep", `{"ms":30000}`)) }()
		testkit.Eventually(t, func() bool { return countLines(t, record, `"ms":30000`) == 1 }, "the call is under way")
		h.send(legacyCall(session, "77", "fault__echo", `{"text":"x"}`)).want(t, http.StatusOK, -32602)
		// The same number as a string is a different id.
		h.send(legacyCall(session, `"77"`, "fault__echo", `{"text":"x"}`)).want(t, http.StatusOK, 0)
		h.send(legacy(session, "", "notifications/cancelled", `{"requestId":77}`))
		(<-busy).want(t, http.StatusOK, 499)
		h.send(legacyCall(session, "77", "fault__echo", `{"text":"x"}`)).want(t, http.StatusOK, 0)
	})
	t.Run("the version header", func(t *testing.T) {
		good := legacy(session, "1", "ping", "")
		good.header.Set("Mcp-Protocol-Version", "2025-06-18")
		h.send(good).want(t, http.StatusOK, 0)
		bad := legacy(session, "1", "ping", "")
		bad.header.Set("Mcp-Protocol-Version", "1999-01-01")
		r := h.send(bad)
		r.want(t, http.StatusBadRequest, -32022)
		if got := member(t, r.last(), "error", "data", "requested"); got != `"1999-01-01"` {
			t.Errorf("requested is %s", got)
		}
	})
	t.Run("GET without a session", func(t *testing.T) {
		r := h.send(request{method: http.MethodGet})
		if r.status != http.StatusMethodNotAllowed || r.header.Get("Allow") == "" {
			t.Errorf("%d, Allow %q", r.status, r.header.Get("Allow"))
		}
	})
	t.Run("GET that does not accept a stream", func(t *testing.T) {
		r := h.send(request{method: http.MethodGet, header: headers("Mcp-Session-Id", session, "Accept", "application/json")})
		if r.status != http.StatusNotAcceptable {
			t.Errorf("status %d", r.status)
		}
	})
	t.Run("DELETE ends it, and its calls", func(t *testing.T) {
		ending := h.initialize(h.token)
		stream := h.open(request{method: http.MethodGet, header: headers("Mcp-Session-Id", ending)})
		busy := make(chan response, 1)
		go func() { busy <- h.send(legacyCall(ending, "1", "fault__sleep", `{"ms":30001}`)) }()
		testkit.Eventually(t, func() bool { return countLines(t, record, `"ms":30001`) == 1 }, "the call is under way")
		if r := h.send(request{method: http.MethodDelete, header: headers("Mcp-Session-Id", ending)}); r.status != http.StatusNoContent {
			t.Errorf("DELETE: %d %s", r.status, r.body)
		}
		(<-busy).want(t, http.StatusOK, 499)
		if message, err := stream.read(); err == nil {
			t.Errorf("the stream of an ended session said %s", message)
		}
		h.send(legacy(ending, "1", "ping", "")).want(t, http.StatusNotFound, -32600)
		h.send(request{method: http.MethodDelete, header: headers("Mcp-Session-Id", ending)}).want(t, http.StatusNotFound, -32600)
	})
}

// TestLegacyStream is about the GET stream of a session: list_changed comes on
// one stream only, and what happened while none was open is told when one is.
func TestLegacyStream(t *testing.T) {
	t.Parallel()
	for name, server := range map[string]map[string]any{
		"behind stdio legacy": child(t, "-era", "legacy"), "behind stdio modern": child(t, "-era", "modern"),
		"behind HTTP legacy": sibling(t, "-era", "legacy"), "behind HTTP modern": sibling(t, "-era", "modern"),
	} {
		t.Run(name, func(t *testing.T) {
			h := openHouse(t, servers{"fault": server})
			session := h.initialize(h.token)
			get := request{method: http.MethodGet, header: headers("Mcp-Session-Id", session, "Accept", "text/event-stream")}
			first := h.open(get)
			if first.status != http.StatusOK || first.header.Get("Content-Type") != "text/event-stream" || first.header.Get("X-Accel-Buffering") != "no" {
				t.Fatalf("the stream's headers: %d %v", first.status, first.header)
			}
			add := func(tool string) {
				t.Helper()
				if r := h.send(legacyCall(session, "1", "fault__add_tool", `{"name":"`+tool+`"}`)); text(r.last()) != "added "+tool {
					t.Fatalf("add_tool: %s", r.body)
				}
			}
			const changed = `{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}`
			add("one")
			// A list that was being read when the tool was added may be announced
			// first; the one with the tool is announced after it.
			for list := ""; !strings.Contains(list, `"fault__one"`); {
				if got := first.next(); got != changed {
					t.Fatalf("the stream said %s", got)
				}
				list = h.send(legacy(session, "2", "tools/list", "")).last()
			}
			second := h.open(get)
			if message, err := first.read(); err == nil {
				t.Errorf("a stream that was taken over said %s", message)
			}
			add("two")
			if got := second.next(); got != changed {
				t.Errorf("the stream said %s", got)
			}
			h.send(legacy(session, "2", "tools/list", ""))
			second.close()
			// Changes while the stream was closed are sent on the next stream, whether
			// or not the gateway had noticed that the stream was closed.
			add("three")
			testkit.Eventually(t, func() bool {
				return strings.Contains(h.send(modern("2", "tools/list", "", "")).last(), `"fault__three"`)
			}, "the tool is listed")
			third := h.open(get)
			if got := third.next(); got != changed {
				t.Errorf("a new stream began with %s", got)
			}
			// Who has the list is not told again.
			h.send(legacy(session, "2", "tools/list", ""))
			fourth := h.open(get)
			add("four")
			if got := fourth.next(); got != changed {
				t.Errorf("the stream said %s", got)
			}
			if list := h.send(legacy(session, "2", "tools/list", "")).last(); !strings.Contains(list, `"fault__four"`) {
				t.Error("the stream told of a list that the client had")
			}
		})
	}
}
