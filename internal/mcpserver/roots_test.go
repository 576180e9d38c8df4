package mcpserver_test

import (
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"

	"genkan/internal/testkit"
)

const hasRoots = `{"roots":{"listChanged":true}}`

const rootsChanged = `{"jsonrpc":"2.0","method":"notifications/roots/list_changed"}`

// at answers roots/list with one folder.
func at(folder string) string { return `"result":{"roots":[{"uri":"file://` + folder + `"}]}` }

// TestAServerFollowsItsClient: a server that a session has to itself is told
// when its client works elsewhere, and learns where; the servers of other
// sessions are told nothing.
func TestAServerFollowsItsClient(t *testing.T) {
	t.Parallel()
	for _, over := range []string{overHTTP, overStdio} {
		for _, wire := range []string{overHTTP, overStdio} {
			t.Run(fmt.Sprintf("a client over %s of a server over %s", wire, over), func(t *testing.T) {
				record := recordFile(t)
				flags := []string{"-everything", "-era", "legacy", "-record", record}
				server := child(t, flags...)
				if over == overHTTP {
					server = sibling(t, flags...)
				}
				h := openHouse(t, servers{"a": with(server, map[string]any{"isolation": "session"})})
				first, second, elsewhere := t.TempDir(), t.TempDir(), t.TempDir()
				var folder atomic.Value
				folder.Store(first)
				c := h.connect(t, clientOptions{era: legacyEra, wire: wire, capabilities: hasRoots, answer: func(question) string {
					return at(folder.Load().(string))
				}})
				other := h.connect(t, clientOptions{era: legacyEra, wire: wire, capabilities: hasRoots, answer: func(question) string {
					return at(elsewhere)
				}})
				where := func(c *client) string { return c.mustSay("a__ask", `{"what":"roots"}`) }
				if got := where(c) + where(other); !strings.Contains(got, first) || !strings.Contains(got, elsewhere) {
					t.Fatalf("the servers learn %s", got)
				}
				folder.Store(second)
				c.write(rootsChanged)
				told := func() int { return countLines(t, record, "notifications/roots/list_changed") }
				testkit.Eventually(t, func() bool { return told() == 1 }, "the server is told")
				if got := where(c); !strings.Contains(got, second) {
					t.Errorf("the server learns %s", got)
				}
				if got := where(other); !strings.Contains(got, elsewhere) {
					t.Errorf("another's server learns %s", got)
				}
				if told() != 1 {
					t.Errorf("the servers were told %d times", told())
				}
			})
		}
	}
}

// TestAStreamlessClientIsFollowedAtItsNextCall: it cannot be asked before.
func TestAStreamlessClientIsFollowedAtItsNextCall(t *testing.T) {
	t.Parallel()
	record := recordFile(t)
	h := openHouse(t, servers{"a": with(child(t, "-everything", "-era", "legacy", "-record", record), map[string]any{"isolation": "session"})})
	session := h.openSession("/mcp", h.token, "2025-11-25", hasRoots)
	where := func(id, folder string) string {
		stream := h.open(legacyCall(session, id, "a__ask", `{"what":"roots"}`))
		said := stream.next()
		if strings.Contains(said, `"roots/list"`) {
			h.send(request{
				body:   `{"jsonrpc":"2.0","id":` + member(t, said, "id") + `,` + at(folder) + `}`,
				header: http.Header{"Mcp-Session-Id": {session}},
			}).want(t, http.StatusAccepted, 0)
			said = stream.next()
		}
		return text(said)
	}
	first, second := t.TempDir(), t.TempDir()
	if got := where("1", first); !strings.Contains(got, first) {
		t.Fatalf("the server learns %s", got)
	}
	h.send(request{body: rootsChanged, header: http.Header{"Mcp-Session-Id": {session}}}).want(t, http.StatusAccepted, 0)
	if got := where("2", second); !strings.Contains(got, second) {
		t.Errorf("the server learns %s", got)
	}
	if got := countLines(t, record, "notifications/roots/list_changed"); got != 1 {
		t.Errorf("the server was told %d times", got)
	}
}

// TestAnotherFolderIsAnotherServer: where each folder has a server of its own, a
// client that has moved finds that of its new one at its next call.
func TestAnotherFolderIsAnotherServer(t *testing.T) {
	t.Parallel()
	h := openHouse(t, servers{"a": with(child(t, "-era", "legacy"), map[string]any{"isolation": "root"})})
	for _, wire := range []string{overHTTP, overStdio} {
		var folder atomic.Value
		folder.Store(t.TempDir())
		c := h.connect(t, clientOptions{era: legacyEra, wire: wire, capabilities: hasRoots, answer: func(question) string {
			return at(folder.Load().(string))
		}})
		first := c.mustSay("a__pid", `{}`)
		if again := c.mustSay("a__pid", `{}`); again != first {
			t.Errorf("over %s one folder has the servers %s and %s", wire, first, again)
		}
		folder.Store(t.TempDir())
		c.write(rootsChanged)
		if second := c.mustSay("a__pid", `{}`); second == first {
			t.Errorf("over %s two folders share a server", wire)
		}
	}
}
