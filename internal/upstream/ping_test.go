package upstream

import (
	"testing"
	"time"

	"genkan/internal/testkit"
)

// A server that lives responds to a ping at once, in either era and over either
// transport. One that stalls does not, and its calls are known.
func TestPing(t *testing.T) {
	for _, era := range bothEras {
		for transport, settings := range map[string]func(testing.TB, ...string) Settings{"stdio": faultChild, "http": faultHTTP} {
			t.Run(era.String()+" "+transport, func(t *testing.T) {
				t.Parallel()
				record := t.TempDir() + "/record"
				u := openReady(t, settings(t, "-era", era.String(), "-mode", "stall", "-record", record), withPing(never))
				if p := u.Ping(time.Minute); !p.Responded || p.Took <= 0 || p.Busy || p.Problem.String() != "" {
					t.Errorf("a server that lives: %+v", p)
				}
				u.timeOut(record, u.stallingCall())
				// What still comes of the canceled call counts as a sign of life.
				var p Pinged
				testkit.Eventually(t, func() bool { p = u.Ping(soon); return !p.Responded }, "a server that stalls does not respond")
				if p.Problem.String() != "nothing came from it within 500ms" {
					t.Errorf("a server that stalls: %+v", p)
				}
				if st := u.Status(); st.Starts != 1 {
					t.Errorf("a ping has restarted it: %+v", st)
				}
			})
		}
	}
}

// A server that sends anything is busy, not dead.
func TestAPingOfABusyServer(t *testing.T) {
	t.Parallel()
	u, record := openScript(t, "busy", withPing(never))
	u.timeOut(record, u.newCall(0, "t", `{}`, ""))
	if p := u.Ping(time.Minute); !p.Responded {
		t.Errorf("got %+v", p)
	}
}

// The calls that wait for a silent server are known.
func TestAPingOfAServerWithCallsUnderWay(t *testing.T) {
	t.Parallel()
	record := t.TempDir() + "/record"
	u := openReady(t, faultChild(t, "-era", "legacy", "-mode", "stall", "-record", record), withPing(never))
	go func() { _, _ = u.callText("echo", `{"text":"stall"}`) }()
	recorded(t, record, `"tools/call"`)
	var p Pinged
	testkit.Eventually(t, func() bool { p = u.Ping(soon); return !p.Responded }, "a server that stalls does not respond")
	if !p.Busy {
		t.Errorf("got %+v", p)
	}
}

// A ping finds out that an HTTP server is gone, which no connection tells.
func TestAPingOfAServerThatIsGone(t *testing.T) {
	t.Parallel()
	server := testkit.NewFaultHTTP(t)
	u := openReady(t, Settings{URL: server.URL()}, withPing(never))
	server.Stop()
	if p := u.Ping(time.Minute); p.Responded || p.Problem.String() == "" {
		t.Errorf("got %+v", p)
	}
	u.waitState(StateDown)
	if p := u.Ping(time.Minute); p.Responded || p.Problem.String() == "" {
		t.Errorf("a server that is down: %+v", p)
	}
}
