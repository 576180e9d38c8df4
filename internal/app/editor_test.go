//go:build linux

package app

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"genkan/internal/bridge"
	"genkan/internal/testkit"
)

// workshop is a data directory with real processes of the real binary.
type workshop struct {
	t       *testing.T
	genkan  string
	dir     string
	env     []string
	pidfile string // of the children
}

// openWorkshop writes a configuration. Whatever runs for it at the end of the
// test is ended.
func openWorkshop(t *testing.T, genkan string, config conf) *workshop {
	t.Helper()
	return openWorkshopIn(t, genkan, t.TempDir(), config)
}

func openWorkshopIn(t *testing.T, genkan, dir string, config conf) *workshop {
	t.Helper()
	w := &workshop{t: t, genkan: genkan, dir: dir, env: append(os.Environ(), "GENKAN_BACKGROUND_IDLE=1m")}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	w.write("genkan.yaml", config)
	t.Cleanup(func() {
		// The joined processes have ended by now, so none of them starts another one.
		for _, pid := range w.backgroundPIDs() {
			_ = syscall.Kill(pid, syscall.SIGTERM)
		}
		testkit.Eventually(t, func() bool { return len(w.backgroundPIDs()) == 0 }, "no background process is left")
		if t.Failed() {
			log, _ := os.ReadFile(bridge.LogFile(dir))
			t.Logf("the background's log:\n%s", tail(string(log)))
		}
	})
	return w
}

// faultWorkshop has one server, f, whose processes write down their ids.
func faultWorkshop(t *testing.T, genkan string, args ...string) *workshop {
	t.Helper()
	pidfile := filepath.Join(t.TempDir(), "pids")
	w := openWorkshop(t, genkan, servers(conf{"f": child(t, append(args, "-pidfile", pidfile)...)}))
	w.pidfile = pidfile
	return w
}

func (w *workshop) write(name string, config conf) {
	w.t.Helper()
	raw, err := json.Marshal(config)
	if err != nil {
		w.t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(w.dir, name), raw, 0o600); err != nil {
		w.t.Fatal(err)
	}
}

// backgroundPIDs are the processes that say in the log that they serve, and
// still run.
func (w *workshop) backgroundPIDs() []int {
	w.t.Helper()
	var pids []int
	for _, line := range testkit.Lines(w.t, bridge.LogFile(w.dir)) {
		var entry struct {
			Msg string
			PID int `json:"process_id"`
		}
		if json.Unmarshal([]byte(line), &entry) == nil && entry.Msg == "genkan serves in the background" && testkit.Alive(entry.PID) {
			pids = append(pids, entry.PID)
		}
	}
	return pids
}

// onlyBackground waits until the log names the owner as the only background process, and
// returns its PID. A process may serve before its log is written.
func (w *workshop) onlyBackground() int {
	w.t.Helper()
	owner := 0
	testkit.Eventually(w.t, func() bool {
		owner = w.owner()
		return slices.Equal(w.backgroundPIDs(), []int{owner})
	}, "the owner is the only background process")
	return owner
}

// owner is the process that answers on the socket; 0 for none.
func (w *workshop) owner() int {
	conn, welcome, err := bridge.Dial(w.t.Context(), w.dir, bridge.Hello{Purpose: bridge.PurposeREST})
	if err != nil {
		return 0
	}
	_ = conn.Close()
	return welcome.PID
}

// aliveChildren are the servers' processes that run.
func (w *workshop) aliveChildren() []int {
	w.t.Helper()
	return slices.DeleteFunc(testkit.Pids(w.t, w.pidfile), func(pid int) bool { return !testkit.Alive(pid) })
}

// editor is a client that has spawned a genkan.
type editor struct {
	t      *testing.T
	cmd    *exec.Cmd
	in     io.WriteCloser
	stderr *testkit.Buffer
	ended  chan struct{}
	err    error

	ids    atomic.Int64
	closed atomic.Bool
	// told are notifications and whatever else is no answer to call.
	told chan string

	mu      sync.Mutex
	waiting map[string]chan string
}

// open starts `genkan stdio` with more arguments.
func (w *workshop) open(args ...string) *editor {
	w.t.Helper()
	return w.openWith(w.genkan, w.env, append([]string{"stdio"}, args...)...)
}

func (w *workshop) openWith(genkan string, env []string, args ...string) *editor {
	w.t.Helper()
	e := &editor{
		t: w.t, stderr: &testkit.Buffer{}, ended: make(chan struct{}),
		told: make(chan string, 4096), waiting: map[string]chan string{},
	}
	e.cmd = exec.Command(genkan, append(args, "--data", w.dir)...)
	e.cmd.Env = env
	e.cmd.Stderr = e.stderr
	e.cmd.WaitDelay = time.Second
	in, err := e.cmd.StdinPipe()
	if err != nil {
		w.t.Fatal(err)
	}
	e.in = in
	out, theirs, err := os.Pipe()
	if err != nil {
		w.t.Fatal(err)
	}
	e.cmd.Stdout = theirs
	err = e.cmd.Start()
	_ = theirs.Close()
	if err != nil {
		w.t.Fatal(err)
	}
	reading := make(chan struct{})
	go func() {
		defer close(reading)
		e.read(out)
		_ = out.Close()
	}()
	go func() {
		<-reading
		e.err = e.cmd.Wait()
		close(e.ended)
	}()
	w.t.Cleanup(func() {
		e.close()
		if w.t.Failed() {
			w.t.Logf("the log of an editor's genkan:\n%s", tail(e.stderr.String()))
		}
	})
	return e
}

