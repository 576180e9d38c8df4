package kb

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// fold makes texts equal that readers take for the same: full and half width,
// upper and lower case. It is not the index's Fold: what is answered from the rows
// is what the index is held against, so the two share nothing.
func fold(text string) string {
	lower := strings.ToLower(norm.NFKC.String(text))
	return norm.NFKC.String(lower) // some letters are taken apart by lower case
}

// foldedText is a text with its folded form, and where in the text each byte of
// that comes from.
type foldedText struct {
	text, folded string
	origin       []int
}

func foldWithOrigin(text string) foldedText {
	f := foldedText{text: text}
	var b strings.Builder
	for at := 0; at < len(text); {
		// Within these bounds nothing combines with what is outside.
		n := norm.NFKC.NextBoundaryInString(text[at:], true)
		if n <= 0 {
			n = len(text) - at
		}
		piece := fold(text[at : at+n])
		b.WriteString(piece)
		for range len(piece) {
			f.origin = append(f.origin, at)
		}
		at += n
	}
	f.origin = append(f.origin, len(text))
	f.folded = b.String()
	return f
}

// find is where a folded word stands in the text.
func (f *foldedText) find(word string) (start, end int, ok bool) {
	at := strings.Index(f.folded, word)
	if at < 0 || word == "" {
		return 0, 0, false
	}
	start, last := f.origin[at], f.origin[at+len(word)-1]
	// The end is that of the piece which the last byte comes from.
	for i := at + len(word); i < len(f.origin); i++ {
		if f.origin[i] > last {
			return start, f.origin[i], true
		}
	}
	return start, len(f.text), true
}

// What of a text a snippet shows around the match, in bytes, about.
const snippetBefore, snippetAfter = 60, 160

// snippet shows the first of the words that the text has.
func snippet(text string, words []string) (string, bool) {
	f := foldWithOrigin(text)
	first, last := -1, -1
	for _, word := range words {
		if start, end, ok := f.find(word); ok && (first < 0 || start < first) {
			first, last = start, end
		}
	}
	if first < 0 {
		return "", false
	}
	from, to := max(0, first-snippetBefore), min(len(text), last+snippetAfter)
	for from > 0 && !utf8.RuneStart(text[from]) {
		from--
	}
	for to < len(text) && !utf8.RuneStart(text[to]) {
		to++
	}
	out := text[from:first] + "**" + text[first:last] + "**" + text[last:to]
	if from > 0 {
		out = "…" + out
	}
	if to < len(text) {
		out += "…"
	}
	return strings.Join(strings.Fields(out), " "), true
}

// beginsWord reports whether a completion could begin at this place of a text:
// where a word begins, and in scripts without spaces anywhere.
func beginsWord(text string, at int) bool {
	if at == 0 {
		return true
	}
	before, _ := utf8.DecodeLastRuneInString(text[:at])
	here, _ := utf8.DecodeRuneInString(text[at:])
	wordly := func(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }
	return here > unicode.MaxLatin1 || !wordly(before)
}
