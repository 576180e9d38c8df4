package mcpserver_test

import (
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"genkan/internal/testkit"
)

// ends reports how long the gateway takes to stop. Far less than the half minute
// that calls under way would get is what tests may rely on.
func (h *house) ends() time.Duration {
	began := time.Now()
	h.end()
	return time.Since(began)
}

const soon = 15 * time.Second

// TestStoppingWaitsForNoAnswer: after the listener is closed no question can be
// answered, so its call ends at once. A client that is still connected gets the
// error.
func TestStoppingWaitsForNoAnswer(t *testing.T) {
	t.Parallel()
	for i, server := range []string{"lh", "ls", "mh", "ms"} {
		for j, there := range []bool{true, false} {
			if !testkit.OneIn(2, i/2, i%2, j) {
				continue
			}
			t.Run(fmt.Sprintf("%s, client there: %t", server, there), func(t *testing.T) {
				t.Parallel()
				h := openHouse(t, servers{server: upstream(t, server)})
				session := h.openSession("/mcp", h.token, "2025-11-25", canBeAsked)
				stream := h.open(legacyCall(session, "1", server+"__ask", `{}`))
				stream.primed()
				stream.want("elicitation/create")
				answered := make(chan event, 1)
				if there {
					go func() {
						for {
							e, err := stream.event()
							if err != nil || strings.Contains(e.data, `"id":1,`) {
								answered <- e
								return
							}
						}
					}()
				} else {
					stream.close()
					h.waitForOrphans(1)
					answered <- event{data: "going down"}
				}
				if took := h.ends(); took > soon {
					t.Errorf("the stop took %s", took)
				}
				if e := <-answered; !strings.Contains(e.data, "going down") {
					t.Errorf("the answer was %+v", e)
				}
			})
		}
	}
}

// TestStoppingWaitsForNoAnswerOverSSE either.
func TestStoppingWaitsForNoAnswerOverSSE(t *testing.T) {
	t.Parallel()
	h := openHouse(t, servers{"lh": upstream(t, "lh")})
	c := h.sse("/sse", "")
	c.send(`{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2024-11-05","capabilities":` + canBeAsked + `,"clientInfo":{"name":"t","version":"1"}}}`)
	c.answer("0")
	c.send(legacyCall("", "1", "lh__ask", `{}`).body)
	if asked := c.next(); !strings.Contains(asked, "elicitation/create") {
		t.Fatal(asked)
	}
	answered := make(chan string, 1)
	go func() {
		for {
			message, err := c.read()
			if err != nil || strings.Contains(message, `"id":1,`) {
				answered <- message
				return
			}
		}
	}()
	if took := h.ends(); took > soon {
		t.Errorf("the stop took %s", took)
	}
	if got := <-answered; !strings.Contains(got, "going down") {
		t.Errorf("the answer was %q", got)
	}
}

// TestStoppingWaitsForNoReader: streams that wait for their clients, and whose
// calls have ended, are nothing to wait for.
func TestStoppingWaitsForNoReader(t *testing.T) {
	t.Parallel()
	h := openHouse(t, servers{"fault": child(t)})
	session := h.initialize(h.token)
	gate := newGate(t)
	for i := range 5 {
		stream := h.open(callWithMeta(legacyEra, session, fmt.Sprint(i), "fault__progress", fmt.Sprintf(`{"n":1,"gates":["",%q]}`, gate), `"progressToken":1`))
		stream.primed()
		stream.want(step(1))
		stream.close()
	}
	h.waitForOrphans(5)
	gate.open(t)
	testkit.Eventually(t, func() bool { return h.callsEnded() >= 5 }, "the calls have ended")
	if took := h.ends(); took > soon {
		t.Errorf("the stop took %s", took)
	}
}

