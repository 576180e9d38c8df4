package mcpserver_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"genkan/internal/testkit"
)

type page struct {
	names []string
	next  string
}

// list asks for one page in either era.
func (h *house) list(era, session, cursor string) page {
	h.tb.Helper()
	params := ""
	if cursor != "" {
		quoted, _ := json.Marshal(cursor)
		params = `"cursor":` + string(quoted)
	}
	r := modern("1", "tools/list", params, "")
	if era == "legacy" {
		r = legacy(session, "1", "tools/list", "{"+params+"}")
	}
	got := h.send(r)
	var m struct {
		Result struct {
			Tools []struct {
				Name string `json:"name"`
			} `json:"tools"`
			NextCursor string `json:"nextCursor"`
		} `json:"result"`
	}
	if err := json.Unmarshal([]byte(got.last()), &m); err != nil || got.status != http.StatusOK || errorCode(got.last()) != 0 {
		h.tb.Fatalf("tools/list with cursor %q: %d %s", cursor, got.status, got.body)
	}
	p := page{next: m.Result.NextCursor}
	for _, tool := range m.Result.Tools {
		p.names = append(p.names, tool.Name)
	}
	return p
}

// all follows the cursors to the end.
func (h *house) all(era, session string) []string {
	h.tb.Helper()
	var names []string
	for p := h.list(era, session, ""); ; p = h.list(era, session, p.next) {
		names = append(names, p.names...)
		if p.next == "" {
			return names
		}
	}
}

// TestPagination: with a page size, a client that follows the cursors sees one
// list, even if it changes meanwhile.
func TestPagination(t *testing.T) {
	t.Parallel()
	h := openHouse(t, servers{"fault": child(t, "-tools", "9")}, map[string]any{"pageSize": 4})
	session := h.initialize(h.token)
	for _, era := range []string{"legacy", "modern"} {
		t.Run(era, func(t *testing.T) {
			whole := h.all(era, session)
			if len(whole) != 21 {
				t.Fatalf("%d tools: %v", len(whole), whole)
			}
			first := h.list(era, session, "")
			if len(first.names) != 4 || first.next == "" {
				t.Fatalf("the first page is %+v", first)
			}
			second := h.list(era, session, first.next)
			if fmt.Sprint(second.names) != fmt.Sprint(whole[4:8]) {
				t.Errorf("the second page is %v, want %v", second.names, whole[4:8])
			}
			// Another list begins; who is in the middle of this one goes on in it.
			h.send(modernCall("1", "fault__add_tool", `{"name":"new_`+era+`"}`)).want(t, http.StatusOK, 0)
			testkit.Eventually(t, func() bool { return len(h.all(era, session)) == 22 }, "the new tool is listed")
			var rest []string
			for p := second; p.next != ""; {
				p = h.list(era, session, p.next)
				rest = append(rest, p.names...)
			}
			if fmt.Sprint(rest) != fmt.Sprint(whole[8:]) {
				t.Errorf("the rest of the former list is %v, want %v", rest, whole[8:])
			}
			for range testkit.Count(0, 5) {
				h.send(modernCall("1", "fault__remove_tool", `{"name":"new_`+era+`"}`))
				testkit.Eventually(t, func() bool { return len(h.all(era, session)) == 21 }, "the tool is gone")
				h.send(modernCall("1", "fault__add_tool", `{"name":"new_`+era+`","description":"`+strings.Repeat("x", 10)+`"}`))
				testkit.Eventually(t, func() bool { return len(h.all(era, session)) == 22 }, "the tool is back")
			}
			h.send(modernCall("1", "fault__remove_tool", `{"name":"new_`+era+`"}`))
			testkit.Eventually(t, func() bool { return len(h.all(era, session)) == 21 }, "the tool is gone")
		})
	}
	for _, cursor := range []string{`"nonsense"`, `""`, `"!!!"`, `7`, `null`, `{}`, `"AAAA"`} {
		h.send(modern("1", "tools/list", `"cursor":`+cursor, "")).want(t, http.StatusOK, -32602)
		h.send(legacy(session, "1", "tools/list", `{"cursor":`+cursor+`}`)).want(t, http.StatusOK, -32602)
	}
}

