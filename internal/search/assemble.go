package search

import "slices"

// assemble puts together what a search reads.
func (x *Index) assemble() {
	x.renumber()
	factors := x.factors()
	x.starts = make([]uint32, len(x.words.list)+1)
	for _, s := range x.segments {
		for _, w := range s.words {
			x.starts[w.number+1] += w.documents
		}
	}
	for i := 1; i < len(x.starts); i++ {
		x.starts[i] += x.starts[i-1]
	}
	x.entries = make([]entry, x.starts[len(x.starts)-1])
	next, first := slices.Clone(x.starts), 0
	for _, s := range x.segments {
		from := uint32(0)
		for _, w := range s.words {
			enter(x.entries[next[w.number]:][:w.documents], s.postings[from:w.end], first, factors)
			next[w.number] += w.documents
			from = w.end
		}
		first += len(s.documents)
		factors = factors[len(s.documents)<<fieldBits:]
	}
}

// enter fills in which of a segment's documents have a word, and how much of it.
// Each entry is written once and not read: the lists lie far apart in memory.
func enter(into []entry, postings []posting, first int, factors []float32) {
	for i := range into {
		doc, amount := postings[0].doc(), float32(0)
		for len(postings) > 0 && postings[0].doc() == doc {
			amount += postings[0].count() * factors[postings[0].place()]
			postings = postings[1:]
		}
		into[i] = entry{uint32(first + doc), amount} //nolint:gosec // memory ends before
	}
}

// factors is how much a word in a field of a document counts, by places: what
// stands in a long text says less. It also counts the documents.
func (x *Index) factors() []float32 {
	var totals [fields]int
	x.count = 0
	for _, s := range x.segments {
		x.count += len(s.documents)
		for f, n := range s.totals {
			totals[f] += n
		}
	}
	var averages [fields]float32
	for f := range averages {
		averages[f] = max(1, float32(totals[f])/float32(max(1, x.count)))
	}
	all := make([]float32, x.count<<fieldBits)
	first := 0
	for _, s := range x.segments {
		for i := range s.documents {
			for f, n := range s.documents[i].lengths {
				w := x.weights[f]
				all[(first+i)<<fieldBits+f] = w.boost / (1 - w.length + w.length*float32(n)/averages[f])
			}
		}
		first += len(s.documents)
	}
	return all
}

// renumber makes a new vocabulary when most words of the old one are nobody's any
// more.
func (x *Index) renumber() {
	const few = 1024
	if len(x.words.list) <= few {
		return
	}
	used, fresh := make([]bool, len(x.words.list)), newVocabulary()
	n := 0
	for _, s := range x.segments {
		for _, w := range s.words {
			if !used[w.number] {
				used[w.number] = true
				n++
			}
		}
	}
	if 2*n >= len(x.words.list) {
		return
	}
	for i, s := range x.segments {
		moved := *s
		moved.words = slices.Clone(s.words)
		for j := range moved.words {
			w := &moved.words[j]
			w.number = fresh.add(x.words.list[w.number])
		}
		x.segments[i] = &moved
	}
	x.words = fresh
}
