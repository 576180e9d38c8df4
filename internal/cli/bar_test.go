package cli

import "testing"

func TestBar(t *testing.T) {
	t.Parallel()
	for want, b := range map[string]*bar{
		"reading  7": {label: "reading", done: 7},
		"reading  [------------------------------]   0%  0/3":   {label: "reading", total: 3},
		"reading  [##########--------------------]  33%  1/3":   {label: "reading", total: 3, done: 1},
		"reading  [##############################] 100%  3/3":   {label: "reading", total: 3, done: 3},
		"exporting  [##############################] 100%  3/3": {label: "exporting", total: 3, done: 4}, // somebody added one meanwhile
	} {
		if got := b.text(); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
