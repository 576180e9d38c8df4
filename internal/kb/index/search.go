package index

import (
	"math/bits"
	"slices"
)

// search is one running search.
type search struct {
	x         *Index
	q         Query
	scratch   *scratch
	segments  []*segment
	documents int
	norms     norms
}

// Search finds documents. It waits only for Apply.
func (x *Index) Search(q Query) Result {
	x.mu.RLock()
	defer x.mu.RUnlock()
	memory := x.scratch.Get().(*scratch) // it has nothing else
	defer func() {
		memory.release()
		x.scratch.Put(memory)
	}()
	if q.Limit <= 0 {
		q.Limit = 20
	}
	q.Offset = max(0, q.Offset)
	s := &search{x: x, q: q, scratch: memory, segments: x.segments(), documents: x.documents(), norms: normsAt(x.mean())}
	return s.run()
}

// run tries the query with unknown words corrected, then with its runs split, then with as
// many of its words as any document has.
func (s *search) run() Result {
	folded := Fold(s.q.Text)
	list := piecesOf(folded)
	p := s.plan(folded, list)
	r := Result{Words: len(p.units), Text: p.text}
	if len(p.units) == 0 || len(s.segments) == 0 {
		return r
	}
	total, had, match := s.matchAll(&p), len(p.units), All
	if p.near {
		match = Near
	}
	if total == 0 {
		if split := splitScripts(list); !slices.Equal(split, list) {
			p = s.plan(folded, split)
			total, had, match = s.matchAll(&p), len(p.units), Near
		}
	}
	if total == 0 && len(p.units) > 1 {
		match = Some
		total, had = s.matchMost(&p)
	}
	if total == 0 {
		return r
	}
	r = Result{Total: total, Match: match, Words: len(p.units), Had: had, Text: p.text}
	best := top{limit: min(s.q.Offset+s.q.Limit, r.Total)}
	for _, seg := range s.segments {
		s.rank(seg, &p, &best)
	}
	hits := best.sorted()
	r.Hits = slices.Clip(hits[min(s.q.Offset, len(hits)):])
	return r
}

// matchAll finds the documents that have all words, in every segment.
func (s *search) matchAll(p *plan) int {
	total := 0
	for _, seg := range s.segments {
		s.resolve(seg, p)
		total += s.match(seg)
	}
	return total
}

// matchMost finds the documents that have the most words, and returns that number.
func (s *search) matchMost(p *plan) (total, had int) {
	// The number of words of each document is in binary: one set for each digit.
	digits := bits.Len(uint(len(p.units)))
	counts := make([][]bitmap, len(s.segments))
	for i, seg := range s.segments {
		s.resolve(seg, p)
		counts[i] = make([]bitmap, digits)
		for d := range counts[i] {
			counts[i][d] = s.scratch.set(seg.documents)
		}
		for u := range seg.units {
			carry := s.mark(seg, &seg.units[u], nil)
			for _, digit := range counts[i] {
				for w := range carry {
					digit[w], carry[w] = digit[w]^carry[w], digit[w]&carry[w]
				}
			}
		}
	}
	for _, seg := range s.segments {
		seg.driver, seg.hits, seg.some = nil, s.scratch.set(seg.documents), true
		for w := range seg.hits {
			seg.hits[w] = ^uint64(0)
		}
		if extra := seg.documents & 63; extra != 0 {
			seg.hits[len(seg.hits)-1] = 1<<extra - 1
		}
		s.filter(seg)
	}
	for d := digits - 1; d >= 0; d-- {
		n := 0
		narrowed := make([]bitmap, len(s.segments))
		for i, seg := range s.segments {
			narrowed[i] = counts[i][d] // it is not used again
			narrowed[i].and(seg.hits)
			n += narrowed[i].count()
		}
		if n == 0 {
			continue // no document has this digit
		}
		had, total = had|1<<d, n
		for i, seg := range s.segments {
			seg.hits = narrowed[i]
		}
	}
	return total, had
}
