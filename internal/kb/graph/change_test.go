package graph

import (
	"math"
	"slices"
	"sync"
	"sync/atomic"
	"testing"

	"genkan/internal/testkit"

	"github.com/google/go-cmp/cmp"
)

// News that the graph has already change nothing.
func TestSequence(t *testing.T) {
	g := draw(t, "1-2 3")
	if !g.Apply(5, []Change{{ID: 3, Neighbours: []int64{1}}}) || g.Sequence() != 5 {
		t.Fatalf("sequence %d", g.Sequence())
	}
	for _, sequence := range []int64{1, 4, 5} {
		if g.Apply(sequence, []Change{{ID: 3, Removed: true}}) {
			t.Errorf("%d was applied after 5", sequence)
		}
	}
	if !g.View().Has(3) || g.Sequence() != 5 {
		t.Error("it has changed")
	}
	g.Fold()
	if g.Sequence() != 5 {
		t.Errorf("sequence %d after a fold", g.Sequence())
	}
	if !g.Apply(6, nil) || g.Sequence() != 6 {
		t.Errorf("sequence %d after a change without items", g.Sequence())
	}
}

// Nothing is a graph, too.
func TestEmpty(t *testing.T) {
	g := draw(t, "")
	g.Fold()
	if err := second(g.Related(t.Context(), 1, 1, 1)); err != ErrUnknown { //nolint:errorlint // It is returned as it is.
		t.Error(err)
	}
	g.Apply(2, []Change{{ID: 1, Removed: true}, {ID: 2, Neighbours: []int64{3}}})
	g.Fold()
	if nodes, edges := g.View().Size(); nodes != 1 || edges != 0 {
		t.Errorf("%d nodes, %d edges", nodes, edges)
	}
}

// A view that somebody holds stays as it was.
func TestViewStays(t *testing.T) {
	g := draw(t, "1-2 2-3")
	old := g.View()
	g.Apply(2, []Change{{ID: 2, Removed: true}, {ID: 4, Neighbours: []int64{1}}})
	g.Fold()
	n, err := old.Related(t.Context(), 1, 3, 9)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]Node{{2, 1}, {3, 2}}, n.Nodes); diff != "" || old.Sequence() != 1 {
		t.Errorf("sequence %d, -want +got:\n%s", old.Sequence(), diff)
	}
}

// An overlay that has grown is folded without being asked, and what comes meanwhile
// is not lost.
func TestFoldsByItself(t *testing.T) {
	g := star(10)
	m := model{}
	for id := range int64(12) {
		m[id] = map[int64]bool{}
	}
	for id := int64(1); id <= 10; id++ {
		m.link(0, id)
	}
	m.link(10, 11)
	sequence, end := int64(1), int64(100+foldAfter*testkit.Count(5, 8)/4)
	for id := int64(100); id < end; id++ {
		sequence++
		changes := []Change{{ID: id, Neighbours: []int64{id - 1, id % 12}}}
		g.Apply(sequence, changes)
		m.apply(changes)
	}
	g.Close()
	v := g.View()
	if v.overlay() > foldAfter+10 || len(v.rows.ids) == 12 {
		t.Errorf("%d in the overlay, %d nodes in the rows", v.overlay(), len(v.rows.ids))
	}
	if v.Sequence() != sequence || len(m) != v.nodes || m.edges() != v.edges {
		t.Errorf("sequence %d of %d, %d nodes of %d, %d edges of %d", v.Sequence(), sequence, v.nodes, len(m), v.edges, m.edges())
	}
	for id := int64(100); id < end; id += int64(testkit.Count(4_777, 777)) {
		sameAnswers(t, v, m, id, 5, 2, 5, 50)
	}
	// Closed, it can still be changed and folded.
	g.Apply(sequence+1, []Change{{ID: 100, Removed: true}})
	g.Fold()
	if v := g.View(); v.Has(100) || v.overlay() != 0 {
		t.Error("the last change was not folded")
	}
}

// Readers during changes and folds see some whole state: here, a ring whose nodes are
// removed and put back, so that each has its two neighbours or is not there.
func TestReadersDuringChanges(t *testing.T) {
	const n = 200
	ring := func(id int64) []int64 { return []int64{(id + 1) % n, (id + n - 1) % n} }
	g := Build(countUp(n), func(yield func(int64, int64) bool) {
		for id := range int64(n) {
			if !yield(id, (id+1)%n) {
				return
			}
		}
	}, 1)
	defer g.Close()
	var stop atomic.Bool
	var readers sync.WaitGroup
	for reader := range int64(4) {
		readers.Go(func() {
			for id := reader; !stop.Load(); id = (id + 7) % n {
				v := g.View()
				nodes, edges := v.Size()
				if removed := n - nodes; edges != n-2*removed {
					t.Errorf("%d nodes and %d edges", nodes, edges)
				}
				if got, err := v.Related(t.Context(), id, 3, 50); err == nil && len(got.Nodes) > 6 {
					t.Errorf("%d has %v around it", id, got.Nodes)
				}
				if got, err := v.Paths(t.Context(), id, (id+3)%n, 10, 100); err == nil && got.Length != 3 && got.Length != -1 {
					t.Errorf("three further is %d away", got.Length)
				}
			}
		})
	}
	sequence := int64(1)
	for i := range int64(500) {
		id := i * 13 % n
		g.Apply(sequence+1, []Change{{ID: id, Removed: true}})
		g.Apply(sequence+2, []Change{{ID: id, Neighbours: ring(id)}})
		sequence += 2
		if i%50 == 0 {
			g.Fold()
		}
	}
	stop.Store(true)
	readers.Wait()
}

// Marks of a walk long ago do not come back when the epochs begin anew.
func TestEpochsBeginAnew(t *testing.T) {
	v := draw(t, "1-2 2-3 3-4").View()
	s := v.begin(t.Context())
	for range 5 {
		s.epoch = 0
		if s.unmark(v.numbers()); s.epoch != 1 {
			t.Fatalf("epoch %d", s.epoch)
		}
		s.mark(2, 1, 7)
		s.epoch = epochs - 1
		if s.unmark(v.numbers()); s.epoch != 1 || s.marked(2) {
			t.Fatalf("epoch %d, marked %t", s.epoch, s.marked(2))
		}
	}
	s.end()
}

// Ids are found wherever they lie: counted up, with gaps, in heaps far apart.
func TestRanks(t *testing.T) {
	for name, id := range map[string]func(i int64) int64{
		"counted up": func(i int64) int64 { return i },
		"with gaps":  func(i int64) int64 { return i*i*7 - 1000 },
		"in heaps":   func(i int64) int64 { return math.MinInt64 + (i%3)<<62 + i*2 },
	} {
		t.Run(name, func(t *testing.T) {
			var ids []int64
			for i := range int64(1000) {
				ids = append(ids, id(i))
			}
			slices.Sort(ids)
			ids = slices.Compact(ids)
			r := newRanks(ids)
			for at, id := range ids {
				if got, ok := r.of(id); !ok || int(got) != at {
					t.Fatalf("%d is at %d (%t), not at %d", id, got, ok, at)
				}
				if _, known := slices.BinarySearch(ids, id+1); !known {
					if _, ok := r.of(id + 1); ok {
						t.Fatalf("%d was found", id+1)
					}
				}
			}
		})
	}
}
