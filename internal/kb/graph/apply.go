package graph

import (
	"cmp"
	"maps"
	"slices"
)

// draft is a view under construction: another view and the changes of a batch.
type draft struct {
	*View
	patches map[uint32]*patch // may be modified, unlike the patches of the View
}

// apply returns the view after a batch of changes. Its cost is proportional to the
// changes and the overlay, not to the graph. A change of a node with very many neighbours
// is expensive, because its row is copied.
func (v *View) apply(sequence int64, changes []Change) *View {
	next := *v
	next.sequence = sequence
	d := draft{View: &next, patches: map[uint32]*patch{}}

	last := make(map[int64]int, len(changes))
	for i, c := range changes {
		last[c.ID] = i
	}
	// Nodes come first, then edges, because two new nodes may list each other.
	var fresh []int64
	for i, c := range changes {
		if last[c.ID] != i {
			continue
		}
		switch node, ok := d.number(c.ID); {
		case ok && c.Removed:
			d.remove(node)
		case ok:
			d.revive(node)
		case !c.Removed:
			fresh = append(fresh, c.ID)
		}
	}
	d.add(fresh)
	for i, c := range changes {
		if last[c.ID] == i && !c.Removed {
			d.relate(c.ID, c.Neighbours)
		}
	}
	return d.view()
}

// patch returns the current patch of a node in the draft, or nil.
func (d *draft) patch(node uint32) *patch {
	if p := d.patches[node]; p != nil {
		return p
	}
	return d.View.patch(node)
}

// own returns a node's patch with a row that may be modified.
func (d *draft) own(node uint32) *patch {
	if p := d.patches[node]; p != nil {
		return p
	}
	p := &patch{node: node, row: slices.Clone(d.row(node))}
	d.patches[node] = p
	return p
}

func (d *draft) gone(node uint32) bool {
	p := d.patch(node)
	return p != nil && p.gone
}

func (d *draft) remove(node uint32) {
	if d.gone(node) {
		return
	}
	p := d.own(node)
	for _, other := range p.row {
		d.drop(other, node)
	}
	d.edges -= len(p.row)
	d.nodes--
	p.gone, p.row = true, nil
}

func (d *draft) revive(node uint32) {
	if d.gone(node) {
		d.nodes++
		d.patches[node] = &patch{node: node}
	}
}

func (d *draft) add(ids []int64) {
	if len(ids) == 0 {
		return
	}
	first := len(d.added)
	d.added = slices.Concat(d.added, ids)
	d.order = slices.Clone(d.order)
	for i := range ids {
		d.order = append(d.order, uint32(first+i))
	}
	slices.SortFunc(d.order, func(a, b uint32) int { return cmp.Compare(d.added[a], d.added[b]) })
	d.nodes += len(ids)
}

// relate sets the neighbours of a node.
func (d *draft) relate(id int64, neighbours []int64) {
	node, _ := d.number(id)
	row := make([]uint32, 0, len(neighbours))
	for _, n := range neighbours {
		if other, ok := d.number(n); ok && other != node && !d.gone(other) {
			row = append(row, other)
		}
	}
	slices.SortFunc(row, d.compare)
	row = slices.Compact(row)

	old := d.row(node)
	if p := d.patches[node]; p != nil {
		old = p.row
	}
	if slices.Equal(old, row) {
		return
	}
	for i, j := 0, 0; i < len(old) || j < len(row); {
		switch {
		case j == len(row) || (i < len(old) && d.less(old[i], row[j])):
			d.drop(old[i], node)
			d.edges--
			i++
		case i == len(old) || d.less(row[j], old[i]):
			d.link(row[j], node)
			d.edges++
			j++
		default:
			i++
			j++
		}
	}
	d.patches[node] = &patch{node: node, row: row}
}

// drop removes other from a node's row.
func (d *draft) drop(node, other uint32) {
	p := d.own(node)
	if i, ok := d.adjacent(p.row, other); ok {
		p.row = slices.Delete(p.row, i, i+1)
	}
}

// link adds other to a node's row.
func (d *draft) link(node, other uint32) {
	p := d.own(node)
	if i, ok := d.adjacent(p.row, other); !ok {
		p.row = slices.Insert(p.row, i, other)
	}
}

// view returns the finished view.
func (d *draft) view() *View {
	if len(d.patches) == 0 {
		return d.View
	}
	filter := *d.filter
	merged := make([]patch, 0, len(d.View.patches)+len(d.patches))
	old := d.View.patches
	for _, node := range slices.Sorted(maps.Keys(d.patches)) {
		for len(old) > 0 && old[0].node < node {
			merged = append(merged, old[0])
			old = old[1:]
		}
		if len(old) > 0 && old[0].node == node {
			old = old[1:]
		}
		merged = append(merged, *d.patches[node])
		filter.set(node)
	}
	d.View.patches = append(merged, old...)
	d.filter = &filter
	return d.View
}
