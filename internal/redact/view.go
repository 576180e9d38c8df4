package redact

import (
	"html"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// view is a decoded part of the text.
type view struct {
	text string
	// at has the position in the text of each byte of the view, and of its end. It is
	// nil for a part that is as it was written, which begins at base.
	at   []int32
	base int
	// quote is how a quotation mark around the view's values is written in the text.
	quote string
	// cut reports that the text was cut off at the view's end.
	cut bool
}

// start returns the position in the text at which the byte i begins.
func (v view) start(i int) int {
	if v.at == nil {
		return v.base + i
	}
	return int(v.at[i])
}

// end returns the position in the text at which the byte before i ends.
func (v view) end(i int) int {
	if v.at == nil {
		return v.base + i
	}
	for i < len(v.text) && i > 0 && v.at[i] == v.at[i-1] { // inside of a rune
		i++
	}
	return int(v.at[i])
}

// slice returns a part of the view.
func (v view) slice(start, end int) view {
	part := view{text: v.text[start:end], quote: v.quote, cut: v.cut && end == len(v.text)}
	if v.at == nil {
		part.base = v.base + start
	} else {
		part.at = v.at[start : end+1]
	}
	return part
}

// decoder builds a view of a view.
type decoder struct {
	from view
	text []byte
	at   []int32
}

func newDecoder(from view) *decoder {
	n := len(from.text)
	return &decoder{from, make([]byte, 0, n), make([]int32, 0, n+1)}
}

func (d *decoder) byte(c byte, at int) {
	d.text = append(d.text, c)
	d.at = append(d.at, int32(d.from.start(at))) //nolint:gosec // texts are far shorter
}

// copy adds a part of the view as it is.
func (d *decoder) copy(start, end int) {
	d.text = append(d.text, d.from.text[start:end]...)
	if d.from.at != nil {
		d.at = append(d.at, d.from.at[start:end]...)
		return
	}
	for i := start; i < end; i++ {
		d.at = append(d.at, int32(d.from.base+i)) //nolint:gosec // texts are far shorter
	}
}

func (d *decoder) rune(r rune, at int) {
	var buf [utf8.UTFMax]byte
	for _, c := range buf[:utf8.EncodeRune(buf[:], r)] {
		d.byte(c, at)
	}
}

func (d *decoder) view(quote string) view {
	n := len(d.from.text)
	d.at = append(d.at, int32(d.from.end(n))) //nolint:gosec // texts are far shorter
	return view{text: string(d.text), at: d.at, quote: quote, cut: d.from.cut}
}

// unescape decodes the backslash escapes of JSON and of most languages. It returns
// false if there are none.
func unescape(v view) (view, bool) {
	if strings.IndexByte(v.text, '\\') < 0 {
		return v, false
	}
	d := newDecoder(v)
	changed := false
	for i := 0; i < len(v.text); {
		if n := strings.IndexByte(v.text[i:], '\\'); n != 0 {
			if n < 0 {
				n = len(v.text) - i
			}
			d.copy(i, i+n)
			i += n
			continue
		}
		c := v.text[i]
		if v.cut && isCutEscape(v.text[i:]) {
			changed = true
			break
		}
		if i+1 == len(v.text) {
			d.byte(c, i)
			break
		}
		n := 2
		switch e := v.text[i+1]; e {
		case '"', '\\', '/', '\'', '`':
			d.byte(e, i)
		case 'b':
			d.byte('\b', i)
		case 'f':
			d.byte('\f', i)
		case 'n':
			d.byte('\n', i)
		case 'r':
			d.byte('\r', i)
		case 't':
			d.byte('\t', i)
		case 'x':
			high, ok := hexByte(v.text, i+2)
			if !ok {
				d.byte(c, i)
				i++
				continue
			}
			d.byte(high, i)
			n = 4
		case 'u':
			r, ok := hexRune(v.text, i+2)
			if !ok {
				d.byte(c, i)
				i++
				continue
			}
			n = 6
			if utf16.IsSurrogate(r) {
				low, ok := rune(0), false
				if strings.HasPrefix(v.text[i+6:], `\u`) {
					low, ok = hexRune(v.text, i+8)
				}
				if r = utf16.DecodeRune(r, low); ok && r != utf8.RuneError {
					n = 12
				}
			}
			d.rune(r, i)
		default:
			d.byte(c, i)
			i++
			continue
		}
		changed = true
		i += n
	}
	if !changed {
		return v, false
	}
	return d.view(escaped(v.quote)), true
}

// isCutEscape reports whether a text is the beginning of an escape.
func isCutEscape(s string) bool {
	return s == `\` || len(s) < len(`\u0000`) && strings.HasPrefix(s, `\u`)
}

// escaped returns how a quotation mark is written inside of a JSON string.
func escaped(quote string) string {
	return strings.ReplaceAll(strings.ReplaceAll(quote, `\`, `\\`), `"`, `\"`)
}

// percentDecode decodes a URL-encoded text. It returns false if nothing is encoded.
// A plus becomes a space if asked for.
func percentDecode(v view, plus bool) (view, bool) {
	changed := false
	for i := 0; i < len(v.text) && !changed; i++ {
		if v.text[i] == '%' {
			_, changed = hexByte(v.text, i+1)
		} else if plus && v.text[i] == '+' {
			changed = true
		}
	}
	if !changed {
		return v, false
	}
	d := newDecoder(v)
	for i := 0; i < len(v.text); i++ {
		switch c := v.text[i]; {
		case c == '%':
			if b, ok := hexByte(v.text, i+1); ok {
				d.byte(b, i)
				i += 2
				continue
			}
			if v.cut && i+2 >= len(v.text) {
				return d.view("%22"), true // the rest was cut off
			}
			d.byte(c, i)
		case c == '+' && plus:
			d.byte(' ', i)
		default:
			d.byte(c, i)
		}
	}
	return d.view("%22"), true
}

// htmlDecode decodes HTML entities. It returns false if there are none.
func htmlDecode(v view) (view, bool) {
	amp := strings.IndexByte(v.text, '&')
	if amp < 0 || strings.IndexByte(v.text[amp:], ';') < 0 {
		return v, false
	}
	d := newDecoder(v)
	changed := false
	for i := 0; i < len(v.text); {
		const longest = 10
		if v.text[i] == '&' {
			if n := strings.IndexByte(v.text[i:min(len(v.text), i+longest)], ';'); n > 1 {
				entity := v.text[i : i+n+1]
				if s := html.UnescapeString(entity); s != entity && s != "" {
					for j := range len(s) {
						d.byte(s[j], i)
					}
					changed = true
					i += n + 1
					continue
				}
			}
		}
		d.byte(v.text[i], i)
		i++
	}
	if !changed {
		return v, false
	}
	return d.view("&quot;"), true
}

// hexByte reads two hexadecimal digits.
func hexByte(s string, i int) (byte, bool) {
	if i+2 > len(s) {
		return 0, false
	}
	high, low := hexDigit[s[i]], hexDigit[s[i+1]]
	return high<<4 | low, high < 16 && low < 16
}

// hexRune reads four hexadecimal digits.
func hexRune(s string, i int) (rune, bool) {
	high, ok1 := hexByte(s, i)
	low, ok2 := hexByte(s, i+2)
	return rune(high)<<8 | rune(low), ok1 && ok2
}

// hexDigit has the value of each hexadecimal digit, and 255 for all else.
//
//nolint:gochecknoglobals // a table
var hexDigit = func() (t [256]byte) {
	for c := range t {
		switch {
		case c >= '0' && c <= '9':
			t[c] = byte(c) - '0'
		case c >= 'a' && c <= 'f':
			t[c] = byte(c) - 'a' + 10
		case c >= 'A' && c <= 'F':
			t[c] = byte(c) - 'A' + 10
		default:
			t[c] = 255
		}
	}
	return t
}()
