package gateway_test

import (
	"context"
	"testing"
	"testing/synctest"

	"genkan/internal/gateway"
)

// plain is a source that implements none of the optional interfaces.
type plain struct{}

func (plain) Name() string { return "plain" }

func (plain) List(kind gateway.Kind) []gateway.Tool {
	if kind == gateway.KindTool {
		return []gateway.Tool{{Name: "tool"}}
	}
	return nil
}

func (plain) Handle(context.Context, *gateway.Call) (*gateway.Result, error) { return nil, nil }

// TestAPlainSource: what holds for a source that says nothing more of itself.
func TestAPlainSource(t *testing.T) {
	s := plain{}
	if !gateway.Hold(s) {
		t.Error("it cannot be held")
	}
	gateway.Release(s)
	gateway.Retire(t.Context(), s)
	if gateway.IsExternal(s) || gateway.IsForwarder(s) || gateway.HealthOf(s).Down || gateway.AboutOf(s).Title != "" {
		t.Error("it is something that it does not say")
	}
	if !gateway.Offers(s, gateway.KindTool) || gateway.Offers(s, gateway.KindPrompt) {
		t.Error("it does not offer what it lists")
	}
	if ttl := gateway.ListTTL(s, gateway.KindTool, 100); ttl != 100 {
		t.Errorf("its lists may be kept for %d", ttl)
	}
	if _, makes, lists := gateway.TasksOf(s); makes || lists || gateway.Settled(s) != nil || gateway.ReadyCount(s) != 0 {
		t.Error("it makes tasks, settles or starts")
	}
	for range gateway.Listeners([]gateway.Source{s}) {
		t.Error("it listens to sessions")
	}
	call := &gateway.Call{Name: "plain://x", Tool: &gateway.Tool{Source: s}}
	if _, err := gateway.Subscribe(t.Context(), call, func(string) {}); gateway.AsError(err) == nil || gateway.AsError(err).Code != gateway.CodeNotFound {
		t.Errorf("subscribing fails with %v", err)
	}
}

// starting is a source whose first lists come later.
type starting struct {
	plain
	settled chan struct{}
}

func (s starting) Settled() <-chan struct{} { return s.settled }

// TestAListThatIsStillToComeIsNotKept: a client that caches what it listed while a
// server was starting would not see its tools.
func TestAListThatIsStillToComeIsNotKept(t *testing.T) {
	s := starting{settled: make(chan struct{})}
	if ttl := gateway.ListTTL(s, gateway.KindPrompt, 100); ttl != 0 {
		t.Errorf("the missing list may be kept for %d", ttl)
	}
	if ttl := gateway.ListTTL(s, gateway.KindTool, 100); ttl != 100 {
		t.Errorf("the list that is there may be kept for %d", ttl)
	}
	close(s.settled)
	if ttl := gateway.ListTTL(s, gateway.KindPrompt, 100); ttl != 100 {
		t.Errorf("the list of a source that has none may be kept for %d", ttl)
	}
}

// TestHoldsWaitForCalls: retiring waits for the calls under way, and lets no other
// begin.
func TestHoldsWaitForCalls(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var h gateway.Holds
		if !h.Hold() {
			t.Fatal("nobody can hold it")
		}
		retired := make(chan struct{})
		go func() { h.Wait(t.Context()); close(retired) }()
		synctest.Wait()
		select {
		case <-retired:
			t.Fatal("it did not wait")
		default:
		}
		if !h.Hold() { // the configuration may still lead there
			t.Error("it cannot be held while it waits")
		}
		h.Release()
		h.Release()
		<-retired
		if h.Hold() {
			t.Error("it can be held after it has retired")
		}
		if n := h.Len(); n != 0 {
			t.Errorf("%d calls hold it", n)
		}
	})
}

// TestHoldsGiveUp: a call that does not end keeps a source only as long as ctx.
func TestHoldsGiveUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var h gateway.Holds
		h.Hold()
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		h.Wait(ctx)
		if h.Hold() {
			t.Error("it can be held after it was given up")
		}
	})
}