// TestListIsTheServersOwn: but for the name, a definition is what the server
// sent, and without a prefix it is that to the byte.
func TestListIsTheServersOwn(t *testing.T) {
	t.Parallel()
	h := openHouse(t, servers{
		"bare":     with(child(t, "-era", "modern"), map[string]any{"prefix": ""}),
		"prefixed": with(sibling(t, "-era", "legacy"), map[string]any{"tools": map[string]any{"allow": []string{"e*", "raw"}, "deny": []string{"env"}}}),
	})
	const definition = `"description":"Returns the given text unchanged.","inputSchema":{"type":"object","properties":{"text":{"type":"string","description":"What to return."}},"required":["text"]},"annotations":{"readOnlyHint":true}}`
	list := h.send(modern("1", "tools/list", "", "")).last()
	for _, want := range []string{`{"name":"echo",` + definition, `{"name":"prefixed__echo",` + definition} {
		if !strings.Contains(list, want) {
			t.Errorf("the list lacks %s", want)
		}
	}
	names := h.all("modern", "")
	if got := strings.Join(names, " "); !strings.HasSuffix(got, " prefixed__echo prefixed__raw prefixed__elicit read_result") {
		t.Errorf("the filter let through %s", got)
	}
	// A filtered tool does not exist for clients.
	hidden := h.send(modernCall("1", "prefixed__env", `{}`))
	unknown := h.send(modernCall("1", "prefixed__nev", `{}`))
	suggestion := regexp.MustCompile(` Did you mean \S+\?`)
	if said := suggestion.FindString(unknown.last()); strings.Contains(said, "env") {
		t.Errorf("it is suggested:%s", said)
	}
	if suggestion.ReplaceAllString(strings.ReplaceAll(hidden.last(), "env", "nev"), "") != suggestion.ReplaceAllString(unknown.last(), "") {
		t.Errorf("hidden: %s\nunknown: %s", hidden.last(), unknown.last())
	}
}

// TestListChangedIsCoalesced: many changes in a moment are told of a few times
// at most, and the last one is never lost.
func TestListChangedIsCoalesced(t *testing.T) {
	t.Parallel()
	h := openHouse(t, servers{"fault": child(t)})
	stream := h.open(modern("9", "subscriptions/listen", `"notifications":{"toolsListChanged":true}`, ""))
	stream.next() // the acknowledgement
	// Over one pipe the calls arrive faster than lists are read.
	p := h.stdio()
	const changes = 200
	for i := range changes {
		p.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"fault__add_tool","arguments":{"name":"t%d"}}}`, i, i))
	}
	for range changes {
		p.next()
	}
	told := 0
	for len(h.all("modern", "")) < 11+changes {
		stream.next() // or the test hangs: the last change was not told of
		told++
	}
	if told >= changes/2 {
		t.Errorf("%d changes were told of %d times", changes, told)
	}
}

// TestAListAsItIsAskedFor: a list is one event for clients that name streams, and
// plain JSON for all others; either is whole at once.
func TestAListAsItIsAskedFor(t *testing.T) {
	t.Parallel()
	h := openHouse(t, servers{"fault": child(t)}, nil)
	session := h.initialize(h.token)
	for _, era := range []string{"legacy", "modern"} {
		for accept, want := range map[string]string{
			"application/json, text/event-stream": "text/event-stream",
			"application/json":                    "application/json",
			"*/*":                                 "application/json",
			"":                                    "application/json",
		} {
			t.Run(era+" "+accept, func(t *testing.T) {
				r := modern("1", "tools/list", "", "")
				if era == "legacy" {
					r = legacy(session, "1", "tools/list", "{}")
				}
				r.header["Accept"] = []string{accept}
				got := h.send(r)
				if is := got.header.Get("Content-Type"); is != want {
					t.Errorf("it is %q, not %q", is, want)
				}
				if length := got.header.Get("Content-Length"); length != strconv.Itoa(len(got.body)) {
					t.Errorf("its length is said to be %q, and is %d", length, len(got.body))
				}
				if len(got.messages) != 1 || !strings.Contains(got.last(), `"fault__echo"`) || !json.Valid([]byte(got.last())) {
					t.Errorf("it is %s", got.body)
				}
			})
		}
	}
}
