package index

import (
	"cmp"
	"math"
	"math/bits"
	"slices"
)

// pruner selects the hits of a stretch that may be among the best: 64 documents at a time by
// their tiers, then one by one.
type pruner struct {
	sc   *scorer
	best *top
	// units are ordered by their maximum contribution: after the first, most documents cannot
	// win.
	units []*scoredUnit
	// limits are the maximum contributions of a document of the stretch by its tier. Most and
	// least are the sums of the highest and of the lowest limits of a unit and those after it.
	limits      [][tierCount + 1]float64
	most, least []float64
	// lead is the first unit, if it is one list that is not dense and has every hit. Then that
	// list is walked, which is faster than a lookup for each hit.
	lead *scoredUnit
}

func (s *search) newPruner(sc *scorer, best *top) *pruner {
	n := len(sc.units)
	v := &pruner{
		sc: sc, best: best, units: make([]*scoredUnit, n), limits: make([][tierCount + 1]float64, n),
		most: make([]float64, n+1), least: make([]float64, n+1),
	}
	for i := range sc.units {
		u := &sc.units[i]
		v.units[i] = u
		if u.leads && (v.lead == nil || u.factor > v.lead.factor) {
			v.lead = u
		}
	}
	slices.SortStableFunc(v.units, func(a, b *scoredUnit) int {
		switch v.lead {
		case a:
			return -1
		case b:
			return 1
		}
		return cmp.Compare(b.factor, a.factor)
	})
	if v.lead == nil {
		for _, u := range v.units {
			s.tiers(sc, u)
		}
	}
	return v
}

// tiers reads the tiers of a unit, if it has any. Merged lists have none; theirs are chosen
// here by a sample.
func (s *search) tiers(sc *scorer, u *scoredUnit) {
	if u.complete() || u.own == 0 || u.own == 1 && !u.cursors[0].l.dense || u.own > 1 && !u.partial {
		return
	}
	for i := range u.tiers {
		u.tiers[i] = s.scratch.set(sc.seg.documents)
	}
	var limits [tierCount]float64
	if u.merged != nil {
		limits = sc.mergedTiers(u)
	}
	for i, set := range u.tiers {
		ratio := 0.0
		for k, c := range u.cursors[:u.own] {
			if l := c.l; l.dense {
				l.tiers[i].mark(set, l.documents)
				ratio += l.tiers[i].bound * float64(u.weights[k])
			}
		}
		u.limits[i] = u.factor * score((ratio*sc.seg.scale+limits[i])*u.more, 1) * slack
	}
}

// mergedTiers puts merged documents above the returned limits into the tiers, and computes
// their bounds in the same pass.
func (sc *scorer) mergedTiers(u *scoredUnit) (limits [tierCount]float64) {
	ratio := func(doc uint32) float64 {
		return float64(u.merged[doc]) / sc.norms.at(sc.seg.length(doc))
	}
	const every = 61 // words of the set
	var sample []float64
	documents := uint32(sc.seg.documents)
	for w := 0; w < len(u.having); w += every {
		u.having.each(uint32(w)<<6, min(uint32(w+1)<<6, documents), func(doc uint32) { sample = append(sample, ratio(doc)) })
	}
	slices.Sort(sample)
	for i, share := range tierShares() {
		if len(sample) > 0 {
			limits[i] = sample[len(sample)-1-len(sample)/share]
		}
	}
	u.bounds = make([]float32, stretchesOf(documents))
	u.having.each(0, documents, func(doc uint32) {
		r := ratio(doc)
		at := doc >> stretchBits
		u.bounds[at] = max(u.bounds[at], float32(r))
		if r > limits[0] {
			u.tiers[0].set(doc)
			if r > limits[1] {
				u.tiers[1].set(doc)
			}
		}
	})
	return limits
}

// begin prepares for a stretch.
func (v *pruner) begin(at int) {
	for i := len(v.units) - 1; i >= 0; i-- {
		u := v.units[i]
		bound := u.bound(at)
		for k := range v.limits[i] {
			v.limits[i][k] = bound
			if k < tierCount && u.tiers[0] != nil {
				v.limits[i][k] = min(bound, u.limits[k])
			}
		}
		v.most[i] = v.most[i+1] + bound
		v.least[i] = v.least[i+1] + v.limits[i][0]
	}
}

