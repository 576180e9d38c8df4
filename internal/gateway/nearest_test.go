package gateway_test

import (
	"slices"
	"strings"
	"testing"

	"genkan/internal/gateway"
)

func TestNearest(t *testing.T) {
	known := []string{"github__get_issue", "github__get_issues", "github__list_pull_requests", "echo", ""}
	for word, want := range map[string]string{
		"github__get_isue":           "github__get_issue",
		"github_get_issue":           "github__get_issue",
		"GitHub-get.issues":          "github__get_issues",
		"github__list_pull_reqeusts": "github__list_pull_requests",
		"ehco":                       "echo",
		"ech":                        "echo",
		"weather":                    "",
		"":                           "",
		strings.Repeat("x", 10_000):  "",
		"\xff\xfe":                   "",
	} {
		if got := gateway.Nearest(word, slices.Values(known)); got != want {
			t.Errorf("%.40q: got %q, want %q", word, got, want)
		}
	}
}

// TestNearestOfALongWord: it costs nothing, however long the word is.
func TestNearestOfALongWord(t *testing.T) {
	word := strings.Repeat("x_", 100_000)
	if allocs := testing.AllocsPerRun(5, func() { gateway.Nearest(word, slices.Values([]string{"x"})) }); allocs > 0 {
		t.Errorf("%v allocations", allocs)
	}
}
