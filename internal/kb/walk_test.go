package kb_test

import (
	"cmp"
	"context"
	"slices"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"genkan/internal/kb"
)

// relations is a store that has only relations.
type relations struct {
	kb.Store
	edges []kb.Edge
}

func (r relations) Neighbours(_ context.Context, ids []int64) (found []kb.Edge, err error) {
	for _, e := range r.edges {
		if slices.Contains(ids, e.A) || slices.Contains(ids, e.B) {
			found = append(found, e)
		}
	}
	return found, nil
}

func drawRelations(t *rapid.T, nodes int64) relations {
	seen := map[kb.Edge]bool{}
	for range rapid.IntRange(0, 14).Draw(t, "edges") {
		a, b := rapid.Int64Range(1, nodes).Draw(t, "a"), rapid.Int64Range(1, nodes).Draw(t, "b")
		if a != b {
			seen[kb.Edge{A: min(a, b), B: max(a, b)}] = true
		}
	}
	var r relations
	for e := range seen {
		r.edges = append(r.edges, e)
	}
	slices.SortFunc(r.edges, func(a, b kb.Edge) int { return cmp.Or(cmp.Compare(a.A, b.A), cmp.Compare(a.B, b.B)) })
	return r
}

func (r relations) joined(a, b int64) bool {
	return slices.Contains(r.edges, kb.Edge{A: min(a, b), B: max(a, b)})
}

// simplePaths returns all paths between two nodes without repeated nodes, by brute force.
func (r relations) simplePaths(nodes int64, path []int64, to int64, most int) (all [][]int64) {
	last := path[len(path)-1]
	if last == to {
		return [][]int64{slices.Clone(path)}
	}
	for next := int64(1); next <= nodes && len(path) <= most; next++ {
		if r.joined(last, next) && !slices.Contains(path, next) {
			all = append(all, r.simplePaths(nodes, append(path, next), to, most)...)
		}
	}
	return all
}

// TestWalk compares the walks with brute force.
func TestWalk(t *testing.T) {
	const nodes = 7
	rapid.Check(t, func(t *rapid.T) {
		r := drawRelations(t, nodes)
		walk := kb.NewWalk(r)
		depth := rapid.IntRange(1, 5).Draw(t, "depth")
		most := rapid.IntRange(1, 8).Draw(t, "most")
		from, to := rapid.Int64Range(1, nodes).Draw(t, "from"), rapid.Int64Range(1, nodes).Draw(t, "to")

		// All paths, the shortest first.
		paths := func(to int64) [][]int64 {
			all := r.simplePaths(nodes, []int64{from}, to, depth)
			slices.SortStableFunc(all, func(a, b []int64) int { return cmp.Compare(len(a), len(b)) })
			return all
		}
		if from != to {
			all := paths(to)
			want := kb.Paths{Each: all[:min(most, len(all))], Truncated: len(all) > most}
			if len(all) == 0 {
				want.Each = nil
			}
			got, err := walk.Paths(context.Background(), from, to, depth, most)
			if diff := gocmp.Diff(want, got); err != nil || diff != "" {
				t.Fatalf("paths: %v (-want +got)\n%s", err, diff)
			}
		}

		var want kb.Around
		for id := int64(1); id <= nodes; id++ {
			if all := paths(id); id != from && len(all) > 0 {
				want.Nodes = append(want.Nodes, kb.Near{ID: id, Distance: len(all[0]) - 1})
			}
		}
		slices.SortFunc(want.Nodes, func(a, b kb.Near) int {
			return cmp.Or(cmp.Compare(a.Distance, b.Distance), cmp.Compare(a.ID, b.ID))
		})
		want.Truncated = len(want.Nodes) > most
		want.Nodes = want.Nodes[:min(most, len(want.Nodes))]
		order := []int64{from}
		for _, node := range want.Nodes {
			order = append(order, node.ID)
		}
		for i, b := range order {
			for _, a := range order[:i] {
				if r.joined(a, b) { // so few nodes have no more edges than are listed
					want.Edges, want.Links = want.Edges+1, append(want.Links, [2]int64{a, b})
				}
			}
		}
		got, err := walk.Related(context.Background(), from, depth, most)
		if diff := gocmp.Diff(want, got); err != nil || diff != "" {
			t.Fatalf("related: %v (-want +got)\n%s", err, diff)
		}
	})
}
