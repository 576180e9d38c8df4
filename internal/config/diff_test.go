package config

import (
	"reflect"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"genkan/internal/gateway"
)

// changes has, for every field of Server, what a reload does when it alone
// differs. A new field fails the tests below until somebody decides.
func changes() map[string]struct {
	change      func(*Server)
	fingerprint bool // another process or endpoint
	reconnect   bool
} {
	type c = struct {
		change      func(*Server)
		fingerprint bool
		reconnect   bool
	}
	return map[string]c{
		"Command":        {func(s *Server) { s.Command = "y" }, true, true},
		"Args":           {func(s *Server) { s.Args = []string{"ab"} }, true, true},
		"Env":            {func(s *Server) { s.Env = map[string]gateway.Secret{"K": "w"} }, true, true},
		"Cwd":            {func(s *Server) { s.Cwd = "/" }, true, true},
		"URL":            {func(s *Server) { s.URL = "https://y" }, true, true},
		"Headers":        {func(s *Server) { s.Headers = map[string]gateway.Secret{"H": "w"} }, true, true},
		"Transport":      {func(s *Server) { s.Transport = TransportSSE }, false, true},
		"OAuth":          {func(s *Server) { s.OAuth.ClientID = "me" }, true, true},
		"Isolation":      {func(s *Server) { s.Isolation = IsolationShared }, false, true},
		"Disabled":       {func(s *Server) { s.Disabled = true }, false, true},
		"Prefix":         {func(s *Server) { s.Prefix = "" }, false, false},
		"Overwrite":      {func(s *Server) { s.Overwrite = true }, false, false},
		"Timeout":        {func(s *Server) { s.Timeout = time.Second }, false, false},
		"StartupTimeout": {func(s *Server) { s.StartupTimeout = time.Second }, false, false},
		"Tools":          {func(s *Server) { s.Tools.Deny = []string{"x"} }, false, false},
		"ToolOptions":    {func(s *Server) { s.ToolOptions = []ToolOptions{{Pattern: "x"}} }, false, false},
		"Budget":         {func(s *Server) { s.Budget = 1000 }, false, false},
		"Validate":       {func(s *Server) { s.Validate = true }, false, false},
		"Unresolved":     {func(s *Server) { s.Unresolved.Each = []gateway.Text{gateway.Textf("uses the variable")} }, true, true},
		"Schemas":        {func(s *Server) { s.Schemas = SchemasOriginal }, false, false},
	}
}

func sample() Server {
	s := stdio("a", "x", "a", "b")
	s.Env = map[string]gateway.Secret{"K": "v", "L": "v"}
	s.URL = "https://x"
	s.Headers = map[string]gateway.Secret{"H": "v", "I": "v"}
	return s
}

func TestDiffKnowsEveryField(t *testing.T) {
	t.Parallel()
	known := changes()
	for _, f := range reflect.VisibleFields(reflect.TypeFor[Server]()) {
		switch f.Name {
		case "Name", "Missing", // which goes with Unresolved
			"Stored", "Definition": // where and how it is written makes no other server
			continue
		}
		c, ok := known[f.Name]
		if !ok {
			t.Errorf("nobody decided what a reload does when %s differs", f.Name)
			continue
		}
		was, is := sample(), sample()
		c.change(&is)
		if got := was.Fingerprint() != is.Fingerprint(); got != c.fingerprint {
			t.Errorf("%s: fingerprint differs: %v", f.Name, got)
		}
		want := Changes{Reconfigured: []string{"a"}}
		if c.reconnect {
			want = Changes{Changed: []string{"a"}}
		}
		if diff := cmp.Diff(want, Diff(&Config{Servers: []Server{was}}, &Config{Servers: []Server{is}})); diff != "" {
			t.Errorf("%s: %s", f.Name, diff)
		}
	}
}

func TestFingerprint(t *testing.T) {
	t.Parallel()
	a, b := sample(), sample()
	for range 20 { // maps come in another order each time
		if a.Fingerprint() != b.Fingerprint() {
			t.Fatal("the same server has two fingerprints")
		}
	}
	if len(a.Fingerprint()) != 64 {
		t.Errorf("%q is not a SHA-256 in hexadecimal", a.Fingerprint())
	}
	b.Headers = map[string]gateway.Secret{"h": "v", "i": "v"}
	if a.Fingerprint() != b.Fingerprint() {
		t.Error("the case of a header's name does not matter")
	}
	// What is next to each other must not run into each other.
	seen := map[string]Server{}
	for _, s := range []Server{
		{},
		{Command: "ab"},
		{Command: "a", Args: []string{"b"}},
		{Args: []string{"ab"}},
		{Args: []string{"a", "b"}},
		{Args: []string{"", "ab"}},
		{Env: map[string]gateway.Secret{"a": "b"}},
		{Env: map[string]gateway.Secret{"ab": ""}},
		{Headers: map[string]gateway.Secret{"A": "b"}},
		{Cwd: "ab"},
		{URL: "ab"},
	} {
		if other, again := seen[s.Fingerprint()]; again {
			t.Errorf("%v and %v have the same fingerprint", s, other)
		}
		seen[s.Fingerprint()] = s
	}
}

func TestDiff(t *testing.T) {
	t.Parallel()
	house := func(listen, cert, key string, servers ...Server) *Config {
		return &Config{Listen: listen, TLS: TLS{cert, key}, Servers: servers}
	}
	a, b, c := stdio("a", "x"), stdio("b", "x"), stdio("c", "x")
	b2, c2 := stdio("b", "y"), c
	c2.Timeout = time.Second
	allowNone, allowAll := a, a
	allowNone.Tools.Allow = []string{}
	for _, tt := range []struct {
		name     string
		old, new *Config
		want     Changes
	}{
		{"nothing", house("l", "", ""), house("l", "", ""), Changes{}},
		{"no change", house("l", "", "", a, b), house("l", "", "", a, b), Changes{Unchanged: []string{"a", "b"}}},
		{"another order", house("l", "", "", a, b), house("l", "", "", b, a), Changes{Unchanged: []string{"b", "a"}}},
		{"one of each", house("l", "", "", a, b, c, stdio("gone", "x")), house("l", "", "", stdio("z", "x"), a, b2, c2), Changes{
			Added: []string{"z"}, Removed: []string{"gone"}, Changed: []string{"b"}, Reconfigured: []string{"c"}, Unchanged: []string{"a"},
		}},
		{"restart", house("l", "c", "k"), house("m", "d", "j"), Changes{RestartNeeded: []string{"listen", "tls.cert", "tls.key"}}},
		{"first start", nil, house("l", "c", "k", a), Changes{Added: []string{"a"}}},
		{"end", house("l", "c", "k", a), nil, Changes{Removed: []string{"a"}}},
		{"neither", nil, nil, Changes{}},
		{"all or no tools", house("l", "", "", allowNone), house("l", "", "", allowAll), Changes{Reconfigured: []string{"a"}}},
	} {
		if diff := cmp.Diff(tt.want, Diff(tt.old, tt.new)); diff != "" {
			t.Errorf("%s: %s", tt.name, diff)
		}
	}
}
