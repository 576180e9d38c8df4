package kb

import (
	"cmp"
	"context"
	"slices"
)

// Graph answers questions about relations. The ids must be those of existing items.
type Graph interface {
	// Related returns the items within a distance, the nearest first, then by id, at
	// most most of them.
	Related(ctx context.Context, id int64, depth, most int) (Around, error)
	// Paths returns all shortest paths between two items up to a length, ordered by their
	// ids, at most most of them.
	Paths(ctx context.Context, from, to int64, depth, most int) (Paths, error)
}

// Around holds the items around an item.
type Around struct {
	Nodes []Near
	// Edges is the number of relations among these items and the one in the middle.
	Edges int
	// Truncated is set if there are more items.
	Truncated bool
}

// Near is an item with its distance in relations.
type Near struct {
	ID       int64
	Distance int
}

// Paths holds paths from one item to another, both included.
type Paths struct {
	Each      [][]int64
	Truncated bool
}

// Neighbourhood holds the items around an item.
type Neighbourhood struct {
	Center    Summary
	Items     []Neighbour
	Edges     int
	Depth     int
	Truncated bool
}

// Neighbour is one item of a Neighbourhood.
type Neighbour struct {
	Summary
	Distance int
}

// Routes holds the shortest paths between two items.
type Routes struct {
	Each      [][]Summary
	Truncated bool
}

// Related returns the items around an item.
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
		if s, ok := known[node.ID]; ok { // the item may have just been deleted
			around.Items = append(around.Items, Neighbour{s, node.Distance})
			around.Depth = max(around.Depth, node.Distance)
		}
	}
	return around, nil
}

// Paths returns the shortest paths from one item to another.
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
		if len(route) == len(path) { // otherwise one of the items was just deleted
			routes.Each = append(routes.Each, route)
		}
	}
	return routes, nil
}

// Walk is a Graph that queries the store at each step. It defines the correct answers,
// against which the graph in memory is tested, and answers while there is no graph.
type Walk struct{ store Store }

// NewWalk returns a Walk of the store.
func NewWalk(store Store) *Walk { return &Walk{store} }

// Related searches breadth first.
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

// Paths searches breadth first from one end until it reaches the other, and then back.
func (w *Walk) Paths(ctx context.Context, from, to int64, depth, most int) (Paths, error) {
	before := map[int64][]int64{} // the neighbours one step nearer to the start
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
	// Walk forward again, only along the steps that lead to the goal. So the paths come
	// in order and the walk can end early.
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
