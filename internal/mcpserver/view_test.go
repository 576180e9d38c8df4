package mcpserver_test

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"genkan/internal/testkit"
)

// TestAServerAlone: at its own URL a server has its own names, so that nothing
// changes for a client that used it directly.
func TestAServerAlone(t *testing.T) {
	t.Parallel()
	h := openHouse(t, servers{"a": child(t, "-everything", "-scheme", "a"), "b": child(t, "-everything", "-scheme", "b")})
	for _, era := range []string{legacyEra, modernEra} {
		c := h.connect(t, clientOptions{era: era, wire: overHTTP, view: "a", capabilities: canBeAsked, answer: accept})
		for _, l := range []struct{ method, list, key, want, not string }{
			{"tools/list", "tools", "name", "echo", "a__echo"},
			{"prompts/list", "prompts", "name", "greet", "a__greet"},
			{"resources/list", "resources", "uri", "a://text", "b://text"},
			{"resources/templates/list", "resourceTemplates", "uriTemplate", "a://note/{id}", "b://note/{id}"},
		} {
			listed := names(t, c.do(l.method, ""), l.list, l.key)
			if !slices.Contains(listed, l.want) || slices.Contains(listed, l.not) {
				t.Errorf("%s: %s is %v", era, l.method, listed)
			}
		}
		if got := c.mustSay("echo", `{"text":"x"}`); got != "x" {
			t.Errorf("echo says %s", got)
		}
		if got := c.mustSay("ask", `{}`); !strings.Contains(got, "Hana") {
			t.Errorf("ask says %s", got)
		}
		if answer := c.do("prompts/get", `"name":"greet","arguments":{"name":"Hana"}`); !strings.Contains(answer, "Greet Hana") {
			t.Errorf("greet is answered with %s", answer)
		}
		if answer := c.do("completion/complete", `"ref":{"type":"ref/prompt","name":"greet"},"argument":{"name":"name","value":"a"}`); !strings.Contains(answer, `["alpha"]`) {
			t.Errorf("greet completes to %s", answer)
		}
		// A tool outside of the view does not exist.
		for _, tool := range []string{"a__echo", "b__echo"} {
			if answer := c.call(tool, `{"text":"x"}`); errorCode(answer) != -32602 || !strings.Contains(answer, "Unknown tool") {
				t.Errorf("%s is answered with %s", tool, answer)
			}
		}
		if answer := c.do("resources/read", `"uri":"b://text"`); errorCode(answer) == 0 {
			t.Errorf("another server's resource is read: %s", answer)
		}
		stop := c.subscribe("a://text")
		c.mustSay("touch", `{"uri":"a://text"}`)
		c.await(`"uri":"a://text"`)
		stop()
	}
}

// TestUnknownViews: a name that no server has is not found, in every way.
func TestUnknownViews(t *testing.T) {
	t.Parallel()
	h := openHouse(t, servers{"a": child(t), "b": child(t)})
	for _, path := range []string{"/mcp/s/nosuch", "/mcp/s/A", "/mcp/s/a,nosuch", "/mcp/s/a%2Fb", "/mcp/s/a,a"} {
		for name, r := range map[string]request{
			"modern": modern("1", "tools/list", "", ""),
			"legacy": legacy("", "0", "initialize", `{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"t","version":"1"}}`),
			"GET":    {method: http.MethodGet},
			"DELETE": {method: http.MethodDelete},
		} {
			r.path = path
			if answer := h.send(r); answer.status != http.StatusNotFound {
				t.Errorf("%s %s: %d %s", name, path, answer.status, answer.body)
			}
		}
	}
	for _, path := range []string{"/mcp/s/", "/mcp/s", "/mcp/s/a/", "/mcp/s/a/b"} {
		if answer := h.send(request{path: path}); answer.status != http.StatusNotFound {
			t.Errorf("%s: %d %s", path, answer.status, answer.body)
		}
	}
	// The view cannot be entered by another URL.
	r := modern("1", "tools/list", "", "")
	r.path = "/mcp/s/nosuch"
	r.header.Set("Authorization", "Bearer wrong")
	if answer := h.send(r); answer.status != http.StatusUnauthorized {
		t.Errorf("a stranger learns which servers there are: %d %s", answer.status, answer.body)
	}
}

// TestASessionIsOfOneView: its id opens nothing at another URL.
func TestASessionIsOfOneView(t *testing.T) {
	t.Parallel()
	h := openHouse(t, servers{"a": child(t), "b": child(t)})
	at := func(path string) string {
		r := legacy("", "0", "initialize", `{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"t","version":"1"}}`)
		r.path = path
		return h.send(r).header.Get("Mcp-Session-Id")
	}
	paths := []string{"/mcp", "/mcp/s/a", "/mcp/s/b"}
	for _, own := range paths {
		session := at(own)
		for _, path := range paths {
			for _, method := range []string{http.MethodPost, http.MethodGet, http.MethodDelete} {
				if path == own && method != http.MethodPost {
					continue
				}
				r := legacy(session, "1", "ping", "")
				r.path, r.method = path, method
				want := http.StatusNotFound
				if path == own {
					want = http.StatusOK
				}
				if answer := h.send(r); answer.status != want {
					t.Errorf("a session of %s at %s %s: %d", own, method, path, answer.status)
				}
			}
		}
	}
}

