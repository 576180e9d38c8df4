package kb

import (
	"cmp"
	"context"
	"slices"

	"genkan/internal/kb/graph"
)

// Graph answers questions about relations. The ids must be those of existing items.
type Graph interface {
	// Related returns the items within a distance, the nearest first, then by id, at
	// most most of them.
	Related(ctx context.Context, id int64, depth, most int) (Around, error)
	// Paths returns paths between two items up to a length on which no item is repeated, the
	// shortest first, then by their ids, at most most of them.
	Paths(ctx context.Context, from, to int64, depth, most int) (Paths, error)
}

// Around holds the items around an item.
type Around struct {
	Nodes []Near
	// Edges is the number of relations among these items and the one in the middle.
	Edges int
	// Links are these relations in the order of Nodes: those that lead to the first item,
	// then to the second. The nearer item comes first. There are at most
	// graph.LinksPerNode for each of Nodes, of which each has at least one.
	Links [][2]int64
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
	Each [][]int64
	// Truncated is set if there are more, or may be because the search was too long.
	Truncated bool
}

// Neighbourhood holds the items around an item.
type Neighbourhood struct {
	Center Summary
	Items  []Neighbour
	// Edges and Links are as in Around.
	Edges     int
	Links     [][2]Ref
	Depth     int
	Truncated bool
}

// Neighbour is one item of a Neighbourhood.
type Neighbour struct {
	Summary
	Distance int
}

// Routes holds paths between two items, the shortest first.
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
	refs := map[int64]Ref{around.Center.ID: around.Center.Ref()}
	for _, node := range found.Nodes {
		if s, ok := known[node.ID]; ok { // the item may have just been deleted
			around.Items = append(around.Items, Neighbour{s, node.Distance})
			around.Depth = max(around.Depth, node.Distance)
			refs[s.ID] = s.Ref()
		}
	}
	for _, link := range found.Links {
		from, to := refs[link[0]], refs[link[1]]
		if from.IsZero() || to.IsZero() {
			around.Edges--
			continue
		}
		around.Links = append(around.Links, [2]Ref{from, to})
	}
	return around, nil
}

// Paths returns the shortest paths from one item to another, and longer ones up to a
// depth.
func (b *Base) Paths(ctx context.Context, from, to Ref, depth int) (routes Routes, err error) {
	defer b.stamp(&err)
	depth = cmp.Or(depth, UsualPathDepth)
	if err := checkEnds(from, to); err != nil {
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
	around.Edges, around.Links = linksAmong(id, around.Nodes, edges)
	return around, nil
}

// linksAmong counts the edges between the nodes, and returns the first of them.
func linksAmong(centre int64, nodes []Near, edges map[Edge]bool) (count int, links [][2]int64) {
	order, position := []int64{centre}, map[int64]int{centre: 0}
	for _, node := range nodes {
		position[node.ID] = len(order)
		order = append(order, node.ID)
	}
	before := make([][]int, len(order)) // for each node, the earlier ones that it is related to
	for e := range edges {
		a, hasA := position[e.A]
		b, hasB := position[e.B]
		if hasA && hasB {
			before[max(a, b)] = append(before[max(a, b)], min(a, b))
			count++
		}
	}
	more := (graph.LinksPerNode - 1) * len(nodes)
	for i, all := range before {
		slices.Sort(all)
		shown := all[:min(len(all), 1+more)]
		for _, at := range shown {
			links = append(links, [2]int64{order[at], order[i]})
		}
		more -= max(len(shown)-1, 0)
	}
	return count, links
}

// walkRows is the number of items whose relations Walk reads to find paths before it
// gives up.
const walkRows = 20_000

// Paths searches breadth first from the goal for the distances to it, and then depth
// first for the paths of each length.
func (w *Walk) Paths(ctx context.Context, from, to int64, depth, most int) (Paths, error) {
	var paths Paths
	rows := map[int64][]int64{}
	distances := map[int64]int{to: 0}
	read := func(ids []int64) error {
		found, err := w.store.Neighbours(ctx, ids)
		wanted := make(map[int64]bool, len(ids))
		for _, id := range ids {
			wanted[id] = true
		}
		for _, e := range found {
			for _, step := range []Edge{e, {e.B, e.A}} {
				if wanted[step.A] {
					rows[step.A] = append(rows[step.A], step.B)
				}
			}
		}
		for _, id := range ids {
			slices.Sort(rows[id])
		}
		return err
	}
	if err := read([]int64{from}); err != nil {
		return Paths{}, err
	}
	tried := 0
	var follow func(path []int64, length int)
	follow = func(path []int64, length int) {
		last, rest := path[len(path)-1], length-len(path)+1
		if last == to || rest == 0 {
			if last == to && rest == 0 {
				paths.Truncated = len(paths.Each) == most
				if !paths.Truncated {
					paths.Each = append(paths.Each, slices.Clone(path))
				}
			}
			return
		}
		for _, next := range rows[last] {
			far, known := distances[next]
			if tried++; tried > graph.LongerWork {
				paths.Truncated = true
			}
			if paths.Truncated {
				return
			}
			if known && far < rest && !slices.Contains(path, next) {
				follow(append(path, next), length)
			}
		}
	}
	circle := []int64{to}
	for length := 1; length <= depth && !paths.Truncated; length++ {
		if len(rows)+len(circle) > walkRows {
			paths.Truncated = true
			break
		}
		if err := read(circle); err != nil {
			return Paths{}, err
		}
		var next []int64
		for _, id := range circle {
			for _, other := range rows[id] {
				if _, met := distances[other]; !met && other != from {
					distances[other], next = length, append(next, other)
				}
			}
		}
		circle = next
		// Paths of this length use only items that are less than it away from the goal.
		follow([]int64{from}, length)
	}
	return paths, nil
}
