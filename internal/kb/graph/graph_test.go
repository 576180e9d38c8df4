package graph

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

// draw builds a graph of lines like "1-2 2-3 7": edges, and nodes without any. An
// edge names its nodes by itself.
func draw(tb testing.TB, text string) *Graph {
	tb.Helper()
	var nodes []int64
	var edges [][2]int64
	for _, word := range strings.Fields(text) {
		var a, b int64
		if _, err := fmt.Sscanf(word, "%d-%d", &a, &b); err == nil {
			nodes = append(nodes, a, b)
			edges = append(edges, [2]int64{a, b})
		} else if _, err := fmt.Sscanf(word, "%d", &a); err == nil {
			nodes = append(nodes, a)
		} else {
			tb.Fatalf("what is %q?", word)
		}
	}
	return Build(slices.Values(nodes), pairs(edges), 1)
}

// bothWays runs a test on the graph as it was drawn and changed, and after a fold.
func bothWays(t *testing.T, g *Graph, test func(t *testing.T, v *View)) {
	t.Helper()
	t.Run("changed", func(t *testing.T) { test(t, g.View()) })
	g.Fold()
	t.Run("folded", func(t *testing.T) { test(t, g.View()) })
}

func TestRelated(t *testing.T) {
	for name, tt := range map[string]struct {
		graph        string
		changes      []Change
		id           int64
		depth, limit int
		want         string // id:distance, then nodes, edges, depth, and whether it was cut
	}{
		"nobody":                         {graph: "1 2-3", id: 1, depth: 3, limit: 9, want: " 1 0 0"},
		"depth 0 is the centre":          {graph: "1-2", id: 1, depth: 0, limit: 9, want: " 1 0 0"},
		"neighbours by id":               {graph: "5-9 5-1 7-5", id: 5, depth: 1, limit: 9, want: "1:1 7:1 9:1 4 3 1"},
		"by distance, then by id":        {graph: "5-9 9-1 5-7 7-2", id: 5, depth: 3, limit: 9, want: "7:1 9:1 1:2 2:2 5 4 2"},
		"as far as asked":                {graph: "1-2 2-3 3-4 4-5", id: 1, depth: 3, limit: 9, want: "2:1 3:2 4:3 4 3 3"},
		"a circle once":                  {graph: "1-2 2-3 3-1", id: 1, depth: 3, limit: 9, want: "2:1 3:1 3 3 1"},
		"edges between those around":     {graph: "1-2 1-3 2-3 3-4", id: 1, depth: 1, limit: 9, want: "2:1 3:1 3 3 1"},
		"an edge named often is one":     {graph: "1-2 2-1 1-2", id: 1, depth: 1, limit: 9, want: "2:1 2 1 1"},
		"no edge to itself":              {graph: "1-1 1-2", id: 1, depth: 3, limit: 9, want: "2:1 2 1 1"},
		"as many as asked":               {graph: "1-2 1-3 1-4", id: 1, depth: 1, limit: 3, want: "2:1 3:1 4:1 4 3 1"},
		"more than asked":                {graph: "1-2 1-3 1-4", id: 1, depth: 1, limit: 2, want: "2:1 3:1 3 2 1 cut"},
		"cut in a level":                 {graph: "1-2 1-3 2-8 3-7 3-9", id: 1, depth: 2, limit: 3, want: "2:1 3:1 7:2 4 3 2 cut"},
		"cut after a level":              {graph: "1-2 1-3 2-4", id: 1, depth: 2, limit: 2, want: "2:1 3:1 3 2 1 cut"},
		"not cut by what is too far":     {graph: "1-2 1-3 2-4", id: 1, depth: 1, limit: 2, want: "2:1 3:1 3 2 1"},
		"none asked for":                 {graph: "1-2", id: 1, depth: 1, limit: 0, want: " 1 0 0 cut"},
		"an added node":                  {graph: "1-2 3", changes: []Change{{ID: 9, Neighbours: []int64{1, 3}}}, id: 1, depth: 2, limit: 9, want: "2:1 9:1 3:2 4 3 2"},
		"an added one with a lesser id":  {graph: "5-6 5-8", changes: []Change{{ID: 7, Neighbours: []int64{5}}, {ID: 2, Neighbours: []int64{5, 7}}}, id: 5, depth: 1, limit: 9, want: "2:1 6:1 7:1 8:1 5 5 1"},
		"added ones name each other":     {graph: "1", changes: []Change{{ID: 2, Neighbours: []int64{3}}, {ID: 3, Neighbours: []int64{2, 1}}}, id: 1, depth: 3, limit: 9, want: "3:1 2:2 3 2 2"},
		"a neighbour that is not there":  {graph: "1", changes: []Change{{ID: 1, Neighbours: []int64{77, 1}}}, id: 1, depth: 3, limit: 9, want: " 1 0 0"},
		"neighbours replaced":            {graph: "1-2 1-3 4", changes: []Change{{ID: 1, Neighbours: []int64{4, 3, 4}}}, id: 1, depth: 3, limit: 9, want: "3:1 4:1 3 2 1"},
		"replaced from the other end":    {graph: "1-2 2-3", changes: []Change{{ID: 2, Neighbours: []int64{3}}}, id: 1, depth: 3, limit: 9, want: " 1 0 0"},
		"a removed node between":         {graph: "1-2 2-3 1-4", changes: []Change{{ID: 2, Removed: true}}, id: 1, depth: 3, limit: 9, want: "4:1 2 1 1"},
		"removed, and back without them": {graph: "1-2 2-3", changes: []Change{{ID: 2, Removed: true}, {ID: 2, Neighbours: []int64{3}}}, id: 3, depth: 3, limit: 9, want: "2:1 2 1 1"},
	} {
		t.Run(name, func(t *testing.T) {
			g := draw(t, tt.graph)
			if len(tt.changes) > 0 {
				g.Apply(2, tt.changes)
			}
			bothWays(t, g, func(t *testing.T, v *View) {
				n, err := v.Related(t.Context(), tt.id, tt.depth, tt.limit)
				if err != nil {
					t.Fatal(err)
				}
				var words []string
				for _, node := range n.Nodes {
					words = append(words, fmt.Sprintf("%d:%d", node.ID, node.Distance))
				}
				got := fmt.Sprintf("%s %d %d %d", strings.Join(words, " "), n.Total(), n.Edges, n.Depth)
				if n.Cut {
					got += " cut"
				}
				if got != tt.want {
					t.Errorf("got %q, want %q", got, tt.want)
				}
			})
		})
	}
}

