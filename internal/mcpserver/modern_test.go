package mcpserver_test

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"

	"genkan/internal/app"
	"genkan/internal/gateway"
)

// TestModernRequests is about requests that stand alone, as the 2026-07-28
// pages on streamable HTTP, discovery and caching have them.
func TestModernRequests(t *testing.T) {
	t.Parallel()
	h := openHouse(t, servers{"fault": child(t, "-era", "legacy")})

	t.Run("server/discover", func(t *testing.T) {
		r := h.send(modern(`"d"`, "server/discover", "", ""))
		r.want(t, http.StatusOK, 0)
		want := `{"jsonrpc":"2.0","id":"d","result":{"resultType":"complete","supportedVersions":["2026-07-28","2025-11-25","2025-06-18","2025-03-26","2024-11-05"],` +
			`"capabilities":{"tools":{"listChanged":true},"prompts":{"listChanged":true},"resources":{"subscribe":true,"listChanged":true},"completions":{},"logging":{}},"instructions":"` + introduction + `\n\n# fault\n> A server for tests. What it does wrong, it does on purpose.","ttlMs":3600000,"cacheScope":"private",` +
			`"_meta":{"io.modelcontextprotocol/serverInfo":{"name":"genkan","title":"Genkan","version":"1.2.3-test"}}}}`
		if r.last() != want {
			t.Errorf("got  %s\nwant %s", r.last(), want)
		}
		if r.header.Get("Mcp-Session-Id") != "" {
			t.Error("a modern request was given a session")
		}
	})
	t.Run("tools/list", func(t *testing.T) {
		r := h.send(modern("1", "tools/list", "", ""))
		r.want(t, http.StatusOK, 0)
		var list struct {
			Result struct {
				ResultType string            `json:"resultType"`
				TTLMs      *int              `json:"ttlMs"`
				CacheScope string            `json:"cacheScope"`
				Tools      []json.RawMessage `json:"tools"`
			} `json:"result"`
		}
		if err := json.Unmarshal([]byte(r.last()), &list); err != nil {
			t.Fatal(err)
		}
		res := list.Result
		if res.ResultType != "complete" || res.TTLMs == nil || *res.TTLMs < 0 || res.CacheScope != "private" || len(res.Tools) < 10 {
			t.Errorf("the list is %s", r.last())
		}
	})
	t.Run("tools/call", func(t *testing.T) {
		r := h.send(modernCall("1", "fault__echo", `{"text":"hi"}`))
		// Behind it is a legacy server, whose results have no type.
		if want := `{"jsonrpc":"2.0","id":1,"result":{"resultType":"complete","content":[{"type":"text","text":"hi"}]}}`; r.last() != want {
			t.Errorf("got  %s\nwant %s", r.last(), want)
		}
		h.send(modernCall("1", "fault__nothing", `{}`)).want(t, http.StatusOK, -32602)
	})
	t.Run("a session id is ignored", func(t *testing.T) {
		r := modern("1", "tools/list", "", "")
		r.header.Set("Mcp-Session-Id", "whatever")
		h.send(r).want(t, http.StatusOK, 0)
	})
	t.Run("methods that are not", func(t *testing.T) {
		for _, method := range []string{"ping", "initialize", "logging/setLevel", "resources/subscribe", "nonsense"} {
			h.send(modern("1", method, "", "")).want(t, http.StatusNotFound, -32601)
		}
	})
	t.Run("notifications have no answer", func(t *testing.T) {
		r := request{body: `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1,"_meta":{` + modernMeta + `}}}`, header: headers("Mcp-Protocol-Version", "2026-07-28")}
		if got := h.send(r); got.status != http.StatusAccepted || len(got.body) != 0 {
			t.Errorf("%d %q", got.status, got.body)
		}
	})
	t.Run("responses are refused", func(t *testing.T) {
		r := request{body: `{"jsonrpc":"2.0","id":1,"result":{}}`, header: headers("Mcp-Protocol-Version", "2026-07-28")}
		h.send(r).want(t, http.StatusBadRequest, -32600)
	})
	t.Run("_meta", func(t *testing.T) {
		body := func(meta string) request {
			return request{
				body:   `{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"_meta":{` + meta + `}}}`,
				header: headers("Mcp-Protocol-Version", "2026-07-28", "Mcp-Method", "tools/list"),
			}
		}
		const version, capabilities = `"io.modelcontextprotocol/protocolVersion":"2026-07-28"`, `"io.modelcontextprotocol/clientCapabilities":{}`
		h.send(body(version+","+capabilities)).want(t, http.StatusOK, 0) // clientInfo is only a SHOULD
		h.send(body(version)).want(t, http.StatusBadRequest, -32602)
		h.send(body(capabilities)).want(t, http.StatusBadRequest, -32602)
		h.send(body(version+`,"io.modelcontextprotocol/clientCapabilities":null`)).want(t, http.StatusBadRequest, -32602)
		h.send(body(`"io.modelcontextprotocol/protocolVersion":20260728,`+capabilities)).want(t, http.StatusBadRequest, -32020)

		unknown := body(`"io.modelcontextprotocol/protocolVersion":"2099-01-01",` + capabilities)
		unknown.header.Set("Mcp-Protocol-Version", "2099-01-01")
		r := h.send(unknown)
		r.want(t, http.StatusBadRequest, -32022)
		if got, want := member(t, r.last(), "error", "data"), `{"supported":["2026-07-28","2025-11-25","2025-06-18","2025-03-26","2024-11-05"],"requested":"2099-01-01"}`; got != want {
			t.Errorf("data is %s, want %s", got, want)
		}
	})
}

