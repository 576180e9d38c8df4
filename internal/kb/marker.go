package kb

import (
	"bytes"
	"cmp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// marker finds the words of one query in texts, for snippets. It matches nearly what
// the index matches: Latin words without their inflection, the last word also as a
// prefix, and runs of Japanese at any position, whole or in parts.
type marker struct {
	look []wanted
	// words is the number of words in the query.
	words int
	// folded is the piece of text being searched, and found its matches.
	folded foldedText
	found  []span
}

// wanted is one pattern to look for in a text.
type wanted struct {
	// text is the folded pattern, and word the index of its word in the query.
	text []byte
	word int
	// latin is set for a word of letters: text is then the prefix that all its
	// inflections share, whole is the complete word, and open allows any continuation.
	latin, open bool
	whole       []byte
	// ends is set for katakana without its long mark, which ends a word.
	ends bool
}

// newMarker returns the marker of a query.
func newMarker(query string) *marker {
	m := &marker{}
	m.folded.fold(query)
	folded := string(m.folded.folded)
	for at := 0; at < len(folded); {
		r, size := utf8.DecodeRuneInString(folded[at:])
		kind := letterKind(r)
		end := at + size
		for end < len(folded) {
			r, size = utf8.DecodeRuneInString(folded[end:])
			if letterKind(r) != kind {
				break
			}
			end += size
		}
		word := folded[at:end]
		switch kind {
		case latinLetter:
			m.look = append(m.look, wanted{
				text: []byte(stub(word)), word: m.words, latin: true, whole: []byte(word),
				open: end == len(folded) && len(word) > 1,
			})
			m.words++
		case runLetter:
			m.addRun(word)
			m.words++
		}
		at = end
	}
	return m
}

// addRun adds a run of characters that are written without spaces. It also adds the
// parts of the run in different scripts, because the index may have matched those.
func (m *marker) addRun(run string) {
	add := func(part string) {
		m.look = append(m.look, wanted{text: []byte(part), word: m.words})
		if short := strings.TrimSuffix(part, "ー"); short != part && utf8.RuneCountInString(short) > 1 {
			m.look = append(m.look, wanted{text: []byte(short), word: m.words, ends: true})
		}
	}
	add(run)
	begin, script := 0, -1
	for i, r := range run {
		if s := scriptOf(r); s != script {
			if part := run[begin:i]; script >= 0 && utf8.RuneCountInString(part) > 1 {
				add(part)
			}
			begin, script = i, s
		}
	}
	if part := run[begin:]; begin > 0 && utf8.RuneCountInString(part) > 1 {
		add(part)
	}
}

// stub returns the prefix that all inflections of a word share: retr for retries.
func stub(word string) string {
	cut := word
	switch {
	case len(word) < 4:
		return word
	case strings.HasSuffix(word, "ing"), strings.HasSuffix(word, "ies"), strings.HasSuffix(word, "ied"):
		cut = word[:len(word)-3]
	case strings.HasSuffix(word, "ed"), strings.HasSuffix(word, "es"):
		cut = word[:len(word)-2]
	case strings.HasSuffix(word, "ss"):
	case strings.HasSuffix(word, "s"), strings.HasSuffix(word, "e"), strings.HasSuffix(word, "y"):
		cut = word[:len(word)-1]
	}
	if n := len(cut); n > 3 && cut[n-1] == cut[n-2] && cut != word {
		cut = cut[:n-1] // run for running
	}
	if len(cut) < 3 {
		return word
	}
	return cut
}

// inflects reports whether rest is a possible ending of a word that begins with stub.
func inflects(stub, rest []byte) bool {
	switch string(rest) {
	case "", "s", "e", "es", "ed", "ing", "y", "ies", "ied":
		return true
	}
	return rest[0] == stub[len(stub)-1] && (string(rest[1:]) == "ed" || string(rest[1:]) == "ing") // ning for running
}

// span is a match in a text: its offsets in bytes and the index of the query's word.
type span struct{ from, to, word int }

// mostSpans is the maximum number of matches of a word in one piece of a text.
const mostSpans = 32

// spans returns the matches in a piece of a text, in order and without overlap. The
// result is valid until the next call. Within also finds words inside of other words.
func (m *marker) spans(text string, within bool) []span {
	f := &m.folded
	f.fold(text)
	all := m.found[:0]
	for i := range m.look {
		w := &m.look[i]
		for at, n := 0, 0; n < mostSpans; {
			next := bytes.Index(f.folded[at:], w.text)
			if next < 0 {
				break
			}
			at += next
			if end, ok := w.match(f.folded, at, within); ok {
				all = append(all, span{f.start(at), f.end(end), w.word})
				n++
				at = end
			} else {
				at += len(w.text)
			}
		}
	}
	if len(m.look) > 1 {
		slices.SortFunc(all, func(a, b span) int { return cmp.Or(cmp.Compare(a.from, b.from), cmp.Compare(b.to, a.to)) })
	}
	last := 0
	m.found = slices.DeleteFunc(all, func(s span) bool {
		if s.from < last {
			return true
		}
		last = s.to
		return false
	})
	return m.found
}

// match reports whether the pattern matches at an offset, and where the match ends.
func (w *wanted) match(folded []byte, at int, within bool) (end int, ok bool) {
	end = at + len(w.text)
	if !w.latin {
		next, size := utf8.DecodeRune(folded[end:])
		if last, _ := utf8.DecodeLastRune(w.text); next == 'ー' && scriptOf(last) == katakana {
			return end + size, true
		}
		return end, !w.ends || scriptOf(next) != katakana
	}
	if before, _ := utf8.DecodeLastRune(folded[:at]); at > 0 && letterKind(before) == latinLetter {
		return at + len(w.whole), within && bytes.HasPrefix(folded[at:], w.whole)
	}
	for end < len(folded) {
		r, size := utf8.DecodeRune(folded[end:])
		if letterKind(r) != latinLetter {
			break
		}
		end += size
	}
	word := folded[at:end]
	switch {
	case bytes.Equal(word, w.whole), w.open && bytes.HasPrefix(word, w.whole), inflects(w.text, word[len(w.text):]):
		return end, true
	}
	return at + len(w.whole), within && bytes.HasPrefix(word, w.whole)
}

// These are the kinds of letters.
const (
	noLetter    = iota
	latinLetter // a digit, or a letter of a script with spaces between words
	runLetter   // a letter of a script without spaces
)

func letterKind(r rune) int {
	switch {
	case r < utf8.RuneSelf:
		if 'a' <= r && r <= 'z' || '0' <= r && r <= '9' {
			return latinLetter
		}
		return noLetter
	case r == '・' || r == '゠':
		return noLetter
	case 'ぁ' <= r && r <= 'ヿ', 0x4e00 <= r && r <= 0x9fff, r == '々' || r == '〆' || r == '〇':
		return runLetter
	case unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul,
		unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar):
		return runLetter
	case unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.Is(unicode.Mn, r):
		return latinLetter
	}
	return noLetter
}

// These are the scripts of a run of Japanese.
const (
	otherScript = iota
	hiragana
	katakana
)

func scriptOf(r rune) int {
	switch {
	case 'ぁ' <= r && r <= 'ゟ':
		return hiragana
	case 'ァ' <= r && r <= 'ヺ', r == 'ー', 'ㇰ' <= r && r <= 'ㇿ':
		return katakana
	}
	return otherScript
}
