package mcpserver_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"genkan/internal/testkit"
)

// Raw in, raw out. What a client sends reaches the server as the same bytes,
// and so does the answer on its way back. Only these may differ: the tool's
// name, the id, the progress token, what the server's era wants in _meta, and
// the resultType that a modern client must be told.

// caller is a client of one era over one transport. It sends a tools/call with
// the given members of params, and those of _meta, and returns the answer.
type caller struct {
	name, era string
	call      func(tb testing.TB, id, params, meta string) string
}

func (h *house) callers() []caller {
	session := h.initialize(h.token)
	pipe := h.stdio()
	body := func(era, id, params, meta string) string {
		if era == "modern" {
			meta = strings.TrimSuffix(modernMeta+","+meta, ",")
		}
		if meta != "" {
			params += `,"_meta":{` + meta + `}`
		}
		return fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"method":"tools/call","params":{%s}}`, id, params)
	}
	var all []caller
	for _, era := range []string{"legacy", "modern"} {
		all = append(all, caller{"HTTP", era, func(tb testing.TB, id, params, meta string) string {
			tb.Helper()
			header := headers("Mcp-Session-Id", session)
			if era == "modern" {
				header = headers("Mcp-Protocol-Version", "2026-07-28", "Mcp-Method", "tools/call", "Mcp-Name", toolName(tb, params))
			}
			r := h.send(request{body: body(era, id, params, meta), header: header})
			if len(r.messages) != 1 {
				tb.Fatalf("the answer is %d %s", r.status, r.body)
			}
			return r.last()
		}}, caller{"stdio", era, func(tb testing.TB, id, params, meta string) string {
			tb.Helper()
			if err := pipe.Send([]byte(body(era, id, params, meta))); err != nil {
				tb.Fatal(err)
			}
			message, err := pipe.take()
			if err != nil {
				tb.Fatal(err)
			}
			return message
		}})
	}
	return all
}

// toolName reads the name as any client would have it.
func toolName(tb testing.TB, params string) string {
	tb.Helper()
	var p struct {
		Name string `json:"name"`
	}
	if err := json.Unmarshal([]byte("{"+params+"}"), &p); err != nil {
		tb.Fatal(err)
	}
	return p.Name
}

var (
	requestLine = regexp.MustCompile(`^\{"jsonrpc":"2\.0","id":(\d+),"method":"tools/call","params":(.*)\}$`)
	eraMembers  = regexp.MustCompile(`"io\.modelcontextprotocol/(protocolVersion":"[^"]*"|clientInfo":\{[^}]*\}|clientCapabilities":\{[^}]*\})`)
)

// TestRequestFidelity compares what the client sent with what reached the
// server, byte by byte.
func TestRequestFidelity(t *testing.T) {
	t.Parallel()
	// NAME stands for the tool's name, as this client or that server has it.
	requests := map[string]struct{ params, meta string }{
		"plain":              {`"name":NAME,"arguments":{"text":"hi"}`, ``},
		"empty arguments":    {`"name":NAME,"arguments":{}`, ``},
		"no arguments":       {`"name":NAME`, ``},
		"null arguments":     {`"name":NAME,"arguments":null`, ``},
		"numbers":            {`"name":NAME,"arguments":{"a":12345678901234567890123,"b":1.10,"c":1e400,"d":-0,"e":1E+2,"f":0.10e-05}`, ``},
		"unknown members":    {`"zz":1.10,"name":NAME,"arguments":{},"annotations":[null,{"b":1,"a":2}],"Z":-0`, ``},
		"order of keys":      {`"b":1,"arguments":{"z":1,"y":{"x":1,"a":2},"b":3},"a":2,"name":NAME`, ``},
		"escapes":            {`"name":NAME,"arguments":{"\u0061\/":"\u00e9\ud83d\ude00\/\t\u001f","é😀":"<&>\u2028"}`, ``},
		"white space":        {` "name" : NAME , "arguments" : { "a" : [ 1 ,	2 ] } `, ` "com.example/k" : { "b" : 1.10 } `},
		"duplicates inside":  {`"name":NAME,"arguments":{"a":1,"a":2,"A":3}`, ``},
		"a name inside":      {`"name":NAME,"arguments":{"name":"count","_meta":{"progressToken":5},"id":9}`, ``},
		"deep":               {`"name":NAME,"arguments":{"a":` + strings.Repeat("[", 900) + strings.Repeat("]", 900) + `}`, ``},
		"long":               {`"name":NAME,"arguments":{"a":"` + strings.Repeat(`x\u0041"`[:7], 2_000) + `"}`, ``},
		"custom meta":        {`"name":NAME,"arguments":{}`, `"com.example/b":1.10,"traceparent":"00-\u0061","com.example/a":{"z":[],"y":1e400}`},
		"meta and a token":   {`"name":NAME,"arguments":{}`, `"com.example/b":1.10,"progressToken":"p","com.example/a":-0`},
		"a token alone":      {`"name":NAME,"arguments":{}`, `"progressToken":7`},
		"a token in the end": {`"name":NAME,"arguments":{}`, `"com.example/b":{},"progressToken":"\u0041"`},
	}
	names := slices.Sorted(maps.Keys(requests))
	for i, server := range serverKinds() {
		t.Run("to "+server.name, func(t *testing.T) {
			t.Parallel()
			record := recordFile(t)
			h := openHouse(t, servers{"fault": server.start(t, "-record", record)})
			for j, c := range h.callers() {
				for k, name := range names {
					if !testkit.OneIn(4, i, j, k) {
						continue
					}
					r := requests[name]
					t.Run(c.era+" "+c.name+" "+name, func(t *testing.T) {
						seen := len(calls(t, record))
						answer := c.call(t, "1", strings.ReplaceAll(r.params, "NAME", `"fault__pid"`), r.meta)
						lines := calls(t, record)
						if len(lines) != seen+1 {
							t.Fatalf("%d calls reached the server; the answer is %s", len(lines)-seen, answer)
						}
						got := requestLine.FindStringSubmatch(lines[seen])
						if got == nil {
							t.Fatalf("the server received %s", lines[seen])
						}
						// Null means no arguments, and servers made with the TypeScript SDK refuse it.
						r.params = strings.Replace(r.params, `"arguments":null`, `"arguments":{}`, 1)
						want := wantParams(c.era, server.era, strings.ReplaceAll(r.params, "NAME", `"pid"`), r.meta, got[1])
						if params := withoutEra(c.era, server.era, got[2]); params != want {
							t.Error(cmp.Diff(want, params))
						}
					})
				}
			}
		})
	}
}

