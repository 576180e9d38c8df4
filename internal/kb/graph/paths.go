package graph

import (
	"context"
	"fmt"
)

const (
	// MaxPathDepth is how long a path may be at most.
	MaxPathDepth = 10
	// MaxPaths is how many paths are listed at most, whatever limit is asked for.
	MaxPaths = 100
	// MaxTotal is where counting paths ends: the greatest number that every reader
	// of JSON can tell from its neighbours.
	MaxTotal = 1<<53 - 1
	// PathWork is how many entries of rows a search reads before it gives up, some
	// tens of milliseconds.
	PathWork = 8 << 20
)

// Routes are the shortest paths between two nodes.
type Routes struct {
	// Length is that of each, in edges; -1 if none was found.
	Length int
	// Paths are the first of them by the ids along the way, from one end to the other
	// with both.
	Paths [][]int64
	// Total is how many there are, listed or not, at most MaxTotal.
	Total int64
	// Truncated says that there are more than Paths lists.
	Truncated bool
	// GaveUp says that the search was ended because it read too much. Without a
	// Length it is not known whether there is a path; with one there is, but which
	// and how many was not found out.
	GaveUp bool
	// Work is what was read for it, in entries of rows.
	Work int
}

// Paths finds all shortest paths between two nodes that have at most maxDepth edges,
// and lists the first limit of them. From a node to itself there is one, of length 0.
func (v *View) Paths(ctx context.Context, from, to int64, maxDepth, limit int) (Routes, error) {
	if maxDepth < 0 || maxDepth > MaxPathDepth {
		return Routes{}, fmt.Errorf("graph: a depth of %d is not between 0 and %d", maxDepth, MaxPathDepth)
	}
	a, ok := v.find(from)
	if !ok {
		return Routes{}, ErrUnknown
	}
	b, ok := v.find(to)
	if !ok {
		return Routes{}, ErrUnknown
	}
	s := v.begin(ctx)
	defer s.end()
	routes, err := s.paths(a, b, maxDepth, min(max(limit, 0), MaxPaths))
	routes.Work = s.work
	return routes, err
}

// The tags of nodes in a search: the side that found it and its distance from there,
// or the layer of the shortest paths that it is in. All are less than seenOnce.
const (
	tagNear  = 0x00
	tagFar   = 0x20
	tagLayer = 0x40
)

// side is one half of a search from both ends: the nodes in order of their distance.
type side struct {
	tag    uint8
	depth  int // of the outermost level, which is complete
	queue  []uint32
	begins [MaxPathDepth + 2]int // where each level begins in queue
	cost   int                   // of going one level further: the entries of the rows of
	priced int                   // the first nodes of the outermost level, as far as counted
}

func (x *side) level(d int) []uint32 { return x.queue[x.begins[d]:x.begins[d+1]] }

func (x *side) outermost() []uint32 { return x.level(x.depth) }

// tagAt is the tag of the side's nodes at a distance.
func (x *side) tagAt(d int) uint8 { return x.tag | uint8(d) }

func (x *side) start(s *scratch, node uint32, tag uint8) {
	x.tag, x.depth = tag, 0
	x.queue = append(x.queue[:0], node)
	x.begins = [MaxPathDepth + 2]int{0, 1}
	x.cost, x.priced = 0, 0
	s.mark(node, tag, 0)
}

// cheaper is the side that has less to read for its next level, then the other. Which
// one that is can be known long before both are counted: after a hub has been read,
// its neighbours are many, and looking at the row of each would cost as much again.
func (s *scratch) cheaper() (x, other *side) {
	x, other = &s.near, &s.far
	for {
		if other.cost < x.cost {
			x, other = other, x
		}
		level := x.outermost()
		if x.priced == len(level) {
			return x, other
		}
		x.cost += len(s.view.row(level[x.priced]))
		x.priced++
	}
}

// outcome is how a step of the search, or all of it, ended.
type outcome int

