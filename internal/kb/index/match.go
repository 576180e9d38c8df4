package index

import (
	"slices"
	"strings"
	"unicode/utf8"
)

// foundUnit is a unit of the query with its lists in a segment.
type foundUnit struct {
	alternatives, bonus []found
	size                int // approximate size of its lists
	// merged holds the summed frequencies of the documents in having, for a unit with many
	// lists. Partial is set if dense lists are left out of it.
	merged  []float32
	having  bitmap
	partial bool
}

// found is an alternative in a segment. A missing alternative has no lists.
type found struct {
	key    string // the key of the term, or the pairs of the phrase
	list   list
	weight float64
	// pairs are the lists of a phrase. The search for the phrase fills list.
	pairs   []list
	offsets []uint32
	kana    string
	// parts are further conditions for a document with the phrase: the other pairs, and the
	// longer parts that are terms, each from a document on.
	parts []part
	// whole is the phrase itself, if it is a term from a document on. In earlier documents the
	// phrase must be verified.
	whole part
	// proof may tell how often a document has the phrase. It may be nil.
	proof *proof
}

type part struct {
	list  list
	since uint32
}

// resolve looks up the terms of a plan.
func (s *search) resolve(seg *segment, p *plan) {
	seg.hits, seg.driver, seg.some = nil, nil, false
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
	if a.begins != "" {
		f.key, f.list = string(beginTerm)+a.begins, s.beginning(seg, a.begins)
		return f, f.list.df > 0
	}
	lists := make([]list, len(a.keys))
	for i, key := range a.keys {
		l, ok := seg.find(key)
		if !ok {
			return found{}, false
		}
		lists[i] = l
	}
	if len(lists) == 1 {
		f.key, f.list = a.keys[0], lists[0]
		return f, true
	}
	f.key, f.kana = strings.Join(a.keys, ""), a.kana
	if base, ok := seg.vocabulary.(*Base); ok {
		if since, ok := base.grams.find(a.text); ok {
			l, there := seg.find(string(gramTerm) + a.text)
			if since == 0 {
				f.key, f.list = string(gramTerm)+a.text, l
				return f, there
			}
			f.whole = part{l, since}
		}
		if a.kana != "" {
			if l, ok := base.joined(string(kanaTerm) + a.kana); ok {
				f.list = l
				return f, l.df > 0
			}
		}
		if !f.useGrams(base, a.text, lists) {
			return found{}, false
		}
	}
	chosen := cover(lists)
	for i := range lists {
		if slices.Contains(chosen, i) {
			f.pairs = append(f.pairs, lists[i])
			f.offsets = append(f.offsets, uint32(i))
		} else {
			f.parts = append(f.parts, part{list: lists[i]})
		}
	}
	return f, true
}

// useGrams finds the parts of a phrase that are terms, and a proof. It returns false if no
// document has one of the parts.
func (f *found) useGrams(base *Base, text string, pairs []list) bool {
	parts := map[charSpan]list{}
	first := 0 // index of the first character
	for from := range text {
		n := 0
		for at, r := range text[from:] {
			if n++; n < 3 {
				continue
			}
			run := text[from : from+at+utf8.RuneLen(r)]
			since, ok := base.grams.find(run)
			if !ok {
				break
			}
			l, ok := base.find(string(gramTerm) + run)
			switch {
			case ok:
				f.parts = append(f.parts, part{l, since})
				if since == 0 {
					parts[charSpan{first, first + n}] = l
				}
			case since == 0:
				return false
			}
		}
		first++
	}
	if len(parts) == 0 {
		return true // pairs alone prove nothing
	}
	for i := range pairs {
		parts[charSpan{i, i + 2}] = pairs[i]
	}
	f.proof = proofOf(first, parts)
	return true
}

// cover chooses the pairs of a phrase to look at. They cover every character, their lists
// are short in total, and a pair that is far rarer than the others is among them.
func cover(lists []list) []int {
	type step struct{ cost, before int }
	// best[i] is the best choice that ends with pair i.
	best := make([]step, len(lists))
	rarest := 0
	for i := range lists {
		best[i] = step{lists[i].df, -1}
		switch {
		case i == 1 || i > 1 && best[i-1].cost < best[i-2].cost:
			best[i] = step{lists[i].df + best[i-1].cost, i - 1}
		case i > 1:
			best[i] = step{lists[i].df + best[i-2].cost, i - 2}
		}
		if lists[i].df < lists[rarest].df {
			rarest = i
		}
	}
	var chosen []int
	least := lists[len(lists)-1].df
	for i := len(lists) - 1; i >= 0; i = best[i].before {
		chosen = append(chosen, i)
		least = min(least, lists[i].df)
	}
	if lists[rarest].df < least/2 {
		chosen = append(chosen, rarest)
	}
	slices.Sort(chosen)
	return chosen
}

// size returns the maximum number of documents that have the alternative.
func (f *found) size() int {
	if f.pairs == nil {
		return f.list.df
	}
	return f.rarest().df
}

