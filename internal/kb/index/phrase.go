package index

import "slices"

// verify finds a phrase: documents where its pairs stand at the right distance.
// What it finds becomes the alternative's list.
func (s *search) verify(seg *segment, a *found, within bitmap) {
	base, _ := seg.vocabulary.(*Base)
	if base != nil {
		if l, ok := base.kept.get(a.key); ok {
			a.list = l
			return
		}
	}
	if a.kana != "" && s.joinKana(seg, a) {
		return // cheap enough not to be kept
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
	until := uint32(seg.documents) // from there on it is known
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

// fewCandidates: where a phrase has a part that is rarer than this, it is looked
// for where that is; else first those are found that have all parts.
const fewCandidates = 128

// candidates is the documents that have all parts of a phrase.
func (s *search) candidates(seg *segment, a *found) bitmap {
	set := s.scratch.set(seg.documents)
	c := s.scratch.cursor(nil)
	rarest := a.rarest()
	c.mark(rarest, set)
	one := s.scratch.set(seg.documents)
	// What is dense is cheap; the others are worth it while there are many.
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

// worthToMark is how many times more it costs to look for a phrase in a document
// than to mark one of a list.
const worthToMark = 64

// mostKana is how many katakana words are joined; where more begin with the
// query, its pairs are verified.
const mostKana = 512

// joinKana finds a katakana word by the terms that begin with it, which gives
// the same as verifying its pairs. False says that there are too many.
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
	starts []uint32       // where the phrase may begin in the document
	proof  *proof
	out    list
}

type verifiedPair struct {
	*cursor
	offset uint32
}

// try looks at a document. Most often one of the first pairs tells that the
// phrase is not there, and the others are not looked at.
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
				if at >= p.offset { // else the phrase would begin before the document
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

// startsWith leaves those of some starts that have a pair at its offset.
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
