package workflow

import (
	"encoding/json"
	"fmt"
	"math"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"genkan/internal/gateway"
	"genkan/internal/testkit"
)

// stateBench has the values of some scopes.
type stateBench struct {
	*testing.T
	states
	options State
}

func (b *stateBench) has(of scope, want string) {
	b.Helper()
	var got []string
	for _, key := range strings.Fields("a b c d n") {
		if raw := b.get(of, key); raw != nil {
			got = append(got, key)
		}
	}
	if strings.Join(got, " ") != want {
		b.Errorf("there are %v, want %s", got, want)
	}
}

func (b *stateBench) put(of scope, key string, size int, ttl time.Duration) {
	b.Helper()
	if err := b.set(of, b.options, key, make([]byte, size), ttl); err != nil {
		b.Error(err)
	}
}

func (b *stateBench) count(of scope, key string, ttl time.Duration, want float64) {
	b.Helper()
	if sum, err := b.add(of, b.options, key, 1, ttl); err != nil || sum != want {
		b.Errorf("%s is %v, %v, want %v", key, sum, err, want)
	}
}

func TestValuesEnd(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := &stateBench{T: t}
		of := scope{workflow: "w"}
		b.put(of, "a", 1, 10*time.Second)
		b.put(of, "b", 1, 0)
		b.count(of, "n", time.Minute, 1)
		time.Sleep(10*time.Second - 1)
		b.has(of, "a b n")
		time.Sleep(time.Nanosecond)
		b.has(of, "b n")
		// Adding does not prolong it.
		time.Sleep(50*time.Second - 1)
		b.count(of, "n", time.Hour, 2)
		time.Sleep(time.Nanosecond)
		b.count(of, "n", time.Minute, 1)
		// What ended is freed, also without being read.
		b.put(of, "a", 1, 10*time.Second)
		time.Sleep(sweepEvery)
		b.put(of, "c", 1, 0)
		if v := b.scopes[of]; len(v.byKey) != 2 || v.size != 2*(2+valueSize) {
			t.Errorf("%d values with %d bytes", len(v.byKey), v.size)
		}
		// Values without an end of their own live for an hour after the last change, and not as
		// long as others.
		b.put(of, "a", 1, 365*24*time.Hour)
		b.put(of, "a", 1, time.Second)
		time.Sleep(time.Hour - 1)
		b.has(of, "b c")
		time.Sleep(time.Nanosecond)
		b.has(of, "")
		b.put(of, "b", 1, 0)
		b.options.TTLS = 60
		b.put(of, "d", 1, 2*time.Hour)
		time.Sleep(time.Minute - 1)
		b.has(of, "b d")
		time.Sleep(time.Nanosecond)
		b.has(of, "d")
		b.put(of, "c", 1, 0) // b does not live again
		b.has(of, "c d")
		time.Sleep(2*time.Hour - time.Minute - 1)
		b.has(of, "d")
		time.Sleep(time.Nanosecond)
		b.has(of, "")
		b.put(scope{workflow: "x", who: "session"}, "a", 1, 0)
		if len(b.scopes) != 1 || b.size != 2+valueSize {
			t.Errorf("%d scopes with %d bytes", len(b.scopes), b.size)
		}
		b.put(of, "a", 1, 0)
		time.Sleep(time.Minute)
		b.put(of, "b", 1, 0) // the scope is a new one
		b.has(of, "b")
		if err := b.set(of, b.options, "b", nil, 0); err != nil || b.scopes[of] != nil {
			t.Errorf("%v: an empty scope is left", err)
		}
	})
}

func TestFullState(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := &stateBench{T: t, options: State{MaxKB: 1}}
		of := scope{workflow: "w"}
		b.put(of, "a", 200, 30*time.Second)
		b.put(of, "b", 200, 10*time.Second)
		b.put(of, "c", 200, 20*time.Second)
		b.put(of, "d", 200, 0) // those that end first make room
		b.has(of, "a c d")
		before := b.scopes[of].size
		// A value that is too large deletes nothing, not even the one that it would replace.
		for _, key := range []string{"a", "b"} {
			if err := b.set(of, b.options, key, make([]byte, 800), time.Second); err == nil || !strings.Contains(err.Error(), "1 KB (state.maxKB)") {
				t.Errorf("%s: %v", key, err)
			}
		}
		b.has(of, "a c d")
		if _, err := b.add(of, b.options, "a", 1, 0); err == nil || b.scopes[of].size != before || len(b.get(of, "a")) != 200 {
			t.Errorf("%v, %d bytes", err, b.scopes[of].size)
		}
		// Counts make room among evictable values, and never among each other.
		var err error
		n := 0
		for ; err == nil && n < 100; n++ {
			_, err = b.add(of, b.options, fmt.Sprintf("n%02d", n), 1, time.Minute)
		}
		if err == nil || n < 10 {
			t.Errorf("%d counts: %v", n, err)
		}
		b.has(of, "d")
		for i := range n - 1 {
			b.count(of, fmt.Sprintf("n%02d", i), time.Minute, 2)
		}
		if err := b.set(of, b.options, "a", []byte("1"), time.Second); err == nil {
			t.Error("a count made room")
		}
		// When they end, they do.
		time.Sleep(time.Minute)
		b.put(of, "a", 500, 0)
		b.has(of, "a d")
	})
}

