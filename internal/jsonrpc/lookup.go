package jsonrpc

import (
	"bytes"
	"errors"
	"unicode/utf8"

	"genkan/internal/gateway"
)

// Members calls visit for each member of a JSON object, in order, with the
// unescaped key and the value's bytes, until visit returns false. The object
// is checked on the way.
func Members(object []byte, visit func(key, value []byte) bool) error {
	s := scanner{data: object}
	stopped := false
	_, err := s.object(s.space(0), 1, func(key []byte, _, vi int) (int, error) {
		end, err := s.skip(vi, 1)
		if err == nil && !stopped {
			stopped = !visit(key, object[vi:end:end])
		}
		return end, err
	})
	return err
}

// Lookup returns the value of a key of a JSON object, nil when there is none
// or the object is none.
func Lookup(object []byte, key string) []byte {
	var found []byte
	err := Members(object, func(k, v []byte) bool {
		if string(k) == key {
			found = v
			return false
		}
		return true
	})
	if err != nil {
		return nil
	}
	return found
}

// LookupSpan is Lookup by position, for splicing.
func LookupSpan(object []byte, key string) gateway.Span {
	s := scanner{data: object}
	var found gateway.Span
	_, err := s.object(s.space(0), 1, func(k []byte, _, vi int) (int, error) {
		end, err := s.skip(vi, 1)
		if err == nil && string(k) == key {
			found = span(vi, end)
		}
		return end, err
	})
	if err != nil {
		return gateway.Span{}
	}
	return found
}

// Without leaves the members of a key out of an object. The others keep their
// bytes.
func Without(object []byte, key string) []byte {
	s := scanner{data: object}
	var edits []Edit
	kept := -1  // where the last member ends that stays
	from := -1  // where members begin that go, with none before them that stays
	until := -1 // and where they end
	_, err := s.object(s.space(0), 1, func(k []byte, at, vi int) (int, error) {
		end, err := s.skip(vi, 1)
		switch {
		case err != nil:
		case string(k) != key:
			if from >= 0 {
				edits = append(edits, Edit{At: span(from, at)})
				from = -1
			}
			kept = end
		case kept >= 0:
			edits = append(edits, Edit{At: span(kept, end)})
			kept = end
		default:
			if from < 0 {
				from = at
			}
			until = end
		}
		return end, err
	})
	if err != nil {
		return object
	}
	if from >= 0 {
		edits = append(edits, Edit{At: span(from, until)})
	}
	return Splice(nil, object, edits...)
}

// WithoutMeta removes the keys that begin with a prefix from the _meta of an object.
// An object without such keys keeps its bytes.
func WithoutMeta(object []byte, prefix string) []byte {
	// Most messages have no _meta, and are not parsed.
	if !bytes.Contains(object, []byte("_meta")) && !bytes.Contains(object, []byte(`\u`)) {
		return object
	}
	at := LookupSpan(object, "_meta")
	if !at.Present() {
		return object
	}
	meta := object[at.Start:at.End]
	var found []string
	if err := Members(meta, func(key, _ []byte) bool {
		if bytes.HasPrefix(key, []byte(prefix)) {
			found = append(found, string(key))
		}
		return true
	}); err != nil || found == nil {
		return object
	}
	for _, key := range found {
		meta = Without(meta, key)
	}
	return Splice(nil, object, Edit{At: at, With: meta})
}

// LookupText is Lookup for a string value.
func LookupText(object []byte, key string) string {
	text, _ := Unquote(Lookup(object, key))
	return string(text)
}

// TextAt returns the string at a path of keys in an object, and the span of its
// value; an absent span if there is no value.
func TextAt(object []byte, path ...string) (string, gateway.Span) {
	at := gateway.Span{End: uint32(len(object))} //nolint:gosec // at most MaxMessage
	for _, key := range path {
		inner := LookupSpan(object[at.Start:at.End], key)
		if !inner.Present() {
			return "", gateway.Span{}
		}
		at = gateway.Span{Start: at.Start + inner.Start, End: at.Start + inner.End}
	}
	text, _ := Unquote(object[at.Start:at.End])
	return string(text), at
}

