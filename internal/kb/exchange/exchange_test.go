package exchange

import (
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

var whole = Item{
	ID: 12, Type: "docs", Title: "API: 設計", Description: "What it \"is\"\nand is not", Content: "# API\n\n---\n\ntext",
	Status: "In Progress", Priority: "HIGH", Category: "ＡＰＩ", Version: "1.10",
	Start: time.Date(2026, 1, 31, 0, 0, 0, 0, time.UTC), End: time.Date(2026, 2, 1, 9, 30, 0, 5, time.UTC),
	Tags: []string{"api", "no", "a, b", "設計"}, Related: []string{"docs-3", "日報-4"},
	CreatedAt: time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC), UpdatedAt: time.Date(2026, 1, 2, 3, 4, 5, 600, time.UTC),
}

// The file is for people: what can be plain is plain.
func TestEncode(t *testing.T) {
	const want = `---
id: 12
type: docs
title: "API: 設計"
description: "What it \"is\"\nand is not"
status: In Progress
priority: HIGH
category: ＡＰＩ
version: "1.10"
start_date: 2026-01-31T00:00:00Z
end_date: 2026-02-01T09:30:00.000000005Z
tags:
  - api
  - "no"
  - "a, b"
  - 設計
related:
  - docs-3
  - 日報-4
created_at: 2026-01-01T00:00:00Z
updated_at: 2026-01-02T03:04:05.0000006Z
---

# API

---

text
`
	if diff := cmp.Diff(want, string(Encode(whole))); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	if got := string(Encode(Item{})); got != "---\ntype: \"\"\ntitle: \"\"\n---\n" {
		t.Errorf("nothing is %q", got)
	}
}

