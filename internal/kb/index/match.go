package index

import "slices"

// foundUnit is a unit of the query in a segment.
type foundUnit struct {
	alternatives, bonus []found
	size                int // of its lists, about
}

// found is an alternative in a segment. One that is not there has no lists.
type found struct {
	key    string // of a single term
	list   list
	weight float64
	// pairs are the lists of a phrase; list is filled when it is looked for.
	pairs   []list
	offsets []uint32
}

// resolve looks up the terms of a plan.
func (s *search) resolve(seg *segment, p *plan) {
	seg.hits, seg.driver = nil, nil
	seg.units, seg.boosts = seg.units[:0], seg.boosts[:0]
	for i := range p.units {
		seg.units = append(seg.units, s.resolveUnit(seg, &p.units[i]))
	}
	for i := range p.boosts {
		seg.boosts = append(seg.boosts, s.resolveUnit(seg, &p.boosts[i]))
	}
}

func (s *search) resolveUnit(seg *segment, u *unit) foundUnit {
	var f foundUnit
	for _, a := range u.alternatives {
		if at, ok := s.resolveOne(seg, a); ok {
			f.alternatives = append(f.alternatives, at)
			f.size += at.size()
		}
	}
	for _, a := range u.bonus {
		if at, ok := s.resolveOne(seg, a); ok {
			f.bonus = append(f.bonus, at)
		}
	}
	return f
}

func (s *search) resolveOne(seg *segment, a alternative) (found, bool) {
	f := found{weight: a.weight}
	for _, key := range a.keys {
		l, ok := seg.find(key)
		if !ok {
			return found{}, false
		}
		if len(a.keys) == 1 {
			f.key, f.list = key, l
		} else {
			f.pairs = append(f.pairs, l)
		}
	}
	f.offsets = a.offsets
	return f, true
}

func (f *found) size() int {
	if f.pairs == nil {
		return f.list.df
	}
	least := f.pairs[0].df
	for i := range f.pairs {
		least = min(least, f.pairs[i].df)
	}
	return least
}

// match finds the documents of a segment that have all units and pass the
// filters, and counts them.
func (s *search) match(seg *segment) int {
	for i := range seg.units {
		if len(seg.units[i].alternatives) == 0 {
			seg.hits = s.room.set(seg.documents)
			return 0
		}
	}
	if len(seg.units) == 1 && len(seg.units[0].alternatives) == 1 && !s.filtered() {
		return s.matchOne(seg)
	}
	order := make([]*foundUnit, len(seg.units))
	for i := range seg.units {
		order[i] = &seg.units[i]
	}
	slices.SortStableFunc(order, func(a, b *foundUnit) int { return a.size - b.size })
	for i, u := range order {
		if i == 0 {
			seg.hits = s.mark(seg, u, nil)
			continue
		}
		seg.hits.and(s.mark(seg, u, seg.hits))
	}
	s.filter(seg)
	return seg.hits.count()
}

// matchOne is a query of one list: what it has is known without a walk.
func (s *search) matchOne(seg *segment) int {
	a := &seg.units[0].alternatives[0]
	if a.pairs == nil {
		seg.driver = &a.list
		return s.livesIn(seg, a.key)
	}
	s.verify(seg, a, nil)
	seg.driver = &a.list
	n := 0
	for _, doc := range a.list.docs {
		if !seg.dead.has(doc) {
			n++
		}
	}
	return n
}

// mark is the set of documents that have a unit. If few can matter, those of
// within, only they are looked at.
func (s *search) mark(seg *segment, u *foundUnit, within bitmap) bitmap {
	set := s.room.set(seg.documents)
	few := within != nil && within.count()*25*len(u.alternatives) < u.size
	for i := range u.alternatives {
		a := &u.alternatives[i]
		switch {
		case a.pairs != nil:
			s.verify(seg, a, within)
			for _, doc := range a.list.docs {
				set.set(doc)
			}
		case few:
			c := s.room.cursor(&a.list)
			within.each(0, uint32(seg.documents), func(doc uint32) {
				if c.seek(doc) == doc {
					set.set(doc)
				}
			})
		default:
			s.room.cursor(&a.list).mark(&a.list, set)
		}
	}
	return set
}

