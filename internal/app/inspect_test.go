package app

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"

	"genkan/internal/gateway"
	"genkan/internal/testkit"
)

// A middleware at inspect sees the calls of its tools whole, may change arguments
// and results, and runs once per call, even if the call is retried. All other calls
// are forwarded byte for byte.
func TestInspect(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	var seen atomic.Int64
	inspect := func(next gateway.Handler) gateway.Handler {
		return gateway.HandlerFunc(func(ctx context.Context, call *gateway.Call) (*gateway.Result, error) {
			if call.Tool.Exposed != "one__raw" {
				return next.Handle(ctx, call)
			}
			seen.Add(1)
			args, err := call.Arguments()
			if err != nil {
				return nil, err
			}
			changed := map[string]any{"added": true}
			for k, v := range args {
				changed[k] = v
			}
			if err := call.SetArguments(changed); err != nil {
				return nil, err
			}
			result, err := next.Handle(ctx, call)
			if err != nil {
				return nil, err
			}
			fields, err := result.Fields()
			if err != nil {
				return nil, err
			}
			return gateway.NewResult(map[string]any{"content": fields["content"], "seen": true})
		})
	}
	h := openHouse(t, servers(conf{"one": child(t, "-record", dir+"/record"), "two": child(t, "-record", dir+"/record2")}),
		func(o *Options) { o.Inspect = []gateway.Middleware{inspect} })
	h.waitReady("one", "two")
	// Spaces, number spellings, key order, unknown fields: all of that is the
	// server's business.
	odd := `{ "content" : [ {"type":"text","text":"\u00e9\/","n":1.50e+1} ],"zzz":null , "resultType" : "complete","big":12345678901234567890}`
	arguments := fmt.Sprintf(`{"result_json": %s ,"n" : 1.0E2}`, odd)

	answer, err := h.mcp("tools/call", "two__raw", `"arguments":`+arguments+`,`)
	if err != nil || !strings.Contains(answer, `"result":`+odd+`}`) {
		t.Errorf("the result did not pass byte for byte: %s, %v", answer, err)
	}
	if sent := find(t, dir+"/record2", `"tools/call"`); !strings.Contains(sent, arguments) {
		t.Errorf("the arguments did not pass byte for byte: %s", sent)
	}
	if seen.Load() != 0 {
		t.Error("it was looked into all the same")
	}

	answer, err = h.mcp("tools/call", "one__raw", `"arguments":`+arguments+`,`)
	if err != nil || !strings.Contains(answer, `"seen":true`) || !strings.Contains(answer, "1.50e+1") {
		t.Errorf("got %s, %v", answer, err)
	}
	sent := find(t, dir+"/record", `"tools/call"`)
	if !strings.Contains(sent, `"added":true`) || !strings.Contains(sent, "12345678901234567890") {
		t.Errorf("the server was sent %s", sent)
	}
	if seen.Load() != 1 {
		t.Errorf("seen %d times", seen.Load())
	}
}

func find(t *testing.T, record, word string) string {
	t.Helper()
	for _, line := range testkit.Lines(t, record) {
		if strings.Contains(line, word) {
			return line
		}
	}
	t.Fatalf("no %s was recorded", word)
	return ""
}

// A middleware that changes an argument that is also sent as a header changes the
// header, too. The caller's own headers are compared with the request that the
// caller sent.
func TestInspectChangesHeadersToo(t *testing.T) {
	t.Parallel()
	inspect := func(next gateway.Handler) gateway.Handler {
		return gateway.HandlerFunc(func(ctx context.Context, call *gateway.Call) (*gateway.Result, error) {
			if err := call.SetArguments(map[string]any{"region": "höher"}); err != nil {
				return nil, err
			}
			return next.Handle(ctx, call)
		})
	}
	h := openHouse(t, servers(conf{"one": sibling(t, "-era", "modern", "-param-tool")}),
		func(o *Options) { o.Inspect = []gateway.Middleware{inspect} })
	h.waitReady("one")
	const call = `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"one__lookup","arguments":{"region":"eu"},"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}}`
	for header, want := range map[string]string{"eu": `"text":"höher"`, "höher": "-32020", "us": "-32020"} {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, h.base+"/mcp", strings.NewReader(call))
		if err != nil {
			t.Fatal(err)
		}
		for key, value := range map[string]string{
			"Authorization": "Bearer " + h.token, "Content-Type": "application/json",
			"MCP-Protocol-Version": "2026-07-28", "Mcp-Method": "tools/call", "Mcp-Name": "one__lookup",
			"Mcp-Param-Region": header,
		} {
			r.Header.Set(key, value)
		}
		resp, err := h.http.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		body, err := io.ReadAll(resp.Body)
		_ = resp.Body.Close()
		if err != nil || !strings.Contains(string(body), want) {
			t.Errorf("with %q came %s, %v", header, body, err)
		}
	}
}

// Inspect runs once for a call that is sent several times.
func TestInspectRunsOnce(t *testing.T) {
	t.Parallel()
	var seen atomic.Int64
	inspect := func(next gateway.Handler) gateway.Handler {
		return gateway.HandlerFunc(func(ctx context.Context, call *gateway.Call) (*gateway.Result, error) {
			seen.Add(1)
			return next.Handle(ctx, call)
		})
	}
	h := openHouse(t, servers(conf{"one": sibling(t, "-mode", "reset")}),
		func(o *Options) { o.Inspect = []gateway.Middleware{inspect} })
	h.waitReady("one")
	if _, err := h.call("one__echo", `{"text":"x"}`); err == nil || seen.Load() != 1 {
		t.Errorf("got %v, seen %d times", err, seen.Load())
	}
	lines := h.logLines("call")
	if len(lines) != 1 || lines[0]["attempts"] != 3.0 {
		t.Errorf("the log says %v", lines)
	}
}

