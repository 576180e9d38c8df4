package semantic

import (
	"math"
	"math/rand/v2"
	"runtime"
	"testing"
)

// random is a vector of the length 1.
func random(dims int) []float32 {
	v := make([]float32, dims)
	for i := range v {
		v[i] = float32(rand.NormFloat64())
	}
	length, _ := measure(v)
	for i := range v {
		v[i] /= float32(length)
	}
	return v
}

func filled(tb testing.TB, n, dims int) *matrix {
	tb.Helper()
	m := newMatrix(mostBytes)
	for id := range n {
		raw, _ := encode(nil, random(dims))
		if !m.put(&Row{Item: int64(id + 1), Type: "docs", Chunks: 1, Vectors: raw}) {
			tb.Fatal("it is not taken")
		}
	}
	return m
}

// BenchmarkNearest is a query over 100,000 vectors of 384 dimensions, on as many
// cores as -cpu says. MB is what the matrix holds.
func BenchmarkNearest(b *testing.B) {
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	m := filled(b, 100_000, 384)
	runtime.GC()
	runtime.ReadMemStats(&after)
	q := ask(random(384))
	b.ReportAllocs()
	for b.Loop() {
		if found, _ := m.nearest(q, nil, pool, nil); len(found) == 0 {
			b.Fatal("nothing is near")
		}
	}
	b.ReportMetric(float64(after.HeapAlloc-before.HeapAlloc)/1e6, "MB")
}

// TestCosine: what bytes lose does not change who is nearest.
func TestCosine(t *testing.T) {
	for _, dims := range []int{1, 3, 8, 384, 1536} {
		for range 200 {
			a, b := random(dims), random(dims)
			exact := 0.0
			var sumA, sumB, mostA, mostB float64
			for i := range a {
				exact += float64(a[i]) * float64(b[i])
				sumA, sumB = sumA+math.Abs(float64(a[i])), sumB+math.Abs(float64(b[i]))
				mostA, mostB = max(mostA, math.Abs(float64(a[i]))), max(mostB, math.Abs(float64(b[i])))
				a[i] *= 7 // how long it is does not matter
			}
			// Each number is off by half a step at most, a 127th of the largest. In many
			// dimensions that evens out.
			allowed := (sumB*mostA+sumA*mostB)/254 + float64(dims)*mostA*mostB/(4*127*127) + 1e-6
			if dims >= 384 {
				allowed = .005
			}
			raw, _ := encode(nil, a)
			codes := make([]int8, dims)
			scale, q := decode(raw, codes), ask(b)
			got := float64(product(codes, q.codes)) * float64(scale) * float64(q.scale)
			if off := math.Abs(got - exact); off > allowed {
				t.Errorf("%d dimensions: a cosine is off by %g, and may be by %g", dims, off, allowed)
			}
		}
	}
	for _, none := range [][]float32{nil, {0, 0}, {float32(math.NaN())}, {float32(math.Inf(1)), 1}} {
		if _, ok := encode(nil, none); ok || len(ask(none).codes) != 0 {
			t.Errorf("%v has a direction", none)
		}
	}
}

// TestMatrix: places of items that are gone are used again, and there are no more
// than may be.
func TestMatrix(t *testing.T) {
	const dims = 8
	m := newMatrix(4 * dims)
	row := func(id int64, chunks int) *Row {
		r := &Row{Item: id, Type: "docs", Chunks: chunks}
		for range chunks {
			r.Vectors, _ = encode(r.Vectors, random(dims))
		}
		return r
	}
	for _, step := range []struct {
		row           *Row
		remove        int64
		items, places int
	}{
		{row(1, 2), 0, 1, 2},
		{row(2, 2), 0, 2, 4},
		{row(3, 1), 0, 2, 4}, // there is no room
		{row(1, 1), 0, 2, 4},
		{row(3, 1), 0, 3, 4},
		{row(4, 0), 2, 2, 4}, // which has no vectors
		{row(5, 2), 0, 3, 4},
	} {
		m.remove(step.remove)
		if !m.put(step.row) || len(m.byID) != step.items || len(m.owners) != step.places || len(m.codes) != step.places*dims {
			t.Fatalf("after %d: %d items in %d places", step.row.Item, len(m.byID), len(m.owners))
		}
	}
	if m.crowded != 1 {
		t.Errorf("%d found no room", m.crowded)
	}
	if other := row(6, 1); m.put(&Row{Item: 6, Chunks: 1, Vectors: other.Vectors[1:]}) {
		t.Error("a vector of another length is taken")
	}
	if found, _ := m.nearest(ask(random(dims+1)), nil, 10, []int64{1}); found != nil {
		t.Error("a query of another length finds something")
	}
}
