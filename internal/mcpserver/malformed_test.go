package mcpserver_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"genkan/internal/testkit"
)

// mutator breaks valid messages. The same seed breaks them in the same way.
type mutator struct {
	rng   *rand.Rand
	seeds []string
}

// fragments are what parsers stumble over.
var fragments = []string{
	"\x00", "\"", "\\", "{", "}", "[", "]", ",", ":", "\n", "\r", "\r\n", "\u2028", "\xff\xfe", "\xc3", "\\u", "\\ud800", "\\u0000",
	"null", "true", "-", "-0", "1e400", "1e-400", "0x1", "01", ".5", "NaN", "99999999999999999999", "\"\"", "{}", "[]",
	`"id":2,`, `"id":null,`, `"method":"tools/call",`, `"params":{},`, `"name":"x",`, `"_meta":{},`, `"jsonrpc":"1.0",`, `"result":{},`, `"error":{},`,
	`"progressToken":[],`, `"progressToken":"p",`, `"cursor":"x",`, "\ufeff", "{{{{{{{{", "[[[[[[[[", "]]]]]]]]", "event: message\ndata: ",
}

func (m *mutator) next() []byte {
	b := []byte(m.seeds[m.rng.IntN(len(m.seeds))])
	for range 1 + m.rng.IntN(4) {
		b = m.mutate(b)
	}
	return b
}

func (m *mutator) mutate(b []byte) []byte {
	if len(b) == 0 {
		return append(b, fragments[m.rng.IntN(len(fragments))]...)
	}
	i := m.rng.IntN(len(b))
	j := min(len(b), i+1+m.rng.IntN(16))
	switch m.rng.IntN(7) {
	case 0: // another byte
		b = bytes.Clone(b)
		b[i] = byte(m.rng.IntN(256))
		return b
	case 1: // a hole
		return append(bytes.Clone(b[:i]), b[j:]...)
	case 2: // the end is missing
		return b[:i]
	case 3: // something twice
		return append(append(bytes.Clone(b[:j]), b[i:j]...), b[j:]...)
	case 4: // the end of another message
		other := m.seeds[m.rng.IntN(len(m.seeds))]
		return append(bytes.Clone(b[:i]), other[m.rng.IntN(len(other)):]...)
	default: // something in between
		return append(append(bytes.Clone(b[:i]), fragments[m.rng.IntN(len(fragments))]...), b[i:]...)
	}
}

func malformedSeeds(session string) (overHTTP, overStdio []string) {
	overHTTP = []string{
		modernCall("1", "echo", `{"text":"hi","n":[1.10,{"a":null}]}`).body,
		modern(`"m"`, "tools/call", `"name":"echo","arguments":{"text":"hi"}`, `"progressToken":"p","com.example/k":{"a":1}`).body,
		modern("2", "tools/list", `"cursor":"abc"`, "").body,
		modern("3", "server/discover", "", "").body,
		legacyCall(session, "4", "echo", `{"text":"\u00e9\ud83d\ude00 <&>"}`).body,
		legacy(session, "5", "ping", "").body,
		legacy(session, "6", "tools/list", "{}").body,
		legacy(session, "", "notifications/cancelled", `{"requestId":4,"reason":"x"}`).body,
		legacy(session, "", "notifications/initialized", "").body,
		`{"jsonrpc":"2.0","id":7,"result":{"resultType":"complete","isError":false}}`,
		`{"jsonrpc":"2.0","id":8,"error":{"code":-1,"message":"x","data":{}}}`,
	}
	return overHTTP, append(overHTTP, initializeLine)
}

// TestMalformedFrames throws broken messages at a live gateway, by several
// clients at once. It must not crash, must answer every one with something
// sensible, must pass only whole messages on, and must be as it was afterwards.
func TestMalformedFrames(t *testing.T) {
	overHTTP, overStdio := testkit.Count(300, 30_000), testkit.Count(1_000, 70_000)
	record := recordFile(t)
	h := openHouse(t, servers{"fault": with(child(t, "-record", record), map[string]any{"prefix": ""})})
	session := h.initialize(h.token)
	seedsHTTP, seedsStdio := malformedSeeds(session)
	healthy := func() {
		t.Helper()
		h.send(modernCall("1", "echo", `{"text":"well"}`)).want(t, http.StatusOK, 0)
		h.send(legacy(session, "1", "ping", "")).want(t, http.StatusOK, 0)
	}
	// Everything that stays is there after the first few.
	h.throwHTTP(t, seedsHTTP, session, 200)
	h.throwStdio(t, seedsStdio, 200)
	healthy()
	h.client.CloseIdleConnections()
	goroutines, heap := settled()

	h.throwHTTP(t, seedsHTTP, session, overHTTP)
	h.throwStdio(t, seedsStdio, overStdio)
	healthy()
	h.client.CloseIdleConnections()
	testkit.Eventually(t, func() bool {
		now, _ := settled()
		return now <= goroutines+2 // a connection that is being closed
	}, "there are as many goroutines as before (%d)", goroutines)
	if _, now := settled(); now > heap+16<<20 {
		t.Errorf("the heap grew from %d to %d bytes", heap, now)
	}
	if used := h.metric("genkan_bytes_in_flight"); used != "0" {
		t.Errorf("%s bytes are still counted", used)
	}
	lines := testkit.Lines(t, record)
	for _, line := range lines {
		if !json.Valid([]byte(line)) && !strings.HasPrefix(line, "cancelled ") {
			t.Fatalf("the child received %q", line)
		}
	}
	t.Logf("of %d broken frames %d were whole calls and reached the child", overHTTP+overStdio, len(lines))
}

