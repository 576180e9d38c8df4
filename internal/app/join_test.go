//go:build linux

package app

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"genkan/internal/testkit"
)

// The cooperation of several processes can only be tested with processes of the
// real binary.
func testJoining(t *testing.T, genkan string) {
	for name, test := range map[string]func(*testing.T, string){
		"many editors share one set of servers":        testEditorsShare,
		"the background process is killed under load":  testBackgroundIsKilled,
		"a session and a stream survive its loss":      testSessionSurvives,
		"what the running one cannot do is done alone": testServesAlone,
		"another version serves alone":                 testAnotherVersion,
		"it ends when nobody is connected":             testIdleEnd,
		"a long path":                                  testLongPath,
		"no place for a socket":                        testNoPlace,
		"genkan serve takes over, and hands over":      testServeTakesOver,
		"a second genkan serve stands in line":         testServeStandsInLine,
		"the end of a client":                          testEndOfClient,
		"a bridge is killed":                           testBridgeIsKilled,
		"standalone":                                   testStandalone,
		"the official SDK as the client":               testSDKClient,
	} {
		t.Run(name, func(t *testing.T) { test(t, genkan) })
	}
}

// Editors that start at the same moment end up with one background process,
// one child, and nothing in their own processes.
func testEditorsShare(t *testing.T, genkan string) {
	w := faultWorkshop(t, genkan)
	const editors = 5
	begun := time.Now()
	var opened []*editor
	for range editors {
		opened = append(opened, w.open())
	}
	var answering sync.WaitGroup
	pids := make([]string, editors)
	for i, e := range opened {
		answering.Go(func() {
			pid, err := e.call("f__pid", "{}")
			if err != nil {
				t.Error(err)
			}
			pids[i] = pid
		})
	}
	answering.Wait()
	t.Logf("%d editors had their first answers, with everything started, after %v", editors, time.Since(begun))
	for _, pid := range pids {
		if pid != pids[0] {
			t.Errorf("the children are %v", pids)
			break
		}
	}
	if started := testkit.Pids(t, w.pidfile); len(started) != 1 {
		t.Errorf("%d children were started", len(started))
	}
	background := w.onlyBackground()
	// The child and the guard.
	if all := childrenOf(t, background); len(all) != 2 {
		t.Errorf("the background process has %d children", len(all))
	}
	for _, e := range opened {
		if pid := e.cmd.Process.Pid; pid != background && len(childrenOf(t, pid))-len(descendants(t, pid, background)) != 0 {
			t.Errorf("an editor's process has children: %v", childrenOf(t, pid))
		}
	}
	joinBegun := time.Now()
	late := w.open()
	late.mustCall("f__echo", `{"text":"x"}`)
	t.Logf("one more had its first answer after %v", time.Since(joinBegun))
	info, err := os.Stat(filepath.Join(w.dir, "run", "genkan.sock"))
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the socket is %v, %v", info.Mode(), err)
	}
}

// descendants are a process and what it has started, if it was started by
// parent.
func descendants(t *testing.T, parent, pid int) []int {
	t.Helper()
	for _, found := range childrenOf(t, parent) {
		if found == pid {
			return append([]int{pid}, childrenOf(t, pid)...)
		}
	}
	return nil
}