// TestChangesReachTheirViews: who does not see a server does not hear of it.
func TestChangesReachTheirViews(t *testing.T) {
	t.Parallel()
	h := openHouse(t, servers{"a": child(t, "-everything"), "b": child(t, "-everything")})
	for _, era := range []string{legacyEra, modernEra} {
		all := h.connect(t, clientOptions{era: era, wire: overHTTP})
		pipe := h.connect(t, clientOptions{era: era, wire: overStdio})
		a := h.connect(t, clientOptions{era: era, wire: overHTTP, view: "a"})
		b := h.connect(t, clientOptions{era: era, wire: overHTTP, view: "b"})
		for _, c := range []*client{all, pipe, a, b} {
			c.hearOfLists()
			c.do("tools/list", "")
		}
		for _, change := range []struct{ tool, arguments, method string }{
			{"add_tool", `{"name":"fresh_` + era + `"}`, "notifications/tools/list_changed"},
			{"add", `{"kind":"prompt","name":"fresh_` + era + `"}`, "notifications/prompts/list_changed"},
			{"add", `{"kind":"resource","name":"x://` + era + `"}`, "notifications/resources/list_changed"},
			{"add", `{"kind":"template","name":"x://` + era + `/{id}"}`, "notifications/resources/list_changed"},
		} {
			a.mustSay(change.tool, change.arguments)
			for _, c := range []*client{all, pipe, a} {
				c.await(change.method)
			}
			// The next notification for b is its own: nothing came before it.
			b.mustSay("add_tool", `{"name":"marker"}`)
			b.await("notifications/tools/list_changed")
			if got := b.notifications("list_changed"); len(got) != len(b.notifications("tools/list_changed")) {
				t.Errorf("%s: who sees only b hears %v", era, got)
			}
			if change.method == "notifications/tools/list_changed" && len(b.notifications(change.method)) > 1 {
				t.Errorf("%s: who sees only b hears of a: %v", era, b.notifications(change.method))
			}
			for _, c := range []*client{all, pipe} {
				// b's marker reaches them too, and is heard before they are
				// asked to forget.
				testkit.Eventually(t, func() bool { return len(c.notifications("tools/list_changed")) > 0 }, "the marker is heard")
			}
			for _, c := range []*client{all, pipe, a, b} {
				c.forget()
			}
		}
	}
}

// TestAViewThatGoesAway: when its server leaves the configuration, the URL is
// not found, and those who looked at it are told; when it is back, so is the
// view.
func TestAViewThatGoesAway(t *testing.T) {
	t.Parallel()
	a, b := child(t), child(t)
	h := openHouse(t, servers{"a": a, "b": b})
	c := h.connect(t, clientOptions{era: modernEra, wire: overHTTP, view: "a"})
	c.hearOfLists()
	h.reload(servers{"b": b})
	c.await("notifications/tools/list_changed")
	r := modern("1", "tools/list", "", "")
	r.path = "/mcp/s/a"
	if answer := h.send(r); answer.status != http.StatusNotFound || !strings.Contains(answer.last(), "there is no server") {
		t.Errorf("tools/list of a removed server: %d %s", answer.status, answer.body)
	}
	c.forget()
	h.reload(servers{"a": a, "b": b})
	h.waitForServer("a")
	c.await("notifications/tools/list_changed")
	if answer := c.do("tools/list", ""); !strings.Contains(answer, `"name":"echo"`) {
		t.Errorf("tools/list of a server that is back: %s", answer)
	}
}

// reload takes other servers into force.
func (h *house) reload(servers servers) {
	h.tb.Helper()
	h.config["mcpServers"] = servers
	h.writeConfig()
	if err := h.process.Reload(); err != nil {
		h.tb.Fatal(err)
	}
}

// TestAURLNamesOneServer: there is no end of what names several.
func TestAURLNamesOneServer(t *testing.T) {
	t.Parallel()
	h := openHouse(t, servers{"a": child(t), "b": child(t)})
	for _, view := range []string{"a,b", "a,", ",", "a,a", "c"} {
		r := modern("1", "tools/list", "", "")
		r.path = "/mcp/s/" + view
		if answer := h.send(r); answer.status != http.StatusNotFound {
			t.Errorf("%s: %d %s", view, answer.status, answer.body)
		}
	}
}

// TestAChangeIsToldOnce, although templates share the word of resources.
func TestAChangeIsToldOnce(t *testing.T) {
	t.Parallel()
	h := openHouse(t, upstreams(t))
	for i, kind := range kinds() {
		for j, server := range []string{"lh", "ls", "mh", "ms"} {
			if !testkit.OneIn(2, i/2, i%2, j/2, j%2) {
				continue
			}
			c := h.connect(t, kind)
			c.hearOfLists()
			for _, method := range []string{"tools/list", "prompts/list", "resources/list"} {
				c.do(method, "")
			}
			name := fmt.Sprintf("x-%s-%s-%s", kind.era, kind.wire, server)
			c.mustSay(server+"__add", fmt.Sprintf(`{"kind":"resource","name":"%s://x"}`, name))
			c.await("notifications/resources/list_changed")
			c.mustSay(server+"__add", fmt.Sprintf(`{"kind":"prompt","name":%q}`, name))
			c.await("notifications/prompts/list_changed")
			if got := c.notifications("notifications/resources/list_changed"); len(got) != 1 {
				t.Errorf("%s of %s: told %d times", kind, server, len(got))
			}
		}
	}
}