func (e *editor) read(out io.Reader) {
	for lines := bufio.NewReader(out); ; {
		line, err := lines.ReadString('\n')
		if err != nil {
			return
		}
		line = strings.TrimSuffix(line, "\n")
		var m struct {
			ID     json.RawMessage
			Method string
		}
		if err := json.Unmarshal([]byte(line), &m); err != nil {
			e.t.Errorf("the client heard %q", line)
		}
		e.mu.Lock()
		answer := e.waiting[string(m.ID)]
		delete(e.waiting, string(m.ID))
		e.mu.Unlock()
		if answer != nil && m.Method == "" {
			answer <- line
		} else {
			e.told <- line
		}
	}
}

// close ends the client's input and waits for the process.
func (e *editor) close() {
	if e.closed.CompareAndSwap(false, true) {
		_ = e.in.Close()
	}
	select {
	case <-e.ended:
	case <-time.After(time.Minute):
		e.t.Error("genkan does not end with its client's input")
		_ = e.cmd.Process.Kill()
		<-e.ended
	}
}

func (e *editor) send(format string, args ...any) {
	e.t.Helper()
	if _, err := fmt.Fprintf(e.in, format+"\n", args...); err != nil {
		e.t.Error(err)
	}
}

var errNoAnswer = errors.New("no answer")

// ask sends a request and waits for the answer.
func (e *editor) ask(method, params string) (string, error) {
	return e.await(e.begin(method, params))
}

// begin sends a request.
func (e *editor) begin(method, params string) chan string {
	id := fmt.Sprint(e.ids.Add(1))
	answer := make(chan string, 1)
	e.mu.Lock()
	e.waiting[id] = answer
	e.mu.Unlock()
	e.send(`{"jsonrpc":"2.0","id":%s,"method":%q,"params":%s}`, id, method, params)
	return answer
}

func (e *editor) await(answer chan string) (string, error) {
	var line string
	select {
	case line = <-answer:
	case <-e.ended:
		return "", errNoAnswer
	case <-time.After(time.Minute):
		return "", errNoAnswer
	}
	var m struct {
		Error *struct {
			Code    int
			Message string
		}
		Result struct {
			Content []struct{ Text string }
			Meta    struct {
				Failure *struct{ Code string } `json:"genkan/error"`
			} `json:"_meta"`
		}
	}
	if err := json.Unmarshal([]byte(line), &m); err != nil {
		return line, err
	}
	switch {
	case m.Error != nil:
		return line, fmt.Errorf("%d %s", m.Error.Code, m.Error.Message)
	case m.Result.Meta.Failure != nil:
		return line, fmt.Errorf("%s: %s", m.Result.Meta.Failure.Code, m.Result.Content[0].Text)
	case len(m.Result.Content) > 0:
		return m.Result.Content[0].Text, nil
	default:
		return line, nil
	}
}

func callParams(tool, arguments string) string {
	return fmt.Sprintf(`{"name":%q,"arguments":%s}`, tool, arguments)
}

func (e *editor) call(tool, arguments string) (string, error) {
	return e.ask("tools/call", callParams(tool, arguments))
}

func (e *editor) mustCall(tool, arguments string) string {
	e.t.Helper()
	text, err := e.call(tool, arguments)
	if err != nil {
		e.t.Fatalf("%s: %v", tool, err)
	}
	return text
}

// initialize begins a legacy session.
func (e *editor) initialize() {
	e.t.Helper()
	if _, err := e.ask("initialize", `{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"e","version":"1"}}`); err != nil {
		e.t.Fatal(err)
	}
	e.send(`{"jsonrpc":"2.0","method":"notifications/initialized"}`)
}

// hears waits for a notification with a part of this text.
func (e *editor) hears(part string) {
	e.t.Helper()
	timeout := time.After(time.Minute)
	for {
		select {
		case line := <-e.told:
			if strings.Contains(line, part) {
				return
			}
		case <-timeout:
			e.t.Fatalf("the client never heard of %s", part)
		}
	}
}

// serve starts `genkan serve`, and waits until it owns the socket if it is to.
func (w *workshop) serve(mustOwn bool) *exec.Cmd {
	w.t.Helper()
	output := &testkit.Buffer{}
	cmd := exec.Command(w.genkan, "serve", "--data", w.dir, "--listen", "127.0.0.1:0")
	cmd.Env, cmd.Stdout, cmd.Stderr = w.env, output, output
	cmd.WaitDelay = time.Second
	if err := cmd.Start(); err != nil {
		w.t.Fatal(err)
	}
	w.t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait() // fails when the test has waited for it
		if w.t.Failed() {
			w.t.Logf("the log of genkan serve:\n%s", tail(output.String()))
		}
	})
	if mustOwn {
		testkit.Eventually(w.t, func() bool { return w.owner() == cmd.Process.Pid }, "genkan serve owns the socket")
	} else {
		testkit.Eventually(w.t, func() bool { return strings.Contains(output.String(), "another genkan serves this data directory") }, "genkan serve stands in line")
	}
	return cmd
}
