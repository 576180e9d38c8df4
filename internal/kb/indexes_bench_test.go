package kb_test

import (
	"fmt"
	"os"
	"strconv"
	"testing"
	"time"

	"genkan/internal/kb"
)

// BenchmarkIndexes measures the time from opening a data directory to the first answer,
// and the cost of an answer afterwards. GENKAN_KB_ITEMS is the number of items.
func BenchmarkIndexes(b *testing.B) {
	items := 10_000
	if n, err := strconv.Atoi(os.Getenv("GENKAN_KB_ITEMS")); err == nil {
		items = n
	}
	dir := b.TempDir()
	p := openProcess(b, dir)
	p.fill(b, items)
	began := time.Now()
	if err := p.indexes.Rebuild(b.Context(), nil); err != nil {
		b.Fatal(err)
	}
	b.Logf("%d items, built in %v", items, time.Since(began))
	p.close()

	search := func(b *testing.B, p *process, query string) {
		b.Helper()
		if found, err := p.Search(b.Context(), kb.Query{Text: query, Limit: 20}); err != nil || len(found.Items) == 0 {
			b.Fatalf("%d found, %v", found.Total, err)
		}
	}
	b.Run("FirstSearch", func(b *testing.B) {
		for b.Loop() {
			p := openProcess(b, dir)
			search(b, p, "検索の実装 common")
			if p.store.items.Load() > 0 {
				b.Fatal("the rows have answered")
			}
			b.StopTimer()
			p.close()
			b.StartTimer()
		}
	})
	b.Run("FirstWalk", func(b *testing.B) {
		for b.Loop() {
			p := openProcess(b, dir, (*kb.Indexes).Patient)
			if _, err := p.indexes.Related(b.Context(), 7, 3, 50); err != nil || p.store.neighbours.Load() > 0 {
				b.Fatalf("%v, or the rows have answered", err)
			}
			b.StopTimer()
			p.close()
			b.StartTimer()
		}
	})
	p = openProcess(b, dir, (*kb.Indexes).Patient)
	b.Run("Search", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			search(b, p, "設計 gateway")
		}
	})
	b.Run("SearchAfterWrite", func(b *testing.B) {
		for i := 0; b.Loop(); i++ {
			b.StopTimer()
			content := fmt.Sprintf("gateway common unlikely%d", i)
			if _, err := p.Update(b.Context(), kb.Ref{Type: "type0", ID: 1}, kb.Patch{Content: &content}); err != nil {
				b.Fatal(err)
			}
			b.StartTimer()
			search(b, p, content)
		}
	})
	b.Run("Related", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if _, err := p.indexes.Related(b.Context(), 7, 3, 50); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("SearchParallel", func(b *testing.B) {
		b.RunParallel(func(pb *testing.PB) {
			for pb.Next() {
				search(b, p, "設計 gateway")
			}
		})
	})
}