// seeds is the number of documents that are tried first.
const seeds = 256

// seed tries hits in the upper tiers of the two units with the highest contributions, so
// that the threshold is high from the start. It removes them from the hits.
func (v *pruner) seed() {
	var a, b *scoredUnit
	for _, u := range v.units {
		switch {
		case u.tiers[0] == nil:
		case a == nil:
			a = u
		case b == nil:
			b = u
		}
	}
	if a == nil {
		return
	}
	hits, left := v.sc.seg.hits, seeds
	try := func(among func(w int) uint64) {
		for w := 0; w < len(hits) && left > 0; w++ {
			docs := hits[w] & among(w)
			if docs == 0 {
				continue
			}
			v.begin(w >> (stretchBits - 6))
			for hits[w] &^= docs; docs != 0; docs &= docs - 1 {
				v.try(uint32(w)<<6 + uint32(bits.TrailingZeros64(docs)))
				left--
			}
		}
	}
	if b == nil {
		try(func(w int) uint64 { return a.tiers[1][w] })
		return
	}
	try(func(w int) uint64 { return a.tiers[1][w] & b.tiers[1][w] })
	try(func(w int) uint64 { return a.tiers[1][w]&b.tiers[0][w] | a.tiers[0][w]&b.tiers[1][w] })
}

// look tries the hits of a stretch that may win.
func (v *pruner) look(at int) {
	v.begin(at)
	if v.lead != nil {
		v.walk(uint32(at) << stretchBits)
		return
	}
	hits := v.sc.seg.hits
	first := at << (stretchBits - 6)
	for w := first; w < min(first+stretchSize/64, len(hits)); w++ {
		for left := v.pass(0, w, hits[w], 0); left != 0; left &= left - 1 {
			v.try(uint32(w)<<6 + uint32(bits.TrailingZeros64(left)))
		}
	}
}

// walk examines the documents of a stretch that the leading list has.
func (v *pruner) walk(from uint32) {
	sc, c, hits := v.sc, v.lead.cursors[0], v.sc.seg.hits
	wanted, least := math.Inf(-1), 0.0
	for doc := c.seek(from); doc>>stretchBits == from>>stretchBits; doc = c.next() {
		if now := v.best.threshold(); now != wanted {
			// The frequency in this list must make up for what the others cannot add.
			wanted = now
			least = leastRatio((now/slack-v.most[1])/v.lead.factor) / (float64(v.lead.weights[0]) * v.lead.more) / slack
		}
		if hits.has(doc) && frequency(c.val()) >= least*sc.norms.at(sc.seg.length(doc)) {
			v.try(doc)
		}
	}
}

// pass returns the documents of a word of the bitmap that can win, by the tiers of the
// units from i on. Sum is the maximum contribution of the units before.
func (v *pruner) pass(i, word int, docs uint64, sum float64) uint64 {
	wanted := v.best.threshold()
	switch {
	case docs == 0 || (sum+v.most[i])*slack < wanted:
		return 0
	case i == len(v.units) || sum+v.least[i] >= wanted:
		return docs
	}
	u := v.units[i]
	if u.tiers[0] == nil {
		return v.pass(i+1, word, docs, sum+v.limits[i][tierCount])
	}
	first, second := u.tiers[0][word], u.tiers[1][word]
	return v.pass(i+1, word, docs&second, sum+v.limits[i][2]) |
		v.pass(i+1, word, docs&first&^second, sum+v.limits[i][1]) |
		v.pass(i+1, word, docs&^first, sum+v.limits[i][0])
}

// try offers a document to best. It stops as soon as the document cannot win.
func (v *pruner) try(doc uint32) {
	norm := v.sc.norms.at(v.sc.seg.length(doc))
	sum := 0.0
	for i, u := range v.units {
		if (sum+v.most[i])*slack < v.best.threshold() {
			return
		}
		sum += u.factor * score(u.atMost(doc), norm)
	}
	if sum*slack >= v.best.threshold() {
		v.best.offer(Hit{ID: v.sc.seg.id(doc), Score: v.sc.score(doc)})
	}
}
