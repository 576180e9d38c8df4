package kb

import (
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"
)

func TestFold(t *testing.T) {
	for text, want := range map[string]string{
		"ＡＰＩ": "api", "ｶﾞｲﾄﾞ": "ガイド", "Straße": "straße", "①": "1", "İ": "i", "ﬁ": "fi", "e\u0301": "é", "　": " ",
	} {
		if got := fold(text); got != want {
			t.Errorf("%q is %q, want %q", text, got, want)
		}
	}
}

func TestSnippet(t *testing.T) {
	long := strings.Repeat("前", 100)
	for _, c := range []struct{ text, words, want string }{
		{"one two three", "two", "one **two** three"},
		{"one two\nthree", "three two", "one **two** three"},
		{"x ｶﾞｲﾄﾞ y", "ガ", "x **ｶﾞ**ｲﾄﾞ y"},
		{"ﬁnd", "i", "**ﬁ**nd"},
		{long + "鍵" + long, "鍵", "…" + strings.Repeat("前", 20) + "**鍵**" + strings.Repeat("前", 54) + "…"},
	} {
		got, ok := snippet(c.text, strings.Fields(c.words))
		if !ok || got != c.want {
			t.Errorf("%q in %.30q: %q, want %q", c.words, c.text, got, c.want)
		}
	}
	if got, ok := snippet("one", []string{"two"}); ok {
		t.Errorf("%q", got)
	}
}

// Whatever is found is marked, and nothing is broken in two.
func TestAnySnippet(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.StringOf(rapid.SampledFrom([]rune("aB 設ガｶﾞﾞé́ﬁＡ①İ\n"))).Draw(t, "text")
		word := fold(rapid.StringOf(rapid.SampledFrom([]rune("aB設ガｶﾞéＡ"))).Draw(t, "word"))
		f := foldWithOrigin(text)
		start, end, ok := f.find(word)
		if !ok {
			return
		}
		if start < 0 || end > len(text) || start >= end || !utf8.ValidString(text[:start]) || !utf8.ValidString(text[start:end]) {
			t.Fatalf("%d to %d of %q", start, end, text)
		}
		if !strings.Contains(fold(text[start:end]), word) {
			t.Fatalf("%q is not in %q", word, text[start:end])
		}
		if shown, ok := snippet(text, []string{word}); !ok || !utf8.ValidString(shown) {
			t.Fatalf("%q", shown)
		}
	})
}

func TestRefs(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		want := Ref{rapid.StringN(1, MaxType, -1).Draw(t, "type"), rapid.Int64Min(1).Draw(t, "id")}
		if got, err := ParseRef("related", want.String()); err != nil || got != want {
			t.Fatalf("%q is %v, %v", want, got, err)
		}
		// What is no reference is none in one way only.
		text := rapid.StringMatching(`[a-z-]{0,3}-[+ 0-9-]{0,5}`).Draw(t, "text")
		if ref, ok := splitRef(text); ok && ref.String() != text {
			t.Fatalf("%q is %v", text, ref)
		}
	})
}
