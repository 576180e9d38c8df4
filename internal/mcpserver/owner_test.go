package mcpserver_test

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"genkan/internal/testkit"
)

// These tests check to which client a server's question belongs. A question of a
// legacy server over stdio names no call, so it belongs to the only client with
// calls on that server, or else to none. It must never reach the wrong person.

// hold has each client hold a call on a server, until the gate is opened.
func hold(t *testing.T, record string, gate gate, clients ...*client) (held []*underWay) {
	t.Helper()
	before := len(calls(t, record))
	for _, c := range clients {
		held = append(held, c.beginCall("a__hold", fmt.Sprintf(`{"gate":%q}`, gate)))
	}
	testkit.Eventually(t, func() bool { return len(calls(t, record)) == before+len(clients) }, "all calls are held")
	return held
}

// bystanders are clients of every kind that can be asked, and fail the test
// when they are.
func (h *house) bystanders(t *testing.T) (clients []*client) {
	t.Helper()
	for _, kind := range kinds() {
		kind.capabilities = canBeAsked
		clients = append(clients, h.connect(t, kind))
	}
	t.Cleanup(func() {
		for _, c := range clients {
			heard := slices.DeleteFunc(c.notifications(""), func(note string) bool {
				return strings.Contains(note, "/list_changed") // everybody's business
			})
			if len(c.questions()) > 0 || len(heard) > 0 {
				t.Errorf("a bystander, the %s, is asked %v and hears %v", c.clientOptions, c.questions(), heard)
			}
		}
	})
	return clients
}

// TestAQuestionThatCouldBeAnybodysIsNobodys: the server is told so, and every
// call goes on.
func TestAQuestionThatCouldBeAnybodysIsNobodys(t *testing.T) {
	t.Parallel()
	for _, kind := range kinds() {
		t.Run(kind.String(), func(t *testing.T) {
			t.Parallel()
			record := recordFile(t)
			h := openHouse(t, servers{"a": child(t, "-everything", "-era", "legacy", "-record", record)})
			gate := newGate(t)
			held := hold(t, record, gate, h.bystanders(t)...)
			kind.capabilities, kind.answer = canBeAsked, accept
			c := h.connect(t, kind)
			answer := c.call("a__ask", `{}`)
			if !strings.Contains(answer, "nothing says whose this request is") || len(c.questions()) != 0 {
				t.Errorf("answered %s after %v", answer, c.questions())
			}
			gate.open(t)
			for _, u := range held {
				if got := text(u.wait()); got != "held " {
					t.Errorf("a held call is answered with %s", got)
				}
			}
		})
	}
}

// TestTheRightClientIsAsked: five calls are under way on a server that is known
// to ask, one of which asks.
func TestTheRightClientIsAsked(t *testing.T) {
	t.Parallel()
	for _, kind := range kinds() {
		t.Run(kind.String(), func(t *testing.T) {
			t.Parallel()
			record := recordFile(t)
			h := openHouse(t, servers{"a": child(t, "-everything", "-era", "legacy", "-record", record)})
			kind.capabilities, kind.answer = canBeAsked, accept
			c := h.connect(t, kind)
			c.mustSay("a__ask", `{}`) // from here on it is known
			c.forget()
			gate := newGate(t)
			held := hold(t, record, gate, h.bystanders(t)...)
			if got := c.mustSay("a__ask", `{"message":"Only you"}`); !strings.Contains(got, "Hana") {
				t.Errorf("the server learns %s", got)
			}
			if asked := c.questions(); len(asked) != 1 || !strings.Contains(asked[0].params, "Only you") {
				t.Errorf("the client is asked %v", asked)
			}
			gate.open(t)
			for _, u := range held {
				if got := text(u.wait()); got != "held " {
					t.Errorf("a held call is answered with %s", got)
				}
			}
		})
	}
}

