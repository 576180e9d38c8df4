package mcpserver_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"genkan/internal/app"
	"genkan/internal/execute"
	"genkan/internal/testkit"
)

// by has a client send a request.
func by(token string, r request) request {
	if r.header == nil {
		r.header = http.Header{}
	}
	r.header.Set("Authorization", "Bearer "+token)
	return r
}

// gauge is a figure of the gateway's metrics.
func (h *house) gauge(name string) float64 {
	h.tb.Helper()
	value, err := strconv.ParseFloat(h.metric(name), 64)
	if err != nil {
		h.tb.Fatal(err)
	}
	return value
}

// wantUnharmed checks that a client gets all its calls answered, in both eras and
// with a session of its own, and soon.
func (h *house) wantUnharmed(token, tool string) {
	h.tb.Helper()
	began := time.Now()
	session := h.initialize(token)
	for i := range 20 {
		for _, r := range []request{modernCall("1", tool, `{"text":"hello"}`), legacyCall(session, "1", tool, `{"text":"hello"}`)} {
			if got := h.send(by(token, r)); got.status != http.StatusOK || text(got.last()) != "hello" {
				h.tb.Fatalf("call %d of another client: %d %.300s", i, got.status, got.body)
			}
		}
	}
	h.send(by(token, modern("1", "tools/list", "", ""))).want(h.tb, http.StatusOK, 0)
	h.send(by(token, legacy(session, "2", "tools/list", ""))).want(h.tb, http.StatusOK, 0)
	if took := time.Since(began); took > patience/2 {
		h.tb.Errorf("the calls of another client took %v", took)
	}
}

// A client that opens many sessions ends only its own.
func TestAFloodOfSessionsShutsNobodyOut(t *testing.T) {
	t.Parallel()
	h := openLimitedHouse(t, servers{"fault": child(t)}, func(o *app.Options) { o.EdgeLimits.Sessions = 20 })
	greedy, other := h.newToken("greedy"), h.newToken("other")
	mine := h.initialize(other)
	var sessions []string
	for range testkit.Count(25, 200) {
		sessions = append(sessions, h.initialize(greedy))
		if n := h.gauge("genkan_sessions"); n > 16 {
			t.Fatalf("there are %v sessions, of 20 that all clients share", n)
		}
	}
	h.wantUnharmed(other, "fault__echo")
	h.send(by(other, legacyCall(mine, "1", "fault__echo", `{"text":"hello"}`))).want(t, http.StatusOK, 0)
	// The greedy one is served as well, also in a session that was ended for
	// another: its id says all that is needed.
	for _, session := range []string{sessions[0], sessions[len(sessions)-1]} {
		h.send(by(greedy, legacyCall(session, "1", "fault__echo", `{"text":"hello"}`))).want(t, http.StatusOK, 0)
	}
}

// initialize is no part of a batch: one request would open hundreds of sessions.
func TestInitializeIsRefusedInABatch(t *testing.T) {
	t.Parallel()
	h := openHouse(t, servers{"fault": child(t)})
	begin := `{"jsonrpc":"2.0","id":%d,"method":"initialize","params":{"protocolVersion":"2025-03-26","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}`
	session := h.send(request{body: fmt.Sprintf(begin, 0)}).header.Get("Mcp-Session-Id")
	r := h.send(request{
		body:   "[" + fmt.Sprintf(begin, 1) + "," + legacy("", "2", "tools/list", "").body + "," + fmt.Sprintf(begin, 3) + "]",
		header: headers("Mcp-Session-Id", session),
	})
	var answers []json.RawMessage
	if err := json.Unmarshal(r.body, &answers); err != nil || len(answers) != 3 {
		t.Fatalf("%d %.300s: %v", r.status, r.body, err)
	}
	for i, want := range []int{-32600, 0, -32600} {
		if got := errorCode(string(answers[i])); got != want {
			t.Errorf("message %d was answered with %.300s", i+1, answers[i])
		}
	}
	if n := h.gauge("genkan_sessions"); n != 1 {
		t.Errorf("there are %v sessions", n)
	}
	p := h.stdio()
	p.send(fmt.Sprintf(begin, 0))
	p.next()
	p.send("[" + fmt.Sprintf(begin, 1) + "]")
	if got := p.next(); errorCode(got) != -32600 {
		t.Errorf("over stdio: %s", got)
	}
}

// stall begins a request whose body never ends.
func (h *house) stall(r request, size int) (end func()) {
	ctx, cancel := context.WithCancel(context.Background())
	body, in := io.Pipe()
	req := h.build(ctx, r)
	req.Body, req.ContentLength = body, int64(size)
	var ended sync.WaitGroup
	ended.Go(func() {
		if resp, err := h.client.Do(req); err == nil {
			_ = resp.Body.Close()
		}
		_ = body.Close()
	})
	ended.Go(func() { _, _ = in.Write([]byte(strings.Repeat(" ", size-1))) })
	return func() {
		cancel()
		_ = in.Close()
		ended.Wait()
	}
}

