package upstream

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"genkan/internal/gateway"
	"genkan/internal/jsonrpc"
	"genkan/internal/testkit"
)

// The headers that a tool's schema asks for are made of the arguments that are
// sent; whatever else the caller sent passes on.
func TestParamHeaders(t *testing.T) {
	t.Parallel()
	tool := &gateway.Tool{Name: "t", Headers: []gateway.ParamHeader{
		{Path: []string{"region"}, Key: "Mcp-Param-Region"},
		{Path: []string{"o", "n"}, Key: "Mcp-Param-N"},
	}}
	modern := protocol{era: gateway.EraModern}
	newCall := func(era gateway.Era, arguments string) *gateway.Call {
		params, err := jsonrpc.ScanParams([]byte(`{"name":"t","arguments":` + arguments + `}`))
		if err != nil {
			t.Fatal(err)
		}
		return &gateway.Call{Method: "tools/call", Name: "t", Params: params, Caller: gateway.Caller{Era: era}, Tool: tool}
	}
	for name, c := range map[string]struct {
		arguments string
		sent      map[string][]string // by the caller
		want      string
	}{
		"made":                      {`{"region":"eu","o":{"n":42.0}}`, nil, "Mcp-Param-N=[42] Mcp-Param-Region=[eu]"},
		"encoded":                   {`{"region":" é"}`, nil, "Mcp-Param-Region=[=?base64?IMOp?=]"},
		"an empty text":             {`{"region":""}`, nil, "Mcp-Param-Region=[]"},
		"a truth":                   {`{"region":false}`, nil, "Mcp-Param-Region=[false]"},
		"absent":                    {`{"o":null}`, nil, ""},
		"no arguments":              {`null`, nil, ""},
		"not for headers":           {`{"region":{"a":1},"o":{"n":1.5}}`, nil, ""},
		"the caller's are replaced": {`{"region":"eu"}`, map[string][]string{"Mcp-Param-Region": {"us"}, "Mcp-Param-N": {"1"}}, "Mcp-Param-Region=[eu]"},
		"others pass":               {`{"region":"eu"}`, map[string][]string{"Mcp-Param-Other": {"x"}}, "Mcp-Param-Other=[x] Mcp-Param-Region=[eu]"},
	} {
		t.Run(name, func(t *testing.T) {
			call := newCall(gateway.EraModern, c.arguments)
			call.ParamHeaders = c.sent
			before := fmt.Sprint(c.sent)
			headers, err := modern.paramHeaders(call)
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, key := range slices.Sorted(maps.Keys(headers)) {
				got = append(got, fmt.Sprintf("%s=%s", key, headers[key]))
			}
			if strings.Join(got, " ") != c.want {
				t.Errorf("the headers are %s, want %s", got, c.want)
			}
			if fmt.Sprint(c.sent) != before {
				t.Error("the caller's own headers were changed")
			}
			if headers, err := (protocol{era: gateway.EraLegacy}).paramHeaders(call); len(headers) > 0 || err != nil {
				t.Errorf("a legacy server gets %v, %v", headers, err)
			}
		})
	}
	call := newCall(gateway.EraLegacy, `{"region":"eu","region":"us"}`)
	if _, err := modern.paramHeaders(call); gateway.AsError(err).Code != gateway.CodeInvalid {
		t.Errorf("of two arguments one was taken: %v", err)
	}
}

// A server that misses a header may have changed its tools: it is asked for
// them again, so that the next call has it.
func TestAMismatchAsksForTheListAgain(t *testing.T) {
	t.Parallel()
	record := t.TempDir() + "/record"
	u := openReady(t, faultHTTP(t, "-era", "modern", "-record", record, "-param-tool"))
	lists := func() int {
		return strings.Count(strings.Join(testkit.Lines(t, record), "\n"), `"tools/list"`)
	}
	before := lists()
	if _, err := u.callText("lookup", `{"region":"eu"}`); err == nil || !isMismatch(gateway.AsError(err).RPC) {
		t.Fatalf("the call ended with %v", err)
	}
	testkit.Eventually(t, func() bool { return lists() == before+1 }, "the list is asked for again")
}

// Where the rules for headers bind is known with the list, also with that of
// the last time.
func TestModernHTTPIsKnown(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		url  string
		era  gateway.Era
		want bool
	}{
		"modern HTTP":  {"http://127.0.0.1/mcp", gateway.EraModern, true},
		"legacy HTTP":  {"http://127.0.0.1/mcp", gateway.EraLegacy, false},
		"modern stdio": {"", gateway.EraModern, false},
	} {
		s := &Server{set: Settings{URL: c.url}}
		list, err := s.parse([]byte(`[{"name":"t"}]`), gateway.KindTool, c.era)
		if err != nil || len(list) != 1 || list[0].ModernHTTP != c.want {
			t.Errorf("%s: %v, %v", name, list, err)
		}
	}
}
