package corpus

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestSameEveryTime(t *testing.T) {
	for _, i := range []int{0, 7, 99_999} {
		if diff := cmp.Diff(Made(i), Made(i)); diff != "" {
			t.Errorf("document %d: %s", i, diff)
		}
	}
	for _, class := range Classes() {
		one, other := Queries(class, 20, 100, 1), Queries(class, 20, 100, 1)
		if diff := cmp.Diff(one, other); diff != "" {
			t.Errorf("%s: %s", class, diff)
		}
		if cmp.Equal(one, Queries(class, 20, 100, 2)) {
			t.Errorf("%s: another seed gives the same queries", class)
		}
		for _, q := range one {
			if strings.TrimSpace(q.Text) == "" || (len(q.Types) > 0) != (class == Filtered) {
				t.Errorf("%s: %+v", class, q)
			}
		}
	}
}

func TestRelated(t *testing.T) {
	for i := range 200 {
		list := Related(i)
		if len(list) != min(i, Relations) || len(slices.Compact(slices.Clone(list))) != len(list) {
			t.Errorf("document %d: %v", i, list)
		}
		if len(list) > 0 && (list[0] < 0 || list[len(list)-1] >= i) {
			t.Errorf("document %d: %v", i, list)
		}
	}
}

func TestMixHasAllClasses(t *testing.T) {
	mix := Mix(100, 100, 1)
	for _, class := range Classes() {
		for _, q := range Queries(class, 10, 100, 1) {
			if !slices.ContainsFunc(mix, func(m Query) bool { return cmp.Equal(m, q) }) {
				t.Errorf("%s: %q is not in the mix", class, q.Text)
			}
		}
	}
}
