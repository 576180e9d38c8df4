package script

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"genkan/internal/testkit"
)

func (p *Pool) is(condition func(PoolStats) bool) func() bool {
	return func() bool { return condition(p.Stats()) }
}

// Scripts that wait for their hosts leave the slots to others, and one that runs for
// long does, too.
func TestWaitingScriptsGiveTheirSlotFree(t *testing.T) {
	t.Parallel()
	p := newPool(t, Options{Running: 1, Processes: 4})
	var wait sync.WaitGroup
	defer wait.Wait()
	release := make(chan struct{})
	host := &fakeHost{call: func(ctx context.Context, _ string, _ json.RawMessage) (json.RawMessage, error) {
		select {
		case <-release:
		case <-ctx.Done():
		}
		return json.RawMessage(`{"structuredContent":1}`), nil
	}}
	waiting := compile(t, p, `let n = 0; n += await call("x"); n += await call("x"); return n`)
	for range 2 {
		wait.Go(func() {
			r, err := p.Run(context.Background(), Job{Program: waiting, Limits: patient, Host: host})
			if err != nil || string(r.Returned) != "2" || r.Wait <= 0 || r.Run <= 0 {
				t.Errorf("%+v %v", r, err)
			}
		})
	}
	testkit.Eventually(t, p.is(func(s PoolStats) bool { return s.Waiting == 2 && s.Running == 0 }), "two scripts wait")

	ctx, stop := context.WithCancel(context.Background())
	loop := compile(t, p, `for (;;);`)
	wait.Go(func() {
		_, err := p.Run(ctx, Job{Program: loop, Limits: patient})
		if failure := failureOf(t, err); failure == nil || failure.Kind != Canceled || !errors.Is(err, context.Canceled) {
			t.Errorf("%v", err)
		}
	})
	testkit.Eventually(t, p.is(func(s PoolStats) bool { return s.Running == 1 }), "a script loops")
	if r, failure := run1(t, p, `return 7`, "", nil); failure != nil || string(r.Returned) != "7" {
		t.Errorf("%s %v", r.Returned, failure)
	}
	stop()
	close(release)
}

// When all processes wait, and go on waiting, who comes next is told so.
func TestAllProcessesWait(t *testing.T) {
	t.Parallel()
	p := newPool(t, Options{Running: 1, Processes: 2})
	ctx, stop := context.WithCancel(context.Background())
	var wait sync.WaitGroup
	defer wait.Wait()
	defer stop()
	programs := []*Program{compile(t, p, `await sleep(1e9); return 1`), compile(t, p, `await sleep(1e9); return 2`)}
	other := compile(t, p, `return 3`)
	for _, program := range programs {
		wait.Go(func() { _, _ = p.Run(ctx, Job{Program: program, Limits: patient}) })
	}
	testkit.Eventually(t, p.is(func(s PoolStats) bool { return s.Waiting == 2 }), "both wait")
	_, err := p.Run(context.Background(), Job{Program: other, Limits: patient})
	if failure := failureOf(t, err); failure == nil || failure.Kind != Busy || !strings.Contains(failure.Message, "all 2 workers") {
		t.Errorf("%v", err)
	}
}

func TestQueueIsBounded(t *testing.T) {
	t.Parallel()
	p := newPool(t, Options{Running: 1, Processes: 1, Queue: 1})
	quick := compile(t, p, `return 1`)
	loop := compile(t, p, `for (;;);`)
	ctx, stop := context.WithCancel(context.Background())
	var wait sync.WaitGroup
	defer wait.Wait()
	defer stop()
	wait.Go(func() { _, _ = p.Run(ctx, Job{Program: loop, Limits: patient}) })
	testkit.Eventually(t, p.is(func(s PoolStats) bool { return s.Running == 1 }), "one runs")
	wait.Go(func() {
		if r, err := p.Run(context.Background(), Job{Program: quick, Limits: patient}); err != nil || r.Queue <= 0 {
			t.Errorf("%+v %v", r, err)
		}
	})
	testkit.Eventually(t, p.is(func(s PoolStats) bool { return s.Queued == 1 }), "one waits")
	_, err := p.Run(context.Background(), Job{Program: quick, Limits: patient})
	if failure := failureOf(t, err); failure == nil || failure.Kind != Busy {
		t.Errorf("%v", err)
	}
	// One who does not want to wait any longer leaves the queue.
	impatient, cancel := context.WithCancel(context.Background())
	cancel()
	_, err = p.Run(impatient, Job{Program: quick, Limits: patient})
	if failure := failureOf(t, err); failure == nil || failure.Kind != Canceled {
		t.Errorf("%v", err)
	}
	stop()
}