// Bodies that never come to their end take the memory of their own client, over
// MCP and REST.
func TestStalledBodiesShutNobodyOut(t *testing.T) {
	t.Parallel()
	const memory = 4 << 20
	for name, c := range map[string]struct {
		path string
		size int
	}{
		"MCP":  {"/mcp", 1 << 20},
		"REST": {"/v1/tools/call", 256 << 10},
	} {
		t.Run(name, func(t *testing.T) {
			h := openLimitedHouse(t, servers{"fault": with(child(t), map[string]any{"budget": "off"})}, func(o *app.Options) { o.Memory = memory })
			greedy, other := h.newToken("greedy"), h.newToken("other")
			var ends []func()
			for range 32 {
				ends = append(ends, h.stall(by(greedy, request{path: c.path}), c.size))
			}
			testkit.Eventually(t, func() bool { return h.gauge("genkan_bytes_in_flight") >= memory/2 }, "the bodies have come")
			h.wantUnharmed(other, "fault__echo")
			large := strings.Repeat("x", 256<<10)
			if got := h.send(by(other, modernCall("1", "fault__echo", `{"text":"`+large+`"}`))); len(text(got.last())) != len(large) {
				t.Errorf("a large call of another client: %d %.300s", got.status, got.body)
			}
			for _, end := range ends {
				end()
			}
			testkit.Eventually(t, func() bool { return h.gauge("genkan_bytes_in_flight") == 0 }, "the memory is given back")
			h.wantUnharmed(greedy, "fault__echo")
		})
	}
}

// Calls that sleep, as many as a server takes and as may wait for it, leave
// places for others.
func TestSleepingCallsShutNobodyOut(t *testing.T) {
	t.Parallel()
	limits := execute.DefaultLimits()
	limits.Concurrency, limits.Queue = testkit.Count(16, limits.Concurrency), testkit.Count(128, limits.Queue)
	most, share := limits.Concurrency+limits.Queue, (limits.Concurrency+limits.Queue)*3/4
	h := openLimitedHouse(t, servers{"fault": child(t)}, func(o *app.Options) { o.Limits = limits })
	greedy, other := h.newToken("greedy"), h.newToken("other")
	ctx, cancel := context.WithCancel(context.Background())
	var calls sync.WaitGroup
	defer calls.Wait()
	defer cancel()
	refused := make(chan string, most)
	for range most {
		req := h.build(ctx, by(greedy, modernCall("1", "fault__sleep", `{"ms":600000}`)))
		calls.Go(func() {
			resp, err := h.client.Do(req)
			if err == nil {
				defer func() { _ = resp.Body.Close() }()
			}
			if ctx.Err() != nil {
				return
			}
			answer := ""
			if err == nil {
				body, _ := io.ReadAll(resp.Body) // the stream of one that waits ends with the test
				answer = string(body)
			}
			if ctx.Err() == nil {
				refused <- answer
			}
		})
	}
	deadline := time.After(patience)
	for range most - share {
		select {
		case answer := <-refused:
			wantFailure(t, answer, "limited", "takes no more calls of this client now")
		case <-deadline:
			t.Fatal("the greedy client may have all places")
		}
	}
	h.wantUnharmed(other, "fault__echo")
}

// A client that opens streams leaves some for others.
func TestOpenStreamsShutNobodyOut(t *testing.T) {
	t.Parallel()
	h := openLimitedHouse(t, servers{"fault": child(t)}, func(o *app.Options) { o.EdgeLimits.Streams = 16 })
	greedy, other := h.newToken("greedy"), h.newToken("other")
	get := func(token string) request {
		return by(token, request{method: http.MethodGet, header: headers("Mcp-Session-Id", h.initialize(token))})
	}
	listen := func(token string) request {
		return by(token, modern("1", "subscriptions/listen", `"notifications":{"toolsListChanged":true}`, ""))
	}
	sse := func(token string) request { return by(token, request{method: http.MethodGet, path: "/sse"}) }
	kinds := []func(string) request{get, listen, sse}
	var open []*stream
	for i := range 12 { // three quarters
		s := h.open(kinds[i%3](greedy))
		if s.status != http.StatusOK {
			t.Fatalf("stream %d: %d", i, s.status)
		}
		open = append(open, s)
	}
	for i, kind := range kinds {
		if s := h.open(kind(greedy)); s.status != http.StatusTooManyRequests {
			t.Errorf("one too many of kind %d: %d", i, s.status)
		}
	}
	for i, kind := range kinds {
		s := h.open(kind(other))
		if s.status != http.StatusOK {
			t.Errorf("another client's stream of kind %d: %d", i, s.status)
		}
		s.close()
	}
	h.wantUnharmed(other, "fault__echo")
	h.wantUnharmed(greedy, "fault__echo")
	for _, s := range open {
		s.close()
	}
	testkit.Eventually(t, func() bool {
		s := h.open(listen(greedy))
		defer s.close()
		return s.status == http.StatusOK
	}, "the closed streams are given back")
}