// TestModernHeaders: a proxy that routed a request by its headers must not see a
// different request carried out.
func TestModernHeaders(t *testing.T) {
	t.Parallel()
	record := recordFile(t)
	h := openHouse(t, servers{"fault": with(child(t, "-record", record), map[string]any{"prefix": ""})})
	call := modernCall("1", "echo", `{"text":"x"}`)
	set := func(pairs ...string) http.Header {
		header := call.header.Clone()
		for i := 0; i < len(pairs); i += 2 {
			header.Set(pairs[i], pairs[i+1])
		}
		return header
	}
	twice := func(name, value string) http.Header {
		header := call.header.Clone()
		header.Add(name, value)
		return header
	}
	encoded := func(s string) string { return "=?base64?" + base64.StdEncoding.EncodeToString([]byte(s)) + "?=" }

	for name, header := range map[string]http.Header{
		"as they are":                      call.header,
		"name in base64":                   set("Mcp-Name", encoded("echo")),
		"the last legacy version, as seen": set("Mcp-Protocol-Version", "2025-11-25"),
		"header names in another case":     {"mcp-method": {"tools/call"}, "MCP-NAME": {"echo"}, "mcp-protocol-VERSION": {"2026-07-28"}},
		"a session id of another era":      set("Mcp-Session-Id", "x"),
	} {
		t.Run("accepted: "+name, func(t *testing.T) {
			h.send(request{body: call.body, header: header}).want(t, http.StatusOK, 0)
		})
	}
	before := len(calls(t, record))
	for name, header := range map[string]http.Header{
		"no version":           without(call.header, "Mcp-Protocol-Version"),
		"another version":      set("Mcp-Protocol-Version", "2025-06-18"),
		"no method":            without(call.header, "Mcp-Method"),
		"another method":       set("Mcp-Method", "tools/list"),
		"method in other case": set("Mcp-Method", "Tools/Call"),
		"two methods":          twice("Mcp-Method", "tools/list"),
		"two versions":         twice("Mcp-Protocol-Version", "2025-11-25"),
		"no name":              without(call.header, "Mcp-Name"),
		"another name":         set("Mcp-Name", "count"),
		"two names":            twice("Mcp-Name", "count"),
		"the same name twice":  twice("Mcp-Name", "echo"),
		"empty name":           set("Mcp-Name", ""),
		"another in base64":    set("Mcp-Name", encoded("count")),
		"bad base64":           set("Mcp-Name", "=?base64?%%%?="),
		"base64 in upper case": set("Mcp-Name", "=?BASE64?ZWNobw==?="),
		"encoded twice":        set("Mcp-Name", encoded(encoded("echo"))),
	} {
		t.Run("refused: "+name, func(t *testing.T) {
			h.send(request{body: call.body, header: header}).want(t, http.StatusBadRequest, -32020)
		})
	}
	if after := len(calls(t, record)); after != before {
		t.Errorf("%d refused calls reached the server", after-before)
	}

	t.Run("names that no header can carry", func(t *testing.T) {
		names := []string{"名前", " padded ", "=?base64?literal?=", "line\nbreak"}
		for _, name := range names {
			quoted, _ := json.Marshal(name)
			r := modern("1", "tools/call", `"name":`+string(quoted), "")
			r.header.Set("Mcp-Name", encoded(name))
			// There is no such tool; the point is that the header passes.
			h.send(r).want(t, http.StatusOK, -32602)
		}
		// Bytes that are not ASCII must be encoded, also where they would match.
		r := modern("1", "tools/call", `"name":"名前"`, "")
		r.header["Mcp-Name"] = []string{"名前"}
		h.send(r).want(t, http.StatusBadRequest, -32020)
	})
}

