package shape

import (
	"encoding/json"
	"strings"
	"testing"

	"genkan/internal/jsonrpc"
	"genkan/internal/tokens"
)

func FuzzPointer(f *testing.F) {
	f.Add([]byte(`{"a/b":[1,{"~":"x"}]}`), "/a~1b/1/~0")
	f.Add([]byte(`[[],{}]`), "/0/-1")
	f.Add([]byte(`{"":{"":0}}`), "//")
	f.Fuzz(func(t *testing.T, value []byte, pointer string) {
		if !isJSON(value) {
			return
		}
		found, err := resolve(value, pointer)
		if err == nil && !json.Valid(found) {
			t.Errorf("%q in %s is %s", pointer, value, found)
		}
	})
}

// Every pointer of an outline that is shown whole leads to a value.
func FuzzOutline(f *testing.F) {
	f.Add([]byte(`{"items":[{"id":1,"name":"`+strings.Repeat("long ", 100)+`"},2,3],"a/b":{"~c":[`+strings.Repeat("1,", 200)+`1]}}`), 300)
	f.Add([]byte(`[`+strings.Repeat(`"\u3042",`, 100)+`0]`), 50)
	f.Fuzz(func(t *testing.T, value []byte, room int) {
		if room = min(max(room, 20), 2000); !isJSON(value) {
			return
		}
		l := labels{}
		outline, next := l.outlineJSON(value, "", room)
		if n := tokens.Count([]byte(outline)); n > room+200 {
			t.Errorf("%d tokens, %d wanted: %s", n, room, outline)
		}
		if len(next.pointer) < maxPointer {
			if found, err := resolve(value, next.pointer); err != nil && !strings.Contains(next.pointer, "//") && next.pointer != "" {
				t.Errorf("%q leads to %s, %v", next.pointer, found, err)
			}
		}
	})
}

// The slices of a text are the text, whatever their size.
func FuzzSlices(f *testing.F) {
	f.Add("one\ntwo\r\n\nfour", 1, 300, true)
	f.Add(strings.Repeat("日本語", 30), 7, 500, false)
	f.Fuzz(func(t *testing.T, text string, limit, room int, lines bool) {
		limit, room = min(max(limit, 1), 1<<20), min(max(room, 0), 3000)
		raw := jsonrpc.AppendQuoted(nil, text)
		decoded, _ := jsonrpc.Unquote(raw)
		r := request{id: "x", limit: max(limit, len(decoded)/500), unit: unitBytes}
		if lines {
			r.unit = unitLines
		}
		var got strings.Builder
		l := labels{}
		for range len(decoded) + 2 {
			s, err := l.read(&document{text: decoded}, r, room)
			if err != nil {
				t.Fatal(err)
			}
			got.Write(s.data)
			if s.next == nil {
				break
			}
			r = *s.next
		}
		if got.String() != string(decoded) {
			t.Errorf("%q became %q", decoded, got.String())
		}
	})
}