// TestTheStreamOfACallEndsWithItsToken, the first as well as a resumed one.
func TestTheStreamOfACallEndsWithItsToken(t *testing.T) {
	t.Parallel()
	h := openHouse(t, servers{"fault": child(t)})
	for _, resumed := range []bool{false, true} {
		name := fmt.Sprintf("short-lived-%t", resumed)
		token := h.newToken(name)
		session := h.initialize(token)
		gate := newGate(t)
		call := callWithMeta(legacyEra, session, "1", "fault__progress", fmt.Sprintf(`{"n":3,"gates":["",%q,"",""]}`, gate), `"progressToken":1`)
		call.header.Set("Authorization", "Bearer "+token)
		stream := h.open(call)
		first := stream.primed()
		stream.want(step(1))
		again := resume(session, first.id)
		again.header.Set("Authorization", "Bearer "+token)
		if resumed {
			stream.close()
			stream = h.open(again)
			stream.primed()
			stream.want(step(1))
		}
		h.revoke(name)
		testkit.Eventually(t, func() bool {
			r := legacy(session, "1", "ping", "")
			r.header.Set("Authorization", "Bearer "+token)
			return h.send(r).status == http.StatusUnauthorized
		}, "the token is refused")
		gate.open(t)
		stream.over()
		if got := h.send(again).status; got != http.StatusUnauthorized {
			t.Errorf("resumed with %d", got)
		}
	}
}

// TestManyClientsDropAndResume: each gets its own answer, once, whatever breaks
// and however often.
func TestManyClientsDropAndResume(t *testing.T) {
	t.Parallel()
	record := recordFile(t)
	h := openHouse(t, servers{"fault": child(t, "-record", record)})
	const breaks = 3
	clients := testkit.Count(25, 100)
	var all sync.WaitGroup
	for i := range clients {
		all.Go(func() {
			session := h.initialize(h.token)
			mine := fmt.Sprintf("%d-mine", i)
			stream := h.open(callWithMeta(legacyEra, session, fmt.Sprintf("%q", mine), "fault__progress", `{"n":5,"ms":30}`, `"progressToken":1`))
			last := stream.primed()
			for range breaks {
				stream.close()
				stream = h.open(resume(session, last.id))
				if e, err := stream.event(); err != nil {
					t.Errorf("client %d: %v", i, err)
					return
				} else if e.id != "" {
					last = e
				}
			}
			steps := 0
			for {
				e, err := stream.event()
				if err != nil {
					t.Errorf("client %d has no answer: %v", i, err)
					return
				}
				if strings.Contains(e.data, `"id":`) {
					if !strings.Contains(e.data, fmt.Sprintf(`"id":%q`, mine)) {
						t.Errorf("client %d got %s", i, e.data)
					}
					break
				}
				steps++
			}
			stream.close()
			h.send(request{method: http.MethodDelete, header: headers("Mcp-Session-Id", session)})
		})
	}
	all.Wait()
	if got := len(calls(t, record)); got != clients {
		t.Errorf("%d calls reached the server", got)
	}
	h.waitForOrphans(0)
}

// TestOddResumptions are answered with a status, and never hang.
func TestOddResumptions(t *testing.T) {
	t.Parallel()
	h := openHouse(t, servers{"fault": child(t)})
	session := h.initialize(h.token)
	gate := newGate(t)
	stream := h.open(callWithMeta(legacyEra, session, "1", "fault__progress", fmt.Sprintf(`{"n":1,"gates":["",%q]}`, gate), `"progressToken":1`))
	first := stream.primed()
	for _, c := range []struct {
		method, id, accept string
		want               int
	}{
		{http.MethodHead, first.id, "text/event-stream", http.StatusMethodNotAllowed},
		{http.MethodOptions, first.id, "text/event-stream", http.StatusMethodNotAllowed},
		{http.MethodGet, first.id, "application/json", http.StatusNotAcceptable},
		{http.MethodGet, first.id, "text/html", http.StatusNotAcceptable},
		{http.MethodGet, first.id + "9", "text/event-stream", http.StatusBadRequest},
		{http.MethodGet, strings.TrimSuffix(first.id, "0") + "-1", "text/event-stream", http.StatusBadRequest},
		{http.MethodGet, strings.Repeat("-", 5000), "text/event-stream", http.StatusBadRequest},
		{http.MethodGet, strings.TrimSuffix(first.id, "0") + "99999999999999999999", "text/event-stream", http.StatusBadRequest},
	} {
		got := h.send(request{method: c.method, header: headers("Mcp-Session-Id", session, "Last-Event-ID", c.id, "Accept", c.accept)})
		if got.status != c.want {
			t.Errorf("%s %.40s, %s: %d, want %d: %s", c.method, c.id, c.accept, got.status, c.want, got.body)
		}
	}
	// A malformed request has not taken over the stream.
	stream.want(step(1))
	gate.open(t)
	stream.want(`"id":1`)
	stream.over()
}
