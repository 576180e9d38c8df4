package guide

import (
	"strings"
	"testing"
)

func TestSummaryIsTheFirstSentence(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"Find it.  Then\ncall it.": "Find it.",
		"see v1.2 of it":           "see v1.2 of it",
		"新しいアイテムを作成。先に search_items で探す。": "新しいアイテムを作成。",
		strings.Repeat("字", 200): strings.Repeat("字", 159) + "…",
	} {
		if got := summary(text); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}