// settled is the number of goroutines and the size of the heap after a
// collection.
func settled() (goroutines int, heap uint64) {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return runtime.NumGoroutine(), m.HeapAlloc
}

// throwHTTP sends broken bodies over a few connections that are kept.
func (h *house) throwHTTP(t *testing.T, seeds []string, session string, count int) {
	t.Helper()
	const clients = 4
	var wg sync.WaitGroup
	var failed atomic.Bool
	for client := range clients {
		wg.Go(func() {
			m := &mutator{rng: rand.New(rand.NewPCG(1, uint64(client))), seeds: seeds}
			for range count / clients {
				body := m.next()
				if err := h.throw(m.rng, body, session); err != nil && failed.CompareAndSwap(false, true) {
					t.Errorf("%v\nbody: %q", err, body)
				}
			}
		})
	}
	wg.Wait()
}

// throw sends one broken body, with headers that fit more or less.
func (h *house) throw(rng *rand.Rand, body []byte, session string) error {
	header := headers("Mcp-Session-Id", session)
	switch rng.IntN(4) {
	case 0:
		header = headers("Mcp-Protocol-Version", "2026-07-28", "Mcp-Method", "tools/call", "Mcp-Name", "echo")
	case 1:
		header = headers("Mcp-Protocol-Version", "2026-07-28", "Mcp-Method", "tools/list")
	case 2:
		header.Set("Mcp-Protocol-Version", "2025-11-25")
	}
	req := h.build(context.Background(), request{body: string(body), header: header, chunked: rng.IntN(8) == 0})
	resp, err := h.client.Do(req)
	if err != nil {
		return err
	}
	defer func() { _ = resp.Body.Close() }()
	answer, err := io.ReadAll(resp.Body)
	if err != nil {
		return err
	}
	switch resp.StatusCode {
	case http.StatusAccepted:
		if len(answer) != 0 {
			return fmt.Errorf("202 with a body: %s", answer)
		}
		return nil
	case http.StatusOK, http.StatusBadRequest, http.StatusNotFound:
	default:
		return fmt.Errorf("status %d: %s", resp.StatusCode, answer)
	}
	if resp.Header.Get("Content-Type") == "text/event-stream" {
		return nil
	}
	return checkAnswer(answer)
}

// checkAnswer reports an answer that is none.
func checkAnswer(answer []byte) error {
	var m struct {
		JSONRPC string          `json:"jsonrpc"`
		ID      json.RawMessage `json:"id"`
		Method  string          `json:"method"`
		Result  json.RawMessage `json:"result"`
		Error   *struct {
			Code int `json:"code"`
		} `json:"error"`
	}
	if err := json.Unmarshal(answer, &m); err != nil {
		return fmt.Errorf("the answer %q is not JSON: %w", answer, err)
	}
	if m.Method != "" && m.ID == nil {
		return nil // a notification
	}
	if m.JSONRPC != "2.0" || (m.Result == nil) == (m.Error == nil) || len(m.ID) == 0 || strings.ContainsRune("{[tf", rune(m.ID[0])) {
		return fmt.Errorf("the answer %q is not one", answer)
	}
	if m.Error != nil && m.Error.Code == -32603 {
		return fmt.Errorf("something went wrong inside: %s", answer)
	}
	return nil
}

// throwStdio writes broken lines into a pipe, and reads what comes back until
// the answer to a ping at the very end.
func (h *house) throwStdio(t *testing.T, seeds []string, count int) {
	t.Helper()
	p := h.stdio()
	go func() {
		m := &mutator{rng: rand.New(rand.NewPCG(2, 0)), seeds: seeds}
		for range count {
			if _, err := p.raw.Write(append(m.next(), '\n')); err != nil {
				return // the reader says what is wrong
			}
		}
		_, _ = io.WriteString(p.raw, `{"jsonrpc":"2.0","id":"the end","method":"ping"}`+"\n")
	}()
	for {
		answer := p.next()
		if err := checkAnswer([]byte(answer)); err != nil {
			t.Errorf("over stdio: %v", err)
			break
		}
		if strings.HasPrefix(answer, `{"jsonrpc":"2.0","id":"the end"`) {
			break
		}
	}
	_ = p.Close()
	<-p.done
}
