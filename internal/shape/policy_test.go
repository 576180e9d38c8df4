package shape_test

import (
	"bytes"
	"context"
	"encoding/json"
	"strings"
	"testing"

	"genkan/internal/gateway"
	"genkan/internal/jsonrpc"
	"genkan/internal/shape"
)

func TestAnswerWithinTheBudgetPassesUntouched(t *testing.T) {
	h := open(t, shape.Budgets{})
	for _, raw := range [][]byte{textResult("short"), textResult(rows(200)), textResult(strings.Repeat("word ", 15_000))} {
		call := callOf("anna")
		result := &gateway.Result{Raw: raw}
		handler := h.Middleware(gateway.HandlerFunc(func(context.Context, *gateway.Call) (*gateway.Result, error) { return result, nil }))
		call.Tool.Source = &server{}
		if got, err := handler.Handle(t.Context(), call); got != result || err != nil {
			t.Errorf("%d bytes: another result, %v", len(raw), err)
		}
		if n := testing.AllocsPerRun(10, func() { _, _ = handler.Handle(t.Context(), call) }); n != 0 {
			t.Errorf("%d bytes: %v allocations", len(raw), n)
		}
	}
	if h.spool.Size() != 0 {
		t.Error("something was stored")
	}
}

func TestOnlyAgentsGetOutlines(t *testing.T) {
	t.Parallel()
	h := open(t, shape.Budgets{Default: 1000})
	raw := textResult(rows(500))
	for name, c := range map[string]struct {
		change func(*gateway.Call)
		want   bool
	}{
		"MCP over HTTP":              {func(c *gateway.Call) {}, true},
		"MCP over stdio":             {func(c *gateway.Call) { c.Via = "stdio" }, true},
		"REST":                       {func(c *gateway.Call) { c.Via = "rest" }, false},
		"REST with a budget":         {func(c *gateway.Call) { c.Via, c.Options.Budget = "rest", 2000 }, true},
		"routes of items":            {func(c *gateway.Call) { c.Via = "items" }, false},
		"a workflow's call":          {func(c *gateway.Call) { c.Parent = callOf("anna") }, false},
		"a call through call_tool":   {func(c *gateway.Call) { c.Parent, c.Included = callOf("anna"), true }, true},
		"a resource":                 {func(c *gateway.Call) { c.Method = "resources/read" }, false},
		"an agent without a budget":  {func(c *gateway.Call) { c.Options.Budget = gateway.NoBudget }, false},
		"a tool without a budget":    {func(c *gateway.Call) { c.Tool.Options.Budget = gateway.NoBudget }, false},
		"a tool with a large budget": {func(c *gateway.Call) { c.Tool.Options.Budget = 100_000 }, false},
		"a tool that says its size": {func(c *gateway.Call) {
			c.Tool.Definition = []byte(`{"_meta":{"anthropic/maxResultSizeChars":100000}}`)
		}, false},
		"a tool that says a small size": {func(c *gateway.Call) {
			c.Tool.Definition = []byte(`{"_meta":{"anthropic/maxResultSizeChars":1000}}`)
		}, true},
	} {
		call := callOf("anna")
		c.change(call)
		if got := !bytes.Equal(h.pass(t, call, raw).Raw, raw); got != c.want {
			t.Errorf("%s: an outline is %v, want %v", name, got, c.want)
		}
	}
}

func TestBudgetIsThatOfTheClient(t *testing.T) {
	t.Parallel()
	h := open(t, shape.Budgets{Client: func(id string) int {
		return map[string]int{"small": 2000, "any": gateway.NoBudget}[id]
	}})
	raw := textResult(rows(500)) // about 15,000 tokens
	for client, want := range map[string]bool{"claude-code 2.1.0": true, "Cursor 1.0": false, "small": true, "any 3": false} {
		name, version, _ := strings.Cut(client, " ")
		call := callOf(name)
		call.Session = &gateway.Session{Client: client}
		if got := !bytes.Equal(h.pass(t, call, raw).Raw, raw); got != want {
			t.Errorf("%s: an outline is %v, want %v", client, got, want)
		}
		info, _ := json.Marshal(map[string]any{"name": name, "version": version})
		params, err := jsonrpc.ScanParams([]byte(`{"name":"x","_meta":{"io.modelcontextprotocol/clientInfo":` + string(info) + `}}`))
		if err != nil {
			t.Fatal(err)
		}
		call = callOf(name)
		call.Params = params
		if got := !bytes.Equal(h.pass(t, call, raw).Raw, raw); got != want {
			t.Errorf("%s, modern: an outline is %v, want %v", client, got, want)
		}
	}
}

