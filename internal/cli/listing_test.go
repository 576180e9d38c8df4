package cli

import (
	"bytes"
	"strings"
	"testing"
)

// A reader sees where each word of a command begins and ends, and what a
// terminal would swallow.
func TestCommandLinesShowEveryCharacter(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		words []string
		want  string
	}{
		{[]string{"npx", "-y", "a@1.2", "${HOME}", "C:\\x"}, `npx -y a@1.2 ${HOME} C:\x`},
		{[]string{"sh", "-c", "a b; c"}, `sh -c 'a b; c'`},
		{[]string{"x", "", "it's"}, `x '' 'it'\''s'`},
		{[]string{"x\x1b[2K\r", "a\nb", "\u202egnp", "e\u200bvil"}, `$'x\x1b[2K\r' $'a\nb' $'\u202egnp' $'e\u200bvil'`},
		{[]string{"\\\n'\""}, `$'\\\n\'"'`},
		{[]string{"a\u3164b", "日\n"}, `$'a\u3164b' $'\u65e5\n'`},
		{[]string{"\xff"}, `$'\xff'`},
		{[]string{"日本"}, "日本"},
	} {
		if got := commandLine(c.words); got != c.want {
			t.Errorf("%q is shown as %s, want %s", c.words, got, c.want)
		}
	}
}

func TestLinesAreWrappedAndNeverCut(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		text    string
		columns int
		want    []string
	}{
		{"one two three", 0, []string{"one two three"}},
		{"one two three", 13, []string{"one two three"}},
		{"one two three", 9, []string{"one two ", "three"}},
		{"abcdefghij klm", 4, []string{"abcd", "efgh", "ij ", "klm"}},
		{"日本語の文", 4, []string{"日本", "語の", "文"}},
		{"", 4, []string{""}},
	} {
		got := wrapped(c.text, c.columns)
		if strings.Join(got, "|") != strings.Join(c.want, "|") {
			t.Errorf("%q in %d columns: %q, want %q", c.text, c.columns, got, c.want)
		}
		if strings.Join(got, "") != c.text {
			t.Errorf("%q has lost something: %q", c.text, got)
		}
	}
}

func TestListsKeepLinesBesideTheirName(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	c := &command{std: Streams{Out: &out}}
	c.list([]shown{{"a", []string{"one", "two\x1b[1m"}}, {"検索", []string{"three"}}})
	want := "  a     one\n        two\\x1b[1m\n  検索  three\n"
	if got := out.String(); got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
}