// Files that people and other tools have written.
func TestDecode(t *testing.T) {
	for name, tt := range map[string]struct {
		file, text string
		want       Item
		dropped    []Dropped
	}{
		"no front matter":         {file: "n.md", text: "\n# A title #\n\ntext\n", want: Item{Title: "A title", Content: "\n# A title #\n\ntext"}},
		"an underlined heading":   {file: "n.md", text: "題名\n====\ntext", want: Item{Title: "題名", Content: "題名\n====\ntext"}},
		"no heading":              {file: "vault/日報 2026.md", text: "text\n", want: Item{Type: "vault", Title: "日報 2026", Content: "text"}},
		"code is no heading":      {file: "n.md", text: "```sh\n# not this\n```\n    # nor this\n#nor this\n## this", want: Item{Title: "this", Content: "```sh\n# not this\n```\n    # nor this\n#nor this\n## this"}},
		"a path of Windows":       {file: `C:\vault\docs\a.MD`, text: "x", want: Item{Type: "docs", Title: "a", Content: "x"}},
		"an empty file":           {file: "a.md", text: "", want: Item{Title: "a"}},
		"a mark of byte order":    {file: "a.md", text: "\ufeff---\ntitle: x\n---\ntext", want: Item{Title: "x", Content: "text"}},
		"tags with commas":        {file: "a.md", text: "---\ntitle: x\ntags: a, b,,設計 \n---\n", want: Item{Title: "x", Tags: []string{"a", "b", "設計"}}},
		"tags as a list":          {file: "a.md", text: "---\ntitle: x\ntags: [a, 'b c', 2026]\n---\n", want: Item{Title: "x", Tags: []string{"a", "b c", "2026"}}},
		"no tags":                 {file: "a.md", text: "---\ntitle: x\ntags:\nrelated: []\n---\n", want: Item{Title: "x"}},
		"values as written":       {file: "a.md", text: "---\ntitle: 007\nversion: 1.10\nstatus: yes\ncategory: ~\n---\n", want: Item{Title: "007", Version: "1.10", Status: "yes"}},
		"a text of several lines": {file: "a.md", text: "---\ntitle: x\ndescription: |\n  a\n  b\n---\n", want: Item{Title: "x", Description: "a\nb\n"}},
		"dates of notes": {
			file: "a.md", text: "---\ntitle: x\nstart_date: 2026-01-31\nend_date: 2026-01-31T09:30\ncreated_at: 2026-01-31T09:30:00+09:00\n---\n",
			want: Item{
				Title: "x", Start: time.Date(2026, 1, 31, 0, 0, 0, 0, time.UTC), End: time.Date(2026, 1, 31, 9, 30, 0, 0, time.UTC),
				CreatedAt: time.Date(2026, 1, 31, 0, 30, 0, 0, time.UTC),
			},
		},
		"other keys": {
			file: "a.md", text: "---\naliases: [x]\ntitle: y\n# a comment\ncssclasses:\n  deep: [1, 2]\ncontent: z\n---\ntext",
			want: Item{Title: "y", Content: "text"}, dropped: []Dropped{{"aliases", 2}, {"cssclasses", 5}, {"content", 7}},
		},
		"lines of Windows":       {file: "a.md", text: "---\r\ntitle: x\r\ntags:\r\n  - a\r\n---\r\n\r\na\r\nb\r\n", want: Item{Title: "x", Tags: []string{"a"}, Content: "a\r\nb"}},
		"closed with dots":       {file: "a.md", text: "---\ntitle: x\n...\ntext\n", want: Item{Title: "x", Content: "text"}},
		"empty front matter":     {file: "a.md", text: "---\n---\ntext", want: Item{Title: "a", Content: "text"}},
		"only comments":          {file: "a.md", text: "---\n# nothing\n---\n# T", want: Item{Title: "T", Content: "# T"}},
		"never closed":           {file: "a.md", text: "---\ntitle: x\n", want: Item{Title: "a", Content: "---\ntitle: x"}},
		"two rulers":             {file: "a.md", text: "---\njust a text\n---\nmore", want: Item{Title: "just a text", Content: "---\njust a text\n---\nmore"}},
		"the title is stated":    {file: "a.md", text: "---\ntitle: stated\n---\n# heading", want: Item{Title: "stated", Content: "# heading"}},
		"the title is null":      {file: "a.md", text: "---\ntitle:\ntype: null\n---\n# heading", want: Item{Title: "heading", Content: "# heading"}},
		"the type is stated":     {file: "vault/a.md", text: "---\ntype: docs\n---\n", want: Item{Type: "docs", Title: "a"}},
		"three hyphens in a row": {file: "a.md", text: "---\ntitle: x\n---\n---\n---\n", want: Item{Title: "x", Content: "---\n---"}},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := Decode(tt.file, []byte(tt.text))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(Record{Item: tt.want, Line: 1, Dropped: tt.dropped}, got, cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}

func TestDecodeSaysWhatIsWrong(t *testing.T) {
	for text, want := range map[string]string{
		"---\ntitle: x\nid: twelve\n---\n":                         `a.md, line 3: id must be a whole number, 1 or more, and is "twelve"`,
		"---\nid: 0\n---\n":                                        `a.md, line 2: id must be a whole number, 1 or more, and is "0"`,
		"---\n\nstart_date: tomorrow\n---\n":                       `a.md, line 3: start_date must be a date such as 2026-01-31 or a time such as 2026-01-31T09:30:00Z, and is "tomorrow"`,
		"---\ntitle: [a]\n---\n":                                   `a.md, line 2: title must be a single value`,
		"---\ntags: {a: b}\n---\n":                                 `a.md, line 2: tags must be a list, or words with commas between them`,
		"---\ntags:\n  - a\n  - [b]\n---\n":                        `a.md, line 4: tags must be a list of single values`,
		"---\ntitle: a\ntype: b\ntitle: c\n---\n":                  `a.md, line 4: title stands there twice`,
		"---\ntitle: *a\n---\n":                                    `a.md, line 2: anchors, aliases and tags of YAML are not read; text that begins with &, * or ! needs quotes`,
		"---\nx: " + strings.Repeat("[", 99) + "\n---\n":           `a.md, line 2: the front matter is nested deeper than any item needs`,
		"---\nx: [" + strings.Repeat("1,", 15_000) + "]\n---\n":    `a.md, line 2: the front matter has more values than any item needs`,
		"---\nx: \"" + strings.Repeat("long", 1<<18) + "\"\n---\n": `a.md, line 1: the front matter is larger than 1 MiB, which no item needs`,
		"---\ntitle: x\n---\n\nfine\nnot \xff fine\n":              `a.md, line 6: this is not UTF-8 text; save the file as UTF-8`,
	} {
		_, err := Decode("a.md", []byte(text))
		if err == nil || err.Error() != want {
			t.Errorf("%.40q:\n got %v\nwant %s", text, err, want)
		}
	}
	// What the parser says is its own; where, is ours.
	_, err := Decode("a.md", []byte("---\ntitle: x\ntags: [a\n---\n"))
	var problem *Problem
	if !errors.As(err, &problem) || problem.File != "a.md" || problem.Line != 3 || !strings.HasPrefix(err.Error(), "a.md, line 3: the front matter is not valid YAML: ") {
		t.Errorf("an open bracket: %v", err)
	}
}

// A bad line is told with its number, and those after it are read.
func TestReadLines(t *testing.T) {
	long := `{"title":"` + strings.Repeat("x", maxLine) + `"}`
	lines := []struct{ line, want string }{
		{`{"id":12,"type":"docs","title":"a","tags":["x"],"description":null,"start_date":"2026-01-31"}`, "a"},
		{``, ""},
		{`  {"title":"b","color":"red"}  `, "b, without color"},
		{`[1]`, "a.jsonl, line 4: each line must be a JSON object, an item"},
		{`{"title":`, "a.jsonl, line 5: this is not JSON: it ends too early"},
		{`{"title":"c"} {"title":"d"}`, "a.jsonl, line 6: something follows after the item; each must be on a line of its own"},
		{`{"title":7}`, "a.jsonl, line 7: title must be a text, and is 7"},
		{`{"title":"c","tags":"x"}`, `a.jsonl, line 8: tags must be a list of texts, and is "x"`},
		{`{"title":"c","id":1.5}`, "a.jsonl, line 9: id must be a whole number, 1 or more, and is 1.5"},
		{`{"title":"c","end_date":"x"}`, `a.jsonl, line 10: end_date must be a date such as 2026-01-31 or a time such as 2026-01-31T09:30:00Z, and is "x"`},
		{`{"title":"c","end_date":{"a":"` + strings.Repeat("b", 50) + `"}}`, `a.jsonl, line 11: end_date must be a text, and is {"a":"` + strings.Repeat("b", 34) + `…`},
		{`{"type":"docs"}`, "a.jsonl, line 12: title is missing; every item needs one"},
		{`{"title":"c","title":"d"}`, "a.jsonl, line 13: title stands there twice"},
		{"{\"title\":\"\xff\"}", "a.jsonl, line 14: this is not UTF-8 text; save the file as UTF-8"},
		{`{"title":"c","tags":["\ud83d"]}`, `a.jsonl, line 15: tags has half of a surrogate pair, and is ["\ud83d"]; write whole characters`},
		{long, "a.jsonl, line 16: the line is longer than 4 MiB, which no item needs"},
		{`{"title":"last","tags":[]}`, "last"},
	}
	var text, want []string
	for _, l := range lines {
		text = append(text, l.line)
		if l.want != "" {
			want = append(want, l.want)
		}
	}
	var got []string
	for record, err := range ReadLines("a.jsonl", strings.NewReader("\ufeff"+strings.Join(text, "\r\n"))) {
		switch {
		case err != nil:
			got = append(got, err.Error())
		case len(record.Dropped) > 0:
			got = append(got, record.Item.Title+", without "+record.Dropped[0].Key)
		default:
			got = append(got, record.Item.Title)
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

// What is wrong with the reader ends the reading.
func TestReadLinesFromWhatFails(t *testing.T) {
	broken := errors.New("the disk is on fire")
	var got []error
	for _, err := range ReadLines("a.jsonl", io.MultiReader(strings.NewReader("{\"title\":\"a\"}\n{"), iotest.ErrReader(broken))) {
		got = append(got, err)
	}
	if len(got) != 2 || got[0] != nil || !errors.Is(got[1], broken) {
		t.Error(got)
	}
	for range ReadLines("a.jsonl", strings.NewReader("{}\n{}\n")) {
		break // A reader that stops is not called again.
	}
}

func TestFileName(t *testing.T) {
	for _, tt := range []struct {
		item Item
		want string
	}{
		{Item{ID: 12, Type: "docs", Title: "API: the design"}, "docs/12-api-the-design.md"},
		{Item{ID: 1, Type: "日報", Title: "「設計」の話／その１"}, "日報/1-設計-の話-その１.md"},
		{Item{ID: 1, Type: "CON", Title: "con"}, "_con/1-con.md"},
		{Item{ID: 1, Type: "com1", Title: "x"}, "_com1/1-x.md"},
		{Item{ID: 1, Type: "coma", Title: "x"}, "coma/1-x.md"},
		{Item{ID: 1, Type: "../..", Title: "../../etc/passwd"}, "_/1-etc-passwd.md"},
		{Item{ID: 1, Type: "a/b", Title: "…"}, "a-b/1.md"},
		{Item{ID: 1, Type: "x", Title: strings.Repeat("長", 200)}, "x/1-" + strings.Repeat("長", 26) + ".md"},
		{Item{ID: 1, Type: "x", Title: "e\u0301te\u0301 \u0301"}, "x/1-e\u0301te\u0301.md"},
	} {
		if got := FileName(tt.item); got != tt.want {
			t.Errorf("%q, %q: got %q, want %q", tt.item.Type, tt.item.Title, got, tt.want)
		}
	}
}
