package execute

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"genkan/internal/gateway"
)

// of is a call of a client.
func of(client string, s gateway.Source) *gateway.Call {
	call := write(s)
	call.Identity.ClientID = client
	return call
}

// crowd starts calls of n clients and waits until they are where they can get
// to.
func crowd(t *testing.T, e *Executor, s gateway.Source, n int) (end func()) {
	return crowdOf(t, e, s, n, func(i int) string { return fmt.Sprint("guest", i) })
}

func crowdOf(t *testing.T, e *Executor, s gateway.Source, n int, client func(i int) string) (end func()) {
	ctx, cancel := context.WithCancel(t.Context())
	var calls sync.WaitGroup
	for i := range n {
		calls.Go(func() { _, _ = e.Handle(ctx, of(client(i), s)) })
	}
	synctest.Wait()
	return func() {
		cancel()
		calls.Wait()
	}
}

func TestConcurrencyAndQueueAreBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e, hung := New(limits()), hangs()
		defer crowd(t, e, hung, 4+2)()
		if hung.seen() != 4 {
			t.Errorf("%d calls reached the source, want 4", hung.seen())
		}
		began := time.Now()
		_, err := e.Handle(t.Context(), write(hung))
		refused := wantCode(t, err, gateway.CodeLimited)
		if !refused.Unsent || refused.RetryAfter <= 0 || time.Since(began) != 0 {
			t.Errorf("got %+v after %v: a full queue refuses at once, and says when to come back", refused, time.Since(began))
		}
	})
}

func TestTheQueueMovesOn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		slow := &source{handle: func(ctx context.Context, _ *gateway.Call) (*gateway.Result, error) {
			select {
			case <-time.After(time.Second):
				return done, nil
			case <-ctx.Done():
				return nil, context.Cause(ctx)
			}
		}}
		e := New(limits())
		began := time.Now()
		var calls sync.WaitGroup
		for i := range 6 {
			calls.Go(func() {
				if _, err := e.Handle(t.Context(), of(fmt.Sprint("guest", i), slow)); err != nil {
					t.Error(err)
				}
			})
		}
		calls.Wait()
		if took := time.Since(began); took != 2*time.Second {
			t.Errorf("6 calls of a second on 4 places took %v", took)
		}
	})
}

func TestCancelWhileQueued(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e, hung := New(limits()), hangs()
		defer crowd(t, e, hung, 4)()
		ctx, cancel := context.WithCancel(t.Context())
		time.AfterFunc(time.Second, cancel)
		began := time.Now()
		_, err := e.Handle(ctx, write(hung))
		if gone := wantCode(t, err, gateway.CodeCanceled); !gone.Unsent || time.Since(began) != time.Second {
			t.Errorf("got %+v after %v", gone, time.Since(began))
		}
		if hung.seen() != 4 {
			t.Errorf("the canceled call reached the source")
		}
		// Its place in the queue is free again.
		_, err = e.Handle(canceled(t), write(hung))
		wantCode(t, err, gateway.CodeCanceled)
	})
}

func canceled(t *testing.T) context.Context {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	return ctx
}

// A caller that asks for an answer within five seconds does not wait in line
// for ten minutes behind calls that hang.
func TestTheTimeoutHoldsInTheQueueToo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e, hung := New(limits()), hangs()
		defer crowd(t, e, hung, 4)()
		call := write(hung)
		call.Options.Timeout = 5 * time.Second
		began := time.Now()
		_, err := e.Handle(t.Context(), call)
		late := wantCode(t, err, gateway.CodeTimeout)
		if took := time.Since(began); took != 5*time.Second || !late.Unsent {
			t.Errorf("got %+v after %v", late, took)
		}
	})
}

// One that hangs takes nobody with it.
func TestLanesAreIndependent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e, well := New(limits()), answers()
		defer crowd(t, e, hangs(), 4+2)()
		began := time.Now()
		for range 100 {
			if _, err := e.Handle(t.Context(), write(well)); err != nil {
				t.Fatal(err)
			}
		}
		if took := time.Since(began); took != 0 {
			t.Errorf("the healthy source's calls took %v", took)
		}
	})
}

// Two sources of the same name (before and after a reload) are two lanes: the
// new one does not pay for the old one.
func TestAReplacedSourceStartsAfresh(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e, old := New(limits()), hangs()
		end := crowd(t, e, old, 4+2)
		if _, err := e.Handle(t.Context(), write(&source{name: old.name, handle: answers().handle})); err != nil {
			t.Error(err)
		}
		end()
		e.Forget(old)
		lanes := 0
		e.lanes.Range(func(any, any) bool { lanes++; return true })
		if lanes != 1 {
			t.Errorf("%d lanes are kept, want 1", lanes)
		}
	})
}

