package execute

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"genkan/internal/gateway"
)

// person is a client that thinks for a while before it answers.
type person struct {
	thinks time.Duration
	err    error
}

func (person) Notify(string, []byte) {}

func (p person) Ask(ctx context.Context, _ string, _ []byte) ([]byte, error) {
	timer := time.NewTimer(p.thinks)
	defer timer.Stop()
	select {
	case <-timer.C:
		return []byte(`{}`), p.err
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

// curious is a source that works, asks, and works again.
func curious(questions int, works time.Duration) *source {
	return &source{name: "curious", handle: func(ctx context.Context, call *gateway.Call) (*gateway.Result, error) {
		work := func() error {
			timer := time.NewTimer(works)
			defer timer.Stop()
			select {
			case <-timer.C:
				return nil
			case <-ctx.Done():
				return context.Cause(ctx)
			}
		}
		answers := make(chan error, questions)
		if err := work(); err != nil {
			return nil, err
		}
		for range questions {
			go func() {
				_, err := call.Ask(ctx, "elicitation/create", nil)
				answers <- err
			}()
		}
		for range questions {
			if err := <-answers; err != nil {
				return nil, err
			}
		}
		if err := work(); err != nil {
			return nil, err
		}
		return done, nil
	}}
}

func asks(s gateway.Source, p gateway.Peer) *gateway.Call {
	call := write(s)
	call.Peer = p
	return call
}

// The clock is for servers. A person may take longer than any server, and
// neither the silence nor the total runs meanwhile.
func TestTheClockStandsStillForPeople(t *testing.T) {
	for name, c := range map[string]struct {
		questions int
		works     time.Duration
		want      error
		after     time.Duration
	}{
		"one question":                      {1, 50 * time.Second, nil, 10*time.Hour + 100*time.Second},
		"several at once":                   {3, 50 * time.Second, nil, 10*time.Hour + 100*time.Second},
		"a server that is silent before":    {1, 70 * time.Second, errNoSignOfLife, time.Minute},
		"none, and a server that is silent": {0, 40 * time.Second, errNoSignOfLife, time.Minute},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				began := time.Now()
				_, err := New(limits()).Handle(t.Context(), asks(curious(c.questions, c.works), person{thinks: 10 * time.Hour}))
				if !errors.Is(err, c.want) || time.Since(began) != c.after {
					t.Errorf("got %v after %v, want %v after %v", err, time.Since(began), c.want, c.after)
				}
			})
		})
	}
}

// After the answer the server has its full time again, and no more.
func TestTheClockGoesOnAfterTheAnswer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		silent := &source{name: "silent", handle: func(ctx context.Context, call *gateway.Call) (*gateway.Result, error) {
			_, _ = call.Ask(ctx, "elicitation/create", nil)
			<-ctx.Done()
			return nil, context.Cause(ctx)
		}}
		began := time.Now()
		_, err := New(limits()).Handle(t.Context(), asks(silent, person{thinks: time.Hour}))
		wantCode(t, err, gateway.CodeTimeout)
		if took := time.Since(began); took != time.Hour+time.Minute {
			t.Errorf("given up after %v", took)
		}
	})
}

// However many people think, the server's other callers do not wait for them.
func TestPeopleHoldNoPlace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e, s := New(limits()), curious(1, 0)
		ended := make(chan error, 100)
		for range cap(ended) {
			go func() {
				_, err := e.Handle(t.Context(), asks(s, person{thinks: time.Hour}))
				ended <- err
			}()
			synctest.Wait()
		}
		began := time.Now()
		if _, err := e.Handle(t.Context(), asks(s, person{})); err != nil || time.Since(began) != 0 {
			t.Errorf("a call beside %d that ask: %v after %v", cap(ended), err, time.Since(began))
		}
		for range cap(ended) {
			if err := <-ended; err != nil {
				t.Error(err)
			}
		}
		l := e.lane(s)
		if l.free != e.limits.Concurrency || len(l.waiting) != 0 {
			t.Errorf("%d places are free, %d clients wait", l.free, len(l.waiting))
		}
	})
}

// That people do not answer says nothing about the server that asks.
func TestPeopleDoNotOpenABreaker(t *testing.T) {
	for name, err := range map[string]error{
		"who take too long":     &gateway.Error{Code: gateway.CodeTimeout, Message: "the client did not answer"},
		"who cannot be reached": &gateway.Error{Code: gateway.CodeUnavailable, Message: "the client cannot be asked"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				strict := limits()
				strict.BreakerFailures = 5
				e, s := New(strict), curious(1, 0)
				for range 20 {
					call := asks(s, person{err: err})
					call.Tool.ReadOnly = true
					_, got := e.Handle(t.Context(), call)
					if gateway.AsError(got).Code != gateway.AsError(err).Code || call.Attempts != 1 {
						t.Fatalf("got %v after %d attempts", got, call.Attempts)
					}
				}
			})
		})
	}
}
