package graph

import (
	"context"
	"fmt"
)

// MaxRelatedDepth is the maximum depth of Related.
const MaxRelatedDepth = 3

// Neighbourhood holds the nodes around a node, the centre.
type Neighbourhood struct {
	// Nodes are the nearest nodes without the centre, by distance, then by id.
	Nodes []Node
	// Edges is the number of edges between any two of the centre and the Nodes, not only of
	// those that lead away from the centre.
	Edges int
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
	edges, err := s.edgesWithin(s.found)
	n.Edges, n.Work = edges, s.work
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

// edgesWithin counts the edges between the nodes.
func (s *scratch) edgesWithin(nodes []uint32) (int, error) {
	for i, node := range nodes {
		s.mark(node, tagMember, i)
	}
	twice := 0
	for i, node := range nodes {
		if err := s.canceled(i); err != nil {
			return 0, err
		}
		s.shared = s.meet(s.shared[:0], s.view.row(node), nodes, tagMember)
		twice += len(s.shared)
	}
	return twice / 2, nil
}
