package search

import "slices"

// assemble puts together what a search reads.
func (x *Index) assemble() {
	x.renumber()
	lengths := x.lengths()
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
			x.enter(x.entries[next[w.number]:][:w.documents], s.postings[from:w.end], first, lengths)
			next[w.number] += w.documents
			from = w.end
		}
		first += len(s.documents)
	}
}

// enter fills in which documents have a word, and how much of it.
func (x *Index) enter(into []entry, postings []posting, first int, lengths [][fields]float32) {
	last, at := -1, -1
	for _, p := range postings {
		doc := first + p.doc()
		if doc != last {
			last = doc
			at++
			into[at].document = uint32(doc) //nolint:gosec // memory ends before
		}
		f := p.field()
		into[at].amount += x.weights[f].boost * p.count() / lengths[doc][f]
	}
}

// lengths counts the documents and tells how long the fields of each are,
// compared with those of all: what stands in a long text says less.
func (x *Index) lengths() [][fields]float32 {
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
	all := make([][fields]float32, 0, x.count)
	for _, s := range x.segments {
		for i := range s.documents {
			var lengths [fields]float32
			for f, n := range s.documents[i].lengths {
				b := x.weights[f].length
				lengths[f] = 1 - b + b*float32(n)/averages[f]
			}
			all = append(all, lengths)
		}
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
