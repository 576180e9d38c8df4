package index

import "slices"

// verify finds the documents that have the pairs of a phrase at the right distances. The
// result becomes the alternative's list.
func (s *search) verify(seg *segment, a *found, within bitmap) {
	base, _ := seg.vocabulary.(*Base)
	if base != nil {
		if l, ok := base.kept.get(a.key); ok {
			a.list = l
			return
		}
	}
	if a.kana != "" && s.joinKana(seg, a) {
		return // too cheap to be cached
	}
	var v verifier
	for i := range a.pairs {
		v.pairs = append(v.pairs, verifiedPair{s.scratch.cursor(&a.pairs[i]), a.offsets[i]})
	}
	slices.SortStableFunc(v.pairs, func(x, y verifiedPair) int { return x.l.df - y.l.df })
	if v.proof = a.proof; v.proof != nil {
		v.proof.begin(s.scratch)
	}
	v.out = list{plain: true, documents: uint32(seg.documents)}
	few := within != nil && within.count()*4 < a.size()
	until := uint32(seg.documents) // from this document on the result is known
	if a.whole.since > 0 {
		until = min(until, a.whole.since)
	}
	if rarest := a.rarest(); !few && rarest.df < seg.documents/fewCandidates {
		c := s.scratch.cursor(rarest)
		for doc := c.seek(0); doc < until; doc = c.next() {
			v.try(seg, doc)
		}
	} else {
		set := s.candidates(seg, a)
		if few {
			set.and(within)
		}
		set.each(0, until, func(doc uint32) { v.try(seg, doc) })
	}
	if a.whole.list.df > 0 {
		c := s.scratch.cursor(&a.whole.list)
		for doc := c.seek(until); doc != nowhere; doc = c.next() {
			v.out.docs, v.out.values = append(v.out.docs, doc), append(v.out.values, c.val())
		}
	}
	if base != nil && !few {
		base.kept.put(a.key, &v.out, a.size())
	}
	v.out.df = len(v.out.docs)
	a.list = v.out
}

// fewCandidates is the size of a rare part: a phrase with a rarer part is verified in the
// documents of that part. Otherwise the documents that have all parts are found first.
const fewCandidates = 128

// candidates returns the documents that have all parts of a phrase.
func (s *search) candidates(seg *segment, a *found) bitmap {
	set := s.scratch.set(seg.documents)
	c := s.scratch.cursor(nil)
	rarest := a.rarest()
	c.mark(rarest, set)
	one := s.scratch.set(seg.documents)
	// Dense lists are cheap; the others pay off while there are many candidates.
	for _, dense := range []bool{true, false} {
		narrow := func(l *list, since uint32) {
			cheap := l.dense && since == 0
			switch {
			case l == rarest || cheap != dense:
			case cheap:
				set.andList(l)
			case set.count() > l.df/worthToMark:
				clear(one)
				c.mark(l, one)
				for doc := range min(since, uint32(seg.documents)) {
					one.set(doc)
				}
				set.and(one)
			}
		}
		for i := range a.pairs {
			narrow(&a.pairs[i], 0)
		}
		for i := range a.parts {
			narrow(&a.parts[i].list, a.parts[i].since)
		}
	}
	return set
}

// worthToMark is the cost of verifying a phrase in a document, relative to marking a
// document of a list.
const worthToMark = 64

// mostKana is the maximum number of katakana words that are joined. If more words begin
// with the query, its pairs are verified.
const mostKana = 512

// joinKana finds a katakana word by the terms that begin with it. The result is the same
// as verifying its pairs. It returns false if there are too many terms.
func (s *search) joinKana(seg *segment, a *found) bool {
	n := 0
	seg.each(string(kanaTerm)+a.kana, func(*list) bool {
		n++
		return n <= mostKana
	})
	if n > mostKana {
		return false
	}
	a.list = s.join(seg, string(kanaTerm)+a.kana)
	return true
}

// verifier looks for the pairs of a phrase, document by document.
type verifier struct {
	pairs  []verifiedPair // the rarest first
	starts []uint32       // possible starts of the phrase in the document
	proof  *proof
	out    list
}

type verifiedPair struct {
	*cursor
	offset uint32
}

// try examines a document. Usually one of the first pairs excludes the phrase, and the
// others are not read.
func (v *verifier) try(seg *segment, doc uint32) {
	if v.proof != nil {
		if value, ok := v.proof.value(doc); ok {
			v.out.docs, v.out.values = append(v.out.docs, doc), append(v.out.values, value)
			return
		}
	}
	v.starts = v.starts[:0]
	for i, p := range v.pairs {
		if !p.stand(doc) {
			return
		}
		if i > 0 {
			v.starts = startsWith(v.starts, p.places(), p.offset)
		} else {
			for _, at := range p.places() {
				if at >= p.offset { // otherwise the phrase would begin before the document
					v.starts = append(v.starts, at-p.offset)
				}
			}
		}
		if len(v.starts) == 0 {
			return
		}
	}
	v.out.docs = append(v.out.docs, doc)
	v.out.values = append(v.out.values, value(len(v.starts), v.starts[0] < seg.head(doc)))
}

// startsWith keeps the starts that have a pair at the offset.
func startsWith(starts, places []uint32, offset uint32) []uint32 {
	n, i := 0, 0
	for _, start := range starts {
		for i < len(places) && places[i] < start+offset {
			i++
		}
		if i == len(places) {
			break
		}
		if places[i] == start+offset {
			starts[n] = start
			n++
		}
	}
	return starts[:n]
}
