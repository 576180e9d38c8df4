package exchange

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"iter"
	"slices"
	"strings"
	"time"

	"genkan/internal/gateway"
	"genkan/internal/jsonrpc"
)

// maxLine limits a line of JSON Lines: the longest content with every character
// escaped, and some room.
const maxLine = 4 << 20

// Writer writes items and the state as JSON Lines: one object a line, without unset
// fields.
type Writer struct {
	w *bufio.Writer
	b bytes.Buffer
}

// NewWriter returns a Writer. Flush must be called at the end.
func NewWriter(w io.Writer) *Writer { return &Writer{w: bufio.NewWriter(w)} }

// Write writes one item.
func (w *Writer) Write(item Item) error { return w.write("{", item.fields()) }

// WriteState writes the state, on a line of its own.
func (w *Writer) WriteState(state State) error {
	return w.write(`{"`+stateMark+`":true`, state.fields())
}

func (w *Writer) write(begin string, fields []field) error {
	w.b.Reset()
	w.b.WriteString(begin)
	encoder := json.NewEncoder(&w.b)
	encoder.SetEscapeHTML(false) // The output is not for HTML pages.
	between := ""
	if len(begin) > 1 {
		between = ","
	}
	for _, f := range fields {
		if f.unset() {
			continue
		}
		value := f.value
		if t, ok := value.(*time.Time); ok {
			value = stamp(*t)
		}
		w.b.WriteString(between + `"` + f.name + `":`)
		if err := encoder.Encode(value); err != nil {
			return err
		}
		w.b.Truncate(w.b.Len() - 1) // the encoder's line break
		between = ","
	}
	w.b.WriteString("}\n")
	_, err := w.w.Write(w.b.Bytes())
	return err
}

// Flush writes buffered data.
func (w *Writer) Flush() error { return w.w.Flush() }

// ReadLines reads JSON Lines one by one. A line that cannot be read yields a *Problem,
// and reading continues, so that a caller can report all problems. Any other error
// comes from the reader and is the last. Blank lines are skipped. The name is used in
// messages.
func ReadLines(name string, r io.Reader) iter.Seq2[Record, error] {
	return func(yield func(Record, error) bool) {
		from := bufio.NewReader(r)
		for at := (place{name, 1}); ; at.line++ {
			line, long, err := readLine(from)
			if err != nil && !errors.Is(err, io.EOF) {
				yield(Record{Line: at.line}, err)
				return
			}
			last := err != nil
			if at.line == 1 {
				line = bytes.TrimPrefix(line, []byte("\ufeff"))
			}
			switch {
			case long:
				if !yield(Record{Line: at.line}, at.problem("the line is longer than 4 MiB, which no item needs")) {
					return
				}
			case len(bytes.TrimSpace(line)) > 0:
				record := Record{Line: at.line}
				var bad error // A nil *Problem would not be a nil error.
				if p := record.readLine(at, line); p != nil {
					record, bad = Record{Line: at.line}, p
				}
				if !yield(record, bad) {
					return
				}
			}
			if last {
				return
			}
		}
	}
}

// readLine returns the next line. It returns only the beginning of a line that is too
// long, and skips the rest.
func readLine(r *bufio.Reader) (line []byte, long bool, err error) {
	for {
		part, err := r.ReadSlice('\n')
		if len(line) <= maxLine {
			line = append(line, part...)
		}
		if !errors.Is(err, bufio.ErrBufferFull) {
			return line, len(line) > maxLine, err
		}
	}
}

// entry is a key of a line with its value.
type entry struct {
	key   string
	value json.RawMessage
}

// readLine fills the item or the state from one line.
func (r *Record) readLine(at place, line []byte) *Problem {
	if bad := checkText(at, line); bad != nil {
		return bad
	}
	dec := json.NewDecoder(bytes.NewReader(line))
	if t, err := dec.Token(); err != nil {
		return at.problem("this is not JSON: %s", reason(err))
	} else if t != json.Delim('{') {
		return at.problem("each line must be a JSON object, an item")
	}
	seen := map[string]bool{}
	var entries []entry
	for dec.More() {
		t, err := dec.Token()
		if err != nil {
			return at.problem("this is not JSON: %s", reason(err))
		}
		key, _ := t.(string) // The decoder accepts only strings as keys.
		var value json.RawMessage
		if err := dec.Decode(&value); err != nil {
			return at.problem("this is not JSON: %s", reason(err))
		}
		if seen[key] {
			return at.wrong(key, "stands there twice")
		}
		seen[key] = true
		entries = append(entries, entry{key, value})
	}
	if _, err := dec.Token(); err != nil { // the closing brace
		return at.problem("this is not JSON: %s", reason(err))
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return at.problem("something follows after the item; each must be on a line of its own")
	}
	fields := r.fieldsOf(slices.ContainsFunc(entries, func(e entry) bool { return e.key == stateMark && string(e.value) == "true" }))
	for _, e := range entries {
		f, known := find(fields, e.key)
		if !known && (e.key != stateMark || r.State == nil) {
			r.Dropped = append(r.Dropped, Dropped{Key: e.key, Line: at.line})
		}
		if !known {
			continue
		}
		if jsonrpc.HasLoneSurrogate(e.value) { // decoding would silently replace it
			return at.wrong(e.key, "has half of a surrogate pair, and is %s; write whole characters", brief(e.value))
		}
		if bad := f.decode(at, e.value); bad != nil {
			return bad
		}
	}
	if !seen["title"] && r.State == nil {
		return at.wrong("title", "is missing; every item needs one")
	}
	return nil
}

// reason returns the decoder's error without its mentions of Go.
func reason(err error) gateway.Text {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return gateway.Textf("it ends too early")
	}
	return gateway.Textf("%s", strings.TrimPrefix(err.Error(), "json: "))
}

// decode sets a field to a JSON value. Null leaves it unset.
func (f field) decode(at place, value json.RawMessage) *Problem {
	if string(value) == "null" {
		return nil
	}
	switch to := f.value.(type) {
	case *int64:
		if json.Unmarshal(value, to) != nil || *to < 1 {
			return at.wrong(f.name, "must be a whole number, 1 or more, and is %s", brief(value))
		}
	case *time.Time:
		var text string
		if err := json.Unmarshal(value, &text); err != nil {
			return at.wrong(f.name, "must be a text, and is %s", brief(value))
		}
		t, ok := parseTime(text)
		if !ok {
			return at.wrong(f.name, "must be a date such as 2026-01-31 or a time such as 2026-01-31T09:30:00Z, and is %q", text)
		}
		*to = t
	case *string:
		if json.Unmarshal(value, to) != nil {
			return at.wrong(f.name, "must be a text, and is %s", brief(value))
		}
	case *[]string:
		if json.Unmarshal(value, to) != nil {
			return at.wrong(f.name, "must be a list of texts, and is %s", brief(value))
		}
		if len(*to) == 0 {
			*to = nil
		}
	}
	return nil
}

// brief shortens a value for a message.
func brief(value json.RawMessage) string {
	const most = 40
	if runes := []rune(string(value)); len(runes) > most {
		return string(runes[:most]) + "…"
	}
	return string(value)
}
