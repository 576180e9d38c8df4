package exchange

import (
	"fmt"
	"slices"
	"strings"
	"unicode"
)

// words lists plain scalars that some YAML parsers do not read as text.
var words = []string{"true", "false", "yes", "no", "on", "off", "y", "n", "null", "nan", "inf", "infinity"}

// scalar encodes a text as a YAML value on one line: plain if every YAML parser reads it
// as text, in double quotes otherwise.
func scalar(text string) string {
	if isPlain(text) {
		return text
	}
	var b strings.Builder
	b.WriteByte('"')
	for _, r := range text {
		switch {
		case r == '"' || r == '\\':
			b.WriteByte('\\')
			b.WriteRune(r)
		case r == '\n':
			b.WriteString(`\n`)
		case r == '\r':
			b.WriteString(`\r`)
		case r == '\t':
			b.WriteString(`\t`)
		case r == ' ' || unicode.IsGraphic(r) && !unicode.Is(unicode.Zs, r):
			b.WriteRune(r)
		case r <= 0xffff: // control characters, unusual spaces and line breaks, invisible characters
			fmt.Fprintf(&b, `\u%04X`, r)
		default:
			fmt.Fprintf(&b, `\U%08X`, r)
		}
	}
	b.WriteByte('"')
	return b.String()
}

// isPlain accepts only letters, digits and a few signs, beginning with a letter.
func isPlain(text string) bool {
	if text == "" || strings.HasSuffix(text, " ") || slices.Contains(words, strings.ToLower(text)) {
		return false
	}
	for i, r := range text {
		letter := unicode.IsLetter(r)
		if !letter && (i == 0 || !unicode.IsDigit(r) && !strings.ContainsRune(" _-./", r)) {
			return false
		}
	}
	return true
}
