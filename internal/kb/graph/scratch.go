package graph

import (
	"context"
	"math/bits"
	"sync"
)

// scratch is the memory of one walk. It is pooled, because a walk touches a few
// nodes and a table for all of them is 8 bytes each: a fresh one would cost more
// than the walk.
type scratch struct {
	ctx  context.Context // of the one call that has the scratch
	view *View
	work int // entries of rows that were read, and steps of searches in them

	// marks is, for each node, an epoch (24 bits), a tag (8) and a position (32).
	// The next walk has another epoch, so that nothing is ever cleared.
	marks []uint64
	epoch uint64

	found, level, shared []uint32 // Related
	near, far            side     // Paths
	ends, meets          []uint32
	layers               layers
}

const (
	epochs = 1 << 24
	// seenOnce marks a node that is in some list already, besides its tag.
	seenOnce = 0x80
)

func newPool() *sync.Pool { return &sync.Pool{New: func() any { return new(scratch) }} }

// begin takes a scratch out of the pool, with no node marked.
func (v *View) begin(ctx context.Context) *scratch {
	s := v.pool.Get().(*scratch)
	s.ctx, s.view, s.work = ctx, v, 0
	if n := v.numbers(); len(s.marks) < n {
		s.marks = make([]uint64, n+n/16) // The graph may grow.
		s.epoch = 0
	}
	if s.epoch++; s.epoch == epochs {
		clear(s.marks)
		s.epoch = 1
	}
	return s
}

// end puts it back.
func (s *scratch) end() {
	pool := s.view.pool
	s.ctx, s.view = nil, nil // A view that nobody reads any more must not stay.
	pool.Put(s)
}

func (s *scratch) mark(node uint32, tag uint8, position int) {
	s.marks[node] = s.epoch<<40 | uint64(tag)<<32 | uint64(uint32(position))
}

func (s *scratch) marked(node uint32) bool { return s.marks[node]>>40 == s.epoch }

// is reports whether the node is marked with the tag, seen once or not.
func (s *scratch) is(node uint32, tag uint8) bool {
	return s.marks[node]>>32&^seenOnce == s.epoch<<8|uint64(tag)
}

// first reports, for a node that is marked, whether it is seen for the first time.
func (s *scratch) first(node uint32) bool {
	seen := s.marks[node]>>32&seenOnce != 0
	s.marks[node] |= seenOnce << 32
	return !seen
}

func (s *scratch) position(node uint32) uint32 { return uint32(s.marks[node]) }

// meet appends to list what a row has in common with a set of nodes, all of which,
// and no others, have the tag. A row that is long beside the set is not read but
// searched: that is what makes a node with a million neighbours harmless. The
// result is in the order of the row, or in that of the set.
func (s *scratch) meet(list, row, set []uint32, tag uint8) []uint32 {
	if steps := len(set) * bits.Len(uint(len(row))); steps < len(row) {
		s.work += steps
		for _, node := range set {
			if _, ok := s.view.adjacent(row, node); ok {
				list = append(list, node)
			}
		}
		return list
	}
	s.work += len(row)
	for _, node := range row {
		if s.is(node, tag) {
			list = append(list, node)
		}
	}
	return list
}

// canceled asks the context now and then: i counts the rows of a loop.
func (s *scratch) canceled(i int) error {
	if i%256 != 0 {
		return nil
	}
	return s.ctx.Err()
}
