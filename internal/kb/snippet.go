package kb

import (
	"math/bits"
	"strings"
	"unicode"
	"unicode/utf8"
)

// A snippet is a piece of an item's text around the matches of a query, on one line,
// with the matches between double asterisks. The index and the rows use the same code
// for snippets, so their results look the same.
//
// A page has twenty snippets and a text may have 400 KB, so a text is read piece by
// piece and no further than needed.

const (
	// snippetWidth is the approximate length of a snippet in characters.
	snippetWidth = 160
	// firstPiece is the size in bytes of the first piece of a text that is searched. The
	// size doubles for each further piece, up to mostPiece.
	firstPiece, mostPiece = 512, 4 << 10
	// snippetReach is how much further the search for a place with more words goes.
	snippetReach = 8 << 10
	// snippetBorder is the number of bytes read around a snippet, because the words at
	// its ends may continue there.
	snippetBorder = 64

	markOpen, markClose = "**", "**"
)

// snippet prefers text that the title does not contain. If no text has the words as
// whole words, it shows a match inside of a word, because a search of the rows finds
// those. Without any match it shows the beginning.
func (m *marker) snippet(item *Item) string {
	texts := [...]string{item.Description, item.Content, item.Title}
	for _, within := range []bool{false, true} {
		for _, text := range texts {
			if at := m.find(text, within); at >= 0 {
				return m.show(text, at, within)
			}
		}
	}
	for _, text := range texts {
		if text != "" {
			return m.show(text, 0, false)
		}
	}
	return ""
}

// find returns the offset in bytes of the best part of a text: the first one with all
// words, or else the one with the most different words. It returns -1 if there is no
// match.
func (m *marker) find(text string, within bool) int {
	place, best := -1, 0
	until, size := len(text), firstPiece
	for from := 0; from < until && best < m.words; size = min(2*size, mostPiece) {
		to := pieceEnd(text, from, size)
		spans := m.spans(text[from:to], within)
		for i, s := range spans {
			if n := different(text[from:to], spans[i:]); n > best {
				place, best = from+s.from, n
			}
			if best == m.words {
				break
			}
		}
		if len(spans) > 0 {
			until = min(until, from+snippetReach)
		}
		from = to
	}
	return place
}

// different returns the number of different words in the part of the text that begins
// with the first of these matches. It counts at most 64.
func different(text string, spans []span) int {
	var seen uint64
	for _, s := range spans {
		if s.to-spans[0].from > 3*snippetWidth || utf8.RuneCountInString(text[spans[0].from:s.to]) > snippetWidth*3/4 {
			break
		}
		seen |= 1 << min(s.word, 63)
	}
	return bits.OnesCount64(seen)
}

// pieceEnd returns the end of the piece of a text that begins at from. It avoids an end
// within a word if possible.
func pieceEnd(text string, from, size int) int {
	if len(text)-from <= size {
		return len(text)
	}
	to := from + size
	tail := text[to-size/4 : to]
	for _, end := range []string{"\n", " ", "。", "、"} {
		if i := strings.LastIndex(tail, end); i >= 0 {
			return to - len(tail) + i + len(end)
		}
	}
	return runeStart(text, to)
}

// runeStart returns the beginning of the character at an offset.
func runeStart(text string, at int) int {
	for at > 0 && at < len(text) && !utf8.RuneStart(text[at]) {
		at--
	}
	return at
}

// show returns the snippet around an offset.
func (m *marker) show(text string, place int, within bool) string {
	// A quarter of the width precedes the match.
	start := place
	for range snippetWidth / 4 {
		if start == 0 {
			break
		}
		_, size := utf8.DecodeLastRuneInString(text[:start])
		start -= size
	}
	const ends = " 。、\n"
	if last, _ := utf8.DecodeLastRuneInString(text[:start]); start > 0 && !strings.ContainsRune(ends, last) {
		// Do not start in the middle of a word, if a word ends before the match.
		if i := strings.IndexAny(text[start:place], ends); i >= 0 {
			_, size := utf8.DecodeRuneInString(text[start+i:])
			start += i + size
		}
	}
	end := start
	for n := 0; n < snippetWidth && end < len(text); n++ {
		_, size := utf8.DecodeRuneInString(text[end:])
		end += size
	}

	line := oneLine{}
	line.b.Grow(end - start + 32)
	if start > 0 {
		line.put("…")
	}
	around := runeStart(text, max(0, start-snippetBorder))
	at := start
	for _, s := range m.spans(text[around:runeStart(text, min(len(text), end+snippetBorder))], within) {
		from, to := around+s.from, around+s.to
		if from < at || from >= end {
			continue
		}
		end = max(end, to) // do not cut a match
		line.text(text[at:from])
		line.put(markOpen)
		line.text(text[from:to])
		line.put(markClose)
		at = to
	}
	line.text(text[at:end])
	if end < len(text) {
		line.put("…")
	}
	return line.b.String()
}

// oneLine builds a text without line breaks and with single spaces.
type oneLine struct {
	b     strings.Builder
	space bool // a space comes before the next text
}

// put appends a text unchanged.
func (l *oneLine) put(mark string) {
	if l.space && l.b.Len() > 0 && mark != "…" {
		l.b.WriteByte(' ')
	}
	l.space = false
	l.b.WriteString(mark)
}

func (l *oneLine) text(text string) {
	blank := func(r rune) bool { return unicode.IsSpace(r) || unicode.IsControl(r) }
	for text != "" {
		n := strings.IndexFunc(text, blank)
		if n != 0 {
			if n < 0 {
				n = len(text)
			}
			if l.space && l.b.Len() > 0 {
				l.b.WriteByte(' ')
			}
			l.space = false
			l.b.WriteString(text[:n])
			text = text[n:]
			continue
		}
		l.space = true
		_, size := utf8.DecodeRuneInString(text)
		text = text[size:]
	}
}
