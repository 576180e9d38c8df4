package fault_test

import (
	"encoding/json"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"genkan/internal/testkit"
)

func TestModernHTTPIsStrict(t *testing.T) {
	url := testkit.StartFaultHTTP(t)
	echo := modernCall("echo", `{"text":"x"}`)
	headers := modernHeaders("tools/call", "echo")
	with := func(more ...string) []string { return append(slices.Clone(headers), more...) }
	for _, test := range []struct {
		name    string
		body    string
		headers []string
		status  int
		code    int
	}{
		{"good", echo, headers, 200, 0},
		{"encoded name", echo, with("Mcp-Name", "=?base64?ZWNobw==?="), 200, 0},
		{"no version header", echo, with("MCP-Protocol-Version", ""), 400, -32020},
		{"other version header", echo, with("MCP-Protocol-Version", "2027-01-01"), 400, -32020},
		{"no method header", echo, with("Mcp-Method", ""), 400, -32020},
		{"other method header", echo, with("Mcp-Method", "tools/list"), 400, -32020},
		{"no name header", echo, with("Mcp-Name", ""), 400, -32020},
		{"other name header", echo, with("Mcp-Name", "count"), 400, -32020},
		{"name in other case", echo, with("Mcp-Name", "Echo"), 400, -32020},
		{"no version in the body", strings.Replace(echo, "io.modelcontextprotocol/protocolVersion", "x", 1), headers, 400, -32602},
		{"no capabilities", strings.Replace(echo, "io.modelcontextprotocol/clientCapabilities", "x", 1), headers, 400, -32602},
		{"unknown version", strings.Replace(echo, "2026-07-28", "1900-01-01", 1), with("MCP-Protocol-Version", "1900-01-01"), 400, -32022},
		{"unknown method", `{"jsonrpc":"2.0","id":1,"method":"ping","params":{` + modernMeta + `}}`, modernHeaders("ping", ""), 404, -32601},
		{"no JSON", `{"jsonrpc":"2.0"`, headers, 400, -32700},
		{"a batch", "[" + echo + "]", headers, 400, -32600},
		{"id null", strings.Replace(echo, `"id":1`, `"id":{}`, 1), headers, 400, -32600},
		{"unknown tool", modernCall("nosuch", `{}`), modernHeaders("tools/call", "nosuch"), 200, -32602},
		{"foreign origin", echo, with("Origin", "https://evil.example"), 403, 0},
		{"local origin", echo, with("Origin", "http://localhost:3000"), 200, 0},
		{"text", echo, with("Content-Type", "text/plain"), 415, 0},
		{"wants no events", echo, with("Accept", "application/json"), 406, 0},
	} {
		t.Run(test.name, func(t *testing.T) {
			status, header, body := post(t, url, test.body, test.headers...)
			if status != test.status {
				t.Errorf("status is %d, want %d: %s", status, test.status, body)
			}
			if header.Get("Mcp-Session-Id") != "" {
				t.Error("a modern request was given a session")
			}
			if header.Get("Content-Type") != "application/json" {
				return
			}
			if got := parse(t, body).Error.Code; got != test.code {
				t.Errorf("code is %d, want %d: %s", got, test.code, body)
			}
		})
	}
}

func TestModernResultsCarryTheirFields(t *testing.T) {
	url := testkit.StartFaultHTTP(t, "-era", "modern", "-ttl", "1000")
	for _, method := range []string{"server/discover", "tools/list"} {
		_, _, body := post(t, url, `{"jsonrpc":"2.0","id":"a","method":"`+method+`","params":{`+modernMeta+`}}`, modernHeaders(method, "")...)
		for _, want := range []string{`"id":"a"`, `"resultType":"complete"`, `"ttlMs":1000`, `"cacheScope":"public"`, `"io.modelcontextprotocol/serverInfo"`} {
			if !strings.Contains(body, want) {
				t.Errorf("%s lacks %s: %.300s", method, want, body)
			}
		}
	}
}

