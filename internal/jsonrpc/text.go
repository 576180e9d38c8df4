package jsonrpc

import (
	"bytes"
	"strconv"
	"unicode/utf16"
	"unicode/utf8"
)

// Unquote returns the text of a JSON string that Scan has checked. Without
// escapes it is a part of raw, not a copy. It reports false for anything that
// is not a string.
func Unquote(raw []byte) ([]byte, bool) {
	if len(raw) < 2 || raw[0] != '"' || raw[len(raw)-1] != '"' {
		return nil, false
	}
	in := raw[1 : len(raw)-1]
	i := 0
	for i < len(in) && in[i] != '\\' {
		i++
	}
	if i == len(in) {
		return in[:i:i], true
	}
	out := append(make([]byte, 0, len(in)), in[:i]...)
	for i < len(in) {
		if in[i] != '\\' || i+1 >= len(in) {
			out = append(out, in[i])
			i++
			continue
		}
		switch c := in[i+1]; c {
		case 'b':
			out = append(out, '\b')
		case 'f':
			out = append(out, '\f')
		case 'n':
			out = append(out, '\n')
		case 'r':
			out = append(out, '\r')
		case 't':
			out = append(out, '\t')
		case 'u':
			r := hexRune(in, i)
			i += 6
			if utf16.IsSurrogate(r) {
				if pair := utf16.DecodeRune(r, hexRune(in, i)); pair != utf8.RuneError {
					r = pair
					i += 6
				} else {
					r = utf8.RuneError
				}
			}
			out = utf8.AppendRune(out, r)
			continue
		default:
			out = append(out, c)
		}
		i += 2
	}
	return out, true
}

// HasLoneSurrogate reports whether strings of a JSON text that was checked have half
// of a surrogate pair (\ud83d). No text in UTF-8 can hold that, and decoders put
// another character into its place without a word.
func HasLoneSurrogate(raw []byte) bool {
	for i := 0; ; {
		next := bytes.IndexByte(raw[i:], '\\')
		if next < 0 {
			return false
		}
		i += next
		r := hexRune(raw, i)
		switch {
		case r < 0:
			i += min(2, len(raw)-i) // another escape
		case !utf16.IsSurrogate(r):
			i += 6
		case utf16.DecodeRune(r, hexRune(raw, i+6)) == utf8.RuneError:
			return true
		default:
			i += 12
		}
	}
}

// hexRune reads \uXXXX at i, or returns -1.
func hexRune(in []byte, i int) rune {
	if len(in)-i < 6 || in[i] != '\\' || in[i+1] != 'u' {
		return -1
	}
	n, err := strconv.ParseUint(string(in[i+2:i+6]), 16, 32)
	if err != nil {
		return -1
	}
	return rune(n) //nolint:gosec // four hexadecimal digits
}

// AppendQuoted appends text as a JSON string.
func AppendQuoted(dst []byte, text string) []byte {
	const hex = "0123456789abcdef"
	dst = append(dst, '"')
	from := 0
	for i := 0; i < len(text); {
		c := text[i]
		if c >= 0x20 && c != '"' && c != '\\' && c < utf8.RuneSelf {
			i++
			continue
		}
		if c >= utf8.RuneSelf {
			r, size := utf8.DecodeRuneInString(text[i:])
			if r != utf8.RuneError || size != 1 {
				i += size
				continue
			}
			dst = append(append(dst, text[from:i]...), `\ufffd`...)
		} else {
			dst = append(dst, text[from:i]...)
			switch c {
			case '"', '\\':
				dst = append(dst, '\\', c)
			case '\n':
				dst = append(dst, '\\', 'n')
			case '\r':
				dst = append(dst, '\\', 'r')
			case '\t':
				dst = append(dst, '\\', 't')
			default:
				dst = append(dst, '\\', 'u', '0', '0', hex[c>>4], hex[c&15])
			}
		}
		i++
		from = i
	}
	return append(append(dst, text[from:]...), '"')
}
