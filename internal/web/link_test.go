package web

import "testing"

// The address of a link is one that browsers on this machine, or elsewhere, can use.
func TestAddress(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		listen, allowed string
		tls             bool
		want            string
	}{
		{"127.0.0.1:3000", "", false, "http://127.0.0.1:3000/ui/"},
		{"[::1]:3000", "", false, "http://[::1]:3000/ui/"},
		{"127.0.0.1:3000", "tools.example", false, "http://127.0.0.1:3000/ui/"},
		{"192.0.2.1:3000", "tools.example", false, "http://tools.example:3000/ui/"},
		{"192.0.2.1:3000", "tools.example:8443", false, "http://tools.example:8443/ui/"},
		{"127.0.0.1:3000", "tools.example", true, "https://tools.example:3000/ui/"},
		{"127.0.0.1:3000", "", true, "https://127.0.0.1:3000/ui/"},
	} {
		var allowed []string
		if c.allowed != "" {
			allowed = []string{c.allowed}
		}
		if got := Address(c.listen, allowed, c.tls); got != c.want {
			t.Errorf("%+v: %s", c, got)
		}
	}
}
