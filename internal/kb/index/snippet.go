package index

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// The marks around what a query found in a snippet.
const (
	MarkOpen  = "**"
	MarkClose = "**"
)

// Snippet is the part of a text that shows best what a query found, about width
// characters long, on one line, with the matches marked. The query is a
// Result's Text. Where nothing matches it is the beginning.
func Snippet(text, query string, width int) string {
	return SnippetWith(text, query, width, MarkOpen, MarkClose)
}

// SnippetWith marks matches in another way.
func SnippetWith(text, query string, width int, open, closing string) string {
	f := foldedText(text)
	spans := f.spans(query)
	start, end := f.window(spans, max(width, 1))
	var b strings.Builder
	if start > 0 {
		b.WriteString("…")
	}
	at := start
	for _, s := range spans {
		if s.from < at || s.to > end {
			continue
		}
		b.WriteString(text[at:s.from])
		b.WriteString(open)
		b.WriteString(text[s.from:s.to])
		b.WriteString(closing)
		at = s.to
	}
	b.WriteString(text[at:end])
	if end < len(text) {
		b.WriteString("…")
	}
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return ' '
		}
		return r
	}, b.String())
}

// mapped is a text with its folded form, and where each byte of that comes from.
type mapped struct {
	text, folded string
	from         []int32
}

func foldedText(text string) mapped {
	m := mapped{text: text}
	var folded []byte
	var it norm.Iter
	it.InitString(norm.NFKC, text)
	for !it.Done() {
		at := it.Pos()
		for _, r := range string(it.Next()) {
			before := len(folded)
			folded = utf8.AppendRune(folded, unicode.ToLower(r))
			for range len(folded) - before {
				m.from = append(m.from, int32(at))
			}
		}
	}
	m.from = append(m.from, int32(len(text)))
	m.folded = string(folded)
	return m
}

// span is a match, in bytes of the text, and which word of the query it is.
type span struct{ from, to, word int }

// spans are the matches, in order and apart from one another.
func (m *mapped) spans(query string) []span {
	var words []piece
	folded := Fold(query)
	pieces(folded, func(p piece) { words = append(words, p) })
	var list []span
	add := func(from, to, word int) {
		s := span{int(m.from[from]), int(m.from[to]), word}
		if s.to > s.from && (len(list) == 0 || s.from >= list[len(list)-1].to) {
			list = append(list, s)
		}
	}
	pieces(m.folded, func(p piece) {
		for at := 0; at < len(p.text); {
			word, size := matching(words, p, at, folded)
			if word < 0 {
				_, size = utf8.DecodeRuneInString(p.text[at:])
			} else {
				add(p.at+at, p.at+at+size, word)
			}
			if p.class == letter {
				return
			}
			at += size
		}
	})
	return list
}

// matching is which word of the query stands at a place of a piece, and how
// long it is there; the longest, and -1 for none.
func matching(words []piece, p piece, at int, query string) (word, size int) {
	word = -1
	for i, w := range words {
		if w.class != p.class {
			continue
		}
		if w.class == letter {
			last := w.at+len(w.text) == len(query)
			switch {
			case stemKey(cut(w.text)) == stemKey(cut(p.text)), last && len(w.text) > 1 && strings.HasPrefix(p.text, w.text):
				return i, len(p.text)
			}
			continue
		}
		forms := []string{w.text}
		for _, other := range longMarks([]rune(w.text)) {
			forms = append(forms, string(other))
		}
		for _, part := range splitScripts([]piece{w}) { // if it was found apart
			if utf8.RuneCountInString(part.text) > 1 {
				forms = append(forms, part.text)
			}
		}
		for _, form := range forms {
			if len(form) > size && strings.HasPrefix(p.text[at:], form) {
				word, size = i, len(form)
			}
		}
	}
	return word, size
}

// window is the part of the text, about width characters, that has the most
// different words of the query, then the most matches; the first such.
func (m *mapped) window(spans []span, width int) (start, end int) {
	best, first := -1, 0
	for i := range spans {
		seen, n, value := map[int]bool{}, 0, 0
		for _, s := range spans[i:] {
			if s.to-spans[i].from > width*3 || utf8.RuneCountInString(m.text[spans[i].from:s.to]) > width*3/4 {
				break
			}
			if !seen[s.word] {
				seen[s.word] = true
				value += 100
			}
			if n++; n < 100 {
				value++
			}
		}
		if value > best {
			best, first = value, spans[i].from
		}
	}
	// A quarter of the width goes before the first match.
	start = first
	for range width / 4 {
		if start == 0 {
			break
		}
		_, size := utf8.DecodeLastRuneInString(m.text[:start])
		start -= size
	}
	const ends = " 。、\n"
	if last, _ := utf8.DecodeLastRuneInString(m.text[:start]); start > 0 && !strings.ContainsRune(ends, last) {
		// Not in the middle of a word, if one ends before the match.
		if i := strings.IndexAny(m.text[start:first], ends); i >= 0 {
			_, size := utf8.DecodeRuneInString(m.text[start+i:])
			start += i + size
		}
	}
	end = start
	for n := 0; n < width && end < len(m.text); n++ {
		_, size := utf8.DecodeRuneInString(m.text[end:])
		end += size
	}
	for _, s := range spans { // not through a match
		if s.from < end && s.to > end {
			end = s.to
		}
	}
	return start, end
}
