package doctor

import (
	"fmt"

	"genkan/internal/gateway"
)

// makePrintable keeps every part of a finding on its line. Names, paths and
// messages come from files and servers that other people may have written. A line
// break in one of them could forge findings and commands.
func (f *Finding) makePrintable() {
	f.Title, f.Detail, f.Fix.Text = printable(f.Title), printable(f.Detail), printable(f.Fix.Text)
	f.Fix.Command = gateway.Printable(f.Fix.Command)
	lines := make([]string, len(f.Lines))
	for i, line := range f.Lines {
		lines[i] = gateway.Printable(line)
	}
	f.Lines = lines
}

// printable returns a text with printable values. The format is genkan's own and
// may have several lines, as may the separator of gateway.Texts.
func printable(t gateway.Text) gateway.Text {
	values := make([]any, len(t.Values))
	for i, value := range t.Values {
		values[i] = printableValue(value)
	}
	return gateway.Text{Format: t.Format, Values: values}
}

func printableValue(value any) any {
	switch v := value.(type) {
	case gateway.Text:
		if len(v.Values) > 0 {
			return printable(v)
		}
		return printableLater{v}
	case gateway.Texts:
		each := make([]gateway.Text, len(v.Each))
		for i, text := range v.Each {
			each[i] = gateway.Textf("%s", printableValue(text))
		}
		return gateway.Texts{Each: each, Between: v.Between}
	case *gateway.Error:
		return printableValue(gateway.Text{Format: v.Message, Values: v.Values})
	case interface {
		In(translate gateway.Translate) string
	}:
		return printableLater{v}
	}
	if text := fmt.Sprint(value); text != gateway.Printable(text) {
		return gateway.Printable(text)
	}
	return value // numbers stay numbers, for their verbs
}

// printableLater makes a text printable after its translation. Errors that came
// over the wire have no values: their format is a foreign message.
type printableLater struct {
	text interface {
		In(translate gateway.Translate) string
	}
}

func (p printableLater) In(translate gateway.Translate) string {
	return gateway.Printable(p.text.In(translate))
}

// String returns the text in English.
func (p printableLater) String() string { return p.In(nil) }