func TestSumsThatAreTooLarge(t *testing.T) {
	t.Parallel()
	b := &stateBench{}
	of := scope{workflow: "w"}
	if _, err := b.add(of, b.options, "n", math.MaxFloat64, 0); err != nil {
		t.Fatal(err)
	}
	_, err := b.add(of, b.options, "n", math.MaxFloat64, 0)
	wantError(t, err, gateway.CodeInternal, "state.add: the sum is too large")
	if sum, err := b.add(of, b.options, "n", 0, 0); err != nil || sum != math.MaxFloat64 {
		t.Errorf("the number is %v, %v", sum, err)
	}
}

// Together, values are bounded too. Who used them longest ago loses them, but nobody makes a
// workflow forget.
func TestAllStates(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := &stateBench{T: t, options: State{MaxKB: 1024}}
		all := scope{workflow: "w"}
		session := func(i int) scope { return scope{workflow: "w", who: fmt.Sprint("session ", i)} }
		b.count(all, "n", time.Hour, 1)
		large := make([]byte, 1000<<10)
		for i := range 80 {
			time.Sleep(time.Second)
			b.get(session(0), "a") // it is in use
			if err := b.set(session(i), b.options, "a", large, time.Hour); err != nil {
				t.Fatal(err)
			}
			if b.size > mostStates {
				t.Fatalf("%d bytes", b.size)
			}
		}
		b.has(session(0), "a")
		b.has(session(1), "")
		b.has(session(79), "a")
		b.count(all, "n", time.Hour, 2)

		for i := range mostScopes {
			time.Sleep(time.Millisecond)
			b.put(session(100+i), "a", 1, 0)
		}
		if len(b.scopes) > mostScopes {
			t.Errorf("%d scopes", len(b.scopes))
		}
		b.has(session(0), "")
		b.has(session(99+mostScopes), "a")
		b.count(all, "n", time.Hour, 3)

		// A whole workflow with much does not take it from the sessions.
		b.options.MaxKB = 1 << 20
		for i := range 5 {
			b.put(scope{workflow: fmt.Sprint("large ", i)}, "a", 15<<20, 0)
		}
		b.put(session(98+mostScopes), "b", 1, 0)
		b.has(session(99+mostScopes), "a")
		if err := b.set(all, b.options, "a", make([]byte, 17<<20), 0); err == nil || !strings.Contains(err.Error(), "16384 KB") {
			t.Errorf("one workflow has more than it may: %v", err)
		}
		b.keep(func(string) bool { return false })
		if len(b.scopes) != 0 || b.size != 0 {
			t.Errorf("%d scopes with %d bytes of workflows that are gone", len(b.scopes), b.size)
		}
	})
}

// Adding is one step also where the values end with the run, and hooks of templates have values
// of their own.
func TestStateOfARun(t *testing.T) {
	t.Parallel()
	for _, rehearsed := range []bool{false, true} {
		w := &Workflow{Definition: &Definition{ID: "w"}}
		r := &Run{engine: NewEngine(Options{Runner: inProcess{}}), workflow: w, calling: &gateway.Call{}, rehearsed: rehearsed}
		var wait sync.WaitGroup
		for range 50 {
			wait.Go(func() {
				if _, err := (host{r, &hook{node: "a"}}).AddState(t.Context(), "n", 1, 0); err != nil {
					t.Error(err)
				}
			})
		}
		wait.Wait()
		for _, c := range []struct {
			hook hook
			want string
		}{{hook{node: "b"}, "50"}, {hook{node: "b", state: State{Scope: scopeWorkflow}}, ""}} {
			if raw, err := (host{r, &c.hook}).GetState(t.Context(), "n"); err != nil || string(raw) != c.want {
				t.Errorf("%+v: %s, %v", c.hook, raw, err)
			}
		}
		r.engine.Close(t.Context())
	}
}

// A workflow that only watches counts, too, beside the one that acts. A replay begins with
// nothing.
func TestStateInShadow(t *testing.T) {
	t.Parallel()
	d := flow("w", `start → hook → mcp → end
		hook: const n = (state.get('n') || 0) + 1; state.set('n', n); if (n > 2) return {action: 'deny', reason: 'too many'}`)
	d.State.Scope, d.Mode = scopeWorkflow, shadow
	b := newBench(t, Options{}, d)
	runs := func() int { b.traces.mu.Lock(); defer b.traces.mu.Unlock(); return len(b.traces.all) }
	for n := range 3 {
		b.call("do", "{}")
		testkit.Eventually(t, func() bool { return runs() == n+1 }, "a run in shadow")
	}
	if outcome := b.traces.all[2].Outcome; outcome != OutcomeDenied {
		t.Errorf("the third call is %s", outcome)
	}
	_, trace, _ := b.Replay(t.Context(), b.Set().ids["w"], b.newCall("do", "{}"), &gateway.Result{Raw: json.RawMessage(`{"content":[]}`)})
	if trace.Outcome != OutcomeOK {
		t.Errorf("a replay is %s", trace.Outcome)
	}
	acting := *d
	acting.Mode = ""
	b.use(t, &acting)
	for n, want := range []string{"done", "done", "too many"} {
		if got := b.call("do", "{}"); !strings.Contains(got, want) {
			t.Errorf("call %d: %s", n, got)
		}
	}
}
