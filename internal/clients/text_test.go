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
		"claude mcp add":            {"$ claude mcp add -e KEY=a=b --scope user files -- npx -y server-files \"my dir\" -v", `files {"command":"npx","args":["-y","server-files","mydir","-v"],"env":{"KEY":"a=b"}}`},
		"without --":                {"claude mcp add docs npx docs --port 1", `docs {"command":"npx","args":["docs","--port","1"]}`},
		"of a URL":                  {"claude mcp add --transport http \\\n  web https://a.example/mcp --header 'X-Region: eu'", `web {"url":"https://a.example/mcp","type":"http","headers":{"X-Region":"eu"}}`},
		"several":                   {"# mine\nclaude mcp add a --env=B=c -- one\nclaude mcp add b -t sse https://b.example/sse\n", `a {"command":"one","env":{"B":"c"}} b {"url":"https://b.example/sse","type":"sse"}`},
		"a header behind":           {`claude mcp add ctx https://a.example/mcp --transport http -H "Authorization: Bearer k"`, `ctx {"url":"https://a.example/mcp","type":"http","headers":{"Authorization":"Bearerk"}}`},
		"a URL alone":               {`claude mcp add ctx https://a.example/mcp -H "A: b" "C: d" -s user`, `ctx {"url":"https://a.example/mcp","headers":{"A":"b","C":"d"}}`},
		"headers before":            {`claude mcp add -t sse -H "A: b" "C: d" ctx https://a.example/mcp`, `ctx {"url":"https://a.example/mcp","type":"sse","headers":{"A":"b","C":"d"}}`},
		"variables in a row":        {"claude mcp add files -e A=1 B=https://b.example/?c=d -- npx E=2", `files {"command":"npx","args":["E=2"],"env":{"A":"1","B":"https://b.example/?c=d"}}`},
		"the name behind them":      {"claude mcp add -e A=1 B=2 files npx -e C=3", `files {"command":"npx","args":["-e","C=3"],"env":{"A":"1","B":"2"}}`},
		"a path of Windows":         {`claude mcp add files -- "C:\Users\me\fs.exe" "a \"b\" \$c" 'C:\d' e\ f`, `files {"command":"C:\\Users\\me\\fs.exe","args":["a\"b\"$c","C:\\d","ef"]}`},
		"several on a line":         {"claude mcp add a one && claude mcp add b two;claude mcp add c '3;4'", `a {"command":"one"} b {"command":"two"} c {"command":"3;4"}`},
		"a comment behind":          {"claude mcp add a one#1 # it's && the first\n$ claude mcp add b two # other", `a {"command":"one#1"} b {"command":"two"}`},
		"a quote over lines":        {"claude mcp add a \"one\\\n two\" 'three\n'", `a {"command":"onetwo","args":["three\n"]}`},
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
	for _, text := range []string{
		"", "{}", "hello", `{"name": "x"}`, `{"mcpServers": {`, `{"a": {"b": 1}}`, "[]", "claude mcp add x", "claude mcp add --transport http x a b", "claude mcp add -e KEY x -- y", "claude mcp add --what x y -- z",
		"claude mcp add", "claude mcp add x https://a.example more", "claude mcp add -e A=1 B=2 -- npx", "claude mcp add -e A=1 x",
	} {
		if got, err := ReadText(text, "/root"); err == nil || gateway.AsError(err).Code != gateway.CodeInvalid {
			t.Errorf("%q: %+v, %v; want a mistake of the input", text, got.Servers, err)
		}
	}
	for text, want := range map[string]string{
		"｛\"mcpServers\": {}}":               "a full-width \"｛\" cannot be used here; write {",
		"lol {nonsense":                      "the text is not JSON: line 1, column 1: a value is expected here",
		"{\n  \"mcpServers\": {\n    x: 1}}": "the text is not JSON: line 3, column 5: a key in double quotes is expected here",
		"[]":                                 "the text is a list; a JSON object with mcpServers is expected",
		"claude mcp add x":                   "it is written as `claude mcp add -e",
		"claude mcp add x \"y":               "a quote that is not closed",
		"claude mcp add x y | tee log":       "other commands than `claude mcp add`",
		"claude mcp add x https://a.example/?b=1&token=2":     "put quotes around values",
		"claude mcp add x y\nnpm install z":                   "leave them out",
		"claude mcp add x y && claude mcp add -s user x -- z": "add a server \"x\"",
		"hello": "the text is not JSON: line 1, column 1",
	} {
		if _, err := ReadText(text, "/root"); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v; want %s", text, err, want)
		}
	}
}

// There is no file in which a key could stay.
func TestNotesOfPastedText(t *testing.T) {
	got, err := ReadText(`{"mcpServers": {"a": {"command": "x", "colour": "red"}}}`, "/root")
	if err != nil || len(got.Notes) != 1 || got.Notes[0].Text.String() != "colour is not known to genkan, so it was left out" {
		t.Errorf("%v, %v", got.Notes, err)
	}
	// A number is neither a command nor an address.
	for _, text := range []string{`{"command": 1}`, `{"a": {"url": true}}`, `{"mcpServers": {"a": {"command": {"path": 2}}}}`} {
		got, err := ReadText(text, "/root")
		if err != nil || len(got.Servers) != 0 || len(got.Notes) != 1 || !strings.Contains(got.Notes[0].Text.String(), "neither a command nor a url") {
			t.Errorf("%s: %+v, %v", text, got, err)
		}
	}
}
