package history

import (
	"bytes"
	"strings"
	"testing"
	"unicode"

	"golang.org/x/text/unicode/norm"
	"pgregory.net/rapid"
)

// TestNeedle: a text is found in any width and case, and however JSON writes it.
func TestNeedle(t *testing.T) {
	t.Parallel()
	for _, body := range []string{
		`{"say":"こんにちは Taro"}`, `{"say":"こんにちは　ｔａｒｏ"}`, `{"say":"\u3053\u3093\u306b\u3061\u306f Taro"}`,
	} {
		for _, text := range []string{"taro", "ｔａｒｏ", "ＴＡＲＯ", "こんにちは taro", "こんにちは　taro"} {
			if !newNeedle(text).in([]byte(body)) {
				t.Errorf("%q is not found in %s", text, body)
			}
		}
		if newNeedle("jiro").in([]byte(body)) {
			t.Errorf("jiro is found in %s", body)
		}
	}
	for text, body := range map[string]string{
		"ガギグ":    `"ｶﾞｷﾞｸﾞ"`,
		"がぎぐ.md": "\"か\u3099き\u3099く\u3099.md\"", // names of files on a Mac
		"ｔａｒｏ":   `"\uff54\uff41\uff52\uff4f"`,
		`a"b`:    `{"x":"A\"B"}`,
		"（1）":    `"(1)"`,
	} {
		if !newNeedle(text).in([]byte(body)) {
			t.Errorf("%q is not found in %s", text, body)
		}
	}
}

func TestFold(t *testing.T) {
	t.Parallel()
	character := rapid.SampledFrom([]rune("aZ9 \"\\あかァー漢、「』　（ＡｚｶﾞＦÉéıΣ①\u0301\u3099\u309a한\ufffd😀"))
	rapid.Check(t, func(rt *rapid.T) {
		text := rapid.OneOf(rapid.String(), rapid.StringOf(character)).Draw(rt, "text")
		if got, want := string(fold([]byte(text))), strings.Map(unicode.ToLower, norm.NFKC.String(text)); got != want {
			rt.Fatalf("%q becomes %q, want %q", text, got, want)
		}
	})
}

// BenchmarkNeedle looks for a text in an answer that has not got it.
func BenchmarkNeedle(b *testing.B) {
	for name, part := range map[string]string{
		"English":  `{"id":12,"title":"The quick brown fox","url":"https://example.com/a/b?page=2"},`,
		"Japanese": `{"id":12,"題":"議事録（第２回）：来週の会議は、火曜日の１０時から始まります。"},`,
	} {
		body, n := bytes.Repeat([]byte(part), 16<<10/len(part)), newNeedle("none of it")
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(body)))
			for b.Loop() {
				if n.in(body) {
					b.Fatal("found")
				}
			}
		})
	}
}
