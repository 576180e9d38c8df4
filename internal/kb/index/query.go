package index

import (
	"slices"
	"strings"
	"unicode/utf8"
)

// These are the weights of the ways in which a document can have a word.
const (
	asWritten  = .5 // bonus for a word as it was written, and not only its stem
	completed  = .2 // the words that begin with the last word of the query, including that word
	mended     = .4 // a word with one typing error corrected
	longMarked = .3 // a word with a different long mark at its end
	beside     = .5 // two adjacent words of different scripts
)

const (
	mostUnits = 31 // maximum number of words in a query; further words are ignored
	mostSlips = 8
)

// alternative is one way in which a document can have a word: a term, or the pairs of
// characters of a phrase.
type alternative struct {
	// keys holds the term, or all pairs of the phrase in order.
	keys   []string
	weight float64
	text   string // of a phrase
	// kana is the phrase if it is one katakana word.
	kana string
	// begins is the prefix if any word with this prefix matches.
	begins string
}

func termOf(key string, weight float64) alternative {
	return alternative{keys: []string{key}, weight: weight}
}

// unit is a word of the query, or a run of Japanese.
type unit struct {
	text string
	// A document has the word if it has one of alternatives. A bonus counts only in documents
	// that have one of them.
	alternatives, bonus []alternative
	factor              float64 // what the score is multiplied with
}

// plan is a parsed query.
type plan struct {
	units, boosts []unit
	near          bool // a typing error was corrected
	text          string
}

// piecesOf splits a query into pieces.
func piecesOf(folded string) []piece {
	var list []piece
	pieces(folded, func(p piece) {
		if len(list) < mostUnits {
			list = append(list, p)
		}
	})
	return list
}

// plan decides how the pieces of a folded query are searched for.
func (s *search) plan(folded string, list []piece) plan {
	var p plan
	var words []string
	for i, at := range list {
		u := unit{text: at.text}
		if at.class == letter {
			last := i == len(list)-1 && at.at+len(at.text) == len(folded)
			var mendedTo string
			u.alternatives, u.bonus, mendedTo = s.word(cut(at.text), last)
			if mendedTo != "" {
				p.near, at.text = true, mendedTo
			}
		} else {
			u.alternatives = runOf(at.text)
		}
		if i > 0 && at.joined && list[i-1].class != at.class {
			key := string(appendBound([]byte{boundTerm}, list[i-1], list[i]))
			p.boosts = append(p.boosts, unit{alternatives: []alternative{termOf(key, 1)}, factor: beside})
		}
		words = append(words, at.text)
		if len(p.units) < mostUnits && !slices.ContainsFunc(p.units, func(o unit) bool { return o.text == u.text }) {
			u.factor = 1
			p.units = append(p.units, u)
		}
	}
	p.text = strings.Join(words, " ")
	s.weigh(p.units)
	s.weigh(p.boosts)
	return p
}

// weigh gives each unit its idf: that of the word itself, or, if no document has it, that
// of its most common alternative.
func (s *search) weigh(units []unit) {
	for i := range units {
		u := &units[i]
		having := 0
		for k, a := range u.alternatives {
			n := s.phraseHaving(a)
			having = max(having, n)
			if k == 0 && n > 0 {
				break
			}
		}
		u.factor *= idf(s.documents, having)
	}
}

// phraseHaving returns the number of documents with the rarest pair of a phrase, because
// the phrase itself is counted only when it is verified.
func (s *search) phraseHaving(a alternative) int {
	if a.begins != "" {
		return s.countPrefix(a.begins)
	}
	least := -1
	for _, key := range a.keys {
		if n := s.having(key); least < 0 || n < least {
			least = n
		}
	}
	return least
}

