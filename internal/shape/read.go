package shape

import (
	"bytes"
	"encoding/json"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"genkan/internal/gateway"
	"genkan/internal/jsonrpc"
	"genkan/internal/tokens"
)

// request is what a call of read_result asks for.
type request struct {
	id, part, pointer, unit, grep string
	offset, limit                 int
}

// slice is the answer: a part of a value, and where it is.
type slice struct {
	data []byte
	// unit is what offset, count and total count.
	unit                 string
	offset, count, total int
	// next is the request that reads on, and then the one that reads on after the value
	// that next reads; nil if nothing is left.
	next, then *request
	// note says something about the data.
	note gateway.Text
}

// noLimit is the limit of a request without one.
const noLimit = math.MaxInt

// overhead is how many tokens of an answer are kept for what is said beside the data.
const overhead = 200

// read reads a slice that has at most a number of tokens.
func (l *labels) read(d *document, r request, room int) (slice, error) {
	// The tokens of many small pieces do not add up exactly.
	room = max(room-overhead, overhead) * 97 / 100
	if r.limit <= 0 {
		r.limit = noLimit
	}
	text, value := d.text, d.value
	if r.pointer != "" && r.pointer != "/" {
		if value == nil {
			return slice{}, invalid("pointer", "this part is a text and not JSON, so a pointer leads nowhere. Use offset, limit and grep")
		}
		var err error
		if value, err = resolve(value, r.pointer); err != nil {
			return slice{}, err
		}
		text = value
		if s, ok := jsonrpc.Unquote(value); ok {
			text, value = s, nil
		}
	}
	switch {
	case r.grep != "":
		s := l.grep(text, value, r, room)
		if s.total == 0 && d.others {
			s.note = gateway.Textf("Nothing matches in this part of the result. The next call looks in all of them.")
			s.next = &request{id: r.id, part: partRaw, grep: r.grep}
		}
		return s, nil
	case r.unit == unitBytes:
		return readBytes(text, r, room)
	case value == nil || r.unit == unitLines:
		return readLines(text, r, room)
	case value[0] == '[':
		return l.readItems(value, r, room)
	case value[0] == '{':
		return l.readMembers(value, r, room)
	}
	return slice{data: value, unit: unitBytes, count: len(value), total: len(value)}, nil
}

// past is the error for an offset behind the end.
func past(offset, total int, unit string) error {
	return invalid("offset", "offset is %d, but the number of %s is %d. The first one is 0", offset, unit, total)
}

func readBytes(text []byte, r request, room int) (slice, error) {
	if r.offset > len(text) {
		return slice{}, past(r.offset, len(text), unitBytes)
	}
	for r.offset > 0 && r.offset < len(text) && !utf8.RuneStart(text[r.offset]) {
		r.offset-- // whole characters
	}
	rest := text[r.offset:]
	data := rest
	if r.limit < len(rest) {
		if data = cutRunes(rest, r.limit); len(data) == 0 {
			_, first := utf8.DecodeRune(rest)
			data = rest[:first]
		}
	}
	data = within(data, room)
	s := slice{data: data, unit: unitBytes, offset: r.offset, count: len(data), total: len(text)}
	if end := r.offset + len(data); end < len(text) {
		r.offset, r.unit = end, unitBytes
		s.next = &r
	}
	return s, nil
}

func readLines(text []byte, r request, room int) (slice, error) {
	if r.unit == "" && unitOf(text) == unitBytes {
		return readBytes(text, r, room)
	}
	total := lineCount(text)
	if r.offset > total {
		return slice{}, past(r.offset, total, unitLines)
	}
	from := 0
	for range r.offset {
		from += lineEnd(text[from:])
	}
	end, count, left := from, 0, room
	for count < r.limit && end < len(text) {
		line := text[end : end+lineEnd(text[end:])]
		if left -= tokens.Count(line); left < 0 {
			break
		}
		end += len(line)
		count++
	}
	if count == 0 && from < len(text) {
		// The line is too long: it is read in bytes.
		r.unit, r.offset, r.limit = unitBytes, from, noLimit
		return readBytes(text, r, room)
	}
	s := slice{data: text[from:end], unit: unitLines, offset: r.offset, count: count, total: total}
	if end < len(text) {
		r.offset += count
		s.next = &r
	}
	return s, nil
}

// lineEnd returns the length of the first line with its end.
func lineEnd(text []byte) int {
	if i := bytes.IndexByte(text, '\n'); i >= 0 {
		return i + 1
	}
	return len(text)
}

// collector collects the items of an array or the members of an object.
type collector struct {
	r     request
	room  int
	seen  int
	count int
	data  []byte
	// tooLarge is the first one, if it does not fit.
	tooLarge []byte
	token    string
	full     bool
}

