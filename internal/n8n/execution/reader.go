package execution

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math/bits"
	"strconv"
	"unicode/utf16"
	"unicode/utf8"
)

const (
	// window is the size of a reader's buffer.
	window = 128 << 10
	// maxDepth is how deep values may nest.
	maxDepth = 10_000
	// maxKey is how much of a key or a string is kept where no limit is given.
	maxKey = 4 << 10
)

// A SyntaxError says where a body is not the JSON of an execution.
type SyntaxError struct {
	Offset int64
	Reason string
}

func (e *SyntaxError) Error() string {
	return fmt.Sprintf("n8n's answer is not valid JSON at byte %d: %s", e.Offset, e.Reason)
}

// errFarEnough ends the reading of a value that is longer than a page needs.
var errFarEnough = errors.New("the value is longer than a page")

// reader is a pull scanner over a stream. It holds one window of the body. Its error
// is sticky: after it the window is empty, every method does nothing and loops end.
//
// It checks the structure that it walks. In values that it skips it checks strings and
// the nesting of brackets only.
type reader struct {
	src      io.Reader
	buf      []byte
	pos, end int
	// base is the offset of buf[0] in the body. No byte at or after stop is read,
	// unless it is 0.
	base, stop int64
	err        error

	scratch []byte
	// keys is how much of a key is kept, if it is more than maxKey.
	keys int
	// open has the brackets that skipContainer is inside of.
	open []byte
}

func newReader(src io.Reader) *reader { return &reader{src: src, buf: make([]byte, window)} }

// readerAt returns a reader of the body from an offset on.
func readerAt(body io.ReaderAt, offset int64) *reader {
	return &reader{
		src: io.NewSectionReader(body, offset, 1<<62-offset), buf: make([]byte, small), base: offset,
	}
}

func (r *reader) offset() int64 { return r.base + int64(r.pos) }

func (r *reader) fail(reason string) {
	if r.err == nil {
		r.err = &SyntaxError{r.offset(), reason}
		r.end = r.pos
	}
}

// fill replaces the consumed window by the next one. It reports false at the end of
// the body and after an error.
func (r *reader) fill() bool {
	if r.err != nil {
		return false
	}
	r.base += int64(r.end)
	r.pos, r.end = 0, 0
	if r.stop > 0 && r.base >= r.stop {
		r.err = errFarEnough
		return false
	}
	for range 100 {
		n, err := r.src.Read(r.buf)
		r.end = n
		switch {
		case n > 0:
			return true
		case err == io.EOF:
			return false
		case err != nil:
			r.err = err
			return false
		}
	}
	r.err = io.ErrNoProgress
	return false
}

// need reports whether there is a byte at pos. The end of the body is an error.
func (r *reader) need() bool {
	if r.pos < r.end || r.fill() {
		return true
	}
	if r.err == nil {
		r.err = fmt.Errorf("n8n's answer ends too early, after %d bytes: %w", r.base, io.ErrUnexpectedEOF)
	}
	return false
}

// next returns the first byte that is no space and leaves it there. It returns 0
// after an error.
func (r *reader) next() byte {
	if r.pos < r.end && r.buf[r.pos] > ' ' {
		return r.buf[r.pos]
	}
	return r.nextAfterSpace()
}

func (r *reader) nextAfterSpace() byte {
	for r.need() {
		switch c := r.buf[r.pos]; c {
		case ' ', '\t', '\n', '\r':
			r.pos++
		case 0:
			r.fail("a zero byte stands between values")
			return 0
		default:
			return c
		}
	}
	return 0
}

// enter consumes the opening bracket if it is next.
func (r *reader) enter(bracket byte) bool {
	if r.next() != bracket {
		return false
	}
	r.pos++
	return true
}

// more reports whether another member follows the first n, and consumes the comma, or
// the closing bracket if there is none.
func (r *reader) more(closing byte, n int) bool {
	switch c := r.next(); {
	case r.err != nil:
		return false
	case c == closing:
		r.pos++
		return false
	case n == 0:
		return true
	case c != ',':
		r.fail("a comma or a closing bracket was expected")
		return false
	}
	r.pos++
	if r.next() == closing {
		r.fail("a value was expected after the comma")
	}
	return r.err == nil
}

// key reads a key and its colon. The result is valid until the next key or text.
func (r *reader) key() []byte {
	if r.next() != '"' {
		r.fail("a key was expected")
		return nil
	}
	key := r.str(max(maxKey, r.keys))
	if r.next() != ':' {
		r.fail("a colon was expected")
		return nil
	}
	r.pos++
	return key
}

// text reads a string value of which it keeps up to limit bytes. Numbers and truth
// values are returned as they are written. All else is skipped.
func (r *reader) text(limit int) string {
	switch r.next() {
	case '"':
		return string(r.str(limit))
	case '{', '[', 'n':
		r.skip()
		return ""
	default:
		return string(r.scalar())
	}
}

// number reads a number. Another value is skipped and 0.
func (r *reader) number() int64 {
	text := r.text(64)
	if n, err := strconv.ParseInt(text, 10, 64); err == nil {
		return n
	}
	f, err := strconv.ParseFloat(text, 64)
	if err != nil || f != f || f > 1<<53 || f < -1<<53 {
		return 0
	}
	return int64(f)
}

// index reads a number that counts something.
func (r *reader) index() int { return int(min(max(r.number(), 0), 1<<40)) }

