package exchange

import (
	"bytes"
	"path"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"
)

// nasty are pieces of text that YAML, Markdown, JSON or a line-based reader could take
// for something of its own.
var nasty = []string{
	"---", "\n---\n", "...", "\n", "\r\n", "\r", "\t", " ", "  ", ": ", " #", "#", "\"", "'", "\\", "\\n", "`", "|", ">", "- ", "-", "? ",
	"[", "]", "{", "}", ",", "&a", "*a", "!!str", "%", "@", "<<", "true", "null", "~", "no", "1.10", "007", "0x1f", "1e3", "2026-01-01", ".inf",
	"日本語", "「設計」", "ＡＰＩ", "が", "か\u3099", "👩‍👩‍👧", "\u2028", "\u0085", "\u00a0", "\ufeff", "\u200b", "\x00", "\x1b", "\x7f", "\ufffd", "\uffff",
	"a", "b c", "key: value", "title: x", "```", "# heading", "<b>", "é", "e\u0301", "\U0001F600", "\U000E0001", "ſ", "İ",
}

func anyText() *rapid.Generator[string] {
	return rapid.OneOf(
		rapid.Map(rapid.SliceOfN(rapid.SampledFrom(nasty), 0, 6), func(parts []string) string { return strings.Join(parts, "") }),
		rapid.String(),
	)
}

func anyItem() *rapid.Generator[Item] {
	return rapid.Custom(func(t *rapid.T) Item {
		text := anyText()
		anyTime := rapid.Custom(func(t *rapid.T) time.Time {
			if rapid.Bool().Draw(t, "unset") {
				return time.Time{}
			}
			return time.Unix(rapid.Int64Range(-60_000_000_000, 250_000_000_000).Draw(t, "s"), rapid.Int64Range(0, 999_999_999).Draw(t, "ns")).UTC()
		})
		i := Item{
			ID: rapid.Int64Min(0).Draw(t, "id"), Type: text.Draw(t, "type"), Title: text.Draw(t, "title"),
			Description: text.Draw(t, "description"), Content: text.Draw(t, "content"), Status: text.Draw(t, "status"),
			Priority: text.Draw(t, "priority"), Category: text.Draw(t, "category"), Version: text.Draw(t, "version"),
			Start: anyTime.Draw(t, "start"), End: anyTime.Draw(t, "end"),
			CreatedAt: anyTime.Draw(t, "created"), UpdatedAt: anyTime.Draw(t, "updated"),
			Tags: rapid.SliceOfN(text, 0, 4).Draw(t, "tags"), Related: rapid.SliceOfN(text, 0, 4).Draw(t, "related"),
			Former: rapid.SliceOfN(text, 0, 2).Draw(t, "former"),
		}
		return i
	})
}

// What is written is read back exactly, whatever the texts are.
func TestAnyItemComesBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		item := anyItem().Draw(t, "item")
		file := Encode(item)
		record, err := Decode("docs/1-a.md", file)
		if err != nil {
			t.Fatalf("%v\n%s", err, file)
		}
		if diff := cmp.Diff(Record{Item: item, Line: 1}, record, cmpopts.EquateEmpty()); diff != "" {
			t.Fatalf("-written +read:\n%s\n%s", diff, file)
		}
		if again := Encode(record.Item); !bytes.Equal(file, again) {
			t.Fatalf("written again, it differs:\n%s\n%s", file, again)
		}
	})
}

func TestAnyLinesComeBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		items := rapid.SliceOfN(anyItem(), 0, 5).Draw(t, "items")
		var file bytes.Buffer
		w := NewWriter(&file)
		for _, item := range items {
			if err := w.Write(item); err != nil {
				t.Fatal(err)
			}
		}
		if err := w.Flush(); err != nil {
			t.Fatal(err)
		}
		if n := strings.Count(file.String(), "\n"); n != len(items) {
			t.Fatalf("%d lines for %d items", n, len(items))
		}
		i := 0
		for record, err := range ReadLines("a.jsonl", &file) {
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(Record{Item: items[i], Line: i + 1}, record, cmpopts.EquateEmpty()); diff != "" {
				t.Fatalf("-written +read:\n%s", diff)
			}
			i++
		}
		if i != len(items) {
			t.Fatalf("%d of %d items were read", i, len(items))
		}
	})
}

