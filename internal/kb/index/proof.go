package index

// proof derives the number of occurrences of a phrase from those of its parts, where
// possible: 類の設 occurs as often in a document as 分類の設計 does, if 分類の occurs there
// as often as 類の, and の設計 as often as の設. Then no positions are needed. In real
// texts, too, the neighbours of a part are usually the same throughout a document.
type proof struct {
	core  *list
	steps []proofStep

	coreCursor *cursor
	cursors    [][2]*cursor
}

// proofStep is a part of a phrase and a longer part that begins or ends with it.
type proofStep struct{ part, longer list }

// charSpan is a range of characters of a phrase. The end is exclusive.
type charSpan struct{ from, to int }

// proofOf returns a proof for a phrase of n characters, or nil if there is none. Parts are
// the terms that every document with the phrase has.
func proofOf(n int, parts map[charSpan]list) *proof {
	var p proof
	var at charSpan
	for s, l := range parts {
		// The order of a map is random, but the choice must not be.
		if p.core == nil || l.df < p.core.df || l.df == p.core.df && s.from < at.from || l.df == p.core.df && s.from == at.from && s.to < at.to {
			at, p.core = s, &l
		}
	}
	if p.core == nil {
		return nil
	}
	for at.to < n {
		longer, ok := charSpan{}, false
		for k := at.from; k <= at.to-2 && !ok; k++ {
			longer, ok = charSpan{k, at.to + 1}, p.step(parts, charSpan{k, at.to}, charSpan{k, at.to + 1})
		}
		if !ok {
			return nil
		}
		at.to = longer.to
	}
	for at.from > 0 {
		ok := false
		for k := at.to; k >= at.from+2 && !ok; k-- {
			ok = p.step(parts, charSpan{at.from, k}, charSpan{at.from - 1, k})
		}
		if !ok {
			return nil
		}
		at.from--
	}
	return &p
}

// step adds a step, if both of its parts exist.
func (p *proof) step(parts map[charSpan]list, part, longer charSpan) bool {
	a, ok := parts[part]
	b, ok2 := parts[longer]
	if ok && ok2 {
		p.steps = append(p.steps, proofStep{a, b})
	}
	return ok && ok2
}

// begin prepares to examine documents in order.
func (p *proof) begin(r *scratch) {
	p.coreCursor, p.cursors = r.cursor(p.core), p.cursors[:0]
	for i := range p.steps {
		p.cursors = append(p.cursors, [2]*cursor{r.cursor(&p.steps[i].part), r.cursor(&p.steps[i].longer)})
	}
}

// value returns the value of the phrase in a document. If it is not proven, positions must
// be read.
func (p *proof) value(doc uint32) (v uint32, proven bool) {
	v, ok := p.coreCursor.at(doc)
	if !ok {
		return 0, false
	}
	for _, c := range p.cursors {
		part, ok := c[0].at(doc)
		longer, ok2 := c[1].at(doc)
		if !ok || !ok2 || countOf(part) != countOf(longer) {
			return 0, false
		}
	}
	return v, true
}
