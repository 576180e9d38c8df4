package cli

import (
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"

	"golang.org/x/term"
)

// screen is a writer for people. Texts of servers, items and files can contain
// characters that steer a terminal or that nobody sees; a screen writes escapes
// such as \x1b and \u202e in their place. All output of commands goes through one,
// so no command can forget it. Texts for programs take command.exact, and JSON takes
// command.jsonOut.
type screen struct {
	out io.Writer
	// form writes the escapes.
	form escapes

	mu sync.Mutex
	// begun holds the first bytes of a character whose others are in the next write.
	begun []byte
}

func (s *screen) Write(text []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	whole := append(s.begun, text...) //nolint:gocritic // begun is set anew below
	n := len(whole) - unfinished(whole)
	s.begun = append([]byte(nil), whole[n:]...)
	if _, err := io.WriteString(s.out, visible(string(whole[:n]), true, s.form)); err != nil {
		return 0, err
	}
	return len(text), nil
}

// unfinished is the number of bytes at the end that can be the beginning of a
// character.
func unfinished(text []byte) int {
	for n := 1; n < utf8.UTFMax && n <= len(text); n++ {
		if last := text[len(text)-n:]; utf8.RuneStart(last[0]) {
			if utf8.FullRune(last) {
				return 0
			}
			return n
		}
	}
	return 0
}

// behind is the writer that a screen writes to. Bytes of our own that steer the
// terminal go there, and protocols do.
func behind(w io.Writer) io.Writer {
	if s, ok := w.(*screen); ok {
		return s.out
	}
	return w
}

// exact is standard output for texts that programs read: their bytes pass
// unchanged, unless it is a terminal.
func (c *command) exact() io.Writer {
	if isTerminal(c.std.Out) {
		return c.std.Out
	}
	return behind(c.std.Out)
}

func isTerminal(w io.Writer) bool {
	f, ok := behind(w).(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}

// printable is a text on one line: line breaks and tabs are escaped, too. It is for
// names, and for cells of tables.
func printable(text string) string { return visible(text, false, forPeople) }

// escapes appends the escape of a character, or of a byte that is not UTF-8.
type escapes func(to []byte, r rune, invalid bool) []byte

func forPeople(to []byte, r rune, invalid bool) []byte {
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

// forPrograms writes escapes of JSON, so that strings keep their meaning.
func forPrograms(to []byte, r rune, invalid bool) []byte {
	if invalid {
		return append(to, `\ufffd`...)
	}
	if r > 0xffff {
		high, low := utf16.EncodeRune(r)
		return fmt.Appendf(to, `\u%04x\u%04x`, high, low)
	}
	return fmt.Appendf(to, `\u%04x`, r)
}

// visible replaces the characters of a text that are hidden. With lines, line
// breaks and tabs stay.
func visible(text string, lines bool, form escapes) string {
	if lines {
		text = strings.ReplaceAll(text, "\r\n", "\n")
	}
	var out []byte // once something was replaced
	last := rune(0)
	for i := 0; i < len(text); {
		r, size := utf8.DecodeRuneInString(text[i:])
		invalid := r == utf8.RuneError && size == 1
		keep := lines && (r == '\n' || r == '\t') || !invalid && !hidden(last, r)
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

// hidden reports whether a terminal would obey a character or show nothing for it.
// Last is the character before it: joiners and variation selectors are part of
// emoji and of some scripts, where one stands behind a character of these.
func hidden(last, r rune) bool {
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
