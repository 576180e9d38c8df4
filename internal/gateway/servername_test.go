package gateway_test

import (
	"strings"
	"testing"

	"pgregory.net/rapid"

	"genkan/internal/gateway"
)

func TestServerName(t *testing.T) {
	taken := map[string]bool{"taken": true, "taken-2": true}
	for _, c := range []struct{ from, want string }{
		{"github", "github"},
		{"GitHub", "github-2"},
		{"github.com/upstash/context7-mcp", "context7-mcp"},
		{"@scope/pkg", "pkg"},
		{"@scope/pkg_name/", "pkg-name"},
		{"My Server!", "my-server"},
		{"1password", "s-1password"},
		{"9", "s-9"},
		{"日本語", "server"},
		{"Ｔｅｓｔ１", "test1"},
		{"", "server-2"},
		{"Taken", "taken-3"},
		{strings.Repeat("a", 40), strings.Repeat("a", 32)},
		{strings.Repeat("A", 40), strings.Repeat("a", 30) + "-2"},
		{"a--b__c", "a-b-c"},
		{"--d--e--", "d-e"},
		{"x/", "x"},
	} {
		got := gateway.ServerName(c.from, func(name string) bool { return taken[name] })
		taken[got] = true
		if got != c.want {
			t.Errorf("%q became %q, want %q", c.from, got, c.want)
		}
	}
}

// Whatever the names are, each becomes one that a server may have, and no two
// the same.
func TestServerNamesAreLegalAndFree(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		taken := map[string]bool{}
		for _, name := range rapid.SliceOf(rapid.String()).Draw(t, "names") {
			got := gateway.ServerName(name, func(s string) bool { return taken[s] })
			if !gateway.IsServerName(got) || taken[got] {
				t.Fatalf("%q became %q", name, got)
			}
			taken[got] = true
		}
	})
}