// wantParams is the params object that the server must see. Within an era
// _meta keeps its bytes but for the token; between the eras it is rebuilt,
// token first, and the client's own members keep order and values.
func wantParams(clientEra, serverEra, params, meta, token string) string {
	const ours = `"progressToken":`
	if clientEra == "modern" && serverEra == "modern" {
		meta = strings.TrimSuffix(modernMeta+","+meta, ",")
	}
	had := regexp.MustCompile(`"progressToken":("[^"]*"|\d+)`).FindString(meta)
	switch {
	case clientEra == serverEra && had != "":
		meta = strings.Replace(meta, had, ours+token, 1)
	case clientEra == serverEra && meta != "":
		meta += "," + ours + token
	default:
		rest := strings.Trim(strings.ReplaceAll(strings.Replace(meta, had, "", 1), ",,", ","), ",")
		if clientEra != serverEra {
			rest = strings.TrimSpace(rest)
			rest = strings.Replace(rest, `"com.example/k" : {`, `"com.example/k":{`, 1)
		}
		meta = strings.TrimSuffix(ours+token+","+rest, ",")
	}
	return "{" + params + `,"_meta":{` + meta + "}}"
}

// withoutEra removes what the gateway must add for a modern server.
func withoutEra(clientEra, serverEra, params string) string {
	if clientEra == "legacy" && serverEra == "modern" {
		at := strings.LastIndex(params, `"_meta":`)
		meta := eraMembers.ReplaceAllString(params[at:], "")
		params = params[:at] + regexp.MustCompile(`,+\}\}$`).ReplaceAllString(meta, "}}")
	}
	return params
}

type serverKind struct {
	name, era string
	start     func(tb testing.TB, args ...string) map[string]any
}

func serverKinds() []serverKind {
	var all []serverKind
	for _, era := range []string{"legacy", "modern"} {
		all = append(
			all,
			serverKind{"stdio " + era, era, func(tb testing.TB, args ...string) map[string]any {
				return child(tb, append(args, "-era", era)...)
			}},
			serverKind{"HTTP " + era, era, func(tb testing.TB, args ...string) map[string]any {
				return sibling(tb, append(args, "-era", era)...)
			}},
			serverKind{"HTTP stream " + era, era, func(tb testing.TB, args ...string) map[string]any {
				return sibling(tb, append(args, "-era", era, "-sse")...)
			}},
		)
	}
	return all
}

