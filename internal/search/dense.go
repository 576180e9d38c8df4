package search

import "sync/atomic"

// Vector is where the vector of a document is once somebody has made it. Vectors
// have the length 1, so that a product tells how alike two are.
type Vector = atomic.Pointer[[]float32]

// Dense is what a query means, as a vector, and how much that counts beside its
// words: a part of what the query weighs.
type Dense struct {
	Vector []float32
	Weight float32
}

// leastMeaning is how near to the nearest document one must be to be found by its
// meaning alone.
const leastMeaning = .5

// meanings are how near documents are to a query, by segment and document: 0 is no
// nearer than documents are on average, 1 is the nearest. Only how far they are
// from each other says something; what a product means differs from model to model.
type meanings struct {
	near [][]float32
	gain float32
}

// nearness compares a query with all documents whose vector is known.
func (x *Index) nearness(q Dense, mass float32) meanings {
	if len(q.Vector) == 0 || q.Weight <= 0 {
		return meanings{}
	}
	near := make([][]float32, len(x.segments))
	sum, most, n := float32(0), float32(-1), 0
	for s, seg := range x.segments {
		near[s] = make([]float32, len(seg.documents))
		for i := range seg.documents {
			near[s][i] = -1
			cell := seg.documents[i].Vector
			if cell == nil {
				continue
			}
			v := cell.Load()
			if v == nil || len(*v) != len(q.Vector) {
				continue
			}
			alike := float32(0)
			for k, value := range *v {
				alike += value * q.Vector[k]
			}
			near[s][i] = alike
			sum, most, n = sum+alike, max(most, alike), n+1
		}
	}
	if n == 0 {
		return meanings{}
	}
	mean := sum / float32(n)
	if most-mean < 1e-4 {
		return meanings{} // all are the same to it
	}
	for _, list := range near {
		for i, alike := range list {
			list[i] = min(1, max(0, (alike-mean)/(most-mean)))
		}
	}
	return meanings{near, q.Weight * mass}
}

// of is what a document gains beside what its words are worth.
func (m meanings) of(segment, document int, words float32) float32 {
	if m.near == nil {
		return 0
	}
	near := m.near[segment][document]
	if words <= 0 && near < leastMeaning {
		return 0
	}
	return m.gain * near
}
