package crashtest

import (
	"fmt"
	"log/slog"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"

	"genkan/internal/kb"
	"genkan/internal/sqlite"
)

// BenchmarkGroupCommit: how many creates are acknowledged in a second, each of
// them on the disk. Writers that wait for the disk at the same time share it.
func BenchmarkGroupCommit(b *testing.B) {
	one := 0.0
	for _, writers := range []int{1, 4, 16} {
		b.Run(fmt.Sprintf("writers=%d", writers), func(b *testing.B) {
			store, err := sqlite.Open(b.Context(), filepath.Join(b.TempDir(), "genkan.db"), slog.New(slog.DiscardHandler))
			if err != nil {
				b.Fatal(err)
			}
			defer func() { _ = store.Close() }()
			base := newBase(store.Knowledge())
			text := newText(1, 1000)
			create := func() error {
				_, err := base.Create(b.Context(), "docs", kb.Patch{
					Title: new(title("x", text)), Content: new(content("x", text)), Tags: &[]string{"all", "x"},
				})
				return err
			}
			if err := create(); err != nil { // and what comes before the first write
				b.Fatal(err)
			}
			var left atomic.Int64
			left.Store(int64(b.N))
			b.ResetTimer()
			var wg sync.WaitGroup
			for range writers {
				wg.Go(func() {
					for left.Add(-1) >= 0 {
						if err := create(); err != nil {
							b.Error(err)
							return
						}
					}
				})
			}
			wg.Wait()
			rate := float64(b.N) / b.Elapsed().Seconds()
			if writers == 1 {
				one = rate
			}
			b.ReportMetric(rate, "creates/s")
			b.ReportMetric(rate/one, "×one-writer")
			b.ReportMetric(0, "ns/op")
		})
	}
}
