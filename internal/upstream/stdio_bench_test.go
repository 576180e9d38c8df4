package upstream

import (
	"context"
	"testing"

	"genkan/internal/gateway"
)

// BenchmarkStdio is a call to a child that many share, without what is before
// it in the corridor.
func BenchmarkStdio(b *testing.B) {
	u := openReady(b, faultChild(b, "-era", "legacy"))
	b.ReportAllocs()
	b.SetParallelism(8)
	b.RunParallel(func(pb *testing.PB) {
		call := u.newCall(gateway.EraLegacy, "echo", `{"text":"hello"}`, "")
		for pb.Next() {
			if _, err := u.Handle(context.Background(), call); err != nil {
				b.Error(err)
				return
			}
		}
	})
}
