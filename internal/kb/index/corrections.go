package index

import (
	"cmp"
	"slices"
)

// minCorrected is the minimum length of a word that is corrected.
const minCorrected = 4

// corrections returns the words of the vocabulary that differ from the given one by one typing
// error: an extra, missing or wrong letter, or two exchanged ones. The most common come
// first. It looks up all possible variants, so its cost does not depend on the size of the
// vocabulary.
func (s *search) corrections(word string) []string {
	if len(word) < minCorrected || !ascii(word) || numeric(word) {
		return nil
	}
	type correction struct {
		word   string
		having int
	}
	var found []correction
	seen := map[string]bool{word: true}
	key := []byte{wordTerm}
	try := func(parts ...string) {
		key = key[:1]
		for _, p := range parts {
			key = append(key, p...)
		}
		if !s.known(key) || seen[string(key[1:])] {
			return
		}
		w := string(key[1:])
		seen[w] = true
		if n := s.having(string(key)); n > 0 {
			found = append(found, correction{w, n})
		}
	}
	const letters = "abcdefghijklmnopqrstuvwxyz0123456789"
	for i := range len(word) + 1 {
		before, after := word[:i], word[i:]
		if !s.narrow(string(wordTerm) + before) {
			break // no key has this prefix or a longer one
		}
		if after != "" {
			try(before, after[1:])
		}
		if len(after) > 1 {
			try(before, after[1:2], after[:1], after[2:])
		}
		for k := range len(letters) {
			try(before, letters[k:k+1], after)
			if after != "" {
				try(before, letters[k:k+1], after[1:])
			}
		}
	}
	slices.SortFunc(found, func(a, b correction) int {
		return cmp.Or(b.having-a.having, cmp.Compare(a.word, b.word))
	})
	var list []string
	for _, f := range found[:min(len(found), mostSlips)] {
		list = append(list, f.word)
	}
	return list
}

// narrow limits the next lookups to keys with a prefix. It returns false if there are
// none.
func (s *search) narrow(prefix string) bool {
	found := false
	for _, seg := range s.segments {
		seg.scope = seg.scopeOf(prefix)
		found = found || seg.scope != scope{}
	}
	return found
}

// known reports whether a segment has a term, in dead or living documents. It is called
// hundreds of times, so it does not allocate, and looks only in the range set by narrow.
func (s *search) known(key []byte) bool {
	for _, seg := range s.segments {
		if seg.has(key, seg.scope) {
			return true
		}
	}
	return false
}

func numeric(word string) bool {
	for i := range len(word) {
		if word[i] > '9' {
			return false
		}
	}
	return true
}
