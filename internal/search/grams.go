package search

import (
	"cmp"
	"math"
	"math/bits"
	"slices"
)

// Words that nobody has, and that are more than a slip away from those that
// somebody has, are compared by their letters in threes: frcast and forecast
// have "cas", "ast" and their ends in common.

// gram is three letters that follow one another. Two marks stand before a word
// and one behind it, so that how it begins counts most: people cut words short
// and spell their ends wrong.
type gram uint32

const gramMark = '.'

// shortestGuess is what a word of a query needs to be compared, and shortestAlike
// what those need that it is compared with: shorter ones are like too many.
// longestAlike is how much of a word is compared.
const shortestGuess, shortestAlike, longestAlike = 6, 4, 32

// appendGrams appends those of a word, each once.
func appendGrams(to []gram, word string) []gram {
	word = word[:min(len(word), longestAlike)]
	last := gram(gramMark)<<8 | gramMark
	for i := range len(word) + 1 {
		c := byte(gramMark)
		if i < len(word) {
			c = word[i]
		}
		last = (last<<8 | gram(c)) & 0xffffff
		if !slices.Contains(to, last) {
			to = append(to, last)
		}
	}
	return to
}

// gramSet tells roughly which grams a word has, a bit for some of them each, and
// exactly how many: most words can be told apart by that.
type gramSet struct {
	bits  uint64
	count uint8
}

func setOfGrams(grams []gram) gramSet {
	set := gramSet{count: uint8(len(grams))} //nolint:gosec // longestAlike and a few
	for _, g := range grams {
		const spread, top = 0x9E3779B1, 26 // the golden ratio's digits spread neighbours; six bits are left
		set.bits |= 1 << (uint32(g) * spread >> top)
	}
	return set
}

// grammar is the set of a word of a vocabulary; empty for those that nothing is
// compared with.
func grammar(word string) gramSet {
	if len(word) < shortestAlike || !ofLetters(word) {
		return gramSet{}
	}
	var buffer [longestAlike + 1]gram
	return setOfGrams(appendGrams(buffer[:0], word))
}

// ofLetters reports whether a word has only the letters of English: numbers that
// are nearly the same are not nearly the same thing.
func ofLetters(word string) bool {
	for i := range len(word) {
		if word[i] < 'a' || word[i] > 'z' {
			return false
		}
	}
	return true
}

// likeness of a word of the vocabulary to another word: which part of their grams
// they have in common (Dice), 0 to 1.
type likeness struct {
	number uint32
	part   float32
}

// alike are the words of the vocabulary that have at least a part of their grams
// in common with a word, the likest first. Only those that fits lets through are
// looked at.
func (v *vocabulary) alike(word string, least float32, most int, fits func(number uint32) bool) []likeness {
	var buffer, other [longestAlike + 1]gram
	grams := appendGrams(buffer[:0], word)
	set := setOfGrams(grams)
	// needed is how many bits a word must have in common, by how many grams it has.
	// Two grams of the word that have one bit may be two that both words have.
	var needed [longestAlike + 2]int
	hidden := len(grams) - bits.OnesCount64(set.bits)
	needed[0] = math.MaxInt // compared with nothing
	for n := 1; n < len(needed); n++ {
		const inexact = 1e-3 // of the sum: better one too many than one too few
		needed[n] = int(math.Ceil(float64(least)*float64(len(grams)+n)/2-inexact)) - hidden
	}
	var found []likeness
	for n := range v.grams {
		each := &v.grams[n]
		if bits.OnesCount64(set.bits&each.bits) < needed[each.count] || !fits(uint32(n)) {
			continue
		}
		all, common := float32(set.count)+float32(each.count), 0
		for _, g := range appendGrams(other[:0], v.list[n]) {
			if slices.Contains(grams, g) {
				common++
			}
		}
		if part := 2 * float32(common) / all; part >= least {
			found = append(found, likeness{uint32(n), part})
		}
	}
	slices.SortFunc(found, func(a, b likeness) int {
		return cmp.Or(cmp.Compare(b.part, a.part), cmp.Compare(v.list[a.number], v.list[b.number]))
	})
	return found[:min(len(found), most)]
}

// parted are the two words that a word was written together of; nil if it was not.
func (v *vocabulary) parted(word string, fits func(number uint32) bool) []uint32 {
	const shortest = 4 // or carpet is a car and a pet
	for i := len(word) - shortest; i >= shortest; i-- {
		first, second := v.number(stem(word[:i])), v.number(stem(word[i:]))
		if first != noWord && second != noWord && fits(first) && fits(second) {
			return []uint32{first, second}
		}
	}
	return nil
}