func TestQueueTime(t *testing.T) {
	t.Parallel()
	p := newPool(t, Options{Running: 1, Processes: 1, QueueTime: time.Millisecond})
	ctx, stop := context.WithCancel(context.Background())
	loop, quick := compile(t, p, `for (;;);`), compile(t, p, `return 1`)
	var wait sync.WaitGroup
	defer wait.Wait()
	defer stop()
	wait.Go(func() { _, _ = p.Run(ctx, Job{Program: loop, Limits: patient}) })
	testkit.Eventually(t, p.is(func(s PoolStats) bool { return s.Running == 1 }), "one runs")
	_, err := p.Run(context.Background(), Job{Program: quick, Limits: patient})
	if failure := failureOf(t, err); failure == nil || failure.Kind != Busy || failure.Queue <= 0 {
		t.Errorf("%v", err)
	}
}

// One program cannot take all processes.
func TestOneProgramLeavesProcessesToOthers(t *testing.T) {
	t.Parallel()
	p := newPool(t, Options{Running: 2, Processes: 4})
	greedy, other := compile(t, p, `await sleep(1e9)`), compile(t, p, `return 1`)
	ctx, stop := context.WithCancel(context.Background())
	var wait sync.WaitGroup
	defer wait.Wait()
	defer stop()
	for range 10 {
		wait.Go(func() { _, _ = p.Run(ctx, Job{Program: greedy, Limits: patient}) })
	}
	testkit.Eventually(t, p.is(func(s PoolStats) bool { return s.Waiting == 3 && s.Queued == 7 }), "three of four")
	if _, err := p.Run(context.Background(), Job{Program: other, Limits: patient}); err != nil {
		t.Error(err)
	}
}

func TestTripped(t *testing.T) {
	t.Parallel()
	p := newPool(t, Options{Kills: 2, KillWindow: long, Pause: long})
	loop, other := compile(t, p, `if (params.loop) for (;;); return 1`), compile(t, p, `return 2`)
	bad := Job{Program: loop, Params: json.RawMessage(`{"loop":true}`), Limits: Limits{Time: 20 * time.Millisecond}}
	good := Job{Program: loop, Limits: patient}
	var kinds []Kind
	for range 3 {
		_, err := p.Run(context.Background(), bad)
		failure := failureOf(t, err)
		kinds = append(kinds, failure.Kind)
		if failure.Killed != (failure.Kind == Timeout) {
			t.Errorf("%+v", failure)
		}
	}
	if fmt.Sprint(kinds) != "[timeout timeout tripped]" {
		t.Error(kinds)
	}
	if _, tripped := p.Stats().Tripped[loop.ID]; !tripped {
		t.Errorf("%+v", p.Stats())
	}
	if _, err := p.Run(context.Background(), Job{Program: other, Limits: patient}); err != nil {
		t.Error(err)
	}
	p.mu.Lock()
	p.opts.Pause = 0 // as if it had passed
	p.mu.Unlock()
	if _, err := p.Run(context.Background(), good); err != nil {
		t.Errorf("it runs again: %v", err)
	}
	_, err := p.Run(context.Background(), bad)
	if failure := failureOf(t, err); failure.Kind != Timeout {
		t.Errorf("the count begins anew: %v", err)
	}
}

// The end of the caller's time is not the script's fault.
func TestContextEndsRuns(t *testing.T) {
	t.Parallel()
	p := newPool(t, Options{Kills: 1, Pause: long})
	for _, source := range []string{`for (;;);`, `await sleep(1e9)`, `await call("x")`, `/^(a+)+\1$/.test("a".repeat(50) + "!")`} {
		program := compile(t, p, source)
		host := &fakeHost{call: func(ctx context.Context, _ string, _ json.RawMessage) (json.RawMessage, error) {
			<-ctx.Done()
			return nil, ctx.Err()
		}}
		ctx, stop := context.WithCancel(context.Background())
		time.AfterFunc(20*time.Millisecond, stop)
		_, err := p.Run(ctx, Job{Program: program, Limits: patient, Host: host})
		if failure := failureOf(t, err); failure == nil || failure.Kind != Canceled || failure.Killed || !errors.Is(err, context.Canceled) {
			t.Errorf("%s: %v", source, err)
		}
		ctx, stop = context.WithTimeout(context.Background(), 20*time.Millisecond)
		_, err = p.Run(ctx, Job{Program: program, Limits: patient, Host: host})
		if failure := failureOf(t, err); failure == nil || failure.Kind != Timeout || failure.Killed || !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("%s: %v", source, err)
		}
		stop()
	}
	if s := p.Stats(); len(s.Tripped) != 0 {
		t.Errorf("%+v", s)
	}
}