func (c *collector) add(token string, prefix, value []byte) {
	at := c.seen
	c.seen++
	if at < c.r.offset || c.full {
		return
	}
	if c.count == c.r.limit {
		c.full = true
		return
	}
	cost := 2 + tokens.Count(prefix) // with the comma
	if len(value) > c.room*16 || cost+tokens.Count(value) > c.room {
		c.full = true
		if c.count == 0 {
			c.tooLarge, c.token = value, token
		}
		return
	}
	c.room -= cost + tokens.Count(value)
	if c.count > 0 {
		c.data = append(c.data, ',')
	}
	c.data = append(append(c.data, prefix...), value...)
	c.count++
}

// slice returns what was collected, between two brackets.
func (c *collector) slice(l *labels, unit, brackets string) (slice, error) {
	if c.r.offset > c.seen {
		return slice{}, past(c.r.offset, c.seen, unit)
	}
	s := slice{unit: unit, offset: c.r.offset, count: c.count, total: c.seen}
	if c.tooLarge != nil {
		return c.outline(l, s)
	}
	s.data = append(append([]byte(brackets[:1]), c.data...), brackets[1])
	if next := c.r; c.r.offset+c.count < c.seen {
		next.offset += c.count
		s.next = &next
	}
	return s, nil
}

// outline answers with the outline of an item that does not fit.
func (c *collector) outline(l *labels, s slice) (slice, error) {
	next := c.r
	next.pointer = strings.TrimSuffix(next.pointer, "/") + "/" + c.token
	next.offset, next.limit = 0, 0
	if text, ok := jsonrpc.Unquote(c.tooLarge); ok {
		outline, end, unit := l.outlineText(text, min(c.room, mostOutline))
		s.data = []byte(next.pointer + "\n" + outline)
		next.offset, next.unit = end, unit
	} else {
		outline, target := l.outlineJSON(c.tooLarge, next.pointer, min(c.room, mostOutline))
		s.data = []byte(outline)
		next.pointer, next.limit = target.pointer, pageOf(target.value)
	}
	s.count, s.next = 0, &next
	s.note = gateway.Textf("The first one is too large for an answer, so this is its outline.")
	if after := c.r; c.r.offset+1 < c.seen {
		after.offset++
		s.then = &after
	}
	return s, nil
}

func (l *labels) readItems(array []byte, r request, room int) (slice, error) {
	c := collector{r: r, room: room}
	_ = jsonrpc.Elements(array, func(item []byte) bool {
		c.add(strconv.Itoa(c.seen), nil, item)
		return true
	})
	return c.slice(l, unitItems, "[]")
}

func (l *labels) readMembers(object []byte, r request, room int) (slice, error) {
	c := collector{r: r, room: room}
	_ = jsonrpc.Members(object, func(key, value []byte) bool {
		c.add(escapeToken.Replace(string(key)), append(jsonrpc.AppendQuoted(nil, string(key)), ':'), value)
		return true
	})
	return c.slice(l, unitMembers, "{}")
}

// mostOfMatch is how much of a line or value that matches is shown, in bytes.
const mostOfMatch = 400

// matches collects the lines or values in which a text is found.
type matches struct {
	r      request
	needle []byte
	room   int
	work   int // bytes that may still be read
	found  int
	count  int
	data   []byte
	full   bool
}

func newMatches(r request, room int) *matches {
	return &matches{r: r, room: room, needle: bytes.ToLower([]byte(r.grep))}
}

// fits reports whether a text contains what is looked for, and where.
func (m *matches) in(text []byte) int { return bytes.Index(bytes.ToLower(text), m.needle) }

// add adds a match at a position.
func (m *matches) add(position string, text []byte, at int) {
	m.found++
	if m.found <= m.r.offset || m.full {
		return
	}
	if m.count == m.r.limit {
		m.full = true
		return
	}
	shown := text
	if len(text) > mostOfMatch {
		from := max(0, min(at-mostOfMatch/4, len(text)-mostOfMatch))
		for from > 0 && !utf8.RuneStart(text[from]) {
			from--
		}
		shown = text[from:]
		if len(shown) >= mostOfMatch+utf8.UTFMax {
			shown = append(slices.Clip(cutRunes(shown, mostOfMatch)), "…"...)
		}
		if from > 0 {
			shown = append([]byte("…"), shown...)
		}
	}
	line := append(append([]byte(position), shown...), '\n')
	if m.room -= tokens.Count(line); m.room < 0 && m.count > 0 {
		m.full = true
		return
	}
	m.data = append(m.data, line...)
	m.count++
}

func (m *matches) slice() slice {
	s := slice{data: m.data, unit: "matches", offset: m.r.offset, count: m.count, total: m.found}
	if next := m.r; m.r.offset+m.count < m.found {
		next.offset += m.count
		s.next = &next
	}
	switch {
	case m.found == 0:
		s.note = gateway.Textf("Nothing matches. grep looks for exactly this text, in upper or lower case.")
	case m.found <= m.r.offset:
		s.note = gateway.Textf("With grep, offset counts matches, and there are only %d.", m.found)
	}
	return s
}

