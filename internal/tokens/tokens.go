// Package tokens estimates how many tokens of a language model a text has, by the
// o200k vocabulary.
package tokens

import _ "embed"

// The text is read once, byte by byte. Each byte has a class, such as vowel, digit or
// first byte of a kanji. How likely a token begins at a byte is known from the classes
// of the byte, of the two before it and of the one after it; the number of tokens is
// the sum of these. TestTune measures the likelihoods on a folder of texts.

// The classes of bytes. Four of them make a context, so there are at most 16.
const (
	space = iota
	lineEnd
	vowel
	consonant
	rare // letters that are rare in words and common in codes
	upper
	digit
	quote // and the backslash, which often comes before one
	bracket
	comma // separators and what stands within words
	sign
	following // a later byte of a character beyond ASCII
	latin     // the first byte of a character of two bytes
	kana      // the first byte of kana and of the punctuation of Japanese
	kanji     // the first byte of a kanji
	wide      // the first byte of others of three bytes, of emoji and of rare kanji
)

// classes has the class of each byte.
//
//nolint:gochecknoglobals // a table
var classes = func() (c [256]byte) {
	for i := range c {
		switch b := byte(i); {
		case b == '\n' || b == '\r':
			c[i] = lineEnd
		case b <= ' ' || b == 0x7f:
			c[i] = space
		case b >= '0' && b <= '9':
			c[i] = digit
		case b >= 'A' && b <= 'Z':
			c[i] = upper
		case b >= 'a' && b <= 'z':
			c[i] = consonant
		case b < 0x80:
			c[i] = sign
		case b < 0xC0:
			c[i] = following
		case b < 0xE0:
			c[i] = latin
		case b == 0xE3:
			c[i] = kana
		case b >= 0xE4 && b <= 0xE9:
			c[i] = kanji
		default:
			c[i] = wide
		}
	}
	for class, members := range map[byte]string{
		vowel: "aeiou", rare: "bfjkqvwxyz", quote: `"'\` + "`", bracket: "{}[]()<>", comma: ",.:;-_/",
	} {
		for _, b := range []byte(members) {
			c[b] = class
		}
	}
	return c
}()

// measured has the weights, as TestTune wrote them.
//
//go:embed weights.bin
var measured string

// weights has the likelihood that a token begins, by the four classes of the context,
// four bits each.
//
//nolint:gochecknoglobals // a table
var weights = func() (w [1 << 16]byte) {
	copy(w[:], measured)
	return w
}()

// unit is a token in the unit of the weights.
const unit = 240

// Count returns how many tokens a text has. It reads the whole text.
func Count(text []byte) int { return int((weigh(text) + unit/2) / unit) } //nolint:gosec // fewer than bytes

// weigh returns the sum of the weights of a text.
func weigh(text []byte) (total uint64) {
	if len(text) == 0 {
		return 0
	}
	// A text begins and ends as a line does.
	context := lineEnd<<8 | lineEnd<<4 | uint16(classes[text[0]])
	for _, b := range text[1:] {
		context = context<<4 | uint16(classes[b])
		total += uint64(weights[context])
	}
	return total + uint64(weights[context<<4|lineEnd])
}

// sampled is how much of a long text is looked at, in bytes, and windows in how many
// places.
const sampled, windows = 384, 3

// Estimate returns roughly how many tokens a text has. It looks at samples of a long
// text, so its cost is bounded.
func Estimate(text []byte) int {
	return sample(text, sampled, windows)
}

// Fit reports whether a text has at most a number of tokens. It counts them only where
// samples come near to it.
func Fit(text []byte, most int) bool {
	// A token has at least one byte.
	return len(text) <= most || sample(text, 4<<10, 32) <= most/4*3 || Count(text) <= most
}

// sample estimates from some bytes of a text, in so many places, how many tokens it has.
func sample(text []byte, bytes, places int) int {
	if len(text) <= bytes {
		return Count(text)
	}
	size := bytes / places
	var total uint64
	for i := range places {
		at := (len(text) - size) / (places - 1) * i
		total += weigh(text[at : at+size])
	}
	return int(total * uint64(len(text)) / uint64(bytes) / unit) //nolint:gosec // fewer than bytes
}
