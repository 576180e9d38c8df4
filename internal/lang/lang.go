// Package lang knows the languages of the house: it says a gateway.Error or
// another text in English, which is how they are written, or in Japanese. The
// edges use it where words leave the house; the log stays English, so that
// operators find what they look for.
//
// A translation is found by its English format. The tables stand in one file
// for each part of the house (ja_*.go), and a test over the source keeps them
// whole: what is said somewhere is in a table, and what is in a table is said
// somewhere.
package lang

import "genkan/internal/gateway"

// Language is one that genkan speaks. The zero value is English.
type Language uint8

// The languages.
const (
	English Language = iota
	Japanese
)

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

// Translator is for rooms that show something by themselves.
func (l Language) Translator() gateway.Translate { return l.translate }

// translate finds the format in this language. One that nobody has translated
// is said in English.
func (l Language) translate(format string) string {
	if l == Japanese {
		for _, table := range japanese {
			if said, ok := table[format]; ok {
				return said
			}
		}
	}
	return format
}