const (
	apart  outcome = iota // The sides have not met.
	joined                // They have: ends and meets are the edges between them.
	gaveUp                // Too much was read.
)

func (s *scratch) paths(from, to uint32, maxDepth, limit int) (Routes, error) {
	if from == to {
		return Routes{Paths: listed(limit, s.view.id(from)), Total: 1, Truncated: limit < 1}, nil
	}
	s.near.start(s, from, tagNear)
	s.far.start(s, to, tagFar)
	result, err := s.search(maxDepth)
	switch {
	case err != nil:
		return Routes{}, err
	case result == apart:
		return Routes{Length: -1}, nil
	case result == gaveUp:
		return Routes{Length: -1, GaveUp: true}, nil
	}
	return s.routes(limit)
}

func listed(limit int, id int64) [][]int64 {
	if limit < 1 {
		return nil
	}
	return [][]int64{{id}}
}

// search goes on from whichever side has less to read until the two meet. Both
// levels are complete then, so each shortest path crosses from the one outermost
// level to the other by exactly one edge.
func (s *scratch) search(maxDepth int) (outcome, error) {
	for s.near.depth+s.far.depth < maxDepth {
		x, other := s.cheaper()
		if x.cost == 0 {
			return apart, nil // That side has nowhere to go.
		}
		last := s.near.depth+s.far.depth+1 == maxDepth
		// On the last level only the meeting counts. Before, it is tried first where
		// that is nearly free: two hubs that are neighbours need not be read.
		if last || len(x.outermost())*len(other.outermost())*64 < x.cost {
			result, err := s.touch(x, other)
			if err != nil || result != apart || last {
				return result, err
			}
		}
		if result, err := s.step(x, other); err != nil || result != apart {
			return result, err
		}
	}
	return apart, nil
}

// touch looks for edges between the outermost levels.
func (s *scratch) touch(x, other *side) (outcome, error) {
	s.ends, s.meets = s.ends[:0], s.meets[:0]
	for i, node := range x.outermost() {
		if err := s.canceled(i); err != nil {
			return apart, err
		}
		s.shared = s.meet(s.shared[:0], s.view.row(node), other.outermost(), other.tagAt(other.depth))
		if len(s.shared) > 0 {
			s.ends = append(s.ends, node)
		}
		for _, t := range s.shared {
			if s.first(t) {
				s.meets = append(s.meets, t)
			}
		}
		if s.work > s.view.work {
			return gaveUp, nil
		}
	}
	return s.met(x), nil
}

// step finds a side's next level, or the edges that lead to the other side.
func (s *scratch) step(x, other *side) (outcome, error) {
	s.ends, s.meets = s.ends[:0], s.meets[:0]
	if s.work+x.cost > s.view.work {
		return gaveUp, nil // before reading it
	}
	s.work += x.cost
	there, next := other.tagAt(other.depth), x.tagAt(x.depth+1)
	for i, node := range x.outermost() {
		if err := s.canceled(i); err != nil {
			return apart, err
		}
		end := false
		for _, t := range s.view.row(node) {
			switch {
			case s.is(t, there):
				end = true
				if s.first(t) {
					s.meets = append(s.meets, t)
				}
			case !s.marked(t) && len(s.meets) == 0: // After a meeting no next level is needed.
				s.mark(t, next, 0)
				x.queue = append(x.queue, t)
			}
		}
		if end {
			s.ends = append(s.ends, node)
		}
	}
	result := s.met(x)
	if result == apart {
		x.depth++
		x.begins[x.depth+1] = len(x.queue)
		x.cost, x.priced = 0, 0
	}
	return result, nil
}

// met makes ends the near one of the two sets of nodes where the sides meet.
func (s *scratch) met(x *side) outcome {
	if len(s.ends) == 0 {
		return apart
	}
	if x == &s.far {
		s.ends, s.meets = s.meets, s.ends
	}
	return joined
}
