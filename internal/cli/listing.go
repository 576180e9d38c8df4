package cli

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"unicode"

	"golang.org/x/term"

	"genkan/internal/gateway"
)

// shown is a name with several lines of description.
type shown struct {
	name  string
	lines []string
}

// list prints names with their lines beside them. On a terminal, long lines are
// wrapped so that they stay beside their name; nothing is cut off.
func (c *command) list(all []shown) {
	const indent, gap, narrowest = 2, 2, 20
	widest := 0
	for i := range all {
		all[i].name = gateway.Printable(all[i].name)
		widest = max(widest, width(all[i].name))
	}
	room := 0
	if columns := c.columns(); columns > 0 {
		room = max(columns-widest-indent-gap, narrowest)
	}
	for _, one := range all {
		name := one.name
		for _, line := range one.lines {
			for _, part := range wrapped(gateway.Printable(line), room) {
				text := strings.Repeat(" ", indent) + name + strings.Repeat(" ", widest-width(name)+gap) + part
				fmt.Fprintln(c.std.Out, strings.TrimRight(text, " "))
				name = ""
			}
		}
	}
}

// columns returns how many columns the terminal has; 0 if standard output is none.
func (c *command) columns() int {
	if out, ok := behind(c.std.Out).(*os.File); ok {
		if columns, _, err := term.GetSize(int(out.Fd())); err == nil {
			return columns
		}
	}
	return 0
}

// wrapped breaks a text into lines of the given number of columns, at spaces if
// possible. It keeps every character. If columns is zero, the result is one line.
func wrapped(text string, columns int) []string {
	var lines []string
	for columns > 0 && width(text) > columns {
		end, taken, space := 0, 0, 0
		for at, r := range text {
			taken += width(string(r))
			if taken > columns {
				break
			}
			end = at + len(string(r))
			if r == ' ' {
				space = end
			}
		}
		if space > 0 {
			end = space
		}
		lines = append(lines, text[:end])
		text = text[end:]
	}
	return append(lines, text)
}

// commandLine quotes words as a shell does, so that a reader sees where each begins
// and ends. It escapes characters that a terminal would not show.
func commandLine(words []string) string {
	var all []string
	for _, word := range words {
		switch {
		case strings.ContainsFunc(word, func(r rune) bool { return !unicode.IsPrint(r) || r == unicode.ReplacementChar || isBlank(r) }):
			quoted := strconv.QuoteToASCII(word)
			all = append(all, "$'"+strings.NewReplacer(`\\`, `\\`, `\"`, `"`, `'`, `\'`).Replace(quoted[1:len(quoted)-1])+"'")
		case word == "" || strings.ContainsAny(word, " '\"`"):
			all = append(all, "'"+strings.ReplaceAll(word, "'", `'\''`)+"'")
		default:
			all = append(all, word)
		}
	}
	return strings.Join(all, " ")
}

// isBlank reports whether a character counts as printable but shows nothing: the
// Hangul fillers and the empty Braille pattern.
func isBlank(r rune) bool {
	switch r {
	case 0x115f, 0x1160, 0x2800, 0x3164, 0xffa0:
		return true
	default:
		return false
	}
}