func TestPaths(t *testing.T) {
	const diamonds = "1-2 1-3 2-4 3-4 4-5 4-6 5-7 6-7"
	for name, tt := range map[string]struct {
		graph           string
		changes         []Change
		from, to        int64
		maxDepth, limit int
		want            Routes
	}{
		"to itself":            {graph: "1-2", from: 1, to: 1, maxDepth: 5, limit: 100, want: Routes{Total: 1, Paths: [][]int64{{1}}}},
		"to itself, depth 0":   {graph: "1-2", from: 1, to: 1, maxDepth: 0, limit: 100, want: Routes{Total: 1, Paths: [][]int64{{1}}}},
		"depth 0":              {graph: "1-2", from: 1, to: 2, maxDepth: 0, limit: 100, want: Routes{Length: -1}},
		"none":                 {graph: "1-2 3-4", from: 1, to: 4, maxDepth: 5, limit: 100, want: Routes{Length: -1}},
		"neighbours":           {graph: "1-2", from: 2, to: 1, maxDepth: 1, limit: 100, want: Routes{Length: 1, Total: 1, Paths: [][]int64{{2, 1}}}},
		"in a circle":          {graph: "1-2 2-3 3-4 4-5 5-1", from: 1, to: 3, maxDepth: 5, limit: 100, want: Routes{Length: 2, Total: 1, Paths: [][]int64{{1, 2, 3}, {1, 5, 4, 3}}}},
		"a longer one too far": {graph: "1-2 2-3 3-4 4-5 5-1", from: 1, to: 3, maxDepth: 2, limit: 100, want: Routes{Length: 2, Total: 1, Paths: [][]int64{{1, 2, 3}}}},
		"longer ones later": {graph: "1-2 2-3 1-3 3-4 1-5 5-4", from: 1, to: 4, maxDepth: 5, limit: 100, want: Routes{Length: 2, Total: 2, Paths: [][]int64{
			{1, 3, 4}, {1, 5, 4}, {1, 2, 3, 4},
		}}},
		"longer ones, capped": {graph: "1-2 2-3 1-3 3-4 1-5 5-4", from: 1, to: 4, maxDepth: 5, limit: 2, want: Routes{Length: 2, Total: 2, Truncated: true, Paths: [][]int64{
			{1, 3, 4}, {1, 5, 4},
		}}},
		"no node twice":        {graph: "1-2 2-3 2-4 4-5 5-2", from: 1, to: 3, maxDepth: 10, limit: 100, want: Routes{Length: 2, Total: 1, Paths: [][]int64{{1, 2, 3}}}},
		"just within depth":    {graph: "1-2 2-3 3-4 4-5", from: 5, to: 1, maxDepth: 4, limit: 100, want: Routes{Length: 4, Total: 1, Paths: [][]int64{{5, 4, 3, 2, 1}}}},
		"just too far":         {graph: "1-2 2-3 3-4 4-5", from: 5, to: 1, maxDepth: 3, limit: 100, want: Routes{Length: -1}},
		"a dead end is no way": {graph: "1-2 1-3 3-9 2-4", from: 1, to: 4, maxDepth: 5, limit: 100, want: Routes{Length: 2, Total: 1, Paths: [][]int64{{1, 2, 4}}}},
		"all, by ids": {graph: diamonds, from: 1, to: 7, maxDepth: 5, limit: 100, want: Routes{Length: 4, Total: 4, Paths: [][]int64{
			{1, 2, 4, 5, 7}, {1, 2, 4, 6, 7}, {1, 3, 4, 5, 7}, {1, 3, 4, 6, 7},
		}}},
		"and backwards": {graph: diamonds, from: 7, to: 1, maxDepth: 5, limit: 100, want: Routes{Length: 4, Total: 4, Paths: [][]int64{
			{7, 5, 4, 2, 1}, {7, 5, 4, 3, 1}, {7, 6, 4, 2, 1}, {7, 6, 4, 3, 1},
		}}},
		"capped": {graph: diamonds, from: 1, to: 7, maxDepth: 5, limit: 3, want: Routes{Length: 4, Total: 4, Truncated: true, Paths: [][]int64{
			{1, 2, 4, 5, 7}, {1, 2, 4, 6, 7}, {1, 3, 4, 5, 7},
		}}},
		"counted only": {graph: diamonds, from: 1, to: 7, maxDepth: 5, limit: 0, want: Routes{Length: 4, Total: 4, Truncated: true}},
		"over an added node": {graph: "1 9", changes: []Change{{ID: 5, Neighbours: []int64{1, 9}}}, from: 1, to: 9, maxDepth: 5, limit: 100, want: Routes{
			Length: 2, Total: 1, Paths: [][]int64{{1, 5, 9}},
		}},
		"not over a removed one": {graph: "1-2 2-3 1-4 4-5 5-3", changes: []Change{{ID: 2, Removed: true}}, from: 1, to: 3, maxDepth: 5, limit: 100, want: Routes{
			Length: 3, Total: 1, Paths: [][]int64{{1, 4, 5, 3}},
		}},
		"not over a changed one": {graph: "1-2 2-3", changes: []Change{{ID: 3}}, from: 1, to: 3, maxDepth: 5, limit: 100, want: Routes{Length: -1}},
	} {
		t.Run(name, func(t *testing.T) {
			g := draw(t, tt.graph)
			if len(tt.changes) > 0 {
				g.Apply(2, tt.changes)
			}
			bothWays(t, g, func(t *testing.T, v *View) {
				got, err := v.Paths(t.Context(), tt.from, tt.to, tt.maxDepth, tt.limit)
				if err != nil {
					t.Fatal(err)
				}
				if diff := cmp.Diff(tt.want, got, cmpopts.IgnoreFields(Routes{}, "Work"), cmpopts.EquateEmpty()); diff != "" {
					t.Errorf("-want +got:\n%s", diff)
				}
			})
		})
	}
}

