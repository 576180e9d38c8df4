package record

import (
	"context"
	"testing"

	"genkan/internal/gateway"
	"genkan/internal/history"
)

// A call that a call makes is an entry of its own, below the other. One that is the rest
// of another call is the entry for both.
func TestCallsThatCallsMake(t *testing.T) {
	for name, included := range map[string]bool{"made by code": false, "the rest of it": true} {
		t.Run(name, func(t *testing.T) {
			var ended []history.Entry
			var r *Recorder
			var h gateway.Handler
			answer := &gateway.Result{Raw: []byte(`{}`)}
			r, h, _ = recorder(func(ctx context.Context, call *gateway.Call) (*gateway.Result, error) {
				call.Tool = &gateway.Tool{Name: "t", Exposed: "srv__t", Source: source("srv")}
				if call.Parent != nil {
					return answer, nil
				}
				inner := &gateway.Call{Method: call.Method, Caller: call.Caller, Parent: call, Terms: gateway.Terms{Included: included}}
				return h.Handle(ctx, inner)
			})
			r.Keep(func() Keeping { return Keeping{} }, nil, func(e *history.Entry) { ended = append(ended, *e) })
			if _, err := h.Handle(t.Context(), newCall()); err != nil {
				t.Fatal(err)
			}
			switch {
			case included && (len(ended) != 1 || ended[0].Through != "t" || ended[0].Parent != ""):
				t.Errorf("%+v", ended)
			case !included && (len(ended) != 2 || ended[0].Parent != ended[1].ID || ended[0].ID == ended[1].ID || ended[1].Parent != ""):
				t.Errorf("%+v", ended)
			}
		})
	}
}