// TestAQuestionOnACallsOwnStream says whose it is, however many calls are under
// way on a server over HTTP.
func TestAQuestionOnACallsOwnStream(t *testing.T) {
	t.Parallel()
	record := recordFile(t)
	h := openHouse(t, servers{"a": sibling(t, "-everything", "-era", "legacy", "-record", record)})
	gate := newGate(t)
	held := hold(t, record, gate, h.bystanders(t)...)
	for _, kind := range kinds() {
		kind.capabilities, kind.answer = canBeAsked, accept
		c := h.connect(t, kind)
		if got := c.mustSay("a__ask", `{}`); !strings.Contains(got, "Hana") {
			t.Errorf("%s: the server learns %s", kind, got)
		}
		// The stream that belongs to no call does not say.
		c.forget()
		if answer := c.call("a__ask", `{"standing":true}`); !strings.Contains(answer, "nothing says whose this request is") || len(c.questions()) != 0 {
			t.Errorf("%s: answered %s after %v", kind, answer, c.questions())
		}
	}
	gate.open(t)
	for _, u := range held {
		u.wait()
	}
}

// TestTheOnlyClientIsAsked: also when its server asks beside the call's stream,
// and when several of its calls are under way.
func TestTheOnlyClientIsAsked(t *testing.T) {
	t.Parallel()
	for name, server := range map[string]func(t *testing.T, args ...string) map[string]any{
		overHTTP:  func(t *testing.T, args ...string) map[string]any { return sibling(t, args...) },
		overStdio: func(t *testing.T, args ...string) map[string]any { return child(t, args...) },
	} {
		t.Run("of a server over "+name, func(t *testing.T) {
			t.Parallel()
			record := recordFile(t)
			h := openHouse(t, servers{"a": server(t, "-everything", "-era", "legacy", "-record", record)})
			for _, kind := range kinds() {
				kind.capabilities, kind.answer = canBeAsked, accept
				c := h.connect(t, kind)
				if got := c.mustSay("a__ask", `{"standing":true}`); !strings.Contains(got, "Hana") {
					t.Errorf("%s: the server learns %s", kind, got)
				}
				// A legacy session is one client. For modern calls it is unknown
				// whether one client made them, so each call has its own child by now.
				gate := newGate(t)
				held := hold(t, record, gate, c, c)
				answer := c.call("a__ask", `{"standing":true}`)
				if asked := strings.Contains(answer, "Hana"); asked != (kind.era == legacyEra || name == overStdio) {
					t.Errorf("%s: with other calls under way: %s", kind, answer)
				}
				gate.open(t)
				for _, u := range held {
					u.wait()
				}
			}
		})
	}
}

// TestNoQuestionCrosses: many clients, who all use the same ids, are asked at
// once by one server, and each answers its own question.
func TestNoQuestionCrosses(t *testing.T) {
	t.Parallel()
	each := testkit.Count(3, 10)
	h := openHouse(t, servers{"lh": sibling(t, "-everything", "-era", "legacy"), "mh": sibling(t, "-everything", "-era", "modern"), "ms": child(t, "-everything", "-era", "modern")})
	var all sync.WaitGroup
	for _, kind := range kinds() {
		for i := range each {
			me := fmt.Sprintf("%s number %d", kind, i)
			kind.capabilities = canBeAsked
			kind.answer = func(q question) string {
				if !strings.Contains(q.params, `] `+me+" (") {
					t.Errorf("%s is asked %s", me, q.params)
				}
				return fmt.Sprintf(`"result":{"action":"accept","content":{"name":%q}}`, me)
			}
			c := h.connect(t, kind)
			all.Go(func() {
				for _, server := range []string{"lh", "mh", "ms"} {
					u := c.begin("tools/call", callParams(server+"__ask", fmt.Sprintf(`{"message":%q,"at_once":2,"rounds":2}`, me)), `"progressToken":"same"`)
					answer := u.finish()
					if strings.Count(answer, me) != 4 || strings.Count(answer, "number") != 4 {
						t.Errorf("%s of %s gets %s", me, server, answer)
					}
				}
			})
		}
	}
	all.Wait()
}
