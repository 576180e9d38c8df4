package history

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

const (
	// smallDiskEnv names the folder on which this process is to mount a small disk.
	smallDiskEnv = "GENKAN_TEST_SMALL_DISK"
	// cannotMount is the status of a process that was not allowed to.
	cannotMount = 77
)

// A disk that is really full: calls go on, the history stops and says so, shows what it
// has, and goes on when there is room again.
func TestSmallDisk(t *testing.T) {
	t.Parallel()
	cmd := exec.CommandContext(t.Context(), os.Args[0])
	cmd.Env = append(os.Environ(), smallDiskEnv+"="+t.TempDir(), "GORACE=atexit_sleep_ms=0")
	cmd.SysProcAttr = &syscall.SysProcAttr{
		Cloneflags:  syscall.CLONE_NEWUSER | syscall.CLONE_NEWNS,
		UidMappings: []syscall.SysProcIDMap{{HostID: os.Getuid(), Size: 1}},
		GidMappings: []syscall.SysProcIDMap{{HostID: os.Getgid(), Size: 1}},
	}
	var out strings.Builder
	cmd.Stdout, cmd.Stderr = &out, &out
	if err := cmd.Start(); err != nil {
		t.Skipf("no process may have mounts of its own here: %v", err)
	}
	err := cmd.Wait()
	t.Log(out.String())
	if cmd.ProcessState.ExitCode() == cannotMount {
		t.Skip("it may not mount anything here")
	}
	if err != nil {
		t.Error(err)
	}
}

func onSmallDisk(dir string) int {
	if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, "size=1m"); err != nil {
		fmt.Println(err)
		return cannotMount
	}
	failed := 0
	check := func(ok bool, what string, values ...any) {
		if !ok {
			failed = 1
		}
		fmt.Println(append([]any{ok, what}, values...)...)
	}
	ctx := context.Background()
	calls := filepath.Join(dir, "calls")
	var log strings.Builder
	w := NewWriter(Options{Dir: calls, Run: "AAA", Key: goodKey, RetryPause: time.Nanosecond, Log: slog.New(slog.NewTextHandler(&log, nil))})
	r := NewReader(calls, goodKey)
	body := Bodies{Request: make([]byte, 10_000)}
	next := 0
	add := func() {
		next++
		w.Add(call("AAA", next), body, false)
		w.Flush(ctx)
	}
	for w.Problem() == nil && next < 500 {
		add()
	}
	check(w.Problem() != nil && strings.Contains(fmt.Sprint(w.Problem().Err), "no space"), "the history says that it stopped:", w.Problem())
	page, err := r.List(ctx, Query{Limit: MaxLimit}, asIs)
	check(err == nil && len(page.Calls) == next-1, "what it has is shown:", len(page.Calls), "of", next, err)
	add()
	lost, _ := w.Dropped()
	check(lost == 2, "calls that are lost are counted:", lost)
	check(Prune(calls, Keep{For: time.Nanosecond}, time.Now().Add(time.Hour)) == nil, "old calls can be removed")
	add()
	add()
	page, err = r.List(ctx, Query{Limit: MaxLimit}, asIs)
	check(w.Problem() == nil && err == nil && len(page.Calls) == 2, "it goes on:", len(page.Calls), err, w.Problem())
	w.Close()
	check(strings.Count(log.String(), "\n") == 2, "it is said once:", log.String())
	return failed
}
