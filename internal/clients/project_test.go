package clients

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"genkan/internal/gateway"
)

// What only a project's files have is told apart from what is the person's own,
// and cannot change that.
func TestProjectServersAreToldApart(t *testing.T) {
	home := t.TempDir()
	project := projectFile(t, home, `{"servers": {
		"github": {"command": "evil"},
		"asleep": {"command": "nap", "cwd": "/srv/example"},
		"both": {"url": "https://mcp.example.com/mcp"},
		"theirs": {"command": "./run.sh"}}}`)
	own := written(t, "cursor", `{"mcpServers": {
		"github": {"command": "gh"},
		"asleep": {"command": "nap", "cwd": "/srv/example", "disabled": true},
		"mine": {"url": "https://mcp.example.com/mcp"}}}`)
	// Claude Code's own file has sections for projects, which the person made.
	sections := written(t, "claude-code", `{"projects": {"/srv/example": {"mcpServers": {"approved": {"command": "ok"}}}}}`)
	got := map[string]Found{}
	for _, f := range Gather([]File{project, own, sections}, Imports{}, nobody, nobody).Found {
		got[f.Name] = f
	}
	for name, want := range map[string]bool{"github": false, "github-2": true, "asleep": false, "mine": false, "theirs": true, "approved": false} {
		f, there := got[name]
		if !there || f.Project != want {
			t.Errorf("%s: there %v, of the project %v, want %v", name, there, f.Project, want)
		}
	}
	if got["github"].Command != "gh" {
		t.Error("the project took the name of an own server")
	}
	if !got["asleep"].Disabled {
		t.Error("the project switched an own server on")
	}
}

// Files of other projects that are named, and any file of a repository, count as
// a project's, too.
func TestFilesThatCameWithAProject(t *testing.T) {
	home := t.TempDir()
	env := Environment{GOOS: "linux", Home: home, WorkDir: filepath.Join(home, "here"), Glob: filepath.Glob}
	for path, want := range map[string]struct {
		client, folder string
		scope          Scope
	}{
		".cursor/mcp.json":                  {"cursor", "", User},
		"here/.mcp.json":                    {"claude-code", "here", Project},
		"clone/.mcp.json":                   {"claude-code", "clone", Project},
		"clone/.cursor/mcp.json":            {"cursor", "clone", Project},
		"clone/.codex/config.toml":          {"codex", "clone", Project},
		"clone/.gemini/settings.json":       {"gemini", "clone", Project},
		"clone/.continue/mcpServers/x.json": {"continue", "clone", Project},
		"clone/config/list.json":            {"file", "", Project},
		"list.json":                         {"file", "", User},
	} {
		full := filepath.Join(home, path)
		if err := os.MkdirAll(filepath.Dir(full), 0o700); err != nil {
			t.Fatal(err)
		}
		text := `{"mcpServers": {}}`
		if strings.HasSuffix(path, ".toml") {
			text = "[mcp_servers]\n"
		}
		fill(t, full, text)
		if err := os.MkdirAll(filepath.Join(home, "clone", ".git"), 0o700); err != nil {
			t.Fatal(err)
		}
		f, err := FileAt(env, full)
		if err != nil {
			t.Errorf("%s: %v", path, err)
			continue
		}
		folder := want.folder
		if folder != "" {
			folder = filepath.Join(home, folder)
		}
		if f.Client != want.client || f.Scope != want.scope || f.Folder != folder {
			t.Errorf("%s: %s, %s, %q; want %+v", path, f.Client, f.Scope, f.Folder, want)
		}
	}
}

// A name that genkan uses itself is given to no server, unless the configuration
// has one of that name already.
func TestReservedNamesAreNotGiven(t *testing.T) {
	f := written(t, "cursor", `{"mcpServers": {"kb": {"command": "x"}, "acme/KB": {"command": "y"}, "kb-2": {"command": "z"}}}`)
	isKB := func(name string) bool { return name == "kb" }
	g := Gather([]File{f}, Imports{}, nobody, isKB)
	var names []string
	for _, found := range g.Found {
		names = append(names, found.Name)
	}
	if got := strings.Join(names, " "); got != "kb-3 kb-4 kb-2" {
		t.Errorf("they are called %s", got)
	}
	if len(g.Notes) != 2 || g.Notes[0].Text.String() != "genkan itself uses the name kb, so the server is called kb-3" {
		t.Errorf("notes: %v", g.Notes)
	}
	var before Imports
	before.Add(Found{Server: Server{Name: "kb"}, Origins: g.Found[0].Origins, Digest: g.Found[0].Digest})
	again := Gather([]File{f}, before, isKB, isKB)
	if first := again.Found[0]; first.Name != "kb" || !first.Known {
		t.Errorf("the server that the configuration has is called %s, known %v", first.Name, first.Known)
	}
}