// Nine layers of sixty, each with the whole next one, have 60⁹ shortest paths between
// them: the count ends at MaxTotal, and a hundred are listed whatever is asked for.
func TestManyPaths(t *testing.T) {
	const wide, layers, last = 60, 9, 60*9 + 1
	g := Build(countUp(last+1), func(yield func(int64, int64) bool) {
		for i := int64(1); i <= wide; i++ {
			if !yield(0, i) || !yield(last, (layers-1)*wide+i) {
				return
			}
			for layer := range int64(layers - 1) {
				for j := int64(1); j <= wide; j++ {
					if !yield(layer*wide+i, (layer+1)*wide+j) {
						return
					}
				}
			}
		}
	}, 1)
	r, err := g.Paths(t.Context(), 0, last, 10, 1000)
	if err != nil || r.GaveUp {
		t.Fatal(r, err)
	}
	if r.Length != layers+1 || len(r.Paths) != MaxPaths || !r.Truncated || r.Total != MaxTotal {
		t.Errorf("length %d, %d paths of %d", r.Length, len(r.Paths), r.Total)
	}
	// To the last layer but one they can be counted.
	if r, err = g.Paths(t.Context(), 0, 8*wide, 10, 1000); err != nil || r.Total != 60*60*60*60*60*60*60 {
		t.Errorf("%d paths, %v", r.Total, err)
	}
	if !slices.IsSortedFunc(r.Paths, slices.Compare) {
		t.Error("the paths are not in order")
	}
	if got := product(MaxTotal/2, 3); got != MaxTotal {
		t.Errorf("a product beyond the end is %d", got)
	}
	if got := sum(MaxTotal, MaxTotal); got != MaxTotal {
		t.Errorf("a sum beyond the end is %d", got)
	}
}