// Elements calls visit for each element of a JSON array until it returns
// false. The array is checked on the way.
func Elements(array []byte, visit func(value []byte) bool) error {
	s := scanner{data: array}
	_, err := s.array(s.space(0), 1, func(vi int) (int, error) {
		end, err := s.skip(vi, 1)
		if err == nil && !visit(array[vi:end:end]) {
			err = errStopped
		}
		return end, err
	})
	if errors.Is(err, errStopped) {
		return nil
	}
	return err
}

// errStopped ends a walk that has seen enough.
var errStopped = errors.New("stopped")

// ScanParams checks a params object that came without an envelope, as REST's
// and the CLI's do, by the rules of Scan. It takes the bytes over.
func ScanParams(raw []byte) (gateway.Params, error) {
	s := scanner{data: raw}
	if !utf8.Valid(raw) {
		return gateway.Params{}, s.invalidUTF8()
	}
	end, err := s.params(0)
	if err != nil {
		return gateway.Params{}, err
	}
	if end = s.space(end); end != len(raw) || raw[0] != '{' {
		return gateway.Params{}, s.fail(0, "params must be one JSON object")
	}
	if s.breaks {
		blankLineBreaks(raw)
	}
	s.msg.Params.Raw = raw
	return s.msg.Params, nil
}

// CheckObject applies the rules of Scan to another object that somebody
// decides by: no key twice, none that differs from a known one only in case.
func CheckObject(object []byte, known ...string) error {
	s := scanner{data: object}
	if !utf8.Valid(object) {
		return s.invalidUTF8()
	}
	var seen keySet
	_, err := s.object(s.space(0), 1, func(key []byte, at, vi int) (int, error) {
		if err := seen.add(&s, key, at, known); err != nil {
			return 0, err
		}
		return s.skip(vi, 1)
	})
	return err
}

// CheckUnique refuses a value in which any object has a key twice, at whatever
// depth. It reads every byte once: what nests deep must not cost more than what is
// flat.
func CheckUnique(value []byte) error {
	if len(value) == 0 {
		return nil
	}
	s := scanner{data: value}
	if !utf8.Valid(value) {
		return s.invalidUTF8()
	}
	_, err := s.unique(0, 1)
	return err
}

// unique is skip for a value whose objects must have each key once. depth counts
// the value itself.
func (s *scanner) unique(i, depth int) (int, error) {
	switch s.data[i] {
	case '{':
		var seen keySet
		return s.object(i, depth, func(key []byte, at, vi int) (int, error) {
			if err := seen.once(s, key, at); err != nil {
				return 0, err
			}
			return s.unique(vi, depth+1)
		})
	case '[':
		return s.array(i, depth, func(vi int) (int, error) { return s.unique(vi, depth+1) })
	default:
		return s.skip(i, depth-1)
	}
}

// array walks the elements of the array at i. The visitor gets where an element
// begins and returns its end.
func (s *scanner) array(i, depth int, visit func(vi int) (int, error)) (int, error) {
	if i >= len(s.data) || s.data[i] != '[' {
		return 0, s.fail(i, "an array was expected")
	}
	if depth > MaxDepth {
		return 0, s.refuse(i, "the message nests too deep")
	}
	i = s.space(i + 1)
	if i < len(s.data) && s.data[i] == ']' {
		return i + 1, nil
	}
	for {
		if i >= len(s.data) {
			return 0, s.fail(i, "the message ends too early")
		}
		end, err := visit(i)
		if err != nil {
			return 0, err
		}
		i = s.space(end)
		switch {
		case i < len(s.data) && s.data[i] == ',':
			i = s.space(i + 1)
		case i < len(s.data) && s.data[i] == ']':
			return i + 1, nil
		default:
			return 0, s.fail(i, "a comma or the end of an array was expected")
		}
	}
}

// TypeOf returns JSON Schema's name for the type of an encoded value, which must not
// be empty.
func TypeOf(raw []byte) string {
	switch raw[0] {
	case '"':
		return "string"
	case '{':
		return "object"
	case '[':
		return "array"
	case 't', 'f':
		return "boolean"
	case 'n':
		return "null"
	default:
		return "number"
	}
}
