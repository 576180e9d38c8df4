package kb

import (
	"sort"
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

// foldedText is a text with its folded form, in which snippets look for words:
// as fold makes it, and Latin letters without accents.
type foldedText struct {
	folded []byte
	// odd are the parts that are not as long as they were, in order. All else stands
	// where it stood, moved by what these have left out.
	odd []oddPart
}

// oddPart is folded[at:end], of the text's [from:to].
type oddPart struct{ at, end, from, to int }

// fold folds a text, into the memory of the one before. Most texts are plain, and
// fold to themselves but for the case of ASCII.
func (f *foldedText) fold(text string) {
	folded, odd := f.folded[:0], f.odd[:0]
	for at := 0; at < len(text); {
		if n := plainLength(text[at:]); n > 0 {
			begin := len(folded)
			folded = append(folded, text[at:at+n]...)
			for i, c := range folded[begin:] {
				if 'A' <= c && c <= 'Z' {
					folded[begin+i] = c + 'a' - 'A'
				}
			}
			at += n
			continue
		}
		r, size := utf8.DecodeRuneInString(text[at:])
		part := oddPart{at: len(folded), from: at, to: at + size}
		if '！' <= r && r <= '～' { // the width is all there is to it
			folded = append(folded, byte(unicode.ToLower(r-'！'+'!'))) //nolint:gosec // these are ASCII
		} else {
			// A mark belongs to the letter before it, if that is still as it was.
			apart := len(odd) > 0 && odd[len(odd)-1].end == len(folded)
			if !apart && len(folded) > 0 && !norm.NFKC.PropertiesString(text[at:]).BoundaryBefore() {
				_, before := utf8.DecodeLastRune(folded)
				part.at, part.from = part.at-before, part.from-before
				folded = folded[:part.at]
			}
			// Within these bounds nothing combines with what is outside.
			part.to = max(part.to, part.from+norm.NFKC.NextBoundaryInString(text[part.from:], true))
			folded = append(folded, plainLetter(fold(text[part.from:part.to]))...)
		}
		part.end = len(folded)
		odd = append(odd, part)
		at = part.to
	}
	f.folded, f.odd = folded, odd
}

// plainLength is how much of a text from its beginning is as long when it is
// folded.
func plainLength(text string) int {
	for at := 0; at < len(text); {
		if text[at] < utf8.RuneSelf {
			at++
			continue
		}
		r, size := utf8.DecodeRuneInString(text[at:])
		if !foldsToItself(r) {
			return at
		}
		at += size
	}
	return len(text)
}

// foldsToItself tells the characters beyond ASCII that are most of Japanese and
// other texts.
func foldsToItself(r rune) bool {
	return 'ぁ' <= r && r <= 'ゖ' || 'ァ' <= r && r <= 'ー' || 0x4e00 <= r && r <= 0x9fff ||
		'、' <= r && r <= '】' || '‐' <= r && r <= '‧' || '←' <= r && r <= '⋿' || '─' <= r && r <= '◿'
}

// plainLetter takes the accents off a Latin letter.
func plainLetter(letter string) string {
	apart := norm.NFD.String(letter)
	if apart == "" || apart[0] >= utf8.RuneSelf || len(apart) == 1 {
		return letter
	}
	return strings.Map(func(r rune) rune {
		if unicode.Is(unicode.Mn, r) {
			return -1
		}
		return r
	}, apart)
}

// before is the last odd part that begins before a place of the folded text.
func (f *foldedText) before(at int) (oddPart, bool) {
	i := sort.Search(len(f.odd), func(i int) bool { return f.odd[i].at >= at })
	if i == 0 {
		return oddPart{}, false
	}
	return f.odd[i-1], true
}

// start is where in the text that begins which begins at a place of the folded
// one, and end where that ends which ends there.
func (f *foldedText) start(at int) int {
	o, ok := f.before(at + 1)
	switch {
	case !ok:
		return at
	case at < o.end:
		return o.from
	}
	return o.to + at - o.end
}

func (f *foldedText) end(at int) int {
	o, ok := f.before(at)
	switch {
	case !ok:
		return at
	case at <= o.end:
		return o.to
	}
	return o.to + at - o.end
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
