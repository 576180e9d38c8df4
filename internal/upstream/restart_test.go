package upstream

import (
	"context"
	"errors"
	"os"
	"strings"
	"testing"
	"time"

	"genkan/internal/gateway"
	"genkan/internal/testkit"
)

// waitStarts waits until a child has been started n times.
func waitStarts(t *testing.T, pids string, n int) {
	t.Helper()
	testkit.Eventually(t, func() bool { return len(testkit.Pids(t, pids)) >= n }, "the child was started %d times", n)
}

// A crash is noticed and repaired. A quiet machine takes 100 and 250 ms; what was
// measured is printed, and judged by nobody.
func TestACrashIsNoticedAndRepaired(t *testing.T) {
	for _, era := range bothEras {
		t.Run(era.String(), func(t *testing.T) {
			pids := t.TempDir() + "/pids"
			u := openReady(t, faultChild(t, "-era", era.String(), "-pidfile", pids))
			first := u.Status().PID
			if !u.Status().FirstStart {
				t.Error("the first start is not said to be one")
			}
			crashed := time.Now()
			if process, err := os.FindProcess(first); err != nil || process.Kill() != nil {
				t.Fatal("the child cannot be killed")
			}
			testkit.Eventually(t, func() bool { return u.Status().State != StateReady }, "the crash is noticed")
			noticed := time.Since(crashed)
			if st := u.Status(); !strings.Contains(st.Problem.String(), "killed") || st.NextTry.IsZero() {
				t.Errorf("status %+v", st)
			}
			testkit.Eventually(t, func() bool { return len(testkit.Pids(t, pids)) == 2 }, "it is started again")
			restarted := time.Since(crashed)
			u.waitReady()
			t.Logf("noticed after %v, started again after %v, ready after %v", noticed, restarted, time.Since(crashed))
			if st := u.Status(); st.PID == first || st.Starts != 2 || st.FirstStart || st.Problem.String() != "" || !st.NextTry.IsZero() {
				t.Errorf("status %+v", st)
			}
			u.mustEcho("back again")
		})
	}
}

// Whoever waits for an answer when the child crashes is told at once, and that
// nobody knows whether the call was carried out.
func TestACrashDuringACall(t *testing.T) {
	t.Parallel()
	u := openReady(t, faultChild(t))
	_, err := u.callText("crash", `{}`)
	if e := wantError(t, err, gateway.CodeUnavailable, "srv", "exit status 3", "may or may not"); e.Unsent {
		t.Error("the call was sent")
	}
	u.waitStart(2)
	u.mustEcho("x")
}

func TestTheLastWordsAreKept(t *testing.T) {
	t.Parallel()
	u, _ := openScript(t, "last-words")
	if _, err := u.callText("t", `{}`); err == nil {
		t.Fatal("it crashed")
	}
	if out := u.Status().Output; !strings.Contains(out, "out of memory, goodbye") {
		t.Errorf("output: %q", out)
	}
}

// A server that answers and ends at once has answered.
func TestAnAnswerBeforeTheEndCounts(t *testing.T) {
	t.Parallel()
	u := open(t, faultChild(t, "-crash-after", "1"))
	for i := range 3 {
		u.waitStart(i + 1)
		u.mustEcho("the last thing it says")
	}
}

func TestAChildThatClosesItsOutput(t *testing.T) {
	t.Parallel()
	u, _ := openScript(t, "closes-output")
	_, err := u.callText("t", `{}`)
	wantError(t, err, gateway.CodeUnavailable, "srv", "closed its output")
	testkit.Eventually(t, func() bool { return u.Status().State == StateDown }, "it is down")
	u.waitStart(2) // and started anew; the old one has been ended
}

// A server that never lives for long is started again and again, at longer
// and longer intervals, and never given up. Its tools stay listed, and a call
// says at once what is wrong and when the next try is.
func TestACrashLoop(t *testing.T) {
	pids := t.TempDir() + "/pids"
	u := open(t, faultChild(t, "-mode", "crash-loop", "-pidfile", pids), remember(gateway.EraModern))
	waitStarts(t, pids, 3)
	// The first wait is at most 192 ms, so one of more than 500 ms has grown.
	// TestRestartBackoff has the length of each.
	testkit.Eventually(t, func() bool { return time.Until(u.Status().NextTry) > 500*time.Millisecond }, "the waits grow")
	st := u.Status()
	if st.State != StateDown || st.Problem.String() != "its process ended with exit status 3" || !strings.Contains(st.Output, "crashing at once, as asked") {
		t.Errorf("status %+v", st)
	}
	if wait := time.Until(st.NextTry); wait > 30*time.Second {
		t.Errorf("the next try is in %v", wait)
	}
	if names := u.toolNames(); strings.Join(names, " ") != "remembered" {
		t.Errorf("listed %v", names)
	}
	began := time.Now()
	_, err := u.callText("remembered", `{}`)
	e := wantError(t, err, gateway.CodeUnavailable, "srv is down", "exit status 3", "next try in")
	if !e.Unsent || e.RetryAfter <= 0 || e.RetryAfter > 30*time.Second {
		t.Errorf("got %+v", e)
	}
	if took := time.Since(began); took > 10*time.Second {
		t.Errorf("it took %v to say so", took)
	}
}

