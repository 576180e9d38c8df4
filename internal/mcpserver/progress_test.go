package mcpserver_test

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"genkan/internal/testkit"
)

// behind lists the four kinds of servers that calls end in.
func behind(tb testing.TB, args ...string) map[string]map[string]any {
	tb.Helper()
	flags := func(era string) []string { return append([]string{"-era", era}, args...) }
	return map[string]map[string]any{
		"stdio legacy": child(tb, flags("legacy")...), "stdio modern": child(tb, flags("modern")...),
		"HTTP legacy": sibling(tb, flags("legacy")...), "HTTP modern": sibling(tb, flags("modern")...),
	}
}

// callWithMeta is a tools/call of either era with something in its _meta.
func callWithMeta(era, session, id, tool, arguments, meta string) request {
	if era == "modern" {
		return modern(id, "tools/call", fmt.Sprintf(`"name":%q,"arguments":%s`, tool, arguments), meta)
	}
	return legacy(session, id, "tools/call", fmt.Sprintf(`{"name":%q,"arguments":%s,"_meta":{%s}}`, tool, arguments, meta))
}

// TestProgress: a call that is asked about comes as a stream, with the
// client's own token in the client's own spelling; any other one is plain JSON.
func TestProgress(t *testing.T) {
	t.Parallel()
	for name, server := range behind(t) {
		t.Run(name, func(t *testing.T) {
			h := openHouse(t, servers{"fault": server})
			session := h.initialize(h.token)
			// A slow answer to a client of 2025-11-25 becomes a stream by itself.
			older := h.openSession("/mcp", h.token, "2025-06-18", "{}")
			for _, era := range []string{"legacy", "modern"} {
				for _, token := range []string{`"abc"`, `"7"`, `7`, `0`, `-3`, `"t\u00f6k/\/"`, `12345678901234567890123`} {
					t.Run(era+" "+token, func(t *testing.T) {
						r := h.send(callWithMeta(era, session, "5", "fault__progress", `{"n":3}`, `"progressToken":`+token))
						if r.header.Get("Content-Type") != "text/event-stream" || len(r.messages) != 4 {
							t.Fatalf("%s: %s", r.header.Get("Content-Type"), r.body)
						}
						for i, message := range r.messages[:3] {
							want := fmt.Sprintf(`{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":%s,"progress":%d,"total":3,"message":"step %d of 3"}}`, token, i+1, i+1)
							if message != want {
								t.Errorf("got  %s\nwant %s", message, want)
							}
						}
						if text(r.last()) != "3 steps" {
							t.Errorf("the answer is %s", r.last())
						}
					})
				}
				t.Run(era+" without a token", func(t *testing.T) {
					r := h.send(callWithMeta(era, older, "5", "fault__progress", `{"n":3}`, `"x":1`))
					if r.header.Get("Content-Type") != "application/json" || text(r.last()) != "3 steps" {
						t.Errorf("%s: %s", r.header.Get("Content-Type"), r.body)
					}
				})
				t.Run(era+" without Accept for streams", func(t *testing.T) {
					r := callWithMeta(era, session, "5", "fault__progress", `{"n":3}`, `"progressToken":1`)
					r.header.Set("Accept", "application/json")
					got := h.send(r)
					if got.header.Get("Content-Type") != "application/json" || text(got.last()) != "3 steps" {
						t.Errorf("%s: %s", got.header.Get("Content-Type"), got.body)
					}
				})
				for _, token := range []string{`null`, `true`, `{}`, `["a"]`} {
					h.send(callWithMeta(era, session, "5", "fault__progress", `{"n":1}`, `"progressToken":`+token)).want(t, http.StatusOK, -32602)
				}
			}
		})
	}
}

// TestProgressAndFailure: a stream that has begun ends with the error.
func TestProgressAndFailure(t *testing.T) {
	h := openHouse(t, servers{"fault": with(child(t), map[string]any{"timeout": "300ms"})})
	// The second step never comes.
	arguments := fmt.Sprintf(`{"n":2,"gates":["",%q]}`, newGate(t))
	r := h.send(modern("1", "tools/call", `"name":"fault__progress","arguments":`+arguments, `"progressToken":1`))
	wantFailure(t, r.last(), "timeout", "after 300ms")
}