func TestToolWithAnOutputSchemaAnswersWithAnErrorThatIsNone(t *testing.T) {
	t.Parallel()
	h := open(t, shape.Budgets{Default: 1000})
	raw := []byte(`{"content":[],"structuredContent":{"rows":` + rows(500) + `}}`)
	call := callOf("anna")
	call.Tool.Definition = []byte(`{"outputSchema":{"type":"object"}}`)
	saysError := func(result *gateway.Result) bool { return string(jsonrpc.Lookup(result.Raw, "isError")) == "true" }
	result := h.pass(t, call, raw)
	if outline := texts(t, result)[0]; result.IsError || !saysError(result) || !strings.HasPrefix(outline, "The call succeeded") {
		t.Errorf("%s", result.Raw)
	}
	call.Parent, call.Included = callOf("anna"), true
	if saysError(h.pass(t, call, raw)) {
		t.Error("call_tool has no output schema, but answers with an error")
	}
	call.Parent, call.Era, call.Via, call.Options.Budget = nil, gateway.EraNone, "rest", 1000
	if saysError(h.pass(t, call, raw)) {
		t.Error("a caller that does not speak MCP gets an error")
	}
}

func TestFailureStaysOne(t *testing.T) {
	t.Parallel()
	h := open(t, shape.Budgets{Default: 1000})
	source := &server{}
	call := callOf("anna")
	call.Tool.Source = source
	result, err := h.Middleware(gateway.HandlerFunc(func(context.Context, *gateway.Call) (*gateway.Result, error) {
		return &gateway.Result{Raw: append(bytes.TrimSuffix(textResult(rows(500)), []byte("}")), `,"isError":true}`...), IsError: true}, nil
	})).Handle(t.Context(), call)
	if err != nil || !result.IsError || strings.Contains(string(result.Raw), "succeeded") {
		t.Errorf("%v, %.200s", err, result.Raw)
	}
}

func TestGrepFindsLinesAndValues(t *testing.T) {
	t.Parallel()
	h := open(t, shape.Budgets{Default: 1000})
	read := func(raw []byte, args map[string]any) []string {
		t.Helper()
		args["id"] = propose(t, h.outlined(t, callOf("anna"), raw, 700))["id"]
		result, err := h.read(t, "anna", args)
		if err != nil {
			t.Fatal(err)
		}
		return texts(t, result)
	}
	lines := strings.Repeat("nothing here\n", 2000) + "The Needle\n" + strings.Repeat("nothing here\n", 2000)
	if got := read(textResult(lines), map[string]any{"grep": "needle"}); got[0] != "2000: The Needle\n" {
		t.Error(got)
	}
	json := `{"list":` + rows(1000) + `,"deep":{"a/b":["x","caf\u00e9 \"NEEDLE\""]}}`
	if got := read(textResult(json), map[string]any{"grep": `é "needle"`}); got[0] != "/deep/a~1b/1 café \"NEEDLE\"\n" {
		t.Error(got)
	}
	if got := read(textResult(json), map[string]any{"grep": "customer 77", "limit": 2}); got[0] != "/list/77/name customer 77\n/list/770/name customer 770\n" || !strings.Contains(got[1], `"total":11`) || !strings.Contains(got[1], "offset: 2") {
		t.Error(got)
	}
	if got := read(textResult(json), map[string]any{"grep": "nowhere"}); got[0] != "" || !strings.Contains(got[1], "Nothing matches") || strings.Contains(got[1], "Next") {
		t.Error(got)
	}
	if got := read(textResult(lines), map[string]any{"grep": "needle", "offset": 1500}); got[0] != "" || !strings.Contains(got[1], "offset counts matches, and there are only 1") {
		t.Error(got)
	}
	long := strings.Repeat("あ", 3000) + "needle" + strings.Repeat("え", 20)
	if got := read(textResult(long), map[string]any{"grep": "needle"}); !strings.HasPrefix(got[0], "9000: …あ") || !strings.HasSuffix(got[0], "え\n") || !strings.Contains(got[1], `unit: \"bytes\"`) {
		t.Error(got)
	}
}

func TestGrepThatFindsNothingInAPartProposesToLookInAll(t *testing.T) {
	t.Parallel()
	h := open(t, shape.Budgets{Default: 1000})
	raw := []byte(`{"content":[{"type":"text","text":` + string(jsonrpc.AppendQuoted(nil, rows(1000))) + `},{"type":"text","text":"the needle"}]}`)
	id := propose(t, texts(t, h.pass(t, callOf("anna"), raw))[0])["id"]
	data, last := h.readAll(t, "anna", 1000, map[string]any{"id": id, "grep": "needle"})
	if len(data) != 2 || data[1] != "/content/1/text the needle\n" {
		t.Errorf("%q", data)
	}
	if data, last = h.readAll(t, "anna", 1000, map[string]any{"id": id, "grep": "nowhere"}); len(data) != 2 || !strings.HasPrefix(last.Note, "Nothing matches. ") {
		t.Errorf("%q, %+v", data, last)
	}
}