// scalar reads a number or a literal.
func (r *reader) scalar() []byte {
	r.scratch = r.scratch[:0]
	for r.pos < r.end || r.fill() {
		c := r.buf[r.pos]
		if c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c == '-' || c == '+' || c == '.' || c == 'E' {
			if len(r.scratch) < maxKey {
				r.scratch = append(r.scratch, c)
			}
			r.pos++
			continue
		}
		break
	}
	if len(r.scratch) == 0 {
		r.fail("a value was expected")
	}
	return r.scratch
}

// skip consumes a value.
func (r *reader) skip() {
	switch r.next() {
	case 0:
	case '"':
		r.pos++
		r.skipString()
	case '{', '[':
		r.skipContainer()
	default:
		r.scalar()
	}
}

const (
	ones  = 0x0101010101010101
	highs = 0x8080808080808080
)

// inString returns the index of the first quote or backslash in b at or after i, or
// len(b). Eight bytes are looked at together.
func inString(b []byte, i int) int {
	for len(b)-i >= 8 {
		w := binary.LittleEndian.Uint64(b[i:])
		quote, slash := w^(ones*'"'), w^(ones*'\\')
		// Borrows only set bits above a true hit, and only the lowest hit is used.
		if hit := (((quote - ones) &^ quote) | ((slash - ones) &^ slash)) & highs; hit != 0 {
			return i + bits.TrailingZeros64(hit)>>3
		}
		i += 8
	}
	for i < len(b) && b[i] != '"' && b[i] != '\\' {
		i++
	}
	return i
}

// skipString consumes the rest of a string whose opening quote is consumed.
func (r *reader) skipString() {
	for r.need() {
		r.pos = inString(r.buf[:r.end], r.pos)
		if r.pos == r.end {
			continue
		}
		c := r.buf[r.pos]
		r.pos++
		if c == '"' {
			return
		}
		if r.need() {
			r.pos++ // the escaped character; of \u, the digits are plain characters
		}
	}
}

// kinds says what a byte outside of strings is for skipContainer.
var kinds = [256]byte{'"': 1, '{': 2, '[': 2, '}': 3, ']': 3}

// skipContainer consumes an object or an array.
func (r *reader) skipContainer() {
	r.open = r.open[:0]
	for r.need() {
		b, i := r.buf[:r.end], r.pos
		for i < len(b) {
			switch kinds[b[i]] {
			case 0:
				i++
			case 1:
				// Most strings end within the window and have no escape.
				end := inString(b, i+1)
				if end < len(b) && b[end] == '"' {
					i = end + 1
					continue
				}
				r.pos = i + 1
				r.skipString()
				if r.err != nil {
					return
				}
				b, i = r.buf[:r.end], r.pos
			case 2:
				if len(r.open) >= maxDepth {
					r.pos = i
					r.fail("the values nest too deep")
					return
				}
				r.open = append(r.open, b[i]+2) // the closing bracket
				i++
			case 3:
				top := len(r.open) - 1
				if r.open[top] != b[i] {
					r.pos = i
					r.fail("a bracket is closed by another kind of bracket")
					return
				}
				r.open = r.open[:top]
				i++
				if top == 0 {
					r.pos = i
					return
				}
			}
		}
		r.pos = i
	}
}

// str reads a string and keeps up to limit bytes of it. The result is valid until the
// next key or text.
func (r *reader) str(limit int) []byte {
	r.pos++ // the quote
	out := r.scratch[:0]
	defer func() { r.scratch = out }()
	for r.need() {
		at := r.pos
		r.pos = inString(r.buf[:r.end], at)
		if room := limit - len(out); room > 0 {
			out = append(out, r.buf[at:at+min(r.pos-at, room)]...)
		}
		if r.pos == r.end {
			continue
		}
		c := r.buf[r.pos]
		r.pos++
		if c == '"' {
			break
		}
		if char := r.escape(); len(out) < limit {
			out = utf8.AppendRune(out, char)
		}
	}
	if len(out) >= limit {
		out = wholeRunes(out[:limit])
	}
	return out
}

// wholeRunes removes a character that is cut at the end of b.
func wholeRunes(b []byte) []byte {
	for n := 1; n <= min(utf8.UTFMax-1, len(b)); n++ {
		if c := b[len(b)-n]; utf8.RuneStart(c) {
			if !utf8.FullRune(b[len(b)-n:]) {
				return b[:len(b)-n]
			}
			break
		}
	}
	return b
}

// escape reads an escape sequence after its backslash.
func (r *reader) escape() rune {
	if !r.need() {
		return 0
	}
	c := r.buf[r.pos]
	r.pos++
	switch c {
	case 'b':
		return '\b'
	case 'f':
		return '\f'
	case 'n':
		return '\n'
	case 'r':
		return '\r'
	case 't':
		return '\t'
	case '"', '\\', '/':
		return rune(c)
	case 'u':
	default:
		r.fail("this escape is not JSON's")
		return 0
	}
	char := r.hex()
	if !utf16.IsSurrogate(char) || !r.need() || r.buf[r.pos] != '\\' {
		return char
	}
	// The second half of a pair. A lone first half is replaced, and so is what follows.
	r.pos++
	if !r.need() || r.buf[r.pos] != 'u' {
		r.escape()
		return utf8.RuneError
	}
	r.pos++
	return utf16.DecodeRune(char, r.hex())
}

func (r *reader) hex() (char rune) {
	for range 4 {
		if !r.need() {
			return 0
		}
		c := r.buf[r.pos]
		switch {
		case c >= '0' && c <= '9':
			c -= '0'
		case c|0x20 >= 'a' && c|0x20 <= 'f':
			c = c | 0x20 - 'a' + 10
		default:
			r.fail("a \\u escape needs four hexadecimal digits")
			return 0
		}
		char = char<<4 | rune(c)
		r.pos++
	}
	return char
}
