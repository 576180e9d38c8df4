package graph

// fold writes the view's rows and overlay into new rows.
func (v *View) fold() *rows {
	if v.overlay() == 0 {
		return v.rows
	}
	// Nodes in the order of their ids, without those that are gone: a merge of those
	// of the rows and the added ones.
	ids := make([]int64, 0, v.nodes)
	from := make([]uint32, 0, v.nodes)    // the number that a new one had
	to := make([]uint32, v.numbers())     // the number that an old one gets
	base := uint32(len(v.rows.ids))       // the first number of an added one
	take := func(node uint32, id int64) { // of the rows or added, if it is not gone
		if p := v.patch(node); p != nil && p.gone {
			return
		}
		to[node] = uint32(len(ids))
		ids = append(ids, id)
		from = append(from, node)
	}
	added := v.order
	for i, id := range v.rows.ids {
		for ; len(added) > 0 && v.added[added[0]] < id; added = added[1:] {
			take(base+added[0], v.added[added[0]])
		}
		take(uint32(i), id)
	}
	for _, at := range added {
		take(base+at, v.added[at])
	}

	next := &rows{ids: ids, starts: make([]uint32, len(ids)+1), targets: make([]uint32, 0, 2*v.edges)}
	for i, node := range from {
		for _, t := range v.row(node) { // No row names a node that is gone.
			next.targets = append(next.targets, to[t])
		}
		next.starts[i+1] = uint32(len(next.targets))
	}
	return next
}
