package index

import (
	"cmp"
	"math"
	"slices"
)

// top holds the best hits in a heap with the worst of them first.
type top struct {
	limit int
	hits  []Hit
}

// worse orders hits: a lower score is worse, and among equals a higher id.
func worse(a, b Hit) bool {
	if a.Score != b.Score {
		return a.Score < b.Score
	}
	return a.ID > b.ID
}

// threshold returns the score below which a document is not among the best.
func (t *top) threshold() float64 {
	if len(t.hits) < t.limit {
		return math.Inf(-1)
	}
	return t.hits[0].Score
}

func (t *top) offer(h Hit) {
	if len(t.hits) < t.limit {
		t.hits = append(t.hits, h)
		for i := len(t.hits) - 1; i > 0; {
			parent := (i - 1) / 2
			if !worse(t.hits[i], t.hits[parent]) {
				break
			}
			t.hits[i], t.hits[parent] = t.hits[parent], t.hits[i]
			i = parent
		}
		return
	}
	if !worse(t.hits[0], h) {
		return
	}
	t.hits[0] = h
	for i := 0; ; {
		least := i
		for child := 2*i + 1; child <= 2*i+2 && child < len(t.hits); child++ {
			if worse(t.hits[child], t.hits[least]) {
				least = child
			}
		}
		if least == i {
			return
		}
		t.hits[i], t.hits[least] = t.hits[least], t.hits[i]
		i = least
	}
}

func (t *top) sorted() []Hit {
	slices.SortFunc(t.hits, func(a, b Hit) int {
		return cmp.Or(cmp.Compare(b.Score, a.Score), cmp.Compare(a.ID, b.ID))
	})
	return t.hits
}

// stretchHeap returns the stretches with the highest bound first, and equals in their
// order, without sorting those that are never requested.
type stretchHeap struct{ list []stretch }

func before(a, b stretch) bool {
	if a.bound != b.bound {
		return a.bound > b.bound
	}
	return a.at < b.at
}

func (h stretchHeap) start() *stretchHeap {
	for i := len(h.list)/2 - 1; i >= 0; i-- {
		h.sink(i)
	}
	return &h
}

func (h *stretchHeap) pop() stretch {
	first, last := h.list[0], len(h.list)-1
	h.list[0] = h.list[last]
	h.list = h.list[:last]
	h.sink(0)
	return first
}

func (h *stretchHeap) sink(i int) {
	for {
		least := i
		for child := 2*i + 1; child <= 2*i+2 && child < len(h.list); child++ {
			if before(h.list[child], h.list[least]) {
				least = child
			}
		}
		if least == i {
			return
		}
		h.list[i], h.list[least] = h.list[least], h.list[i]
		i = least
	}
}
