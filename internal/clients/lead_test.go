package clients

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestLeads(t *testing.T) {
	f := File{Client: "cursor", Path: "mcp.json", keys: []string{"mcpServers"}}
	found, err := f.Parse([]byte(`{"mcpServers": {
		"github": {"url": "http://127.0.0.1:3000/mcp/s/github?x=1", "headers": {"authorization": "Bearer gk_abc"}},
		"genkan": {"url": "http://127.0.0.1:3000/mcp", "headers": {"Authorization": "Bearer ${env:TOKEN}"}, "disabled": true},
		"two": {"command": "/opt/genkan", "args": ["--data=/d", "stdio", "--only", "a,b"]},
		"three": {"command": "/opt/genkan-2", "args": ["stdio", "--client", "cursor", "--only", "a"]},
		"other": {"command": "npx", "args": ["x"]},
		"speaks": {"command": "npx", "args": ["x", "stdio", "--client", "cursor"]}
	}}`))
	if err != nil {
		t.Fatal(err)
	}
	want := []Lead{
		{Place: Place{Name: "github"}, Servers: []string{"github"}, URL: "http://127.0.0.1:3000/mcp/s/github", Token: "gk_abc"},
		{Place: Place{Name: "genkan"}, URL: "http://127.0.0.1:3000/mcp", Disabled: true},
		{Place: Place{Name: "two"}, Servers: []string{"a", "b"}, Command: "/opt/genkan", DataDir: "/d"},
		{Place: Place{Name: "three"}, Servers: []string{"a"}, Command: "/opt/genkan-2", Client: "cursor"},
	}
	if diff := cmp.Diff(want, found.Leads); diff != "" {
		t.Error(diff)
	}
	if len(found.Servers) != 2 || len(found.Own) != 4 {
		t.Errorf("%d servers, %d of our own", len(found.Servers), len(found.Own))
	}
}

func TestPlainSecrets(t *testing.T) {
	for name, c := range map[string]struct {
		text string
		want []string
	}{
		"none":       {"mcpServers:\n  a:\n    command: npx\n    env: {KEY: \"${secret:a.key}\", TOKEN: \"${T}\"}\n", nil},
		"a key":      {"mcpServers:\n  a:\n    command: npx\n    env:\n      API_KEY: hunter2hunter2\n", []string{"a"}},
		"JSON":       {`{"mcpServers": {"a": {"url": "https://x/mcp", "headers": {"Authorization": "Bearer abcdefgh1"}}}}`, []string{"a"}},
		"flow style": {"listen: 127.0.0.1:1\nmcpServers: {a: {command: x, env: {API_KEY: hunter2hunter2}}, b: {command: y}}\n", []string{"a"}},
		"broken":     {"mcpServers: [", nil},
		"empty":      {"", nil},
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "genkan.yaml")
			if err := os.WriteFile(path, []byte(c.text), 0o600); err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, s := range PlainSecrets(path) {
				got = append(got, s.Name)
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
	if found := PlainSecrets(filepath.Join(t.TempDir(), "nothing.yaml")); found != nil {
		t.Errorf("found %v where there is no file", found)
	}
}
