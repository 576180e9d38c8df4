package clients

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"genkan/internal/gateway"
	"genkan/internal/vault"
)

// written puts a text where a client keeps its servers.
func written(t *testing.T, client, text string) File {
	t.Helper()
	env := Environment{GOOS: "linux", Home: t.TempDir()}
	known, ok := Lookup(client)
	if !ok {
		t.Fatal("no such client")
	}
	f := known.Files(env)[0]
	if err := os.MkdirAll(filepath.Dir(f.Path), 0o700); err != nil {
		t.Fatal(err)
	}
	fill(t, f.Path, text)
	return f
}

func free(string) bool { return false }

// TestGather: a server that several clients have is one, and two servers with one
// name are two.
func TestGather(t *testing.T) {
	cursor := written(t, "cursor", `{"mcpServers": {
		"github": {"command": "gh", "env": {"GITHUB_TOKEN": "ghp_0123456789abcdefghijABCDEFGHIJ012345"}},
		"files": {"command": "fs", "args": ["/a"]}}}`)
	claude := written(t, "claude-code", `{
		"mcpServers": {"my github": {"command": "gh", "env": {"GITHUB_TOKEN": "ghp_0123456789abcdefghijABCDEFGHIJ012345"}}},
		"projects": {"/srv/example/p": {"mcpServers": {"files": {"command": "fs", "args": ["/a"]}}}, "/srv/example/q": {"mcpServers": {"files": {"command": "fs", "args": ["/a"]}}}}}`)
	broken := written(t, "zed", `{"context_servers": {`)
	own := written(t, "windsurf", `{"mcpServers": {"x": {"serverUrl": "http://127.0.0.1:3000/mcp/s/x"}, "y": {"command": "/opt/gk", "args": ["--data", "/d", "stdio", "--only", "y"]}}}`)
	g := Gather([]File{cursor, claude, broken, own}, Imports{}, func(name string) bool { return name == "files" }, nobody)
	var got []string
	for _, f := range g.Found {
		var origins []string
		for _, o := range f.Origins {
			origins = append(origins, o.Client+":"+o.Section+":"+o.Name)
		}
		got = append(got, f.Name+" = "+strings.Join(origins, " "))
	}
	want := []string{
		"github = cursor::github claude-code::my github",
		"files-2 = cursor::files", // the configuration has another
		"files-3 = claude-code:/srv/example/p:files",
		"files-4 = claude-code:/srv/example/q:files",
	}
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("found\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	if len(g.Broken) != 1 || g.Broken[0].File.Client != "zed" {
		t.Errorf("broken: %v", g.Broken)
	}
	if g.Own != 2 {
		t.Errorf("%d entries lead here already, want 2", g.Own)
	}
	if s := g.Found[0].Secrets; len(s) != 1 || s[0].Variable != "github.GITHUB_TOKEN" {
		t.Errorf("secrets %+v", s)
	}

	// What was imported is remembered, by where it stood and by what it is.
	path := filepath.Join(t.TempDir(), "imports.json")
	var imports Imports
	for _, f := range g.Found {
		imports.Add(f)
	}
	if err := imports.Save(path); err != nil {
		t.Fatal(err)
	}
	imports, err := LoadImports(path)
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(contents(t, path), "ghp_") {
		t.Error("a key is remembered")
	}
	codex := written(t, "codex", "[mcp_servers.gh]\ncommand = \"gh\"\nenv = { GITHUB_TOKEN = \"ghp_0123456789abcdefghijABCDEFGHIJ012345\" }\n[mcp_servers.files]\ncommand = \"other\"\n")
	again := Gather([]File{cursor, codex}, imports, func(name string) bool {
		return name == "files" || name == "files-2" || name == "files-3" || name == "files-4" || name == "github"
	}, nobody)
	for i, want := range []struct {
		name  string
		known bool
	}{{"github", true}, {"files-2", true}, {"files-5", false}} {
		if f := again.Found[i]; f.Name != want.name || f.Known != want.known {
			t.Errorf("%d: %s, known %v; want %+v", i, f.Name, f.Known, want)
		}
	}
	if name, ok := imports.Name(claude, Place{"/srv/example/q", "files"}); name != "files-4" || !ok {
		t.Errorf("the entry of a project is called %q", name)
	}
	// A server that has left the configuration is new again.
	if f := Gather([]File{cursor}, imports, free, nobody).Found[0]; f.Known {
		t.Error("what genkan has no longer is still known")
	}
	fill(t, path, "{")
	_, err = LoadImports(path)
	refusedWith(t, err, gateway.CodeInvalid, "remove it, and import again")
}