func breakerLimits() Limits {
	l := limits()
	l.BreakerFailures, l.Retries = 3, 0
	return l
}

func TestTheBreaker(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ill := true
		s := &source{name: "ill", handle: func(context.Context, *gateway.Call) (*gateway.Result, error) {
			if ill {
				return nil, &gateway.Error{Code: gateway.CodeUnavailable, Message: "broken"}
			}
			return done, nil
		}}
		e := New(breakerLimits())
		fail := func() gateway.Error {
			t.Helper()
			_, err := e.Handle(t.Context(), write(s))
			return wantCode(t, err, gateway.CodeUnavailable)
		}
		for range 3 {
			fail()
		}
		refused := fail()
		if s.seen() != 3 || !refused.Unsent || refused.RetryAfter <= 0 || !strings.Contains(refused.Text(), "ill") {
			t.Fatalf("after 3 failures the 4th call must not be sent: sent %d, %+v", s.seen(), refused)
		}
		// After the pause one call may find out; it fails, and the pause
		// begins again.
		time.Sleep(5*time.Second + time.Millisecond)
		fail()
		if fail(); s.seen() != 4 {
			t.Fatalf("half open: sent %d, want 4", s.seen())
		}
		ill = false
		time.Sleep(5*time.Second + time.Millisecond)
		for range 10 {
			if _, err := e.Handle(t.Context(), write(s)); err != nil {
				t.Fatal(err)
			}
		}
	})
}

// A crash with many calls under way is one failure, however many calls it costs.
func TestCallsThatFailTogetherCountOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		crash := make(chan struct{})
		s := &source{name: "ill", handle: func(context.Context, *gateway.Call) (*gateway.Result, error) {
			<-crash
			return nil, &gateway.Error{Code: gateway.CodeUnavailable, Message: "lost"}
		}}
		l := breakerLimits()
		l.Concurrency = 30
		e := New(l)
		end := crowd(t, e, s, 30)
		close(crash)
		synctest.Wait()
		end()
		// The crash was the first of three failures in a row; these are the others.
		for range 2 {
			_, err := e.Handle(t.Context(), write(s))
			if wantCode(t, err, gateway.CodeUnavailable); s.seen() < 31 {
				t.Fatalf("the breaker is open after one crash: %v", err)
			}
		}
		if _, err := e.Handle(t.Context(), write(s)); s.seen() != 32 {
			t.Errorf("after 3 failures in a row the breaker is still closed: %v", err)
		}
	})
}

// reviving is a source that comes back.
type reviving struct {
	source

	starts atomic.Uint64
}

func (r *reviving) ReadyCount() uint64 { return r.starts.Load() }

// A source that has started again is not shut out for the rest of the pause. If
// it still fails, it is left alone again.
func TestARestartIsLookedAtAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, ill := &reviving{}, true
		r.handle = func(context.Context, *gateway.Call) (*gateway.Result, error) {
			if ill {
				return nil, &gateway.Error{Code: gateway.CodeUnavailable, Message: "lost"}
			}
			return done, nil
		}
		e := New(breakerLimits())
		for range 4 {
			_, _ = e.Handle(t.Context(), write(r))
		}
		if r.seen() != 3 {
			t.Fatalf("%d calls were sent, want 3 and then a breaker", r.seen())
		}
		r.starts.Add(1)
		for range 3 {
			_, _ = e.Handle(t.Context(), write(r))
		}
		if r.seen() != 4 {
			t.Errorf("%d calls were sent, want one more after the restart", r.seen())
		}
		r.starts.Add(1)
		ill = false
		for range 10 {
			if _, err := e.Handle(t.Context(), write(r)); err != nil {
				t.Fatal(err)
			}
		}
	})
}

// After a restart everybody's calls are sent, not only the first: that one may
// take long, or be another that the server does not survive.
func TestARestartLetsEverybodyIn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := &reviving{}
		r.handle = hangs().handle
		e := New(breakerLimits())
		for range 3 {
			_, err := e.Handle(t.Context(), write(r))
			wantCode(t, err, gateway.CodeTimeout)
		}
		r.starts.Add(1)
		defer crowd(t, e, r, 2)()
		if r.seen() != 5 {
			t.Errorf("%d of 2 calls were sent after the restart", r.seen()-3)
		}
	})
}

