package index

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// Fold returns the form in which texts are compared: NFKC, which maps full-width letters
// and half-width kana to the usual ones, and lower case.
func Fold(text string) string {
	upper := false
	for _, r := range text {
		if !isPlain(r) {
			return strings.Map(unicode.ToLower, norm.NFKC.String(text))
		}
		upper = upper || r >= 'A' && r <= 'Z'
	}
	if !upper {
		return text
	}
	folded := []byte(text)
	lower(folded)
	return string(folded)
}

// isPlain reports whether folding leaves a character unchanged, except for the case of
// ASCII letters, in a text of only such characters. Most texts are plain.
func isPlain(r rune) bool {
	return r < utf8.RuneSelf || r >= 0x4e00 && r <= 0x9fff || r >= 'ぁ' && r <= 'ゖ' || r >= 'ァ' && r <= 'ー' ||
		r >= '、' && r <= '〃' || r >= '「' && r <= '』'
}

func lower(text []byte) {
	for i, c := range text {
		if c >= 'A' && c <= 'Z' {
			text[i] = c + 'a' - 'A'
		}
	}
}

// class says how a character affects the words around it.
type class uint8

const (
	between class = iota // ends words
	letter               // a digit, or a letter of a script with spaces between words
	ideal                // a character of a script without spaces: kanji, kana, hangul, Thai and the like
)

// classOf returns the class of a folded character.
func classOf(r rune) class {
	switch {
	case r < utf8.RuneSelf:
		if r >= 'a' && r <= 'z' || r >= '0' && r <= '9' || r >= 'A' && r <= 'Z' {
			return letter
		}
		return between
	case r == '・' || r == '゠':
		return between
	case r >= 'ぁ' && r <= 'ヿ', r >= 0x4e00 && r <= 0x9fff, r == '々' || r == '〆' || r == '〇':
		return ideal
	case unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul, unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar):
		return ideal
	case unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.Is(unicode.Mn, r):
		return letter
	}
	return between
}

// katakana reports whether a character is a letter of words with an optional long mark at
// the end.
func katakana(r rune) bool { return r >= 'ァ' && r <= 'ヺ' || r >= 'ㇰ' && r <= 'ㇿ' }

// longMark ends many words, or is left out there: ユーザー, ユーザ.
const longMark = 'ー'

// piece is a word, or a run of characters that are written without spaces.
type piece struct {
	class class
	text  string
	// at is the offset of the piece in the folded text, in bytes.
	at int
	// joined is set if nothing, or one space, separates the piece from the one before.
	joined bool
}

// pieces splits a folded text.
func pieces(folded string, yield func(piece)) {
	end := -1 // of the piece before
	for i := 0; i < len(folded); {
		r, size := utf8.DecodeRuneInString(folded[i:])
		c := classOf(r)
		if c == between {
			i += size
			continue
		}
		start := i
		for i += size; i < len(folded); i += size {
			if r, size = utf8.DecodeRuneInString(folded[i:]); classOf(r) != c {
				break
			}
		}
		joined := end >= 0 && (start == end || start == end+1 && folded[end] == ' ')
		yield(piece{class: c, text: folded[start:i], at: start, joined: joined})
		end = i
	}
}
