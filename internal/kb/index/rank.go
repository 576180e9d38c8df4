package index

import (
	"math"
	"slices"
)

// scorer scores the documents of a segment.
type scorer struct {
	seg   *segment
	norms norms
	units []scoredUnit
}

// scoredUnit is a unit with a cursor for each of its lists, or with the frequency of every
// document. It has both if some of its lists are dense.
type scoredUnit struct {
	factor  float64
	cursors []*cursor
	weights []float32
	merged  []float32
	having  bitmap
	partial bool
	dense   []int // the cursors of dense lists, if the others are merged
	// own is the number of cursors of alternatives, without those of a bonus. More is the
	// maximum factor by which a bonus multiplies the frequency.
	own  int
	more float64
	// leads is set if the unit is one list, not dense, that has every hit.
	leads  bool
	bounds []float32 // an upper bound of frequency/norm in each stretch
	// tiers are those of the dense lists, with all documents of the other lists. Limits are
	// the maximum contributions of documents in no tier, and of those not in the second.
	tiers  [tierCount]bitmap
	limits [tierCount]float64
}

func (s *search) scorer(seg *segment, p *plan) *scorer {
	sc := &scorer{seg: seg, norms: s.norms}
	add := func(units []unit, founds []foundUnit) {
		for i := range units {
			u := scoredUnit{factor: units[i].factor, merged: founds[i].merged, having: founds[i].having, partial: founds[i].partial, own: len(founds[i].alternatives), more: 1}
			if !u.complete() {
				for _, b := range founds[i].bonus {
					u.more += b.weight
				}
			}
			for _, list := range [][]found{founds[i].alternatives, founds[i].bonus} {
				for k := range list {
					if u.partial && list[k].list.dense && len(u.cursors) < u.own {
						u.dense = append(u.dense, len(u.cursors))
					}
					if !u.complete() {
						u.cursors = append(u.cursors, s.scratch.cursor(&list[k].list))
					}
					u.weights = append(u.weights, float32(list[k].weight))
				}
			}
			u.leads = u.merged == nil && u.own == 1 && !u.cursors[0].l.dense
			sc.units = append(sc.units, u)
		}
	}
	add(p.units, seg.units)
	add(p.boosts, seg.boosts)
	for i := range sc.units {
		if i >= len(p.units) || seg.some {
			sc.units[i].leads = false // a hit may lack the unit
		}
	}
	return sc
}

// frequency returns the frequency of a unit in a document: the sum of its alternatives.
// Sums always have 32 bits, and products are rounded before they are added, so that every
// code path and every processor gives the same result.
func (u *scoredUnit) frequency(doc uint32) float64 {
	if u.complete() {
		return u.mergedAt(doc)
	}
	f := float32(0)
	for k, c := range u.cursors {
		if v, ok := c.at(doc); ok {
			f += float32(u.weights[k] * float32(frequency(v)))
		}
	}
	return float64(f)
}

// complete reports whether merged covers all lists.
func (u *scoredUnit) complete() bool { return u.merged != nil && !u.partial }

func (u *scoredUnit) mergedAt(doc uint32) float64 {
	if !u.having.has(doc) {
		return 0
	}
	return float64(u.merged[doc])
}

// atMost returns an upper bound of the frequency, which costs less.
func (u *scoredUnit) atMost(doc uint32) float64 {
	if u.merged == nil {
		f := 0.0
		for k, c := range u.cursors[:u.own] {
			if v, ok := c.at(doc); ok {
				f += float64(u.weights[k]) * frequency(v)
			}
		}
		return f * u.more
	}
	f := u.mergedAt(doc)
	for _, k := range u.dense {
		if v, ok := u.cursors[k].at(doc); ok {
			f += float64(u.weights[k]) * frequency(v)
		}
	}
	return f * u.more
}

// score returns the BM25 score of a document.
func (sc *scorer) score(doc uint32) float64 {
	norm := sc.norms.at(sc.seg.length(doc))
	total := 0.0
	for i := range sc.units {
		if f := sc.units[i].frequency(doc); f > 0 {
			total += float64(sc.units[i].factor * score(f, norm))
		}
	}
	return total
}

// stretch is a part of a segment with the maximum score of its documents.
type stretch struct {
	bound float64
	at    int
}

const (
	// fewHits is the number of hits up to which all are scored.
	fewHits = 512
	// promising is the number of stretches that are examined out of order.
	promising = 24
	// slack is more than the sum of all rounding errors.
	slack = 1 + 1e-5
)

// rank offers the hits of a segment to best. If there are many, it starts with the
// stretches with the highest bounds and skips those whose bounds are too low.
func (s *search) rank(seg *segment, p *plan, best *top) {
	sc := s.scorer(seg, p)
	if seg.driver != nil {
		s.rankList(seg, sc, best)
		return
	}
	if seg.hits.count() <= fewHits {
		seg.hits.each(0, uint32(seg.documents), func(doc uint32) {
			best.offer(Hit{ID: seg.id(doc), Score: sc.score(doc)})
		})
		return
	}
	if len(sc.units) == 1 && sc.units[0].complete() {
		sc.rankMerged(best)
		return
	}
	v := s.newPruner(sc, best)
	parts := sc.stretches()
	v.seed()
	// The stretches with the highest bounds come first, until the threshold is high. The others
	// follow in order, so that each block is unpacked once.
	next := (stretchHeap{slices.Clone(parts)}).start()
	for range min(promising, len(parts)) {
		part := next.pop()
		if part.bound < best.threshold() {
			return
		}
		v.look(part.at)
		parts[part.at].bound = math.Inf(-1)
	}
	for _, part := range parts {
		if part.bound >= best.threshold() && part.bound > 0 {
			v.look(part.at)
		}
	}
}

