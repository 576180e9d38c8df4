package graph

import "slices"

// trace finds the nodes of the near side that lie on shortest paths, from where the paths
// leave that side back to the start, and gives them tagRoute. Listing then never runs into
// a dead end. The far side needs no trace: each node there was reached from the end, so it
// leads to it.
func (s *scratch) trace() error {
	x := &s.near
	s.onRoute[x.depth] = append(s.onRoute[x.depth][:0], s.ends...)
	for _, node := range s.ends {
		s.mark(node, tagRoute|uint8(x.depth), 0)
	}
	for d := x.depth - 1; d >= 0; d-- {
		if err := s.traceLevel(d); err != nil {
			return err
		}
	}
	return nil
}

// traceLevel does that for the nodes at one distance, by their own rows or by those of the
// next distance, whichever is less to read. It never reads more than the search has read.
func (s *scratch) traceLevel(d int) error {
	x, v := &s.near, s.view
	found, beyond := s.onRoute[d][:0], s.onRoute[d+1]
	here, there := uint8(tagRoute|d), uint8(tagRoute|(d+1))
	backwards := 0
	for i := 0; i < len(beyond) && backwards <= x.costs[d]; i++ {
		backwards += len(v.row(beyond[i]))
	}
	if backwards <= x.costs[d] {
		for i, node := range beyond {
			if err := s.canceled(i); err != nil {
				return err
			}
			s.shared = s.meet(s.shared[:0], v.row(node), x.level(d), x.tagAt(d))
			for _, t := range s.shared { // Nodes found before have another tag by now.
				if s.is(t, x.tagAt(d)) {
					s.mark(t, here, 0)
					found = append(found, t)
				}
			}
		}
	} else {
		for i, node := range x.level(d) {
			if err := s.canceled(i); err != nil {
				return err
			}
			if s.meets(v.row(node), beyond, there) {
				s.mark(node, here, 0)
				found = append(found, node)
			}
		}
	}
	s.onRoute[d] = found
	return nil
}

// routes lists the first paths in the order of their ids.
func (s *scratch) routes(limit int) (Routes, error) {
	n := int(min(s.total, int64(limit)))
	r := Routes{Length: s.length, Total: s.total, Truncated: s.total > int64(n), Paths: make([][]int64, 0, n)}
	ids := make([]int64, 0, n*(s.length+1)) // the memory of all paths
	s.choices, s.parts = s.choices[:0], s.parts[:0]
	var path [MaxPathDepth + 1]uint32
	var left [MaxPathDepth + 1][2]int // for each node of the path, the choices not tried yet
	path[0] = s.near.queue[0]
	for d := 0; len(r.Paths) < n; {
		if d == s.length {
			for _, node := range path[:d+1] {
				ids = append(ids, s.view.id(node))
			}
			r.Paths = append(r.Paths, slices.Clip(ids[len(ids)-d-1:]))
			d--
			continue
		}
		if left[d] == [2]int{} {
			if err := s.ctx.Err(); err != nil {
				return Routes{}, err
			}
			left[d] = s.onwards(path[d], d, limit)
		}
		if left[d][0] == left[d][1] {
			left[d] = [2]int{}
			d-- // Never below the start: that would be after the last path.
			continue
		}
		path[d+1] = s.choices[left[d][0]]
		left[d][0]++
		d++
	}
	return r, nil
}

// onwards returns the next nodes of the paths from a node that is d edges from the start:
// a part of choices, in the order of ids. It is computed once for each node, and only as
// far as needed, because each choice makes a path.
func (s *scratch) onwards(node uint32, d, limit int) [2]int {
	if !s.first(node) {
		return s.parts[s.position(node)]
	}
	var set []uint32
	var tag uint8
	if d < s.near.depth {
		set, tag = s.onRoute[d+1], tagRoute|uint8(d+1)
	} else {
		rest := s.length - d - 1 // from there to the end
		set, tag = s.far.level(rest), s.far.tagAt(rest)
	}
	begin := len(s.choices)
	s.choices = s.meetFirst(s.choices, s.view.row(node), set, tag, limit)
	part := [2]int{begin, len(s.choices)}
	s.remember(node, len(s.parts))
	s.parts = append(s.parts, part)
	return part
}
