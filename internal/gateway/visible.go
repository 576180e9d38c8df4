package gateway

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Printable returns text on one line, with an escape such as \x1b or \u202e for
// every hidden character, line breaks and tabs included. It is for names, and for
// cells of tables.
func Printable(text string) string { return Escape(text, false, AppendEscape) }

// AppendEscape appends the escape of a character, or of a byte that is not UTF-8.
func AppendEscape(to []byte, r rune, invalid bool) []byte {
	switch {
	case invalid:
		return fmt.Appendf(to, `\x%02x`, r)
	case r == '\n':
		return append(to, `\n`...)
	case r == '\t':
		return append(to, `\t`...)
	case r == '\r':
		return append(to, `\r`...)
	case r < ' ':
		return fmt.Appendf(to, `\x%02x`, r)
	case r > 0xffff:
		return fmt.Appendf(to, `\U%08x`, r)
	default:
		return fmt.Appendf(to, `\u%04x`, r)
	}
}

// Escape replaces the hidden characters of a text by what form appends for them,
// invalid for a byte that is not UTF-8. With lines, line breaks and tabs stay.
func Escape(text string, lines bool, form func(to []byte, r rune, invalid bool) []byte) string {
	if lines {
		text = strings.ReplaceAll(text, "\r\n", "\n")
	}
	var out []byte // once something was replaced
	last := rune(0)
	for i := 0; i < len(text); {
		r, size := utf8.DecodeRuneInString(text[i:])
		invalid := r == utf8.RuneError && size == 1
		keep := lines && (r == '\n' || r == '\t') || !invalid && !Hidden(last, r)
		switch {
		case !keep && out == nil:
			out = append(make([]byte, 0, len(text)+len(text)/8+16), text[:i]...)
			fallthrough
		case !keep:
			if invalid {
				r = rune(text[i])
			}
			out = form(out, r, invalid)
			last = 0
		default:
			last = r
			if out != nil {
				out = append(out, text[i:i+size]...)
			}
		}
		i += size
	}
	if out == nil {
		return text
	}
	return string(out)
}

// Hidden reports whether a terminal would obey a character or show nothing for it.
// last is the character before it: joiners and variation selectors are part of
// emoji and of some scripts, where one stands behind a character of these.
func Hidden(last, r rune) bool {
	switch {
	case r < 0x7f:
		return r < ' '
	case r == zeroWidthJoiner, r == zeroWidthNonJoiner, unicode.Is(unicode.Variation_Selector, r):
		return last < 0x80 || invisible(last)
	default:
		return invisible(r)
	}
}

const zeroWidthNonJoiner, zeroWidthJoiner = 0x200c, 0x200d

// invisible reports whether a character has no shape of its own: controls, marks
// of writing direction, tags, fillers and other characters of no width.
func invisible(r rune) bool {
	switch {
	case r < 0x80:
		return r < ' ' || r == 0x7f
	case unicode.Is(unicode.Prepended_Concatenation_Mark, r): // these are shown
		return false
	}
	return unicode.In(
		r, unicode.Cc, unicode.Cf, unicode.Zl, unicode.Zp,
		unicode.Other_Default_Ignorable_Code_Point, unicode.Variation_Selector, unicode.Noncharacter_Code_Point,
	)
}
