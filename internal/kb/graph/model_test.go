package graph

import (
	"cmp"
	"context"
	"iter"
	"maps"
	"slices"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"genkan/internal/testkit"
)

// model is the graph as simply as it can be said: maps, and plain breadth first
// search over all of it.
type model map[int64]map[int64]bool

func (m model) apply(changes []Change) {
	final := map[int64]Change{}
	for _, c := range changes {
		final[c.ID] = c
	}
	for id, c := range final {
		if c.Removed {
			m.remove(id)
		} else if m[id] == nil {
			m[id] = map[int64]bool{}
		}
	}
	// In the order of the changes: where two contradict each other, the later counts.
	for i, c := range changes {
		if c.Removed || slices.ContainsFunc(changes[i+1:], func(later Change) bool { return later.ID == c.ID }) {
			continue
		}
		for n := range m[c.ID] {
			delete(m[n], c.ID)
		}
		clear(m[c.ID])
		for _, n := range c.Neighbours {
			m.link(c.ID, n)
		}
	}
}

func (m model) link(a, b int64) {
	if a != b && m[a] != nil && m[b] != nil {
		m[a][b], m[b][a] = true, true
	}
}

func (m model) remove(id int64) {
	for n := range m[id] {
		delete(m[n], id)
	}
	delete(m, id)
}

func (m model) edges() (n int) {
	for _, row := range m {
		n += len(row)
	}
	return n / 2
}

func (m model) distances(from int64) map[int64]int {
	d := map[int64]int{from: 0}
	for queue := []int64{from}; len(queue) > 0; queue = queue[1:] {
		for n := range m[queue[0]] {
			if _, ok := d[n]; !ok {
				d[n] = d[queue[0]] + 1
				queue = append(queue, n)
			}
		}
	}
	return d
}

func (m model) related(id int64, depth, limit int) Neighbourhood {
	var all []Node
	for n, d := range m.distances(id) {
		if d > 0 && d <= depth {
			all = append(all, Node{n, d})
		}
	}
	slices.SortFunc(all, func(a, b Node) int {
		return cmp.Or(cmp.Compare(a.Distance, b.Distance), cmp.Compare(a.ID, b.ID))
	})
	got := Neighbourhood{Cut: len(all) > limit, Nodes: all[:min(limit, len(all))]}
	in := map[int64]bool{id: true}
	for _, n := range got.Nodes {
		in[n.ID] = true
		got.Depth = n.Distance
	}
	order := []int64{id}
	for _, n := range got.Nodes {
		order = append(order, n.ID)
	}
	room := LinksPerNode * len(got.Nodes)
	for i, b := range order {
		first := true
		for _, a := range order[:i] {
			if !m[a][b] {
				continue
			}
			got.Edges++
			// What is left must do for the first edges of the nodes that follow.
			if first || room > len(order)-1-i {
				got.Links = append(got.Links, [2]int64{a, b})
				room--
			}
			first = false
		}
	}
	return got
}

func (m model) paths(from, to int64, maxDepth, limit int) Routes {
	left := m.distances(to)
	shortest, ok := left[from]
	if !ok || shortest > maxDepth {
		return Routes{Length: -1}
	}
	r := Routes{Length: shortest}
	var walk func(path []int64, length int)
	walk = func(path []int64, length int) {
		here := path[len(path)-1]
		rest := length - len(path) + 1
		switch {
		case len(r.Paths) > limit && length > shortest: // The shortest are counted.
			return
		case here == to && rest == 0:
			if length == shortest {
				r.Total++
			}
			r.Paths = append(r.Paths, slices.Clone(path))
			return
		case here == to || rest == 0:
			return
		}
		for _, n := range slices.Sorted(maps.Keys(m[here])) {
			if left[n] < rest && !slices.Contains(path, n) {
				walk(append(path, n), length)
			}
		}
	}
	for length := shortest; length <= maxDepth && len(r.Paths) <= limit; length++ {
		walk([]int64{from}, length)
	}
	r.Truncated = len(r.Paths) > limit
	r.Paths = r.Paths[:min(limit, len(r.Paths))]
	return r
}

// sameAnswers compares what a view and the model say, leaving out the work.
func sameAnswers(t interface {
	Helper()
	Fatalf(string, ...any)
}, v *View, m model, id, other int64, depth, maxDepth, limit int,
) {
	t.Helper()
	got, err := v.Related(context.Background(), id, depth, limit)
	if err != nil {
		t.Fatalf("Related(%d): %v", id, err)
	}
	ignore := gocmp.Options{
		cmpopts.EquateEmpty(),
		cmpopts.IgnoreFields(Neighbourhood{}, "Work"),
		cmpopts.IgnoreFields(Routes{}, "Work"),
	}
	if diff := gocmp.Diff(m.related(id, depth, limit), got, ignore); diff != "" {
		t.Fatalf("Related(%d, depth %d, limit %d) (-model +graph):\n%s", id, depth, limit, diff)
	}
	routes, err := v.Paths(context.Background(), id, other, maxDepth, limit)
	if err != nil {
		t.Fatalf("Paths(%d, %d): %v", id, other, err)
	}
	want := m.paths(id, other, maxDepth, limit)
	if routes.GaveUp { // Some longer paths may be missing.
		if len(routes.Paths) > len(want.Paths) || routes.Length < 0 {
			t.Fatalf("Paths(%d, %d): %v", id, other, routes)
		}
		want.Paths, want.Truncated, want.GaveUp = routes.Paths, routes.Truncated, true
	}
	if diff := gocmp.Diff(want, routes, ignore); diff != "" {
		t.Fatalf("Paths(%d, %d, depth %d, limit %d) (-model +graph):\n%s", id, other, maxDepth, limit, diff)
	}
}