func countUp(n int64) iter.Seq[int64] {
	return func(yield func(int64) bool) {
		for i := range n {
			if !yield(i) {
				return
			}
		}
	}
}

// star is a hub, 0, with n neighbours, the last of which has a neighbour of its own.
func star(n int64) *Graph {
	return Build(countUp(n+2), func(yield func(int64, int64) bool) {
		for i := int64(1); i <= n; i++ {
			if !yield(0, i) {
				return
			}
		}
		yield(n, n+1)
	}, 1)
}

// A hub is never walked whole for a few results, wherever one comes from.
func TestWorkIsBounded(t *testing.T) {
	const n = 200_000
	g := star(n)
	for _, id := range []int64{0, 1, n, n + 1} {
		got, err := g.Related(t.Context(), id, 3, 50)
		if err != nil || len(got.Nodes) != 50 || !got.Cut {
			t.Fatalf("%d nodes, cut %t, %v", len(got.Nodes), got.Cut, err)
		}
		if got.Work > 3000 {
			t.Errorf("%d entries were read for 50 nodes around %d", got.Work, id)
		}
	}
	r, err := g.Paths(t.Context(), 1, n+1, 5, 100)
	if err != nil || r.Length != 3 || r.Total != 1 {
		t.Fatal(r, err)
	}
	// That there is no longer path only the neighbours of the hub can say.
	if !r.GaveUp || r.Work > 100+LongerWork {
		t.Errorf("%d entries were read for a path over the hub", r.Work)
	}
	if r, err = g.Paths(t.Context(), 1, n+1, 3, 100); err != nil || r.GaveUp || r.Work > 100 {
		t.Errorf("%d entries were read for the shortest path over the hub, %v", r.Work, err)
	}
}

// A clique is no way to the end, but has more dead ends than can be tried.
func TestDeadEnds(t *testing.T) {
	const clique = 300 // with node 2, between 1 and 3
	g := Build(countUp(clique+10), func(yield func(int64, int64) bool) {
		pairs([][2]int64{{1, 2}, {2, 3}})(yield)
		for i := int64(10); i < clique+10; i++ {
			if !yield(2, i) {
				return
			}
			for j := int64(10); j < i; j++ {
				if !yield(j, i) {
					return
				}
			}
		}
	}, 1)
	r, err := g.Paths(t.Context(), 1, 3, 10, 10)
	if err != nil || r.Length != 2 || len(r.Paths) != 1 || r.Truncated || !r.GaveUp || r.Work > LongerWork+clique*clique {
		t.Errorf("%+v, %v", r, err)
	}
	// Within the clique there are many paths, and ten are found at once.
	r, err = g.Paths(t.Context(), 10, 11, 10, 10)
	if err != nil || r.Length != 1 || len(r.Paths) != 10 || !r.Truncated || r.GaveUp || r.Work > 3*clique*clique {
		t.Errorf("%+v, %v", r, err)
	}
}

