package execute

import (
	"context"
	"errors"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"genkan/internal/gateway"
)

// limits are small enough to be read, and have no breaker in the way.
func limits() Limits {
	return Limits{
		Timeout: time.Minute, Total: time.Hour, Concurrency: 4, Queue: 2,
		Retries: 2, RetryDelay: 200 * time.Millisecond,
		BreakerFailures: 1000, BreakerPause: 5 * time.Second,
	}
}

// What a source says is what the caller hears: execute must not replace it
// with a reason of its own.
func TestTheSourcesErrorReachesTheCaller(t *testing.T) {
	for _, code := range gateway.Codes() {
		t.Run(code.String(), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				cause := errors.New("inside")
				ill := fails(gateway.Error{Code: code, Message: "what happened", Err: cause, RetryAfter: time.Second, RPC: rpcError})
				_, err := New(limits()).Handle(t.Context(), write(ill))
				e := wantCode(t, err, code)
				if e.Text() != "what happened" || !errors.Is(err, cause) || e.RetryAfter != time.Second || string(e.RPC) != string(rpcError) {
					t.Errorf("got %+v", e)
				}
			})
		})
	}
}

func TestRetries(t *testing.T) {
	unavailable := gateway.Error{Code: gateway.CodeUnavailable, Message: "gone"}
	unsent := gateway.Error{Code: gateway.CodeUnavailable, Message: "gone", Unsent: true}
	lost := gateway.Error{Code: gateway.CodeUnavailable, Message: "gone", Lost: true}
	for _, test := range []struct {
		name     string
		err      gateway.Error
		tool     gateway.Tool
		attempts int
	}{
		{"a write whose fate is unknown is sent once", unavailable, gateway.Tool{}, 1},
		{"a write that never left is sent again", unsent, gateway.Tool{}, 3},
		{"a read is sent again", unavailable, gateway.Tool{ReadOnly: true}, 3},
		{"what may have ended the server is sent again once", lost, gateway.Tool{ReadOnly: true}, 2},
		{"a write that was lost with its server is sent once", lost, gateway.Tool{}, 1},
		{"an idempotent write is sent again", unavailable, gateway.Tool{Idempotent: true}, 3},
		{
			"what the server answered stands, even for a read",
			gateway.Error{Code: gateway.CodeUnavailable, RPC: rpcError},
			gateway.Tool{ReadOnly: true},
			1,
		},
		{
			"what the server answered stands, even if marked unsent",
			gateway.Error{Code: gateway.CodeUnavailable, RPC: rpcError, Unsent: true},
			gateway.Tool{},
			1,
		},
		{"wrong input stays wrong", gateway.Error{Code: gateway.CodeInvalid, Unsent: true}, gateway.Tool{ReadOnly: true}, 1},
		{"a busy server is left alone", gateway.Error{Code: gateway.CodeLimited, Unsent: true}, gateway.Tool{ReadOnly: true}, 1},
		{"a slow server is not asked twice", gateway.Error{Code: gateway.CodeTimeout}, gateway.Tool{ReadOnly: true}, 1},
		{"who went away wants nothing more", gateway.Error{Code: gateway.CodeCanceled}, gateway.Tool{ReadOnly: true}, 1},
		{"a mistake of our own is not repeated", gateway.Error{Code: gateway.CodeInternal}, gateway.Tool{ReadOnly: true}, 1},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ill := fails(test.err)
				call := write(ill)
				call.Tool.ReadOnly, call.Tool.Idempotent = test.tool.ReadOnly, test.tool.Idempotent
				_, err := New(limits()).Handle(t.Context(), call)
				wantCode(t, err, test.err.Code)
				if ill.seen() != test.attempts || call.Attempts != test.attempts {
					t.Errorf("sent %d times and counted %d, want %d", ill.seen(), call.Attempts, test.attempts)
				}
			})
		})
	}
}

// An error that is not of the house says nothing about what happened, so
// nothing is sent again.
func TestForeignErrorsAreNotRetried(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ill := &source{handle: func(context.Context, *gateway.Call) (*gateway.Result, error) {
			return nil, errors.New("who knows")
		}}
		if _, err := New(limits()).Handle(t.Context(), read(ill)); err == nil || ill.seen() != 1 {
			t.Errorf("got %v after %d attempts", err, ill.seen())
		}
	})
}

func TestARetryThatSucceedsIsASuccess(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := 0
		flaky := &source{handle: func(context.Context, *gateway.Call) (*gateway.Result, error) {
			if n++; n < 3 {
				return nil, &gateway.Error{Code: gateway.CodeUnavailable, Unsent: true}
			}
			return done, nil
		}}
		call := write(flaky)
		result, err := New(limits()).Handle(t.Context(), call)
		if err != nil || result != done || call.Attempts != 3 {
			t.Errorf("got %v, %v after %d attempts", result, err, call.Attempts)
		}
	})
}

