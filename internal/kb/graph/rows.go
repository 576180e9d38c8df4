package graph

import (
	"iter"
	"math/bits"
	"slices"
)

// rows is a graph in compressed sparse rows. A node is its index in ids, which ascend. The
// neighbours of node i are targets[starts[i]:starts[i+1]], which ascend too, so that order
// by index is order by id. At a million nodes and five million edges that is 52 MB: 8 for
// the ids, 4 for the starts, 40 for the targets (each edge is in two rows). Numbers of 32
// bits are enough for two thousand million edges.
type rows struct {
	ids     []int64
	starts  []uint32
	targets []uint32
}

func (r *rows) of(i uint32) []uint32 { return r.targets[r.starts[i]:r.starts[i+1]] }

// chunk is the number of edges in one piece of memory: a growing slice would be copied
// again and again, and leave twice its size behind.
const chunk = 1 << 16

// compress reads the edges once, since each reading may be a query, and keeps them as pairs
// of indexes until the lengths of the rows are known.
func compress(nodes iter.Seq[int64], edges iter.Seq2[int64, int64]) *rows {
	ids := slices.Collect(nodes)
	if !slices.IsSorted(ids) {
		slices.Sort(ids)
	}
	ids = slices.Clip(slices.Compact(ids))

	positions := newRanks(ids)
	starts := make([]uint32, len(ids)+1)
	var chunks [][][2]uint32
	var last [][2]uint32
	for a, b := range edges {
		i, ok := positions.of(a)
		if !ok {
			continue
		}
		j, ok := positions.of(b)
		if !ok || i == j {
			continue
		}
		starts[i+1]++
		starts[j+1]++
		if len(last) == cap(last) {
			if last != nil {
				chunks = append(chunks, last)
			}
			last = make([][2]uint32, 0, chunk)
		}
		last = append(last, [2]uint32{i, j})
	}
	chunks = append(chunks, last)

	for i := range ids {
		starts[i+1] += starts[i]
	}
	targets := make([]uint32, starts[len(ids)])
	// Filling a row moves its start to its end, which is the start of the next row. Afterwards
	// all starts are one row too far.
	for _, c := range chunks {
		for _, e := range c {
			i, j := e[0], e[1]
			targets[starts[i]], targets[starts[j]] = j, i
			starts[i]++
			starts[j]++
		}
	}
	copy(starts[1:], starts)
	starts[0] = 0
	return &rows{ids: ids, starts: starts, targets: ascend(starts, targets)}
}

// ascend sorts each row and removes duplicates, closing the gaps.
func ascend(starts, targets []uint32) []uint32 {
	var to, from uint32
	for i := range len(starts) - 1 {
		end := starts[i+1]
		row := targets[from:end]
		slices.Sort(row)
		from = end
		starts[i] = to
		for k, t := range row {
			if k == 0 || t != row[k-1] {
				targets[to] = t // never ahead of the read position
				to++
			}
		}
	}
	starts[len(starts)-1] = to
	if int(to) < len(targets)-len(targets)/8 {
		return slices.Clone(targets[:to]) // If there were many duplicates, this frees their memory.
	}
	return targets[:to]
}

// ranks finds the index of an id among all ids. The ids are spread over buckets by their
// leading bits, with about two buckets for each id. Consecutive ids of a database get one
// bucket each, so a lookup reads one number. Only Build needs that: a query looks up two
// ids and can use a binary search.
type ranks struct {
	ids     []int64
	shift   int
	buckets []uint32 // where each begins, and the end of the last
}

func newRanks(ids []int64) ranks {
	if len(ids) == 0 {
		return ranks{}
	}
	// The distance between any two ids fits into an unsigned number.
	span := uint64(ids[len(ids)-1]) - uint64(ids[0])
	shift := max(0, bits.Len64(span)-bits.Len64(uint64(len(ids)))-1)
	r := ranks{ids: ids, shift: shift, buckets: make([]uint32, span>>shift+2)}
	for _, id := range ids {
		r.buckets[r.bucket(id)+1]++
	}
	for b := range len(r.buckets) - 1 {
		r.buckets[b+1] += r.buckets[b]
	}
	return r
}

func (r *ranks) bucket(id int64) uint64 { return (uint64(id) - uint64(r.ids[0])) >> r.shift }

func (r *ranks) of(id int64) (uint32, bool) {
	if len(r.ids) == 0 || id < r.ids[0] || id > r.ids[len(r.ids)-1] {
		return 0, false
	}
	b := r.bucket(id)
	from, to := r.buckets[b], r.buckets[b+1]
	if r.shift == 0 {
		return from, from < to // Each id has its own bucket.
	}
	for to-from > 8 { // Clustered ids may fill a bucket.
		middle := from + (to-from)/2
		if r.ids[middle] <= id {
			from = middle
		} else {
			to = middle
		}
	}
	for ; from < to; from++ {
		if r.ids[from] == id {
			return from, true
		}
	}
	return 0, false
}
