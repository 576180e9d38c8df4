package index

// vocabulary looks up terms in the base or in the delta.
type vocabulary interface {
	find(key string) (list, bool)
	// has reports whether a key is in a scope. scopeOf returns the scope of the keys with a
	// prefix; an empty scope has no keys.
	has(key []byte, in scope) bool
	scopeOf(prefix string) scope
	// each calls yield with the lists of the keys with a prefix, in order. A list is valid
	// during the call.
	each(prefix string, yield func(l *list) bool)
	// joined returns the list for all keys with a prefix, if there is one.
	joined(key string) (list, bool)
}

// segment is the base or the delta, during a search.
type segment struct {
	vocabulary
	*columns
	documents int
	dead      bitmap
	inBase    bool
	// scale adjusts the bounds of lists to the current mean length.
	scale float64

	units, boosts []foundUnit
	begun         prefixList
	scope         scope
	// hits holds the matching documents. If it is nil, the living documents of driver match.
	// Some is set if hits need not have every unit.
	hits   bitmap
	some   bool
	driver *list
}

// segments returns the parts of the index.
func (x *Index) segments() []*segment {
	var list []*segment
	if x.base != nil && x.base.Len() > 0 {
		s := &segment{vocabulary: x.base, columns: &x.base.columns, documents: x.base.Len(), inBase: true, scale: 1}
		if len(x.deads) > 0 {
			s.dead = x.dead
		}
		if own := float64(x.base.header.length) / float64(x.base.Len()); own > 0 {
			s.scale = max(1, x.mean()/own)
		}
		list = append(list, s)
	}
	if x.delta.alive > 0 {
		s := &segment{vocabulary: x.delta, columns: &x.delta.columns, documents: len(x.delta.docs), scale: 1}
		if x.delta.alive < len(x.delta.docs) {
			s.dead = x.delta.dead
		}
		list = append(list, s)
	}
	return list
}

// having counts the documents that have a term, in all segments.
func (s *search) having(key string) int {
	n := 0
	for _, seg := range s.segments {
		n += s.liveInSegment(seg, key)
	}
	return n
}

// liveInSegment counts the living documents of a segment that have a term.
func (s *search) liveInSegment(seg *segment, key string) int {
	l, ok := seg.find(key)
	if !ok {
		return 0
	}
	return s.liveInList(seg, key, &l)
}

// liveInList is livesIn for a list that was already found.
func (s *search) liveInList(seg *segment, key string, l *list) int {
	switch {
	case !seg.inBase:
		return l.live
	case len(s.x.deads) == 0:
		return l.df
	}
	return l.df - s.deadIn(key, l)
}

// deadIn counts the dead documents of the base that have a term.
func (s *search) deadIn(key string, l *list) int {
	x := s.x
	x.deadMu.Lock()
	n, ok := x.deadIn[key]
	x.deadMu.Unlock()
	if ok {
		return n
	}
	c := s.scratch.cursor(l)
	if l.df > 4*len(x.deads) {
		for _, doc := range x.deads {
			if c.seek(doc) == doc {
				n++
			}
		}
	} else {
		for b := range l.blocks() {
			c.load(b)
			for _, doc := range c.docs[:c.n] {
				if x.dead.has(doc) {
					n++
				}
			}
		}
	}
	x.deadMu.Lock()
	defer x.deadMu.Unlock()
	if len(x.deadIn) < 10_000 {
		x.deadIn[key] = n
	}
	return n
}

// lives reports whether any living document has a term.
func (s *search) lives(key string) bool {
	for _, seg := range s.segments {
		l, ok := seg.find(key)
		switch {
		case !ok:
			continue
		case !seg.inBase || len(s.x.deads) < l.df:
			return true
		}
		c := s.scratch.cursor(&l)
		for b := range l.blocks() {
			c.load(b)
			for _, doc := range c.docs[:c.n] {
				if !s.x.dead.has(doc) {
					return true
				}
			}
		}
	}
	return false
}

// scratch is the temporary memory of one search. A pool keeps it for the next.
type scratch struct {
	cursors  []*cursor
	bitmaps  []bitmap
	floats   [][]float32
	counts   []uint32
	inUse    int
	mapsUsed int
	sumsUsed int
}

func (r *scratch) cursor(l *list) *cursor {
	if r.inUse == len(r.cursors) {
		r.cursors = append(r.cursors, new(cursor))
	}
	c := r.cursors[r.inUse]
	r.inUse++
	c.reset(l)
	return c
}

// set returns an empty set of n documents.
func (r *scratch) set(n int) bitmap {
	words := (n + 63) / 64
	if r.mapsUsed == len(r.bitmaps) {
		r.bitmaps = append(r.bitmaps, nil)
	}
	b := r.bitmaps[r.mapsUsed]
	if cap(b) < words {
		b = make(bitmap, words)
	}
	b = b[:words]
	clear(b)
	r.bitmaps[r.mapsUsed] = b
	r.mapsUsed++
	return b
}

// sums returns n numbers with any value: clearing them would cost more than many
// searches.
func (r *scratch) sums(n int) []float32 {
	if r.sumsUsed == len(r.floats) {
		r.floats = append(r.floats, nil)
	}
	f := r.floats[r.sumsUsed]
	if cap(f) < n {
		f = make([]float32, n)
	}
	f = f[:n]
	r.floats[r.sumsUsed] = f
	r.sumsUsed++
	return f
}

// numbers returns n numbers with any value. There is only one such slice.
func (r *scratch) numbers(n int) []uint32 {
	if cap(r.counts) < n {
		r.counts = make([]uint32, n)
	}
	r.counts = r.counts[:n]
	return r.counts
}

// keptSets and keptCursors bound what a scratch keeps for the next search.
const keptSets, keptCursors = 16, 64

func (r *scratch) release() {
	for _, c := range r.cursors[:r.inUse] {
		c.l, c.docs, c.values, c.starts, c.where, c.rest = nil, nil, nil, nil, nil, nil
	}
	if len(r.bitmaps) > keptSets {
		r.bitmaps = r.bitmaps[:keptSets:keptSets]
	}
	if len(r.cursors) > keptCursors {
		r.cursors = r.cursors[:keptCursors:keptCursors]
	}
	if len(r.floats) > 1 {
		r.floats = r.floats[:1:1]
	}
	r.inUse, r.mapsUsed, r.sumsUsed = 0, 0, 0
}
