package search

import (
	"math"
	"strings"
)

// scorer scores the documents of an index for one query.
type scorer struct {
	x *Index
	tuning
	// mass is how much the whole query weighs.
	mass float32
	// ideas are those of the query, by word.
	ideas map[string]*idea
	// compared is how many words were compared by their letters, and guesses are
	// those that were taken for others by that.
	compared int
	guesses  []*idea
	*desk
}

// desk is where a search does its sums. It is cleared and used again, because
// making it for each search would cost more than the sums. Its lists have a place
// for each document.
type desk struct {
	whole, part, best  []float32
	sure               []float32
	frequency, matched []float32
	touched            []uint32
	found              []entry
}

func newScorer(x *Index, t tuning) *scorer {
	s := &scorer{x: x, tuning: t, ideas: map[string]*idea{}, desk: x.desks.Get().(*desk)}
	s.found = s.found[:0]
	s.zeros(&s.frequency)
	return s
}

// done gives the desk back. Nothing of the scorer may be used after that.
func (s *scorer) done() { s.x.desks.Put(s.desk) }

// zeros returns a list of zeros, one for each document.
func (s *scorer) zeros(list *[]float32) []float32 {
	if cap(*list) < s.x.count {
		*list = make([]float32, s.x.count)
	}
	*list = (*list)[:s.x.count]
	clear(*list)
	return *list
}

// scores are those of all documents, put together from what the whole query, its
// best part, the hint at the server and the names in it say.
func (s *scorer) scores(whole []term, clauses [][]term, about []term, named map[uint32]bool) []float32 {
	scores := s.score(s.zeros(&s.whole), whole)
	if len(clauses) > 0 {
		best := s.zeros(&s.best)
		for _, clause := range clauses {
			// A short clause that is answered well is worth less than a long one,
			// and more than its share.
			scale := float32(math.Sqrt(float64(s.mass / massOf(clause))))
			for i, score := range s.score(s.zeros(&s.part), clause) {
				best[i] = max(best[i], score*scale)
			}
		}
		for i := range scores {
			scores[i] = (1-s.clause)*scores[i] + s.clause*best[i]
		}
	}
	if len(about) > 0 {
		for i, score := range s.score(s.zeros(&s.part), about) {
			if scores[i] > 0 {
				scores[i] += s.about * score
			}
		}
	}
	for document, all := range named {
		if all {
			scores[document] += s.exact * s.mass
		} else {
			scores[document] += s.pin * s.mass
		}
	}
	return scores
}

// withoutGuesses are the scores without those of guesses; nil if there are none.
func (s *scorer) withoutGuesses(scores func() []float32) []float32 {
	if len(s.guesses) == 0 {
		return nil
	}
	for _, i := range s.guesses {
		i.found = []entry{}
	}
	sure := s.zeros(&s.sure)
	copy(sure, scores())
	for _, i := range s.guesses {
		i.found = nil
	}
	return sure
}

// score adds the score of terms to documents.
func (s *scorer) score(into []float32, terms []term) []float32 {
	if s.coordination == 0 {
		for _, q := range terms {
			gain := q.weight * q.idf
			for _, e := range s.having(q.idea) {
				into[e.document] += gain * e.amount
			}
		}
		return into
	}
	matched := s.zeros(&s.matched)
	for _, q := range terms {
		gain := q.weight * q.idf
		for _, e := range s.having(q.idea) {
			into[e.document] += gain * e.amount
			matched[e.document] += gain * q.trust
		}
	}
	mass := massOf(terms)
	for i := range into {
		if into[i] > 0 {
			into[i] *= float32(math.Pow(float64(min(1, matched[i]/mass)), float64(s.coordination)))
		}
	}
	return into
}

// having are the documents that have a word or what stands for it. The more they
// have of it, the less more of it counts.
func (s *scorer) having(i *idea) []entry {
	if i.found != nil {
		return i.found
	}
	s.touched = s.touched[:0]
	s.sum(i.number, 1)
	for _, o := range i.others {
		s.sum(o.number, o.weight)
	}
	for _, e := range i.written {
		if s.frequency[e.document] == 0 {
			s.touched = append(s.touched, e.document)
		}
		s.frequency[e.document] = max(s.frequency[e.document], e.amount)
	}
	from := len(s.found)
	for _, document := range s.touched {
		f := s.frequency[document]
		s.frequency[document] = 0
		s.found = append(s.found, entry{document, i.trust * s.saturated(f)})
	}
	i.found = s.found[from:len(s.found):len(s.found)]
	if i.found == nil {
		i.found = []entry{}
	}
	return i.found
}

// saturated is what an amount of a word counts.
func (s *scorer) saturated(f float32) float32 { return f * (s.saturation + 1) / (s.saturation + f) }

// all are the documents that have all of some words, as if these were one.
func (s *scorer) all(words []uint32) []entry {
	var found []entry
	for n, w := range words {
		had := found
		for _, e := range had {
			s.frequency[e.document] = e.amount
		}
		found = nil
		for _, e := range s.x.having(w) {
			if n == 0 {
				found = append(found, e)
			} else if f := s.frequency[e.document]; f > 0 {
				found = append(found, entry{e.document, min(f, e.amount)})
			}
		}
		for _, e := range had {
			s.frequency[e.document] = 0
		}
	}
	return found
}

// sum adds how much of a word documents have.
func (s *scorer) sum(word uint32, weight float32) {
	frequency, touched := s.frequency, s.touched
	for _, e := range s.x.having(word) {
		if frequency[e.document] == 0 {
			touched = append(touched, e.document)
		}
		frequency[e.document] += weight * e.amount
	}
	s.touched = touched
}

// confidence is how much of the query a hit answers. In a house of a few tools
// that is asked of a larger one: if all tools there are about the weather, the
// word says little about which is meant, but much about whether any is.
func (s *scorer) confidence(best Hit, whole []term) float32 {
	const larger = 100
	if s.x.count >= larger {
		return best.Score / s.mass
	}
	var here, there, mass float32
	for _, q := range whole {
		idf := telling(q.users, larger)
		mass += q.weight * idf
		if q.trust < 1 {
			continue // a guess
		}
		for _, e := range s.having(q.idea) {
			if e.document == best.number {
				here += q.weight * q.idf * e.amount
				there += q.weight * idf * e.amount
			}
		}
	}
	if here == 0 { // it is not for its words that it was found
		return best.Score / s.mass
	}
	return best.Score * there / here / mass
}

// named are the documents whose name stands in a text, and whether it is all of
// it. A name of one word counts only if it is all.
func (x *Index) named(text string) map[uint32]bool {
	const longest = 6
	all := strings.Fields(spaced(text))
	named := map[uint32]bool{}
	var run []byte
	for i := range all {
		run = append(run[:0], nameMark...)
		for n := 1; n <= longest && i+n <= len(all); n++ {
			if n > 1 {
				run = append(run, ' ')
			}
			run = append(run, all[i+n-1]...)
			if word, ok := x.words.numbers[string(run)]; ok && (n > 1 || len(all) == 1) {
				for _, e := range x.having(word) {
					named[e.document] = n == len(all)
				}
			}
		}
	}
	return named
}
