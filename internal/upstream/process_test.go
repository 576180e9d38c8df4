//go:build linux

package upstream

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"genkan/internal/gateway"
	"genkan/internal/launch"
	"genkan/internal/testkit"
)

// What is in our environment stays there, unless it is one of the few that
// every program needs, or declared.
func TestTheEnvironmentOfChildren(t *testing.T) {
	for _, name := range []string{
		"GITHUB_TOKEN", "AWS_SECRET_ACCESS_KEY", "OPENAI_API_KEY", "GENKAN_ADMIN", "LD_PRELOAD_X",
		"PATHOLOGICAL", "HOMEBREW_TOKEN", "XDGISH", "LCISH", "my_secret", "DATABASE_URL",
	} {
		t.Setenv(name, "canary-of-ours")
	}
	t.Setenv("LC_TIME", "passes-lc")
	t.Setenv("XDG_TEST_DIR", "passes-xdg")
	t.Setenv("TZ", "passes-tz")
	t.Setenv("HTTPS_PROXY", "http://passes-proxy.invalid")
	t.Setenv("LANG", "ours")
	u := openReady(t, faultChild(t), withEnv("DECLARED", "canary=declared\nsecond line"), withEnv("LANG", "theirs"))
	env, err := u.callText("env", `{}`)
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(env, "canary-of-ours") {
		t.Errorf("the child sees what it must not:\n%s", env)
	}
	for _, want := range []string{
		"DECLARED=canary=declared\nsecond line", "LANG=theirs", "LC_TIME=passes-lc", "XDG_TEST_DIR=passes-xdg",
		"TZ=passes-tz", "HTTPS_PROXY=http://passes-proxy.invalid", "PATH=" + os.Getenv("PATH"), "HOME=" + os.Getenv("HOME"),
	} {
		if !strings.Contains(env, want) {
			t.Errorf("the child lacks %q", want)
		}
	}
	if strings.Count(env, "LANG=") != 1 {
		t.Error("what is declared replaces ours, and does not stand beside it")
	}
	if strings.Contains(u.log.String(), "canary") {
		t.Error("the log has a declared value")
	}
}

// members are the processes of a group, zombies left out.
func members(t testing.TB, groups ...int) []int {
	t.Helper()
	wanted := map[int]bool{}
	for _, g := range groups {
		wanted[g] = true
	}
	stats, err := filepath.Glob("/proc/[0-9]*/stat")
	if err != nil {
		t.Fatal(err)
	}
	var found []int
	for _, file := range stats {
		raw, err := os.ReadFile(file)
		if err != nil {
			continue // it ended meanwhile
		}
		// pid (command) state ppid pgrp …; the command may have parentheses.
		_, rest, _ := strings.Cut(string(raw[strings.LastIndexByte(string(raw), ')'):]), " ")
		fields := strings.Fields(rest)
		group, _ := strconv.Atoi(fields[2])
		if pid, err := strconv.Atoi(filepath.Base(filepath.Dir(file))); err == nil && wanted[group] && fields[0] != "Z" {
			found = append(found, pid)
		}
	}
	return found
}

// A server that npx started is a tree, and goes as a whole.
func TestATreeGoesWithItsRoot(t *testing.T) {
	for name, end := range map[string]func(*upstreamTest, int){
		"when it is closed": func(u *upstreamTest, _ int) { u.Close() },
		"when its root is killed": func(_ *upstreamTest, root int) {
			if err := syscall.Kill(root, syscall.SIGKILL); err != nil {
				t.Fatal(err)
			}
		},
	} {
		// How many write their ids down: a tree is a shell, a helper and the
		// server.
		for mode, size := range map[string]int{"tree": 3, "daemon-child": 2, "tree,ignore-term": 3} {
			t.Run(mode+" "+name, func(t *testing.T) {
				t.Parallel()
				pids := t.TempDir() + "/pids"
				u := openReady(t, faultChild(t, "-mode", mode, "-pidfile", pids))
				testkit.Eventually(t, func() bool { return len(testkit.Pids(t, pids)) == size }, "the server and its helper run")
				root := u.Status().PID
				all := members(t, root)
				if len(all) != size {
					t.Fatalf("the group has %v, want %d", all, size)
				}
				end(u, root)
				testkit.Eventually(t, func() bool {
					for _, pid := range all {
						if testkit.Alive(pid) {
							return false
						}
					}
					return true
				}, "all of %v are gone", all)
			})
		}
	}
}

