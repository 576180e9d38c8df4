package mcpserver_test

import (
	"context"
	"io"
	"os"
	"strings"
	"testing"
	"time"

	"genkan/internal/mcpserver"
	"genkan/internal/testkit"
)

const initializeLine = `{"jsonrpc":"2.0","id":"init","method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}`

// TestStdioBothEras: a pipe has no era, each message does.
func TestStdioBothEras(t *testing.T) {
	t.Parallel()
	h := openHouse(t, servers{"fault": child(t)})
	p := h.stdio()

	p.send(modern("1", "server/discover", "", "").body)
	if got := p.next(); member(t, got, "result", "supportedVersions") != `["2026-07-28","2025-11-25","2025-06-18","2025-03-26","2024-11-05"]` || member(t, got, "id") != "1" {
		t.Errorf("discover: %s", got)
	}
	p.send(initializeLine)
	if got := p.next(); member(t, got, "result", "protocolVersion") != `"2025-06-18"` || member(t, got, "id") != `"init"` {
		t.Errorf("initialize: %s", got)
	}
	p.send(`{"jsonrpc":"2.0","method":"notifications/initialized"}`)
	p.send(`{"jsonrpc":"2.0","id":2,"method":"ping"}`)
	if got := p.next(); got != `{"jsonrpc":"2.0","id":2,"result":{}}` {
		t.Errorf("ping: %s", got)
	}
	p.send(`{"jsonrpc":"2.0","id":3,"method":"tools/list"}`)
	if got := p.next(); strings.Contains(got, "ttlMs") || !strings.Contains(got, `"fault__echo"`) {
		t.Errorf("the legacy list: %s", got)
	}
	p.send(modern("4", "tools/list", "", "").body)
	if got := p.next(); member(t, got, "result", "resultType") != `"complete"` || member(t, got, "result", "cacheScope") != `"private"` {
		t.Errorf("the modern list: %s", got)
	}
	p.send(legacyCall("", `"c"`, "fault__echo", `{"text":"old"}`).body)
	if got := p.next(); text(got) != "old" || member(t, got, "id") != `"c"` {
		t.Errorf("the legacy call: %s", got)
	}
	p.send(modernCall("5", "fault__echo", `{"text":"new"}`).body)
	if got := p.next(); text(got) != "new" || member(t, got, "result", "resultType") != `"complete"` {
		t.Errorf("the modern call: %s", got)
	}
	for _, refused := range []struct {
		line string
		code int
		id   string
	}{
		{modern("6", "ping", "", "").body, -32601, "6"},
		{legacy("", "7", "server/discover", "").body, -32601, "7"},
		{strings.Replace(modern("8", "tools/list", "", "").body, "2026-07-28", "2099-01-01", 1), -32022, "8"},
		{`{"jsonrpc":"2.0","id":9,"method":"tools/list","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28"}}}`, -32602, "9"},
		{legacyCall("", "10", "nobody__home", `{}`).body, -32602, "10"},
		{`{"jsonrpc":"2.0","id":11,"method":"tools/call","params":{}}`, -32602, "11"},
		{`{"jsonrpc":"2.0","id":12,"method":"tools/call"}`, -32602, "12"},
		{`{"jsonrpc":"2.0","id":13,"method":"ping"`, -32700, "13"},
		{`[{"jsonrpc":"2.0","id":14,"method":"ping"}]`, -32600, "null"},
		{`nonsense`, -32700, "null"},
	} {
		p.send(refused.line)
		if got := p.next(); errorCode(got) != refused.code || member(t, got, "id") != refused.id {
			t.Errorf("%s\nwas answered with %s\nwant code %d, id %s", refused.line, got, refused.code, refused.id)
		}
	}
	// A notification gets no answer: the next message is the ping's.
	p.send(`{"jsonrpc":"2.0","method":"notifications/whatever","params":{}}`)
	p.send(`{"jsonrpc":"2.0","id":99,"result":{}}`)
	p.send("   ")
	p.send(`{"jsonrpc":"2.0","id":15,"method":"ping"}`)
	if got := p.next(); member(t, got, "id") != "15" {
		t.Errorf("came %s", got)
	}
}

