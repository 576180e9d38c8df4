package shape_test

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"genkan/internal/gateway"
	"genkan/internal/jsonrpc"
	"genkan/internal/shape"
	"genkan/internal/testkit"
	"genkan/internal/tokens"
)

// server is a source that answers with a result.
type server struct{ raw []byte }

func (s *server) Name() string                     { return "files" }
func (s *server) List(gateway.Kind) []gateway.Tool { return nil }
func (s *server) Handle(context.Context, *gateway.Call) (*gateway.Result, error) {
	return &gateway.Result{Raw: s.raw}, nil
}

// house is a corridor with a shaper.
type house struct {
	*shape.Shaper
	spool *shape.Spool
}

func open(t testing.TB, budgets shape.Budgets) *house {
	t.Helper()
	spool, err := shape.Open(t.TempDir()+"/results", shape.Bounds{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(spool.Close)
	return &house{shape.New(spool, budgets, nil, slog.New(slog.DiscardHandler)), spool}
}

// callOf makes a call of a client's agent.
func callOf(client string) *gateway.Call {
	call := &gateway.Call{Method: "tools/call", Kind: gateway.KindTool, Tool: &gateway.Tool{Name: "read", Definition: []byte(`{"name":"read"}`)}}
	call.Identity.ClientID, call.Via, call.Era = client, "http", gateway.EraModern
	return call
}

// pass sends a call through the shaper to a server that answers with raw.
func (h *house) pass(t testing.TB, call *gateway.Call, raw []byte) *gateway.Result {
	t.Helper()
	source := &server{raw}
	call.Tool.Source = source
	result, err := h.Middleware(source).Handle(t.Context(), call)
	if err != nil {
		t.Fatal(err)
	}
	return result
}

// texts returns the texts of a result's content.
func texts(t testing.TB, result *gateway.Result) (all []string) {
	t.Helper()
	var r struct{ Content []struct{ Text string } }
	if err := json.Unmarshal(result.Raw, &r); err != nil {
		t.Fatalf("%v: %.300s", err, result.Raw)
	}
	for _, c := range r.Content {
		all = append(all, c.Text)
	}
	return all
}

var (
	proposed = regexp.MustCompile(`read_result\((.*?[^\\]"(?:, (?:offset|limit): \d+)*)\)`)
	argument = regexp.MustCompile(`(\w+): ("(?:[^"\\]|\\.)*"|\d+)`)
)

// propose returns the arguments of the first call that a text proposes; nil if there
// is none.
func propose(t testing.TB, text string) map[string]any {
	t.Helper()
	call := proposed.FindStringSubmatch(text)
	if call == nil {
		return nil
	}
	args := map[string]any{}
	for _, a := range argument.FindAllStringSubmatch(call[1], -1) {
		args[a[1]] = json.RawMessage(a[2])
	}
	return args
}

func (h *house) read(t testing.TB, client string, args map[string]any) (*gateway.Result, error) {
	t.Helper()
	raw, err := json.Marshal(map[string]any{"name": shape.ToolName, "arguments": args})
	if err != nil {
		t.Fatal(err)
	}
	call := callOf(client)
	if call.Params, err = jsonrpc.ScanParams(raw); err != nil {
		t.Fatal(err)
	}
	tool := h.List(gateway.KindTool)[0]
	tool.Source = h
	call.Tool = &tool
	return h.Middleware(h).Handle(t.Context(), call)
}

// guidance is what an answer of read_result says about itself.
type guidance struct {
	Unit                 string
	Offset, Count, Total int
	Note                 string
	Guidance             string `json:"_guidance"`
}

// readAll follows the calls that answers propose, and returns their data.
func (h *house) readAll(t testing.TB, client string, budget int, args map[string]any) (data []string, last guidance) {
	t.Helper()
	for range 20_000 {
		result, err := h.read(t, client, args)
		if err != nil {
			t.Fatalf("%s: %v", args, err)
		}
		all := texts(t, result)
		if n := tokens.Count([]byte(strings.Join(all, "\n"))); n > budget {
			t.Fatalf("%s: an answer has %d tokens, more than %d", args, n, budget)
		}
		data = append(data, all[0])
		last = guidance{}
		if len(all) > 1 {
			if err := json.Unmarshal([]byte(all[1]), &last); err != nil {
				t.Fatal(err)
			}
		}
		if args = propose(t, last.Guidance); args == nil {
			return data, last
		}
	}
	t.Fatal("no end")
	return nil, last
}

// count is testkit.Count, but the race detector makes the full counts too slow.
func count(usual, full int) int {
	if testkit.RaceDetector() {
		return usual
	}
	return testkit.Count(usual, full)
}

func textResult(text string) []byte {
	raw, _ := json.Marshal(map[string]any{"content": []any{map[string]any{"type": "text", "text": text}}})
	return raw
}

func rows(n int) string {
	var b strings.Builder
	b.WriteString("[")
	for i := range n {
		if i > 0 {
			b.WriteString(", ")
		}
		fmt.Fprintf(&b, `{"id": %d, "name": "customer %d", "mail": "c%d@example.com", "city": "京都"}`, i, i, i)
	}
	return b.String() + "]"
}

// outlined returns the outline of an answer, which must be within an amount of tokens.
func (h *house) outlined(t testing.TB, call *gateway.Call, raw []byte, most int) string {
	t.Helper()
	result := h.pass(t, call, raw)
	if bytes.Equal(result.Raw, raw) {
		t.Fatal("the answer was sent whole")
	}
	if !json.Valid(result.Raw) {
		t.Fatalf("no JSON: %s", result.Raw)
	}
	outline := texts(t, result)[0]
	if n := tokens.Count([]byte(outline)); n > most {
		t.Errorf("the outline has %d tokens:\n%s", n, outline)
	}
	if call.Saved <= 0 || h.spool.Saved() < int64(call.Saved) {
		t.Errorf("saved %d, in all %d", call.Saved, h.spool.Saved())
	}
	return outline
}

func TestTextOfTenMegabytesIsReadLineByLine(t *testing.T) {
	t.Parallel()
	budget := count(30_000, 400_000)
	h := open(t, shape.Budgets{Default: budget})
	var b strings.Builder
	for i := 0; b.Len() < count(512<<10, 10<<20); i++ {
		fmt.Fprintf(&b, "%d the quick brown fox jumps over the lazy dog, 素早い茶色の狐\n", i)
	}
	text := b.String() + "the end"
	outline := h.outlined(t, callOf("anna"), textResult(text), 1800)
	for _, want := range []string{"0 the quick", "the end", "The first", "the last"} {
		if !strings.Contains(outline, want) {
			t.Errorf("%q is not in the outline:\n%s", want, outline)
		}
	}
	args := propose(t, outline)
	delete(args, "offset")
	delete(args, "limit")
	data, last := h.readAll(t, "anna", budget, args)
	if strings.Join(data, "") != text {
		t.Error("the slices are not the text")
	}
	if last.Unit != "lines" || last.Offset+last.Count != last.Total {
		t.Errorf("%+v", last)
	}
}

func TestRowsAreReadInPages(t *testing.T) {
	t.Parallel()
	budget := count(30_000, 400_000)
	h := open(t, shape.Budgets{Default: budget})
	n := count(4000, 100_000)
	text := rows(n)
	outline := h.outlined(t, callOf("anna"), textResult(text), 1800)
	if !strings.Contains(outline, fmt.Sprintf("/ array of %d items", n)) || !strings.Contains(outline, `"customer 1"`) {
		t.Error(outline)
	}
	args := propose(t, outline)
	if args["limit"] == nil {
		t.Error("no page is proposed", args)
	}
	delete(args, "limit")
	data, _ := h.readAll(t, "anna", budget, args)
	var items []json.RawMessage
	for _, page := range data {
		var some []json.RawMessage
		if err := json.Unmarshal([]byte(page), &some); err != nil {
			t.Fatal(err)
		}
		items = append(items, some...)
	}
	var want []json.RawMessage
	if err := json.Unmarshal([]byte(text), &want); err != nil {
		t.Fatal(err)
	}
	if len(items) != len(want) {
		t.Fatalf("%d items, want %d", len(items), len(want))
	}
	for i := range want {
		if !bytes.Equal(items[i], want[i]) {
			t.Fatalf("item %d is %s, want %s", i, items[i], want[i])
		}
	}
	args["unit"] = "bytes"
	if data, _ = h.readAll(t, "anna", budget, args); strings.Join(data, "") != text {
		t.Error("the bytes are not the text")
	}
}

func TestStructuredContentIsOutlinedByItsKeys(t *testing.T) {
	t.Parallel()
	h := open(t, shape.Budgets{Default: 5000})
	n := testkit.Count(600, 3000)
	value := `{"total":3000,"items":` + rows(n) + `,"a/b":{"~":"x"},"note":"` + strings.Repeat("long ", 2000) + `"}`
	raw := []byte(`{"content":[{"type":"text","text":` + string(jsonrpc.AppendQuoted(nil, value)) + `}],"structuredContent":` + value + `,"_meta":{"k":1}}`)
	call := callOf("anna")
	outline := h.outlined(t, call, raw, 1000)
	for _, want := range []string{"/total 3000", fmt.Sprintf("/items array of %d items", n), "/items/0 {", `/a~1b {"~":"x"}`, "/note string of 10.0 kB", `pointer: "/items"`} {
		if !strings.Contains(outline, want) {
			t.Errorf("%q is not in the outline:\n%s", want, outline)
		}
	}
	result := h.pass(t, call, raw)
	if jsonrpc.Lookup(result.Raw, "structuredContent") != nil || string(jsonrpc.Lookup(result.Raw, "_meta")) != `{"k":1}` || result.IsError {
		t.Errorf("%.200s", result.Raw)
	}
	id := propose(t, outline)["id"]
	for pointer, want := range map[string]string{
		"/a~1b/~0": "x", "/total": "3000", fmt.Sprintf("/items/%d/id", n-1): strconv.Itoa(n - 1),
		"/items/7": `{"id": 7, "name": "customer 7", "mail": "c7@example.com", "city": "京都"}`,
	} {
		result, err := h.read(t, "anna", map[string]any{"id": id, "pointer": pointer})
		if err != nil {
			t.Errorf("%s: %v", pointer, err)
			continue
		}
		got := texts(t, result)[0]
		if strings.HasPrefix(want, "{") {
			got, want = compact(t, got), compact(t, want)
		}
		if got != want {
			t.Errorf("%s is %s, want %s", pointer, got, want)
		}
	}
	// The whole result is there, byte for byte.
	data, _ := h.readAll(t, "anna", 5000, map[string]any{"id": id, "part": "raw", "unit": "bytes"})
	if strings.Join(data, "") != string(raw) {
		t.Error("the bytes are not the result")
	}
}

// What an outline proposes is a page, also of an object and of what an outline found in it.
func TestProposedCallsReadAPage(t *testing.T) {
	t.Parallel()
	h := open(t, shape.Budgets{})
	keys := map[string]int{}
	for i := range testkit.Count(6000, 20_000) {
		keys[fmt.Sprintf("key %d", i)] = i
	}
	wide, _ := json.Marshal(keys)
	list := rows(testkit.Count(1500, 5000))
	for name, text := range map[string]string{
		"object": string(wide), "array": list, "in an object": `{"a":1,"list":` + list + `}`, "in arrays": `[[` + list + `,2],3]`,
	} {
		args := propose(t, texts(t, h.pass(t, callOf("anna"), textResult(text)))[0])
		for range 3 {
			result, err := h.read(t, "anna", args)
			if err != nil {
				t.Fatal(err)
			}
			all := texts(t, result)
			if n := tokens.Count([]byte(all[0])); n > 4000 {
				t.Errorf("%s: %v reads %d tokens", name, args, n)
			}
			var about guidance
			if err := json.Unmarshal([]byte(all[1]), &about); err != nil {
				t.Fatal(err)
			}
			args = propose(t, about.Guidance)
		}
	}
}

func compact(t *testing.T, text string) string {
	t.Helper()
	var b bytes.Buffer
	if err := json.Compact(&b, []byte(text)); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestTextWithoutLinesIsReadInBytes(t *testing.T) {
	t.Parallel()
	h := open(t, shape.Budgets{Default: 2000})
	text := strings.Repeat("改行のない長い文章です。", 3000)
	args := propose(t, h.outlined(t, callOf("anna"), textResult(text), 700))
	if unit := fmt.Sprintf("%s", args["unit"]); unit != `"bytes"` {
		t.Errorf("the outline proposes the unit %s", unit)
	}
	args["offset"] = 0
	delete(args, "limit")
	data, last := h.readAll(t, "anna", 2000, args)
	if strings.Join(data, "") != text || last.Unit != "bytes" {
		t.Error("the slices are not the text")
	}
}

func TestLongLineAmongShortOnesIsReadInBytes(t *testing.T) {
	t.Parallel()
	h := open(t, shape.Budgets{Default: 1000})
	text := strings.Repeat("short\n", 3000) + strings.Repeat("x1y2 ", 3000) + "\n" + strings.Repeat("short\n", 3000)
	args := propose(t, h.outlined(t, callOf("anna"), textResult(text), 700))
	delete(args, "limit")
	args["offset"], args["unit"] = 0, "lines"
	data, _ := h.readAll(t, "anna", 1000, args)
	if strings.Join(data, "") != text {
		t.Error("the slices are not the text")
	}
}

func TestImagesAreKept(t *testing.T) {
	t.Parallel()
	h := open(t, shape.Budgets{})
	image := `{"type":"image","mimeType":"image/png","data":"` + base64.StdEncoding.EncodeToString(bytes.Repeat([]byte("png!"), testkit.Count(40_000, 200_000))) + `"}`
	n := testkit.Count(1500, 5000)
	raw := []byte(`{"content":[` + image + `]}`)
	if result := h.pass(t, callOf("anna"), raw); !bytes.Equal(result.Raw, raw) {
		t.Error("an image alone was changed")
	}
	link := `{"type":"resource_link","uri":"file:///a","name":"a"}`
	raw = []byte(`{"content":[` + image + `,{"type":"text","text":` + string(jsonrpc.AppendQuoted(nil, rows(n))) + `},` + link + `]}`)
	result := h.pass(t, callOf("anna"), raw)
	var kept []string
	_ = jsonrpc.Elements(jsonrpc.Lookup(result.Raw, "content"), func(item []byte) bool { kept = append(kept, string(item)); return true })
	if len(kept) != 3 || kept[1] != image || kept[2] != link || !strings.Contains(kept[0], fmt.Sprintf("array of %d", n)) {
		t.Errorf("%d items, %.300s", len(kept), result.Raw)
	}
}

func TestImageOverTheBudgetIsDescribed(t *testing.T) {
	t.Parallel()
	h := open(t, shape.Budgets{Default: 1000})
	data := base64.StdEncoding.EncodeToString(bytes.Repeat([]byte("0123456789ab"), 70_000))
	outline := h.outlined(t, callOf("anna"), []byte(`{"content":[{"type":"image","mimeType":"image/png","data":"`+data+`"}]}`), 600)
	if !strings.Contains(outline, `/mimeType "image/png"`) || !strings.Contains(outline, "/data string of 1.1 MB") {
		t.Error(outline)
	}
	h.Shaper = shape.New(h.spool, shape.Budgets{Default: 100_000}, nil, slog.New(slog.DiscardHandler))
	read, _ := h.readAll(t, "anna", 100_000, propose(t, outline))
	if strings.Join(read, "") != data {
		t.Error("the slices are not the data")
	}
}

func TestManySmallItemsAreKeptFromTheFirstOn(t *testing.T) {
	t.Parallel()
	h := open(t, shape.Budgets{Default: 2000})
	var items []string
	for i := range 600 {
		items = append(items, fmt.Sprintf(`{"type":"text","text":"item %d"}`, i))
	}
	raw := []byte(`{"content":[` + strings.Join(items, ",") + `]}`)
	result := h.pass(t, callOf("anna"), raw)
	all := texts(t, result)
	if n := tokens.Count([]byte(strings.Join(all, "\n"))); n > 2000 || len(all) < 20 || all[1] != "item 0" {
		t.Errorf("%d items of %d tokens", len(all), n)
	}
	kept := len(all) - 1
	if !strings.Contains(all[0], fmt.Sprintf("Part %d:\nitem %d\n\nPart", kept, kept)) {
		t.Error(all[0])
	}
	next := propose(t, all[0])
	if rest, _ := h.readAll(t, "anna", 2000, next); !strings.HasPrefix(rest[0], "["+items[kept+5]) || !strings.HasSuffix(rest[len(rest)-1], items[599]+"]") {
		t.Errorf("%v reads %.200s", next, rest)
	}
	id := next["id"]
	data, _ := h.readAll(t, "anna", 2000, map[string]any{"id": id, "part": "raw", "pointer": "/content"})
	if got := "[" + strings.ReplaceAll(strings.Trim(strings.Join(data, ""), "[]"), "][", ",") + "]"; got != "["+strings.Join(items, ",")+"]" {
		t.Errorf("%.200s", got)
	}
}

func TestStructuredContentThatOnlyWrapsATextIsNotOutlined(t *testing.T) {
	t.Parallel()
	h := open(t, shape.Budgets{Default: 1000})
	text := strings.Repeat("a line\n", 5000) + "a needle\n"
	quoted, err := json.Marshal(text)
	if err != nil {
		t.Fatal(err)
	}
	outline := texts(t, h.pass(t, callOf("anna"), []byte(`{"content":[{"type":"text","text":`+string(quoted)+`}],"structuredContent":{"content":`+string(quoted)+`}}`)))[0]
	if strings.Contains(outline, "structuredContent") || strings.Contains(outline, "pointer") || !strings.Contains(outline, "5001 lines") {
		t.Errorf("the outline is %s", outline)
	}
	found, err := h.read(t, "anna", map[string]any{"id": propose(t, outline)["id"], "grep": "NEEDLE"})
	if err != nil || !strings.HasPrefix(texts(t, found)[0], "5000: a needle\n") {
		t.Errorf("found %+v, %v", found, err)
	}
}

func TestAnswerThatCannotBeStoredIsCutIfItIsFarTooLarge(t *testing.T) {
	t.Parallel()
	dir := t.TempDir() + "/results"
	spool, err := shape.Open(dir, shape.Bounds{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(spool.Close)
	if err := errors.Join(os.RemoveAll(dir), os.WriteFile(dir, nil, 0o600)); err != nil { // nothing can be stored
		t.Fatal(err)
	}
	h := &house{shape.New(spool, shape.Budgets{Default: 1000}, nil, slog.New(slog.DiscardHandler)), spool}
	large, less := textResult(rows(5000)), textResult(rows(50))
	outline := texts(t, h.pass(t, callOf("anna"), large))[0]
	if !strings.HasPrefix(outline, "The call was carried out.") || strings.Contains(outline, "read_result") || tokens.Count([]byte(outline)) > 1000 {
		t.Errorf("got %s", outline)
	}
	if got := h.pass(t, callOf("anna"), less); !bytes.Equal(got.Raw, less) {
		t.Errorf("a result of a few budgets is %s", got.Raw)
	}
}