// kill -9 of the background process under load: what was under way fails once
// and says why, everything after it works, and nothing is done twice.
func testBackgroundIsKilled(t *testing.T, genkan string) {
	counter := filepath.Join(t.TempDir(), "counter")
	w := faultWorkshop(t, genkan, "-counter", counter)
	editors, callers := testkit.Count(3, 5), testkit.Count(2, 4)
	var done, lost, slowest atomic.Int64
	var load sync.WaitGroup
	stop := make(chan struct{})
	var all []*editor
	for range editors {
		e := w.open()
		e.initialize()
		all = append(all, e)
		for range callers {
			load.Go(func() {
				for {
					select {
					case <-stop:
						return
					default:
					}
					begun := time.Now()
					_, err := e.call("f__count", "{}")
					slowest.Store(max(slowest.Load(), int64(time.Since(begun))))
					switch {
					case err == nil:
						done.Add(1)
					case strings.HasPrefix(err.Error(), "unavailable: genkan's background process was lost while this call was under way"):
						lost.Add(1)
					default:
						t.Errorf("a call failed: %v", err)
						return
					}
				}
			})
		}
	}
	kills := testkit.Count(2, 3)
	var hanging []chan string
	for range kills {
		before := done.Load()
		testkit.Eventually(t, func() bool { return done.Load() > before+int64(testkit.Count(50, 200)) }, "calls are answered")
		owner, children := w.owner(), w.aliveChildren()
		hanging = hanging[:0]
		for _, e := range all {
			hanging = append(hanging, e.begin("tools/call", callParams("f__sleep", `{"ms":60000}`)))
			e.mustCall("f__echo", `{"text":"x"}`) // so that the call has been read
		}
		e := all[0]
		if err := syscall.Kill(owner, syscall.SIGKILL); err != nil {
			t.Fatal(err)
		}
		killed := time.Now()
		for i, answer := range hanging {
			if _, err := all[i].await(answer); err == nil || !strings.Contains(err.Error(), "may or may not have been carried out") {
				t.Errorf("a call under way ended with %v", err)
			}
		}
		told := time.Since(killed)
		e.mustCall("f__echo", `{"text":"x"}`)
		t.Logf("killed: calls under way were told after %v, and another one was answered after %v", told, time.Since(killed))
		testkit.Eventually(t, func() bool { return len(w.aliveChildren()) == 1 }, "one child is left; there were %v, there are %v", children, w.aliveChildren())
		if now := w.owner(); now == 0 || now == owner {
			t.Errorf("the owner is %d, after %d", now, owner)
		}
		w.onlyBackground()
	}
	close(stop)
	load.Wait()
	counted, _ := os.ReadFile(counter)
	n, _ := strconv.ParseInt(strings.TrimSpace(string(counted)), 10, 64)
	t.Logf("%d calls were answered, %d lost, %d carried out; the slowest took %v", done.Load(), lost.Load(), n, time.Duration(slowest.Load()))
	if n < done.Load() || n > done.Load()+lost.Load() {
		t.Errorf("%d calls were carried out", n)
	}
	if lost.Load() > int64(kills*editors*callers) {
		t.Errorf("%d calls were lost, more than can have been under way", lost.Load())
	}
	for _, e := range all {
		e.close()
		if e.err != nil {
			t.Errorf("an editor's process ended with %v", e.err)
		}
	}
}

// A legacy session and a modern stream go on with the next background process.
func testSessionSurvives(t *testing.T, genkan string) {
	w := faultWorkshop(t, genkan)
	legacy, modern := w.open(), w.open()
	legacy.initialize()
	legacy.mustCall("f__echo", `{"text":"x"}`)
	modern.send(`{"jsonrpc":"2.0","id":"sub","method":"subscriptions/listen","params":{"notifications":{"toolsListChanged":true},"_meta":{%s}}}`, modernMeta)
	modern.hears("acknowledged")
	for round := range 2 {
		if err := syscall.Kill(w.owner(), syscall.SIGKILL); err != nil {
			t.Fatal(err)
		}
		const (
			changed = `{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}`
			told    = `{"jsonrpc":"2.0","method":"notifications/tools/list_changed","params":{"_meta":{"io.modelcontextprotocol/subscriptionId":"sub"}}}`
		)
		for _, e := range []*editor{legacy, modern} {
			testkit.Eventually(t, func() bool {
				return strings.Count(e.stderr.String(), "another genkan was joined") == round+1
			}, "another genkan is joined")
		}
		legacy.hears(changed)
		modern.hears(told)
		// Both hear of what changes from now on, too, and nothing else. How many
		// changes the new process has had so far is its own affair.
		names := 0
		for _, e := range []struct {
			*editor
			hears string
		}{{legacy, changed}, {modern, told}} {
			testkit.Eventually(t, func() bool {
				for len(e.told) > 0 {
					// That other lists may have changed is told of with it.
					if line := <-e.told; line != e.hears && !strings.Contains(line, "/list_changed") {
						t.Errorf("the client heard %s", line)
					}
				}
				names++
				name := fmt.Sprintf("more_%d_%d", round, names)
				legacy.mustCall("f__add_tool", fmt.Sprintf(`{"name":%q}`, name))
				testkit.Eventually(t, func() bool {
					list, err := legacy.ask("tools/list", `{}`)
					return err == nil && strings.Contains(list, name)
				}, "%s is listed", name)
				return len(e.told) > 0
			}, "the client hears of a new tool")
		}
	}
}