// verify finds a phrase: documents where its pairs stand at the right distance.
// What it finds becomes the alternative's list.
func (s *search) verify(seg *segment, a *found, within bitmap) {
	lead := 0
	cursors := make([]*cursor, len(a.pairs))
	for i := range a.pairs {
		cursors[i] = s.room.cursor(&a.pairs[i])
		if a.pairs[i].df < a.pairs[lead].df {
			lead = i
		}
	}
	out := list{plain: true, documents: uint32(seg.documents)}
	try := func(doc uint32) {
		for i, c := range cursors {
			if i != lead && c.seek(doc) != doc {
				return
			}
		}
		if count, head := phrases(cursors, a.offsets, lead, seg.head(doc)); count > 0 {
			out.docs = append(out.docs, doc)
			out.values = append(out.values, value(count, head))
		}
	}
	c := cursors[lead]
	if within != nil && within.count()*4 < c.l.df {
		within.each(0, uint32(seg.documents), func(doc uint32) {
			if c.seek(doc) == doc {
				try(doc)
			}
		})
	} else {
		for b := range c.l.blocks() {
			c.load(b)
			for c.i = 0; c.i < c.n; c.i++ {
				if doc := c.docs[c.i]; within == nil || within.has(doc) {
					try(doc)
				}
			}
		}
	}
	out.df = len(out.docs)
	a.list = out
}

// phrases counts the places where all pairs stand at their offsets, in the
// document where the cursors are, and says whether one is in the head.
func phrases(cursors []*cursor, offsets []uint32, lead int, headEnd uint32) (count int, head bool) {
	var room [8][]uint32
	places := room[:0]
	for _, c := range cursors {
		places = append(places, c.places())
	}
next:
	for _, p := range places[lead] {
		if p < offsets[lead] {
			continue // the phrase would begin before the document
		}
		start := p - offsets[lead]
		for i, list := range places {
			if i == lead {
				continue
			}
			want := start + offsets[i]
			for len(list) > 0 && list[0] < want {
				list = list[1:]
			}
			places[i] = list
			if len(list) == 0 {
				return count, head
			}
			if list[0] != want {
				continue next
			}
		}
		count++
		head = head || start < headEnd
	}
	return count, head
}

// filtered tells whether the query has a filter.
func (s *search) filtered() bool {
	return len(s.q.Types) > 0 || len(s.q.Statuses) > 0 || len(s.q.Tags) > 0 || s.q.UpdatedFrom != 0 || s.q.UpdatedTo != 0
}

// filter takes the dead out of the hits, and what the query's filters refuse.
func (s *search) filter(seg *segment) {
	seg.hits.without(seg.dead)
	kinds := func(wanted, names []string, status bool) {
		if len(wanted) == 0 {
			return
		}
		allowed := s.room.set(seg.documents)
		for i, name := range names {
			if slices.Contains(wanted, name) {
				allowed.or(seg.ofKind(kindKey{status, uint32(i)}))
			}
		}
		seg.hits.and(allowed)
	}
	kinds(s.q.Types, seg.typeNames, false)
	kinds(s.q.Statuses, seg.columns.states, true)
	if len(s.q.Tags) > 0 {
		allowed := s.room.set(seg.documents)
		for _, tag := range s.q.Tags {
			if l, ok := seg.find(string(tagTerm) + tag); ok {
				s.room.cursor(&l).mark(&l, allowed)
			}
		}
		seg.hits.and(allowed)
	}
	if from, to := s.q.UpdatedFrom, s.q.UpdatedTo; from != 0 || to != 0 {
		seg.hits.each(0, uint32(seg.documents), func(doc uint32) {
			if at := seg.changed(doc); at < from || to != 0 && at > to {
				seg.hits.unset(doc)
			}
		})
	}
}
