package graph

import (
	"context"
	"fmt"
	"iter"
	"math/rand/v2"
	"os"
	"runtime"
	"slices"
	"strconv"
	"testing"
	"time"
)

// sizeVariable names how many items the benchmarks have, five edges for each:
// GENKAN_BENCH_ITEMS=1000000 go test -run '^$' -bench . -benchmem ./internal/kb/graph
const sizeVariable = "GENKAN_BENCH_ITEMS"

func benchItems(b *testing.B) int {
	text := os.Getenv(sizeVariable)
	if text == "" {
		return 10_000
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 100 {
		b.Fatalf("%s is %q; it is a number of items, 100 at least", sizeVariable, text)
	}
	return n
}

// shapes are the kinds of graph that are measured.
var shapes = []struct {
	name string
	pick func(r *rand.Rand, n int) func() int64 // of the target of an edge
}{
	{"uniform", func(r *rand.Rand, n int) func() int64 {
		return func() int64 { return r.Int64N(int64(n)) + 1 }
	}},
	// A few items have most relations: at a million, the greatest has some hundred
	// thousand.
	{"hubs", func(r *rand.Rand, n int) func() int64 {
		zipf := rand.NewZipf(r, 1.2, 8, uint64(n-1))
		at := r.Perm(n) // Hubs are anywhere among the ids.
		return func() int64 { return int64(at[zipf.Uint64()]) + 1 }
	}},
}

func benchNodes(n int) iter.Seq[int64] {
	return func(yield func(int64) bool) {
		for id := range int64(n) {
			if !yield(id + 1) {
				return
			}
		}
	}
}

// benchEdges are five for each item, as a store has them: the lower id first, in order.
func benchEdges(n int, pick func(*rand.Rand, int) func() int64) [][2]int64 {
	r := rand.New(rand.NewPCG(1, 2))
	target := pick(r, n)
	edges := make([][2]int64, 0, 5*n)
	for id := range int64(n) {
		for range 5 {
			a, b := id+1, target()
			edges = append(edges, [2]int64{min(a, b), max(a, b)})
		}
	}
	slices.SortFunc(edges, func(a, b [2]int64) int { return slices.Compare(a[:], b[:]) })
	return edges
}

// onEach runs a benchmark on each shape, untouched and with an overlay that is
// nearly due to be folded.
func onEach(b *testing.B, run func(b *testing.B, g *Graph, n int)) {
	n := benchItems(b)
	for _, shape := range shapes {
		edges := benchEdges(n, shape.pick)
		g := Build(benchNodes(n), pairs(edges), 1)
		b.Run(shape.name, func(b *testing.B) { run(b, g, n) })
		r := rand.New(rand.NewPCG(3, 4))
		for sequence := int64(2); g.View().overlay() < foldAfter*9/10; sequence++ {
			g.Apply(sequence, []Change{{ID: int64(n) + sequence, Neighbours: []int64{r.Int64N(int64(n)) + 1, r.Int64N(int64(n)) + 1}}})
		}
		b.Run(shape.name+"/changed", func(b *testing.B) { run(b, g, n) })
		g.Close()
	}
}

// measure runs fn b.N times and reports the median and the 99th percentile, in
// processor time.
func measure(b *testing.B, fn func(i int) (work int)) {
	b.Helper()
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	took := make([]time.Duration, 0, b.N)
	work := 0
	b.ReportAllocs()
	b.ResetTimer()
	for i := range b.N {
		start := threadTime()
		work += fn(i)
		took = append(took, threadTime()-start)
	}
	b.StopTimer()
	slices.Sort(took)
	b.ReportMetric(float64(took[len(took)/2].Nanoseconds())/1000, "p50-µs")
	b.ReportMetric(float64(took[len(took)*99/100].Nanoseconds())/1000, "p99-µs")
	b.ReportMetric(float64(took[len(took)-1].Nanoseconds())/1000, "max-µs")
	b.ReportMetric(float64(work)/float64(b.N), "read/op")
}

func BenchmarkBuild(b *testing.B) {
	n := benchItems(b)
	for _, shape := range shapes {
		edges := benchEdges(n, shape.pick)
		b.Run(shape.name, func(b *testing.B) {
			var g *Graph
			b.ReportAllocs()
			runtime.LockOSThread()
			defer runtime.UnlockOSThread()
			start := threadTime()
			for b.Loop() {
				g = Build(benchNodes(n), pairs(edges), 1)
			}
			b.ReportMetric(float64((threadTime()-start).Milliseconds())/float64(b.N), "cpu-ms/op")
			longest := 0
			for node := range uint32(n) {
				longest = max(longest, len(g.View().row(node)))
			}
			b.ReportMetric(float64(g.View().Bytes())/1e6, "MB")
			b.ReportMetric(float64(longest), "longest-row")
		})
	}
}

func BenchmarkRelated(b *testing.B) {
	for _, limit := range []int{50, 1000} {
		b.Run(fmt.Sprintf("depth=3/max=%d", limit), func(b *testing.B) {
			onEach(b, func(b *testing.B, g *Graph, n int) {
				r := rand.New(rand.NewPCG(5, 6))
				measure(b, func(int) int {
					got, err := g.Related(context.Background(), r.Int64N(int64(n))+1, 3, limit)
					if err != nil {
						b.Fatal(err)
					}
					return got.Work
				})
			})
		})
	}
}

// All that is within depth 3, without a bound.
func BenchmarkRelatedWhole(b *testing.B) {
	onEach(b, func(b *testing.B, g *Graph, n int) {
		r := rand.New(rand.NewPCG(5, 6))
		measure(b, func(int) int {
			got, err := g.Related(context.Background(), r.Int64N(int64(n))+1, 3, n)
			if err != nil {
				b.Fatal(err)
			}
			return got.Work
		})
	})
}

func BenchmarkPaths(b *testing.B) {
	for _, depth := range []int{5, 10} {
		b.Run(fmt.Sprintf("depth=%d", depth), func(b *testing.B) {
			onEach(b, func(b *testing.B, g *Graph, n int) {
				r := rand.New(rand.NewPCG(7, 8))
				measure(b, func(int) int {
					got, err := g.Paths(context.Background(), r.Int64N(int64(n))+1, r.Int64N(int64(n))+1, depth, 10)
					if err != nil || got.GaveUp && got.Length < 0 {
						b.Fatal(got.GaveUp, err)
					}
					return got.Work
				})
			})
		})
	}
}

// Between the items that have most relations, whose rows are the longest.
func BenchmarkPathsBetweenHubs(b *testing.B) {
	onEach(b, func(b *testing.B, g *Graph, n int) {
		v := g.View()
		hubs := make([]uint32, n)
		for i := range hubs {
			hubs[i] = uint32(i)
		}
		slices.SortFunc(hubs, func(a, b uint32) int { return len(v.row(b)) - len(v.row(a)) })
		r := rand.New(rand.NewPCG(7, 8))
		measure(b, func(int) int {
			from, to := hubs[r.IntN(100)], hubs[r.IntN(100)]
			got, err := g.Paths(context.Background(), v.id(from), v.id(to), 5, 10)
			if err != nil || got.GaveUp && got.Length < 0 {
				b.Fatal(got.GaveUp, err)
			}
			return got.Work
		})
	})
}

// One item that is written with three relations, with the overlay half full.
func BenchmarkApply(b *testing.B) {
	onEach(b, func(b *testing.B, g *Graph, n int) {
		v := g.View()
		r := rand.New(rand.NewPCG(9, 10))
		measure(b, func(i int) int {
			v.apply(int64(i)+1e6, []Change{{ID: r.Int64N(int64(n)) + 1, Neighbours: []int64{
				r.Int64N(int64(n)) + 1, r.Int64N(int64(n)) + 1, r.Int64N(int64(n)) + 1,
			}}})
			return 0
		})
	})
}

func BenchmarkFold(b *testing.B) {
	onEach(b, func(b *testing.B, g *Graph, _ int) {
		v := g.View()
		b.ReportAllocs()
		for b.Loop() {
			runtime.KeepAlive(v.fold())
		}
	})
}
