package mcpserver_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"

	"genkan/internal/testkit"
)

// TestSmuggling: nothing that two parsers could read differently gets through,
// over either transport. What reaches the child is written down by the child:
// after all of this it has seen the messages that were allowed, and no other.
func TestSmuggling(t *testing.T) {
	t.Parallel()
	record := recordFile(t)
	h := openHouse(t, servers{"fault": with(child(t, "-record", record), map[string]any{"prefix": ""})})
	session := h.initialize(h.token)
	p := h.stdio()
	before := len(testkit.Lines(t, record))

	const call = `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":`
	nested := func(depth int) string {
		return call + `{"name":"count","arguments":{"a":` + strings.Repeat("[", depth) + strings.Repeat("]", depth) + `}}}`
	}
	attacks := []struct {
		name, body string
		code       int
		// noID says that the id cannot be told, or not be trusted.
		noID bool
	}{
		{"duplicate name", call + `{"name":"echo","name":"count"}}`, -32600, false},
		{"escaped duplicate name", call + `{"name":"echo","n\u0061me":"count"}}`, -32600, false},
		{"duplicate arguments", call + `{"name":"echo","arguments":{},"arguments":{"text":"x"}}}`, -32600, false},
		{"duplicate _meta", call + `{"name":"count","_meta":{},"_meta":{}}}`, -32600, false},
		{"duplicate token", call + `{"name":"count","_meta":{"progressToken":1,"progressToke\u006e":2}}}`, -32600, false},
		{"duplicate unknown key", call + `{"name":"count","x":1,"x":2}}`, -32600, false},
		{"duplicate params", call + `{"name":"echo"},"params":{"name":"count"}}`, -32600, false},
		{"duplicate method", `{"jsonrpc":"2.0","id":1,"method":"ping","method":"tools/call","params":{"name":"count"}}`, -32600, false},
		{"duplicate id", `{"jsonrpc":"2.0","id":1,"id":2,"method":"tools/call","params":{"name":"count"}}`, -32600, false},
		{"duplicate far away", call + `{"name":"echo",` + manyKeys(50) + `"name":"count"}}`, -32600, false},
		{"method in another case", `{"jsonrpc":"2.0","id":1,"method":"ping","Method":"tools/call","params":{"name":"count"}}`, -32600, false},
		{"params in another case", `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"echo"},"PARAMS":{"name":"count"}}`, -32600, false},
		{"name in another case", call + `{"Name":"count","name":"echo"}}`, -32600, false},
		{"name in another case, escaped", call + `{"name":"echo","\u004eame":"count"}}`, -32600, false},
		{"arguments in another case", call + `{"name":"count","Arguments":{}}}`, -32600, false},
		{"a letter that folds", call + `{"name":"count","argument\u017f":{}}}`, -32600, false},
		{"_meta in another case", call + `{"name":"count","_Meta":{}}}`, -32600, false},
		{"_meta that is no object", call + `{"name":"count","_meta":[]}}`, -32600, false},
		{"batch", `[` + call + `{"name":"count"}}]`, -32600, true},
		{"empty batch", `[]`, -32600, true},
		{"two messages", call + `{"name":"echo"}}` + call + `{"name":"count"}}`, -32700, false},
		{"trailing comma", call + `{"name":"count"},}`, -32700, false},
		{"comment", call + `{"name":"count"/*x*/}}`, -32700, false},
		{"single quotes", `{'jsonrpc':'2.0','id':1,'method':'tools/call','params':{'name':'count'}}`, -32700, true},
		{"NaN", call + `{"name":"count","arguments":{"a":NaN}}}`, -32700, false},
		{"leading zero", call + `{"name":"count","arguments":{"a":01}}}`, -32700, false},
		{"a control character in a string", call + "{\"name\":\"cou\x01nt\"}}", -32700, false},
		{"a NUL at the end", call + "{\"name\":\"count\"}}\x00", -32700, false},
		{"a byte order mark", "\xef\xbb\xbf" + call + `{"name":"count"}}`, -32700, true},
		{"too deep", nested(1000), -32600, false},
		{"much too deep", nested(200_000), -32600, false},
		{"an id that is an object", `{"jsonrpc":"2.0","id":{"a":1},"method":"tools/call","params":{"name":"count"}}`, -32600, true},
		{"an id that is an object, and a duplicate", `{"jsonrpc":"2.0","id":{"a":1},"method":"x","method":"tools/call"}`, -32600, true},
		{"an id that is null", `{"jsonrpc":"2.0","id":null,"method":"tools/call","params":{"name":"count"}}`, -32600, true},
		{"an id that is too long", `{"jsonrpc":"2.0","id":"` + strings.Repeat("x", 600) + `","method":"tools/call","params":{"name":"count"}}`, -32600, true},
		{"params that are an array", call + `["count"]}`, -32600, false},
		{"method and result", call + `{"name":"count"},"result":{}}`, -32600, false},
		{"another version of JSON-RPC", `{"jsonrpc":"1.0","id":1,"method":"tools/call","params":{"name":"count"}}`, -32600, false},
		{"no version of JSON-RPC", `{"id":1,"method":"tools/call","params":{"name":"count"}}`, -32600, false},
		{"a name that is no text", call + `{"name":["count"]}}`, -32602, false},
		{"a name that is nothing", call + `{"name":""}}`, -32602, false},
		{"arguments that are text", call + `{"name":"count","arguments":"{}"}}`, 0, false}, // a result that models see
		{"not JSON", "name=count", -32700, true},
		{"nothing", " ", -32700, true},
	}
	for _, a := range attacks {
		wantID := "1"
		if a.noID {
			wantID = "null"
		}
		t.Run("HTTP "+a.name, func(t *testing.T) {
			r := h.send(request{body: a.body, header: headers("Mcp-Session-Id", session)})
			status := http.StatusBadRequest
			if a.code == -32602 {
				status = http.StatusOK
			}
			if a.code == 0 {
				wantFailure(t, r.last(), "invalid", "arguments must be an object")
			} else {
				r.want(t, status, a.code)
			}
			if got := member(t, r.last(), "id"); got != wantID {
				t.Errorf("the id is %s, want %s", got, wantID)
			}
		})
		if a.body == " " {
			continue // an empty line is no message over stdio
		}
		t.Run("stdio "+a.name, func(t *testing.T) {
			p.send(a.body)
			got := p.next()
			if errorCode(got) != a.code || member(t, got, "id") != wantID {
				t.Errorf("the answer is %s, want code %d, id %s", got, a.code, wantID)
			}
		})
	}
	if lines := testkit.Lines(t, record)[before:]; len(lines) != 0 {
		t.Errorf("the child received %d messages: %.300s", len(lines), lines)
	}

	// A valid message may have line breaks between its tokens. For the child a
	// line is a message, so what stands on the second line must not become one.
	second := `{"jsonrpc":"2.0","id":99,"method":"tools/call","params":{"name":"count"}}`
	for i, body := range []string{
		call + "{\"name\":\"echo\",\"arguments\":{\"text\":\"x\",\"y\":\n" + second + "\n}}}",
		call + "{\"name\":\"echo\",\"arguments\":{\"text\":\"x\",\"y\":\r" + second + "\r}}}",
		call + "{\"name\":\"echo\",\"y\":[\r\n" + second + "\r\n],\"arguments\":{\"text\":\"x\"}}}",
		"\n\n" + call + "\n{\"name\"\n:\n\"echo\",\"_meta\":{\"k\":\n" + second + "\n},\"arguments\":\r\n{\"text\":\"x\"}}\n}\n\n",
	} {
		r := h.send(request{body: body, header: headers("Mcp-Session-Id", session)})
		if text(r.last()) != "x" {
			t.Errorf("body %d: %d %s", i, r.status, r.body)
		}
	}
	// Over stdio only CR can stand inside of a line.
	if _, err := fmt.Fprintf(p.raw, "%s{\"name\":\"echo\",\"arguments\":{\"text\":\"x\",\"y\":\r%s\r}}}\n", call, second); err != nil {
		t.Fatal(err)
	}
	if got := p.next(); text(got) != "x" {
		t.Errorf("over stdio: %s", got)
	}
	// A line break in a progress token or in the key of _meta is within a
	// string, and so is an escape that stays one.
	p.send(call + `{"name":"echo","arguments":{"text":"x"},"_meta":{"a\nb":1,"progressToken":"\r\n"}}}`)
	if got := p.next(); text(got) != "x" {
		t.Errorf("over stdio: %s", got)
	}
	// U+2028 ends a line for some, but not for the child.
	p.send(call + `{"name":"echo","arguments":{"text":"x"}}}` + " \t ")
	p.next()
	p.send(modernCall("1", "count", "{}").body)
	if got := text(p.next()); got != "1" {
		t.Errorf("the counter is %s: something was counted before", got)
	}
	lines := testkit.Lines(t, record)[before:]
	for _, line := range lines {
		var m struct {
			ID json.RawMessage `json:"id"`
		}
		if json.Unmarshal([]byte(line), &m) != nil || string(m.ID) == "99" || strings.ContainsAny(line, "\r\n") {
			t.Errorf("the child received %q", line)
		}
	}
	if len(lines) != 8 {
		t.Errorf("the child received %d messages, want 8", len(lines))
	}
}

