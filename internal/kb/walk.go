package kb

import (
	"cmp"
	"context"
	"slices"
)

// Graph answers questions about relations. Ids are those of items that exist.
type Graph interface {
	// Related are the items within a distance, the nearest first, then by id, at
	// most most of them.
	Related(ctx context.Context, id int64, depth, most int) (Around, error)
	// Paths are all shortest paths between two items within a length, ordered by
	// their ids, at most most of them.
	Paths(ctx context.Context, from, to int64, depth, most int) (Paths, error)
}

// Around are the items around one.
type Around struct {
	Nodes []Near
	// Edges is how many relations there are among these and the one in the middle.
	Edges int
	// Truncated is set when there are more.
	Truncated bool
}

// Near is an item and how many relations away it is.
type Near struct {
	ID       int64
	Distance int
}

// Paths are ways from one item to another, both included.
type Paths struct {
	Each      [][]int64
	Truncated bool
}

// Neighbourhood is what is around an item.
type Neighbourhood struct {
	Center    Summary
	Items     []Neighbour
	Edges     int
	Depth     int
	Truncated bool
}

// Neighbour is one of the items around.
type Neighbour struct {
	Summary
	Distance int
}

// Routes are the shortest paths between two items.
type Routes struct {
	Each      [][]Summary
	Truncated bool
}

// Related tells what is around an item.
func (b *Base) Related(ctx context.Context, ref Ref, depth, most int) (around Neighbourhood, err error) {
	defer b.stamp(&err)
	depth, most = cmp.Or(depth, UsualDepth), cmp.Or(most, UsualRelated)
	if err := checkRef("type", "id", ref); err != nil {
		return Neighbourhood{}, err
	}
	if err := checkCount("depth", depth, MaxDepth); err != nil {
		return Neighbourhood{}, err
	}
	if err := checkCount("max_results", most, MaxRelatedResults); err != nil {
		return Neighbourhood{}, err
	}
	center, err := find(ctx, b.store, "", ref)
	if err != nil {
		return Neighbourhood{}, err
	}
	found, err := b.graph.Related(ctx, center.Item.ID, depth, most)
	if err != nil {
		return Neighbourhood{}, err
	}
	ids := make([]int64, len(found.Nodes))
	for i, node := range found.Nodes {
		ids[i] = node.ID
	}
	known, err := b.summaries(ctx, ids)
	if err != nil {
		return Neighbourhood{}, err
	}
	around = Neighbourhood{Center: center.Item.Summary(), Edges: found.Edges, Truncated: found.Truncated}
	for _, node := range found.Nodes {
		if s, ok := known[node.ID]; ok { // it may just have gone
			around.Items = append(around.Items, Neighbour{s, node.Distance})
			around.Depth = max(around.Depth, node.Distance)
		}
	}
	return around, nil
}

// Paths tells the shortest ways from one item to another.
func (b *Base) Paths(ctx context.Context, from, to Ref, depth int) (routes Routes, err error) {
	defer b.stamp(&err)
	depth = cmp.Or(depth, UsualPathDepth)
	if err := checkRef("from_type", "from_id", from); err != nil {
		return Routes{}, err
	}
	if err := checkRef("to_type", "to_id", to); err != nil {
		return Routes{}, err
	}
	if err := checkCount("max_depth", depth, MaxPathDepth); err != nil {
		return Routes{}, err
	}
	start, err := find(ctx, b.store, "from_id", from)
	if err != nil {
		return Routes{}, err
	}
	goal, err := find(ctx, b.store, "to_id", to)
	if err != nil {
		return Routes{}, err
	}
	if start.Item.ID == goal.Item.ID {
		return Routes{Each: [][]Summary{{start.Item.Summary()}}}, nil
	}
	paths, err := b.graph.Paths(ctx, start.Item.ID, goal.Item.ID, depth, MaxPaths)
	if err != nil {
		return Routes{}, err
	}
	known, err := b.summaries(ctx, unique(slices.Concat(paths.Each...)))
	if err != nil {
		return Routes{}, err
	}
	routes.Truncated = paths.Truncated
	for _, path := range paths.Each {
		route := make([]Summary, 0, len(path))
		for _, id := range path {
			if s, ok := known[id]; ok {
				route = append(route, s)
			}
		}
		if len(route) == len(path) { // or one of them has just gone
			routes.Each = append(routes.Each, route)
		}
	}
	return routes, nil
}

// Walk is a Graph that asks the store at each step. It is the truth that a graph
// in memory is held against, and answers while there is none.
type Walk struct{ store Store }

// NewWalk makes one.
func NewWalk(store Store) *Walk { return &Walk{store} }

// Related walks in circles.
func (w *Walk) Related(ctx context.Context, id int64, depth, most int) (Around, error) {
	var around Around
	seen := map[int64]bool{id: true}
	edges := map[Edge]bool{}
	circle := []int64{id}
	for distance := 1; len(circle) > 0; distance++ {
		found, err := w.store.Neighbours(ctx, circle)
		if err != nil {
			return Around{}, err
		}
		var next []int64
		for _, e := range found {
			edges[e] = true
			for _, end := range []int64{e.A, e.B} {
				if !seen[end] && distance <= depth {
					seen[end], next = true, append(next, end)
				}
			}
		}
		slices.Sort(next)
		circle = circle[:0:0]
		for _, end := range next {
			if len(around.Nodes) == most {
				around.Truncated = true
				delete(seen, end)
				continue
			}
			around.Nodes = append(around.Nodes, Near{end, distance})
			circle = append(circle, end)
		}
	}
	for e := range edges {
		if seen[e.A] && seen[e.B] {
			around.Edges++
		}
	}
	return around, nil
}

// Paths walks in circles from one end until the other is met, and then back.
func (w *Walk) Paths(ctx context.Context, from, to int64, depth, most int) (Paths, error) {
	before := map[int64][]int64{} // those one step nearer to the start
	distances := map[int64]int{from: 0}
	circle := []int64{from}
	for distance := 1; distance <= depth && len(circle) > 0 && before[to] == nil; distance++ {
		found, err := w.store.Neighbours(ctx, circle)
		if err != nil {
			return Paths{}, err
		}
		var next []int64
		for _, e := range found {
			for _, step := range []Edge{e, {e.B, e.A}} {
				at, known := distances[step.A]
				if !known || at != distance-1 {
					continue
				}
				if _, met := distances[step.B]; !met {
					distances[step.B], next = distance, append(next, step.B)
				}
				if distances[step.B] == distance {
					before[step.B] = append(before[step.B], step.A)
				}
			}
		}
		circle = next
	}
	// Forward again, along the steps that lead to the goal only, so that the
	// paths come in order and the walk can end early.
	after := map[int64][]int64{}
	back := []int64{to}
	for seen := map[int64]bool{to: true}; len(back) > 0; {
		id := back[0]
		back = back[1:]
		for _, previous := range before[id] {
			after[previous] = append(after[previous], id)
			if !seen[previous] {
				seen[previous], back = true, append(back, previous)
			}
		}
	}
	var paths Paths
	var follow func(path []int64)
	follow = func(path []int64) {
		last := path[len(path)-1]
		switch {
		case paths.Truncated:
		case last == to && len(paths.Each) == most:
			paths.Truncated = true
		case last == to:
			paths.Each = append(paths.Each, slices.Clone(path))
		default:
			slices.Sort(after[last])
			for _, next := range after[last] {
				follow(append(path, next))
			}
		}
	}
	if before[to] != nil {
		follow([]int64{from})
	}
	return paths, nil
}
