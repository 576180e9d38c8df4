package main

import (
	"math"

	"genkan/internal/search"
)

// foreign tells how well the confidence keeps queries that the tools can answer
// apart from those of another set, which they cannot: the chance that one of the
// former has more of it than one of the latter (AUC), and which part of either is
// on the wrong side.
func (m measurement) foreign(x *search.Index, ours, theirs []query) (auc, refused, letThrough float64) {
	confidence := func(q query) float64 {
		in := search.Query{Text: q.Query, Limit: 1}
		return float64(x.SearchWithout(in, m.without...).Confidence)
	}
	of := func(queries []query) (all []float64, matches int) {
		for _, q := range queries {
			c := confidence(q)
			all = append(all, c)
			if c >= search.LeastConfidence {
				matches++
			}
		}
		return all, matches
	}
	right, found := of(ours)
	wrong, through := of(theirs)
	for _, r := range right {
		for _, w := range wrong {
			switch {
			case r > w:
				auc++
			case r == w:
				auc += .5
			}
		}
	}
	round := func(v float64, n int) float64 { return math.Round(v/float64(max(n, 1))*10000) / 10000 }
	return round(auc, len(right)*len(wrong)), round(float64(len(right)-found), len(right)), round(float64(through), len(wrong))
}
