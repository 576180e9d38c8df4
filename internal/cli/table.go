package cli

import (
	"fmt"
	"strings"

	"genkan/internal/gateway"
)

// table prints aligned rows.
func (c *command) table(rows [][]string) { fmt.Fprint(c.std.Out, tableText(rows)) }

// tableText aligns rows, which have the same number of cells. A cell is one line.
// Otherwise a line break in a name could make a file of a cloned project show
// a different command than the one that would run.
func tableText(rows [][]string) string {
	const gap = 2
	widest := make([]int, len(rows[0]))
	for _, row := range rows {
		for i, cell := range row {
			cell = gateway.Printable(cell)
			row[i] = cell
			widest[i] = max(widest[i], width(cell))
		}
	}
	var text strings.Builder
	for _, row := range rows {
		var line strings.Builder
		for i, cell := range row {
			line.WriteString(cell)
			if i < len(row)-1 {
				line.WriteString(strings.Repeat(" ", widest[i]-width(cell)+gap))
			}
		}
		text.WriteString(strings.TrimRight(line.String(), " ") + "\n")
	}
	return text.String()
}

// indented indents a foreign text under a heading, so that none of its lines looks
// like a line of genkan's own.
func indented(text string) string { return "  " + hanging(strings.TrimRight(text, "\r\n")) }

// hanging indents all lines of a foreign text but the first, which continues a
// line.
func hanging(text string) string { return strings.ReplaceAll(text, "\n", "\n  ") }

// width returns how many columns of a terminal a text takes. Japanese characters
// take two, which text/tabwriter does not know.
func width(text string) int {
	n := 0
	for _, r := range text {
		n++
		if isWide(r) {
			n++
		}
	}
	return n
}

// isWide follows the wide and full-width ranges of Unicode's East Asian Width,
// as far as tools and people use them.
func isWide(r rune) bool {
	return r >= 0x1100 && r <= 0x115f || // Hangul
		r >= 0x2e80 && r <= 0xa4cf || // CJK, kana, punctuation
		r >= 0xac00 && r <= 0xd7a3 || // Hangul
		r >= 0xf900 && r <= 0xfaff || // CJK, compatibility
		r >= 0xfe30 && r <= 0xfe6f ||
		r >= 0xff00 && r <= 0xff60 || // full-width forms
		r >= 0xffe0 && r <= 0xffe6 ||
		r >= 0x1f300 && r <= 0x1faff || // pictures
		r >= 0x20000 && r <= 0x3fffd
}
