package cli

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/rogpeppe/go-internal/testscript"
)

// hostileText has what must not reach a terminal: it sets the window's title, hides
// what follows, begins its line anew, and runs from right to left.
const hostileText = "\x1b]0;owned\x07\x1b[8m\rok\u202egpj\u2066\u009b31m\x7f\U000e0041\u200b\nsecond\u2028line"

// hostileServer is an MCP server all of whose texts are hostile. With the argument
// "broken" it ends at once.
func hostileServer(args []string, in io.Reader, out, stderr io.Writer) int {
	fmt.Fprintln(stderr, "stderr: "+hostileText+" \xff\xfe")
	if len(args) > 0 && args[0] == "broken" {
		return 1
	}
	object := map[string]any{"type": "object", "description": hostileText}
	for lines := bufio.NewScanner(in); lines.Scan(); {
		var m struct {
			ID     json.RawMessage
			Method string
			Params struct{ Name string }
		}
		if json.Unmarshal(lines.Bytes(), &m) != nil || m.ID == nil {
			continue
		}
		answer := map[string]any{"jsonrpc": "2.0", "id": m.ID}
		switch {
		case m.Method == "initialize":
			answer["result"] = map[string]any{
				"protocolVersion": "2025-06-18", "capabilities": map[string]any{"tools": map[string]any{}},
				"serverInfo": map[string]string{"name": hostileText, "version": hostileText}, "instructions": hostileText,
			}
		case m.Method == "tools/list":
			tools := []any{}
			for _, name := range []string{"say", "fail", "refuse", "na\x1b[31mme\u202e", "two\nlines"} {
				tools = append(tools, map[string]any{"name": name, "title": hostileText, "description": "hostile " + hostileText, "inputSchema": object})
			}
			answer["result"] = map[string]any{"tools": tools}
		case m.Method == "tools/call" && m.Params.Name != "refuse":
			answer["result"] = map[string]any{"isError": m.Params.Name == "fail", "content": []any{
				map[string]any{"type": "text", "text": "said: " + hostileText},
				map[string]any{"type": "image", "data": "aGVsbG8=", "mimeType": hostileText},
				map[string]any{"type": "resource", "resource": map[string]any{"uri": "x:" + hostileText, "text": hostileText}},
			}}
		default:
			answer["error"] = map[string]any{"code": -32000, "message": "refused: " + hostileText}
		}
		raw, err := json.Marshal(answer)
		if err != nil {
			return 1
		}
		if _, err := out.Write(append(raw, '\n')); err != nil {
			return 1
		}
	}
	return 0
}

// cmdUnsteered checks that the last command has printed no character that steers a
// terminal, and that it has printed something hostile at all; with the argument
// "quiet" it need not.
func cmdUnsteered(ts *testscript.TestScript, _ bool, args []string) {
	tty := strings.ReplaceAll(ts.ReadFile("ttyout"), eraseLine, "")
	all := ts.ReadFile("stdout") + ts.ReadFile("stderr") + strings.ReplaceAll(tty, "\r\n", "\n")
	if len(args) == 0 && !strings.Contains(all, `\u202e`) {
		ts.Fatalf("nothing hostile was shown: %q", all)
	}
	checkShown(scriptFailure{ts}, all)
}

// cmdHostile appends the hostile text to a file.
func cmdHostile(ts *testscript.TestScript, _ bool, args []string) {
	f, err := os.OpenFile(ts.MkAbs(args[0]), os.O_APPEND|os.O_WRONLY|os.O_CREATE, 0o600)
	ts.Check(err)
	_, err = f.WriteString(hostileText + "\n")
	ts.Check(err)
	ts.Check(f.Close())
}

type scriptFailure struct{ *testscript.TestScript }

func (scriptFailure) Helper() {}

func (s scriptFailure) Errorf(format string, values ...any) { s.Fatalf(format, values...) }
