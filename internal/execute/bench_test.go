package execute

import (
	"testing"

	"genkan/internal/gateway"
)

// BenchmarkHandle is the happy path: a place, the breaker, a deadline.
func BenchmarkHandle(b *testing.B) {
	e, well := New(DefaultLimits()), answers()
	tool := write(well).Tool
	b.ReportAllocs()
	for b.Loop() {
		if _, err := e.Handle(b.Context(), &gateway.Call{Method: "tools/call", Tool: tool}); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkHandleParallel(b *testing.B) {
	e, well := New(DefaultLimits()), answers()
	tool := write(well).Tool
	b.ReportAllocs()
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			if _, err := e.Handle(b.Context(), &gateway.Call{Method: "tools/call", Tool: tool}); err != nil {
				b.Fatal(err)
			}
		}
	})
}