// A call with an invalid argument is refused with the name of the argument, and the
// server never receives it.
func TestValidate(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	h := openHouse(t, servers(conf{
		"strict": with(child(t, "-record", dir+"/record"), conf{"validate": true}),
		"loose":  child(t),
	}))
	h.waitReady("strict", "loose")
	for arguments, want := range map[string]string{
		`{}`:                    "missing: text",
		`{"text":7}`:            "parameter text: expected string",
		`{"text":["a-canary"]}`: "parameter text: expected string",
	} {
		_, err := h.call("strict__echo", arguments)
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "canary") {
			t.Errorf("%s: got %v, want %s", arguments, err, want)
		}
	}
	if strings.Contains(strings.Join(testkit.Lines(t, dir+"/record"), "\n"), "tools/call") {
		t.Error("the server was asked all the same")
	}
	if h.mustCall("strict__echo", `{"text":"x","more":1}`) != "x" {
		t.Error("what fits must pass")
	}
	// Without validate the server decides.
	if _, err := h.call("loose__echo", `{}`); err == nil || !strings.Contains(err.Error(), "tool error") {
		t.Errorf("got %v", err)
	}
	status, body := h.request(http.MethodPost, "/v1/tools/call", `{"name":"strict__echo","parameters":{"text":7}}`, nil)
	if status != http.StatusBadRequest || !strings.Contains(body, "VALIDATION_ERROR") {
		t.Errorf("got %d %s", status, body)
	}
}

func TestTheRateLimit(t *testing.T) {
	t.Parallel()
	one := child(t)
	limited := with(servers(conf{"one": one}), conf{"rateLimit": conf{"max": 5, "timeWindow": "1h"}})
	h := openHouse(t, limited)
	h.waitReady("one")
	for range 5 {
		h.mustCall("one__echo", `{"text":"x"}`)
	}
	_, err := h.call("one__echo", `{"text":"x"}`)
	if err == nil || !strings.Contains(err.Error(), "more than 5 requests") {
		t.Errorf("got %v", err)
	}
	status, body := h.request(http.MethodPost, "/v1/tools/call", `{"name":"one__echo","parameters":{"text":"x"}}`, nil)
	if status != http.StatusTooManyRequests || !strings.Contains(body, "RATE_LIMIT_EXCEEDED") {
		t.Errorf("got %d %s", status, body)
	}
	// A search counts as a call does, over REST and by search_tools.
	status, body = h.request(http.MethodPost, "/v1/tools/search", `{"query":"echo"}`, nil)
	if status != http.StatusTooManyRequests || !strings.Contains(body, "RATE_LIMIT_EXCEEDED") {
		t.Errorf("a search: %d %s", status, body)
	}
	guided := func(tool, arguments string) string {
		t.Helper()
		_, text := h.request(http.MethodPost, "/mcp?mode=search",
			`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"`+tool+`","arguments":`+arguments+`,"_meta":{`+modernMeta+`}}}`,
			http.Header{"Mcp-Protocol-Version": {"2026-07-28"}, "Mcp-Method": {"tools/call"}, "Mcp-Name": {tool}})
		return text
	}
	if text := guided("search_tools", `{"query":"echo"}`); !strings.Contains(text, "more than 5 requests") {
		t.Errorf("search_tools: %s", text)
	}
	// Another caller has a bucket of its own.
	admin := h.token
	_, added, err := h.tokens.Add(context.Background(), "other", false)
	if err != nil {
		t.Fatal(err)
	}
	h.token = added.Reveal()
	h.mustCall("one__echo", `{"text":"x"}`)
	for tool, arguments := range map[string]string{"search_tools": `{"query":"echo"}`, "call_tool": `{"name":"one__echo","arguments":{"text":"x"}}`} {
		if text := guided(tool, arguments); strings.Contains(text, "more than 5 requests") {
			t.Errorf("%s: %s", tool, text)
		}
	}
	// Of five, three are gone: what call_tool makes counts with it.
	h.must(http.MethodPost, "/v1/tools/search", `{"query":"echo"}`, http.StatusOK)
	h.must(http.MethodPost, "/v1/tools/search", `{"query":" "}`, http.StatusBadRequest)
	h.must(http.MethodPost, "/v1/tools/search", `{"query":"echo"}`, http.StatusTooManyRequests)
	h.token = admin
	// A reload that leaves the limit alone does not forget who has called;
	// one that changes it does.
	h.reload(with(limited, conf{"logLevel": "debug"}))
	if _, err := h.call("one__echo", `{"text":"x"}`); err == nil {
		t.Error("a reload is no way around the limit")
	}
	h.reload(with(limited, conf{"rateLimit": conf{"max": 0}}))
	for range 20 {
		h.mustCall("one__echo", `{"text":"x"}`)
	}
}

// TestUnknownNamesCountAgainstTheRateLimit: looking for a name that is like an
// unknown one costs more than most calls.
func TestUnknownNamesCountAgainstTheRateLimit(t *testing.T) {
	t.Parallel()
	h := openHouse(t, with(servers(conf{"one": child(t)}), conf{"rateLimit": conf{"max": 3, "timeWindow": "1h"}}))
	h.waitReady("one")
	for i := range 4 {
		_, err := h.call("one__ecco", `{}`)
		if limited := err != nil && strings.Contains(err.Error(), "more than 3 requests"); limited != (i == 3) {
			t.Errorf("call %d: %v", i+1, err)
		}
	}
}
