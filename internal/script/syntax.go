package script

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"genkan/internal/gateway"
)

// SyntaxError is why a script cannot be compiled.
type SyntaxError struct {
	// Line and Column are places in the source, from 1; 0 if unknown.
	Line, Column int
	// Message is that of the compiler. Text says it better.
	Message string
}

func (e *SyntaxError) Error() string {
	if e.Line == 0 {
		return e.Text().String()
	}
	return fmt.Sprintf("line %d, column %d: %s", e.Line, e.Column, e.Text())
}

// EndsEarly is the message about a script whose end comes too early.
const EndsEarly = "the script ends where it should not: one of its brackets is missing, or one too many"

// A message of the compiler has what it names in quotes, and Go's escapes within them.
const quotedSign = `("(?:[^"\\]|\\.)*")`

var (
	expectedSign = regexp.MustCompile(`^Expected ` + quotedSign + ` but found ` + quotedSign + `$`)
	aboutSign    = regexp.MustCompile(`^([A-Z][a-z ]+?) ` + quotedSign + `(.*)$`)
)

// Text says the message without its place. The most frequent messages of the compiler have
// translations.
func (e *SyntaxError) Text() gateway.Text {
	if m := expectedSign.FindStringSubmatch(e.Message); m != nil {
		if text, ok := wideSign(m[2]); ok {
			return text
		}
		return gateway.Textf("Expected %q but found %q", unquoted(m[1]), unquoted(m[2]))
	}
	switch e.Message {
	case EndsEarly:
		return gateway.Textf(EndsEarly)
	case "Unterminated string literal":
		return gateway.Textf("Unterminated string literal")
	case "Unterminated regular expression":
		return gateway.Textf("Unterminated regular expression")
	case "Unterminated group":
		return gateway.Textf("Unterminated group")
	case "Invalid assignment target":
		return gateway.Textf("Invalid assignment target")
	}
	m := aboutSign.FindStringSubmatch(e.Message)
	if m == nil {
		return gateway.Textf("%s", e.Message)
	}
	name := unquoted(m[2])
	switch m[1] + " %q" + m[3] {
	case "Unexpected %q":
		if text, ok := wideSign(m[2]); ok {
			return text
		}
		return gateway.Textf("Unexpected %q", name)
	case "Syntax error %q":
		return gateway.Textf("Syntax error %q", name)
	case "Expected identifier but found %q":
		return gateway.Textf("Expected identifier but found %q", name)
	case "The symbol %q has already been declared":
		return gateway.Textf("The symbol %q has already been declared", name)
	case "The constant %q must be initialized":
		return gateway.Textf("The constant %q must be initialized", name)
	case "Cannot use %q here:":
		return gateway.Textf("%q cannot be used here", name)
	case "Cannot use %q as an identifier here:":
		return gateway.Textf("%q cannot be used as a name here", name)
	}
	return gateway.Textf("%s", e.Message)
}

// wideSign says what to write in place of a sign that an input method of Japanese makes.
func wideSign(quoted string) (gateway.Text, bool) {
	sign := []rune(unquoted(quoted))
	if len(sign) != 1 {
		return gateway.Text{}, false
	}
	if sign[0] >= '！' && sign[0] <= '～' {
		return gateway.Textf("a full-width %q cannot be used here; write %s", string(sign), string(sign[0]-'！'+'!')), true
	}
	const others, usual = "、。「」｢｣“”‘’", `,.""""""''`
	if at := strings.IndexRune(others, sign[0]); at >= 0 {
		return gateway.Textf("%q cannot be used here; write %s", string(sign), usual[at/3:at/3+1]), true
	}
	return gateway.Text{}, false
}

func unquoted(text string) string {
	if plain, err := strconv.Unquote(text); err == nil {
		return plain
	}
	return strings.Trim(text, `"`)
}
