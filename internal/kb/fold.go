package kb

import (
	"sort"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// fold maps texts that readers consider the same to one text: full and half width,
// upper and lower case. It shares nothing with the index's Fold, because tests
// compare the index with answers from the rows.
func fold(text string) string {
	lower := strings.ToLower(norm.NFKC.String(text))
	return norm.NFKC.String(lower) // lower case decomposes some letters
}

// foldedText is a text with its folded form, in which snippets look for words. The
// folded form is that of fold, with accents removed from Latin letters.
type foldedText struct {
	folded []byte
	// odd lists, in order, the parts whose length has changed. All other text is only
	// shifted by the length differences of the odd parts before it.
	odd []oddPart
}

// oddPart says that folded[at:end] is the folded form of text[from:to].
type oddPart struct{ at, end, from, to int }

// fold folds a text and reuses the memory of the text before. Most texts are plain:
// only the case of ASCII letters changes.
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
		if '！' <= r && r <= '～' { // only the width differs
			folded = append(folded, byte(unicode.ToLower(r-'！'+'!'))) //nolint:gosec // these are ASCII
		} else {
			// A mark belongs to the letter before it, if that letter is unchanged.
			apart := len(odd) > 0 && odd[len(odd)-1].end == len(folded)
			if !apart && len(folded) > 0 && !norm.NFKC.PropertiesString(text[at:]).BoundaryBefore() {
				_, before := utf8.DecodeLastRune(folded)
				part.at, part.from = part.at-before, part.from-before
				folded = folded[:part.at]
			}
			// Nothing within these bounds combines with text outside.
			part.to = max(part.to, part.from+norm.NFKC.NextBoundaryInString(text[part.from:], true))
			folded = append(folded, plainLetter(fold(text[part.from:part.to]))...)
		}
		part.end = len(folded)
		odd = append(odd, part)
		at = part.to
	}
	f.folded, f.odd = folded, odd
}

// plainLength returns the length of the longest prefix whose folded form has the same
// length.
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

// foldsToItself reports whether folding leaves a character unchanged. It knows the
// characters beyond ASCII that make up most of Japanese and other texts.
func foldsToItself(r rune) bool {
	return 'ぁ' <= r && r <= 'ゖ' || 'ァ' <= r && r <= 'ー' || 0x4e00 <= r && r <= 0x9fff ||
		'、' <= r && r <= '】' || '‐' <= r && r <= '‧' || '←' <= r && r <= '⋿' || '─' <= r && r <= '◿'
}

// plainLetter removes the accents of a Latin letter.
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

// before returns the last odd part that begins before an offset of the folded text.
func (f *foldedText) before(at int) (oddPart, bool) {
	i := sort.Search(len(f.odd), func(i int) bool { return f.odd[i].at >= at })
	if i == 0 {
		return oddPart{}, false
	}
	return f.odd[i-1], true
}

// start converts the offset of the beginning of a match in the folded text to an
// offset in the text, and end converts the offset of its end.
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

// beginsWord reports whether a completion may begin at this offset of a text: at the
// beginning of a word, and anywhere in scripts without spaces.
func beginsWord(text string, at int) bool {
	if at == 0 {
		return true
	}
	before, _ := utf8.DecodeLastRuneInString(text[:at])
	here, _ := utf8.DecodeRuneInString(text[at:])
	wordly := func(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }
	return here > unicode.MaxLatin1 || !wordly(before)
}
