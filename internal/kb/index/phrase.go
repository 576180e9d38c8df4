package index

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
	v := verifier{offsets: a.offsets, cursors: make([]*cursor, len(a.pairs)), places: make([][]uint32, len(a.pairs))}
	for i := range a.pairs {
		v.cursors[i] = s.room.cursor(&a.pairs[i])
		if a.pairs[i].df < a.pairs[v.lead].df {
			v.lead = i
		}
	}
	if v.proof = a.proof; v.proof != nil {
		v.proof.begin(s.room)
	}
	v.out = list{plain: true, documents: uint32(seg.documents)}
	few := within != nil && within.count()*4 < a.size()
	if rarest := a.rarest(); !few && rarest.df < seg.documents/fewCandidates {
		c := s.room.cursor(rarest)
		for doc := c.seek(0); doc != nowhere; doc = c.next() {
			v.try(seg, doc)
		}
	} else {
		set := s.candidates(seg, a)
		if few {
			set.and(within)
		}
		set.each(0, uint32(seg.documents), func(doc uint32) { v.try(seg, doc) })
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
	set := s.room.set(seg.documents)
	c := s.room.cursor(nil)
	rarest := a.rarest()
	c.mark(rarest, set)
	one := s.room.set(seg.documents)
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
	cursors []*cursor
	offsets []uint32
	lead    int // the rarest pair
	places  [][]uint32
	proof   *proof
	out     list
}

// try looks at a document.
func (v *verifier) try(seg *segment, doc uint32) {
	if v.proof != nil {
		if value, ok := v.proof.value(doc); ok {
			v.out.docs, v.out.values = append(v.out.docs, doc), append(v.out.values, value)
			return
		}
	}
	for _, c := range v.cursors {
		if !c.stand(doc) {
			return
		}
	}
	if len(v.cursors) == 2 {
		c, other := v.cursors[v.lead], v.cursors[1-v.lead]
		v.found(seg, doc, twoPlaces(c.places(), other.places(), v.offsets[v.lead], v.offsets[1-v.lead]))
		return
	}
	for i, c := range v.cursors {
		v.places[i] = c.places()
	}
	v.found(seg, doc, v.allPlaces())
}

// standing is how often a phrase stands in a document, and where it does first.
type standing struct {
	count int
	first uint32
}

func (v *verifier) found(seg *segment, doc uint32, at standing) {
	if at.count > 0 {
		v.out.docs = append(v.out.docs, doc)
		v.out.values = append(v.out.values, value(at.count, at.first < seg.head(doc)))
	}
}

// twoPlaces counts the places where two pairs stand at their offsets.
func twoPlaces(lead, other []uint32, offset, otherOffset uint32) standing {
	var s standing
	i := 0
	for _, p := range lead {
		if p < offset {
			continue // the phrase would begin before the document
		}
		start := p - offset
		want := start + otherOffset
		for i < len(other) && other[i] < want {
			i++
		}
		if i == len(other) {
			break
		}
		if other[i] == want {
			if s.count == 0 {
				s.first = start
			}
			s.count++
		}
	}
	return s
}

// allPlaces is the same for more than two.
func (v *verifier) allPlaces() standing {
	var s standing
next:
	for _, p := range v.places[v.lead] {
		if p < v.offsets[v.lead] {
			continue
		}
		start := p - v.offsets[v.lead]
		for i, list := range v.places {
			if i == v.lead {
				continue
			}
			want := start + v.offsets[i]
			for len(list) > 0 && list[0] < want {
				list = list[1:]
			}
			v.places[i] = list
			if len(list) == 0 {
				return s
			}
			if list[0] != want {
				continue next
			}
		}
		if s.count == 0 {
			s.first = start
		}
		s.count++
	}
	return s
}
