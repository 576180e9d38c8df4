package search

import (
	"slices"
	"testing"
	"time"
)

// BenchmarkSearch10k: long queries that want one to eight things, over 10,000
// tools of 400 servers.
func BenchmarkSearch10k(b *testing.B) {
	m := newMaker(1)
	list := m.servers(400, 25)
	x := New(list...)
	queries := make([]string, 500)
	for i := range queries {
		queries[i] = m.query(list, 1+i%8)
	}
	var took []time.Duration
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		begun := time.Now()
		x.Search(Query{Text: queries[i%len(queries)], Limit: 5})
		took = append(took, time.Since(begun))
	}
	slices.Sort(took)
	b.ReportMetric(float64(took[len(took)/2].Microseconds()), "p50-µs")
	b.ReportMetric(float64(took[len(took)*99/100].Microseconds()), "p99-µs")
}

// BenchmarkReplaceServer: one of a hundred servers has other tools now, with some
// words that nobody had.
func BenchmarkReplaceServer(b *testing.B) {
	m := newMaker(2)
	x := New(m.servers(100, 100)...)
	fresh := m.server("server-7", 100)
	fresh.Documents[0].Name = "entirely_newfangled_thingamabob"
	b.ReportAllocs()
	for b.Loop() {
		x.With(fresh)
	}
}

func BenchmarkBuild10k(b *testing.B) {
	list := newMaker(3).servers(400, 25)
	b.ReportAllocs()
	for b.Loop() {
		New(list...)
	}
}
