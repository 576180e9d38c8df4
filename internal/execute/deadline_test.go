package execute

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"genkan/internal/gateway"
)

func TestSilenceEndsACall(t *testing.T) {
	for _, test := range []struct {
		name          string
		option, tool  time.Duration
		want          time.Duration
		wantInMessage string
	}{
		{"after the default", 0, 0, time.Minute, "timeout after 60000ms"},
		{"after the tool's own timeout", 0, 20 * time.Second, 20 * time.Second, "timeout after 20000ms"},
		{"after the caller's", 5 * time.Second, 20 * time.Second, 5 * time.Second, "timeout after 5000ms"},
		{"but a caller may not ask for more than the ceiling", 100 * time.Hour, 0, maxTimeout, "timeout after 600000ms"},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				hung := hangs()
				call := read(hung) // even what could be sent again is not: it was slow once
				call.Options.Timeout, call.Tool.Timeout = test.option, test.tool
				began := time.Now()
				_, err := New(limits()).Handle(t.Context(), call)
				e := wantCode(t, err, gateway.CodeTimeout)
				if took := time.Since(began); took != test.want {
					t.Errorf("given up after %v, want %v", took, test.want)
				}
				if !strings.Contains(e.Text(), call.Tool.Exposed) || !strings.Contains(e.Text(), test.wantInMessage) {
					t.Errorf("the message does not say which tool and how long: %s", e.Text())
				}
				if e.Unsent || hung.seen() != 1 {
					t.Errorf("unsent %v after %d attempts", e.Unsent, hung.seen())
				}
			})
		})
	}
}

// working is a source that gives a sign of life every so often, and answers
// after a while.
func working(every, answer time.Duration) *source {
	return &source{name: "busy", handle: func(ctx context.Context, call *gateway.Call) (*gateway.Result, error) {
		ticks := time.NewTicker(every)
		defer ticks.Stop()
		end := time.NewTimer(answer)
		defer end.Stop()
		for {
			select {
			case <-ticks.C:
				call.SignOfLife()
			case <-end.C:
				return done, nil
			case <-ctx.Done():
				return nil, context.Cause(ctx)
			}
		}
	}}
}

func TestProgressPushesTheDeadlineOut(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		_, err := New(limits()).Handle(t.Context(), write(working(50*time.Second, 59*time.Minute)))
		if err != nil || time.Since(began) != 59*time.Minute {
			t.Errorf("got %v after %v", err, time.Since(began))
		}
	})
}

// A server that says for ever that it is working is not believed for ever.
func TestTheTotalIsNotExceeded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		_, err := New(limits()).Handle(t.Context(), write(working(50*time.Second, 100*time.Hour)))
		e := wantCode(t, err, gateway.CodeTimeout)
		if took := time.Since(began); took != time.Hour {
			t.Errorf("given up after %v, want 1h", took)
		}
		if strings.Contains(e.Text(), "no progress") || !strings.Contains(e.Text(), "after 3600000ms") {
			t.Errorf("it did make progress, and took too long all the same: %s", e.Text())
		}
	})
}

// A sign of life that comes late must not bring a finished call's clock back.
func TestASignOfLifeAfterTheEndDoesNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		call := write(answers())
		if _, err := New(limits()).Handle(t.Context(), call); err != nil {
			t.Fatal(err)
		}
		call.SignOfLife()
		synctest.Wait()
	})
}

func TestACallerThatGoesAwayEndsTheCall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancelCause(t.Context())
		because := &gateway.Error{Code: gateway.CodeCanceled, Message: "the client canceled the call"}
		time.AfterFunc(time.Second, func() { cancel(because) })
		began := time.Now()
		_, err := New(limits()).Handle(ctx, read(hangs()))
		if !errors.Is(err, because) || time.Since(began) != time.Second {
			t.Errorf("got %v after %v", err, time.Since(began))
		}
	})
}

// The source may notice the end late, and answer all the same: an answer that
// is there is not thrown away.
func TestAnAnswerThatCameIsKept(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		late := &source{handle: func(ctx context.Context, _ *gateway.Call) (*gateway.Result, error) {
			<-ctx.Done()
			return done, nil
		}}
		if result, err := New(limits()).Handle(t.Context(), write(late)); err != nil || result != done {
			t.Errorf("got %v, %v", result, err)
		}
	})
}

// A timeout that the caller states ends the call, whether it makes progress or not.
func TestACallersTimeoutBoundsTheWholeCall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e, busy := New(breakerLimits()), working(time.Second, time.Hour)
		for range 5 {
			call := write(busy)
			call.Options.Timeout = 5 * time.Minute
			began := time.Now()
			_, err := e.Handle(t.Context(), call)
			said := wantCode(t, err, gateway.CodeTimeout)
			if took := time.Since(began); took != 5*time.Minute {
				t.Errorf("given up after %v, want 5m", took)
			}
			if !strings.Contains(said.Text(), "after 300000ms") || !strings.Contains(said.Text(), "options") {
				t.Errorf("the message does not say what to do: %s", said.Text())
			}
		}
		// A server that is at work is healthy.
		if busy.seen() != 5 {
			t.Errorf("the breaker was opened after %d calls", busy.seen())
		}
	})
}

// The timeout includes the wait in the queue and the retries, and no attempt is
// waited for that could not be made in time.
func TestACallersTimeoutIncludesEverything(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		few := limits()
		few.Concurrency, few.Queue = 2, 2
		e := New(few)
		slow := &source{name: "slow", handle: func(ctx context.Context, _ *gateway.Call) (*gateway.Result, error) {
			select {
			case <-time.After(40 * time.Second):
				return done, nil
			case <-ctx.Done():
				return nil, context.Cause(ctx)
			}
		}}
		end := crowd(t, e, slow, 2)
		defer end()
		began := time.Now()
		call := write(slow)
		call.Options.Timeout = 50 * time.Second
		_, err := e.Handle(t.Context(), call)
		wantCode(t, err, gateway.CodeTimeout)
		if took := time.Since(began); took != 50*time.Second {
			t.Errorf("with the queue it took %v", took)
		}

		ill := fails(gateway.Error{Code: gateway.CodeUnavailable, Unsent: true, Message: "gone"})
		call = read(ill)
		call.Options = gateway.ExecuteOptions{Timeout: 10 * time.Second, Retries: 10, RetryDelay: 4 * time.Second}
		began = time.Now()
		_, err = e.Handle(t.Context(), call)
		wantCode(t, err, gateway.CodeUnavailable)
		if took := time.Since(began); took > 6*time.Second || ill.seen() != 2 {
			t.Errorf("%d attempts took %v", ill.seen(), took)
		}
	})
}

// The time that people take to answer a question is not the call's.
func TestACallersTimeoutStandsStillForPeople(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		call := asks(curious(1, 3*time.Second), person{thinks: time.Hour})
		call.Options.Timeout = 10 * time.Second
		if _, err := New(limits()).Handle(t.Context(), call); err != nil {
			t.Error(err)
		}
	})
}
