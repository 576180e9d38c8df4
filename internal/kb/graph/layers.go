package graph

import "math/bits"

// layers is the graph of the shortest paths between two nodes: layer i holds the
// nodes that are i edges from the first on one of them. Every node in it lies on a
// path, so listing paths never runs into a dead end.
type layers struct {
	begins  [MaxPathDepth + 2]int // where each layer begins in nodes
	nodes   []uint32              // layer by layer, in the order of ids
	next    []uint32              // where nodes lead to, as positions in nodes, by id
	choices [][2]int              // for each node, its part of next
	counts  []int64               // for each node, the paths from it to the end
}

func (l *layers) of(i int) []uint32 { return l.nodes[l.begins[i]:l.begins[i+1]] }

// routes is the answer once the two sides have met.
func (s *scratch) routes(limit int) (Routes, error) {
	r := Routes{Length: s.near.depth + s.far.depth + 1}
	done, err := s.lay(r.Length)
	if err != nil {
		return Routes{}, err
	}
	if !done {
		r.GaveUp = true
		return r, nil
	}
	l := &s.layers
	r.Total = l.counts[0]
	r.Paths = s.list(r.Length, int(min(r.Total, int64(limit))))
	r.Truncated = r.Total > int64(len(r.Paths))
	return r, nil
}

// lay finds the layers from where the sides met towards both ends, and then, from the
// last layer to the first, where each node leads to and by how many ways to the end.
// It is false if that is too much to read.
func (s *scratch) lay(length int) (done bool, err error) {
	l := &s.layers
	var sets [MaxPathDepth + 1][]uint32
	// ends and meets grow into the other layers: all are parts of the two lists.
	s.ends, err = s.trace(&s.near, s.ends, func(d int, set []uint32) { sets[d] = set })
	if err != nil || s.exhausted() {
		return false, err
	}
	s.meets, err = s.trace(&s.far, s.meets, func(d int, set []uint32) { sets[length-d] = set })
	if err != nil || s.exhausted() {
		return false, err
	}
	l.nodes = l.nodes[:0]
	for i := range length + 1 {
		l.begins[i] = len(l.nodes)
		l.nodes = append(l.nodes, sets[i]...)
		layer := l.nodes[l.begins[i]:]
		s.view.sort(layer)
		for k, node := range layer {
			s.mark(node, tagLayer|uint8(i), l.begins[i]+k)
		}
	}
	l.begins[length+1] = len(l.nodes)
	return s.count(length)
}

// trace follows a side's levels from where the sides met, which is the list that is
// given, back to its end. The sets of all levels are told, and the list that they
// are parts of is returned.
func (s *scratch) trace(x *side, list []uint32, tell func(depth int, set []uint32)) ([]uint32, error) {
	from := 0
	tell(x.depth, list)
	for d := x.depth - 1; d >= 0; d-- {
		to := len(list)
		for i := from; i < to; i++ {
			if err := s.canceled(i); err != nil || s.exhausted() {
				return list, err
			}
			s.shared = s.meet(s.shared[:0], s.view.row(list[i]), x.level(d), x.tagAt(d))
			for _, t := range s.shared {
				if s.first(t) {
					list = append(list, t)
				}
			}
		}
		tell(d, list[to:])
		from = to
	}
	return list, nil
}

// count fills in next, choices and counts.
func (s *scratch) count(length int) (done bool, err error) {
	l := &s.layers
	l.next = l.next[:0]
	l.choices = resize(l.choices, len(l.nodes))
	l.counts = resize(l.counts, len(l.nodes))
	l.counts[len(l.nodes)-1] = 1
	for i := length - 1; i >= 0; i-- {
		for k, node := range l.of(i) {
			if err := s.canceled(k); err != nil || s.exhausted() {
				return false, err
			}
			s.shared = s.meet(s.shared[:0], s.view.row(node), l.of(i+1), tagLayer|uint8(i+1))
			begin, total := len(l.next), int64(0)
			for _, t := range s.shared {
				at := s.position(t)
				l.next = append(l.next, at)
				total = min(total+l.counts[at], MaxTotal) // Both are at most 2⁵³.
			}
			l.choices[l.begins[i]+k] = [2]int{begin, len(l.next)}
			l.counts[l.begins[i]+k] = total
		}
	}
	return true, nil
}

// exhausted reports whether the paths of a search that has succeeded are too much to
// read. They may take as much again as the search did.
func (s *scratch) exhausted() bool { return s.work > 2*s.view.work }

// resize is a slice of n elements whose content does not matter.
func resize[E any](list []E, n int) []E {
	if cap(list) < n {
		return make([]E, n, 1<<bits.Len(uint(n)))
	}
	return list[:n]
}

// list walks the first n paths, by the ids along the way.
func (s *scratch) list(length, n int) [][]int64 {
	l := &s.layers
	paths := make([][]int64, 0, n)
	ids := make([]int64, 0, n*(length+1)) // the memory of all of them
	var at [MaxPathDepth + 1]int          // the path, as positions in nodes
	var tried [MaxPathDepth + 1]int       // for each node of it, the next choice
	tried[0] = l.choices[0][0]
	for d := 0; len(paths) < n; {
		if d == length {
			for _, p := range at[:length+1] {
				ids = append(ids, s.view.id(l.nodes[p]))
			}
			paths = append(paths, ids[len(ids)-length-1:len(ids):len(ids)])
			d--
			continue
		}
		if tried[d] == l.choices[at[d]][1] {
			d-- // Never below the first: that would be after the last path.
			continue
		}
		next := int(l.next[tried[d]])
		tried[d]++
		d++
		at[d] = next
		if d < length {
			tried[d] = l.choices[next][0]
		}
	}
	return paths
}