// Whatever the running genkan would do in another way than it was asked for,
// the process does by itself, and says so.
func testServesAlone(t *testing.T, genkan string) {
	w := faultWorkshop(t, genkan)
	config := servers(conf{"f": with(child(t, "-pidfile", w.pidfile), conf{"cwd": "${WORKSHOP_DIR:-/}"})})
	w.write("genkan.yaml", config)
	w.write("other.yaml", config)
	first := w.open()
	first.mustCall("f__echo", `{"text":"x"}`)
	for name, alone := range map[string]struct {
		args, env []string
		reason    string
	}{
		"another file":      {[]string{"--config", filepath.Join(w.dir, "other.yaml")}, nil, "its configuration is in"},
		"another language":  {[]string{"--lang", "ja"}, nil, "--lang ja"},
		"another directory": {nil, []string{"WORKSHOP_DIR=" + t.TempDir()}, "environment variable WORKSHOP_DIR"},
	} {
		t.Run(name, func(t *testing.T) {
			before := len(testkit.Pids(t, w.pidfile))
			e := w.openWith(w.genkan, append(w.env, alone.env...), append([]string{"stdio"}, alone.args...)...)
			e.mustCall("f__echo", `{"text":"x"}`)
			if log := e.stderr.String(); !strings.Contains(log, "serves by itself") || !strings.Contains(log, alone.reason) {
				t.Errorf("it says %s", log)
			}
			if after := len(testkit.Pids(t, w.pidfile)); after != before+1 {
				t.Errorf("%d children were started for it", after-before)
			}
			e.close()
		})
	}
	// The same in other words is the same.
	same := w.openWith(w.genkan, append(w.env, "PORT=1", "LOG_LEVEL=error"), "stdio", "--config", filepath.Join(w.dir, ".", "genkan.yaml"), "--lang", "en", "--port", "4711")
	same.mustCall("f__echo", `{"text":"x"}`)
	if log := same.stderr.String(); strings.Contains(log, "by itself") {
		t.Errorf("it says %s", log)
	}
	// An --only that no process can satisfy is refused in the end.
	only := w.open("--only", "a,b")
	<-only.ended
	if log := only.stderr.String(); only.cmd.ProcessState.ExitCode() != 2 || !strings.Contains(log, "--only a,b names a server that is not configured") {
		t.Errorf("it ended with %v and says %s", only.err, log)
	}
}

func testAnotherVersion(t *testing.T, genkan string) {
	w := faultWorkshop(t, genkan)
	first := w.open()
	first.mustCall("f__echo", `{"text":"x"}`)
	other := filepath.Join(t.TempDir(), "genkan")
	content, err := os.ReadFile(genkan)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(other, content, 0o700); err != nil {
		t.Fatal(err)
	}
	second := w.openWith(other, w.env, "stdio")
	second.initialize()
	second.mustCall("f__echo", `{"text":"x"}`)
	if log := second.stderr.String(); !strings.Contains(log, "serves by itself") || !strings.Contains(log, builtVersion) {
		t.Errorf("it says %s", log)
	}
	if n := len(w.aliveChildren()); n != 2 {
		t.Errorf("there are %d children", n)
	}
	// A genkan serve of that version takes the ownership. Processes that cannot join
	// it continue alone, and the client notices nothing.
	w.genkan = other
	w.serve(true)
	testkit.Eventually(t, func() bool { return len(w.backgroundPIDs()) == 0 }, "the background process has gone")
	first.mustCall("f__echo", `{"text":"x"}`)
	// What it writes there may come after the answer.
	testkit.Eventually(t, func() bool { return strings.Contains(first.stderr.String(), "serves by itself") }, "the first says that it serves by itself")
}

