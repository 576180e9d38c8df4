package testkit

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

// FaultCommand describes a process that is the fault server with the given
// flags, for whoever starts children itself: the command, its arguments
// (without the command), and the environment that must be declared for it,
// since children get a clean one. The package needs Main in its TestMain: with the
// full counts the process is this test binary, which may have the race detector.
func FaultCommand(tb testing.TB, args ...string) (command string, argv []string, env map[string]string) {
	tb.Helper()
	if os.Getenv(mainEnv) == "" {
		tb.Fatal("FaultCommand needs: func TestMain(m *testing.M) { testkit.Main(m) }")
	}
	find := os.Executable
	if RaceDetector() && !Full() {
		find = faultBinary
	}
	command, err := find()
	if err != nil {
		tb.Fatal(err)
	}
	return command, args, map[string]string{
		faultEnv: "1",
		// Under the race detector a process lingers for a second before it
		// ends, which tests of crashes would mistake for our slowness.
		"GORACE": "atexit_sleep_ms=0",
	}
}

// faultBinary builds the fault server without the race detector and returns its
// path. Most tests start one, and with the race detector that takes a tenth of a
// second of CPU time.
var faultBinary = sync.OnceValues(func() (string, error) {
	dir, err := os.MkdirTemp(ownTemp, "genkan-fault-")
	if err != nil {
		return "", err
	}
	faultDir = dir
	path := filepath.Join(dir, "faultserver")
	return path, Build(path, FaultPackage, "")
})

// FaultPackage is the command that is the fault server.
const FaultPackage = "genkan/internal/testkit/fault/cmd/faultserver"

// Build builds a command without the race detector, as this version if it has one, and
// writes it to path. Unlike go build, go run keeps what it has linked: all packages and
// runs share it.
func Build(path, command, version string) error {
	flags := "-s -w"
	if version != "" {
		flags += " -X main.version=" + version
	}
	cmd := exec.Command("go", "run", "-exec", "cp", "-buildvcs=false", "-ldflags", flags, command, path)
	cmd.Env = ownEnv
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("%s was not built: %w: %s", command, err, out)
	}
	return nil
}

// The environment before any test changes it: a test's HOME has no build cache,
// and its TMPDIR goes with the test.
var (
	ownEnv  = os.Environ()
	ownTemp = os.TempDir()
)

// faultDir is the directory of faultBinary, empty if it was not needed. Main
// removes it.
var faultDir string

// StartFaultHTTP starts the fault server on loopback and returns the URL of
// its MCP endpoint. It is killed when the test ends.
func StartFaultHTTP(tb testing.TB, args ...string) (url string) {
	tb.Helper()
	return NewFaultHTTP(tb, args...).URL()
}

// FaultHTTP is a fault server that serves HTTP in a process of its own, for
// tests that stop and restart it.
type FaultHTTP struct {
	tb     testing.TB
	args   []string
	url    string
	stderr *tail

	cmd   *exec.Cmd // nil when stopped
	stdin io.Closer
}

// NewFaultHTTP starts a fault server with the given flags. It is killed when
// the test ends; what it wrote to stderr is logged if the test failed.
func NewFaultHTTP(tb testing.TB, args ...string) *FaultHTTP {
	tb.Helper()
	f := &FaultHTTP{tb: tb, args: args, stderr: &tail{}}
	tb.Cleanup(func() {
		f.Stop()
		if text := f.stderr.String(); tb.Failed() && text != "" {
			tb.Logf("stderr of the fault server:\n%s", text)
		}
	})
	f.start("127.0.0.1:0")
	return f
}

// URL is the MCP endpoint. It stays the same across restarts.
func (f *FaultHTTP) URL() string { return f.url }

// Pid is the process id, 0 when stopped.
func (f *FaultHTTP) Pid() int {
	if f.cmd == nil {
		return 0
	}
	return f.cmd.Process.Pid
}

// Stop kills the server without warning, and waits for its end. A stopped
// server may be stopped again.
func (f *FaultHTTP) Stop() {
	f.tb.Helper()
	if f.cmd == nil {
		return
	}
	_ = f.cmd.Process.Kill()
	_ = f.stdin.Close()
	_ = f.cmd.Wait() // says only that it was killed
	f.cmd = nil
}

// Restart stops the server, if it runs, and starts it again on the same port.
// It has forgotten its sessions, its subscriptions and the tools it was given.
func (f *FaultHTTP) Restart() {
	f.tb.Helper()
	f.Stop()
	f.start(strings.TrimSuffix(strings.TrimPrefix(f.url, "http://"), "/mcp"))
}

func (f *FaultHTTP) start(address string) {
	f.tb.Helper()
	flags := append([]string{"-transport", "http", "-listen", address, "-exit-on-eof"}, f.args...)
	command, argv, env := FaultCommand(f.tb, flags...)
	cmd := exec.Command(command, argv...)
	for name, value := range env {
		cmd.Env = append(cmd.Env, name+"="+value)
	}
	cmd.Stderr = f.stderr
	// Grandchildren that hold stderr open must not hold up the test.
	cmd.WaitDelay = 100 * time.Millisecond
	// Our end of its input closes when this process ends, however it ends.
	stdin, err := cmd.StdinPipe()
	if err != nil {
		f.tb.Fatal(err)
	}
	reader, writer, err := os.Pipe()
	if err != nil {
		f.tb.Fatal(err)
	}
	defer func() { _ = reader.Close() }()
	cmd.Stdout = writer
	err = cmd.Start()
	_ = writer.Close()
	if err != nil {
		f.tb.Fatal(err)
	}
	f.cmd, f.stdin = cmd, stdin
	_ = reader.SetReadDeadline(time.Now().Add(patience))
	line, err := bufio.NewReader(reader).ReadString('\n')
	if err != nil {
		f.Stop()
		f.tb.Fatalf("the fault server did not start: %v\n%s", err, f.stderr)
	}
	url, ok := strings.CutPrefix(strings.TrimSpace(line), "listening ")
	if !ok {
		f.tb.Fatalf("the fault server said %q", line)
	}
	f.url = url
}

// tail keeps the end of what is written to it.
type tail struct {
	mu   sync.Mutex
	text []byte
}

func (t *tail) Write(b []byte) (int, error) {
	const most = 16 << 10
	t.mu.Lock()
	defer t.mu.Unlock()
	t.text = append(t.text, b...)
	if excess := len(t.text) - most; excess > 0 {
		t.text = bytes.Clone(t.text[excess:])
	}
	return len(b), nil
}

func (t *tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return string(t.text)
}
