// Package graph holds the relations of the knowledge base in memory and walks them in
// microseconds. It knows only ids. The store passes all relations once (Build) and then
// the changes (Apply), each with the change sequence that it covers. Queries ask for
// neighbourhoods and shortest paths.
//
// A graph consists of compressed rows, which never change, and a small overlay of the
// changes since. Both are immutable: a change publishes a new View through an atomic
// pointer, so readers never wait, and a walk sees one state from its first step to its
// last. When the overlay has grown, a fold writes both into new rows, in the background.
package graph

import (
	"context"
	"iter"
	"sync"
	"sync/atomic"
)

// foldAfter is the number of rows in the overlay at which it is folded. A change copies
// the overlay's table, so this limits the cost of a change (about 20 µs). A fold at a
// million nodes takes about a tenth of a second in another goroutine.
const foldAfter = 4096

// Graph is an undirected graph that can change. All methods are safe for concurrent use.
type Graph struct {
	now atomic.Pointer[View]

	mu      sync.Mutex    // held by writers only
	folding chan struct{} // closed when the running fold ends; nil without one
	since   []batch       // batches applied since that fold began
	closed  bool
}

// batch is one call of Apply.
type batch struct {
	sequence int64
	changes  []Change
}

// Change is the new state of one item.
type Change struct {
	ID int64
	// Removed is set if the item was deleted, and with it its edges.
	Removed bool
	// Neighbours are all current neighbours of the item, in either direction. An edge to a
	// former neighbour that is not listed is removed from both ends.
	Neighbours []int64
}

// Build builds a graph of all nodes and edges, read from one state of the store with the
// given change sequence. An edge may be listed several times, in either direction: it
// is one edge. An edge from a node to itself, or to an id that is not a node, is left
// out. A caller whose iteration fails must discard the result of Build.
func Build(nodes iter.Seq[int64], edges iter.Seq2[int64, int64], sequence int64) *Graph {
	g := &Graph{}
	g.now.Store(newView(compress(nodes, edges), sequence, newPool()))
	return g
}

// View returns the current state of the graph. A View never changes.
func (g *Graph) View() *View { return g.now.Load() }

// Sequence returns the change sequence of the current state.
func (g *Graph) Sequence() int64 { return g.View().Sequence() }

// Related walks the current state of the graph; see View.Related.
func (g *Graph) Related(ctx context.Context, id int64, depth, limit int) (Neighbourhood, error) {
	return g.View().Related(ctx, id, depth, limit)
}

// Paths searches the current state of the graph; see View.Paths.
func (g *Graph) Paths(ctx context.Context, from, to int64, maxDepth, limit int) (Routes, error) {
	return g.View().Paths(ctx, from, to, maxDepth, limit)
}

// Apply brings the graph to a later state of the store. The changes hold the new state of
// each item that has changed since the graph's sequence, in any order; the last one of an
// item counts. A neighbour that does not exist in that state is left out, and so is the
// item itself. Only one end of a changed relation needs to be listed; if two changes
// contradict each other, the later counts.
//
// All changes of a sequence come in one call: the caller first collects the pages of a
// feed. Apply returns false and changes nothing if the graph has reached the sequence
// already, so several callers may pass the same changes. The graph keeps the changes:
// the caller must not modify them afterwards.
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

// Fold writes the overlay into new rows and returns when that is done. Apply starts it in
// the background when the overlay has grown. Results are the same before and after.
func (g *Graph) Fold() {
	g.mu.Lock()
	for g.folding != nil { // A running fold may not cover the latest changes.
		g.waitUnlocked(g.folding)
	}
	done := g.startFold(g.now.Load())
	g.mu.Unlock()
	<-done
}

// Close ends background folds and waits for a running one. The graph can still be read
// and changed.
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

// startFold folds the view, which must be the current one. The caller holds the lock. The
// fold takes it again only to publish. Changes during the fold are applied once more, to
// the new rows.
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
