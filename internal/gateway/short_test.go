package gateway_test

import (
	"strings"
	"testing"
	"unicode/utf8"

	"genkan/internal/gateway"
)

func TestShortCutsAtACharacter(t *testing.T) {
	for _, text := range []string{"", "name", strings.Repeat("a", 128)} {
		if got := gateway.Short(text); got != text {
			t.Errorf("%d bytes became %q", len(text), got)
		}
	}
	for _, long := range []string{strings.Repeat("a", 1<<20), "a" + strings.Repeat("玄", 1000), strings.Repeat("\xff", 1000)} {
		got := gateway.Short(long)
		if len(got) > 131 || len(got) < 124 || !strings.HasSuffix(got, "…") {
			t.Errorf("%d bytes became %d: %q", len(long), len(got), got)
		}
		if utf8.ValidString(long) && !utf8.ValidString(got) {
			t.Errorf("a character was cut in two: %q", got)
		}
	}
}

func TestCutCountsWhatIsMissing(t *testing.T) {
	for _, c := range []struct {
		text  string
		limit int
		head  string
		cut   int
	}{
		{"玄関", 6, "玄関", 0}, {"玄関", 5, "玄", 3}, {"玄関", 3, "玄", 3}, {"玄関", 2, "", 6}, {"abc", 0, "", 3},
	} {
		if head, cut := gateway.Cut(c.text, c.limit); head != c.head || cut != c.cut {
			t.Errorf("%q at %d: %q and %d, want %q and %d", c.text, c.limit, head, cut, c.head, c.cut)
		}
	}
}

func TestPrintableShowsWhatCannotBeSeen(t *testing.T) {
	for text, want := range map[string]string{
		"read_file 玄関 é": "read_file 玄関 é",
		"\x1b[31mred":    "\\x1b[31mred",
		"a\u202eb":       "a\\u202eb",
		"a\U000E0041":    "a\\U000e0041",
		"a\u200bb\nc":    "a\\u200bb\\nc",
		"a\u2028b":       "a\\u2028b",
	} {
		if got := gateway.Printable(text); got != want {
			t.Errorf("%q is shown as %q, want %q", text, got, want)
		}
	}
}
