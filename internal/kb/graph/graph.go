// Package graph is the adjacency of the knowledge base in memory: who is related
// to whom, walked in microseconds. It knows ids and nothing else: the store hands
// it all relations once (Build) and then what has changed (Apply), each with the
// change sequence that it covers, and asks for neighbourhoods and shortest paths.
//
// A graph is compressed rows, which are never written again, and a small overlay
// of what changed since. Both are immutable: a change publishes another View
// through an atomic pointer, so readers never wait, and a walk sees one state
// from its first step to its last. When the overlay has grown, a fold writes both
// into new rows, in the background.
package graph

import (
	"context"
	"iter"
	"sync"
	"sync/atomic"
)

// foldAfter is how many rows the overlay may hold before it is folded. A change
// copies the overlay's table, so this bounds what a change costs (about 20 µs);
// a fold at a million nodes takes about a tenth of a second of another goroutine.
const foldAfter = 4096

// Graph is an undirected graph that changes. All methods may be called at any
// time from any goroutine.
type Graph struct {
	now atomic.Pointer[View]

	mu      sync.Mutex    // held by writers only
	folding chan struct{} // closed when the fold that is under way is done; nil without one
	since   []batch       // what was applied since that fold began
	closed  bool
}

// batch is one call of Apply.
type batch struct {
	sequence int64
	changes  []Change
}

// Change is what one item has become.
type Change struct {
	ID int64
	// Removed says that the item is gone, and with it its edges on both sides.
	Removed bool
	// Neighbours are all that the item is now related to, in either direction; what
	// it was related to before and is not named here is an edge less for both.
	Neighbours []int64
}

// Build makes a graph of all nodes and edges, read in one state of the store whose
// change sequence is given. An edge is named once or several times, in either
// direction: it is one edge. An edge of a node to itself, or to one that is not
// among the nodes, is left out. A caller whose rows end in an error must drop what
// Build returns.
func Build(nodes iter.Seq[int64], edges iter.Seq2[int64, int64], sequence int64) *Graph {
	g := &Graph{}
	g.now.Store(newView(compress(nodes, edges), sequence, newPool()))
	return g
}

// View is the graph as it is now. It never changes, however long it is kept.
func (g *Graph) View() *View { return g.now.Load() }

// Sequence is the change sequence up to which the graph is current.
func (g *Graph) Sequence() int64 { return g.View().Sequence() }

// Related walks the graph as it is now; see View.Related.
func (g *Graph) Related(ctx context.Context, id int64, depth, limit int) (Neighbourhood, error) {
	return g.View().Related(ctx, id, depth, limit)
}

// Paths searches the graph as it is now; see View.Paths.
func (g *Graph) Paths(ctx context.Context, from, to int64, maxDepth, limit int) (Routes, error) {
	return g.View().Paths(ctx, from, to, maxDepth, limit)
}

// Apply brings the graph to a later state of the store. The changes are what the
// items that changed since the graph's sequence have become in that state, in any
// order; of several for one item the last counts. A neighbour that does not exist
// then is left out, as is the item itself. Only one end of a changed relation needs
// to be named; where two changes contradict each other, the later counts.
//
// All changes of a sequence come in one call: a feed that is read in pages is
// gathered first. A sequence that the graph has reached already changes nothing and is false, so
// that several may bring the same news. The graph keeps the changes: they must not
// be written to afterwards.
func (g *Graph) Apply(sequence int64, changes []Change) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	v := g.now.Load()
	if sequence <= v.sequence {
		return false
	}
	next := v.apply(sequence, changes)
	g.now.Store(next)
	switch {
	case g.folding != nil:
		g.since = append(g.since, batch{sequence, changes})
	case next.overlay() > foldAfter && !g.closed:
		g.startFold(next)
	}
	return true
}

// Fold writes the overlay into new rows and returns when that is done. Apply does
// it by itself, in the background, when the overlay has grown; results are the same
// before and after.
func (g *Graph) Fold() {
	g.mu.Lock()
	for g.folding != nil { // Of another fold it is not known what it covers.
		g.waitUnlocked(g.folding)
	}
	done := g.startFold(g.now.Load())
	g.mu.Unlock()
	<-done
}

// Close ends the folding in the background and waits for one that is under way.
// The graph can still be read and changed.
func (g *Graph) Close() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.closed = true
	for g.folding != nil {
		g.waitUnlocked(g.folding)
	}
}

// waitUnlocked waits without the lock, which the fold needs to end.
func (g *Graph) waitUnlocked(done <-chan struct{}) {
	g.mu.Unlock()
	<-done
	g.mu.Lock()
}

// startFold folds the view, which must be the current one. The lock is held by the
// caller, and taken again only to publish: changes go on meanwhile, and those that
// came are applied once more, to the new rows.
func (g *Graph) startFold(v *View) <-chan struct{} {
	done := make(chan struct{})
	g.folding = done
	go func() {
		defer close(done)
		next := newView(v.fold(), v.sequence, v.pool)
		g.mu.Lock()
		defer g.mu.Unlock()
		for _, b := range g.since {
			next = next.apply(b.sequence, b.changes)
		}
		g.now.Store(next)
		g.folding, g.since = nil, nil
	}()
	return done
}
