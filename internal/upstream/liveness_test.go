package upstream

import (
	"context"
	"testing"
	"time"

	"genkan/internal/gateway"
	"genkan/internal/testkit"
)

func withPing(d time.Duration) option { return func(_ *Settings, deps *Deps) { deps.PingTimeout = d } }

const (
	// never is a ping timeout that no test waits for.
	never = time.Hour
	// soon is one that a server which lives keeps, and a silent one exceeds.
	soon = 500 * time.Millisecond
)

// errTestTimeout is a timeout as execute causes it.
var errTestTimeout = &gateway.Error{Code: gateway.CodeTimeout}

// timeOut makes a call that times out when the server has read it.
func (u *upstreamTest) timeOut(record string, call *gateway.Call) {
	u.t.Helper()
	before := countLines(u.t, record, `"tools/call"`)
	ctx, cancel := context.WithCancelCause(context.Background())
	go func() {
		testkit.Eventually(u.t, func() bool { return countLines(u.t, record, `"tools/call"`) > before }, "the server has read the call")
		cancel(errTestTimeout)
	}()
	_, err := u.Handle(ctx, call)
	if gateway.AsError(err).Code != gateway.CodeTimeout {
		u.t.Fatalf("got %v, want a timeout", err)
	}
}

func (u *upstreamTest) stallingCall() *gateway.Call {
	return u.newCall(gateway.EraLegacy, "echo", `{"text":"stall"}`, "")
}

func (u *upstreamTest) waitState(want State) Status {
	u.t.Helper()
	testkit.Eventually(u.t, func() bool { return u.Status().State == want }, "the server is %s", want)
	return u.Status()
}

// A server that answers neither a call nor a ping is shown as not responding,
// and calls wait until that is decided.
func TestASilentServerIsNotResponding(t *testing.T) {
	t.Parallel()
	for _, era := range bothEras {
		for transport, settings := range map[string]func(testing.TB, ...string) Settings{"stdio": faultChild, "http": faultHTTP} {
			t.Run(era.String()+" "+transport, func(t *testing.T) {
				t.Parallel()
				record := t.TempDir() + "/record"
				u := openReady(t, settings(t, "-era", era.String(), "-mode", "stall", "-record", record), withPing(never))
				u.mustEcho("x")
				u.timeOut(record, u.stallingCall())
				st := u.waitState(StateNotResponding)
				if st.Problem.String() == "" {
					t.Error("the status does not say why")
				}
				ask := map[gateway.Era]string{gateway.EraLegacy: `"ping"`, gateway.EraModern: `"server/discover"`}[era]
				recorded(t, record, ask)
				// A call that comes now is not sent.
				ctx, cancel := context.WithTimeoutCause(context.Background(), 50*time.Millisecond, errTestTimeout)
				defer cancel()
				_, err := u.Handle(ctx, u.stallingCall())
				if e := wantError(t, err, gateway.CodeTimeout, "srv", "does not respond", "not sent"); !e.Unsent {
					t.Error("it was sent")
				}
			})
		}
	}
}

// A second silence restarts the server. Calls under way are told, and calls that
// come meanwhile are served by the new process.
func TestASilentServerIsRestarted(t *testing.T) {
	t.Parallel()
	record := t.TempDir() + "/record"
	u := openReady(t, faultChild(t, "-era", "legacy", "-mode", "stall", "-record", record), withPing(soon))
	u.timeOut(record, u.stallingCall())
	u.waitState(StateNotResponding)
	u.mustEcho("after the restart")
	u.waitStart(2)
	if n := u.ReadyCount(); n != 2 {
		t.Errorf("it became ready %d times", n)
	}
}

// A server may be silent for longer while other calls wait for it, since it may
// work for them. When it is restarted, they are told.
func TestASilentServerWithCallsUnderWay(t *testing.T) {
	t.Parallel()
	record := t.TempDir() + "/record"
	u := openReady(t, faultChild(t, "-era", "legacy", "-mode", "stall", "-record", record), withPing(soon/10))
	lost := make(chan error, 1)
	go func() {
		_, err := u.callText("echo", `{"text":"stall"}`)
		lost <- err
	}()
	recorded(t, record, `"tools/call"`)
	u.timeOut(record, u.stallingCall())
	if e := wantError(t, <-lost, gateway.CodeUnavailable, "srv", "stopped responding", "may or may not"); e.Unsent {
		t.Error("it was sent")
	}
	u.waitStart(2)
	// On a busy machine it is restarted before it has read the last ones.
	if n := countLines(t, record, `"ping"`); n < 2 || n > maxBusyPings {
		t.Errorf("it was restarted after %d pings, want %d", n, maxBusyPings)
	}
}

