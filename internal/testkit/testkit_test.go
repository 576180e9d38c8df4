package testkit_test

import (
	"context"
	"errors"
	"flag"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"genkan/internal/testkit"
)

func TestMain(m *testing.M) { testkit.Main(m) }

const initialize = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}`

func exchange(t *testing.T, c testkit.Conn, line string) string {
	t.Helper()
	if err := c.Send([]byte(line)); err != nil {
		t.Fatal(err)
	}
	got, err := c.Receive(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return string(got)
}

func TestRestartKeepsTheAddress(t *testing.T) {
	f := testkit.NewFaultHTTP(t)
	url, pid := f.URL(), f.Pid()
	c := testkit.NewHTTPConn(url, "", nil)
	defer func() { _ = c.Close() }()
	if got := exchange(t, c, initialize); !strings.Contains(got, "serverInfo") {
		t.Fatalf("initialize was answered with %s", got)
	}
	f.Restart()
	if f.URL() != url || f.Pid() == pid || testkit.Alive(pid) || !testkit.Alive(f.Pid()) {
		t.Errorf("after the restart: %s, process %d, before: %s, process %d", f.URL(), f.Pid(), url, pid)
	}
	if got := exchange(t, c, `{"jsonrpc":"2.0","id":2,"method":"ping"}`); got != `{"http":404,"body":"session not found"}` {
		t.Errorf("the old session was answered with %s", got)
	}
	if got := exchange(t, c, initialize); !strings.Contains(got, "serverInfo") {
		t.Errorf("the second initialize was answered with %s", got)
	}
	f.Stop()
	f.Stop()
	if f.Pid() != 0 {
		t.Errorf("a stopped server has the process id %d", f.Pid())
	}
	if err := c.Send([]byte(`{"jsonrpc":"2.0","method":"notifications/x"}`)); err == nil {
		t.Error("a stopped server took a notification")
	}
}

func TestHTTPConnSendsTokenAndHeaders(t *testing.T) {
	record := filepath.Join(t.TempDir(), "record")
	url := testkit.StartFaultHTTP(t, "-record", record, "-record-headers")
	c := testkit.NewHTTPConn(url, "secret", http.Header{"X-Test": {"yes"}, "Host": {"genkan.example"}})
	exchange(t, c, initialize)
	if err := c.Close(); err != nil {
		t.Fatal(err)
	}
	lines := testkit.Lines(t, record)
	for _, want := range []string{`"Authorization":["Bearer secret"]`, `"X-Test":["yes"]`, `"host":"genkan.example"`} {
		if !strings.Contains(lines[0], want) {
			t.Errorf("the request lacks %s: %s", want, lines[0])
		}
	}
	if last := lines[len(lines)-1]; !strings.Contains(last, `"DELETE"`) || !strings.Contains(last, `"Mcp-Session-Id"`) {
		t.Errorf("the session was not deleted: %s", last)
	}
}

func TestPipeConn(t *testing.T) {
	theirIn, ourOut := io.Pipe()
	ourIn, theirOut := io.Pipe()
	go func() { // a server that says everything twice, and ends when its input does
		buf := make([]byte, 1024)
		for {
			n, err := theirIn.Read(buf)
			if err != nil {
				_ = theirOut.Close()
				return
			}
			_, _ = theirOut.Write(append(buf[:n:n], buf[:n]...))
		}
	}()
	c := testkit.NewPipeConn(ourIn, ourOut)
	if got := exchange(t, c, "{\n\"a\":1}"); got != `{ "a":1}` {
		t.Errorf("got %q", got)
	}
	if got, err := c.Receive(t.Context()); err != nil || string(got) != `{ "a":1}` {
		t.Errorf("got %q, %v", got, err)
	}
	canceled, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := c.Receive(canceled); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	if err := c.Close(); err != nil {
		t.Error(err)
	}
	if _, err := c.Receive(t.Context()); !errors.Is(err, io.EOF) {
		t.Errorf("after the end came %v", err)
	}
}

func TestStdioHasACleanEnvironment(t *testing.T) {
	t.Setenv("GENKAN_CANARY", "x")
	command, argv, env := testkit.FaultCommand(t)
	env["DECLARED"] = "y"
	c := testkit.StartStdio(t, command, argv, env)
	exchange(t, c, initialize)
	got := exchange(t, c, `{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"env"}}`)
	if strings.Contains(got, "CANARY") || !strings.Contains(got, "DECLARED=y") {
		t.Errorf("the environment is %s", got)
	}
}

func TestLines(t *testing.T) {
	file := filepath.Join(t.TempDir(), "lines")
	if got := testkit.Lines(t, file); got != nil {
		t.Errorf("a file that does not exist has the lines %q", got)
	}
	for content, want := range map[string][]string{
		"":              nil,
		"half":          nil,
		"one\n":         {"one"},
		"one\n\ntwo\nx": {"one", "", "two"},
	} {
		if err := os.WriteFile(file, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		if got := testkit.Lines(t, file); !slices.Equal(got, want) {
			t.Errorf("%q has the lines %q, want %q", content, got, want)
		}
	}
}

func TestEventually(t *testing.T) {
	tries := 0
	testkit.Eventually(t, func() bool { tries++; return tries == 5 }, "five tries")
	if tries != 5 {
		t.Errorf("the condition was tried %d times", tries)
	}
}

func TestGoldenFile(t *testing.T) {
	if testkit.Updating() {
		t.Skip("this test switches -update on and off")
	}
	file := filepath.Join(t.TempDir(), "new", "golden")
	if err := flag.Set("update", "true"); err != nil {
		t.Fatal(err)
	}
	testkit.GoldenFile(t, file, []byte("x\n"))
	if err := flag.Set("update", "false"); err != nil {
		t.Fatal(err)
	}
	testkit.GoldenFile(t, file, []byte("x\n"))
}