func pairs(edges [][2]int64) iter.Seq2[int64, int64] {
	return func(yield func(int64, int64) bool) {
		for _, e := range edges {
			if !yield(e[0], e[1]) {
				return
			}
		}
	}
}

// Whatever is built, changed and folded in whatever order, the graph answers as the
// model does, and an older view goes on answering as it did.
func TestAnyHistory(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		universe := rapid.SampledFrom([]int64{3, 8, 20, 40}).Draw(t, "universe")
		spread := rapid.SampledFrom([]int64{1, 1, 1000, 1 << 55}).Draw(t, "spread") // ids without gaps, or with wide ones
		anyID := rapid.Map(rapid.Int64Range(-2, universe), func(n int64) int64 { return n * spread })
		nodes := rapid.SliceOf(anyID).Draw(t, "nodes")
		edges := rapid.SliceOf(rapid.Custom(func(t *rapid.T) [2]int64 {
			return [2]int64{anyID.Draw(t, "a"), anyID.Draw(t, "b")}
		})).Draw(t, "edges")

		m := model{}
		for _, n := range nodes {
			m[n] = map[int64]bool{}
		}
		for _, e := range edges {
			m.link(e[0], e[1])
		}
		g := Build(slices.Values(nodes), pairs(edges), 1)
		defer g.Close()

		ask := func(t *rapid.T, v *View, m model) {
			wantNodes, wantEdges := len(m), m.edges()
			if nodes, edges := v.Size(); nodes != wantNodes || edges != wantEdges {
				t.Fatalf("%d nodes and %d edges, want %d and %d", nodes, edges, wantNodes, wantEdges)
			}
			a, b := anyID.Draw(t, "a"), anyID.Draw(t, "b")
			if v.Has(a) != (m[a] != nil) {
				t.Fatalf("Has(%d) = %t", a, v.Has(a))
			}
			if m[a] == nil || m[b] == nil {
				if _, err := v.Paths(context.Background(), a, b, 5, 10); err != ErrUnknown { //nolint:errorlint // It is returned as it is.
					t.Fatalf("Paths(%d, %d): %v", a, b, err)
				}
				return
			}
			sameAnswers(t, v, m, a, b, rapid.IntRange(0, MaxRelatedDepth).Draw(t, "depth"),
				rapid.IntRange(0, MaxPathDepth).Draw(t, "maxDepth"), rapid.IntRange(0, 50).Draw(t, "limit"))
		}
		old, oldModel := g.View(), model{}
		for id, row := range m {
			oldModel[id] = maps.Clone(row)
		}
		sequence := int64(1)
		t.Repeat(map[string]func(*rapid.T){
			"": func(t *rapid.T) { ask(t, g.View(), m) },
			"apply": func(t *rapid.T) {
				changes := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) Change {
					c := Change{ID: anyID.Draw(t, "id"), Removed: rapid.IntRange(0, 3).Draw(t, "removed") == 0}
					if !c.Removed {
						c.Neighbours = rapid.SliceOf(anyID).Draw(t, "neighbours")
					}
					return c
				}), 0, 5).Draw(t, "changes")
				sequence++
				if !g.Apply(sequence, changes) || g.Sequence() != sequence {
					t.Fatalf("sequence %d was not applied", sequence)
				}
				m.apply(changes)
			},
			"fold": func(t *rapid.T) {
				g.Fold()
				if n := g.View().overlay(); n != 0 {
					t.Fatalf("%d in the overlay after a fold", n)
				}
			},
			"old view": func(t *rapid.T) { ask(t, old, oldModel) },
		})
	})
}

// Dense graphs with many nodes make long rows, which are searched instead of read.
func TestAnyHub(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.Int64Range(100, int64(testkit.Count(200, 400))).Draw(t, "n")
		hubs := rapid.Int64Range(1, 4).Draw(t, "hubs")
		m := model{}
		for id := range n {
			m[id] = map[int64]bool{}
		}
		var edges [][2]int64
		for id := hubs; id < n; id++ {
			for h := range hubs {
				if rapid.IntRange(0, 2).Draw(t, "linked") > 0 {
					edges = append(edges, [2]int64{h, id})
				}
			}
		}
		for h := range hubs - 1 {
			if rapid.Bool().Draw(t, "hubs linked") {
				edges = append(edges, [2]int64{h, h + 1})
			}
		}
		for _, e := range edges {
			m.link(e[0], e[1])
		}
		g := Build(maps.Keys(m), pairs(edges), 1)
		for range testkit.Count(10, 20) {
			a, b := rapid.Int64Range(0, n-1).Draw(t, "a"), rapid.Int64Range(0, n-1).Draw(t, "b")
			sameAnswers(t, g.View(), m, a, b, rapid.IntRange(0, MaxRelatedDepth).Draw(t, "depth"),
				rapid.IntRange(0, 5).Draw(t, "maxDepth"), rapid.IntRange(0, 60).Draw(t, "limit"))
		}
	})
}
