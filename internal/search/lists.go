package search

import (
	"slices"
	"sync/atomic"
)

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
	x.amounts = make([]atomic.Pointer[[]entry], len(x.words.list))
	x.factors = make([]float32, x.count<<fieldBits)
	for i, s := range x.segments {
		factors := x.factors[x.firsts[i]<<fieldBits:]
		for d := range s.documents {
			for f, n := range s.documents[d].lengths {
				w := x.weights[f]
				factors[d<<fieldBits+f] = w.boost / (1 - w.length + w.length*float32(n)/averages[f])
			}
		}
	}
}

// entry is a document and how much it has of something.
type entry struct {
	document uint32
	amount   float32
}

// having are the documents that have a word. They are collected by the search
// that first asks for them: most words are never asked for, and to do it for all
// would make each change of a server wait.
func (x *Index) having(word uint32) []entry {
	if word == noWord {
		return nil
	}
	if known := x.amounts[word].Load(); known != nil {
		return *known
	}
	list := make([]entry, 0, x.documents[word])
	for _, r := range x.lists[word] {
		first, factors := x.firsts[r.segment], x.factors[x.firsts[r.segment]<<fieldBits:]
		for i, p := range x.segments[r.segment].postings[r.from:r.to] {
			document := first + p.doc()
			if i == 0 || list[len(list)-1].document != document {
				list = append(list, entry{document: document})
			}
			list[len(list)-1].amount += p.count() * factors[p.place()]
		}
	}
	x.amounts[word].Store(&list)
	return list
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
