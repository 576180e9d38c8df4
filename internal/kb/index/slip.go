package index

import (
	"cmp"
	"slices"
)

// leastForSlip is how long a word must be to be mended.
const leastForSlip = 4

// slips are the words of the vocabulary that one slip makes of the given one: a
// letter too much, too little, wrong, or two exchanged. The most common first.
// All that a slip can make are looked up, which costs the same however large
// the vocabulary is.
func (s *search) slips(word string) []string {
	if len(word) < leastForSlip || !ascii(word) || numeric(word) {
		return nil
	}
	type slip struct {
		word   string
		having int
	}
	var found []slip
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
			found = append(found, slip{w, n})
		}
	}
	const letters = "abcdefghijklmnopqrstuvwxyz0123456789"
	for i := range len(word) + 1 {
		before, after := word[:i], word[i:]
		if !s.narrow(string(wordTerm) + before) {
			break // nothing begins like that, nor with more of the word
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
	slices.SortFunc(found, func(a, b slip) int {
		return cmp.Or(b.having-a.having, cmp.Compare(a.word, b.word))
	})
	var list []string
	for _, f := range found[:min(len(found), mostSlips)] {
		list = append(list, f.word)
	}
	return list
}

// narrow says where the keys are that are asked for next: they begin with a
// prefix. False is that there are none.
func (s *search) narrow(prefix string) bool {
	found := false
	for _, seg := range s.segments {
		seg.scope = seg.scopeOf(prefix)
		found = found || seg.scope != scope{}
	}
	return found
}

// known tells whether a segment has a term, dead or alive. Hundreds are asked
// for, so it makes no garbage, and looks only where narrow says that they are.
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
