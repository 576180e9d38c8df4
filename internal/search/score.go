package search

import (
	"math"
	"strings"
)

// scorer scores the documents of one segment after the other.
type scorer struct {
	x *Index
	tuning
	// mass is how much the whole query weighs.
	mass float32

	whole, part, best  []float32
	frequency, matched []float32
	touched            []int
}

// room is a slice of zeros.
func room(s *[]float32, n int) []float32 {
	if cap(*s) < n {
		*s = make([]float32, n)
	}
	*s = (*s)[:n]
	clear(*s)
	return *s
}

// segment is the score of each document of a segment.
func (s *scorer) segment(seg *segment, whole []term, clauses [][]term, about []term, said map[string]bool) []float32 {
	n := len(seg.documents)
	scores := s.score(room(&s.whole, n), seg, whole)
	if len(clauses) > 0 {
		best := room(&s.best, n)
		for _, clause := range clauses {
			// A short clause that is answered well is worth less than a long one,
			// and more than its share.
			scale := float32(math.Sqrt(float64(s.mass / massOf(clause))))
			for i, score := range s.score(room(&s.part, n), seg, clause) {
				best[i] = max(best[i], score*scale)
			}
		}
		for i := range scores {
			scores[i] = (1-s.clause)*scores[i] + s.clause*best[i]
		}
	}
	if len(about) > 0 {
		for i, score := range s.score(room(&s.part, n), seg, about) {
			if scores[i] > 0 {
				scores[i] += s.about * score
			}
		}
	}
	for name, all := range said {
		for _, i := range seg.names[name] {
			switch {
			case all:
				scores[i] += s.exact * s.mass
			case strings.Contains(name, " "):
				scores[i] += s.pin * s.mass
			}
		}
	}
	return scores
}

// score adds the score of terms to documents.
func (s *scorer) score(into []float32, seg *segment, terms []term) []float32 {
	n := len(seg.documents)
	matched, frequency := room(&s.matched, n), room(&s.frequency, n)
	for i := range terms {
		q := &terms[i]
		s.touched = s.touched[:0]
		s.count(frequency, seg, q.text, 1)
		for _, o := range q.others {
			s.count(frequency, seg, o.text, o.weight)
		}
		gain := q.weight * q.idf
		for _, doc := range s.touched {
			f := frequency[doc]
			into[doc] += gain * f * (s.saturation + 1) / (s.saturation + f)
			matched[doc] += gain
			frequency[doc] = 0
		}
	}
	if s.coordination > 0 {
		mass := massOf(terms)
		for i := range into {
			if into[i] > 0 {
				into[i] *= float32(math.Pow(float64(min(1, matched[i]/mass)), float64(s.coordination)))
			}
		}
	}
	return into
}

// count adds how much of a word documents have.
func (s *scorer) count(into []float32, seg *segment, word string, weight float32) {
	for _, p := range seg.terms[word].list {
		f, doc := p.field(), p.doc()
		w := s.x.weights[f]
		length := 1 - w.length + w.length*float32(seg.documents[doc].lengths[f])/s.x.averages[f]
		if into[doc] == 0 {
			s.touched = append(s.touched, doc)
		}
		into[doc] += weight * w.boost * float32(p.count()) / length
	}
}

// sayings are the runs of words in a query that may be a tool's name, and whether
// a run is all of it.
func sayings(text string) map[string]bool {
	const longest = 6
	all := strings.Fields(spaced(text))
	said := map[string]bool{}
	for i := range all {
		for n := 1; n <= longest && i+n <= len(all); n++ {
			said[strings.Join(all[i:i+n], " ")] = n == len(all)
		}
	}
	return said
}
