package graph

import (
	"context"
	"fmt"
)

const (
	// MaxPathDepth is the maximum length of a path.
	MaxPathDepth = 10
	// MaxPaths is the maximum number of listed paths, for any limit.
	MaxPaths = 100
	// MaxTotal is the highest count of paths: the greatest integer that every JSON reader
	// can represent exactly.
	MaxTotal = 1<<53 - 1
	// PathWork is the number of row entries that a search reads before it gives up, some
	// tens of milliseconds.
	PathWork = 8 << 20
	// LongerWork is the same for the paths that are longer than the shortest: one to two
	// milliseconds. There may be very many, and the shortest are there already.
	LongerWork = 64 << 10
)

// Routes holds the paths between two nodes on which no node is repeated.
type Routes struct {
	// Length is the number of edges of the shortest paths, -1 if none was found.
	Length int
	// Paths are the first paths, the shortest first, then in the order of their ids. Each
	// includes both ends.
	Paths [][]int64
	// Total is the number of all shortest paths, at most MaxTotal.
	Total int64
	// Truncated is set if there are more paths than Paths lists.
	Truncated bool
	// GaveUp is set if the search ended because it would have read too much. It is then
	// unknown whether there are more paths, or any.
	GaveUp bool
	// Work is the number of row entries that were read.
	Work int
}

// Paths finds the paths between two nodes with at most maxDepth edges, and lists the first
// limit of them: the shortest, then longer ones. A node has one path to itself, of length 0.
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
	limit = min(max(limit, 0), MaxPaths)
	routes, err := s.paths(a, b, maxDepth, limit)
	if err == nil && routes.Length > 0 && !routes.Truncated {
		err = s.longer(&routes, a, b, maxDepth, limit)
	}
	routes.Work = s.work
	return routes, err
}

// These are the tags of nodes in a search: the side that found the node, and its distance
// from there. A node on a shortest path has tagRoute instead of tagNear. All are less than
// seenOnce.
const (
	tagNear  = 0x00
	tagFar   = 0x20
	tagRoute = 0x40
)

// side is one half of a search from both ends: the nodes in the order of their distance.
// The mark of a node holds its position in the queue.
type side struct {
	tag    uint8
	depth  int // of the outermost level, which is complete
	queue  []uint32
	ways   []int64               // for each node in queue, the number of shortest paths to it
	begins [MaxPathDepth + 2]int // where each level begins in queue
	costs  [MaxPathDepth + 1]int // the row entries of each level
	priced int                   // how many nodes of the outermost level costs includes so far
}

func (x *side) level(d int) []uint32 { return x.queue[x.begins[d]:x.begins[d+1]] }

func (x *side) outermost() []uint32 { return x.level(x.depth) }

func (x *side) cost() int { return x.costs[x.depth] }

// tagAt returns the tag of the side's nodes at a distance.
func (x *side) tagAt(d int) uint8 { return x.tag | uint8(d) }

func (x *side) start(s *scratch, node uint32, tag uint8) {
	x.tag, x.depth, x.priced = tag, 0, 0
	x.queue, x.ways = x.queue[:0], x.ways[:0]
	x.begins = [MaxPathDepth + 2]int{0, 1}
	x.costs = [MaxPathDepth + 1]int{}
	x.push(s, node, tag, 1)
}

// push appends a node to the queue.
func (x *side) push(s *scratch, node uint32, tag uint8, ways int64) {
	s.mark(node, tag, len(x.queue))
	x.queue = append(x.queue, node)
	x.ways = append(x.ways, ways)
}

// cheaper returns the side that has less to read for its next level, then the other. It
// can stop long before both are counted. After a hub has been read there are many
// neighbours, and looking at the row of each would cost as much again.
func (s *scratch) cheaper() (x, other *side) {
	x, other = &s.near, &s.far
	for {
		if other.cost() < x.cost() {
			x, other = other, x
		}
		level := x.outermost()
		if x.priced == len(level) {
			return x, other
		}
		x.costs[x.depth] += len(s.view.row(level[x.priced]))
		x.priced++
	}
}

