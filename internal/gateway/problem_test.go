package gateway_test

import (
	"strings"
	"testing"

	"genkan/internal/gateway"
)

// However long names and lists are that somebody sends or a schema has, problems
// stay short.
func TestProblemsAreShort(t *testing.T) {
	long := strings.Repeat("x", 10_000)
	many := make([]string, 1000)
	for i := range many {
		many[i] = "field"
	}
	for _, p := range []gateway.Problem{
		gateway.UnknownField([]string{long}, long, many, true),
		gateway.UnknownField(nil, "a", []string{long, long}, true),
		gateway.MissingField([]string{long}, long),
		gateway.WrongType([]string{"a", long}, []string{"string"}, gateway.TypeName(long)),
	} {
		if n := len(p.Text.String()) + len(p.Field) + len(p.Pointer); n > 1000 {
			t.Errorf("%s: %d bytes", p.Keyword, n)
		}
	}
	for list, want := range map[string]string{
		"a":                            "a",
		"a,b":                          "a, b",
		strings.Repeat("abcd,", 100):   strings.TrimSuffix(strings.Repeat("abcd, ", 50), ", ") + ", …",
		strings.Repeat("a", 400) + ",": strings.Repeat("a", 128) + "…",
	} {
		if got := gateway.List(strings.Split(list, ",")).String(); got != want {
			t.Errorf("%.20s became %s", list, got)
		}
	}
}

func TestPointersAreEscaped(t *testing.T) {
	if got := gateway.Pointer([]string{"a/b", "~c", "0"}); got != "/a~1b/~0c/0" {
		t.Errorf("got %s", got)
	}
	if got := gateway.Pointer(nil); got != "" {
		t.Errorf("the whole is %q", got)
	}
}