// Calls do not make a crashing child start more often.
func TestCallsDoNotDriveTheRestarts(t *testing.T) {
	t.Parallel()
	pids := t.TempDir() + "/pids"
	u := open(t, faultChild(t, "-mode", "crash-loop", "-pidfile", pids))
	waitStarts(t, pids, 3)
	testkit.Eventually(t, func() bool { return u.Status().State == StateDown }, "it is down")
	before := u.Status().Starts
	for range 1000 {
		if _, err := u.Handle(context.Background(), u.newCall(gateway.EraLegacy, "t", `{}`, "")); err == nil {
			t.Fatal("it cannot answer")
		}
	}
	if after := u.Status().Starts; after > before+1 {
		t.Errorf("1,000 calls brought %d starts", after-before)
	}
}

func TestWhatCannotBeStarted(t *testing.T) {
	t.Parallel()
	script := t.TempDir() + "/not-executable"
	if err := os.WriteFile(script, []byte("#!/bin/sh\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, test := range map[string]struct {
		set  Settings
		word string
	}{
		"no such command":   {Settings{Command: "genkan-no-such-command"}, "not found"},
		"no such file":      {Settings{Command: "/no/such/file"}, "does not exist"},
		"not executable":    {Settings{Command: script}, "may not be executed"},
		"no such directory": {Settings{Command: "/bin/cat", Dir: "/no/such/directory"}, "does not exist"},
		"a directory":       {Settings{Command: t.TempDir()}, "may not be executed"},
	} {
		t.Run(name, func(t *testing.T) {
			u := open(t, test.set)
			testkit.Eventually(t, func() bool { return u.Status().State == StateDown }, "it is down")
			_, err := u.callText("t", `{}`)
			wantError(t, err, gateway.CodeUnavailable, "srv is down", test.word)
		})
	}
}

// A server that left the configuration says so to those who still hold it.
func TestAClosedServer(t *testing.T) {
	t.Parallel()
	u := openReady(t, faultChild(t))
	u.Close()
	_, err := u.callText("echo", `{"text":"x"}`)
	if e := wantError(t, err, gateway.CodeUnavailable, "srv", "removed"); !e.Unsent {
		t.Error("nothing was sent")
	}
	u.Close() // again does nothing
}

// Retiring lets the calls under way finish.
func TestRetire(t *testing.T) {
	t.Parallel()
	record := t.TempDir() + "/record"
	u := openReady(t, faultChild(t, "-record", record))
	ended := make(chan error, 1)
	if !u.Hold() {
		t.Fatal("a server that is not leaving refuses a call")
	}
	go func() {
		_, err := u.callText("sleep", `{"ms":300}`)
		ended <- err
		u.Release()
	}()
	recorded(t, record, "tools/call")
	u.Retire(context.Background())
	if u.Hold() {
		t.Error("a retired server takes another call")
	}
	select {
	case err := <-ended:
		if err != nil {
			t.Errorf("the call under way failed: %v", err)
		}
	default:
		t.Error("it was retired before the call under way had ended")
	}
	if st := u.Status(); st.State != StateClosed {
		t.Errorf("state %s", st.State)
	}
}

func TestRetireHasAnEnd(t *testing.T) {
	t.Parallel()
	record := t.TempDir() + "/record"
	u := openReady(t, faultChild(t, "-mode", "hang", "-record", record))
	ended := make(chan error, 1)
	if !u.Hold() {
		t.Fatal("a server that is not leaving refuses a call")
	}
	defer u.Release()
	go func() {
		_, err := u.callText("echo", `{"text":"x"}`)
		ended <- err
	}()
	recorded(t, record, "tools/call")
	ctx, cancel := context.WithTimeoutCause(context.Background(), 50*time.Millisecond, errors.New("enough"))
	defer cancel()
	u.Retire(ctx)
	wantError(t, <-ended, gateway.CodeUnavailable, "stopped", "may or may not")
}

// A call that comes right after a crash was never sent, so it waits for the
// restart, which is a moment away.
func TestACallAfterACrashWaitsForTheRestart(t *testing.T) {
	t.Parallel()
	u := openReady(t, faultChild(t))
	if _, err := u.callText("crash", `{}`); err == nil {
		t.Fatal("the server did not crash")
	}
	testkit.Eventually(t, func() bool { return u.Status().State != StateReady }, "the crash is noticed")
	if text, err := u.callText("echo", `{"text":"hello"}`); err != nil || text != "hello" {
		t.Errorf("got %q, %v", text, err)
	}
}
