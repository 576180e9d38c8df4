package search

import "slices"

// ref is a place where a word has postings: a segment, and which of its postings
// they are.
type ref struct{ segment, from, to uint32 }

// enter notes the words of segment i in the lists.
func (x *Index) enter(i int) {
	for len(x.lists) < len(x.words.list) {
		x.lists, x.documents = append(x.lists, nil), append(x.documents, 0)
	}
	from := uint32(0)
	for _, w := range x.segments[i].words {
		x.lists[w.number] = append(x.lists[w.number], ref{uint32(i), from, w.end}) //nolint:gosec // memory ends before
		x.documents[w.number] += w.documents
		from = w.end
	}
}

// replace puts a segment in the place of another. Lists that change are copied:
// the index that was there before goes on using them.
func (x *Index) replace(i int, fresh *segment) {
	for _, w := range x.segments[i].words {
		x.lists[w.number] = slices.DeleteFunc(slices.Clone(x.lists[w.number]), func(r ref) bool { return int(r.segment) == i })
		x.documents[w.number] -= w.documents
	}
	x.segments[i] = fresh
	for _, w := range fresh.words {
		if int(w.number) < len(x.lists) {
			x.lists[w.number] = slices.Clip(x.lists[w.number]) // so that appending copies it
		}
	}
	x.enter(i)
}

// settle works out what depends on all documents: how many there are, and how
// much a word in a field of each of them counts. What stands in a long text says
// less.
func (x *Index) settle() {
	x.forget()
	var totals [fields]int
	x.count, x.firsts = 0, make([]uint32, len(x.segments))
	for i, s := range x.segments {
		x.firsts[i] = uint32(x.count) //nolint:gosec // memory ends before
		x.count += len(s.documents)
		for f, n := range s.totals {
			totals[f] += n
		}
	}
	var averages [fields]float32
	for f := range averages {
		averages[f] = max(1, float32(totals[f])/float32(max(1, x.count)))
	}
	x.factors = make([]float32, x.count<<fieldBits)
	for i, s := range x.segments {
		factors := x.factorsOf(uint32(i)) //nolint:gosec // memory ends before
		for d := range s.documents {
			for f, n := range s.documents[d].lengths {
				w := x.weights[f]
				factors[d<<fieldBits+f] = w.boost / (1 - w.length + w.length*float32(n)/averages[f])
			}
		}
	}
}

// factorsOf are the factors of a segment's documents, by the places of postings.
func (x *Index) factorsOf(segment uint32) []float32 {
	return x.factors[x.firsts[segment]<<fieldBits:]
}

// forget makes a new vocabulary when most words of the old one are nobody's any
// more.
func (x *Index) forget() {
	const few = 1024
	used := 0
	for _, n := range x.documents {
		if n > 0 {
			used++
		}
	}
	if len(x.words.list) <= max(few, 2*used) {
		return
	}
	old := x.words.list
	x.words, x.lists, x.documents = newVocabulary(), nil, nil
	for i, s := range x.segments {
		moved := *s
		moved.words = slices.Clone(s.words)
		for j := range moved.words {
			w := &moved.words[j]
			w.number = x.words.add(old[w.number])
		}
		x.segments[i] = &moved
		x.enter(i)
	}
}