func TestLegacySessionsOverHTTP(t *testing.T) {
	url := testkit.StartFaultHTTP(t, "-era", "legacy")
	initialize := `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}`
	ping := `{"jsonrpc":"2.0","id":2,"method":"ping"}`
	status, header, body := post(t, url, initialize)
	session := header.Get("Mcp-Session-Id")
	if status != 200 || session == "" || !strings.Contains(body, `"protocolVersion":"2025-06-18"`) {
		t.Fatalf("initialize: status %d, session %q, %s", status, session, body)
	}
	expect := func(want int, method, body string, headers ...string) {
		t.Helper()
		status, _, _ := do(t, method, url, body, headers...)
		if status != want {
			t.Errorf("%s %s with %q: status %d, want %d", method, body, headers, status, want)
		}
	}
	expect(200, http.MethodPost, ping, "Mcp-Session-Id", session)
	expect(202, http.MethodPost, `{"jsonrpc":"2.0","method":"notifications/initialized"}`, "Mcp-Session-Id", session)
	expect(400, http.MethodPost, ping)
	expect(404, http.MethodPost, ping, "Mcp-Session-Id", "unknown")
	expect(400, http.MethodPost, ping, "Mcp-Session-Id", session, "MCP-Protocol-Version", "1900-01-01")
	expect(200, http.MethodGet, "", "Mcp-Session-Id", session)
	expect(409, http.MethodGet, "", "Mcp-Session-Id", session)
	expect(204, http.MethodDelete, "", "Mcp-Session-Id", session)
	expect(404, http.MethodPost, ping, "Mcp-Session-Id", session)
	expect(404, http.MethodDelete, "", "Mcp-Session-Id", session)

	// A modern request must not look as if it had met a modern server.
	status, _, body = post(t, url, modernCall("echo", `{"text":"x"}`), modernHeaders("tools/call", "echo")...)
	if status != 400 || json.Valid([]byte(body)) {
		t.Errorf("a modern request is answered with %d %s", status, body)
	}
}

func TestModernServerRefusesTheOldEra(t *testing.T) {
	url := testkit.StartFaultHTTP(t, "-era", "modern")
	initialize := `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}`
	status, _, body := post(t, url, initialize)
	if status != 400 || parse(t, body).Error.Code != -32022 || !strings.Contains(body, `"2026-07-28"`) {
		t.Errorf("initialize over HTTP: %d %s", status, body)
	}
	for _, method := range []string{http.MethodGet, http.MethodDelete} {
		if status, _, _ := do(t, method, url, ""); status != 405 {
			t.Errorf("%s: status %d, want 405", method, status)
		}
	}
	c := talk(t, "stdio", "modern", "-era", "modern")
	c.send(initialize)
	if got := parse(t, c.receive()); got.Error.Code != -32022 {
		t.Errorf("initialize over stdio: %v", got)
	}
	c.send(`{"jsonrpc":"2.0","id":2,"method":"tools/list"}`)
	if got := parse(t, c.receive()); got.Error.Code != -32602 {
		t.Errorf("a request without _meta over stdio: %v", got)
	}
}

func TestLegacyServerDoesNotKnowDiscover(t *testing.T) {
	command, argv, env := testkit.FaultCommand(t, "-era", "legacy")
	c := &talker{Conn: testkit.StartStdio(t, command, argv, env), t: t, modern: true}
	c.request(1, "server/discover", "")
	if got := parse(t, c.receive()); got.Error.Code != -32601 {
		t.Errorf("server/discover: %v", got)
	}
	c.request(2, "tools/list", "")
	if got := parse(t, c.receive()); got.Error.Code != -32600 {
		t.Errorf("tools/list before initialize: %v", got)
	}
}

func TestIdsInUseAreRefused(t *testing.T) {
	c := talk(t, "stdio", "legacy")
	c.call(1, "sleep", `{"ms":600000}`)
	c.call(1, "echo", `{"text":"x"}`)
	if got := parse(t, c.receive()); got.Error.Code != -32600 {
		t.Errorf("the second request with id 1: %v", got)
	}
	for range 50 {
		c.call(2, "echo", `{"text":"x"}`)
		if got := parse(t, c.receive()); got.text() != "x" {
			t.Fatalf("an id that is free again: %v", got)
		}
	}
}

