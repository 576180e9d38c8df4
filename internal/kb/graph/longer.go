package graph

import (
	"math/bits"
	"slices"
)

// longer lists the paths that are longer than the shortest ones, one length after the
// other. Each length is a depth-first search in the order of ids. It never turns to a node
// from which the end is too far, as far as distances to the end are known. Distances are
// found breadth first from the end, one more level for each length, while that is cheap.
func (s *scratch) longer(r *Routes, from, to uint32, maxDepth, limit int) error {
	s.unmark(s.view.numbers())
	s.far.start(s, to, tagFar)
	// No path leads through its own start: distances are those without it.
	s.mark(from, tagNear, 0)
	s.choices = s.choices[:0]
	work := min(LongerWork, s.view.work)
	f := pathSearch{scratch: s, routes: r, to: to, limit: limit, measuring: s.work + work/2, budget: s.work + work}
	f.path[0] = from
	for f.length = r.Length + 1; f.length <= maxDepth && !r.Truncated; f.length++ {
		if err := f.measure(); err != nil {
			return err
		}
		if err := f.follow(0); err != nil {
			return err
		}
	}
	return nil
}

// pathSearch is one such search. Path holds the nodes up to the present one, and length is
// the length of the paths that it lists.
type pathSearch struct {
	*scratch
	routes *Routes
	to     uint32
	limit  int
	// measuring and budget are the amounts of work at which measure and the search end.
	measuring, budget int
	length            int
	path              [MaxPathDepth + 1]uint32
	allDistances      bool // no node beyond the measured ones leads to the end
}

// measure finds the distances that paths of this length need, or as many levels as half
// of the budget allows.
func (f *pathSearch) measure() error {
	x := &f.far
	for x.depth < f.length-1 && !f.allDistances {
		cost := 0
		for _, node := range x.outermost() {
			cost += len(f.view.row(node))
			if f.work+cost > f.measuring {
				return nil
			}
		}
		f.work += cost
		for i, node := range x.outermost() {
			if err := f.canceled(i); err != nil {
				return err
			}
			for _, t := range f.view.row(node) {
				if !f.marked(t) {
					x.push(f.scratch, t, x.tagAt(x.depth+1), 0)
				}
			}
		}
		x.depth++
		x.begins[x.depth+1] = len(x.queue)
		f.allDistances = len(x.outermost()) == 0
	}
	return nil
}

// follow lists the paths that begin with the first d edges of the path.
func (f *pathSearch) follow(d int) error {
	row, rest := f.view.row(f.path[d]), f.length-d
	if rest == 1 {
		f.work += bits.Len(uint(len(row)))
		if _, ok := f.view.adjacent(row, f.to); ok {
			f.add()
		}
		return nil
	}
	if err := f.ctx.Err(); err != nil {
		return err
	}
	begin := len(f.choices)
	f.choose(row, f.path[:d+1], rest-1)
	for i := begin; i < len(f.choices) && !f.routes.Truncated; i++ {
		if f.work++; f.work > f.budget {
			f.routes.GaveUp = true
			break
		}
		f.path[d+1] = f.choices[i]
		if err := f.follow(d + 1); err != nil {
			return err
		}
	}
	f.choices = f.choices[:begin]
	return nil
}

// add lists the path, if there is room for it.
func (f *pathSearch) add() {
	if len(f.routes.Paths) == f.limit {
		f.routes.Truncated = true
		return
	}
	path := make([]int64, 0, f.length+1)
	for _, node := range f.path[:f.length] {
		path = append(path, f.view.id(node))
	}
	f.routes.Paths = append(f.routes.Paths, append(path, f.view.id(f.to)))
}

// choose appends the nodes of a row that can be next on a path to choices, in the order of
// ids: those from which the end is at most rest edges away, without the end itself.
func (f *pathSearch) choose(row, path []uint32, rest int) {
	x := &f.far
	known := rest <= x.depth || f.allDistances
	near := x.queue[1:x.begins[min(rest, x.depth)+1]]
	steps := len(near) * bits.Len(uint(len(row)))
	searched := known && steps < len(row)
	if !searched {
		steps = len(row)
	}
	if f.work+steps > f.budget {
		f.routes.GaveUp = true
		return
	}
	f.work += steps
	begin := len(f.choices)
	if searched {
		for _, node := range near {
			if _, ok := f.view.adjacent(row, node); ok && !slices.Contains(path, node) {
				f.choices = append(f.choices, node)
			}
		}
		f.view.sort(f.choices[begin:])
		return
	}
	for _, node := range row {
		within := !known
		if f.marked(node) {
			within = f.distance(node) <= rest
		}
		if within && node != f.to && !slices.Contains(path, node) {
			f.choices = append(f.choices, node)
		}
	}
}

// distance returns the measured distance of a marked node to the end.
func (f *pathSearch) distance(node uint32) int { return int(f.marks[node] >> 32 & 0x1f) }