// word returns the alternatives of a word. The last word of a query may be a prefix; an
// unknown word may be a typing error.
func (s *search) word(word string, last bool) (alternatives, bonus []alternative, mendedTo string) {
	stem := stemKey(word)
	known := s.lives(stem)
	if known {
		alternatives = append(alternatives, termOf(stem, 1))
		bonus = append(bonus, termOf(string(wordTerm)+word, asWritten))
	}
	if n := utf8.RuneCountInString(word); last && (n >= 3 || n == 2 && !known) {
		if s.countPrefix(word) > 0 {
			alternatives = append(alternatives, alternative{begins: word, weight: completed})
		}
	}
	if len(alternatives) == 0 {
		slips := s.corrections(word)
		if len(slips) > 0 {
			mendedTo = slips[0]
		}
		for _, w := range slips {
			key := stemKey(w)
			if !slices.ContainsFunc(alternatives, func(a alternative) bool { return a.keys[0] == key }) {
				alternatives = append(alternatives, termOf(key, mended))
			}
		}
	}
	return alternatives, bonus, mendedTo
}

// runOf returns the alternatives of a run of characters: the run itself, and the run with
// long marks added to or removed from the ends of its katakana words.
func runOf(text string) []alternative {
	runes := []rune(text)
	list := []alternative{phraseOf(runes, 1)}
	for _, other := range longMarks(runes) {
		list = append(list, phraseOf(other, longMarked))
	}
	return list
}

func phraseOf(runes []rune, weight float64) alternative {
	switch len(runes) {
	case 1:
		return termOf(string(charTerm)+string(runes), weight)
	case 2:
		return termOf(string(pairTerm)+string(runes), weight)
	}
	a := alternative{weight: weight, text: string(runes)}
	kanaWords(string(runes), func(word string) {
		if word == string(runes) && len(word) <= longestWord {
			a.kana = word
		}
	})
	for i := 0; i+1 < len(runes); i++ {
		a.keys = append(a.keys, string(pairTerm)+string(runes[i:i+2]))
	}
	return a
}

// longMarks returns the other spellings of a run: ユーザー and ユーザ, ユーザ管理 and
// ユーザー管理. No mark is added at the end of the run: a text with the mark contains the
// word without it, too.
func longMarks(runes []rune) [][]rune {
	var off, on []rune
	for i := 0; i < len(runes); {
		end := i
		for end < len(runes) && (katakana(runes[end]) || runes[end] == longMark) {
			end++
		}
		word := runes[i:end]
		switch n := len(word); {
		case n == 0:
			off, on = append(off, runes[i]), append(on, runes[i])
			end++
		case word[n-1] == longMark && n > 3:
			off, on = append(off, word[:n-1]...), append(on, word...)
		case word[n-1] != longMark && n >= 3 && end < len(runes):
			off, on = append(off, word...), append(append(on, word...), longMark)
		default:
			off, on = append(off, word...), append(on, word...)
		}
		i = end
	}
	var list [][]rune
	for _, other := range [][]rune{off, on} {
		if !slices.Equal(other, runes) {
			list = append(list, other)
		}
	}
	return list
}

// splitScripts splits runs where kanji, katakana and hiragana meet, and leaves out the
// hiragana between them: データベースの設計 becomes データベース and 設計.
func splitScripts(list []piece) []piece {
	var split []piece
	for _, p := range list {
		if p.class != ideal {
			split = append(split, p)
			continue
		}
		before := len(split)
		start, kind := 0, byte(0)
		put := func(end int) {
			if text := p.text[start:end]; end > start && kind != 'h' && len(split) < mostUnits {
				split = append(split, piece{class: ideal, text: text, at: p.at + start, joined: p.joined && start == 0})
			}
		}
		for i, r := range p.text {
			k := script(r, kind)
			if k != kind {
				put(i)
				start, kind = i, k
			}
		}
		put(len(p.text))
		if len(split) == before { // nothing but hiragana
			split = append(split, p)
		}
	}
	return split
}

// script distinguishes hiragana, katakana and other characters. A long mark belongs to the
// script of the character before it.
func script(r rune, before byte) byte {
	switch {
	case r == longMark && before != 0:
		return before
	case r >= 'ぁ' && r <= 'ゟ':
		return 'h'
	case katakana(r) || r == longMark:
		return 'k'
	}
	return 'o'
}
