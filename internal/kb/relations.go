package kb

import (
	"context"
	"errors"
	"slices"
	"sync/atomic"

	"genkan/internal/kb/graph"
)

// relationGraph is the graph of Indexes. The first question reads it from the rows;
// from then on it follows the store.
type relationGraph struct {
	indexes *Indexes
	catchUp singleJob
	now     atomic.Pointer[graph.Graph]
}

func (r *relationGraph) at() int64 {
	if g := r.now.Load(); g != nil {
		return g.Sequence()
	}
	return -1
}

func (r *relationGraph) forget() { r.put(nil) }

func (r *relationGraph) put(g *graph.Graph) {
	if old := r.now.Swap(g); old != nil {
		old.Close() // existing views of it stay valid
	}
}

func (r *relationGraph) advance(ctx context.Context) error {
	if g := r.now.Load(); g != nil {
		if done, err := r.follow(ctx, g); done || err != nil {
			return err
		}
	}
	g, err := r.read(ctx)
	if err == nil {
		r.put(g)
	}
	return err
}

// read builds a graph from the rows.
func (r *relationGraph) read(ctx context.Context) (*graph.Graph, error) {
	all, err := r.indexes.store.Relations(ctx)
	if err != nil {
		return nil, err
	}
	edges := func(yield func(a, b int64) bool) {
		for _, e := range all.Edges {
			if !yield(e.A, e.B) {
				return
			}
		}
	}
	return graph.Build(slices.Values(all.IDs), edges, all.Seq), nil
}

// follow applies all changes at once. A page shows an item in its current state and
// not in its state at that position of the feed, so only the end of the feed is a
// state that the store has had. It returns false if there are so many changes that
// reading everything again is cheaper.
func (r *relationGraph) follow(ctx context.Context, g *graph.Graph) (bool, error) {
	l := &r.indexes.limits
	target, err := r.indexes.store.Sequence(ctx)
	if err != nil || target < g.Sequence() {
		return false, err
	}
	at := After(g.Sequence())
	var changes []graph.Change
	for {
		page, err := r.indexes.store.Links(ctx, at, l.linkPage)
		if err != nil {
			return false, err
		}
		for _, link := range page {
			changes = append(changes, graph.Change{ID: link.ID, Removed: link.Deleted, Neighbours: link.Neighbours})
			at = link.Position
		}
		if len(page) < l.linkPage {
			break
		}
		if len(changes) > l.links {
			return false, nil
		}
	}
	// A page that is not full ends at the store's sequence when it was read. Writes
	// that changed no item leave a gap before the target.
	g.Apply(max(target, at.Seq), changes)
	return true, nil
}

// view returns the current graph, or nil if it does not include the write seq.
func (r *relationGraph) view(ctx context.Context, seq int64) (*graph.View, error) {
	ok, err := r.indexes.reach(ctx, r, &r.catchUp, seq, r.indexes.limits.walkPatience)
	if g := r.now.Load(); ok && err == nil && g != nil {
		return g.View(), nil
	}
	return nil, err
}

// related answers Related. It returns false if the rows must answer. That includes an
// item that the graph does not know, because it was just deleted.
func (r *relationGraph) related(ctx context.Context, seq, id int64, depth, most int) (Around, bool, error) {
	v, err := r.view(ctx, seq)
	if v == nil {
		return Around{}, false, err
	}
	found, err := v.Related(ctx, id, depth, most)
	if err != nil {
		return Around{}, false, unlessUnknown(err)
	}
	around := Around{Edges: found.Edges, Links: found.Links, Truncated: found.Cut}
	for _, n := range found.Nodes {
		around.Nodes = append(around.Nodes, Near{n.ID, n.Distance})
	}
	return around, true, nil
}

// paths answers Paths. It returns false if the rows must answer. A search that reads
// too much stops without a path and reports that there may be one.
func (r *relationGraph) paths(ctx context.Context, seq, from, to int64, depth, most int) (Paths, bool, error) {
	v, err := r.view(ctx, seq)
	if v == nil {
		return Paths{}, false, err
	}
	found, err := v.Paths(ctx, from, to, depth, most)
	if err != nil {
		return Paths{}, false, unlessUnknown(err)
	}
	paths := Paths{Truncated: found.Truncated || found.GaveUp}
	if len(found.Paths) > 0 {
		paths.Each = found.Paths
	}
	return paths, true, nil
}

func unlessUnknown(err error) error {
	if errors.Is(err, graph.ErrUnknown) {
		return nil
	}
	return err
}
