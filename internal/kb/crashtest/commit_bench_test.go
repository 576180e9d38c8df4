package crashtest

import (
	"fmt"
	"log/slog"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"genkan/internal/kb"
	"genkan/internal/sqlite"
)

// BenchmarkGroupCommit: how many creates are acknowledged in a second, each of
// them on the disk, by 1, 4 and 16 writers. Writers that wait for the disk at the
// same time share it. They are measured in turns, each op is a turn of all, and
// the medians of rates and ratios count: machines are busy.
func BenchmarkGroupCommit(b *testing.B) {
	const creates = 200
	store, err := sqlite.Open(b.Context(), filepath.Join(b.TempDir(), "genkan.db"), slog.New(slog.DiscardHandler))
	if err != nil {
		b.Fatal(err)
	}
	defer func() { _ = store.Close() }()
	base := newBase(store.Knowledge())
	text := newText(1, 1000)
	rate := func(writers int) float64 {
		var left atomic.Int64
		left.Store(creates)
		var wg sync.WaitGroup
		begun := time.Now()
		for range writers {
			wg.Go(func() {
				for left.Add(-1) >= 0 {
					_, err := base.Create(b.Context(), "docs", kb.Patch{
						Title: new(title("x", text)), Content: new(content("x", text)), Tags: &[]string{"all", "x"},
					})
					if err != nil {
						b.Error(err)
						return
					}
				}
			})
		}
		wg.Wait()
		return creates / time.Since(begun).Seconds()
	}
	rate(1) // what comes before the first write
	rates, ratios := map[int][]float64{}, map[int][]float64{}
	for b.Loop() {
		for _, writers := range []int{1, 4, 16} {
			rates[writers] = append(rates[writers], rate(writers))
			last := len(rates[1]) - 1
			ratios[writers] = append(ratios[writers], rates[writers][last]/rates[1][last])
		}
	}
	median := func(all []float64) float64 {
		slices.Sort(all)
		return all[len(all)/2]
	}
	for _, writers := range []int{4, 16} {
		b.ReportMetric(median(ratios[writers]), fmt.Sprintf("×one-by-%d", writers))
	}
	for _, writers := range []int{1, 4, 16} {
		b.ReportMetric(median(rates[writers]), fmt.Sprintf("creates/s-by-%d", writers))
	}
}
