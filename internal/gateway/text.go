package gateway

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
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
	if format != "" && translate != nil {
		format = translate(format)
	}
	if len(t.Values) == 0 {
		return format
	}
	values := t.Values
	quotes := translate != nil && strings.Contains(format, "q")
	var durations []string
	for i, value := range t.Values {
		if text, ok := value.(string); ok && quotes {
			if &values[0] == &t.Values[0] {
				values = slices.Clone(t.Values)
			}
			values[i] = name{text, translate}
			continue
		}
		if d, ok := value.(time.Duration); ok && (d == 0 || d >= time.Millisecond) {
			said := duration(d).In(translate)
			durations = append(durations, said)
			value = Textf("%s", said)
		}
		if part, ok := value.(interface{ In(Translate) string }); ok {
			if &values[0] == &t.Values[0] {
				values = slices.Clone(t.Values)
			}
			said := part.In(translate)
			if values[i] = said; quotes {
				values[i] = name{said, translate}
			}
		}
	}
	text := fmt.Sprintf(format, values...)
	for _, said := range durations {
		text = Closed(text, said)
	}
	return text
}

// Closed removes the space behind a part of a text between two letters of Japanese, which are
// written without: formats have it for parts that end with a digit.
func Closed(text, part string) string {
	before, behind, found := strings.Cut(text, part+" ")
	last, _ := utf8.DecodeLastRuneInString(part)
	next, _ := utf8.DecodeRuneInString(behind)
	if !found || !unicode.In(last, unicode.Han) || !unicode.In(next, unicode.Han, unicode.Hiragana, unicode.Katakana) {
		return text
	}
	return before + part + behind
}

// name is a value whose quotes, where the format has %q, are those of the language.
type name struct {
	text      string
	translate Translate
}

// Format writes the name as package fmt does, but for the quotes.
func (n name) Format(f fmt.State, verb rune) {
	if verb != 'q' {
		_, _ = fmt.Fprintf(f, fmt.FormatString(f, verb), n.text)
		return
	}
	escaped := strconv.Quote(n.text)
	_, _ = io.WriteString(f, Textf("\"%s\"", Textf("%s", escaped[1:len(escaped)-1])).In(n.translate))
}

// duration is written in English as in the configuration: 2m, 1h30m, 1.5s, 250ms.
type duration time.Duration

func (s duration) In(translate Translate) string {
	d := time.Duration(s)
	var parts []string
	say := func(part Text) {
		if said := part.In(translate); said != part.String() {
			parts = append(parts, said)
		}
	}
	switch {
	case d > 0 && d < time.Second:
		say(Textf("%dms", d.Milliseconds()))
	case d < time.Minute:
		say(Textf("%gs", d.Round(100*time.Millisecond).Seconds()))
	default:
		d := d.Round(time.Second)
		if n := int64(d / time.Hour); n > 0 {
			say(Textf("%dh", n))
		}
		if n := int64(d / time.Minute % 60); n > 0 {
			say(Textf("%dm", n))
		}
		if n := int64(d / time.Second % 60); n > 0 {
			say(Textf("%ds", n))
		}
	}
	if len(parts) > 0 {
		return strings.Join(parts, " ")
	}
	said := d.String()
	if strings.HasSuffix(said, "m0s") {
		said = strings.TrimSuffix(said, "0s")
	}
	if strings.HasSuffix(said, "h0m") {
		said = strings.TrimSuffix(said, "0m")
	}
	return said
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
	between := t.Between
	switch between {
	case listed:
		between = Textf(listed).In(translate)
	case Apart:
		between = Textf(Apart).In(translate)
	}
	return strings.Join(said, between)
}

// listed is what stands between the names of a list, and Apart what stands between whole
// statements.
const listed, Apart = ", ", "; "

// Names returns names as a list: a, b, c.
func Names(names []string) Texts {
	list := Texts{Between: listed, Each: make([]Text, len(names))}
	for i, name := range names {
		list.Each[i] = Textf("%s", name)
	}
	return list
}

// String is the texts in English.
func (t Texts) String() string { return t.In(nil) }

// Private is a part of a text with a path, a command or a name from the environment.
// Only the user whom genkan runs as reads Full; all others read Public.
type Private struct{ Full, Public Text }

// In says Full in the language of translate.
func (p Private) In(translate Translate) string { return p.Full.In(translate) }

// String is Full in English.
func (p Private) String() string { return p.In(nil) }

// Public returns the text with the public form of its private parts.
func (t Text) Public() Text {
	t.Values, _ = publicValues(t.Values)
	return t
}

// PublicError returns an error whose message has the public form of its private
// parts. An error without any is returned as it is.
func PublicError(err error) error {
	var e *Error
	if !errors.As(err, &e) {
		return err
	}
	values, changed := publicValues(e.Values)
	if !changed {
		return err
	}
	public := *e
	public.Values = values
	return &public
}

func publicValues(values []any) (public []any, changed bool) {
	public = slices.Clone(values)
	for i, value := range values {
		switch v := value.(type) {
		case Private:
			public[i], changed = v.Public, true
		case Text:
			values, private := publicValues(v.Values)
			if private {
				public[i], changed = Text{v.Format, values}, true
			}
		case Texts:
			each := slices.Clone(v.Each)
			for j, text := range v.Each {
				if values, private := publicValues(text.Values); private {
					each[j].Values, changed = values, true
				}
			}
			public[i] = Texts{each, v.Between}
		case *Error:
			if other := PublicError(v); !errors.Is(other, v) {
				public[i], changed = other, true
			}
		}
	}
	return public, changed
}