// Two hubs that are neighbours are found without reading what else they know; where
// the limit of work is reached, the answer is that it was, and not that there is no
// path.
func TestGivingUp(t *testing.T) {
	const n = 1000 // Around hub 1: 10…n; around hub 2: n+10…2n.
	build := func(more ...[2]int64) *View {
		g := Build(countUp(2*n+1), func(yield func(int64, int64) bool) {
			for i := int64(10); i <= n; i++ {
				if !yield(1, i) || !yield(2, n+i) {
					return
				}
			}
			pairs(more)(yield)
		}, 1)
		v := *g.View()
		v.work = 500
		return &v
	}
	r, err := build([2]int64{1, 2}).Paths(t.Context(), 10, n+10, 5, 100)
	if err != nil || r.Length != 3 || r.Work > 500 {
		t.Errorf("over two hubs: %+v, %v", r, err)
	}
	r, err = build([2]int64{11, n + 11}).Paths(t.Context(), 10, n+10, 5, 100)
	if err != nil || !r.GaveUp || r.Length != -1 || r.Paths != nil || r.Work > 500 {
		t.Errorf("too much to read: %+v, %v", r, err)
	}
	// Also where only the last level is left, whose nodes are not gathered.
	v := build([2]int64{11, n + 11}, [2]int64{n, 2 * n})
	v.work = 2100
	r, err = v.Paths(t.Context(), 1, 2, 3, 100)
	if err != nil || !r.GaveUp || r.Length != -1 {
		t.Errorf("too much on the last level: %+v, %v", r, err)
	}
	v = build([2]int64{11, n + 11})
	if bytes := v.Bytes(); bytes < 8*4*n || bytes > 20*4*n {
		t.Errorf("%d bytes", bytes)
	}
	v.work = PathWork
	r, err = v.Paths(t.Context(), 10, n+10, 5, 100)
	if err != nil || r.GaveUp || r.Length != 5 {
		t.Errorf("with the usual limit: %+v, %v", r, err)
	}
}

// The neighbours of a hub are looked up there, in the order in which they were found;
// the paths are in the order of ids all the same.
func TestOrderOverAHub(t *testing.T) {
	more := [][2]int64{{1, 2}, {1, 3}, {2, 60}, {3, 50}, {50, 0}, {60, 0}}
	g := Build(countUp(2000), func(yield func(int64, int64) bool) {
		for i := int64(1000); i < 2000; i++ {
			if !yield(0, i) {
				return
			}
		}
		pairs(more)(yield)
	}, 1)
	r, err := g.Paths(t.Context(), 0, 1, 5, 100)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([][]int64{{0, 50, 3, 1}, {0, 60, 2, 1}}, r.Paths); diff != "" || r.Work > 200 {
		t.Errorf("%d entries read, -want +got:\n%s", r.Work, diff)
	}
}

func TestRefusals(t *testing.T) {
	g := draw(t, "1-2 3")
	g.Apply(2, []Change{{ID: 3, Removed: true}})
	canceled, cancel := context.WithCancel(t.Context())
	cancel()
	for name, tt := range map[string]struct {
		err  error
		want error // nil for one that only has to be there
	}{
		"related to nobody":    {second(g.Related(t.Context(), 77, 1, 9)), ErrUnknown},
		"related to a removed": {second(g.Related(t.Context(), 3, 1, 9)), ErrUnknown},
		"too deep":             {second(g.Related(t.Context(), 1, MaxRelatedDepth+1, 9)), nil},
		"depth below 0":        {second(g.Related(t.Context(), 1, -1, 9)), nil},
		"from nobody":          {second(g.Paths(t.Context(), 77, 1, 1, 9)), ErrUnknown},
		"to nobody":            {second(g.Paths(t.Context(), 1, 77, 1, 9)), ErrUnknown},
		"too long":             {second(g.Paths(t.Context(), 1, 2, MaxPathDepth+1, 9)), nil},
		"related, canceled":    {second(g.Related(canceled, 1, 1, 9)), context.Canceled},
		"paths, canceled":      {second(g.Paths(canceled, 1, 2, 5, 9)), context.Canceled},
	} {
		if tt.err == nil || (tt.want != nil && !errors.Is(tt.err, tt.want)) {
			t.Errorf("%s: %v", name, tt.err)
		}
	}
}

func second[T any](_ T, err error) error { return err }
