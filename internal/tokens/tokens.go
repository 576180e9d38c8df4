// Package tokens estimates how many tokens of a language model a text has.
package tokens

// sampled is how much of a long text is looked at, in bytes, and windows in how many
// places.
const sampled, windows = 384, 3

// Estimate returns roughly how many tokens a text has. It looks at samples of a long
// text, so its cost is bounded.
func Estimate(text []byte) int {
	if len(text) <= sampled {
		return count(text) / unit
	}
	const size = sampled / windows
	total := 0
	for i := range windows {
		at := (len(text) - size) / (windows - 1) * i
		total += count(text[at : at+size])
	}
	return int(int64(total) * int64(len(text)) / sampled / unit)
}

// unit is a token in the unit that count returns.
const unit = 12

// count weighs the words, numbers, signs and characters of a text.
func count(text []byte) (total int) {
	const (
		letters = 2    // of a word, each; a word of six letters is a token
		digits  = 4    // three are a token
		sign    = 8    // often joined with a neighbour
		beyond  = 3    // a byte of a character beyond ASCII
		least   = unit // of a word
	)
	word := 0
	end := func() {
		if word > 0 {
			total += max(word*letters, least)
			word = 0
		}
	}
	for _, c := range text {
		switch {
		case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z':
			word++
			continue
		case c >= 0x80:
			total += beyond
		case c >= '0' && c <= '9':
			total += digits
		case c == ' ', c == '\n', c == '\t', c == '\r':
		default:
			total += sign
		}
		end()
	}
	end()
	return total
}
