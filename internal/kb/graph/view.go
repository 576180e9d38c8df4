package graph

import (
	"cmp"
	"errors"
	"slices"
	"sync"
)

// ErrUnknown says that an id is not a node of the graph.
var ErrUnknown = errors.New("graph: no such node")

// View is one state of a graph: compressed rows, and an overlay of the rows that have
// changed since. All data of a View is immutable.
//
// Inside, a node is a number. The nodes of the rows come first, in the order of their
// ids, then the nodes added since, in the order of their arrival. A row is in the order
// of ids.
type View struct {
	sequence int64
	rows     *rows
	added    []int64  // the ids of the nodes after those of the rows
	order    []uint32 // the positions in added, in the order of ids
	patches  []patch  // the rows that differ, by node
	filter   *filter  // of the nodes in patches
	nodes    int
	edges    int
	pool     *sync.Pool
	work     int // the most that Paths reads, in edges
}

// patch is a node's row that replaces the one in the rows.
type patch struct {
	node uint32
	gone bool // The node was removed; its number stays taken until the fold.
	row  []uint32
}

// filter tells quickly that a node has no patch, which holds for nearly all nodes. A bit
// stands for many nodes, so a set bit proves nothing.
type filter [filterBits / 64]uint64

const filterBits = 8 * foldAfter

func (f *filter) set(node uint32)      { f[node%filterBits/64] |= 1 << (node % 64) }
func (f *filter) has(node uint32) bool { return f[node%filterBits/64]&(1<<(node%64)) != 0 }

func newView(r *rows, sequence int64, pool *sync.Pool) *View {
	return &View{
		sequence: sequence, rows: r, nodes: len(r.ids), edges: len(r.targets) / 2,
		filter: &filter{}, pool: pool, work: PathWork,
	}
}

// Sequence returns the change sequence of the view's state.
func (v *View) Sequence() int64 { return v.sequence }

// Size returns the numbers of nodes and edges.
func (v *View) Size() (nodes, edges int) { return v.nodes, v.edges }

// Bytes returns the approximate memory size of the view.
func (v *View) Bytes() int {
	n := 8*cap(v.rows.ids) + 4*cap(v.rows.starts) + 4*cap(v.rows.targets)
	n += 8*cap(v.added) + 4*cap(v.order) + 40*cap(v.patches) + filterBits/8
	for _, p := range v.patches {
		n += 4 * cap(p.row)
	}
	return n
}

// Has reports whether the id is a node.
func (v *View) Has(id int64) bool {
	_, ok := v.find(id)
	return ok
}

// overlay returns the number of changes since the rows were written.
func (v *View) overlay() int { return len(v.patches) + len(v.added) }

// numbers returns the greatest number of a node plus one.
func (v *View) numbers() int { return len(v.rows.ids) + len(v.added) }

func (v *View) id(node uint32) int64 {
	if n := len(v.rows.ids); int(node) >= n {
		return v.added[int(node)-n]
	}
	return v.rows.ids[node]
}

// less compares by id. For nodes of the rows that is the order of their numbers.
func (v *View) less(a, b uint32) bool {
	if n := uint32(len(v.rows.ids)); a < n && b < n {
		return a < b
	}
	return v.id(a) < v.id(b)
}

// compare is less for sorting.
func (v *View) compare(a, b uint32) int {
	if n := uint32(len(v.rows.ids)); a < n && b < n {
		return cmp.Compare(a, b)
	}
	return cmp.Compare(v.id(a), v.id(b))
}

// sort sorts nodes by id.
func (v *View) sort(nodes []uint32) {
	if len(v.added) == 0 {
		slices.Sort(nodes)
		return
	}
	slices.SortFunc(nodes, v.compare)
}

// find returns the number of an id, if it is a node.
func (v *View) find(id int64) (uint32, bool) {
	node, ok := v.number(id)
	if !ok {
		return 0, false
	}
	if p := v.patch(node); p != nil && p.gone {
		return 0, false
	}
	return node, true
}

// number returns the number of an id that is a node or was one when the rows were
// written.
func (v *View) number(id int64) (uint32, bool) {
	if i, ok := slices.BinarySearch(v.rows.ids, id); ok {
		return uint32(i), true
	}
	i, ok := slices.BinarySearchFunc(v.order, id, func(at uint32, id int64) int { return cmp.Compare(v.added[at], id) })
	if !ok {
		return 0, false
	}
	return uint32(len(v.rows.ids)) + v.order[i], true
}

func (v *View) patch(node uint32) *patch {
	if !v.filter.has(node) {
		return nil
	}
	i, ok := slices.BinarySearchFunc(v.patches, node, func(p patch, node uint32) int { return cmp.Compare(p.node, node) })
	if !ok {
		return nil
	}
	return &v.patches[i]
}

// row returns a node's neighbours in the order of their ids.
func (v *View) row(node uint32) []uint32 {
	if p := v.patch(node); p != nil {
		return p.row
	}
	if int(node) >= len(v.rows.ids) {
		return nil
	}
	return v.rows.of(node)
}

// adjacent searches a node in a row. It returns its index and whether it was found.
func (v *View) adjacent(row []uint32, node uint32) (int, bool) {
	from, to := 0, len(row)
	for from < to {
		middle := int(uint(from+to) >> 1)
		if v.less(row[middle], node) {
			from = middle + 1
		} else {
			to = middle
		}
	}
	return from, from < len(row) && row[from] == node
}
