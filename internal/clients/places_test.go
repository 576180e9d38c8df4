package clients

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"genkan/internal/testkit"
)

// The golden file is the table of all places on all systems.
func TestPlaces(t *testing.T) {
	some := func(pattern string) ([]string, error) { return []string{strings.ReplaceAll(pattern, "*", "some")}, nil }
	systems := []struct {
		title string
		env   Environment
	}{
		{"Linux", Environment{GOOS: "linux", Home: "/Users/mika", WorkDir: "/srv/example"}},
		{"macOS", Environment{GOOS: "darwin", Home: "/Users/mika", WorkDir: "/srv/example"}},
		{"Windows", Environment{GOOS: "windows", Home: `C:\Users\mika`, WorkDir: `D:\src\shop`}},
		{"Linux with variables", Environment{GOOS: "linux", Home: "/Users/mika", Getenv: environ(
			"XDG_CONFIG_HOME", "/xdg", "CLAUDE_CONFIG_DIR", "/claude", "CODEX_HOME", "/codex", "COPILOT_HOME", "/copilot",
			"CLINE_MCP_SETTINGS_PATH", "/cline.json", "CONTINUE_GLOBAL_DIR", "/continue", "OPENCODE_CONFIG", "/opencode.json",
		)}},
		{"Windows with variables", Environment{GOOS: "windows", Home: `C:\Users\mika`, Getenv: environ(
			"APPDATA", `R:\Roaming`, "LOCALAPPDATA", `L:\Local`,
		)}},
	}
	var golden strings.Builder
	for _, system := range systems {
		fmt.Fprintf(&golden, "== %s\n", system.title)
		system.env.Glob = some
		for _, c := range All() {
			for _, f := range c.Files(system.env) {
				how := "url"
				if f.Bridged() {
					how = "stdio"
				}
				fmt.Fprintf(&golden, "%-15s %-8s %-5s %-6s %s\n", c.Title, f.Scope, f.Format, how, f.Path)
			}
		}
	}
	testkit.GoldenFile(t, filepath.Join("testdata", "places.golden"), []byte(golden.String()))
}

func environ(pairs ...string) func(string) string {
	m := map[string]string{}
	for i := 0; i < len(pairs); i += 2 {
		m[pairs[i]] = pairs[i+1]
	}
	return func(name string) string { return m[name] }
}

func TestFind(t *testing.T) {
	home, project := t.TempDir(), t.TempDir()
	for _, path := range []string{
		filepath.Join(home, ".claude.json"), filepath.Join(project, ".mcp.json"),
		filepath.Join(home, ".continue", "mcpServers", "browser.yaml"),
	} {
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.MkdirAll(filepath.Join(home, ".cursor", "mcp.json"), 0o700); err != nil {
		t.Fatal(err) // a folder is no file
	}
	var found []string
	for _, f := range Find(Environment{GOOS: "linux", Home: home, WorkDir: project, Glob: filepath.Glob}) {
		found = append(found, f.Client+" "+filepath.Base(f.Path))
	}
	// VS Code reads .mcp.json too; it is found once.
	want := "[claude-code .claude.json claude-code .mcp.json continue browser.yaml]"
	if got := fmt.Sprint(found); got != want {
		t.Errorf("found %s, want %s", got, want)
	}
}

func TestLookup(t *testing.T) {
	for _, c := range All() {
		if got, ok := Lookup(c.Name); !ok || got.Title != c.Title {
			t.Errorf("%s is not found", c.Name)
		}
	}
	if _, ok := Lookup("emacs"); ok {
		t.Error("emacs is found")
	}
}

// TestNoProjectAtHome: a file is somebody's own or a project's, not both.
func TestNoProjectAtHome(t *testing.T) {
	env := Environment{GOOS: "linux", Home: "/srv/example", WorkDir: "/srv/example"}
	for _, c := range All() {
		seen := map[string]bool{}
		for _, f := range c.Files(env) {
			if seen[f.Path] {
				t.Errorf("%s has %s twice", c.Name, f.Path)
			}
			seen[f.Path] = true
			if f.Path == "/srv/example/.cursor/mcp.json" && f.Scope != User {
				t.Errorf("%s is a project's", f.Path)
			}
		}
	}
}