func TestRawBytesPassUnchanged(t *testing.T) {
	const result = `{"z":1.0, "a":1e400,"\u00e9":"\/","content":[],"a":12345678901234567890}`
	everyTalker(t, nil, func(t *testing.T, c *talker) {
		quoted, err := json.Marshal(result)
		if err != nil {
			t.Fatal(err)
		}
		c.call(7, "raw", `{"result_json":`+string(quoted)+`}`)
		if got, want := c.receive(), `{"jsonrpc":"2.0","id":7,"result":`+result+`}`; got != want {
			t.Errorf("got\n%s\nwant\n%s", got, want)
		}
		c.call(8, "raw", `{"error_json":"{\"code\":5,\"message\":\"m\",\"data\":[1.50]}"}`)
		if got, want := c.receive(), `{"jsonrpc":"2.0","id":8,"error":{"code":5,"message":"m","data":[1.50]}}`; got != want {
			t.Errorf("got\n%s\nwant\n%s", got, want)
		}
	})
}

func TestRecord(t *testing.T) {
	record := filepath.Join(t.TempDir(), "record")
	url := testkit.StartFaultHTTP(t, "-record", record, "-record-headers")
	body := modernCall("echo", `{"text":"x"}`)
	post(t, url, strings.Replace(body, `{"jsonrpc"`, "{\n\"jsonrpc\"", 1),
		append(modernHeaders("tools/call", "echo"), "Authorization", "Bearer canary")...)
	lines := testkit.Lines(t, record)
	if len(lines) != 2 {
		t.Fatalf("%d lines are recorded: %q", len(lines), lines)
	}
	var headers struct {
		HTTP    string
		Headers http.Header
	}
	if err := json.Unmarshal([]byte(lines[0]), &headers); err != nil {
		t.Fatal(err)
	}
	if headers.HTTP != "POST" || headers.Headers.Get("Authorization") != "Bearer canary" {
		t.Errorf("the headers were recorded as %s", lines[0])
	}
	if want := strings.Replace(body, `{"jsonrpc"`, `{ "jsonrpc"`, 1); lines[1] != want {
		t.Errorf("the body was recorded as %s", lines[1])
	}
}

func TestListenAcknowledgesFirstAndTags(t *testing.T) {
	for _, transport := range []string{"stdio", "http"} {
		t.Run(transport, func(t *testing.T) {
			c := talk(t, transport, "modern")
			c.request(5, "subscriptions/listen", `"notifications":{"toolsListChanged":true,"promptsListChanged":true}`)
			if got, want := c.receive(), `{"jsonrpc":"2.0","method":"notifications/subscriptions/acknowledged","params":{"_meta":{"io.modelcontextprotocol/subscriptionId":5},"notifications":{"toolsListChanged":true}}}`; got != want {
				t.Errorf("got\n%s\nwant\n%s", got, want)
			}
			c.call(6, "add_tool", `{"name":"fresh"}`)
			both := []string{c.receive(), c.receive()}
			if want := `{"jsonrpc":"2.0","method":"notifications/tools/list_changed","params":{"_meta":{"io.modelcontextprotocol/subscriptionId":5}}}`; !slices.Contains(both, want) {
				t.Errorf("the change was not told: %q", both)
			}
			c.send(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":5}}`)
			c.alive(7)
		})
	}
}

func TestListenEndsGracefully(t *testing.T) {
	f := testkit.NewFaultHTTP(t)
	c := &talker{Conn: testkit.NewHTTPConn(f.URL(), "", nil), t: t, modern: true}
	defer func() { _ = c.Close() }()
	c.request(5, "subscriptions/listen", `"notifications":{}`)
	c.receive()
	terminate(t, f.Pid())
	if got, want := c.receive(), `{"jsonrpc":"2.0","id":5,"result":{"resultType":"complete","_meta":{"io.modelcontextprotocol/subscriptionId":5}}}`; got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}