// The waits double, give or take a fifth so that callers do not come in step.
func TestBackoffGrows(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var at []time.Time
		ill := &source{handle: func(context.Context, *gateway.Call) (*gateway.Result, error) {
			at = append(at, time.Now())
			return nil, &gateway.Error{Code: gateway.CodeUnavailable, Unsent: true}
		}}
		call := write(ill)
		call.Options.Retries = 5
		_, err := New(limits()).Handle(t.Context(), call)
		wantCode(t, err, gateway.CodeUnavailable)
		if len(at) != 6 {
			t.Fatalf("%d attempts, want 6", len(at))
		}
		for i := range len(at) - 1 {
			got, want := at[i+1].Sub(at[i]), 200*time.Millisecond<<i
			if got < want*8/10 || got > want*12/10 {
				t.Errorf("wait %d was %v, want %v ± 20%%", i+1, got, want)
			}
		}
	})
}

func TestACallerMayWantNoRetries(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ill := fails(gateway.Error{Code: gateway.CodeUnavailable, Message: "gone", Unsent: true})
		call := write(ill)
		call.Options.Retries = gateway.NoRetries
		_, err := New(limits()).Handle(t.Context(), call)
		wantCode(t, err, gateway.CodeUnavailable)
		if ill.seen() != 1 {
			t.Errorf("sent %d times", ill.seen())
		}
	})
}

func TestOptionsHaveCeilings(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var at []time.Time
		ill := &source{handle: func(context.Context, *gateway.Call) (*gateway.Result, error) {
			at = append(at, time.Now())
			return nil, &gateway.Error{Code: gateway.CodeUnavailable, Unsent: true}
		}}
		call := write(ill)
		call.Options = gateway.ExecuteOptions{Retries: 1_000_000, RetryDelay: 1000 * time.Hour}
		_, err := New(limits()).Handle(t.Context(), call)
		wantCode(t, err, gateway.CodeUnavailable)
		if len(at) != maxRetries+1 {
			t.Errorf("%d attempts, want %d", len(at), maxRetries+1)
		}
		waits := make([]time.Duration, 0, len(at))
		for i := range len(at) - 1 {
			waits = append(waits, at[i+1].Sub(at[i]))
		}
		if longest := slices.Max(waits); longest > maxRetryDelay*12/10 {
			t.Errorf("waited %v, the most is %v", longest, maxRetryDelay)
		}
	})
}

// Whoever cancels during the wait for another attempt is let go at once, with
// what went wrong so far.
func TestCancelBetweenAttempts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ill := fails(gateway.Error{Code: gateway.CodeUnavailable, Unsent: true, Message: "gone"})
		ctx, cancel := context.WithCancel(t.Context())
		time.AfterFunc(50*time.Millisecond, cancel)
		began := time.Now()
		_, err := New(limits()).Handle(ctx, write(ill))
		if e := wantCode(t, err, gateway.CodeUnavailable); e.Text() != "gone" || ill.seen() != 1 {
			t.Errorf("got %v after %d attempts", err, ill.seen())
		}
		if took := time.Since(began); took != 50*time.Millisecond {
			t.Errorf("took %v", took)
		}
	})
}

// Whoever asks for retries is told why there were none.
func TestARetryThatIsNotSafeIsExplained(t *testing.T) {
	const why = "; not retried: the tool is not known to be safe to repeat"
	lost := gateway.Error{Code: gateway.CodeUnavailable, Lost: true, Message: "server %s was lost", Values: []any{"x"}}
	asked := gateway.ExecuteOptions{Retries: 3}
	for name, c := range map[string]struct {
		fails         gateway.Error
		call          func(gateway.Source) *gateway.Call
		options, tool gateway.ExecuteOptions
		want          string
	}{
		"asked for by the caller":           {lost, write, asked, gateway.ExecuteOptions{}, "server x was lost" + why},
		"asked for by the configuration":    {lost, write, gateway.ExecuteOptions{}, asked, "server x was lost" + why},
		"not asked for":                     {lost, write, gateway.ExecuteOptions{}, gateway.ExecuteOptions{}, "server x was lost"},
		"taken back by the caller":          {lost, write, gateway.ExecuteOptions{Retries: gateway.NoRetries}, asked, "server x was lost"},
		"made, because the tool only reads": {lost, read, asked, gateway.ExecuteOptions{}, "server x was lost"},
		"made, because nothing was sent": {
			gateway.Error{Code: gateway.CodeUnavailable, Unsent: true, Message: "down"},
			write, asked,
			gateway.ExecuteOptions{},
			"down",
		},
		"of no use after a timeout": {
			gateway.Error{Code: gateway.CodeTimeout, Message: "late"},
			write, asked,
			gateway.ExecuteOptions{},
			"late",
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				call := c.call(fails(c.fails))
				call.Options, call.Tool.Options = c.options, c.tool
				_, err := New(limits()).Handle(t.Context(), call)
				e := wantCode(t, err, c.fails.Code)
				if e.Text() != c.want || e.Lost != c.fails.Lost {
					t.Errorf("got %q, want %q", e.Text(), c.want)
				}
			})
		})
	}
}