// Names in letters that genkan's configuration does not take become what the
// server is, and give way to those that are called so.
func TestGatherNames(t *testing.T) {
	dir := t.TempDir()
	var files []File
	for i, text := range []string{
		`{"mcpServers": {
			"書類": {"command": "npx", "args": ["-y", "@modelcontextprotocol/server-filesystem", "/a"]},
			"時刻": {"command": "uvx", "args": ["mcp-server-time"]},
			"GitHub": {"command": "a"},
			"何か": {"command": "node", "args": ["index.js"]}
		}}`,
		`{"mcpServers": {
			"filesystem": {"command": "npx", "args": ["-y", "@modelcontextprotocol/server-filesystem", "/b"]},
			"time": {"command": "uvx", "args": ["mcp-server-time"]},
			"github": {"command": "b"}
		}}`,
	} {
		f := fileOf(t, "cursor", "mika/.cursor/mcp.json")
		f.Path = filepath.Join(dir, strconv.Itoa(i)+".json")
		fill(t, f.Path, text)
		files = append(files, f)
	}
	g := Gather(files, Imports{}, nobody, nobody)
	var got []string
	for _, found := range g.Found {
		got = append(got, found.OriginalName+"="+found.Name)
	}
	want := []string{"書類=filesystem-2", "時刻=time", "GitHub=github-2", "何か=server", "filesystem=filesystem", "github=github"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// TestAddOwn: servers are added, and nothing else changes.
func TestAddOwn(t *testing.T) {
	servers := []Server{
		{
			Name: "a", Command: "npx", Args: []string{"-y", "it's", `back\slash`, "yes", "1", "${HOME}"},
			Env: map[string]gateway.Secret{"B": "true", "A": "x: y #z"}, Cwd: "/tmp", Disabled: true,
		},
		{Name: "b", URL: "https://x/mcp", Type: TypeSSE, Headers: map[string]gateway.Secret{"X-Key": "${KEY}"}},
	}
	const added = `  a:
    command: "npx"
    args:
      - "-y"
      - "it's"
      - "back\\slash"
      - "yes"
      - "1"
      - "${HOME}"
    env:
      A: "x: y #z"
      B: "true"
    cwd: "/tmp"
    disabled: true
  b:
    url: "https://x/mcp"
    type: sse
    headers:
      X-Key: "${KEY}"
`
	for name, c := range map[string]struct{ path, src, want string }{
		"nothing there":   {"genkan.yaml", "", "mcpServers:\n" + added},
		"comments only":   {"genkan.yaml", "# all\n#mcpServers:\n", "# all\n#mcpServers:\nmcpServers:\n" + added},
		"other keys":      {"genkan.yaml", "port: 1 # mine", "port: 1 # mine\nmcpServers:\n" + added},
		"servers there":   {"genkan.yaml", "mcpServers:\n  z: # last\n    command: z\n\nport: 1\n", "mcpServers:\n  z: # last\n    command: z\n" + added + "\nport: 1\n"},
		"an empty map":    {"genkan.yaml", "mcpServers: {}\n", "mcpServers: \n" + added},
		"JSON by content": {"genkan.yaml", `{"port": 1}`, ""},
		"JSON by name":    {"genkan.json", "{\n  \"mcpServers\": {\"z\": {\"command\": \"z\"}}\n}\n", ""},
	} {
		t.Run(name, func(t *testing.T) {
			out, err := AddOwn(c.path, []byte(c.src), servers)
			if err != nil {
				t.Fatal(err)
			}
			if c.want != "" && string(out) != c.want {
				t.Errorf("got\n%s\nwant\n%s", out, c.want)
			}
			read, err := ownFile(c.path, out).Parse(out)
			if err != nil {
				t.Fatal(err)
			}
			n := len(read.Servers)
			if n < 2 || !read.Servers[n-2].Same(servers[0]) || !read.Servers[n-1].Same(servers[1]) || !read.Servers[n-2].Disabled {
				t.Errorf("read back: %+v", read.Servers)
			}
		})
	}
	_, err := AddOwn("genkan.yaml", []byte("mcpServers: {z: {command: z}}\n"), servers)
	refusedWith(t, err, gateway.CodeInvalid, "genkan.yaml:1:13")
	if got := Snippet(servers); got != "mcpServers:\n"+added {
		t.Errorf("snippet:\n%s", got)
	}
}

// TestAddOwnChecksFirst: what may not be written is not.
func TestAddOwnChecksFirst(t *testing.T) {
	path := filepath.Join(t.TempDir(), "genkan.yaml")
	fill(t, path, "port: 1\n")
	b := Backups{Dir: filepath.Join(t.TempDir(), "backups"), Vault: vault.NewMemory()}
	no := gateway.Errorf(gateway.CodeInvalid, "no")
	if _, err := b.AddOwn(path, []Server{{Name: "a", Command: "x"}}, func([]byte) error { return no }); err == nil {
		t.Error("it was written")
	}
	if contents(t, path) != "port: 1\n" {
		t.Error("the file has changed")
	}
}

// TestFileAt: any file with a list of servers will do.
func TestFileAt(t *testing.T) {
	env := Environment{GOOS: "linux", Home: t.TempDir()}
	for name, text := range map[string]string{
		"a.json": `{"mcpServers": {"x": {"command": "c"}}}`,
		"b.json": `{"servers": [{"name": "x", "command": "c"}]}`,
		"c.toml": "[mcp_servers.x]\ncommand = \"c\"\n",
		"d.yaml": "context_servers:\n  x:\n    command: c\n",
		"e.json": `{"mcp": {"x": {"command": ["c"]}}}`,
	} {
		path := filepath.Join(env.Home, name)
		fill(t, path, text)
		f, err := FileAt(env, path)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if got, err := Read(f); err != nil || len(got.Servers) != 1 || got.Servers[0].Name != "x" || got.Servers[0].Command != "c" {
			t.Errorf("%s: %+v, %v", name, got, err)
		}
	}
	path := filepath.Join(env.Home, "none.json")
	fill(t, path, `{"a": 1}`)
	_, err := FileAt(env, path)
	refusedWith(t, err, gateway.CodeInvalid, "no list of MCP servers")
	_, err = FileAt(env, filepath.Join(env.Home, "gone.json"))
	refusedWith(t, err, gateway.CodeNotFound, "does not exist")
}

// TestSwitchedOffInOne: what one client has switched off, another may want.
func TestSwitchedOffInOne(t *testing.T) {
	env := Environment{GOOS: "linux", Home: t.TempDir()}
	var files []File
	for _, name := range []string{"off.json", "on.json"} {
		path := filepath.Join(env.Home, name)
		fill(t, path, `{"mcpServers": {"x": {"command": "c", "disabled": `+map[string]string{"off.json": "true", "on.json": "false"}[name]+`}}}`)
		f, err := FileAt(env, path)
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, f)
	}
	g := Gather(files, Imports{}, nobody, nobody)
	if len(g.Found) != 1 || g.Found[0].Disabled {
		t.Errorf("%+v", g.Found)
	}
}
