package kb

import (
	"testing"

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

func TestRefs(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		want := Ref{rapid.StringN(1, MaxType, -1).Draw(t, "type"), rapid.Int64Min(1).Draw(t, "id")}
		if got, err := ParseRef("related", want.String()); err != nil || got != want {
			t.Fatalf("%q is %v, %v", want, got, err)
		}
		// An accepted text is the only spelling of its reference.
		text := rapid.StringMatching(`[a-z-]{0,3}-[+ 0-9-]{0,5}`).Draw(t, "text")
		if ref, ok := splitRef(text); ok && ref.String() != text {
			t.Fatalf("%q is %v", text, ref)
		}
	})
}