func TestWorkersAreReusedAndEnd(t *testing.T) {
	t.Parallel()
	p := newPool(t, Options{Running: 1, Idle: 50 * time.Millisecond})
	p.Warm()
	testkit.Eventually(t, p.is(func(s PoolStats) bool { return s.Started == 1 }), "a warm worker")
	testkit.Eventually(t, p.is(func(s PoolStats) bool { return s.Processes == 0 }), "it ends when nobody needs it")

	q := newPool(t, Options{Running: 1})
	for i := range 2 * maxPrograms { // more than a worker keeps
		if r, failure := run1(t, q, fmt.Sprintf("return %d", i), "", nil); failure != nil || string(r.Returned) != fmt.Sprint(i) {
			t.Fatalf("%s %v", r.Returned, failure)
		}
	}
	if s := q.Stats(); s.Started != 1 {
		t.Errorf("%+v", s)
	}
}

// A closed pool ends what runs, and runs nothing any more.
func TestClose(t *testing.T) {
	t.Parallel()
	p := newPool(t, Options{Running: 1, Processes: 2})
	loop := compile(t, p, `for (;;);`)
	var wait sync.WaitGroup
	for range 4 {
		wait.Go(func() {
			_, err := p.Run(context.Background(), Job{Program: loop, Limits: patient})
			if failure := failureOf(t, err); failure == nil || failure.Kind != Canceled {
				t.Errorf("%v", err)
			}
		})
	}
	testkit.Eventually(t, p.is(func(s PoolStats) bool { return s.Running > 0 && s.Queued > 0 }), "some run, some wait")
	p.Close()
	wait.Wait()
	_, err := p.Run(context.Background(), Job{Program: loop})
	if failure := failureOf(t, err); failure == nil || failure.Kind != Canceled {
		t.Errorf("%v", err)
	}
	if s := p.Stats(); s.Processes != 0 {
		t.Errorf("%+v", s)
	}
	p.Warm()
	p.Close()
}

// Many runs of all sorts at once end as each should.
func TestManyAtOnce(t *testing.T) {
	t.Parallel()
	p := newPool(t, Options{Running: 2, Queue: 1000})
	programs := []*Program{
		compile(t, p, `return context.n`), compile(t, p, `await sleep(1); return context.n`),
		compile(t, p, `throw new Error(context.n)`), compile(t, p, `await Promise.all([sleep(1), sleep(2), state.set("a", 1)]); return context.n`),
	}
	var wait sync.WaitGroup
	host := &fakeHost{}
	for i := range testkit.Count(100, 1000) {
		wait.Go(func() {
			r, err := p.Run(context.Background(), Job{Program: programs[i%4], Context: json.RawMessage(fmt.Sprintf(`{"n":%d}`, i)), Limits: patient, Host: host})
			got := string(r.Returned)
			if failure := failureOf(t, err); failure != nil {
				got = strings.TrimPrefix(failure.Message, "Error: ")
			}
			if got != fmt.Sprint(i) {
				t.Errorf("%d: %s %v", i, got, err)
			}
		})
	}
	wait.Wait()
}

// Large requests and large answers at the same time do not wait for each other.
func TestLargeRequestsAndAnswers(t *testing.T) {
	t.Parallel()
	p := newPool(t, Options{})
	large := json.RawMessage(`{"structuredContent":"` + strings.Repeat("y", 500_000) + `"}`)
	host := &fakeHost{call: func(context.Context, string, json.RawMessage) (json.RawMessage, error) { return large, nil }}
	n := testkit.Count(6, 20)
	program := compile(t, p, fmt.Sprintf(`const s = "x".repeat(300000); return (await Promise.all(Array.from({length: %d}, () => call("x", {s})))).length`, n))
	// With the race detector a worker has several times the memory of the usual one.
	r, err := p.Run(t.Context(), Job{Program: program, Limits: Limits{Time: long, Memory: 4 * DefaultMemory}, Host: host})
	if err != nil || string(r.Returned) != strconv.Itoa(n) {
		t.Errorf("%s %v", r.Returned, err)
	}
}
