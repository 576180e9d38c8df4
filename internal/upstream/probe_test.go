package upstream

import (
	"context"
	"log/slog"
	"strings"
	"testing"
	"time"

	"genkan/internal/gateway"
	"genkan/internal/testkit"
)

// A restart begins anew whatever the server was doing, over every wire.
func TestRestart(t *testing.T) {
	t.Parallel()
	for name, set := range map[string]func(t *testing.T) Settings{
		"a modern child": func(t *testing.T) Settings { return faultChild(t, "-era", "modern") },
		"a legacy child": func(t *testing.T) Settings { return faultChild(t, "-era", "legacy") },
		"modern HTTP":    func(t *testing.T) Settings { return Settings{URL: testkit.StartFaultHTTP(t, "-era", "modern")} },
		"legacy HTTP":    func(t *testing.T) Settings { return Settings{URL: testkit.StartFaultHTTP(t, "-era", "legacy")} },
	} {
		t.Run(name, func(t *testing.T) {
			u := openReady(t, set(t))
			pid := u.Status().PID
			for n := range 3 {
				u.Restart()
				if st := u.Status(); st.State == StateDown {
					t.Errorf("it is %s: %s", st.State, st.Problem)
				}
				u.mustEcho("calls wait for the new start")
				if st := u.Status(); st.Starts != n+2 || pid != 0 && st.PID == pid {
					t.Errorf("status %+v", st)
				}
			}
		})
	}
	t.Run("while it starts", func(t *testing.T) {
		pids := t.TempDir() + "/pids"
		u := open(t, faultChild(t, "-mode", "hang-init", "-pidfile", pids))
		testkit.Eventually(t, func() bool { return len(testkit.Pids(t, pids)) == 1 }, "it is started")
		u.Restart()
		testkit.Eventually(t, func() bool { return len(testkit.Pids(t, pids)) == 2 }, "it is started again")
		first := testkit.Pids(t, pids)[0]
		testkit.Eventually(t, func() bool { return !testkit.Alive(first) }, "the first try has ended")
	})
	t.Run("while it is down", func(t *testing.T) {
		server := testkit.NewFaultHTTP(t)
		u := openReady(t, Settings{URL: server.URL()})
		server.Stop()
		u.Restart()
		testkit.Eventually(t, func() bool { return u.Status().State == StateDown }, "it is down")
		server.Restart()
		u.Restart()
		u.mustEcho("it was tried at once")
	})
	t.Run("while it lacks something", func(t *testing.T) {
		set := faultChild(t)
		set.Lacking = gateway.Texts{Each: []gateway.Text{gateway.Textf("nothing")}}
		u := open(t, set)
		testkit.Eventually(t, func() bool { return u.Status().State == StateDown }, "it is down")
		u.Restart()
		if st := u.Status(); st.State != StateDown || st.Problem.String() == "" {
			t.Errorf("status %+v", st)
		}
	})
	t.Run("after its end", func(t *testing.T) {
		u := openReady(t, faultChild(t))
		u.Close()
		u.Restart()
		if st := u.Status(); st.State != StateClosed {
			t.Errorf("it is %s", st.State)
		}
	})
}

// A server that is closed while it is down is not started once more for that.
func TestCloseWhileDown(t *testing.T) {
	t.Parallel()
	pids := t.TempDir() + "/pids"
	set := faultChild(t, "-mode", "hang-init", "-pidfile", pids)
	set.Name, set.StartupTimeout = "srv", 300*time.Millisecond
	s, st := Probe(t.Context(), set, Deps{Log: slog.New(slog.DiscardHandler)})
	if st.State != StateDown {
		t.Errorf("it is %s: %s", st.State, st.Problem)
	}
	if n := s.Status().Starts; n != 1 {
		t.Errorf("it was started %d times", n)
	}
	if n := len(testkit.Pids(t, pids)); n > 1 {
		t.Errorf("there were %d processes", n)
	}
}

// A probe tells what a server is and leaves nothing behind.
func TestProbe(t *testing.T) {
	t.Parallel()
	probe := func(ctx context.Context, set Settings) (*Server, Status) {
		set.Name = "srv"
		if set.StartupTimeout == 0 {
			set.StartupTimeout = time.Minute
		}
		return Probe(ctx, set, Deps{Log: slog.New(slog.DiscardHandler), Version: "1.2.3"})
	}
	t.Run("works", func(t *testing.T) {
		pids := t.TempDir() + "/pids"
		s, st := probe(t.Context(), faultChild(t, "-pidfile", pids))
		if st.State != StateReady || len(s.List(gateway.KindTool)) != 11 || !strings.Contains(string(s.About().Info), "name") {
			t.Errorf("status %+v", st)
		}
		if all := testkit.Pids(t, pids); len(all) != 1 || testkit.Alive(all[0]) {
			t.Errorf("processes %v", all)
		}
	})
	t.Run("fails", func(t *testing.T) {
		_, st := probe(t.Context(), Settings{Command: "/bin/sh", Args: []string{"-c", "echo why >&2; exit 3"}})
		if st.State != StateDown || !strings.Contains(st.Problem.String(), "exit status 3") || st.Output != "why\n" {
			t.Errorf("status %+v", st)
		}
	})
	t.Run("nobody waits", func(t *testing.T) {
		pids := t.TempDir() + "/pids"
		ctx, cancel := context.WithCancel(t.Context())
		set := faultChild(t, "-mode", "hang-init", "-pidfile", pids)
		found := make(chan Status, 1)
		go func() {
			_, st := probe(ctx, set)
			found <- st
		}()
		testkit.Eventually(t, func() bool { return len(testkit.Pids(t, pids)) == 1 }, "it is started")
		cancel()
		if st := <-found; st.State != StateStarting {
			t.Errorf("status %+v", st)
		}
		if pid := testkit.Pids(t, pids)[0]; testkit.Alive(pid) {
			t.Errorf("process %d is left", pid)
		}
	})
}
