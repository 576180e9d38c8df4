package graph

// fold writes the view's rows and overlay into new rows.
func (v *View) fold() *rows {
	if v.overlay() == 0 {
		return v.rows
	}
	// The new nodes are in the order of their ids, without removed ones: a merge of the nodes
	// of the rows and the added ones.
	ids := make([]int64, 0, v.nodes)
	from := make([]uint32, 0, v.nodes)    // the old number of each new node
	to := make([]uint32, v.numbers())     // the new number of each old node
	base := uint32(len(v.rows.ids))       // the first number of an added node
	take := func(node uint32, id int64) { // takes a node of the rows or an added one, unless it was removed
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
		for _, t := range v.row(node) { // No row lists a removed node.
			next.targets = append(next.targets, to[t])
		}
		next.starts[i+1] = uint32(len(next.targets))
	}
	return next
}
