package graph

import (
	"context"
	"math/bits"
	"slices"
	"sync"
)

// scratch is the memory of one walk. It is pooled, because a walk touches few nodes while
// its table has 8 bytes for every node: allocating it would cost more than the walk.
type scratch struct {
	ctx  context.Context // of the one call that has the scratch
	view *View
	work int // entries of rows that were read, and steps of searches in them

	// marks holds, for each node, an epoch (24 bits), a tag (8) and a position (32). Each walk
	// has a new epoch, so that the table is never cleared.
	marks []uint64
	epoch uint64

	found, level, shared []uint32 // Related
	near, far            side     // Paths
	total                int64    // of the shortest paths
	length               int      // of each
	ends                 []uint32 // where they leave the near side
	onRoute              [MaxPathDepth + 1][]uint32
	choices              []uint32
	parts                [][2]int
}

const (
	epochs = 1 << 24
	// seenOnce is set, besides its tag, for a node that is already in some list.
	seenOnce = 0x80
)

func newPool() *sync.Pool { return &sync.Pool{New: func() any { return new(scratch) }} }

// begin takes a scratch from the pool, with no node marked.
func (v *View) begin(ctx context.Context) *scratch {
	s := v.pool.Get().(*scratch)
	s.ctx, s.view, s.work = ctx, v, 0
	s.unmark(v.numbers())
	return s
}

// unmark makes room for the marks of this many nodes and clears them.
func (s *scratch) unmark(nodes int) {
	if len(s.marks) < nodes {
		s.marks = make([]uint64, nodes+nodes/16) // The graph may grow.
		s.epoch = 0
	}
	if s.epoch++; s.epoch == epochs {
		clear(s.marks)
		s.epoch = 1
	}
}

// end returns the scratch to the pool.
func (s *scratch) end() {
	pool := s.view.pool
	s.ctx, s.view = nil, nil // An unused view must be collectable.
	pool.Put(s)
}

func (s *scratch) mark(node uint32, tag uint8, position int) {
	s.marks[node] = s.epoch<<40 | uint64(tag)<<32 | uint64(uint32(position))
}

func (s *scratch) marked(node uint32) bool { return s.marks[node]>>40 == s.epoch }

// is reports whether the node is marked with the tag, with or without seenOnce.
func (s *scratch) is(node uint32, tag uint8) bool {
	return s.marks[node]>>32&^seenOnce == s.epoch<<8|uint64(tag)
}

// first reports whether a marked node is seen for the first time.
func (s *scratch) first(node uint32) bool {
	seen := s.marks[node]>>32&seenOnce != 0
	s.marks[node] |= seenOnce << 32
	return !seen
}

func (s *scratch) position(node uint32) uint32 { return uint32(s.marks[node]) }

// remember changes the position in a node's mark.
func (s *scratch) remember(node uint32, position int) {
	s.marks[node] = s.marks[node]>>32<<32 | uint64(uint32(position))
}

// searched reports whether a row is so long compared with a set of nodes that searching
// each of them in it is cheaper than reading it. So a node with a million neighbours is
// harmless.
func (s *scratch) searched(row, set []uint32) bool {
	steps := len(set) * bits.Len(uint(len(row)))
	s.work += min(steps, len(row))
	return steps < len(row)
}

// meet appends the common nodes of a row and a set to list. Exactly the nodes of the set
// have the tag.
func (s *scratch) meet(list, row, set []uint32, tag uint8) []uint32 {
	return s.meetFirst(list, row, set, tag, len(row))
}

// meetFirst appends only the first limit of the common nodes, in the order of ids.
func (s *scratch) meetFirst(list, row, set []uint32, tag uint8, limit int) []uint32 {
	from := len(list)
	if s.searched(row, set) {
		for _, node := range set {
			if _, ok := s.view.adjacent(row, node); ok {
				list = append(list, node)
			}
		}
		s.view.sort(list[from:])
		return list[:min(len(list), from+limit)]
	}
	for _, node := range row {
		if s.is(node, tag) {
			if len(list) == from+limit {
				break
			}
			list = append(list, node)
		}
	}
	return list
}

// meets reports whether meet would find anything.
func (s *scratch) meets(row, set []uint32, tag uint8) bool {
	if s.searched(row, set) {
		return slices.ContainsFunc(set, func(node uint32) bool {
			_, ok := s.view.adjacent(row, node)
			return ok
		})
	}
	return slices.ContainsFunc(row, func(node uint32) bool { return s.is(node, tag) })
}

// canceled checks the context now and then; i counts the rows of a loop.
func (s *scratch) canceled(i int) error {
	if i%256 != 0 {
		return nil
	}
	return s.ctx.Err()
}