// grep finds a text in a value, or in a text if it is no JSON.
func (l *labels) grep(text, value []byte, r request, room int) slice {
	if value != nil {
		return l.grepJSON(value, r, room)
	}
	return grepText(text, r, room)
}

// grepText finds lines. Their positions are numbers of lines, or bytes where the text
// is read in bytes.
func grepText(text []byte, r request, room int) slice {
	m := newMatches(r, room)
	inBytes := unitOf(text) == unitBytes
	from := 0
	for n := 0; from < len(text); n++ {
		end := from + lineEnd(text[from:])
		line := bytes.TrimRight(text[from:end], "\r\n")
		for at, start := m.in(line), 0; at >= 0; {
			position := n
			if inBytes {
				position = from + start + at
			}
			m.add(strconv.Itoa(position)+": ", line, start+at)
			if !inBytes {
				break
			}
			// A long line can have many.
			start += at + len(m.needle)
			if start >= len(line) {
				break
			}
			at = m.in(line[start:])
		}
		from = end
	}
	s := m.slice()
	if inBytes && s.count > 0 {
		s.note = gateway.Textf("The positions are bytes: read there with unit: \"bytes\" and offset.")
	}
	return s
}

// grepJSON finds strings, numbers and keys. Their positions are JSON Pointers.
func (l *labels) grepJSON(value []byte, r request, room int) slice {
	m := newMatches(r, room)
	m.work = max(deepest*len(value), leastWork)
	m.walk(strings.TrimSuffix(r.pointer, "/"), value)
	return m.slice()
}

// A value is read once at each level of its nesting. grep reads so many times the size of
// the document, or so many bytes. A value that is left then is searched as a whole.
const deepest, leastWork = 32, 64 << 20

func (m *matches) walk(pointer string, value []byte) {
	m.work -= len(value)
	// Most values have neither an escape nor what is looked for.
	if bytes.IndexByte(value, '\\') < 0 && m.in(value) < 0 {
		return
	}
	switch {
	case value[0] == '{' && m.work > 0:
		_ = jsonrpc.Members(value, func(key, child []byte) bool {
			token := escapeToken.Replace(string(key))
			if at := m.in(key); at >= 0 {
				m.add(pointer+"/"+token+" ", child, 0)
				return true
			}
			m.walk(pointer+"/"+token, child)
			return true
		})
	case value[0] == '[' && m.work > 0:
		n := 0
		_ = jsonrpc.Elements(value, func(child []byte) bool {
			m.walk(pointer+"/"+strconv.Itoa(n), child)
			n++
			return true
		})
	default:
		text := value
		if s, ok := jsonrpc.Unquote(value); ok {
			text = s
		}
		if at := m.in(text); at >= 0 {
			m.add(pointer+" ", text, at)
		}
	}
}

// String is the call that a request makes, as an agent writes it.
func (r *request) String() string {
	var b strings.Builder
	b.WriteString(ToolName + "(id: " + quoted(r.id))
	for _, a := range []struct{ name, value string }{{"part", r.part}, {"pointer", r.pointer}, {"unit", r.unit}, {"grep", r.grep}} {
		if a.value != "" {
			b.WriteString(", " + a.name + ": " + quoted(a.value))
		}
	}
	if r.offset > 0 {
		b.WriteString(", offset: " + strconv.Itoa(r.offset))
	}
	if r.limit > 0 && r.limit < noLimit {
		b.WriteString(", limit: " + strconv.Itoa(r.limit))
	}
	return b.String() + ")"
}

func quoted(text string) string { return string(jsonrpc.AppendQuoted(nil, text)) }

// about describes a slice for the agent; nil if the data is all there is.
func (s *slice) about(translate gateway.Translate) []byte {
	if s.next == nil && s.offset == 0 && s.note.Format == "" && s.unit != "matches" {
		return nil
	}
	about := struct {
		Unit     string `json:"unit"`
		Offset   int    `json:"offset"`
		Count    int    `json:"count"`
		Total    int    `json:"total"`
		Note     string `json:"note,omitempty"`
		Guidance string `json:"_guidance,omitempty"`
	}{Unit: s.unit, Offset: s.offset, Count: s.count, Total: s.total, Note: s.note.In(translate)}
	switch {
	case s.then != nil:
		about.Guidance = gateway.Textf("There is more. Next: %s. After this one, or to skip it: %s", s.next.String(), s.then.String()).In(translate)
	case s.next != nil:
		about.Guidance = gateway.Textf("There is more. Next: %s", s.next.String()).In(translate)
	}
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if e.Encode(about) != nil {
		return nil
	}
	return bytes.TrimSpace(b.Bytes())
}
