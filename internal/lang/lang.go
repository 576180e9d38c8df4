// Package lang translates messages. It renders a gateway.Error or gateway.Text in
// English, in which all are written, or in Japanese. The edges use it where a
// message leaves genkan; the log stays English, so that operators find what they
// search for.
//
// A translation is found by its English format. The tables are in one file for each
// topic (ja_*.go). A test over the source compares them with the code: every
// message has an entry, and every entry has a message.
package lang

import (
	"strings"

	"genkan/internal/gateway"
)

// Language is one that genkan speaks. The zero value is English.
type Language uint8

// The languages.
const (
	English Language = iota
	Japanese
)

// All returns the languages.
func All() []Language { return []Language{English, Japanese} }

// Parse finds the language with a name of the configuration: en or ja.
func Parse(name string) (Language, bool) {
	switch name {
	case "en":
		return English, true
	case "ja":
		return Japanese, true
	default:
		return English, false
	}
}

// String is the name that Parse knows.
func (l Language) String() string {
	if l == Japanese {
		return "ja"
	}
	return "en"
}

// Error says what an error shows to people and agents, without its cause.
func (l Language) Error(e *gateway.Error) string { return e.In(l.translate) }

// Text says a text.
func (l Language) Text(t gateway.Text) string { return t.In(l.translate) }

// Sprintf says a text that is no error.
func (l Language) Sprintf(format string, values ...any) string {
	return l.Text(gateway.Textf(format, values...))
}

// Translator returns the function that translates to this language, for packages
// that do not know Language.
func (l Language) Translator() gateway.Translate { return l.translate }

// Others returns the translators of the other languages.
func (l Language) Others() (others []gateway.Translate) {
	for _, other := range All() {
		if other != l {
			others = append(others, other.Translator())
		}
	}
	return others
}

// translate finds the format in this language. What a script threw is no format, and may
// have been said in English. What nobody has translated stays as it is.
func (l Language) translate(format string) string {
	said, ok := l.lookup(format)
	if ok || l == English || strings.Contains(format, "%") {
		return said
	}
	if said, ok := thrownText(format); ok {
		return said
	}
	return l.kept(format, deepestText-1)
}

func (l Language) lookup(format string) (said string, ok bool) {
	if l == Japanese {
		for _, table := range japanese {
			if said, ok := table[format]; ok {
				return said, true
			}
		}
	}
	return format, false
}