func TestWrongArgumentsSayWhatIsRight(t *testing.T) {
	t.Parallel()
	h := open(t, shape.Budgets{Default: 1000})
	id := propose(t, h.outlined(t, callOf("anna"), textResult(`{"items":`+rows(500)+`,"n":1}`), 700))["id"]
	for want, args := range map[string]map[string]any{
		"id is missing":                       {},
		"there is no stored result":           {"id": "x"},
		"has no key itms. Its keys are items": {"id": id, "pointer": "/itms"},
		"array of length 500":                 {"id": id, "pointer": "/items/500"},
		"and has nothing in it":               {"id": id, "pointer": "/n/0"},
		"must be a JSON Pointer":              {"id": id, "pointer": "items"},
		"offset is 501":                       {"id": id, "pointer": "/items", "offset": 501},
		"no part 4":                           {"id": id, "part": 4},
		"unit must be":                        {"id": id, "unit": "words"},
		"offset must be an integer":           {"id": id, "offset": -1},
		"offset is 2147483647":                {"id": id, "offset": int64(1) << 40},
		"grep must be a string":               {"id": id, "grep": []string{}},
		"Unknown argument query. Known are id, pointer, offset, limit, grep, part, unit": {"id": id, "query": "x"},
	} {
		_, err := h.read(t, "anna", args)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v: %v, want %s", args, err, want)
		}
	}
}

// After a value that is too large for an answer, the guidance goes on with the next one.
func TestGuidanceGoesOnAfterALargeItem(t *testing.T) {
	t.Parallel()
	h := open(t, shape.Budgets{Default: 1000})
	large := `{"text":` + string(jsonrpc.AppendQuoted(nil, strings.Repeat("many words ", 3000))) + `}`
	id := propose(t, h.outlined(t, callOf("anna"), textResult(`[`+large+`,{"small":1},`+large+`]`), 700))["id"]
	about := func(offset int) string {
		result, err := h.read(t, "anna", map[string]any{"id": id, "offset": offset})
		if err != nil {
			t.Fatal(err)
		}
		var g guidance
		if err := json.Unmarshal([]byte(texts(t, result)[1]), &g); err != nil {
			t.Fatal(err)
		}
		return g.Guidance
	}
	first := about(0)
	_, then, found := strings.Cut(first, "After this one, or to skip it: ")
	if !found || string(propose(t, then)["offset"].(json.RawMessage)) != "1" {
		t.Fatalf("the guidance is %s", first)
	}
	if last := about(2); strings.Contains(last, "After this one") {
		t.Errorf("after the last one: %s", last)
	}
}

// A value is found however deep it is.
func TestGrepFindsDeepValues(t *testing.T) {
	t.Parallel()
	h := open(t, shape.Budgets{Default: 1000})
	const depth = 100
	deep := strings.Repeat(`{"k":[`, depth) + `"one needle","two","another needle"` + strings.Repeat(`]}`, depth)
	id := propose(t, h.outlined(t, callOf("anna"), textResult(`[`+deep+`,`+rows(500)+`]`), 700))["id"]
	data, _ := h.readAll(t, "anna", 2*depth*4, map[string]any{"id": id, "grep": "needle"})
	at := "/0" + strings.Repeat("/k/0", depth-1) + "/k/"
	if got, want := strings.Join(data, ""), at+"0 one needle\n"+at+"2 another needle\n"; got != want {
		t.Errorf("got %.300s", got)
	}
}

// One of something is not several.
func TestOutlinesCountOne(t *testing.T) {
	t.Parallel()
	h := open(t, shape.Budgets{Default: 1000})
	for want, text := range map[string]string{
		"/ array of 1 item, ":   `[` + rows(500) + `]`,
		"/ object of 1 key, ":   `{"rows":` + rows(500) + `}`,
		" kB in 1 line. It beg": strings.Repeat("many words ", 3000),
	} {
		if outline := h.outlined(t, callOf("anna"), textResult(text), 700); !strings.Contains(outline, want) {
			t.Errorf("the outline lacks %q: %.200s", want, outline)
		}
	}
}

// What read_result reads back is no longer saved.
func TestReadingBackIsSubtracted(t *testing.T) {
	t.Parallel()
	h := open(t, shape.Budgets{Default: 1000})
	call := callOf("anna")
	id := propose(t, h.outlined(t, call, textResult(rows(500)), 700))["id"]
	if call.Saved < 5000 || h.spool.Saved() != int64(call.Saved) {
		t.Errorf("saved %d, in all %d", call.Saved, h.spool.Saved())
	}
	if _, err := h.read(t, "anna", map[string]any{"id": id, "limit": 10}); err != nil {
		t.Fatal(err)
	}
	if n := h.spool.ReadBack(); n < 100 || n > 1000 {
		t.Errorf("read back %d", n)
	}
}
