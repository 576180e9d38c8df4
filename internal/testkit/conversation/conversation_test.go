package conversation

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"

	"genkan/internal/testkit"
)

// flags are the fault server's, from the archive's file of that name.
func flags(arc *txtar.Archive) []string {
	for _, file := range arc.Files {
		if file.Name == "flags" {
			return strings.Fields(string(file.Data))
		}
	}
	return nil
}

func stdio(t *testing.T, arc *txtar.Archive) testkit.Conn {
	command, argv, env := testkit.FaultCommand(t, flags(arc)...)
	return testkit.StartStdio(t, command, argv, env)
}

func overHTTP(t *testing.T, arc *txtar.Archive) testkit.Conn {
	return testkit.NewHTTPConn(testkit.StartFaultHTTP(t, flags(arc)...), "", nil)
}

func overSSE(t *testing.T, arc *txtar.Archive) testkit.Conn {
	return testkit.NewHTTPConn(testkit.StartFaultHTTP(t, append(flags(arc), "-sse")...), "", nil)
}

// The same conversation holds over every transport.
func TestPlay(t *testing.T) {
	files, err := filepath.Glob("testdata/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatal("no conversations", err)
	}
	for _, file := range files {
		for name, connect := range map[string]func(*testing.T, *txtar.Archive) testkit.Conn{
			"stdio": stdio, "http": overHTTP, "sse": overSSE,
		} {
			t.Run(filepath.Base(file)+" "+name, func(t *testing.T) { Play(t, file, connect) })
		}
	}
}

func TestEndOfConnection(t *testing.T) {
	file := filepath.Join(t.TempDir(), "end.txtar")
	write(t, file, `-- talk --
-> {"jsonrpc":"2.0","id":1,"method":"tools/call","params":{`+meta+`,"name":"crash","arguments":{}}}
<- EOF
`)
	Play(t, file, stdio)
}

const meta = `"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}`

func TestFailuresOfHTTPAreMessages(t *testing.T) {
	file := filepath.Join(t.TempDir(), "http.txtar")
	write(t, file, `-- talk --
-> {"jsonrpc":"2.0","id":1,"method":"ping"}
<- {"http":400,"body":"Bad Request: Mcp-Session-Id is missing"}
`)
	Play(t, file, overHTTP)
}

// With -update, what came replaces what was expected, and nothing else
// changes.
func TestUpdate(t *testing.T) {
	if testkit.Updating() {
		t.Skip("this test switches -update on and off")
	}
	call := func(id, text string) string {
		return `{"jsonrpc":"2.0","id":` + id + `,"method":"tools/call","params":{` + meta + `,"name":"echo","arguments":{"text":"` + text + `"}}}`
	}
	result := func(id, meta, text string) string {
		return `{"jsonrpc":"2.0","id":` + id + `,"result":{"resultType":"complete","_meta":` + meta + `,"content":[{"type":"text","text":"` + text + `"}]}}`
	}
	talk := func(first, second, third string) string {
		return "Why.\n-- config.yaml --\na: 1\n-- talk --\n# comment\n-> " + call("1", "x") + "\n<- " + first +
			"\n\n-> " + call("2", "y") + "\n<- " + second + "\n-> " + call("3", "z") + "\n<~ " + third + "\n"
	}
	file := filepath.Join(t.TempDir(), "update.txtar")
	kept := `  {"jsonrpc":"2.0",
  "id":1,"...":"..."}`
	write(t, file, talk(kept, result("2", `"..."`, "wrong"), "{}"))
	if err := flag.Set("update", "true"); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = flag.Set("update", "false") }()
	Play(t, file, stdio)
	got, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	want := talk(kept, result("2", `"..."`, "y"),
		result("3", `{"io.modelcontextprotocol/serverInfo":{"name":"faultserver","version":"1.0.0"}}`, "z"))
	if string(got) != want {
		t.Errorf("updated\n%s\nwant\n%s", got, want)
	}
}

func write(t *testing.T, file, content string) {
	t.Helper()
	if err := os.WriteFile(file, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
}