func manyKeys(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, `"k%d":%d,`, i, i)
	}
	return b.String()
}

// TestOversized: what is too large is refused with 413, whatever it says about
// its size, and takes nothing from anybody else.
func TestOversized(t *testing.T) {
	t.Parallel()
	h := openHouse(t, servers{"fault": child(t), "remote": sibling(t)})
	const large = 32<<20 + 64<<10 + 1
	for name, length := range map[string]int64{"with a length": large, "in chunks": 0} {
		t.Run(name, func(t *testing.T) {
			h.send(request{stream: xs(large), length: length, header: headers("Mcp-Session-Id", "x")}).want(t, http.StatusRequestEntityTooLarge, -32600)
		})
	}
	// An impossible length is refused before memory is reserved for it.
	for _, length := range []int64{40 << 20, 600 << 20, 1<<63 - 1} {
		if got := h.claim(length); got != http.StatusRequestEntityTooLarge {
			t.Errorf("a body of %d bytes: %d", length, got)
		}
	}
	// Nor can claims that nothing follows keep anybody else out.
	for range 40 {
		conn, err := net.Dial("tcp", strings.TrimPrefix(h.base, "http://"))
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = conn.Close() }()
		if _, err := io.WriteString(conn, h.claimHead(32<<20)); err != nil {
			t.Fatal(err)
		}
	}
	testkit.Eventually(t, func() bool { return h.metric("genkan_bytes_in_flight") == "2.62144e+06" }, "40 bodies are waited for, with 64 KiB each")
	h.send(modernCall("1", "fault__pid", `{"text":"`+strings.Repeat("x", 100_000)+`"}`)).want(t, http.StatusOK, 0)
	// The largest that passes does; a child gets no more than it can read.
	size := 32 << 20
	if testkit.RaceDetector() {
		size = 512 << 10
	}
	fits := strings.Repeat("x", size)
	if r := h.send(modernCall("1", "remote__pid", `{"text":"`+fits+`"}`)); errorCode(r.last()) != 0 {
		t.Errorf("%d bytes of arguments: %d %.200s", size, r.status, r.body)
	}
	if r := h.send(modernCall("1", "fault__pid", `{"text":"`+fits+`"}`)); !testkit.RaceDetector() && !strings.Contains(r.last(), "Send less at once") {
		t.Errorf("%d bytes of arguments for a child: %d %.200s", size, r.status, r.body)
	}
	if used := h.metric("genkan_bytes_in_flight"); used != "2.62144e+06" {
		t.Errorf("%s bytes are counted, want those of the 40", used)
	}
}