func (s *scratch) paths(from, to uint32, maxDepth, limit int) (Routes, error) {
	s.near.start(s, from, tagNear)
	s.far.start(s, to, tagFar) // For the same node, nothing is searched.
	if from == to {
		s.total, s.length = 1, 0
		return s.routes(limit)
	}
	s.total, s.length = 0, -1
	whole, err := s.search(maxDepth)
	if err != nil {
		return Routes{}, err
	}
	if s.total == 0 {
		return Routes{Length: -1, GaveUp: !whole}, nil
	}
	s.length = s.near.depth + s.far.depth + 1
	if err := s.trace(); err != nil {
		return Routes{}, err
	}
	return s.routes(limit)
}

// search extends the side that has less to read until the two sides meet, which makes
// total positive. Both outermost levels are complete then, so each shortest path crosses
// between them by exactly one edge. It returns false if it had to read too much.
func (s *scratch) search(maxDepth int) (whole bool, err error) {
	for s.near.depth+s.far.depth < maxDepth {
		x, other := s.cheaper()
		if x.cost() == 0 {
			return true, nil // That side has no further nodes.
		}
		last := s.near.depth+s.far.depth+1 == maxDepth
		// On the last level only the meeting counts. On earlier levels it is tried first if that
		// is nearly free: then two adjacent hubs need not be read.
		if last || len(x.outermost())*len(other.outermost())*64 < x.cost() {
			whole, err := s.touch(x, other)
			if err != nil || !whole || s.total > 0 || last {
				return whole, err
			}
		}
		if s.work+x.cost() > s.view.work {
			return false, nil
		}
		if err := s.step(x, other); err != nil || s.total > 0 {
			return true, err
		}
	}
	return true, nil
}

// touch looks for edges between the outermost levels.
func (s *scratch) touch(x, other *side) (whole bool, err error) {
	s.ends = s.ends[:0]
	level := x.outermost()
	ways := x.ways[x.begins[x.depth]:]
	for i, node := range level {
		if err := s.canceled(i); err != nil {
			return false, err
		}
		if s.work > s.view.work {
			s.total = 0 // An incomplete count must not be returned.
			return false, nil
		}
		s.shared = s.meet(s.shared[:0], s.view.row(node), other.outermost(), other.tagAt(other.depth))
		for _, t := range s.shared {
			s.cross(x, other, t, ways[i])
		}
		if len(s.shared) > 0 && x == &s.near {
			s.ends = append(s.ends, node)
		}
	}
	return true, nil
}

// step finds a side's next level, or the edges that lead to the other side.
func (s *scratch) step(x, other *side) error {
	s.ends = s.ends[:0]
	s.work += x.cost()
	tag := x.tagAt(x.depth + 1)
	unmarked := s.epoch << 8 // Every mark of this walk is at least this.
	there, next := unmarked|uint64(other.tagAt(other.depth)), unmarked|uint64(tag)
	for i := x.begins[x.depth]; i < x.begins[x.depth+1]; i++ {
		if err := s.canceled(i); err != nil {
			return err
		}
		node, ways, met := x.queue[i], x.ways[i], false
		for _, t := range s.view.row(node) {
			switch mark := s.marks[t] >> 32; {
			case mark&^seenOnce == there:
				met = true
				s.cross(x, other, t, ways)
			case s.total > 0:
				// The sides have met: no next level is needed.
			case mark < unmarked:
				x.push(s, t, tag, ways)
			case mark == next:
				p := s.position(t)
				x.ways[p] = sum(x.ways[p], ways)
			}
		}
		if met && x == &s.near {
			s.ends = append(s.ends, node)
		}
	}
	if s.total == 0 {
		x.depth++
		x.begins[x.depth+1] = len(x.queue)
		x.priced = 0
	}
	return nil
}

// cross counts the paths over an edge from side x, to whose end ways paths lead, to a node
// of the other side. It collects the near end of the edge here if the other side is the
// near one.
func (s *scratch) cross(x, other *side, node uint32, ways int64) {
	s.total = sum(s.total, product(ways, other.ways[s.position(node)]))
	if x == &s.far && s.first(node) {
		s.ends = append(s.ends, node)
	}
}

// sum and product saturate at MaxTotal.
func sum(a, b int64) int64 { return min(a+b, MaxTotal) }

func product(a, b int64) int64 {
	if b > MaxTotal/a { // Every node of a side has at least one path to it.
		return MaxTotal
	}
	return a * b
}
