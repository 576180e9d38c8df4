package execute

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"genkan/internal/gateway"
)

// askingPeer is a client that takes its time to answer.
type askingPeer struct{ takes time.Duration }

func (askingPeer) Notify(string, []byte) {}

func (p askingPeer) Ask(ctx context.Context, _ string, _ []byte) ([]byte, error) {
	select {
	case <-time.After(p.takes):
		return []byte(`{}`), nil
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

// While its client is asked, a call's clock stands still and its place is
// another's: people take their time, and nobody else should wait for them.
func TestTheClockStandsStillDuringAnAsk(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		limits := DefaultLimits()
		limits.Timeout, limits.Total, limits.Concurrency = time.Minute, 2*time.Minute, 1
		e := New(limits)
		asking := &source{handle: func(ctx context.Context, call *gateway.Call) (*gateway.Result, error) {
			if call.Name == "quick" {
				return &gateway.Result{Raw: []byte("{}")}, nil
			}
			if _, err := call.Ask(ctx, "elicitation/create", []byte("{}")); err != nil {
				return nil, err
			}
			time.Sleep(30 * time.Second)
			return &gateway.Result{Raw: []byte("{}")}, ctx.Err()
		}}
		call := func(name string) *gateway.Call {
			return &gateway.Call{Name: name, Tool: &gateway.Tool{Exposed: name, Source: asking}, Peer: askingPeer{takes: 3 * time.Hour}}
		}
		done := make(chan error, 1)
		go func() {
			_, err := e.Handle(t.Context(), call("asks"))
			done <- err
		}()
		synctest.Wait()
		began := time.Now()
		if _, err := e.Handle(t.Context(), call("quick")); err != nil || time.Since(began) > 0 {
			t.Errorf("beside it: %v after %s", err, time.Since(began))
		}
		if err := <-done; err != nil {
			t.Errorf("the call that asked: %v", err)
		}
		if n := len(e.lane(asking).places); n != 0 {
			t.Errorf("%d places are still taken", n)
		}
	})
}