// Many clients give up before the timeout of the call. Their cancellations do not
// hide a server that is dead.
func TestCancellationsDoNotHideASilentServer(t *testing.T) {
	t.Parallel()
	record := t.TempDir() + "/record"
	u := openReady(t, faultChild(t, "-era", "legacy", "-mode", "stall", "-record", record), withPing(soon))
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() {
		defer close(done)
		_, _ = u.Handle(ctx, u.stallingCall())
	}()
	recorded(t, record, `"tools/call"`)
	cancel()
	<-done
	if st := u.Status(); st.State != StateReady {
		t.Errorf("a cancellation alone made it %s", st.State)
	}
	u.waitStart(2)
}

// A tool that takes too long does not make its server a dead one.
func TestASlowToolIsNoSilence(t *testing.T) {
	t.Parallel()
	for _, era := range bothEras {
		t.Run(era.String(), func(t *testing.T) {
			record := t.TempDir() + "/record"
			u := openReady(t, faultChild(t, "-era", era.String(), "-mode", "hang", "-record", record), withPing(never))
			u.timeOut(record, u.newCall(gateway.EraLegacy, "echo", `{"text":"x"}`, ""))
			u.waitReady()
			u.waitUnchecked()
			if st := u.Status(); st.State != StateReady || st.Starts != 1 {
				t.Errorf("status %+v", st)
			}
		})
	}
}

// waitUnchecked waits until no connection is asked for a sign of life.
func (u *upstreamTest) waitUnchecked() {
	u.t.Helper()
	testkit.Eventually(u.t, func() bool {
		u.Server.mu.Lock()
		defer u.Server.mu.Unlock()
		return len(u.checks) == 0
	}, "the check has ended")
}

// Output of any kind shows that a server lives, also when it answers nothing.
func TestABusyServerIsNotDead(t *testing.T) {
	t.Parallel()
	u, record := openScript(t, "busy", withPing(never))
	u.timeOut(record, u.newCall(gateway.EraLegacy, "t", `{}`, ""))
	sees(t, record, `"ping"`)
	u.waitUnchecked()
	if st := u.Status(); st.State != StateReady || st.Starts != 1 {
		t.Errorf("status %+v", st)
	}
}

// A connection of one client that goes silent is closed. The others keep theirs.
func TestASilentPooledConnectionIsClosed(t *testing.T) {
	t.Parallel()
	record := t.TempDir() + "/record"
	set := faultChild(t, "-era", "legacy", "-mode", "stall", "-record", record)
	set.Isolation = IsolationSession
	u := openReady(t, set, withPing(soon))
	one := newClient("one", `{}`)
	pid := u.Status().PID
	if _, err := one.call(t, u, "echo", `{"text":"x"}`); err != nil {
		t.Fatal(err)
	}
	call := u.stallingCall()
	call.Session, call.Identity.ClientID = &one.session, "one"
	u.timeOut(record, call)
	u.waitState(StateNotResponding)
	u.waitReady()
	if _, err := one.call(t, u, "echo", `{"text":"x"}`); err != nil {
		t.Errorf("the client's next connection: %v", err)
	}
	if st := u.Status(); st.Starts != 1 || st.PID != pid {
		t.Errorf("the shared process was restarted: %+v", st)
	}
}

// An HTTP server that goes silent is connected to anew, and serves again when it
// is back.
func TestASilentHTTPServerIsConnectedToAnew(t *testing.T) {
	t.Parallel()
	record := t.TempDir() + "/record"
	server := testkit.NewFaultHTTP(t, "-era", "legacy", "-mode", "stall", "-record", record)
	u := openReady(t, Settings{URL: server.URL()}, withPing(soon))
	u.timeOut(record, u.stallingCall())
	testkit.Eventually(t, func() bool { return u.Status().Starts > 1 }, "it is connected to anew")
	server.Restart()
	u.waitReady()
	u.mustEcho("it is back")
}
