package upstream

import (
	"os"
	"testing"
	"time"
)

// withStates passes each state that is told to a channel.
func withStates(states chan Status) option {
	return func(_ *Settings, d *Deps) {
		d.StateChanged = func(_ *Server, st Status) { states <- st }
	}
}

// nextState waits for the next state that is told.
func nextState(t *testing.T, states chan Status, want State) Status {
	t.Helper()
	select {
	case st := <-states:
		if st.State != want {
			t.Errorf("told %s: %s, want %s", st.State, st.Problem, want)
		}
		return st
	case <-time.After(time.Minute):
		t.Fatalf("the state %s is not told", want)
		return Status{}
	}
}

// Each change of state is told once: that a killed server is down, and why, and that
// it is back.
func TestChangesOfStateAreTold(t *testing.T) {
	t.Parallel()
	states := make(chan Status, 100)
	u := openReady(t, faultChild(t), withStates(states))
	if st := nextState(t, states, StateReady); st.Tools == 0 || st.PID == 0 {
		t.Errorf("got %+v", st)
	}
	u.mustEcho("x")
	killed := time.Now()
	process, err := os.FindProcess(u.Status().PID)
	if err == nil {
		err = process.Kill()
	}
	if err != nil {
		t.Fatal(err)
	}
	if st := nextState(t, states, StateDown); st.Problem.String() == "" {
		t.Errorf("it does not say why: %+v", st)
	}
	t.Logf("told after %s", time.Since(killed))
	if st := nextState(t, states, StateReady); st.Problem.String() != "" {
		t.Errorf("it is back: %+v", st)
	}
	u.Restart()
	nextState(t, states, StateStarting)
	nextState(t, states, StateReady)
	u.TellState()
	nextState(t, states, StateReady)
	u.Close()
	nextState(t, states, StateClosed)
	if len(states) != 0 {
		t.Errorf("told more: %+v", <-states)
	}
}

func TestASilenceIsTold(t *testing.T) {
	t.Parallel()
	states := make(chan Status, 100)
	record := t.TempDir() + "/record"
	u := openReady(t, faultChild(t, "-era", "legacy", "-mode", "stall", "-record", record), withPing(soon), withStates(states))
	nextState(t, states, StateReady)
	u.timeOut(record, u.stallingCall())
	if st := nextState(t, states, StateNotResponding); st.Problem.String() == "" {
		t.Error("it does not say why")
	}
	nextState(t, states, StateStarting)
	nextState(t, states, StateReady)
}
