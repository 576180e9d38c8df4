package clients

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"genkan/internal/testkit"
)

func TestMain(m *testing.M) { testkit.Main(m) }

// mac is a person's machine on which everything is where it usually is.
func mac() Environment {
	return Environment{
		GOOS: "darwin", Home: "/Users/mika", WorkDir: "/Users/mika/src/shop",
		Getenv: func(string) string { return "" },
		Glob: func(pattern string) ([]string, error) {
			return []string{strings.ReplaceAll(pattern, "*", "some")}, nil
		},
	}
}

// fileOf is the file of a client whose path ends as given.
func fileOf(tb testing.TB, client, ending string) File {
	tb.Helper()
	c, ok := Lookup(client)
	if !ok {
		tb.Fatalf("no client %s", client)
	}
	for _, f := range c.Files(mac()) {
		if strings.HasSuffix(f.Path, ending) {
			return f
		}
	}
	tb.Fatalf("%s has no file that ends with %s", client, ending)
	return File{}
}

func testdata(tb testing.TB, name string) []byte {
	tb.Helper()
	b, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		tb.Fatal(err)
	}
	return b
}

// samples are files as people have them, one for each way to write them.
var samples = []struct{ data, client, ending string }{
	{"claude-desktop.json", "claude-desktop", "claude_desktop_config.json"},
	{"claude-code-user.json", "claude-code", "/.claude.json"},
	{"claude-code-project.json", "claude-code", "shop/.mcp.json"},
	{"cursor-user.json", "cursor", "mika/.cursor/mcp.json"},
	{"cursor-project.json", "cursor", "shop/.cursor/mcp.json"},
	{"vscode-user.json", "vscode", "Code/User/mcp.json"},
	{"vscode-project.json", "vscode", "shop/.vscode/mcp.json"},
	{"vscode-copilot.json", "vscode", ".copilot/mcp-config.json"},
	{"windsurf.json", "windsurf", "windsurf/mcp_config.json"},
	{"windsurf-devin.json", "windsurf", "devin/mcp_config.json"},
	{"codex-user.toml", "codex", "mika/.codex/config.toml"},
	{"codex-inline.toml", "codex", "shop/.codex/config.toml"},
	{"gemini-user.json", "gemini", "mika/.gemini/settings.json"},
	{"zed.json", "zed", "zed/settings.json"},
	{"cline.json", "cline", "cline_mcp_settings.json"},
	{"continue.yaml", "continue", ".continue/config.yaml"},
	{"continue-block.yaml", "continue", "shop/.continue/mcpServers/some.yaml"},
	{"continue-block.json", "continue", "mika/.continue/mcpServers/some.json"},
	{"continue-legacy.json", "continue", ".continue/config.json"},
	{"opencode.jsonc", "opencode", ".config/opencode/opencode.jsonc"},
	{"opencode-v2.jsonc", "opencode", "shop/opencode.jsonc"},
}
