package setup

import (
	"strings"
	"testing"
)

// A diff has the lines that change and two on each side.
func TestDiff(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ before, after, want string }{
		"nothing":       {"a\nb\n", "a\nb\n", ""},
		"one line":      {"a\nb\nc\nd\ne\nf\ng\n", "a\nb\nc\nX\ne\nf\ng\n", "…| b| c|-d|+X| e| f|…"},
		"added":         {"", "a\nb", "+a|+b"},
		"two apart":     {"a\n1\n2\n3\n4\n5\n6\nb", "A\n1\n2\n3\n4\n5\n6\nB", "-a|+A| 1| 2|…| 5| 6|-b|+B"},
		"one-line JSON": {`{"a":{"b":1,"c":[2]}}`, `{"a":{"b":1,"c":[3]}}`, `…|     "b": 1,|     "c": [|-      2|+      3|     ]|   }|…`},
		"line ends":     {"a\r\nb\r\n", "a\r\nc\r\n", " a|-b|+c"},
	} {
		if got := strings.Join(diff(inLines([]byte(c.before), []byte(c.after))), "|"); got != c.want {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
	}
}
