package jsonrpc

import (
	"encoding/base64"
	"errors"
	"math"
	"strconv"
	"strings"
)

// Streamable HTTP mirrors some values of a body into headers, for those between
// client and server who do not read bodies. This is how they are written there.

// ErrHeaderMismatch is inside the errors about headers that say another thing
// than the body.
var ErrHeaderMismatch = errors.New("the headers do not match the body")

// What stands around a value that is not plain ASCII.
const (
	encodedStart = "=?base64?"
	encodedEnd   = "?="
)

// EncodeHeader writes a text as a header's value: plain where it can be.
func EncodeHeader(text string) string {
	plain := text == strings.TrimSpace(text) &&
		!(strings.HasPrefix(text, encodedStart) && strings.HasSuffix(text, encodedEnd))
	for i := 0; plain && i < len(text); i++ {
		plain = text[i] >= 0x20 && text[i] < 0x7f
	}
	if plain {
		return text
	}
	return encodedStart + base64.StdEncoding.EncodeToString([]byte(text)) + encodedEnd
}

// DecodeHeader undoes EncodeHeader. It reports false for what no header may
// hold.
func DecodeHeader(value string) (text string, ok bool) {
	inner, found := strings.CutPrefix(value, encodedStart)
	if !found || !strings.HasSuffix(inner, encodedEnd) {
		// What is not visible ASCII must come encoded: others may read raw
		// bytes in another way than we do.
		if strings.ContainsFunc(value, func(c rune) bool { return c < 0x20 && c != '\t' || c > 0x7e }) {
			return "", false
		}
		return value, true
	}
	raw, err := base64.StdEncoding.DecodeString(strings.TrimSuffix(inner, encodedEnd))
	return string(raw), err == nil
}

// Argument is the value at the end of a path through objects, nil when there is
// none or it is null. It refuses a key that stands twice on the way: whoever
// reads the body may take the other one.
func Argument(arguments []byte, path []string) ([]byte, error) {
	value := arguments
	for _, key := range path {
		if len(value) == 0 || value[0] != '{' {
			return nil, nil
		}
		var found []byte
		twice := false
		err := Members(value, func(k, v []byte) bool {
			if string(k) == key {
				twice = twice || found != nil
				found = v
			}
			return true
		})
		if err != nil {
			return nil, err
		}
		if twice {
			s := scanner{data: arguments}
			return nil, s.refuse(0, "a key stands twice: %s", quoteForMessage([]byte(key)))
		}
		value = found
	}
	if string(value) == "null" {
		return nil, nil
	}
	return value, nil
}

// HeaderText is how a JSON value is written in a header, before it is encoded.
// It reports false for what headers do not carry: objects, arrays, and numbers
// that are no integers or that some languages would round.
func HeaderText(value []byte) (string, bool) {
	if text, ok := Unquote(value); ok {
		return string(text), true
	}
	if string(value) == "true" || string(value) == "false" {
		return string(value), true
	}
	n, ok := safeInteger(value)
	return strconv.FormatInt(n, 10), ok
}

// HeaderSays reports whether a decoded header says the same as a JSON value.
// Integers are compared as numbers, however they are written.
func HeaderSays(text string, value []byte) bool {
	if want, ok := safeInteger(value); ok {
		got, ok := safeInteger([]byte(text))
		return ok && got == want
	}
	want, ok := HeaderText(value)
	return ok && text == want
}

// safeInteger reads a JSON number that every language can hold exactly.
func safeInteger(value []byte) (int64, bool) {
	const largest = 1<<53 - 1
	s := scanner{data: value}
	if len(value) == 0 {
		return 0, false
	}
	if end, err := s.number(0); err != nil || end != len(value) {
		return 0, false
	}
	f, err := strconv.ParseFloat(string(value), 64)
	if err != nil || f != math.Trunc(f) || math.Abs(f) > largest {
		return 0, false
	}
	return int64(f), true
}