// So is the state, beside items.
func TestAnyStateComesBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		item := anyItem().Draw(t, "item")
		state := State{UpdatedBy: item.Status, UpdatedAt: item.UpdatedAt, Tags: item.Tags, Related: item.Related, Content: item.Content}
		file := EncodeState(state)
		record, err := Decode("docs/"+StateFile, file)
		if diff := cmp.Diff(Record{State: &state, Line: 1}, record, cmpopts.EquateEmpty()); err != nil || diff != "" {
			t.Fatalf("%v, -written +read:\n%s\n%s", err, diff, file)
		}
		var lines bytes.Buffer
		w := NewWriter(&lines)
		for _, write := range []func() error{func() error { return w.Write(item) }, func() error { return w.WriteState(state) }, w.Flush} {
			if err := write(); err != nil {
				t.Fatal(err)
			}
		}
		want := []Record{{Item: item, Line: 1}, {State: &state, Line: 2}}
		for record, err := range ReadLines("a.jsonl", &lines) {
			if diff := cmp.Diff(want[0], record, cmpopts.EquateEmpty()); err != nil || diff != "" {
				t.Fatalf("%v, -written +read:\n%s", err, diff)
			}
			want = want[1:]
		}
		if len(want) > 0 {
			t.Fatalf("%v was not read", want)
		}
	})
}

// A file name is a folder and a file, short, and safe on every system; ids make it
// unique even where case does not count.
func TestAnyFileName(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		item := Item{ID: rapid.Int64Min(0).Draw(t, "id"), Type: anyText().Draw(t, "type"), Title: anyText().Draw(t, "title")}
		name := FileName(item)
		parts := strings.Split(name, "/")
		if len(parts) != 2 || path.Clean(name) != name || !strings.HasSuffix(name, ".md") {
			t.Fatalf("%q", name)
		}
		for _, part := range parts {
			if part == "" || len(part) > 110 || strings.ContainsAny(part, "\\:*?\"<>|\x00 \n") || strings.HasPrefix(part, ".") || strings.HasSuffix(part, ".") {
				t.Fatalf("%q in %q", part, name)
			}
		}
		if isDevice(parts[0]) {
			t.Fatalf("%q is a device", parts[0])
		}
		other := item
		other.ID++
		if strings.EqualFold(path.Base(FileName(other)), parts[1]) || FileName(item) != name {
			t.Fatalf("%q is not the name of one item", name)
		}
	})
}

// Whatever is read does not crash, and what was read can be written and read again.
func FuzzDecode(f *testing.F) {
	f.Add("a.md", "---\ntitle: x\ntags: [a, b]\n---\n\ntext\n")
	f.Add("docs/b.md", "# heading\n\ntext")
	f.Add("c.md", "---\r\ntitle: 'x'\r\nrelated:\r\n  - a-1\r\n---\r\ntext\r\n")
	f.Add("d.md", "---\n? [a]\n: {b: c}\n...\n")
	f.Fuzz(func(t *testing.T, name, text string) {
		record, err := Decode(name, []byte(text))
		if err != nil {
			return
		}
		again, err := Decode("x.md", Encode(record.Item))
		if err != nil {
			t.Fatalf("%v\n%s", err, Encode(record.Item))
		}
		if diff := cmp.Diff(record.Item, again.Item, cmpopts.EquateEmpty()); diff != "" {
			t.Fatalf("-first +again:\n%s\n%s", diff, Encode(record.Item))
		}
	})
}

func FuzzReadLines(f *testing.F) {
	f.Add("{\"title\":\"x\"}\n\n{\"id\":0}\n[]\n")
	f.Fuzz(func(t *testing.T, text string) {
		for record, err := range ReadLines("x.jsonl", strings.NewReader(text)) {
			if err != nil {
				continue
			}
			var b bytes.Buffer
			w := NewWriter(&b)
			if err := w.Write(record.Item); err != nil {
				t.Fatal(err)
			}
			_ = w.Flush()
			for again, err := range ReadLines("y.jsonl", &b) {
				if diff := cmp.Diff(record.Item, again.Item, cmpopts.EquateEmpty()); err != nil || diff != "" {
					t.Fatalf("%v, -first +again:\n%s", err, diff)
				}
			}
		}
	})
}
