package cli

import (
	"fmt"
	"io"
	"os"
	"sync"
	"unicode/utf16"
	"unicode/utf8"

	"golang.org/x/term"

	"genkan/internal/gateway"
)

// screen is a writer for people. Texts of servers, items and files can contain
// characters that control a terminal or are invisible; a screen replaces them with
// escapes such as \x1b and \u202e. All output of commands goes through one, so no
// command can forget it. Texts for programs use command.exact, and JSON uses
// command.jsonOut.
type screen struct {
	out io.Writer
	// form writes the escapes.
	form func(to []byte, r rune, invalid bool) []byte

	mu sync.Mutex
	// begun holds the first bytes of a character that continues in the next write.
	begun []byte
}

func (s *screen) Write(text []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	whole := append(s.begun, text...) //nolint:gocritic // begun is set anew below
	n := len(whole) - unfinished(whole)
	s.begun = append([]byte(nil), whole[n:]...)
	if _, err := io.WriteString(s.out, gateway.Escape(string(whole[:n]), true, s.form)); err != nil {
		return 0, err
	}
	return len(text), nil
}

// unfinished returns the number of bytes at the end that may begin a character.
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

// behind returns the writer that a screen writes to. It is for genkan's own
// terminal control sequences, and for protocols.
func behind(w io.Writer) io.Writer {
	if s, ok := w.(*screen); ok {
		return s.out
	}
	return w
}

// exact returns standard output for texts that programs read. It writes bytes
// unchanged unless it is a terminal.
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

// forPrograms writes JSON escapes, so that strings keep their meaning.
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
