package ratelimit_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"genkan/internal/gateway"
	"genkan/internal/ratelimit"
)

func call(client string) *gateway.Call {
	return &gateway.Call{Caller: gateway.Caller{Identity: gateway.Identity{ClientID: client}}}
}

// TestEachClientHasItsOwnLimit, and gets it back with time.
func TestEachClientHasItsOwnLimit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		limited := ratelimit.New(2, time.Minute).Middleware(gateway.HandlerFunc(func(context.Context, *gateway.Call) (*gateway.Result, error) {
			return &gateway.Result{}, nil
		}))
		try := func(c *gateway.Call) *gateway.Error {
			_, err := limited.Handle(t.Context(), c)
			return gateway.AsError(err)
		}
		for range 2 {
			if err := try(call("a")); err != nil {
				t.Fatal(err)
			}
		}
		refused := try(call("a"))
		if refused == nil || refused.Code != gateway.CodeLimited || refused.RetryAfter != 30*time.Second {
			t.Fatalf("the third call: %v", refused)
		}
		if err := try(call("b")); err != nil {
			t.Errorf("another client: %v", err)
		}
		included := call("a")
		included.Included = true
		if err := try(included); err != nil {
			t.Errorf("a call that counts with its parent: %v", err)
		}
		time.Sleep(refused.RetryAfter)
		if err := try(call("a")); err != nil {
			t.Errorf("after the time that was said: %v", err)
		}
	})
}

// TestNoLimit: zero allows all calls.
func TestNoLimit(t *testing.T) {
	l := ratelimit.New(0, 0)
	for range 1000 {
		if err := l.Admit(gateway.Identity{ClientID: "a"}); err != nil {
			t.Fatal(err)
		}
	}
}
