package graph

import (
	"context"
	"fmt"
	"slices"
)

const (
	// MaxRelatedDepth is the maximum depth of Related.
	MaxRelatedDepth = 3
	// LinksPerNode bounds the Links of a Neighbourhood: a dense one has as many edges as
	// pairs of nodes.
	LinksPerNode = 4
)

// Neighbourhood holds the nodes around a node, the centre.
type Neighbourhood struct {
	// Nodes are the nearest nodes without the centre, by distance, then by id.
	Nodes []Node
	// Edges is the number of edges between any two of the centre and the Nodes, not only of
	// those that lead away from the centre.
	Edges int
	// Links are these edges in the order of Nodes: those that lead to the first node, then
	// to the second. The end that is nearer to the centre comes first. They are at most
	// LinksPerNode for each of the Nodes, of which each has at least one.
	Links [][2]int64
	// Depth is the distance of the farthest of the Nodes, 0 without any. It may be less than
	// the requested depth.
	Depth int
	// Cut is set if there are more nodes within the requested depth.
	Cut bool
	// Work is the number of row entries that were read.
	Work int
}

// Node is a node with its distance from the centre in edges.
type Node struct {
	ID       int64
	Distance int
}

// Total returns the number of nodes including the centre.
func (n Neighbourhood) Total() int { return 1 + len(n.Nodes) }

// Related finds the nodes within depth edges of a node, breadth first. It returns the
// first limit of them by distance, then id, so a smaller limit gives a prefix of the
// result of a larger one. The limit also bounds the work: of a long row, at most twice
// the limit is read.
func (v *View) Related(ctx context.Context, id int64, depth, limit int) (Neighbourhood, error) {
	if depth < 0 || depth > MaxRelatedDepth {
		return Neighbourhood{}, fmt.Errorf("graph: a depth of %d is not between 0 and %d", depth, MaxRelatedDepth)
	}
	centre, ok := v.find(id)
	if !ok {
		return Neighbourhood{}, ErrUnknown
	}
	s := v.begin(ctx)
	defer s.end()
	return s.related(centre, depth, min(max(limit, 0), v.nodes))
}

const (
	tagFound  = 1 // in found, or a candidate of the level that is being found
	tagMember = 2 // one of the neighbourhood
)

func (s *scratch) related(centre uint32, depth, limit int) (Neighbourhood, error) {
	v := s.view
	var n Neighbourhood
	s.mark(centre, tagFound, 0)
	s.found = append(s.found[:0], centre)
	begins := [MaxRelatedDepth + 2]int{0, 1} // where each level begins in found
	for d := 1; d <= depth; d++ {
		// One more than asked for, to know whether there are more.
		err := s.expand(s.found[begins[d-1]:], limit+2-len(s.found))
		if err != nil {
			return n, err
		}
		s.found = append(s.found, s.level...)
		begins[d+1] = len(s.found)
		if len(s.level) == 0 || len(s.found) == limit+2 {
			depth = d
		}
	}
	if len(s.found) == limit+2 {
		n.Cut = true
		s.found = s.found[:limit+1]
	}

	n.Nodes = make([]Node, 0, len(s.found)-1)
	for d := 1; d <= depth; d++ {
		for i := begins[d]; i < min(begins[d+1], len(s.found)); i++ {
			n.Nodes = append(n.Nodes, Node{ID: v.id(s.found[i]), Distance: d})
			n.Depth = d
		}
	}
	err := s.edgesWithin(s.found, &n)
	n.Work = s.work
	return n, err
}

// expand makes level the first want nodes, by id, that are next to the frontier and
// not marked yet.
func (s *scratch) expand(frontier []uint32, want int) error {
	v := s.view
	s.level = s.level[:0]
	bounded, bound := false, uint32(0) // Nodes after bound are not among the first.
	for i, node := range frontier {
		if err := s.canceled(i); err != nil {
			return err
		}
		fresh := 0
		for _, t := range v.row(node) {
			// Rows ascend, so that nothing after these can count either.
			if fresh == want || bounded && v.less(bound, t) {
				break
			}
			s.work++
			if s.marked(t) {
				continue
			}
			fresh++
			s.mark(t, tagFound, 0)
			s.level = append(s.level, t)
		}
		if len(s.level) >= 2*want+64 {
			v.sort(s.level)
			s.level = s.level[:want]
			bounded, bound = true, s.level[want-1]
		}
	}
	v.sort(s.level)
	s.level = s.level[:min(want, len(s.level))]
	return nil
}

// edgesWithin counts the edges between the nodes, and lists as many as Links may have.
// The first edge of each node is always listed, so that each can be reached.
func (s *scratch) edgesWithin(nodes []uint32, n *Neighbourhood) error {
	for i, node := range nodes {
		s.mark(node, tagMember, i)
	}
	more := (LinksPerNode - 1) * len(n.Nodes)
	for i, node := range nodes {
		if err := s.canceled(i); err != nil {
			return err
		}
		s.shared = s.meet(s.shared[:0], s.view.row(node), nodes, tagMember)
		before := s.shared[:0] // The positions of those that come before this node.
		for _, other := range s.shared {
			if at := s.position(other); int(at) < i {
				before = append(before, at)
			}
		}
		slices.Sort(before)
		n.Edges += len(before)
		for j, at := range before[:min(len(before), 1+more)] {
			n.Links = append(n.Links, [2]int64{s.view.id(nodes[at]), s.view.id(node)})
			if j > 0 {
				more--
			}
		}
	}
	return nil
}
