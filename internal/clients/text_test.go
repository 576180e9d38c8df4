package clients

import (
	"strings"
	"testing"

	"genkan/internal/gateway"
)

func TestPastedText(t *testing.T) {
	for name, tt := range map[string]struct{ text, want string }{
		"a client's file":           {`{"mcpServers": {"github": {"command": "npx", "args": ["-y", "x"]}}}`, `github {"command":"npx","args":["-y","x"]}`},
		"VS Code's":                 {`{"servers": {"web": {"type": "http", "url": "https://a.example/mcp"}}}`, `web {"url":"https://a.example/mcp","type":"http"}`},
		"servers alone":             {`{"a": {"command": "one"}, "b": {"url": "https://b.example"}}`, `a {"command":"one"} b {"url":"https://b.example"}`},
		"a part of a file":          {`"github": {"command": "gh-mcp"},`, `github {"command":"gh-mcp"}`},
		"one entry of a package":    {`{"command": "npx", "args": ["-y", "@scope/server-files@1.2", "."]}`, `server-files {"command":"npx","args":["-y","@scope/server-files@1.2","."]}`},
		"one entry with an address": {`{"url": "https://mcp.linear.app/sse"}`, `linear-app {"url":"https://mcp.linear.app/sse"}`},
		"TOML":                      {"[mcp_servers.docs]\ncommand = \"docs\"\n", `docs {"command":"docs"}`},
		"YAML":                      {"mcpServers:\n  files:\n    command: files\n", `files {"command":"files"}`},
		"comments and a comma":      {"{\n// mine\n\"mcpServers\": {\"a\": {\"command\": \"x\"},}}", `a {"command":"x"}`},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := ReadText(tt.text, "/root")
			if err != nil {
				t.Fatal(err)
			}
			var all []string
			for _, s := range got.Servers {
				all = append(all, s.Name+" "+strings.Join(strings.Fields(string(s.Definition())), ""))
			}
			if text := strings.Join(all, " "); text != tt.want {
				t.Errorf("read %s\nwant %s", text, tt.want)
			}
		})
	}
	for _, text := range []string{"", "{}", "hello", `{"name": "x"}`, `{"mcpServers": {`, `{"a": {"b": 1}}`, "[]"} {
		if got, err := ReadText(text, "/root"); err == nil || gateway.AsError(err).Code != gateway.CodeInvalid {
			t.Errorf("%q: %+v, %v; want a mistake of the input", text, got.Servers, err)
		}
	}
	for text, want := range map[string]string{
		"lol {nonsense":                      "the text is not JSON: line 1, column 1: a value is expected here",
		"{\n  \"mcpServers\": {\n    x: 1}}": "the text is not JSON: line 3, column 5: a key in double quotes is expected here",
		"hello":                              "the text is not JSON: line 1, column 1",
	} {
		if _, err := ReadText(text, "/root"); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v; want %s", text, err, want)
		}
	}
}
