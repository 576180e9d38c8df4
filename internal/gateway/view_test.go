package gateway_test

import (
	"slices"
	"testing"

	"genkan/internal/gateway"
)

// TestServerSetMeansWhatWasNamed: order and repetition do not matter, and a name
// with a comma in it does not become two.
func TestServerSetMeansWhatWasNamed(t *testing.T) {
	if gateway.NewServerSet("b", "a", "b") != gateway.NewServerSet("a", "b") {
		t.Error("the order of the names makes another set")
	}
	if gateway.NewServerSet() != (gateway.ServerSet{}) {
		t.Error("no names are not the empty set")
	}
	for _, name := range []string{"a,b", "@a", "", "a?mode=all", "A"} {
		if names := gateway.NewServerSet(name).Names(); !slices.Equal(names, []string{"?"}) {
			t.Errorf("%q is the set %q", name, names)
		}
	}
}

// TestViewsThatDifferHaveDifferentStrings: sessions and tasks are signed for the
// string of their view.
func TestViewsThatDifferHaveDifferentStrings(t *testing.T) {
	seen := map[string]gateway.View{}
	for _, servers := range [][]string{nil, {"a"}, {"a", "b"}, {"a-b"}} {
		for _, profile := range []string{"", "a", "b"} {
			for _, mode := range []string{"", gateway.ModeAll, gateway.ModeSearch} {
				view := gateway.View{Servers: gateway.NewServerSet(servers...), Profile: profile, Mode: mode}
				if other, taken := seen[view.String()]; taken {
					t.Errorf("%+v and %+v are both %q", view, other, view)
				}
				seen[view.String()] = view
			}
		}
	}
}
