package exchange

import (
	"bytes"
	"unicode/utf8"

	"genkan/internal/gateway"
)

// Problem says why a file could not be read, and where.
type Problem struct {
	File  string
	Line  int    // counted from 1
	Field string // empty if the problem does not concern one field
	What  gateway.Text
}

func (p *Problem) Error() string { return p.In(nil) }

// In returns the message in a language.
func (p *Problem) In(translate gateway.Translate) string {
	if p.Field == "" {
		return gateway.Textf("%s, line %d: %s", p.File, p.Line, p.What).In(translate)
	}
	return gateway.Textf("%s, line %d: %s %s", p.File, p.Line, p.Field, p.What).In(translate)
}

// place is the current position in a file, for problems.
type place struct {
	file string
	line int
}

func (p place) problem(format string, values ...any) *Problem {
	return &Problem{File: p.file, Line: p.line, What: gateway.Textf(format, values...)}
}

// wrong returns a problem of one field. The text continues after the field's name.
func (p place) wrong(field, format string, values ...any) *Problem {
	return &Problem{File: p.file, Line: p.line, Field: field, What: gateway.Textf(format, values...)}
}

// checkText refuses bytes that are not text.
func checkText(at place, data []byte) *Problem {
	if utf8.Valid(data) {
		return nil
	}
	valid := 0
	for {
		r, size := utf8.DecodeRune(data[valid:])
		if r == utf8.RuneError && size <= 1 {
			break
		}
		valid += size
	}
	at.line += bytes.Count(data[:valid], []byte("\n"))
	return at.problem("this is not UTF-8 text; save the file as UTF-8")
}
