package main

import (
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"slices"
	"strings"
)

// corruptions are ways to write words wrongly, as people in a hurry do. The same
// text always becomes the same.
func corruptions() map[string]func(string) string {
	return map[string]func(string) string{
		"edits":  eachWord(twoEdits),
		"vowels": eachWord(withoutVowels),
		"joined": joined,
	}
}

// corrupt writes the queries in another way.
func corrupt(queries []query, how string) ([]query, error) {
	if how == "" {
		return queries, nil
	}
	change, ok := corruptions()[how]
	if !ok {
		return nil, fmt.Errorf("there is no corruption %q", how)
	}
	queries = slices.Clone(queries)
	for i := range queries {
		queries[i].Query = change(queries[i].Query)
	}
	return queries, nil
}

// shortestCorrupted: shorter words are too few letters to be told again by
// anybody.
const shortestCorrupted = 6

func isWord(word string) bool {
	return !strings.ContainsFunc(word, func(r rune) bool { return r < 'a' || r > 'z' })
}

// eachWord changes the longer words of a text.
func eachWord(change func(string, *rand.Rand) string) func(string) string {
	return func(text string) string {
		words := strings.Fields(text)
		for i, w := range words {
			if len(w) >= shortestCorrupted && isWord(w) {
				h := fnv.New64a()
				_, _ = h.Write([]byte(w))                                 // a hash takes every write
				words[i] = change(w, rand.New(rand.NewPCG(h.Sum64(), 1))) //nolint:gosec // the same each time
			}
		}
		return strings.Join(words, " ")
	}
}

// twoEdits leaves letters out, doubles, replaces or swaps them, twice.
func twoEdits(word string, random *rand.Rand) string {
	b := []byte(word)
	for range 2 {
		at := random.IntN(len(b) - 1)
		switch random.IntN(4) {
		case 0:
			b = slices.Delete(b, at, at+1)
		case 1:
			b = slices.Insert(b, at, b[at])
		case 2:
			b[at] = byte('a' + random.IntN(26)) //nolint:gosec // a letter
		default:
			b[at], b[at+1] = b[at+1], b[at]
		}
	}
	return string(b)
}

// withoutVowels leaves the first letter and the consonants.
func withoutVowels(word string, _ *rand.Rand) string {
	return word[:1] + strings.Map(func(r rune) rune {
		if strings.ContainsRune("aeiou", r) {
			return -1
		}
		return r
	}, word[1:])
}

// joined writes every other longer word together with the one before it.
func joined(text string) string {
	const shortest = 4
	var out []string
	open := false // whether the last word can have another one behind it
	for _, w := range strings.Fields(text) {
		long := len(w) >= shortest && isWord(w)
		if open && long {
			out[len(out)-1] += w
			open = false
			continue
		}
		out = append(out, w)
		open = long
	}
	return strings.Join(out, " ")
}