// What says nothing against a server does not open its breaker.
func TestWhatDoesNotOpenTheBreaker(t *testing.T) {
	for name, handle := range map[string]func(context.Context, *gateway.Call) (*gateway.Result, error){
		"a tool's own error": func(context.Context, *gateway.Call) (*gateway.Result, error) {
			return &gateway.Result{IsError: true}, nil
		},
		"an error that the server answered with": fails(gateway.Error{Code: gateway.CodeUnavailable, RPC: rpcError}).handle,
		"wrong arguments":                        fails(gateway.Error{Code: gateway.CodeInvalid}).handle,
		"a busy server":                          fails(gateway.Error{Code: gateway.CodeLimited}).handle,
		"a caller that went away":                fails(gateway.Error{Code: gateway.CodeCanceled}).handle,
		// Its supervisor sees that, and starts it again. It may have been the
		// caller's own process, or the caller's own fault.
		"a server that was lost during the call": fails(gateway.Error{Code: gateway.CodeUnavailable, Lost: true}).handle,
		// Its supervisor answers at once, and says what is wrong and when the
		// next try is; behind a breaker nobody would hear that, and a server
		// that came back would be shut out for the rest of the pause.
		"a server that is known to be down": fails(gateway.Error{Code: gateway.CodeUnavailable, Unsent: true}).handle,
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				e := New(breakerLimits())
				s := &source{name: "well", handle: handle}
				for range 10 {
					_, _ = e.Handle(t.Context(), write(s))
				}
				if s.seen() != 10 {
					t.Errorf("%d of 10 calls were sent", s.seen())
				}
			})
		})
	}
}

// A server that hangs fails by timeouts, and callers that lose patience before
// that are no proof of its health: a cancellation between two timeouts must
// not begin the count anew.
func TestCancellationsDoNotHideAHungServer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e, hung := New(breakerLimits()), hangs()
		for range 3 {
			ctx, cancel := context.WithCancel(t.Context())
			time.AfterFunc(time.Second, cancel)
			_, err := e.Handle(ctx, write(hung))
			wantCode(t, err, gateway.CodeCanceled)
			_, err = e.Handle(t.Context(), write(hung))
			wantCode(t, err, gateway.CodeTimeout)
		}
		before := hung.seen()
		_, err := e.Handle(t.Context(), write(hung))
		wantCode(t, err, gateway.CodeUnavailable)
		if hung.seen() != before {
			t.Errorf("after 3 timeouts in a row the breaker is still closed")
		}
	})
}

// A caller that gives a slow tool too little time opens the breaker for nobody;
// one that gives it more than is usual, and still gets no answer, shows a server
// that fails.
func TestACallersOwnTimeout(t *testing.T) {
	for name, c := range map[string]struct {
		caller time.Duration
		open   bool
	}{
		"shorter than the configured one":  {time.Millisecond, false},
		"longer than the configured one":   {5 * time.Minute, true},
		"as long as the configured one is": {breakerLimits().Timeout, true},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				e, hung := New(breakerLimits()), hangs()
				for range 3 {
					call := write(hung)
					call.Options.Timeout = c.caller
					_, err := e.Handle(t.Context(), call)
					wantCode(t, err, gateway.CodeTimeout)
				}
				_, err := e.Handle(t.Context(), write(hung))
				if open := hung.seen() == 3; open != c.open {
					t.Errorf("the breaker is open: %v, want %v (%v)", open, c.open, err)
				}
			})
		})
	}
}

// through passes calls on to another source, as the guide does.
type through struct {
	source

	next gateway.Handler
	to   gateway.Source
}

func (p *through) Forwards() {}

func (p *through) Handle(ctx context.Context, call *gateway.Call) (*gateway.Result, error) {
	return p.next.Handle(ctx, of(call.Identity.ClientID, p.to))
}

// A forwarder to all servers stays open when one of them hangs or fails, and what it
// passes on has the deadline and retries of its own call only.
func TestAForwarderHasNoLane(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := New(limits())
		hung, ill := hangs(), fails(gateway.Error{Code: gateway.CodeUnavailable})
		defer crowd(t, e, &through{next: e, to: hung}, 4+2)()
		if hung.seen() != 4 {
			t.Errorf("%d calls reached the source, want 4", hung.seen())
		}
		p := &through{next: e, to: ill}
		for range 10 {
			if _, err := e.Handle(t.Context(), write(p)); err == nil {
				t.Fatal("it did not fail")
			}
		}
		if most := int(limits().BreakerFailures); ill.seen() > most {
			t.Errorf("%d attempts, want %d and then a breaker", ill.seen(), most)
		}
		p.to = answers()
		if _, err := e.Handle(t.Context(), write(p)); err != nil {
			t.Errorf("the passage is closed: %v", err)
		}
		lanes := 0
		e.lanes.Range(func(any, any) bool { lanes++; return true })
		if lanes != 3 {
			t.Errorf("%d lanes for 3 servers", lanes)
		}
	})
}