// TestAnswerFidelity compares what the server answered with what the client
// received, byte by byte.
func TestAnswerFidelity(t *testing.T) {
	t.Parallel()
	results := map[string]string{
		"plain":             `{"content":[{"type":"text","text":"hi"}]}`,
		"empty":             `{}`,
		"unknown content":   `{"content":[{"type":"hologram","mass":1.10,"x":{"z":1,"a":[]}},{"type":"text","text":"\u00e9\/","annotations":null}]}`,
		"numbers":           `{"structuredContent":{"a":12345678901234567890123,"b":1.10,"c":1e400,"d":-0},"content":[]}`,
		"unknown members":   `{"zz":[],"content":[],"ttlMs":5,"_meta":{"com.example/k":1.0,"b":{"z":1,"a":2}},"A":null}`,
		"is an error":       `{"content":[{"type":"text","text":"no"}],"isError":true}`,
		"white space":       `{ "content" : [ ] ,	"x" : 1 }`,
		"escapes":           `{"\u0063ontent":[],"é😀":"\ud83d\ude00<&>"}`,
		"duplicates inside": `{"content":[],"x":{"a":1,"a":2}}`,
		"deep":              `{"content":` + strings.Repeat("[", 900) + strings.Repeat("]", 900) + `}`,
		"large":             `{"content":[{"type":"text","text":"` + strings.Repeat("0123456789abcdef", 2_000) + `"}]}`,
	}
	failures := map[string]string{
		"plain":           `{"code":-32000,"message":"no"}`,
		"data and extras": `{"code":-32042,"message":"\u0041\/","data":{"z":1.10,"a":[1e400,-0]},"extra":{"b":1,"a":2}}`,
		"order":           `{"data":null,"message":"x","code":7}`,
		"white space":     `{ "code" : 1 , "message" : "" }`,
		"protocol's own":  `{"code":-32021,"message":"needs more","data":{"requiredCapabilities":{"sampling":{}}}}`,
	}
	ids := []string{`1`, `"a"`, `"\u0041\/é"`, `-7`, `0`, `12345678901234567890123`, `"1"`, `1.50`}
	names, failureNames := slices.Sorted(maps.Keys(results)), slices.Sorted(maps.Keys(failures))
	for i, server := range serverKinds() {
		t.Run("from "+server.name, func(t *testing.T) {
			t.Parallel()
			h := openHouse(t, servers{"fault": server.start(t)})
			n := 0
			for j, c := range h.callers() {
				ask := func(t *testing.T, kind, raw string) (id, answer string) {
					t.Helper()
					quoted, err := json.Marshal(raw)
					if err != nil {
						t.Fatal(err)
					}
					n++
					id = ids[n%len(ids)]
					return id, c.call(t, id, fmt.Sprintf(`"name":"fault__raw","arguments":{%q:%s}`, kind, quoted), "")
				}
				for k, name := range names {
					if !testkit.OneIn(4, i, j, k) {
						continue
					}
					result := results[name]
					t.Run(c.era+" "+c.name+" result "+name, func(t *testing.T) {
						id, got := ask(t, "result_json", result)
						if c.era == "modern" && server.era == "legacy" {
							rest := strings.TrimPrefix(result, "{")
							result = strings.Replace(`{"resultType":"complete",`+rest, `,}`, `}`, 1)
						}
						if want := `{"jsonrpc":"2.0","id":` + id + `,"result":` + result + `}`; got != want {
							t.Error(cmp.Diff(want, got))
						}
					})
				}
				for k, name := range failureNames {
					if !testkit.OneIn(4, i, j, k) {
						continue
					}
					failure := failures[name]
					t.Run(c.era+" "+c.name+" error "+name, func(t *testing.T) {
						id, got := ask(t, "error_json", failure)
						if want := `{"jsonrpc":"2.0","id":` + id + `,"error":` + failure + `}`; got != want {
							t.Error(cmp.Diff(want, got))
						}
					})
				}
			}
		})
	}
}

// TestPrettyPrinted: line breaks between tokens are the one thing in a message
// that cannot pass: they become spaces on the way, in both directions.
func TestPrettyPrinted(t *testing.T) {
	t.Parallel()
	record := recordFile(t)
	h := openHouse(t, servers{"fault": sibling(t, "-era", "modern", "-record", record), "child": child(t, "-record", record)})
	for _, server := range []string{"fault", "child"} {
		seen := len(testkit.Lines(t, record))
		r := modernCall("1", server+"__pid", `{"a":`+"\r\n\t"+`[1,`+"\n"+`2]}`)
		h.send(r).want(t, http.StatusOK, 0)
		lines := testkit.Lines(t, record)[seen:]
		if len(lines) != 1 || !strings.Contains(lines[0], `"arguments":{"a":  	[1, 2]}`) {
			t.Errorf("the server received %q", lines)
		}
	}
	// A pretty-printed answer, which comes on as an event of a stream: a line
	// break in it would end the event.
	quoted, _ := json.Marshal("{\n  \"content\": [\r\n],\"x\":\n1}")
	r := h.send(modern("1", "tools/call", `"name":"fault__raw","arguments":{"result_json":`+string(quoted)+`}`, `"progressToken":1`))
	if want := `{"jsonrpc":"2.0","id":1,"result":{   "content": [  ],"x": 1}}`; r.last() != want {
		t.Errorf("got  %q\nwant %q", r.last(), want)
	}
}
