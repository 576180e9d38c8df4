package workflow

import (
	"bytes"
	"unicode/utf8"

	"genkan/internal/gateway"
	"genkan/internal/jsonrpc"
)

const (
	// longestArguments is the size up to which the arguments of a call are shown as they
	// are, in bytes. Longer strings than the longest of longestStrings that fits are cut.
	longestArguments = 16 << 10
	// mostArguments is how much is shown of arguments whose strings are cut. A call with
	// more is refused, because its members, numbers and short strings stay.
	mostArguments = 256 << 10
)

// longestStrings are the lengths to which strings are cut, in bytes.
func longestStrings() []int { return []int{4096, 1024, 256} }

// shorten cuts long strings of a JSON text, so that it has at most longestArguments bytes
// if that is possible. All else stays. It returns how many bytes are missing. note is
// written in place of what is missing of a string.
func shorten(text []byte, note func(missing int) string) (shown []byte, missing int) {
	if len(text) <= longestArguments {
		return text, 0
	}
	for _, longest := range longestStrings() {
		if shown, missing = cutStrings(text, longest, note); len(shown) <= longestArguments {
			break
		}
	}
	return shown, missing
}

// cutStrings cuts the strings of a JSON text that are longer than so many bytes.
func cutStrings(text []byte, longest int, note func(missing int) string) (shown []byte, missing int) {
	for {
		start := bytes.IndexByte(text, '"')
		if start < 0 {
			return append(shown, text...), missing
		}
		start++
		shown, text = append(shown, text[:start]...), text[start:]
		end, cut := 0, 0 // cut is the last place at which the string may be cut
		for end < len(text) && text[end] != '"' {
			if end <= longest {
				cut = end
			}
			switch {
			case text[end] != '\\':
				_, size := utf8.DecodeRune(text[end:])
				end += size
			case end+1 < len(text) && text[end+1] == 'u':
				end += len(`\u0000`)
			default:
				end += len(`\n`)
			}
		}
		const little = 64 // the note is about as long
		if end = min(end, len(text)); end <= longest+little {
			cut = end
		}
		shown = append(shown, text[:cut]...)
		if cut < end {
			shown = append(shown, note(end-cut)...)
			missing += end - cut
		}
		if end < len(text) {
			shown, end = append(shown, '"'), end+1
		}
		text = text[end:]
	}
}

// shown returns the arguments that a person sees. A resource is read by its URI, which the
// name of its tool may lack: that is a template, or cut.
func (q *Question) shown() []byte {
	if q.Call.Method != ResourcesRead {
		return q.Arguments
	}
	b := jsonrpc.AppendQuoted([]byte(`{"uri":`), q.Call.Name)
	if string(q.Arguments) != "{}" { // resources have none in MCP, and servers get what clients send
		b = append(append(b, `,"arguments":`...), q.Arguments...)
	}
	return append(b, '}')
}

// cannotRedact is said if the secrets that must be hidden are not known.
const cannotRedact = "the arguments cannot be shown to a person, because the kept secrets cannot be read; `genkan doctor` says why"

// show fills in what is shown of the arguments of a call. It returns a denial if they cannot
// be shown.
func (d *Desk) show(a *Approval, arguments []byte) error {
	redacted, err := d.redact(arguments)
	if err != nil {
		return &denial{reason: gateway.Textf(cannotRedact)}
	}
	shown, missing := shorten(redacted, func(missing int) string {
		return "…[" + d.say(gateway.Textf("%d bytes are not shown", missing)) + "]"
	})
	a.Arguments, a.NotShown, a.Masked = string(shown), missing, !bytes.Equal(redacted, arguments)
	if len(shown) > mostArguments {
		return &denial{reason: gateway.Textf("the arguments have too many parts to be shown to a person; make several calls with fewer")}
	}
	return nil
}

// redact takes secrets out of arguments.
func (d *Desk) redact(arguments []byte) ([]byte, error) {
	if d.opt.Redact == nil {
		return arguments, nil
	}
	return d.opt.Redact(arguments)
}
