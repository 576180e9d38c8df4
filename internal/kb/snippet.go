package kb

import (
	"math/bits"
	"strings"
	"unicode"
	"unicode/utf8"
)

// A snippet is a piece of an item's text around what a query has found there, on
// one line, with the matches between double asterisks. There is one maker of them:
// what the index finds and what the rows have is shown in the same way.
//
// A page has twenty of them and a text up to 400 KB, so a text is read piece by
// piece, and no further than needed.

const (
	// snippetWidth is how long a snippet is, in characters, about.
	snippetWidth = 160
	// Of a text this many bytes are looked at first, and then twice as many each
	// time, up to mostPiece.
	firstPiece, mostPiece = 512, 4 << 10
	// snippetReach is how much further a place with more words is looked for.
	snippetReach = 8 << 10
	// snippetBorder is what of a text is read around a snippet, in bytes: the words at
	// its ends may go on there.
	snippetBorder = 64

	markOpen, markClose = "**", "**"
)

// snippet prefers what the title does not say. Where nothing has the words as such,
// what has them within a word is shown, as the rows are found by it; and where that
// is nowhere either, the beginning.
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
// words, or else with the most different ones. It is -1 if there is no match.
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

// different is how many words a part of the text has that begins with the first of
// these matches. Those of a long query are counted up to 64.
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

// pieceEnd is where the piece of a text ends that begins somewhere: not within a
// word, if that can be helped.
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

// runeStart is the beginning of the character at a place.
func runeStart(text string, at int) int {
	for at > 0 && at < len(text) && !utf8.RuneStart(text[at]) {
		at--
	}
	return at
}

// show is the snippet around a place.
func (m *marker) show(text string, place int, within bool) string {
	// A quarter of the width goes before the match.
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
		// Not in the middle of a word, if one ends before the match.
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
		end = max(end, to) // not through a match
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

// oneLine is a text without line breaks and with single spaces.
type oneLine struct {
	b     strings.Builder
	space bool // before what comes next
}

// put appends what stays as it is.
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
