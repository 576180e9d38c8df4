package jsonrpc

import (
	"strconv"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"
)

// Readable returns JSON with the characters beyond ASCII that are written as \uXXXX in
// their own form, for people. Everything else stays, so it is the same JSON.
func Readable(json []byte) []byte {
	var out []byte
	end := 0 // of what was copied
	for i := 0; i+6 <= len(json); {
		if json[i] != '\\' {
			i++
			continue
		}
		r, size := escapedRune(json[i:])
		if size == 0 { // another escape, of two characters at least
			i += 2
			continue
		}
		if r >= utf8.RuneSelf && unicode.IsPrint(r) {
			out = utf8.AppendRune(append(out, json[end:i]...), r)
			end = i + size
		}
		i += size
	}
	if out == nil {
		return json
	}
	return append(out, json[end:]...)
}

// escapedRune returns the character that an escape at the beginning of a text stands
// for, and the length of the escape; zero if there is none.
func escapedRune(text []byte) (r rune, size int) {
	const length = 6
	unit := func(at int) (rune, bool) {
		if len(text) < at+length || text[at] != '\\' || text[at+1] != 'u' {
			return 0, false
		}
		n, err := strconv.ParseUint(string(text[at+2:at+length]), 16, 16)
		return rune(n), err == nil
	}
	r, ok := unit(0)
	if !ok {
		return 0, 0
	}
	if utf16.IsSurrogate(r) {
		second, ok := unit(length)
		if r = utf16.DecodeRune(r, second); !ok || r == unicode.ReplacementChar {
			return unicode.ReplacementChar, 0
		}
		return r, 2 * length
	}
	return r, length
}