// TestStdioChanges: legacy clients are told of changes once they have said
// initialize, modern ones where they asked for it.
func TestStdioChanges(t *testing.T) {
	t.Parallel()
	h := openHouse(t, servers{"fault": child(t)})
	silent, old, fresh := h.stdio(), h.stdio(), h.stdio()
	old.send(initializeLine)
	old.next()
	fresh.send(modern(`"sub"`, "subscriptions/listen", `"notifications":{"toolsListChanged":true}`, "").body)
	fresh.send(modern("2", "subscriptions/listen", `"notifications":{"promptsListChanged":true}`, "").body)
	if got, want := fresh.next(), `{"jsonrpc":"2.0","method":"notifications/subscriptions/acknowledged","params":{"_meta":{"io.modelcontextprotocol/subscriptionId":"sub"},"notifications":{"toolsListChanged":true}}}`; got != want {
		t.Errorf("first came %s\nwant       %s", got, want)
	}
	if got := fresh.next(); member(t, got, "params", "notifications") != `{"promptsListChanged":true}` {
		t.Errorf("second came %s", got)
	}
	h.send(modernCall("1", "fault__add_tool", `{"name":"one"}`))
	if got := old.next(); got != `{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}` {
		t.Errorf("the legacy client heard %s", got)
	}
	if got, want := fresh.next(), `{"jsonrpc":"2.0","method":"notifications/tools/list_changed","params":{"_meta":{"io.modelcontextprotocol/subscriptionId":"sub"}}}`; got != want {
		t.Errorf("the modern client heard %s\nwant %s", got, want)
	}
	// A subscription is canceled like any request, and its id is free again.
	fresh.send(modern(`"sub"`, "subscriptions/listen", `"notifications":{}`, "").body)
	if got := fresh.next(); errorCode(got) != -32602 {
		t.Errorf("an id in use: %s", got)
	}
	fresh.send(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"sub"}}`)
	testkit.Eventually(t, func() bool {
		fresh.send(modern(`"sub"`, "subscriptions/listen", `"notifications":{}`, "").body)
		return errorCode(fresh.next()) == 0
	}, "the id is free")
	// Clients that did not ask have received nothing.
	for _, p := range []*pipe{silent, fresh} {
		h.send(modernCall("1", "fault__add_tool", `{"name":"two"}`))
		p.send(`{"jsonrpc":"2.0","id":"end","method":"ping"}`)
		if got := p.next(); member(t, got, "id") != `"end"` {
			t.Errorf("a client that did not ask heard %s", got)
		}
	}
}

// TestStdioCancellation: a canceled call gets no answer, whatever its era, and
// the server behind hears of it.
func TestStdioCancellation(t *testing.T) {
	t.Parallel()
	record := recordFile(t)
	h := openHouse(t, servers{"fault": child(t, "-record", record)})
	p := h.stdio()
	p.send(legacyCall("", "1", "fault__sleep", `{"ms":30001}`).body)
	p.send(modernCall(`"two"`, "fault__sleep", `{"ms":30002}`).body)
	// A modern request with progress, which must fall silent too.
	p.send(modern("3", "tools/call", `"name":"fault__progress","arguments":{"n":100000,"ms":1}`, `"progressToken":"p"`).body)
	testkit.Eventually(t, func() bool { return len(calls(t, record)) == 3 }, "three calls are under way")
	p.send(legacyCall("", "1", "fault__echo", `{"text":"x"}`).body)
	if got := p.answer("1"); errorCode(got) != -32602 {
		t.Errorf("an id in use: %s", got)
	}
	for _, id := range []string{"1", `"two"`, "3", `"nobody"`, "null"} {
		p.send(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":` + id + `}}`)
	}
	p.send(`{"jsonrpc":"2.0","method":"notifications/cancelled"}`)
	testkit.Eventually(t, func() bool { return countLines(t, record, "cancelled ") == 3 }, "the server hears of all three")
	// The ids are free when the calls are gone; no answer of theirs comes first.
	testkit.Eventually(t, func() bool {
		p.send(legacyCall("", "1", "fault__echo", `{"text":"again"}`).body)
		got := p.answer("1")
		return text(got) == "again"
	}, "the id is free")
	p.send(`{"jsonrpc":"2.0","id":"end","method":"ping"}`)
	for {
		got := p.next()
		if member(t, got, "id") == `"end"` {
			break
		}
		if id := member(t, got, "id"); id != "" {
			t.Errorf("a canceled call was answered: %s", got)
		}
	}
}