// TestModernMissingCapability: a server that needs more of the client says so
// with -32021, which is a 400.
func TestModernMissingCapability(t *testing.T) {
	t.Parallel()
	h := openHouse(t, servers{"fault": child(t, "-era", "modern")})
	r := h.send(modernCall("1", "fault__elicit", `{}`))
	r.want(t, http.StatusBadRequest, -32021)
	if got := member(t, r.last(), "error", "data"); got != `{"requiredCapabilities":{"elicitation":{}}}` {
		t.Errorf("data is %s", got)
	}
}

// TestInputRequired: what a modern server asks of a modern client passes
// untouched in both directions, without state of ours.
func TestInputRequired(t *testing.T) {
	t.Parallel()
	for name, server := range map[string]map[string]any{"stdio": child(t, "-era", "modern"), "HTTP": sibling(t, "-era", "modern")} {
		t.Run(name, func(t *testing.T) {
			h := openHouse(t, servers{"fault": server})
			ask := func(more string) response {
				r := modern("1", "tools/call", `"name":"fault__elicit","arguments":{}`+more, "")
				r.body = strings.Replace(r.body, `clientCapabilities":{}`, `clientCapabilities":{"elicitation":{}}`, 1)
				return h.send(r)
			}
			first := ask("")
			first.want(t, http.StatusOK, 0)
			if got := member(t, first.last(), "result", "resultType"); got != `"input_required"` {
				t.Fatalf("the answer is %s", first.last())
			}
			state := member(t, first.last(), "result", "requestState")
			second := ask(`,"inputResponses":{"name":{"action":"accept","content":{"name":"Ann"}}},"requestState":` + state)
			if !strings.Contains(text(second.last()), "Ann") {
				t.Errorf("the retry was answered with %s", second.last())
			}
		})
	}
}

// A step that asks for the final answer sees one call and one answer, also if a modern
// server asks a modern client for input in between.
func TestInputRequiredWithinOneCall(t *testing.T) {
	t.Parallel()
	var calls, final atomic.Int32
	whole := func(next gateway.Handler) gateway.Handler {
		return gateway.HandlerFunc(func(ctx context.Context, call *gateway.Call) (*gateway.Result, error) {
			calls.Add(1)
			call.Whole = true
			result, err := next.Handle(ctx, call)
			if err == nil && result.Type.Final() {
				final.Add(1)
			}
			return result, err
		})
	}
	h := openLimitedHouse(t, servers{"fault": child(t, "-era", "modern")}, func(o *app.Options) { o.Inspect = []gateway.Middleware{whole} })
	ask := func(more string) response {
		r := modern("1", "tools/call", `"name":"fault__elicit","arguments":{}`+more, "")
		r.body = strings.Replace(r.body, `clientCapabilities":{}`, `clientCapabilities":{"elicitation":{}}`, 1)
		return h.send(r)
	}
	first := ask("")
	if got := member(t, first.last(), "result", "resultType"); got != `"input_required"` {
		t.Fatalf("the answer is %s", first.last())
	}
	var requests map[string]any
	if err := json.Unmarshal([]byte(member(t, first.last(), "result", "inputRequests")), &requests); err != nil || len(requests) != 1 {
		t.Fatalf("%v: %s", err, first.last())
	}
	for key := range requests {
		second := ask(`,"inputResponses":{"` + key + `":{"action":"accept","content":{"name":"Ann"}}},"requestState":` + member(t, first.last(), "result", "requestState"))
		if !strings.Contains(text(second.last()), "Ann") {
			t.Errorf("the retry was answered with %s", second.last())
		}
	}
	if calls.Load() != 1 || final.Load() != 1 {
		t.Errorf("%d calls, %d final answers", calls.Load(), final.Load())
	}
}

