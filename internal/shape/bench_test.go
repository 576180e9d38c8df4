package shape_test

import (
	"context"
	"strings"
	"testing"

	"genkan/internal/gateway"
	"genkan/internal/shape"
)

// BenchmarkWithinBudget is what the middleware adds to a call whose answer passes. An
// answer with fewer bytes than the budget has tokens is not read.
func BenchmarkWithinBudget(b *testing.B) {
	h := open(b, shape.Budgets{})
	for name, raw := range map[string][]byte{
		"2kB": textResult(rows(20)), "20kB": textResult(rows(200)), "80kB": textResult(strings.Repeat("word ", 16_000)),
		"nearlyFull": textResult(strings.Repeat(`{"id": 48213, "sku": "QX-7719-b", "qty": 12, "at": "2026-11-15T09:41:07Z"},`, 563)),
	} {
		b.Run(name, func(b *testing.B) {
			call := callOf("anna")
			call.Tool.Source = &server{}
			call.Session = &gateway.Session{Client: "cursor 1.0"}
			result := &gateway.Result{Raw: raw}
			handler := h.Middleware(gateway.HandlerFunc(func(context.Context, *gateway.Call) (*gateway.Result, error) { return result, nil }))
			b.ReportAllocs()
			for b.Loop() {
				_, _ = handler.Handle(context.Background(), call)
			}
		})
	}
}

func BenchmarkOutline(b *testing.B) {
	h := open(b, shape.Budgets{})
	raw := textResult(rows(100_000))
	b.SetBytes(int64(len(raw)))
	for b.Loop() {
		h.pass(b, callOf("anna"), raw)
	}
}
