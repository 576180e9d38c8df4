package script

import (
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/evanw/esbuild/pkg/api"
)

// Code beyond these limits is not checked, because the parser needs the stack and the
// time for it that deep nesting takes.
const (
	maxChecked = 32 << 10
	maxNesting = 256
	checkTime  = 5 * time.Second
	// shownMistakes is how many mistakes an error names.
	shownMistakes = 3
)

// checking is held by the check that is at work, so that they take one core at most.
//
//nolint:gochecknoglobals // a limit of the process
var checking = make(chan struct{}, 1)

// Check parses JavaScript that is the body of an async function, and runs nothing. It
// returns an *Error with the place of the first mistake. Code that is very long or nested
// very deep is not checked.
func Check(source string) error {
	// The parser takes cubic time for arrow functions in one another.
	if len(source) > maxChecked || nesting(source) > maxNesting || strings.Count(source, "=>") > maxNesting {
		return nil
	}
	timer := time.NewTimer(checkTime)
	defer timer.Stop()
	select {
	case checking <- struct{}{}:
	case <-timer.C:
		return nil
	}
	parsed := make(chan []api.Message, 1)
	go func() {
		defer func() { <-checking }()
		parsed <- api.Transform("async function check() {\n"+source+"\n}", api.TransformOptions{
			Loader: api.LoaderJS, LogLevel: api.LogLevelSilent,
		}).Errors
	}()
	select {
	case mistakes := <-parsed:
		return mistake(source, mistakes)
	case <-timer.C:
		return nil
	}
}

// nesting returns how deep the brackets are, at most.
func nesting(source string) (most int) {
	depth := 0
	for i := range len(source) {
		switch source[i] {
		case '(', '[', '{':
			depth++
			most = max(most, depth)
		case ')', ']', '}':
			depth = max(depth-1, 0)
		}
	}
	return most
}

// mistake returns the error for mistakes in a source, which begins at the second line of
// what was parsed.
func mistake(source string, found []api.Message) error {
	if len(found) == 0 {
		return nil
	}
	lines := strings.Split(source, "\n")
	place := func(m api.Message) (line, column int) {
		if at := m.Location; at != nil && at.Line-2 < len(lines) && at.Column <= len(at.LineText) {
			return max(at.Line-1, 1), utf8.RuneCountInString(at.LineText[:at.Column]) + 1
		}
		return len(lines), utf8.RuneCountInString(lines[len(lines)-1]) + 1
	}
	// The bracket behind the source is not the user's.
	said := func(m api.Message) string {
		if at := m.Location; at != nil && at.Line-2 >= len(lines) {
			return strings.ReplaceAll(m.Text, `"}"`, "end of file")
		}
		return m.Text
	}
	text := said(found[0])
	for _, m := range found[1:min(len(found), shownMistakes)] {
		line, column := place(m)
		text += fmt.Sprintf("; line %d, column %d: %s", line, column, said(m))
	}
	line, column := place(found[0])
	return &Error{Message: text, Line: line, Column: column}
}
