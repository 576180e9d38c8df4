package exchange

import (
	"fmt"
	"slices"
	"strings"
	"unicode"
)

// words are what some reader of YAML takes for something else than text.
var words = []string{"true", "false", "yes", "no", "on", "off", "y", "n", "null", "nan", "inf", "infinity"}

// scalar writes a text as a YAML value on one line: plain where no reader of YAML can
// take it for anything else, in double quotes otherwise.
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
		case r <= 0xffff: // Controls, odd spaces and line breaks, what cannot be seen.
			fmt.Fprintf(&b, `\u%04X`, r)
		default:
			fmt.Fprintf(&b, `\U%08X`, r)
		}
	}
	b.WriteByte('"')
	return b.String()
}

// isPlain is careful: letters, digits and a few signs, beginning with a letter.
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
