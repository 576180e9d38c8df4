package index

// proof tells how often a phrase stands in a document from how often its parts
// do, where that is enough: 類の設 is as often in a document as 分類の設計 is, if
// there 分類の is as often as 類の, and の設計 as の設. Then no position need be
// looked at. In real texts, too, what is beside a part is most often the same
// throughout a document.
type proof struct {
	core  *list
	steps []proofStep

	coreCursor *cursor
	cursors    [][2]*cursor
}

// proofStep is a part of a phrase and a longer one that begins or ends with it.
type proofStep struct{ part, longer list }

// charSpan is some characters of a phrase: from one up to and without another.
type charSpan struct{ from, to int }

// proofOf finds a proof for a phrase of n characters among its parts, the terms
// that all documents have that have the phrase. Nil: there is none.
func proofOf(n int, parts map[charSpan]list) *proof {
	var p proof
	var at charSpan
	for s, l := range parts {
		// The order of a map is not the same each time; the choice is.
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

// step adds a step, if both of its parts are there.
func (p *proof) step(parts map[charSpan]list, part, longer charSpan) bool {
	a, ok := parts[part]
	b, ok2 := parts[longer]
	if ok && ok2 {
		p.steps = append(p.steps, proofStep{a, b})
	}
	return ok && ok2
}

// begin makes ready to look at documents, in their order.
func (p *proof) begin(r *scratch) {
	p.coreCursor, p.cursors = r.cursor(p.core), p.cursors[:0]
	for i := range p.steps {
		p.cursors = append(p.cursors, [2]*cursor{r.cursor(&p.steps[i].part), r.cursor(&p.steps[i].longer)})
	}
}

// value is that of the phrase in a document. Not proven is that positions must
// be looked at.
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