// TestSubscription is about subscriptions/listen over HTTP.
func TestSubscription(t *testing.T) {
	t.Parallel()
	h := openHouse(t, servers{"fault": child(t)})
	add := func(tool string) {
		t.Helper()
		h.send(modernCall("1", "fault__add_tool", `{"name":"`+tool+`"}`)).want(t, http.StatusOK, 0)
	}
	listen := func(id, filter string) *stream {
		return h.open(modern(id, "subscriptions/listen", `"notifications":`+filter, ""))
	}

	tools := listen(`"s 1"`, `{"toolsListChanged":true,"promptsListChanged":true,"resourceSubscriptions":["x://y"]}`)
	deaf := listen("2", `{"promptsListChanged":true}`)
	if tools.header.Get("Content-Type") != "text/event-stream" || tools.header.Get("X-Accel-Buffering") != "no" {
		t.Errorf("the stream's headers: %v", tools.header)
	}
	// The acknowledgement omits subscriptions that were not granted.
	if got, want := tools.next(), `{"jsonrpc":"2.0","method":"notifications/subscriptions/acknowledged","params":{"_meta":{"io.modelcontextprotocol/subscriptionId":"s 1"},"notifications":{"toolsListChanged":true,"promptsListChanged":true}}}`; got != want {
		t.Errorf("first came %s\nwant       %s", got, want)
	}
	if got, want := deaf.next(), `{"jsonrpc":"2.0","method":"notifications/subscriptions/acknowledged","params":{"_meta":{"io.modelcontextprotocol/subscriptionId":2},"notifications":{"promptsListChanged":true}}}`; got != want {
		t.Errorf("first came %s\nwant       %s", got, want)
	}
	add("one")
	if got, want := tools.next(), `{"jsonrpc":"2.0","method":"notifications/tools/list_changed","params":{"_meta":{"io.modelcontextprotocol/subscriptionId":"s 1"}}}`; got != want {
		t.Errorf("then came %s\nwant      %s", got, want)
	}
	// A client that cannot read a stream is told, and nothing stays behind.
	refused := modern("3", "subscriptions/listen", `"notifications":{"toolsListChanged":true}`, "")
	refused.header.Set("Accept", "application/json")
	if r := h.send(refused); r.status != http.StatusNotAcceptable {
		t.Errorf("a listener that takes no stream: %d %s", r.status, r.body)
	}
	tools.close()

	// When the gateway goes down, it answers the request: a graceful end.
	ending := openHouse(t, servers{"fault": child(t)})
	last := ending.open(modern("9", "subscriptions/listen", `"notifications":{"toolsListChanged":true}`, ""))
	last.next()
	session := ending.initialize(ending.token)
	old := ending.open(request{method: http.MethodGet, header: headers("Mcp-Session-Id", session)})
	ending.stop()
	if got, want := last.next(), `{"jsonrpc":"2.0","id":9,"result":{"resultType":"complete","_meta":{"io.modelcontextprotocol/subscriptionId":9}}}`; got != want {
		t.Errorf("at the end came %s\nwant            %s", got, want)
	}
	if message, err := last.read(); err == nil {
		t.Errorf("after the end came %s", message)
	}
	if message, err := old.read(); err == nil {
		t.Errorf("a legacy stream ended with %s", message)
	}
}
