package npm

import "testing"

func TestMajor(t *testing.T) {
	for version, want := range map[string]int{"v24.21.0\n": 24, "v9.0.0": 9, "": 0, "node": 0} {
		if got := major(version); got != want {
			t.Errorf("%q: %d, not %d", version, got, want)
		}
	}
}
