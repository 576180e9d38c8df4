package clients

import (
	"fmt"
	"strings"
	"testing"

	"genkan/internal/gateway"
)

// one reads a file of a client with one server.
func one(t *testing.T, client, ending, text string) (Server, Imported) {
	t.Helper()
	imported, err := fileOf(t, client, ending).Parse([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	if len(imported.Servers) != 1 {
		t.Fatalf("%d servers: %+v", len(imported.Servers), imported.Notes)
	}
	return imported.Servers[0], imported
}

func TestVariables(t *testing.T) {
	cases := []struct{ client, ending, from, want, needs string }{
		{"claude-code", "/.claude.json", "${A}-${B:-b}", "${A}-${B:-b}", "[A]"},
		{"claude-code", "/.claude.json", "pa$word $A", "pa$word $A", "[]"},
		{"cursor", "mika/.cursor/mcp.json", "${env:A}", "${env:A}", "[A]"},
		{"cursor", "mika/.cursor/mcp.json", "${userHome}${/}x${pathSeparator}y", "/Users/mika/x/y", "[]"},
		{"cursor", "mika/.cursor/mcp.json", "${workspaceFolder}/x", "${workspaceFolder}/x", "[]"},
		{"cursor", "mika/.cursor/mcp.json", "${workspaceFolderBasename}", "$${workspaceFolderBasename}", "[]"},
		{"vscode", "Code/User/mcp.json", "${input:api-key}", "${API_KEY}", "[]"},
		{"vscode", "Code/User/mcp.json", "${command:x.y} ${config:z}", "$${command:x.y} $${config:z}", "[]"},
		{"gemini", "mika/.gemini/settings.json", "$A/${B}/$1/$", "${A}/${B}/$1/$", "[A B]"},
		{"opencode", "opencode/opencode.json", "{env:A} {x} {file:y}", "${A} {x} {file:y}", "[A]"},
		{"claude-desktop", ".json", "{env:A} ${", "{env:A} $${", "[]"},
	}
	for _, c := range cases {
		s, imported := one(t, c.client, c.ending, fmt.Sprintf(`{%q: {"x": {"command": "y", "args": [%q]}}}`, fileOf(t, c.client, c.ending).keys[0], c.from))
		if got := s.Args[0]; got != c.want || fmt.Sprint(imported.Variables) != c.needs {
			t.Errorf("%s: %s became %s and needs %v; want %s and %s", c.client, c.from, got, imported.Variables, c.want, c.needs)
		}
	}
	s, _ := one(t, "continue", "config.yaml", "mcpServers:\n  - name: x\n    command: y\n    args: ['${{ secrets.KEY }}']\n")
	if s.Args[0] != "${KEY}" {
		t.Error(s.Args[0])
	}
}

func TestSecrets(t *testing.T) {
	for _, c := range []struct{ name, value, want string }{
		{"GITHUB_PERSONAL_ACCESS_TOKEN", "ghp_example0123", "ghp_example0123"},
		{"Authorization", "Bearer abc", "abc"},
		{"Authorization", "Basic dXNlcjpwYXNz", "dXNlcjpwYXNz"},
		{"apiKey", "abc", "abc"},
		{"X-API-Key", "abc", "abc"},
		{"PASSWORD", "correct horse", "correct horse"},
		{"OTHER", "sk-proj-0123", "sk-proj-0123"},
		{"OTHER", "xoxb-1-2", "xoxb-1-2"},
		{"OTHER", "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2ln", "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2ln"},
		{"OTHER", "9f86d081884c7d659a2feaa0c55ad015", "9f86d081884c7d659a2feaa0c55ad015"},
		{"OTHER", "Zk3vQ9xT1mB7pL5wR2yN8", "Zk3vQ9xT1mB7pL5wR2yN8"},
		{"DSN", "postgres://me:s3cret@db/x", "s3cret"},
		{"ENDPOINT", "https://x.example/?api_key=abc", "abc"},
		{"ENDPOINT", "https://me:s3cret@x.example/?token=abc&x=1&token=def", "s3cret abc def"},
		{"CONFIG", `{"user": "me", "apiKey": "abc", "nested": {"token":"def"}}`, "abc def"},
		{"CONNECTION", "Server=db;User=me;Password=s3cret;Timeout=30", "s3cret"},
		{"OTHER", "X-Api-Key: abc", "abc"},
		// Beside references.
		{"DSN", "postgres://me:s3cret@${HOST}:${PORT:-5432}/x", "s3cret"},
		{"DSN", "postgres://${USER}:${PASSWORD}@db/x?sslkey=${KEY}", ""},
		{"API_KEY", "${PREFIX}-abcdefgh-${SUFFIX}", "-abcdefgh-"},
		{"OTHER", "${PREFIX} ghp_example0123", "ghp_example0123"},
		{"CONFIG", `{"user": "${USER}", "apiKey": "abc"}`, "abc"},
		{"PASSWORD", "s3cret-s3cret$${x}", "s3cret-s3cret"},
		{"Authorization", "Bearer ${TOKEN}", ""},
		{"Authorization", "ApiKey ${TOKEN}", ""},
		{"SSH_KEY", "${HOME}/.ssh/id_ed25519", ""},
		{"OTHER", "${HOME}/projects/0123456789", ""},
		// What is not one.
		{"GITHUB_TOKEN", "${GITHUB_TOKEN}", ""},
		{"GITHUB_TOKEN", "", ""},
		{"GITHUB_TOKEN", "<your token>", ""},
		{"GITHUB_TOKEN", "YOUR_TOKEN_HERE", ""},
		{"API_KEY", "xxxx", ""},
		{"MAX_TOKENS", "4096", ""},
		{"TOKEN_LIMIT", "4096", ""},
		{"KEY_FILE", "~/.ssh/id", ""},
		{"AUTH_ENABLED", "true", ""},
		{"OTHER", "@modelcontextprotocol/server-filesystem", ""},
		{"OTHER", "/Users/mika/Documents/2024/notes01", ""},
		{"OTHER", "https://mcp.example.com/v1/some/long/path0123456789", ""},
		{"OTHER", "claude-opus-4-5-20251101-preview", ""},
		{"REGION", "eu-central-1", ""},
		{"OTHER", "https://mcp.example.com/s/0b9f6d2c-58a1-4c3e-9d7a-1f2e3d4c5b6a/mcp", "0b9f6d2c-58a1-4c3e-9d7a-1f2e3d4c5b6a"},
		{"OTHER", "https://mcp.example.com/s/Zk3vQ9rT1xW8bN5mL2pC/mcp", "Zk3vQ9rT1xW8bN5mL2pC"},
	} {
		if got := strings.Join(secretsIn(c.name, c.value), " "); got != c.want {
			t.Errorf("%s=%s: %q is the secret, want %q", c.name, c.value, got, c.want)
		}
	}
}

// A caller moves a secret away with Refer, wherever it stands.
func TestRefer(t *testing.T) {
	s, _ := one(t, "cursor", "mika/.cursor/mcp.json", `{"mcpServers": {"gh": {"command": "x",
		"args": ["--api-key", "abcdefgh", "--token=ijklmnop", "sk-0123456789"], "env": {"SECRET": "qrst"}}}}`)
	var names []string
	for _, l := range s.Secrets {
		if fmt.Sprintf("%v %+v %s %d", l.Value, l.Value, l.Value, l.Value) != "*** *** *** ***" {
			t.Error("a secret shows itself")
		}
		names = append(names, l.Variable)
		s.Refer(l, "${"+l.Variable+"}")
	}
	want := `[${GH_API_KEY} --token=${GH_TOKEN} ${GH_SECRET_2}]`
	if got := fmt.Sprint(s.Args[1:]); got != want {
		t.Errorf("the arguments are %s, want %s", got, want)
	}
	if got := s.Env["SECRET"].Reveal(); got != "${GH_SECRET}" {
		t.Error(got)
	}
	seen := map[string]bool{}
	for _, name := range names {
		if seen[name] {
			t.Errorf("two secrets would be called %s", name)
		}
		seen[name] = true
	}
}

func TestRemoteIsUnwrapped(t *testing.T) {
	for _, c := range []struct{ args, url, kind, headers string }{
		{`"command": "npx", "args": ["-y", "mcp-remote", "https://x.example/sse"]`, "https://x.example/sse", "", ""},
		{`"command": "npx.cmd", "args": ["mcp-remote@latest", "https://x.example/mcp", "9696", "--transport", "http-only"]`, "https://x.example/mcp", "http", ""},
		{`"command": "cmd", "args": ["/c", "npx", "-y", "mcp-remote@0.1.2", "https://x.example/mcp"]`, "https://x.example/mcp", "", ""},
		{`"command": "bunx", "args": ["mcp-remote", "--allow-http", "http://x.example/mcp"]`, "http://x.example/mcp", "", ""},
		{`"command": "pnpm", "args": ["dlx", "mcp-remote", "https://x.example/mcp", "--host", "127.0.0.1"]`, "https://x.example/mcp", "", ""},
		{
			`"command": "npx", "args": ["mcp-remote", "https://x.example/mcp", "--header", "X-Key: ${KEY}", "--header", "B:${OWN}"], "env": {"OWN": "v"}`,
			"https://x.example/mcp", "", "B=v X-Key=${KEY} ",
		},
	} {
		s, _ := one(t, "cursor", "mika/.cursor/mcp.json", `{"mcpServers": {"x": {`+c.args+`}}}`)
		headers := ""
		for key, value := range sorted(s.Headers) {
			headers += key + "=" + value.Reveal() + " "
		}
		if s.URL != c.url || s.Type != c.kind || s.Command != "" || headers != c.headers {
			t.Errorf("%s became %s %s %s", c.args, s.URL, s.Type, headers)
		}
	}
	for _, args := range []string{
		`"command": "npx", "args": ["-y", "mcp-remote"]`,
		`"command": "npx", "args": ["-y", "mcp-remote-else", "https://x.example"]`,
		`"command": "node", "args": ["mcp-remote", "https://x.example"]`,
	} {
		if s, _ := one(t, "cursor", "mika/.cursor/mcp.json", `{"mcpServers": {"x": {`+args+`}}}`); s.URL != "" {
			t.Errorf("%s was unwrapped", args)
		}
	}
}

// Whatever an entry holds, the others are read.
func TestOddEntries(t *testing.T) {
	f := fileOf(t, "cursor", "mika/.cursor/mcp.json")
	imported, err := f.Parse([]byte(`{"mcpServers": {"a": null, "b": "x", "c": {}, "d": {"command": 5, "args": "one", "env": {"N": 1, "B": true, "Z": null, "L": []}},
		"e": {"command": {}, "url": [], "headers": 7}, "f": {"command": "x", "url": "https://y.example"}, "g": {"command": "ok"}}}`))
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, s := range imported.Servers {
		got = append(got, s.Name)
	}
	if fmt.Sprint(got) != "[d f g]" {
		t.Errorf("read %v", got)
	}
	if d := imported.Servers[0]; fmt.Sprintf("%s %v %d", d.Command, d.Args, len(d.Env)) != "5 [one] 2" {
		t.Errorf("%+v", d)
	}
	for _, text := range []string{"", " ", "{}", `{"mcpServers": null}`, `{"mcpServers": 3}`, "[]", "// nothing"} {
		if imported, err := f.Parse([]byte(text)); err != nil || len(imported.Servers) != 0 {
			t.Errorf("%q: %v %v", text, imported.Servers, err)
		}
	}
}

// A broken file is refused with its line and column, and nothing of it is
// repeated.
func TestBrokenFiles(t *testing.T) {
	cases := []struct{ client, ending, text, want string }{
		{"cursor", "mika/.cursor/mcp.json", "{\n  \"mcpServers\": {\n    \"a\": {\"command\" \"hush\"}\n  }\n}", ":3:21: a colon"},
		{"cursor", "mika/.cursor/mcp.json", "{\"a\": 1 \"hush\": 2}", ":1:9: a comma or"},
		{"cursor", "mika/.cursor/mcp.json", "{\"a\": hush}", ":1:7: a value is expected"},
		{"cursor", "mika/.cursor/mcp.json", "{\"a\": \"hush", ":1:7: this text has no end"},
		{"cursor", "mika/.cursor/mcp.json", "{\"é\": 1,,}", ":1:9: a key in double quotes"},
		{"cursor", "mika/.cursor/mcp.json", "{} hush", ":1:4: something stands behind"},
		{"cursor", "mika/.cursor/mcp.json", "{\"a\": 1", ":1:8: a comma or"},
		{"cursor", "mika/.cursor/mcp.json", "{ /* hush", ":1:3: this comment has no end"},
		{"cursor", "mika/.cursor/mcp.json", strings.Repeat("[", 500), "nested deeper"},
		{"cursor", "mika/.cursor/mcp.json", "{\"a\": \"\xff\"}", ":1:8: the file is not UTF-8"},
		{"cursor", "mika/.cursor/mcp.json", "\xff\xfe{\x00}\x00", ":1:1: the file is not UTF-8"},
		{"codex", "mika/.codex/config.toml", "a = 1\nb = hush\n", ":2:5: a value is expected"},
		{"codex", "mika/.codex/config.toml", "a = 1\na = 2\n", ":2:1: this key is there already"},
		{"codex", "mika/.codex/config.toml", "[a]\n[a]\n", ":2:2: this table is there already"},
		{"codex", "mika/.codex/config.toml", "[a\n", ":1:3: \"]\" is expected"},
		{"codex", "mika/.codex/config.toml", "a = \"hush\n", ":1:10: a text has no end"},
		{"codex", "mika/.codex/config.toml", "a = 1 b = 2\n", ":1:7: the line goes on"},
		{"codex", "mika/.codex/config.toml", "a = { b = 1 }\na.c = 2\n", ":2:1: this key is there already"},
		{"continue", "config.yaml", "mcpServers:\n  - name: x\n bad\n\t- hush", ": the file is not valid YAML"},
		{"continue", "config.yaml", "mcpServers: [hush", ": the file is not valid YAML"},
	}
	for _, c := range cases {
		f := fileOf(t, c.client, c.ending)
		_, err := f.Parse([]byte(c.text))
		refusedWith(t, err, gateway.CodeInvalid, c.want)
		if err != nil && strings.Contains(err.Error(), "hush") {
			t.Errorf("the error repeats the file: %v", err)
		}
		if _, err = f.Connect([]byte(c.text), Plan{Aggregate: true}); err == nil {
			t.Errorf("%q was connected", c.text)
		}
	}
}

// A URL is shown in many places, so what is secret in it moves to a header.
func TestUserInURL(t *testing.T) {
	for _, c := range []struct{ entry, url, header string }{
		{`"url": "https://mika:p%40ss@mcp.example.com/mcp"`, "https://mcp.example.com/mcp", "Basic bWlrYTpwQHNz"},
		{`"url": "https://key@mcp.example.com/mcp"`, "https://mcp.example.com/mcp", "Basic a2V5Og=="},
		{`"url": "https://a:b@mcp.example.com/mcp", "headers": {"authorization": "Bearer x"}`, "https://mcp.example.com/mcp", "Bearer x"},
		{`"url": "https://mcp.example.com/mcp?x=a@b"`, "https://mcp.example.com/mcp?x=a@b", ""},
	} {
		s, _ := one(t, "cursor", "mika/.cursor/mcp.json", `{"mcpServers": {"x": {`+c.entry+`}}}`)
		header := s.Headers["Authorization"].Reveal() + s.Headers["authorization"].Reveal()
		if s.URL != c.url || header != c.header {
			t.Errorf("%s became %s with %q", c.entry, s.URL, header)
		}
	}
}
