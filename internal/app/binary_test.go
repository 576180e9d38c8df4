//go:build linux

package app

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
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

	"genkan/internal/api/client"
	"genkan/internal/bridge"
	"genkan/internal/gateway"
	"genkan/internal/testkit"
)

// What happens to processes when genkan is killed or stopped can only be tested
// with a real process: the binary, built for this test.
func TestTheBinary(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "genkan")
	buildGenkan(t, path)
	for name, test := range map[string]func(*testing.T, string){
		"ends":                  testEnds,
		"is joined":             testJoining,
		"among its own servers": testGenkanAmongItsOwnServers,
		"survives every hook":   testAttacks,
		"runs workflows":        testWorkflowConversations,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test(t, path)
		})
	}
}

// builtVersion is the version of the binary. Builds with a version that ends in
// -dirty are told apart by the time of their file, so a copy counts as a different
// build.
const builtVersion = "v1-dirty"

func buildGenkan(t *testing.T, path string) {
	t.Helper()
	if err := testkit.Build(path, "genkan/cmd/genkan", builtVersion); err != nil {
		t.Fatal(err)
	}
}

func testEnds(t *testing.T, path string) {
	for name, test := range map[string]func(*testing.T, string){
		"killed, leaves nothing behind":         testKillLeavesNothingBehind,
		"terminated, leaves nothing behind":     testTermLeavesNothingBehind,
		"killed, leaves containers for a while": testContainersOfAKilledGenkan,
		"terminated under load":                 testTermUnderLoad,
		"hung up, reloads":                      testHangUpReloads,
	} {
		t.Run(name, func(t *testing.T) { test(t, path) })
	}
}

// process is a genkan of its own.
type process struct {
	*testHouse
	cmd    *exec.Cmd
	output *testkit.Buffer
	ended  chan struct{}
	err    error
}

func startProcess(t *testing.T, path string, config conf) *process {
	t.Helper()
	return startProcessIn(t, path, t.TempDir(), config)
}

func startProcessIn(t *testing.T, path, dir string, config conf) *process {
	t.Helper()
	p := &process{
		testHouse: &testHouse{t: t, dir: dir, http: &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 64}}},
		output:    &testkit.Buffer{}, ended: make(chan struct{}),
	}
	p.write(with(config, conf{"listen": "127.0.0.1:0"}))
	p.cmd = exec.Command(path, "serve", "--data", p.dir)
	p.cmd.Stdout, p.cmd.Stderr = p.output, p.output
	p.cmd.WaitDelay = time.Second
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go func() {
		p.err = p.cmd.Wait()
		close(p.ended)
	}()
	t.Cleanup(func() {
		_ = p.cmd.Process.Kill()
		<-p.ended
		p.http.CloseIdleConnections()
		if t.Failed() {
			t.Logf("its output:\n%s", tail(p.output.String()))
		}
	})
	testkit.Eventually(t, func() bool {
		address := listensOn(t, p.dir)
		token, err := os.ReadFile(AdminTokenFile(p.dir))
		p.base, p.token = "http://"+address, strings.TrimSpace(string(token))
		if err != nil || address == "" {
			return false
		}
		status, _, err := p.tryRequest(http.MethodGet, "/health", "", nil)
		return err == nil && status == http.StatusOK
	}, "genkan serves")
	return p
}

// childrenOf are the processes that a process has started, and theirs.
func childrenOf(t *testing.T, parent int) []int {
	t.Helper()
	stats, err := filepath.Glob("/proc/[0-9]*/stat")
	if err != nil {
		t.Fatal(err)
	}
	children := map[int][]int{}
	for _, file := range stats {
		raw, err := os.ReadFile(file)
		if err != nil {
			continue // it ended meanwhile
		}
		// pid (command) state ppid …; the command may have parentheses.
		fields := strings.Fields(string(raw[strings.LastIndexByte(string(raw), ')')+1:]))
		if ppid, _ := strconv.Atoi(fields[1]); fields[0] != "Z" {
			pid, _ := strconv.Atoi(filepath.Base(filepath.Dir(file)))
			children[ppid] = append(children[ppid], pid)
		}
	}
	var below func(pid int) []int
	below = func(pid int) (found []int) {
		for _, child := range children[pid] {
			found = append(found, append([]int{child}, below(child)...)...)
		}
		return found
	}
	return below(parent)
}

// A genkan that is killed leaves nothing behind: no child, no grandchild, and
// no guard either.
func testKillLeavesNothingBehind(t *testing.T, path string) {
	pids := t.TempDir() + "/pids"
	p := startProcess(t, path, servers(conf{
		"tree":     child(t, "-mode", "tree", "-pidfile", pids),
		"stubborn": child(t, "-mode", "ignore-term,daemon-child", "-pidfile", pids),
		"shell":    conf{"command": "/bin/sh", "args": []string{"-c", "trap '' TERM HUP; sleep 600 & while :; do sleep 600; done"}},
	}))
	p.waitReady("tree", "stubborn")
	testkit.Eventually(t, func() bool { return len(testkit.Pids(t, pids)) == 5 }, "everybody runs")
	// A tree of three, a server with a daemon, a shell with two sleepers, and
	// the guard.
	var all []int
	testkit.Eventually(t, func() bool { all = childrenOf(t, p.cmd.Process.Pid); return len(all) == 3+2+3+1 }, "nine processes")
	if err := p.cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	killed := time.Now()
	alive := func() (left []int) {
		for _, pid := range all {
			if testkit.Alive(pid) {
				left = append(left, pid)
			}
		}
		return left
	}
	testkit.Eventually(t, func() bool { return len(alive()) == 0 }, "all of %v are gone; left are %v", all, alive())
	took := time.Since(killed)
	t.Logf("all %d processes were gone after %v", len(all), took)
}

