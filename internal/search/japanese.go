package search

import (
	"cmp"
	"math"
	"slices"
	"strings"
	"unicode"

	"genkan/internal/search/glossary"
)

// japanese returns what the Japanese words of a text mean, and the text without
// them. Letters of grammar between them are left out, too.
func (s *scorer) japanese(text string) (rest string, meant []*idea) {
	if s.noGlossary || ascii(text) {
		return text, nil
	}
	runes := []rune(text)
	words := glossary.Words(runes)
	if len(words) == 0 { // めも is メモ, which the glossary has
		words = slices.DeleteFunc(glossary.Words([]rune(strings.Map(katakana, text))), func(w glossary.Word) bool { return !alone(runes, w) })
	}
	if len(words) == 0 {
		return text, nil
	}
	var b strings.Builder
	at := 0
	between := func(to int) {
		for _, r := range runes[at:to] {
			if unicode.Is(unicode.Hiragana, r) {
				r = ' '
			}
			b.WriteRune(r)
		}
		b.WriteByte(' ')
	}
	for _, w := range words {
		if s.compound(runes, w) {
			continue
		}
		between(w.From)
		at = w.To
		meant = append(meant, s.meanings(runes, w)...)
	}
	between(len(runes))
	return b.String(), meant
}

// alone reports whether a word of katakana is one where it is written in hiragana:
// おく is in many longer words. Two letters are a word where no other kana are beside
// them but particles.
func alone(text []rune, w glossary.Word) bool {
	const particles = "をがはもにでとのへやだ"
	ends := func(i int) bool {
		return i < 0 || i == len(text) || !isKana(text[i]) || strings.ContainsRune(particles, text[i])
	}
	return w.To-w.From > 2 || ends(w.From-1) && ends(w.To)
}

// compound reports whether a word of one character is part of another word, which
// the glossary does not know and documents have: a name, or Chinese.
func (s *scorer) compound(text []rune, w glossary.Word) bool {
	if w.To-w.From > 1 {
		return false
	}
	has := func(from, to int) bool {
		return from >= 0 && to <= len(text) && unicode.Is(unicode.Han, text[from]) && unicode.Is(unicode.Han, text[to-1]) &&
			s.x.users(s.x.words.number(string(text[from:to]))) > 0
	}
	return has(w.From-1, w.To) || has(w.From, w.To+1)
}

// particles say little in a translation of several words, such as "look up".
//
//nolint:gochecknoglobals // a table, built once
var particles = setOf("up out off down over back away")

// stems are the words of a translation without their endings.
func stems(meaning string) []string {
	var list []string
	each(meaning, func(w string) {
		if !particles[w] || w == meaning {
			list = append(list, w)
		}
	})
	return list
}

// meanings are the ideas of a Japanese word: mostly one. A word that has one
// translation of several words, as compounds have, means each of them. A word whose
// first translation says nothing about a tool says nothing, either.
func (s *scorer) meanings(text []rune, w glossary.Word) []*idea {
	translations := make([][]string, len(w.Meanings))
	for n, m := range w.Meanings {
		translations[n] = stems(m)
	}
	first := translations[0]
	if len(first) == 0 {
		return nil
	}
	shown := string(text[w.From:w.To])
	known := func(key string, i func() *idea) *idea {
		key = shown + "/" + key // no other word has a slash
		if s.ideas[key] == nil {
			s.ideas[key] = i()
			s.ideas[key].shown = shown
		}
		return s.ideas[key]
	}
	written := s.written(text, w)
	if len(translations) == 1 && len(written) == 0 {
		list := make([]*idea, len(first))
		for n, word := range first {
			list[n] = known(word, func() *idea { return s.meant([][]string{{word}}, nil) })
		}
		return list
	}
	return []*idea{known(w.Base, func() *idea { return s.meant(translations, written) })}
}

// meant is the idea of a word with translations, each of which counts less than the
// one before. Some documents have it in Japanese.
func (s *scorer) meant(translations [][]string, written []entry) *idea {
	i := &idea{trust: 1, number: noWord, written: written}
	weight := float32(1)
	var translated []other
	for _, words := range translations {
		for _, w := range words {
			number, part := s.x.words.number(w), weight/float32(len(words))
			if i.text == "" && s.x.users(number) > 0 {
				i.text = w
			}
			translated = append(translated, other{number, part})
			i.as(number, part)
			for _, k := range kindred[w] {
				i.as(s.x.words.number(k), part*s.related)
			}
		}
		weight *= s.meaning
	}
	i.text = cmp.Or(i.text, translations[0][0])
	s.weigh(i, s.users(written, translated))
	return i
}

// users counts the documents that have a word in Japanese or translated. Those that
// have a less usual translation count less.
func (s *scorer) users(written []entry, translated []other) int {
	for _, e := range written {
		s.frequency[e.document] = 1
	}
	have := slices.Clone(written)
	for _, o := range translated {
		for _, e := range s.x.having(o.number) {
			if s.frequency[e.document] == 0 {
				have = append(have, e)
			}
			s.frequency[e.document] = max(s.frequency[e.document], o.weight)
		}
	}
	sum := float32(0)
	for _, e := range have {
		sum += s.frequency[e.document]
		s.frequency[e.document] = 0
	}
	return int(math.Ceil(float64(sum)))
}

// written are the documents that have a word in Japanese: all pairs of its
// characters, as the text has them or as a dictionary does. A single character is
// looked for with its neighbours.
func (s *scorer) written(text []rune, w glossary.Word) []entry {
	found := s.larger(s.spelled(text[w.From:w.To]), s.spelled([]rune(w.Base)))
	if w.To-w.From > 1 {
		return found
	}
	if w.From > 0 && isCJK(text[w.From-1]) {
		found = s.larger(found, s.spelled(text[w.From-1:w.To]))
	}
	if w.To < len(text) && isCJK(text[w.To]) {
		found = s.larger(found, s.spelled(text[w.From:w.To+1]))
	}
	return found
}

// spelled are the documents that have all pairs of characters of a word.
func (s *scorer) spelled(word []rune) []entry {
	var numbers []uint32
	pairs(word, func(pair string) { numbers = append(numbers, s.x.words.number(pair)) })
	return s.all(numbers)
}

// larger are the documents of two lists, each once with its larger amount.
func (s *scorer) larger(a, b []entry) []entry {
	if len(a) == 0 {
		return slices.Clone(b)
	}
	for _, e := range a {
		s.frequency[e.document] = e.amount
	}
	all := a
	for _, e := range b {
		if s.frequency[e.document] == 0 {
			all = append(all, e)
		}
		s.frequency[e.document] = max(s.frequency[e.document], e.amount)
	}
	for i, e := range all {
		all[i].amount = s.frequency[e.document]
	}
	for _, e := range all {
		s.frequency[e.document] = 0
	}
	return all
}
