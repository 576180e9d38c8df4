package semantic

import (
	"cmp"
	"runtime"
	"slices"
	"sync"
)

// mostBytes limits the memory of vectors. Items beyond it are found by their words only.
const mostBytes = 1 << 30

// matrix holds the vectors of all items in memory, one after the other, so comparing a
// query with all of them is as fast as reading them. It is not safe for concurrent use.
type matrix struct {
	dims int
	most int // bytes
	// These are indexed by place: the vector, its owner and its chunk.
	codes  []int8
	scales []float32
	owners []int32 // -1 for a free place
	chunks []uint8
	free   []int32 // the free places

	// These are indexed by owner.
	items   []entry
	byID    map[int64]int32
	vacant  []int32
	types   map[string]int32
	crowded int // items without a place
}

type entry struct {
	id     int64 // 0 for a free entry
	kind   int32
	n      int32
	places [mostChunks]int32
}

func newMatrix(most int) *matrix {
	return &matrix{most: most, byID: map[int64]int32{}, types: map[string]int32{}}
}

// put replaces an item's vectors. It returns false if their length differs from all
// others.
func (m *matrix) put(row *Row) bool {
	m.remove(row.Item)
	dims := row.dimensions()
	if dims == 0 {
		return true // the item has no vectors
	}
	if m.dims == 0 || len(m.byID) == 0 {
		if m.dims != dims { // free places have another length
			m.codes, m.scales, m.owners, m.chunks, m.free = nil, nil, nil, nil, nil
		}
		m.dims = dims
	}
	if m.dims != dims {
		return false
	}
	if len(m.free) < row.Chunks && len(m.codes)+row.Chunks*dims > m.most {
		m.crowded++
		return true
	}
	owner := m.newOwner()
	m.byID[row.Item] = owner
	e := &m.items[owner]
	e.id, e.kind, e.n = row.Item, m.typeNumber(row.Type), int32(row.Chunks)
	size := scaleBytes + dims
	for c := range row.Chunks {
		place := m.newPlace()
		m.scales[place] = decode(row.Vectors[c*size:(c+1)*size], m.codes[int(place)*dims:(int(place)+1)*dims])
		m.owners[place], m.chunks[place] = owner, uint8(c)
		e.places[c] = place
	}
	return true
}

func (m *matrix) newOwner() int32 {
	if n := len(m.vacant); n > 0 {
		owner := m.vacant[n-1]
		m.vacant = m.vacant[:n-1]
		return owner
	}
	m.items = append(m.items, entry{})
	return int32(len(m.items) - 1)
}

func (m *matrix) newPlace() int32 {
	if n := len(m.free); n > 0 {
		place := m.free[n-1]
		m.free = m.free[:n-1]
		return place
	}
	m.codes = append(m.codes, make([]int8, m.dims)...)
	m.scales, m.owners, m.chunks = append(m.scales, 0), append(m.owners, -1), append(m.chunks, 0)
	return int32(len(m.owners) - 1)
}

func (m *matrix) typeNumber(name string) int32 {
	number, ok := m.types[name]
	if !ok {
		number = int32(len(m.types))
		m.types[name] = number
	}
	return number
}

func (m *matrix) remove(id int64) {
	owner, ok := m.byID[id]
	if !ok {
		return
	}
	e := &m.items[owner]
	for _, place := range e.places[:e.n] {
		m.owners[place] = -1
		m.free = append(m.free, place)
	}
	*e = entry{}
	m.vacant = append(m.vacant, owner)
	delete(m.byID, id)
}

// nearness is the nearness of an item to a query: 0 is the average of all items, 1 is
// the nearest item. Only the distances between items are meaningful; the meaning of a
// cosine differs from model to model.
type nearness struct {
	id    int64
	near  float64
	chunk int
}

const (
	// leastNear is the nearness at which an item is found by its meaning alone.
	leastNear = .5
	// alike is the minimum distance of the nearest item from the average. Below it, items
	// cannot be told apart.
	alike = 1e-4
)

// nearest returns the items of these types that are found by their meaning, the nearest
// first and at most limit. It also returns the nearness of the items in also. A query
// of another length finds nothing.
func (m *matrix) nearest(q question, types []string, limit int, also []int64) (found []nearness, of map[int64]nearness) {
	of = make(map[int64]nearness, len(also))
	if len(q.codes) != m.dims || len(m.byID) == 0 {
		return nil, of
	}
	best, chunk := m.best(q)
	wanted := m.wanted(types)
	sum, most := 0.0, float32(-1)
	for i := range m.items {
		if m.items[i].id == 0 {
			continue
		}
		sum += float64(best[i])
		if wanted == nil || wanted[m.items[i].kind] {
			most = max(most, best[i])
		}
	}
	mean := sum / float64(len(m.byID))
	near := func(i int32) nearness {
		n := nearness{m.items[i].id, 0, int(chunk[i])}
		switch apart := float64(most) - mean; {
		case best[i] <= 0: // nothing in common
		case apart < alike: // there is only one item, or all are alike
			n.near = 1
		default:
			n.near = min(1, max(0, (float64(best[i])-mean)/apart))
		}
		return n
	}
	for i := range m.items {
		if e := &m.items[i]; e.id != 0 && (wanted == nil || wanted[e.kind]) {
			if n := near(int32(i)); n.near >= leastNear {
				found = append(found, n)
			}
		}
	}
	slices.SortFunc(found, func(a, b nearness) int {
		return cmp.Or(cmp.Compare(b.near, a.near), cmp.Compare(a.id, b.id))
	})
	found = found[:min(len(found), limit)]
	for _, id := range also {
		if owner, ok := m.byID[id]; ok {
			of[id] = near(owner)
		}
	}
	return found, of
}

// wanted returns the numbers of types; nil is all.
func (m *matrix) wanted(types []string) map[int32]bool {
	if len(types) == 0 {
		return nil
	}
	numbers := map[int32]bool{}
	for _, name := range types {
		if number, ok := m.types[name]; ok {
			numbers[number] = true
		}
	}
	return numbers
}

// best returns the best cosine of each owner, and the chunk that has it.
func (m *matrix) best(q question) (best []float32, chunk []uint8) {
	cosines := make([]float32, len(m.owners))
	parts := runtime.GOMAXPROCS(0)
	var wg sync.WaitGroup
	for part := range parts {
		from, to := part*len(cosines)/parts, (part+1)*len(cosines)/parts
		wg.Go(func() {
			for place := from; place < to; place++ {
				if m.owners[place] >= 0 {
					cosines[place] = float32(product(m.codes[place*m.dims:(place+1)*m.dims], q.codes)) * m.scales[place] * q.scale
				}
			}
		})
	}
	wg.Wait()
	best, chunk = make([]float32, len(m.items)), make([]uint8, len(m.items))
	for i := range best {
		best[i] = -1
	}
	for place, owner := range m.owners {
		if owner >= 0 && cosines[place] > best[owner] {
			best[owner], chunk[owner] = cosines[place], m.chunks[place]
		}
	}
	return best, chunk
}
