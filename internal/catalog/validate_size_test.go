package catalog

import (
	"context"
	"errors"
	"runtime"
	"strings"
	"testing"

	"genkan/internal/gateway"
	"genkan/internal/jsonrpc"
)

// largeCall is a call whose arguments have many small objects.
func largeCall(t *testing.T, objects int, budget *gateway.Shares) *gateway.Call {
	t.Helper()
	p, err := jsonrpc.ScanParams([]byte(`{"name":"t","arguments":{"x":[` + strings.Repeat(`{"":1},`, objects) + `{}]}}`))
	if err != nil {
		t.Fatal(err)
	}
	return &gateway.Call{
		Method: "tools/call",
		Params: p,
		Caller: gateway.Caller{Budget: budget, Identity: gateway.Identity{ClientID: "me"}},
		Tool:   &gateway.Tool{Name: "t", Exposed: "t", Validate: true, InputSchema: []byte(`{"type":"object"}`)},
	}
}

// TestACheckCountsTheDecodedArguments: what they take in memory is bounded by
// the caller's share, and given back when they are checked.
func TestACheckCountsTheDecodedArguments(t *testing.T) {
	reached := 0
	h := (&Validator{}).Middleware(gateway.HandlerFunc(func(_ context.Context, call *gateway.Call) (*gateway.Result, error) {
		if held := call.Budget.Used(); held != 0 {
			t.Errorf("%d bytes are held after the check", held)
		}
		reached++
		return &gateway.Result{Raw: []byte("{}")}, nil
	}))
	for _, complete := range []bool{false, true} {
		const objects = 20_000
		budget := gateway.NewShares(100 << 20)
		call := largeCall(t, objects, budget)
		call.Complete = complete
		var before, after runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&before)
		tree, err := call.Arguments()
		if err != nil {
			t.Fatal(err)
		}
		runtime.GC()
		runtime.ReadMemStats(&after)
		takes := int64(after.HeapAlloc) - int64(before.HeapAlloc)
		runtime.KeepAlive(tree)
		if held := budget.Used(); held < takes {
			t.Errorf("%d bytes are counted for decoded arguments, which take %d", held, takes)
		}
		call.Release()

		budget = gateway.NewShares(100 << 20)
		call = largeCall(t, objects, budget)
		call.Complete = complete
		if _, err := h.Handle(t.Context(), call); err != nil {
			t.Fatal(err)
		}
		if budget.Peak() < takes || budget.Used() != 0 {
			t.Errorf("at most %d bytes were counted for a check that takes %d; %d are left", budget.Peak(), takes, budget.Used())
		}

		call = largeCall(t, objects, gateway.NewShares(takes/2))
		call.Complete = complete
		if _, err := h.Handle(t.Context(), call); !errors.Is(err, gateway.ErrShareUsedUp) {
			t.Errorf("without the memory for it the check ends with %v", err)
		}
		call = largeCall(t, 200_000, nil)
		call.Complete = complete
		if _, err := h.Handle(t.Context(), call); err == nil || !strings.Contains(gateway.AsError(err).Text(), "more than 200000 values") {
			t.Errorf("too many values: %v", err)
		}
		if _, err := call.Arguments(); err == nil || !strings.Contains(gateway.AsError(err).Text(), "more than 200000 values") {
			t.Errorf("too many values to decode: %v", err)
		}
	}
	if reached != 2 {
		t.Errorf("%d calls have passed", reached)
	}
}

// TestLargeChecksAreFew: only so many run at once; checks of small arguments do
// not wait for them.
func TestLargeChecksAreFew(t *testing.T) {
	h := (&Validator{}).Middleware(gateway.HandlerFunc(func(context.Context, *gateway.Call) (*gateway.Result, error) {
		return &gateway.Result{Raw: []byte("{}")}, nil
	}))
	for range cap(largeChecks) {
		largeChecks <- struct{}{}
	}
	if _, err := h.Handle(t.Context(), largeCall(t, 1000, nil)); err != nil {
		t.Errorf("a small call: %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := h.Handle(ctx, largeCall(t, 20_000, nil)); gateway.AsError(err).Code != gateway.CodeCanceled {
		t.Errorf("a large call that does not get its turn ends with %v", err)
	}
	for range cap(largeChecks) {
		<-largeChecks
	}
	if _, err := h.Handle(t.Context(), largeCall(t, 20_000, nil)); err != nil {
		t.Errorf("a large call: %v", err)
	}
}
