package index

import (
	"cmp"
	"slices"
)

// sieve leaves, of the hits of a stretch, those that may be among the best: 64
// documents at a time by the tiers that they are in, then one by one.
type sieve struct {
	sc   *scorer
	best *top
	// units are ordered by what they promise: after the first, most documents
	// cannot win.
	units []*scoredUnit
	// limits are what a document of the stretch adds at most by its tier, and
	// most and least the sums of the highest and the lowest of a unit and those
	// behind it.
	limits      [][tierCount + 1]float64
	most, least []float64
}

func (s *search) sieve(sc *scorer, best *top) *sieve {
	n := len(sc.units)
	v := &sieve{
		sc: sc, best: best, units: make([]*scoredUnit, n), limits: make([][tierCount + 1]float64, n),
		most: make([]float64, n+1), least: make([]float64, n+1),
	}
	for i := range sc.units {
		v.units[i] = &sc.units[i]
		s.tiers(sc, v.units[i])
	}
	slices.SortStableFunc(v.units, func(a, b *scoredUnit) int { return cmp.Compare(b.factor, a.factor) })
	return v
}

// tiers reads those of a unit, if it has any. For what is merged there are none:
// they are chosen now, by a sample.
func (s *search) tiers(sc *scorer, u *scoredUnit) {
	if u.complete() || u.own == 0 || u.own == 1 && !u.cursors[0].l.dense || u.own > 1 && !u.partial {
		return
	}
	for i := range u.tiers {
		u.tiers[i] = s.room.set(sc.seg.documents)
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

// mergedTiers puts those of the merged documents into the tiers that have more
// than the limits that it returns, and finds their bounds on the way.
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

// begin makes ready for a stretch.
func (v *sieve) begin(at int) {
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

// pass is those of a word's documents that can win: by the tiers of the units
// from one on, and what the units before it add at most.
func (v *sieve) pass(i, word int, docs uint64, sum float64) uint64 {
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

// try offers a document, unless it is seen on the way that it cannot win.
func (v *sieve) try(doc uint32) {
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