// rankMerged ranks the documents of one unit whose frequencies are known.
func (sc *scorer) rankMerged(best *top) {
	u, seg := &sc.units[0], sc.seg
	least := 0.0
	seg.hits.each(0, uint32(seg.documents), func(doc uint32) {
		norm := sc.norms.at(seg.length(doc))
		if f := float64(u.merged[doc]); f >= least*norm {
			best.offer(Hit{ID: seg.id(doc), Score: float64(u.factor * score(f, norm))})
			least = leastRatio(best.threshold()/u.factor) / slack
		}
	})
}

// bound returns the maximum contribution of a unit in a stretch.
func (u *scoredUnit) bound(at int) float64 {
	return u.factor * score(float64(u.bounds[at]), 1) * slack
}

// stretches returns the parts of a segment with their bounds.
func (sc *scorer) stretches() []stretch {
	parts := make([]stretch, (sc.seg.documents-1)>>stretchBits+1)
	for i := range parts {
		parts[i].at = i
	}
	one := make([]float32, len(parts))
	for i := range sc.units {
		u := &sc.units[i]
		if u.bounds == nil {
			u.bounds = make([]float32, len(parts))
		}
		if u.complete() {
			u.having.each(0, uint32(sc.seg.documents), func(doc uint32) {
				at := doc >> stretchBits
				u.bounds[at] = max(u.bounds[at], u.merged[doc]/float32(sc.norms.at(sc.seg.length(doc))))
			})
		}
		for k, c := range u.cursors[:min(u.own, len(u.cursors))] {
			if u.merged != nil && !c.l.dense {
				continue
			}
			clear(one)
			sc.bounds(c, one)
			for w := range one {
				u.bounds[w] += u.weights[k] * one[w]
			}
		}
		for w := range u.bounds {
			u.bounds[w] *= float32(u.more)
		}
		for w := range parts {
			if u.bounds[w] > 0 {
				parts[w].bound += u.bound(w)
			}
		}
	}
	return parts
}

// bounds computes the largest frequency/norm of a list in each stretch.
func (sc *scorer) bounds(c *cursor, into []float32) {
	l := c.l
	from := uint32(0)
	for b := range l.blocks() {
		bound := l.bound(b)
		if bound == 0 { // unknown: there are few, or they are in memory
			c.load(b)
			for c.i = 0; c.i < c.n; c.i++ {
				doc := c.docs[c.i]
				into[doc>>stretchBits] = max(into[doc>>stretchBits], float32(frequency(c.val())/sc.norms.at(sc.seg.length(doc))))
			}
			continue
		}
		bound *= sc.seg.scale
		last := min(l.last(b), uint32(sc.seg.documents-1))
		for w := from >> stretchBits; w <= last>>stretchBits; w++ {
			into[w] = max(into[w], float32(bound))
		}
		from = last + 1
	}
}

// rankList ranks the documents of one list, block by block.
func (s *search) rankList(seg *segment, sc *scorer, best *top) {
	u := &sc.units[0]
	more := 0.0 // the maximum factor of the frequency: a bonus is part of the list
	for _, w := range u.weights {
		more += float64(w)
	}
	l := seg.driver
	c := s.scratch.cursor(l)
	blocks := make([]stretch, l.blocks())
	for b := range blocks {
		blocks[b] = stretch{at: b, bound: math.Inf(1)}
		if bound := l.bound(b); bound > 0 {
			blocks[b].bound = u.factor * score(bound*seg.scale*more, 1) * slack
		}
	}
	for next := (stretchHeap{blocks}).start(); len(next.list) > 0; {
		part := next.pop()
		if part.bound < best.threshold() {
			return
		}
		c.load(part.at)
		least := leastRatio(best.threshold()/u.factor) / more / slack
		for c.i = 0; c.i < c.n; c.i++ {
			doc := c.docs[c.i]
			if frequency(c.val()) < least*sc.norms.at(seg.length(doc)) || seg.dead.has(doc) {
				continue
			}
			before := best.threshold()
			best.offer(Hit{ID: seg.id(doc), Score: sc.score(doc)})
			if now := best.threshold(); now != before {
				least = leastRatio(now/u.factor) / more / slack
			}
		}
	}
}

// leastRatio returns the frequency/norm that a score needs.
func leastRatio(wanted float64) float64 {
	part := wanted / (saturation + 1)
	if part >= 1 || !(part > 0) {
		if part >= 1 {
			return math.MaxFloat64
		}
		return 0
	}
	return part / (1 - part)
}