func testIdleEnd(t *testing.T, genkan string) {
	w := faultWorkshop(t, genkan)
	w.env = append(w.env, "GENKAN_BACKGROUND_IDLE=50ms")
	for range 2 {
		e := w.open()
		e.mustCall("f__echo", `{"text":"x"}`)
		background := w.onlyBackground()
		e.close()
		testkit.Eventually(t, func() bool { return !testkit.Alive(background) }, "the background process ends")
		testkit.Eventually(t, func() bool { return len(w.aliveChildren()) == 0 }, "its children end")
		for _, file := range []string{"genkan.sock", "address"} {
			if _, err := os.Lstat(filepath.Join(w.dir, "run", file)); err == nil {
				t.Errorf("%s is left", file)
			}
		}
	}
}

func testLongPath(t *testing.T, genkan string) {
	w := openWorkshopIn(t, genkan, filepath.Join(t.TempDir(), strings.Repeat("long", 30)), servers(conf{"f": child(t)}))
	for range 2 {
		e := w.open()
		e.mustCall("f__echo", `{"text":"x"}`)
		if log := e.stderr.String(); strings.Contains(log, "by itself") {
			t.Errorf("it says %s", log)
		}
	}
	w.onlyBackground()
}

func testNoPlace(t *testing.T, genkan string) {
	w := faultWorkshop(t, genkan)
	if err := os.WriteFile(filepath.Join(w.dir, "run"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	e := w.open()
	e.mustCall("f__echo", `{"text":"x"}`)
	if log := e.stderr.String(); !strings.Contains(log, "serves by itself") || !strings.Contains(log, "not a directory") {
		t.Errorf("it says %s", log)
	}
}

// A genkan serve takes a background process's place, and its end brings one
// back. Calls under way are answered by whom they were asked.
func testServeTakesOver(t *testing.T, genkan string) {
	w := faultWorkshop(t, genkan)
	e := w.open()
	e.initialize()
	e.mustCall("f__echo", `{"text":"x"}`)
	first := w.owner()
	slow := e.begin("tools/call", callParams("f__sleep", `{"ms":1000}`))
	serve := w.serve(true)
	e.mustCall("f__echo", `{"text":"x"}`)
	if text, err := e.await(slow); err != nil || text != "slept 1000 ms" {
		t.Errorf("the call under way: %s, %v", text, err)
	}
	testkit.Eventually(t, func() bool { return !testkit.Alive(first) }, "the background process has gone")
	testkit.Eventually(t, func() bool { return len(w.aliveChildren()) == 1 }, "its child has gone")

	slow = e.begin("tools/call", callParams("f__sleep", `{"ms":1000}`))
	e.mustCall("f__echo", `{"text":"x"}`) // so that the call has been read
	if err := serve.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if text, err := e.await(slow); err != nil || text != "slept 1000 ms" {
		t.Errorf("the call under way: %s, %v", text, err)
	}
	e.mustCall("f__echo", `{"text":"x"}`)
	if err := serve.Wait(); err != nil {
		t.Errorf("genkan serve ended with %v", err)
	}
	w.onlyBackground()
	// So does the background process's own end.
	if err := syscall.Kill(w.owner(), syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	for range 50 {
		e.mustCall("f__echo", `{"text":"x"}`)
	}
}

func testServeStandsInLine(t *testing.T, genkan string) {
	w := faultWorkshop(t, genkan)
	first := w.serve(true)
	second := w.serve(false)
	e := w.open()
	e.mustCall("f__echo", `{"text":"x"}`)
	if err := first.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	testkit.Eventually(t, func() bool {
		e.mustCall("f__echo", `{"text":"x"}`)
		return w.owner() == second.Process.Pid
	}, "the second one owns the socket")
	e.mustCall("f__echo", `{"text":"x"}`)
}

// A client that has said everything gets its answers, and its process ends
// well; so it does when it is asked to end.
func testEndOfClient(t *testing.T, genkan string) {
	w := faultWorkshop(t, genkan)
	for name, end := range map[string]func(*editor){
		"input ends": func(e *editor) { e.closed.Store(true); _ = e.in.Close() },
		"SIGTERM":    func(e *editor) { _ = e.cmd.Process.Signal(syscall.SIGTERM) },
	} {
		t.Run(name, func(t *testing.T) {
			e := w.open()
			e.mustCall("f__echo", `{"text":"x"}`)
			slow := e.begin("tools/call", callParams("f__sleep", `{"ms":300}`))
			e.mustCall("f__echo", `{"text":"x"}`) // so that the call has been read
			end(e)
			if text, err := e.await(slow); err != nil || text != "slept 300 ms" {
				t.Errorf("the call under way: %s, %v", text, err)
			}
			<-e.ended
			if e.err != nil {
				t.Errorf("it ended with %v", e.err)
			}
		})
	}
}

// The answers to a bridge that was killed have no reader, so its calls are
// canceled.
func testBridgeIsKilled(t *testing.T, genkan string) {
	record := filepath.Join(t.TempDir(), "record")
	w := faultWorkshop(t, genkan, "-record", record)
	e, other := w.open(), w.open()
	e.begin("tools/call", callParams("f__sleep", `{"ms":60000}`))
	e.mustCall("f__echo", `{"text":"x"}`)
	other.mustCall("f__echo", `{"text":"x"}`)
	if err := e.cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	testkit.Eventually(t, func() bool {
		return strings.Contains(strings.Join(testkit.Lines(t, record), "\n"), "cancelled ")
	}, "the server hears of it")
	other.mustCall("f__echo", `{"text":"x"}`)
}

func testStandalone(t *testing.T, genkan string) {
	w := faultWorkshop(t, genkan)
	e := w.open("--standalone")
	e.initialize()
	e.mustCall("f__echo", `{"text":"x"}`)
	if _, err := os.Lstat(filepath.Join(w.dir, "run")); err == nil {
		t.Error("it opened a socket")
	}
	if len(childrenOf(t, e.cmd.Process.Pid)) != 2 {
		t.Error("it has no servers of its own")
	}
}

// A client that is not ours goes on, too.
func testSDKClient(t *testing.T, genkan string) {
	record := filepath.Join(t.TempDir(), "record")
	w := faultWorkshop(t, genkan, "-record", record)
	cmd := exec.Command(genkan, "stdio", "--data", w.dir)
	cmd.Env = w.env
	changes := make(chan struct{}, 64)
	client := mcp.NewClient(&mcp.Implementation{Name: "sdk", Version: "1"}, &mcp.ClientOptions{
		ToolListChangedHandler: func(context.Context, *mcp.ToolListChangedRequest) { changes <- struct{}{} },
	})
	session, err := client.Connect(t.Context(), &mcp.CommandTransport{Command: cmd}, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = session.Close() }()
	echo := func() error {
		return failureOf(session.CallTool(t.Context(), &mcp.CallToolParams{Name: "f__echo", Arguments: map[string]any{"text": "x"}}))
	}
	if err := echo(); err != nil {
		t.Fatal(err)
	}
	lost := make(chan error, 1)
	go func() {
		lost <- failureOf(session.CallTool(t.Context(), &mcp.CallToolParams{Name: "f__sleep", Arguments: map[string]any{"ms": 60_000}}))
	}()
	testkit.Eventually(t, func() bool {
		return strings.Contains(strings.Join(testkit.Lines(t, record), "\n"), `"sleep"`)
	}, "the call is under way")
	if err := syscall.Kill(w.owner(), syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	if err := <-lost; err == nil || !strings.Contains(err.Error(), "may or may not have been carried out") {
		t.Errorf("the call under way ended with %v", err)
	}
	if err := echo(); err != nil {
		t.Error(err)
	}
	<-changes
	tools, err := session.ListTools(t.Context(), nil)
	if err != nil || len(tools.Tools) != 12 {
		t.Errorf("the list: %v, %v", tools, err)
	}
}

// failureOf returns the failure of a call as its model sees it.
func failureOf(result *mcp.CallToolResult, err error) error {
	if err != nil || !result.IsError {
		return err
	}
	raw, _ := json.Marshal(result.Content)
	return errors.New(string(raw))
}