// TestStdioEnd: when the input ends, what was asked is still answered, and
// nothing else keeps the process.
func TestStdioEnd(t *testing.T) {
	t.Parallel()
	ended := func(t *testing.T, p *pipe) {
		t.Helper()
		select {
		case err := <-p.done:
			if err != nil {
				t.Errorf("serving ended with %v", err)
			}
		case <-time.After(patience):
			t.Fatal("serving did not end with the input")
		}
	}
	t.Run("calls finish", func(t *testing.T) {
		record := recordFile(t)
		h := openHouse(t, servers{"fault": child(t, "-record", record)})
		p := h.stdio()
		p.send(legacyCall("", "1", "fault__sleep", `{"ms":300}`).body)
		p.send(modernCall("2", "fault__sleep", `{"ms":300}`).body)
		if err := p.raw.(io.Closer).Close(); err != nil {
			t.Fatal(err)
		}
		for range 2 {
			if got := p.next(); text(got) != "slept 300 ms" {
				t.Errorf("came %s", got)
			}
		}
		ended(t, p)
		if n := countLines(t, record, "cancelled "); n != 0 {
			t.Errorf("%d calls were canceled", n)
		}
	})
	t.Run("a subscription does not", func(t *testing.T) {
		h := openHouse(t, servers{"fault": child(t)})
		p := h.stdio()
		p.send(modern("1", "subscriptions/listen", `"notifications":{"toolsListChanged":true}`, "").body)
		p.next()
		if err := p.raw.(io.Closer).Close(); err != nil {
			t.Fatal(err)
		}
		ended(t, p)
	})
	t.Run("a last line without an end counts", func(t *testing.T) {
		h := openHouse(t, servers{"fault": child(t)})
		p := h.stdio()
		if _, err := io.WriteString(p.raw, `{"jsonrpc":"2.0","id":1,"method":"ping"}`); err != nil {
			t.Fatal(err)
		}
		if err := p.raw.(io.Closer).Close(); err != nil {
			t.Fatal(err)
		}
		if got := p.next(); got != `{"jsonrpc":"2.0","id":1,"result":{}}` {
			t.Errorf("came %s", got)
		}
		ended(t, p)
	})
	t.Run("the gateway ends it", func(t *testing.T) {
		h := openHouse(t, servers{"fault": child(t)})
		in, out, err := os.Pipe()
		if err != nil {
			t.Fatal(err)
		}
		back, answers, err := os.Pipe()
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(context.Background())
		done := make(chan error, 1)
		go func() { done <- h.process.ServeStdio(ctx, in, answers, mcpserver.StdioOptions{}) }()
		client := testkit.NewPipeConn(back, out)
		p := &pipe{Conn: client, tb: t}
		p.send(modern("1", "subscriptions/listen", `"notifications":{"toolsListChanged":true}`, "").body)
		p.next()
		p.send(legacyCall("", "2", "fault__sleep", `{"ms":200}`).body)
		p.send(`{"jsonrpc":"2.0","id":3,"method":"ping"}`) // so that the call has been read
		p.next()
		cancel()
		// A graceful end of the subscription, and the answer of the call.
		got := p.next() + p.next()
		if !strings.Contains(got, "slept 200 ms") || !strings.Contains(got, `"id":1,"result":{"resultType":"complete"`) {
			t.Errorf("at the end came %s", got)
		}
		select {
		case err := <-done:
			if err != nil {
				t.Errorf("serving ended with %v", err)
			}
		case <-time.After(patience):
			t.Fatal("serving did not end")
		}
		_ = answers.Close()
		_ = client.Close()
		_ = in.Close()
		_ = back.Close()
	})
}

// TestStdioListDoesNotHoldUp: a list that waits for servers which were never
// seen before must not keep the rest of the pipe waiting.
func TestStdioListDoesNotHoldUp(t *testing.T) {
	t.Parallel()
	h := startHouse(t, servers{"slow": child(t, "-mode", "hang-list"), "fault": child(t)})
	p := h.stdio()
	p.send(legacy("", `"list"`, "tools/list", "").body)
	p.send(modern(`"new list"`, "tools/list", "", "").body)
	p.send(`{"jsonrpc":"2.0","id":"ping","method":"ping"}`)
	if got := p.next(); member(t, got, "id") != `"ping"` {
		t.Errorf("first came %s", got)
	}
	// Who does not want to wait any longer says so, as for any request.
	for _, id := range []string{`"list"`, `"new list"`} {
		p.send(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":` + id + `}}`)
	}
	h.waitForServer("fault")
	p.send(modernCall(`"call"`, "fault__echo", `{"text":"x"}`).body)
	if got := p.next(); member(t, got, "id") != `"call"` {
		t.Errorf("then came %s", got)
	}
}

// TestStdioLargeLine: a line over the limit is refused without ending the
// connection.
func TestStdioLargeLine(t *testing.T) {
	t.Parallel()
	h := openHouse(t, servers{"fault": child(t)})
	p := h.stdio()
	go func() {
		_, _ = io.WriteString(p.raw, `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"fault__echo","arguments":{"text":"`)
		_, _ = io.Copy(p.raw, xs(33<<20))
		_, _ = io.WriteString(p.raw, `"}}}`+"\n"+`{"jsonrpc":"2.0","id":2,"method":"ping"}`+"\n")
	}()
	if got := p.next(); errorCode(got) != -32600 {
		t.Errorf("the large line: %s", got)
	}
	if got := p.next(); member(t, got, "id") != "2" {
		t.Errorf("after it came %s", got)
	}
}