// rarest returns the shortest list of a phrase.
func (f *found) rarest() *list {
	rarest := &f.pairs[0]
	for i := range f.pairs {
		if f.pairs[i].df < rarest.df {
			rarest = &f.pairs[i]
		}
	}
	for i := range f.parts {
		if p := &f.parts[i]; p.since == 0 && p.list.df < rarest.df {
			rarest = &p.list
		}
	}
	return rarest
}

// match finds the documents of a segment that have all units and match the filters, and
// counts them.
func (s *search) match(seg *segment) int {
	for i := range seg.units {
		if len(seg.units[i].alternatives) == 0 {
			seg.hits = s.scratch.set(seg.documents)
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
		if seg.hits.count() == 0 {
			return 0
		}
		if len(u.alternatives) == 1 && u.alternatives[0].list.dense {
			seg.hits.andList(&u.alternatives[0].list)
			continue
		}
		seg.hits.and(s.mark(seg, u, seg.hits))
	}
	s.filter(seg)
	return seg.hits.count()
}

// matchOne answers a query of one list. It needs no walk.
func (s *search) matchOne(seg *segment) int {
	a := &seg.units[0].alternatives[0]
	if a.pairs == nil {
		seg.driver = &a.list
		return s.liveInList(seg, a.key, &a.list)
	}
	s.verify(seg, a, nil)
	seg.driver = &a.list
	if len(seg.dead) == 0 {
		return a.list.df
	}
	n := 0
	for _, doc := range a.list.docs {
		if !seg.dead.has(doc) {
			n++
		}
	}
	return n
}

// mark returns the set of documents that have a unit. If within is small, it examines only
// the documents of within.
func (s *search) mark(seg *segment, u *foundUnit, within bitmap) bitmap {
	set := s.scratch.set(seg.documents)
	few := within != nil && within.count()*25*len(u.alternatives) < u.size
	if !few && len(u.alternatives) > mostCursors {
		s.merge(seg, u, set, within)
		return set
	}
	for i := range u.alternatives {
		a := &u.alternatives[i]
		switch {
		case a.pairs != nil:
			s.verify(seg, a, within)
			for _, doc := range a.list.docs {
				set.set(doc)
			}
		case few && !a.list.dense:
			c := s.scratch.cursor(&a.list)
			within.each(0, uint32(seg.documents), func(doc uint32) {
				if c.seek(doc) == doc {
					set.set(doc)
				}
			})
		default:
			s.scratch.cursor(nil).mark(&a.list, set)
		}
	}
	return set
}

// mostCursors is the maximum number of lists of a unit that are walked in parallel. The
// frequencies of more lists are summed beforehand.
const mostCursors = 1

// merge marks the documents of a unit and sums their frequencies. It does not walk dense
// lists: their frequencies are looked up for documents that may win.
func (s *search) merge(seg *segment, u *foundUnit, set, within bitmap) {
	sums, having := s.scratch.sums(seg.documents), s.scratch.set(seg.documents)
	c := s.scratch.cursor(nil)
	add := func(a *found) {
		c.reset(&a.list)
		weight := float32(a.weight)
		for b := range a.list.blocks() {
			c.load(b)
			if c.n == 0 {
				continue
			}
			c.val()
			for i, doc := range c.docs[:c.n] {
				f := float32(weight * float32(frequency(c.values[i])))
				if having.has(doc) { // otherwise the value is left from another search
					f += sums[doc]
				}
				sums[doc] = f
				having.set(doc)
			}
		}
	}
	for i := range u.alternatives {
		a := &u.alternatives[i]
		if a.pairs != nil {
			s.verify(seg, a, within)
		}
		if a.list.dense {
			u.partial = true
			set.orList(&a.list)
		}
	}
	for i := range u.alternatives {
		if !u.alternatives[i].list.dense {
			add(&u.alternatives[i])
		}
	}
	for i := range u.bonus {
		if !u.partial {
			add(&u.bonus[i])
		}
	}
	set.or(having)
	u.merged, u.having = sums, having
}

// filtered reports whether the query has a filter.
func (s *search) filtered() bool {
	return len(s.q.Types) > 0 || len(s.q.Statuses) > 0 || len(s.q.Tags) > 0 || s.q.UpdatedFrom != 0 || s.q.UpdatedTo != 0
}

// filter removes dead documents and those that do not match the filters from the hits.
func (s *search) filter(seg *segment) {
	seg.hits.without(seg.dead)
	only := func(kind string, names []string) {
		if len(names) == 0 {
			return
		}
		allowed := s.scratch.set(seg.documents)
		for _, name := range names {
			if l, ok := seg.find(kind + name); ok {
				s.scratch.cursor(nil).mark(&l, allowed)
			}
		}
		seg.hits.and(allowed)
	}
	only(string(typeTerm), s.q.Types)
	only(string(stateTerm), s.q.Statuses)
	only(string(tagTerm), s.q.Tags)
	if from, to := s.q.UpdatedFrom, s.q.UpdatedTo; from != 0 || to != 0 {
		seg.hits.each(0, uint32(seg.documents), func(doc uint32) {
			if at := seg.changed(doc); at < from || to != 0 && at > to {
				seg.hits.unset(doc)
			}
		})
	}
}
