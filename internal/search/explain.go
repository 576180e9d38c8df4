package search

import (
	"cmp"
	"slices"
	"strings"
)

// explain tells which words of the query each hit has. Words are shown as the
// query has them, without what only stands for them.
func (s *scorer) explain(hits []Hit, whole []term, text string) {
	at := make(map[uint32]*Hit, len(hits))
	for i := range hits {
		at[hits[i].number] = &hits[i]
	}
	spelled := map[string]string{}
	words(text, func(w string) {
		if stem := stem(w); spelled[stem] == "" {
			spelled[stem] = w
		}
	})
	for _, q := range whole {
		word := cmp.Or(q.shown, q.text)
		if as := spelled[q.text]; as != "" && q.shown == "" {
			word = as
		}
		word = asTyped(text, word)
		for _, e := range s.having(q.idea) {
			if h := at[e.document]; h != nil && !slices.Contains(h.Matched, word) {
				h.Matched = append(h.Matched, word)
			}
		}
	}
}

// asTyped returns how a text writes a word whose katakana have become hiragana; the word
// if it has it nowhere.
func asTyped(text, word string) string {
	if at := strings.Index(strings.Map(hiragana, text), word); at >= 0 {
		return text[at : at+len(word)] // kana of both kinds have as many bytes
	}
	return word
}