// Closing is polite first, and then not.
func TestAChildThatIgnoresSignalsIsKilled(t *testing.T) {
	t.Parallel()
	u := openReady(t, faultChild(t, "-mode", "ignore-term"))
	pid := u.Status().PID
	began := time.Now()
	u.Close()
	if testkit.Alive(pid) {
		t.Error("it outlived Close")
	}
	if took := time.Since(began); took < launch.PatienceAfterEOF || took > 15*time.Second {
		t.Errorf("closing took %v", took)
	}
}

// A daemon that left the group and holds the output keeps nobody waiting.
func TestADaemonThatLeftTheGroup(t *testing.T) {
	if _, err := exec.LookPath("setsid"); err != nil {
		t.Skip("there is no setsid")
	}
	daemon := t.TempDir() + "/daemon"
	u := openReady(t, shell(`setsid sh -c 'echo $$ > "$0"; exec sleep 60' "$1" & `+shellServer, daemon))
	var pid int
	testkit.Eventually(t, func() bool {
		if lines := testkit.Lines(t, daemon); len(lines) == 1 {
			pid, _ = strconv.Atoi(lines[0])
		}
		return pid > 0
	}, "the daemon runs")
	defer func() { _ = syscall.Kill(pid, syscall.SIGKILL) }()
	began := time.Now()
	if err := syscall.Kill(u.Status().PID, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	testkit.Eventually(t, func() bool { return u.Status().State != StateReady }, "the crash is noticed")
	t.Logf("noticed after %v", time.Since(began))
	if took := time.Since(began); took > 30*time.Second {
		t.Errorf("the crash was noticed after %v", took)
	}
	u.Close()
}

// shellServer is the smallest server: it starts in a millisecond.
const shellServer = `
while read -r line; do
	id=${line#*\"id\":}; id=${id%%,*}
	case "$line" in
	*'"server/discover"'*) echo '{"jsonrpc":"2.0","id":'$id',"error":{"code":-32601,"message":"no"}}' ;;
	*'"initialize"'*) echo '{"jsonrpc":"2.0","id":'$id',"result":{"protocolVersion":"2025-06-18","capabilities":{"tools":{}}}}' ;;
	*'"tools/list"'*) echo '{"jsonrpc":"2.0","id":'$id',"result":{"tools":[{"name":"t"}]}}' ;;
	esac
done`

func shell(script string, args ...string) Settings {
	return commandOf("/bin/sh", append([]string{"-c", script, "sh"}, args...), nil)
}

// A thousand connections leave nothing behind: not of those that were closed,
// not of those that crashed. Each has a grandchild that would stay.
func TestAThousandReconnects(t *testing.T) {
	closings, crashes := testkit.Count(80, 1000), testkit.Count(10, 50)
	began := time.Now()
	var mu sync.Mutex
	var groups []int
	note := func(pid int) {
		mu.Lock()
		defer mu.Unlock()
		groups = append(groups, pid)
	}
	log := slog.New(slog.DiscardHandler)
	spawn := func(i int) *Server {
		set := shell("sleep 600 & " + shellServer)
		set.Name, set.StartupTimeout = fmt.Sprintf("s%d", i), time.Minute
		return Open(set, Deps{Lists: &lists{}, Log: log, Publish: func(gateway.Event) {}})
	}
	ready := func(s *Server) int {
		if _, err := s.ready(context.Background(), gateway.EraNone); err != nil {
			t.Error(err)
		}
		return s.Status().PID
	}
	var work sync.WaitGroup
	for worker := range 4 {
		work.Go(func() {
			for i := range closings / 4 {
				s := spawn(worker*closings + i)
				note(ready(s))
				s.Close()
			}
		})
	}
	work.Wait()
	t.Logf("%d closings took %v", closings, time.Since(began))
	if left := members(t, groups...); len(left) > 0 {
		t.Errorf("%d processes are left: %v", len(left), left)
	}

	began, groups = time.Now(), nil
	servers := make([]*Server, crashes)
	for i := range servers {
		work.Go(func() {
			s := spawn(i)
			servers[i] = s
			first := ready(s)
			note(first)
			if err := syscall.Kill(first, syscall.SIGKILL); err != nil {
				t.Error(err)
			}
			for s.Status().Starts < 2 || s.Status().State != StateReady {
				time.Sleep(5 * time.Millisecond)
				if time.Since(began) > 2*time.Minute {
					t.Errorf("it did not come back: %+v", s.Status())
					return
				}
			}
		})
	}
	work.Wait()
	t.Logf("%d crashes were repaired in %v", crashes, time.Since(began))
	if left := members(t, groups...); len(left) > 0 {
		t.Errorf("%d processes of crashed servers are left: %v", len(left), left)
	}
	var now []int
	for _, s := range servers {
		now = append(now, s.Status().PID)
	}
	// A shell and its grandchild each: exactly as many as are configured.
	if left := members(t, now...); len(left) != 2*crashes {
		t.Errorf("%d processes run, want %d", len(left), 2*crashes)
	}
	for _, s := range servers {
		work.Go(s.Close)
	}
	work.Wait()
	if left := members(t, now...); len(left) > 0 {
		t.Errorf("%d processes are left: %v", len(left), left)
	}
}

// The guard outlives us by a moment, to end what we started. Here it is told
// by closing its pipe; that a killed genkan does that too is app's test.
func TestTheGuard(t *testing.T) {
	t.Parallel()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	launcher := launch.New(launch.Options{Guard: []string{self, guardArgument}, Log: slog.New(slog.DiscardHandler)})
	u := openReady(t, faultChild(t, "-mode", "tree,ignore-term"), withLauncher(launcher))
	gone := openReady(t, faultChild(t), withLauncher(launcher))
	gone.Close() // what has ended is not the guard's business any more
	root := u.Status().PID
	testkit.Eventually(t, func() bool { return len(members(t, root)) >= 2 }, "there is a tree")
	launcher.Close()
	testkit.Eventually(t, func() bool { return len(members(t, root)) == 0 }, "the guard has killed what was left")
}

func TestAGuardThatWasKilledIsReplaced(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	pids := dir + "/guards"
	// A guard that says who it is; "read" ends when the pipe does.
	launcher := launch.New(launch.Options{
		Guard: []string{"/bin/sh", "-c", `echo $$ >> "$0"; while read -r line; do echo "$line" >> "$1"; done`, pids, dir + "/told"},
		Log:   slog.New(slog.DiscardHandler),
	})
	defer launcher.Close()
	u := openReady(t, shell(shellServer), withLauncher(launcher))
	first := testkit.Pids(t, pids)
	testkit.Eventually(t, func() bool { first = testkit.Pids(t, pids); return len(first) == 1 }, "the guard runs")
	if err := syscall.Kill(first[0], syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	testkit.Eventually(t, func() bool { return !testkit.Alive(first[0]) }, "the guard is gone")
	v := openReady(t, shell(shellServer), withLauncher(launcher))
	testkit.Eventually(t, func() bool { return len(testkit.Pids(t, pids)) == 2 }, "there is another guard")
	for _, s := range []*upstreamTest{u, v} {
		sees(t, dir+"/told", "+"+strconv.Itoa(s.Status().PID))
	}
}
