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

// weigh returns the sum of the weights of a text. It begins and ends as a line does.
func weigh(text []byte) uint64 {
	if len(text) == 0 {
		return 0
	}
	total, context := walk(text[1:], lineEnd<<8|lineEnd<<4|uint16(classes[text[0]]))
	return total + uint64(weights[context<<4|lineEnd])
}

// walk adds up the weights of all bytes before the last one of a text. The context is
// that of the byte before the text.
func walk(text []byte, context uint16) (total uint64, last uint16) {
	for _, b := range text {
		context = context<<4 | uint16(classes[b])
		total += uint64(weights[context])
	}
	return total, context
}

// sampled is how much of a long text is looked at, in bytes, and windows in how many
// places.
const sampled, windows = 384, 3

// Estimate returns roughly how many tokens a text has. It looks at samples of a long
// text, so its cost is bounded.
func Estimate(text []byte) int {
	return sample(text, sampled, windows)
}

// longToken is how many bytes a token has in hardly any text.
const longToken = 8

// Fit reports whether a text has at most a number of tokens. Samples settle it unless they
// are above the limit or the text is unusual; then the text is counted. The samples are
// within 10 percent of Count, so a text that is a little above the limit may fit.
func Fit(text []byte, most int) bool {
	// A token has at least one byte.
	return len(text) <= most ||
		len(text) <= longToken*most && sample(text, 1<<10, 32) <= most ||
		Count(text) <= most
}

// sample estimates from some bytes of a text, in so many places, how many tokens it has.
func sample(text []byte, bytes, places int) int {
	if len(text) <= 2*bytes {
		return Count(text)
	}
	size, part := bytes/places, len(text)/places
	var total uint64
	for i := range places {
		// The place within each part varies, so that rows of one length are not always seen
		// at the same column.
		spread := uint64(uint32(i)*golden) * uint64(part-size-2) >> 32 //nolint:gosec // positive
		at := part*i + int(spread)
		context := uint16(classes[text[at]])<<4 | uint16(classes[text[at+1]])
		context = context<<4 | uint16(classes[text[at+2]])
		sum, _ := walk(text[at+3:at+3+size], context)
		total += sum
	}
	return int(total * uint64(len(text)) / uint64(size*places) / unit) //nolint:gosec // fewer than bytes
}

// golden spreads numbers evenly over 32 bits: it is 2³² divided by the golden ratio.
const golden uint32 = 0x9E3779B1

// Media returns about how many tokens an image or a sound has whose base64 has so many
// bytes. It depends on the size of the picture, which is not known here.
func Media(encoded int) int { return 100 + encoded/1000 } //nolint:mnd // measured

// probes is in how many places HasBase64 looks, and run how many bytes it looks at there.
const probes, run = 16, 48

// HasBase64 reports whether a long text has base64 in it. It looks at some places only.
func HasBase64(text []byte) bool {
	if len(text) < probes*run {
		return false
	}
	for i := range probes {
		if isBase64(text[(len(text)-run)/(probes-1)*i:][:run]) {
			return true
		}
	}
	return false
}

// isBase64 reports whether a text has nothing but characters of base64, among them
// capitals. Words and hexadecimal numbers are shorter.
func isBase64(text []byte) bool {
	capitals := false
	for _, b := range text {
		switch classes[b] {
		case upper:
			capitals = true
		case vowel, consonant, rare, digit:
		default:
			if b != '+' && b != '/' && b != '=' {
				return false
			}
		}
	}
	return capitals
}
