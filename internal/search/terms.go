package search

import "slices"

// term is a word of a query, and what it weighs there.
type term struct {
	*idea
	weight float32
}

// idea is a word with those that stand for it where a tool says it otherwise. The
// parts of a query share their ideas with the whole.
type idea struct {
	// text is the word, and shown what hits show of it if that differs.
	text, shown string
	number      uint32
	// users is how many documents have it.
	users  int
	idf    float32
	others []other
	// written are the documents that write it in other ways: as two words instead of
	// one, or in Japanese. They are not counted twice.
	written []entry
	// trust is how much what has it counts; less than 1 if it is a guess.
	trust float32
	// found are the documents that have it; nil as long as nobody looked.
	found []entry
}

// other is a word that stands for a query's own.
type other struct {
	number uint32
	weight float32
}

// as adds a word that stands for the idea. What no document has needs no place.
func (i *idea) as(number uint32, weight float32) {
	if number != noWord && weight > 0 {
		i.others = append(i.others, other{number, weight})
	}
}

func (s *scorer) newIdea(word string) *idea {
	i := &idea{trust: 1, text: word, number: s.x.words.number(word)}
	s.weigh(i, s.x.users(i.number))
	return i
}

// weigh tells how many documents have the idea, and so how telling it is.
func (s *scorer) weigh(i *idea, users int) {
	i.users, i.idf = users, telling(users, s.x.count)
}

// idea is what is known of a word of the query.
func (s *scorer) idea(word string) *idea {
	if known := s.ideas[word]; known != nil {
		return known
	}
	i := s.newIdea(word)
	unknown := s.nobodys(i) && len(word) >= 5 && ascii(word)
	if unknown {
		for _, n := range s.x.words.slips(word) {
			i.as(n, s.slip)
		}
	}
	for _, w := range kindred[word] {
		i.as(s.x.words.number(w), s.related)
	}
	if unknown && !slices.ContainsFunc(i.others, func(o other) bool { return s.x.users(o.number) > 0 }) {
		s.guess(i)
	}
	s.ideas[word] = i
	return i
}

// kana is the idea of three letters of kana in a row.
func (s *scorer) kana(letters string) *idea {
	i := s.ideas[letters]
	if i == nil {
		i = &idea{trust: 1, text: letters, number: noWord, written: s.spelled([]rune(letters))}
		s.weigh(i, len(i.written))
		s.ideas[letters] = i
	}
	return i
}

// guess has words stand for one of the query that nobody has and that is no slip
// of one that somebody has: the two that it was written together of, if a document
// has both, or else those that it has most letters in common with.
func (s *scorer) guess(i *idea) {
	// A long text of another language is not taken apart: each word is compared
	// with all that there are.
	const most, kept = 16, 3
	if s.gram == 0 || s.compared == most || len(i.text) < shortestGuess || !ofLetters(i.text) {
		return
	}
	s.compared++
	used := func(number uint32) bool { return s.x.users(number) > 0 }
	if parts := s.x.words.parted(i.text, used); parts != nil {
		if i.written = s.all(parts); len(i.written) > 0 {
			return
		}
	}
	for _, l := range s.x.words.alike(i.text, s.likest, kept, used) {
		i.as(l.number, l.part)
		i.trust = s.gram
	}
	if i.trust < 1 {
		s.guesses = append(s.guesses, i)
	}
}

// hints are the words of what is said about the server. Where a server says them
// of itself they count more than in a query, which is about a tool.
func (s *scorer) hints(text string) []term {
	list := s.terms(text)
	for n, q := range list {
		i := new(*q.idea)
		i.others, i.found = slices.Clone(i.others), nil
		i.as(s.x.words.number(serverMark+q.text), 1)
		if list[n].idea = i; i.trust < 1 {
			s.guesses = append(s.guesses, i)
		}
	}
	return list
}

// nobodys reports whether no document has the word itself.
func (s *scorer) nobodys(i *idea) bool { return s.x.users(i.number) == 0 }

// terms are the words of a text with what they weigh. Japanese words stand for what
// they mean.
func (s *scorer) terms(text string) []term {
	var list []term
	rest, japanese := s.japanese(text)
	say := func(w string) {
		if stopWords[w] {
			return
		}
		i := s.idea(stem(w))
		if len(japanese) > 0 && s.nobodys(i) && !ascii(w) {
			return // no words: pairs of characters
		}
		list = with(list, i)
	}
	parts(rest, say, func(run []rune) {
		pieces(run, say, func(kana string) {
			if stopWords[kana] {
				return
			}
			if i := s.kana(kana); len(japanese) == 0 || i.users > 0 {
				list = with(list, i)
			}
		})
	})
	for _, i := range japanese {
		list = with(list, i)
	}
	return list
}

// with adds an idea to terms. One that is said twice counts more.
func with(list []term, i *idea) []term {
	if at := slices.IndexFunc(list, func(q term) bool { return q.idea == i }); at >= 0 {
		list[at].weight = min(list[at].weight+.5, 2)
		return list
	}
	return append(list, term{i, 1})
}

func massOf(terms []term) float32 {
	mass := float32(0)
	for _, q := range terms {
		mass += q.weight * q.idf
	}
	return max(mass, 1e-6)
}
