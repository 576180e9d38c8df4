package search

import (
	"maps"
	"slices"
)

// noWord is the number of a word that nobody has.
const noWord = ^uint32(0)

// nameMark stands before a document's whole name, which is a word, too: so names
// are found as words are. No other word begins with it.
const nameMark = "="

// serverMark stands before the words that a server says of itself, for those who
// say what kind of server they mean.
const serverMark = "@"

// vocabulary numbers the words of an index. It only grows: an index that is made
// from another shares it until a new word comes, and has a copy from then on.
type vocabulary struct {
	numbers map[string]uint32
	list    []string
	// spelled are the words by their first byte, for words that nobody has.
	spelled map[byte][]spelling
	// grams are those of the words, by their numbers.
	grams []gramSet
	// ours is whether it may be changed.
	ours bool
}

// spelling is a word and which letters it has, one bit for each.
type spelling struct{ number, letters uint32 }

func newVocabulary() vocabulary {
	return vocabulary{numbers: map[string]uint32{}, spelled: map[byte][]spelling{}, ours: true}
}

// shared is the same vocabulary for another index.
func (v *vocabulary) shared() vocabulary {
	return vocabulary{numbers: v.numbers, list: v.list, spelled: v.spelled, grams: v.grams}
}

// number is that of a word, or noWord.
func (v *vocabulary) number(word string) uint32 {
	if n, ok := v.numbers[word]; ok {
		return n
	}
	return noWord
}

// add is the number of a word that gets one if it has none.
func (v *vocabulary) add(word string) uint32 {
	if n, ok := v.numbers[word]; ok {
		return n
	}
	if !v.ours {
		v.numbers, v.list, v.spelled, v.ours = maps.Clone(v.numbers), slices.Clone(v.list), maps.Clone(v.spelled), true
		v.grams = slices.Clone(v.grams)
		for first, list := range v.spelled {
			v.spelled[first] = slices.Clip(list) // so that appending copies it
		}
	}
	n := uint32(len(v.list)) //nolint:gosec // memory ends before
	v.numbers[word] = n
	v.list, v.grams = append(v.list, word), append(v.grams, grammar(word))
	if word[:1] != nameMark {
		v.spelled[word[0]] = append(v.spelled[word[0]], spelling{n, letters(word)})
	}
	return n
}

// slips are the words that a word may have been meant to be.
func (v *vocabulary) slips(word string) []uint32 {
	var found []uint32
	has, most := letters(word), slipsIn(word)
	for _, s := range v.spelled[word[0]] {
		if differing(has, s.letters) <= 2*most && near(word, v.list[s.number]) { // a slip takes one letter away and brings another
			found = append(found, s.number)
		}
	}
	return found
}

// reader turns texts into numbers. Most words come again and again, and need not
// be taken apart each time.
type reader struct {
	*vocabulary
	known map[string]uint32
}

func newReader(v *vocabulary) *reader { return &reader{v, map[string]uint32{}} }

// read appends the numbers of a text's words. Those that are new are added to the
// vocabulary.
func (r *reader) read(to []uint32, text string) []uint32 {
	words(text, func(w string) {
		n, ok := r.known[w]
		if !ok {
			n = noWord
			if !stopWords[w] {
				n = r.add(stem(w))
			}
			r.known[w] = n
		}
		if n != noWord {
			to = append(to, n)
		}
	})
	return to
}