// SIGTERM has the same effect, and the exit status is success.
func testTermLeavesNothingBehind(t *testing.T, path string) {
	pids := t.TempDir() + "/pids"
	p := startProcess(t, path, servers(conf{"tree": child(t, "-mode", "tree", "-pidfile", pids)}))
	p.waitReady("tree")
	all := childrenOf(t, p.cmd.Process.Pid)
	if err := p.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	<-p.ended
	if p.err != nil {
		t.Errorf("it ended with %v", p.err)
	}
	testkit.Eventually(t, func() bool {
		for _, pid := range all {
			if testkit.Alive(pid) {
				return false
			}
		}
		return true
	}, "all of %v are gone", all)
	if _, _, err := bridge.Dial(t.Context(), p.dir, bridge.Hello{Purpose: bridge.PurposeREST}); !errors.Is(err, bridge.ErrNobody) {
		t.Errorf("it left its socket behind: %v", err)
	}
}

// SIGTERM under load: a call that has reached a server is answered. A call that was
// not accepted yet fails to connect, and was not carried out.
func testTermUnderLoad(t *testing.T, path string) {
	dir := t.TempDir()
	gate := filepath.Join(dir, "gate")
	held := fmt.Sprintf(`{"gate":%q}`, gate)
	p := startProcess(t, path, servers(conf{
		"slow":  child(t, "-everything", "-record", dir+"/slow"),
		"count": child(t, "-counter", dir+"/counter"),
		"web":   sibling(t, "-counter", dir+"/web-counter"),
	}))
	p.waitReady("slow", "count", "web")
	var slow, quick sync.WaitGroup
	inFlight := testkit.Count(20, 50)
	var answered atomic.Int64
	for range inFlight - 1 {
		slow.Go(func() {
			if _, err := p.call("slow__hold", held); err != nil {
				t.Errorf("a call under way failed: %v", err)
			}
			answered.Add(1)
		})
	}
	slow.Go(func() { // as `genkan call` does
		remote := client.NewOver(func(ctx context.Context) (net.Conn, error) {
			conn, _, err := bridge.Dial(ctx, p.dir, bridge.Hello{Purpose: bridge.PurposeREST})
			return conn, err
		}, gateway.Secret(p.token))
		if _, err := remote.Call(context.Background(), "slow__hold", json.RawMessage(held), client.CallOptions{Timeout: 600_000}); err != nil {
			t.Errorf("a call of the command line failed: %v", err)
		}
		answered.Add(1)
	})
	var counted, counted2, refused atomic.Int64
	stop := make(chan struct{})
	pause := time.Duration(testkit.Count(10, 0)) * time.Millisecond // otherwise they use up a processor for seconds
	for i := range 8 {
		tool, n := "count__count", &counted
		if i%2 == 0 {
			tool, n = "web__count", &counted2
		}
		quick.Go(func() {
			for {
				select {
				case <-stop:
					return
				default:
				}
				time.Sleep(pause)
				_, err := p.call(tool, `{}`)
				var unanswered *url.Error
				switch {
				case err == nil:
					n.Add(1)
				case errors.As(err, &unanswered):
					refused.Add(1) // nobody took it; the counters tell whether that is true
					time.Sleep(time.Millisecond)
				default:
					t.Errorf("a call failed: %v", err)
				}
			}
		})
	}
	testkit.Eventually(t, func() bool {
		return strings.Count(strings.Join(testkit.Lines(t, dir+"/slow"), "\n"), `"tools/call"`) == inFlight && counted.Load() > 20 && counted2.Load() > 20
	}, "%d calls are under way", inFlight)
	asked := time.Now()
	if err := p.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	testkit.Eventually(t, func() bool { return strings.Contains(p.output.String(), "calls under way may finish") }, "it stops")
	if err := os.WriteFile(gate, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	slow.Wait()
	<-p.ended
	took := time.Since(asked)
	close(stop)
	quick.Wait()
	if p.err != nil {
		t.Errorf("it ended with %v", p.err)
	}
	t.Logf("ended %v after SIGTERM; %d slow calls answered, %d and %d quick ones, %d found nobody", took, answered.Load(), counted.Load(), counted2.Load(), refused.Load())
	if answered.Load() != int64(inFlight) {
		t.Errorf("%d of %d calls under way were answered", answered.Load(), inFlight)
	}
	for file, n := range map[string]int64{dir + "/counter": counted.Load(), dir + "/web-counter": counted2.Load()} {
		if done, _ := os.ReadFile(file); strings.TrimSpace(string(done)) != fmt.Sprint(n) {
			t.Errorf("%s calls were carried out, and %d reported as done", strings.TrimSpace(string(done)), n)
		}
	}
}

// SIGHUP reads the configuration again.
func testHangUpReloads(t *testing.T, path string) {
	p := startProcess(t, path, servers(conf{}))
	raw, err := json.Marshal(servers(conf{"one": child(t)}))
	if err != nil {
		t.Fatal(err)
	}
	// Written behind a name that is not watched, so that only the signal can
	// be the reason.
	target := filepath.Join(t.TempDir(), "real.yaml")
	if err := os.WriteFile(target, []byte("{}"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(p.file()); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(target, p.file()); err != nil {
		t.Fatal(err)
	}
	testkit.Eventually(t, func() bool { return strings.Contains(p.output.String(), "configuration reloaded") }, "the link is noticed")
	if err := os.WriteFile(target, raw, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := p.cmd.Process.Signal(syscall.SIGHUP); err != nil {
		t.Fatal(err)
	}
	p.waitReady("one")
}