// TestSlowReaderHoldsUpNobody: a client that asks for progress and does not
// read it must not stop the reading of the child that others share.
func TestSlowReaderHoldsUpNobody(t *testing.T) {
	h := openHouse(t, servers{"fault": child(t)})
	steps := testkit.Count(2_500, 10_000) // of 2 KB each: more than the buffers of a connection hold
	stuck := h.open(modern("1", "tools/call", fmt.Sprintf(`"name":"fault__progress","arguments":{"n":%d}`, steps), `"progressToken":"`+strings.Repeat("long", 500)+`"`))
	// The first calls still fit into the connection's buffers.
	answered := make(chan string, 1)
	go func() {
		for range 20 { // soon enough: who reads nothing for 30 s is disconnected
			if r := h.send(modernCall("1", "fault__echo", `{"text":"hi"}`)); text(r.last()) != "hi" {
				answered <- "echo: " + r.last()
				return
			}
		}
		answered <- ""
	}()
	select {
	case problem := <-answered:
		if problem != "" {
			t.Error(problem)
		}
	case <-time.After(2 * time.Minute):
		t.Error("a client that does not read stops the others")
	}
	// Once it reads, it gets its answer. Progress that it was too slow for may
	// be missing, the rest is in order.
	last, received, final := 0, 0, ""
	for {
		message, err := stuck.read()
		if err != nil {
			break
		}
		final = message
		if strings.Contains(message, "notifications/progress") {
			var n int
			if _, err := fmt.Sscan(member(t, message, "params", "progress"), &n); err != nil || n <= last {
				t.Fatalf("after %d came %s", last, message)
			}
			last = n
			received++
		}
	}
	t.Logf("of %d steps it received %d", steps, received)
	if text(final) != fmt.Sprintf("%d steps", steps) {
		t.Errorf("the last message is %s", final)
	}
}

// TestCancellation: how clients of each era give up, and what the server
// behind hears of it.
func TestCancellation(t *testing.T) {
	t.Parallel()
	for name, make := range map[string]func(args ...string) map[string]any{
		"stdio": func(args ...string) map[string]any { return child(t, args...) },
		"HTTP":  func(args ...string) map[string]any { return sibling(t, args...) },
	} {
		for _, era := range []string{"legacy", "modern"} {
			t.Run("behind "+name+" "+era, func(t *testing.T) {
				t.Parallel()
				record := recordFile(t)
				h := openHouse(t, servers{"fault": make("-era", era, "-record", record)})
				session := h.initialize(h.token)
				underWay := func(ms string) {
					t.Helper()
					testkit.Eventually(t, func() bool { return countLines(t, record, `"ms":`+ms) == 1 }, "the call is under way")
				}
				cancelled := func() int { return countLines(t, record, "cancelled ") }

				// A legacy client says so. The id is its own, in its own spelling.
				answer := newChan[response]()
				go func() { answer <- h.send(legacyCall(session, `"a/b"`, "fault__sleep", `{"ms":30001}`)) }()
				underWay("30001")
				h.send(legacy(session, "", "notifications/cancelled", `{"requestId":"another"}`))
				h.send(legacy(h.initialize(h.token), "", "notifications/cancelled", `{"requestId":"a/b"}`))
				h.send(legacy(session, "", "notifications/cancelled", `{"requestId":"a/b","reason":"enough"}`))
				if got := <-answer; errorCode(got.last()) != 499 {
					t.Errorf("a canceled call was answered with %s", got.body)
				}
				testkit.Eventually(t, func() bool { return cancelled() == 1 }, "the server hears of a canceled legacy call")

				// Its going away says nothing: the call goes on to its end.
				gone := h.hangUp(legacyCall(session, "2", "fault__sleep", `{"ms":401}`), func() { underWay("401") })
				<-gone
				testkit.Eventually(t, func() bool {
					return errorCode(h.send(legacyCall(session, "2", "fault__echo", `{"text":"x"}`)).last()) == 0
				}, "the call has ended by itself, and its id is free")
				if n := cancelled(); n != 1 {
					t.Errorf("a legacy client that went away canceled its call (%d)", n)
				}

				// A modern client goes away, and means it.
				<-h.hangUp(modernCall("3", "fault__sleep", `{"ms":30003}`), func() { underWay("30003") })
				testkit.Eventually(t, func() bool { return cancelled() == 2 }, "the server hears of a modern client that went away")
			})
		}
	}
}

