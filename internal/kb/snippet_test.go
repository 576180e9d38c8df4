package kb

import (
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"
)

func TestSnippet(t *testing.T) {
	long := strings.Repeat("前", 100)
	filler := strings.Repeat("nothing to see here. ", 200)
	for _, c := range []struct{ about, text, query, want string }{
		{"a word", "one two three", "two", "one **two** three"},
		{"all matches, on one line", "one two\n\n three\ttwo", "three two", "one **two** **three** **two**"},
		{"control characters", "one\x00two \x1b three", "three", "one two **three**"},
		{"inflections", "Retries, retried, retry; retro", "retries", "**Retries**, **retried**, **retry**; retro"},
		{"a doubled letter", "running runs; rung", "run x", "**running** **runs**; rung"},
		{"accents", "un Café noir", "cafe", "un **Café** noir"},
		{"an accent of its own", "cafe\u0301s", "café", "**cafe\u0301s**"},
		{"the last word may go on", "designer of signs", "des", "**designer** of signs"},
		{"only the last one", "designer of signs", "des sign", "designer of **signs**"},
		{"within a word, if nowhere else", "a design", "sign", "a de**sign**"},
		{"not within a word", "a design and a sign", "sign", "a design and a **sign**"},
		{"width", "x ｶﾞｲﾄﾞ ＡＰＩ y", "ガイド api", "x **ｶﾞｲﾄﾞ** **ＡＰＩ** y"},
		{"a part of a run", "x ｶﾞｲﾄﾞ y", "ガ", "x **ｶﾞ**ｲﾄﾞ y"},
		{"a part of a letter", "ﬁnd", "f", "**ﬁ**nd"},
		{"punctuation of full width", "（設計）：検索！", "検索", "（設計）：**検索**！"},
		{"scripts side by side", "新しいAPI設計", "api設計", "新しい**API****設計**"},
		{"a long mark less", "ユーザ管理", "ユーザー管理", "**ユーザ****管理**"},
		{"a long mark more", "ユーザー管理", "ユーザ", "**ユーザー**管理"},
		{"the long mark is an end", "ユーザビリティ", "ユーザー", "ユーザビリティ"},
		{"parts of a run", "実装と検索", "検索の実装", "**実装**と**検索**"},
		{"around", long + "鍵" + long + long, "鍵", "…" + strings.Repeat("前", 40) + "**鍵**" + strings.Repeat("前", 119) + "…"},
		{
			"not in the middle of a word", filler + "the key. " + filler, "key",
			"…to see here. nothing to see here. the **key**. nothing to see here. nothing to see here. nothing to see here. nothing to see here. nothing to see here. nothing to s…",
		},
		{
			"where the most words are", "key " + filler + "lock key " + filler, "key lock",
			"…to see here. nothing to see here. **lock** **key** nothing to see here. nothing to see here. nothing to see here. nothing to see here. nothing to see here. nothing to s…",
		},
		{"far away", strings.Repeat(filler, 20) + "鍵", "鍵", "…to see here. nothing to see here. **鍵**"},
		{"nothing", filler, "key", strings.Repeat("nothing to see here. ", 8)[:160] + "…"},
		{"a query without words", "one two", "!", "one two"},
		{"a space at the end", "one two ", "two", "one **two**"},
	} {
		got := newMarker(c.query).snippet(&Item{Content: c.text})
		if got != c.want {
			t.Errorf("%s:\n%q, want\n%q", c.about, got, c.want)
		}
	}
}

func TestSnippetOfItem(t *testing.T) {
	item := &Item{Title: "the key", Description: "about locks", Content: "a key and a lock"}
	for query, want := range map[string]string{
		"lock": "about **locks**", "key": "a **key** and a lock", "the": "**the** key", "door": "about locks",
	} {
		if got := newMarker(query).snippet(item); got != want {
			t.Errorf("%q: %q, want %q", query, got, want)
		}
	}
	if got := newMarker("door").snippet(&Item{}); got != "" {
		t.Errorf("%q", got)
	}
}

// Every match is marked, and no character is cut.
func TestAnySnippet(t *testing.T) {
	letters := rapid.SampledFrom([]rune("aB 設ガｶﾞﾞé́ﬁＡ①İ…（ー\n\u3099"))
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.StringOf(letters).Draw(t, "text")
		query := rapid.StringOfN(letters, 1, 4, -1).Draw(t, "query")
		m := newMarker(query)
		last := 0
		for _, s := range m.spans(text, true) {
			if s.from < last || s.to > len(text) || s.from >= s.to ||
				!utf8.ValidString(text[:s.from]) || !utf8.ValidString(text[s.from:s.to]) {
				t.Fatalf("%v of %q", s, text)
			}
			last = s.to
		}
		shown := m.snippet(&Item{Content: text})
		if !utf8.ValidString(shown) || strings.Contains(shown, "\n") || strings.Contains(shown, "  ") {
			t.Fatalf("%q", shown)
		}
		if last > 0 != strings.Contains(shown, markOpen) {
			t.Fatalf("%q of %q", shown, text)
		}
	})
}

func BenchmarkSnippet(b *testing.B) {
	for name, c := range map[string]struct{ text, query string }{
		"english":  {strings.Repeat("The gateway retries a request when the server was not reached, and logs it. ", 20), "gateway servers"},
		"japanese": {strings.Repeat("検索の実装は、サーバーの設計（文書）により異なる。ユーザー管理。", 30), "設計 サーバ"},
		"far away": {strings.Repeat("検索の実装は、サーバーの設計（文書）により異なる。", 4000) + "鍵", "鍵"},
		"nowhere":  {strings.Repeat("The gateway retries a request when the server was not reached, and logs it. ", 1300), "key"},
	} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			item := &Item{Content: c.text}
			for b.Loop() {
				newMarker(c.query).snippet(item)
			}
		})
	}
}
