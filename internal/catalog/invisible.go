package catalog

import (
	"fmt"
	"slices"
	"strconv"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"

	"genkan/internal/gateway"
)

// invisible reports the characters of a JSON value that people do not see and
// models read: somebody may have hidden words with them. The value is read as it
// is, escapes included.
func invisible(raw []byte) (note gateway.Text, found bool) {
	if isPlain(raw) {
		return gateway.Text{}, false
	}
	var codes []string
	count, joined := 0, 0
	eachCharacter(raw, func(c rune) {
		if joins(c) {
			joined++
		} else {
			joined = 0
		}
		if !isInvisible(c) && joined < longestJoin {
			return
		}
		count++
		if code := fmt.Sprintf("U+%04X", c); len(codes) < 5 && !slices.Contains(codes, code) {
			codes = append(codes, code)
		}
	})
	if count == 0 {
		return gateway.Text{}, false
	}
	return gateway.Textf("it has %d characters that people do not see and models read (%s)", count, gateway.Names(codes)), true
}

// isPlain reports whether a JSON value has neither escaped characters nor others
// than those of ASCII, as most have.
func isPlain(raw []byte) bool {
	for i, c := range raw {
		if c >= 0x7f || c == 'u' && i > 0 && raw[i-1] == '\\' {
			return false
		}
	}
	return true
}

// isInvisible reports whether c is never seen and has no use in a text: control
// characters, direction overrides, tag characters and those without width.
func isInvisible(c rune) bool {
	switch {
	case c == '\t' || c == '\n' || c == '\r':
		return false
	case unicode.IsControl(c),
		c >= 0x202A && c <= 0x202E, c >= 0x2066 && c <= 0x2069,
		c >= 0xE0000 && c <= 0xE007F,
		c == 0x200B, c >= 0x2060 && c <= 0x2064, c == 0xFEFF, c == 0x180E:
		return true
	default:
		return false
	}
}

// longestJoin is how many joiners in a row are invisible text: emoji have two.
const longestJoin = 3

// joins reports whether c is an invisible character that scripts and emoji need
// between or after others: joiners and variation selectors.
func joins(c rune) bool {
	return c == 0x200C || c == 0x200D || c >= 0xFE00 && c <= 0xFE0F || c >= 0xE0100 && c <= 0xE01EF
}

// eachCharacter calls visit for the characters of a JSON value, with escapes
// resolved.
func eachCharacter(raw []byte, visit func(rune)) {
	high := rune(0) // the first half of a surrogate pair
	for i := 0; i < len(raw); {
		c, size, half := rune(raw[i]), 1, rune(0)
		switch {
		case c == '\\' && i+5 < len(raw) && raw[i+1] == 'u':
			n, _ := strconv.ParseUint(string(raw[i+2:i+6]), 16, 16)
			c, size = rune(n), 6
			if pair := utf16.DecodeRune(high, c); pair != utf8.RuneError {
				c = pair
			} else if utf16.IsSurrogate(c) {
				half = c
			}
		case c == '\\':
			size = 2
		case c >= utf8.RuneSelf:
			c, size = utf8.DecodeRune(raw[i:])
		}
		if high = half; half == 0 {
			visit(c)
		}
		i += size
	}
}