func newChan[T any]() chan T { return make(chan T, 1) }

// hangUp sends a request and closes the connection once ready returns. The
// channel is closed when the client is gone.
func (h *house) hangUp(r request, ready func()) <-chan struct{} {
	h.tb.Helper()
	gone := make(chan struct{})
	ctx, cancel := context.WithCancel(context.Background())
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	req := h.build(ctx, r)
	go func() {
		defer close(gone)
		if resp, err := client.Do(req); err == nil {
			_ = resp.Body.Close()
		}
	}()
	ready()
	cancel()
	return gone
}

// TestLimits: who asks for more than may be is told when to come again, in the
// words of the transport.
func TestLimits(t *testing.T) {
	t.Parallel()
	h := openHouse(t, servers{"fault": child(t)}, map[string]any{"rateLimit": map[string]any{"max": 4, "timeWindow": "1h"}})
	for _, r := range []request{modernCall("1", "fault__pid", "{}"), legacyCall(h.initialize(h.token), "1", "fault__pid", "{}")} {
		h.send(r).want(t, http.StatusOK, 0)
	}
	for _, r := range []request{modernCall("1", "fault__pid", "{}"), legacyCall(h.initialize(h.token), "1", "fault__pid", "{}")} {
		got := h.send(r)
		if got.status != http.StatusOK {
			t.Errorf("the status is %d", got.status)
		}
		wantFailure(t, got.last(), "limited", "made more than 4 requests")
		if member(t, got.last(), "result", "_meta", "genkan/error", "retryAfterMs") == "" {
			t.Errorf("it does not say when to come again: %s", got.body)
		}
	}
	// A session counts as a call does.
	begin := legacy("", "0", "initialize", `{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"t","version":"1"}}`)
	got := h.send(begin)
	got.want(t, http.StatusTooManyRequests, 429)
	if got.header.Get("Retry-After") == "" {
		t.Errorf("a session is refused without Retry-After: %s", got.body)
	}
	// Another client has its own, and lists cost nothing.
	p := h.stdio()
	p.send(modernCall("1", "fault__pid", "{}").body)
	if got := p.next(); text(got) == "" || strings.Contains(got, "isError") {
		t.Errorf("another client: %s", got)
	}
	h.send(modern("1", "tools/list", "", "")).want(t, http.StatusOK, 0)
}

// TestStdioCallsAreBounded: one client cannot have any number of calls under
// way. The rest is refused at once, and nothing is lost.
func TestStdioCallsAreBounded(t *testing.T) {
	t.Parallel()
	// One server alone takes fewer calls of one client.
	h := openHouse(t, servers{"hung0": child(t, "-mode", "hang"), "hung1": child(t, "-mode", "hang")})
	p := h.stdio()
	const most, more = 1024, 10
	for i := range most + more {
		p.send(legacyCall("", fmt.Sprint(i), fmt.Sprintf("hung%d__pid", i%2), "{}").body)
	}
	for range more {
		if got := p.next(); errorCode(got) != 429 {
			t.Errorf("one too many was answered with %s", got)
		}
	}
	p.send(`{"jsonrpc":"2.0","id":"p","method":"ping"}`)
	if got := p.next(); member(t, got, "id") != `"p"` {
		t.Errorf("then came %s", got)
	}
	for i := range most {
		p.send(fmt.Sprintf(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":%d}}`, i))
	}
}
