package clients

import (
	"strings"
	"testing"
)

// Names with letters stay; the others are made of what the server is.
func TestTellingNames(t *testing.T) {
	for _, c := range []struct{ original, server, want string }{
		{"GitHub", "npx -y server-filesystem", "GitHub"},
		{"文書1", "npx -y @modelcontextprotocol/server-filesystem /srv", "filesystem"},
		{"文書2", "npx -y @modelcontextprotocol/server-filesystem@2026.1.14", "filesystem"},
		{"時刻", "uvx mcp-server-time --local-timezone=Asia/Tokyo", "time"},
		{"時刻", "uv run --with mcp weather.py", "weather"},
		{"時刻", "python3 -m mcp_server_time", "time"},
		{"倉庫", "docker run -i --rm -e GITHUB_TOKEN ghcr.io/github/github-mcp-server:latest", "github"},
		{"倉庫", "docker run -e A=b --name x mcp/fetch", "fetch"},
		{"天気", "node /srv/example/weather-server/dist/index.js", "weather"},
		{"天気", `cmd /c npx -y weather-mcp`, "weather"},
		{"天気", `C:\Tools\weather-mcp.exe --stdio`, "weather"},
		{"天気", "/usr/local/bin/tenki", "tenki"},
		{"連絡", "https://mcp.notion.com/mcp", "notion"},
		{"連絡", "https://mcp.example.co.uk/sse", "example"},
		{"連絡", "http://127.0.0.1:8080/notes/mcp", "notes"},
		{"連絡", "http://localhost:8080/mcp", "連絡"},
		{"???", "npx", "???"},
		{"???", "node ${HERE}/index.js", "???"},
		{"???", "node dist/index.js", "???"},
		{"???", "bash -c run", "???"},
		{"鍵", "npx sk-proj-abcdefghijklmnopqrstuvwxyz0123456789", "鍵"},
		{"", "", ""},
	} {
		s := Server{}
		if strings.Contains(c.server, "://") {
			s.URL = c.server
		} else if all := strings.Fields(c.server); len(all) > 0 {
			s.Command, s.Args = all[0], all[1:]
		}
		if got := nameFor(c.original, s); got != c.want {
			t.Errorf("%s, %s: got %q, want %q", c.original, c.server, got, c.want)
		}
	}
}