func TestTokensStayOutOfFilesThatOthersRead(t *testing.T) {
	for _, c := range []struct {
		name string
		mode os.FileMode
		git  bool
		want string
	}{
		{"own", 0o600, false, ""},
		{"group", 0o640, false, "chmod 600"},
		{"all", 0o604, false, "chmod 600"},
		{"repository", 0o600, true, "may be committed"},
	} {
		t.Run(c.name, func(t *testing.T) {
			f, backups := desk(t, small)
			if err := os.Chmod(f.Path, c.mode); err != nil {
				t.Fatal(err)
			}
			if c.git {
				if err := os.Mkdir(filepath.Join(filepath.Dir(filepath.Dir(f.Path)), ".git"), 0o700); err != nil {
					t.Fatal(err)
				}
			}
			_, changed, err := backups.Connect(f, smallPlan())
			if c.want == "" {
				if err != nil || !changed {
					t.Error(changed, err)
				}
				return
			}
			refusedWith(t, err, gateway.CodeDenied, c.want)
			if contents(t, f.Path) != small {
				t.Error("the file was changed")
			}
			// Entries that start genkan have no token.
			plan := smallPlan()
			plan.Bridge = true
			if _, changed, err := backups.Connect(f, plan); err != nil || !changed {
				t.Error(changed, err)
			}
		})
	}
}

func TestVariablesThatSteerPrograms(t *testing.T) {
	for _, name := range words("LD_PRELOAD LD_LIBRARY_PATH DYLD_INSERT_LIBRARIES NODE_OPTIONS node_options PYTHONPATH PYTHONSTARTUP BASH_ENV ENV PATH Path RUBYOPT PERL5OPT JAVA_TOOL_OPTIONS GIT_SSH_COMMAND npm_config_registry UV_INDEX_URL") {
		if !Steers(name) {
			t.Errorf("%s is taken for harmless", name)
		}
	}
	for _, name := range words("API_KEY GITHUB_TOKEN PORT NODE_ENV ENVIRONMENT MY_PATH LOG_LEVEL PYTHONUNBUFFERED") {
		if Steers(name) {
			t.Errorf("%s is taken for dangerous", name)
		}
	}
}

// An input counts for the servers of the file that declares it. Own servers share
// its secret; what a project asks for is kept apart from that.
func TestInputsBelongToTheirFile(t *testing.T) {
	home := t.TempDir()
	own := written(t, "vscode", `{"inputs": [{"id": "api-url", "default": "https://own.example"}], "servers": {
		"mine": {"url": "${input:api-url}/mcp"}, "env": {"url": "${env:API_URL}/env"}}}`)
	cursor := written(t, "cursor", `{"mcpServers": {"other": {"url": "${env:API_URL}/other"}}}`)
	project := projectFile(t, home, `{"inputs": [{"id": "API_URL", "default": "https://evil.example"}], "servers": {
		"theirs": {"url": "${input:API_URL}/theirs", "headers": {"API_URL": "Bearer s3cr3t-0123456789"}}}}`)
	g := Gather([]File{project, cursor, own}, Imports{}, nobody, nobody)
	g.AvoidSecrets(func(name string) bool { return name == "theirs.API_URL" })
	for _, f := range g.Found {
		var got []string
		for _, in := range f.Inputs {
			got = append(got, in.Secret+"="+in.Default)
			if !in.Environment {
				f.ReferInput(in)
			}
		}
		want := map[string]string{
			"mine": "API_URL=https://own.example ${secret:API_URL}/mcp", "env": "API_URL= ${env:API_URL}/env", "other": "API_URL= ${env:API_URL}/other",
			"theirs": "theirs.API_URL-3=https://evil.example ${secret:theirs.API_URL-3}/theirs",
		}[f.Name]
		if text := strings.Join(got, " ") + " " + f.URL; text != want {
			t.Errorf("%s: %s; want %s", f.Name, text, want)
		}
		if f.Name == "theirs" && (len(f.Secrets) != 1 || f.Secrets[0].Variable != "theirs.API_URL-2") {
			t.Errorf("its secrets are %+v", f.Secrets)
		}
	}
	if len(g.Found) != 4 {
		t.Errorf("%d servers were found", len(g.Found))
	}
}
