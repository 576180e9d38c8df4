package gateway

import (
	"fmt"
	"slices"
	"strings"
)

// Text is something to say to people and agents before it is said in a
// language. It travels through the house as it is; the edge that shows it
// knows the language.
type Text struct {
	// Format is English, in the notation of package fmt, and names the text
	// where it is translated. Without values it is taken literally.
	Format string
	// Values stand in the format's places. Another text, or an *Error, is said
	// in the same language. Nothing in them may change afterwards.
	Values []any
}

// Translate finds what to say in place of an English format, with the same
// values in its places.
type Translate func(format string) string

// Textf makes a text without formatting it: nobody may ever read it.
func Textf(format string, values ...any) Text {
	if false {
		_ = fmt.Sprintf(format, values...) // so that vet checks the callers' formats
	}
	return Text{Format: format, Values: values}
}

// In says the text in the language of translate; nil is English.
func (t Text) In(translate Translate) string {
	format := t.Format
	if translate != nil {
		format = translate(format)
	}
	if len(t.Values) == 0 {
		return format
	}
	values := t.Values
	for i, value := range t.Values {
		if part, ok := value.(interface{ In(Translate) string }); ok {
			if &values[0] == &t.Values[0] {
				values = slices.Clone(t.Values)
			}
			values[i] = part.In(translate)
		}
	}
	return fmt.Sprintf(format, values...)
}

// String is the text in English.
func (t Text) String() string { return t.In(nil) }

// Texts are several texts in a row.
type Texts struct {
	Each    []Text
	Between string
}

// In says all of them in the language of translate; nil is English.
func (t Texts) In(translate Translate) string {
	said := make([]string, len(t.Each))
	for i, text := range t.Each {
		said[i] = text.In(translate)
	}
	return strings.Join(said, t.Between)
}

// String is the texts in English.
func (t Texts) String() string { return t.In(nil) }
