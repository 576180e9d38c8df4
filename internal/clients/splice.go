package clients

import (
	"bytes"
	"cmp"
	"slices"
	"strings"
)

// change replaces a part of a file's bytes.
type change struct {
	span
	text string
}

// splice makes all changes at once. They must not overlap. Several changes at one
// position keep their order.
func splice(src []byte, changes []change) []byte {
	slices.SortStableFunc(changes, func(a, b change) int { return cmp.Compare(a.start, b.start) })
	var out bytes.Buffer
	at := 0
	for _, c := range changes {
		out.Write(src[at:max(at, c.start)])
		out.WriteString(c.text)
		at = max(at, c.end)
	}
	out.Write(src[at:])
	return out.Bytes()
}

// newline returns the line ending of the file.
func newline(src []byte) string {
	if i := bytes.IndexByte(src, '\n'); i > 0 && src[i-1] == '\r' {
		return "\r\n"
	}
	return "\n"
}

// lineStart returns the position where the line of a byte begins.
func lineStart(src []byte, at int) int {
	start := bytes.LastIndexByte(src[:at], '\n') + 1
	if start == 0 && bytes.HasPrefix(src, []byte(bom)) {
		return min(len(bom), at)
	}
	return start
}

// lineEnd returns the position behind the line break of a byte's line.
func lineEnd(src []byte, at int) int {
	if i := bytes.IndexByte(src[at:], '\n'); i >= 0 {
		return at + i + 1
	}
	return len(src)
}

// indentation returns the white space at the beginning of a byte's line.
func indentation(src []byte, at int) string {
	line := src[lineStart(src, at):]
	return string(line[:len(line)-len(bytes.TrimLeft(line, " \t"))])
}

// members edits a map or list whose members are between brackets and separated by
// commas: objects and arrays of JSON, inline tables of TOML.
type members struct {
	src []byte
	n   *node
	// lineComment reports whether a line comment ends at the byte, so that a new
	// line must follow. It is nil if the format has no such comments.
	lineComment func(at int) bool
	// flat keeps new members on the line.
	flat bool
	// unit is one level of indentation.
	unit string
}

// indents returns the indentation of the brackets and of the members. multi reports
// whether members are on their own lines.
func (m members) indents() (base, inner string, multi bool) {
	base = indentation(m.src, m.n.start)
	inner = base + m.unit
	if m.flat {
		return base, inner, false
	}
	if len(m.n.entries) == 0 {
		return base, inner, bytes.IndexByte(m.src, '\n') >= 0
	}
	first := m.n.entries[0]
	if bytes.IndexByte(m.src[m.n.start:first.start], '\n') >= 0 {
		return base, indentation(m.src, first.start), true
	}
	return base, inner, false
}

// edit removes members and adds others at the position of the first removed one, or
// else at the end. The functions in add get the indentation of a new member.
func (m members) edit(drop func(i int) bool, add []func(inner string, multi bool) string) []change {
	base, inner, multi := m.indents()
	nl, between := newline(m.src), " "
	if multi {
		between = nl + inner
	}
	var texts []string
	for _, make := range add {
		texts = append(texts, make(inner, multi))
	}
	added := strings.Join(texts, ","+between)

	first, last := nowhere, nowhere // first dropped, last that stays
	for i := range m.n.entries {
		switch {
		case !drop(i):
			last = i
		case first == nowhere:
			first = i
			if added != "" {
				last = i
			}
		}
	}
	var changes []change
	for i := 0; i < len(m.n.entries); i++ {
		switch {
		case !drop(i):
		case i == first && added != "":
			changes = append(changes, change{m.n.entries[i].span, added})
		default:
			run := i
			for i+1 < len(m.n.entries) && drop(i+1) && m.adjacent(i) {
				i++
			}
			changes = append(changes, change{m.whole(run, i), ""})
		}
	}
	end := len(m.n.entries) - 1
	if last != nowhere && last != end && m.n.entries[end].comma == nowhere {
		comma := m.n.entries[last].comma
		changes = append(changes, change{span{comma, comma + 1}, ""})
	}
	if added == "" || first != nowhere {
		return changes
	}
	switch {
	case last == nowhere:
		text := added
		if multi {
			text = nl + inner + added
			if bytes.IndexByte(m.src[m.n.start:m.n.end], '\n') < 0 {
				text += nl + base
			}
		}
		return append(changes, change{span{m.n.start + 1, m.n.start + 1}, text})
	case m.n.entries[last].comma != nowhere:
		at := m.n.entries[last].comma + 1
		return append(changes, change{span{at, at}, between + added + ","})
	default:
		at := m.n.entries[last].end
		return append(changes, change{span{at, at}, "," + between + added})
	}
}

// adjacent reports whether only white space is between a member and the next one.
func (m members) adjacent(i int) bool {
	between := m.src[m.n.entries[i].comma+1 : m.n.entries[i+1].start]
	return len(bytes.TrimSpace(between)) == 0
}

// whole returns the span of adjacent members with their commas and the white space
// before them.
func (m members) whole(first, last int) span {
	e := m.n.entries[last]
	s := span{m.n.entries[first].start, e.end}
	if e.comma != nowhere {
		s.end = e.comma + 1
	}
	before := len(bytes.TrimRight(m.src[:s.start], " \t\r\n"))
	if m.lineComment != nil && m.lineComment(before) {
		// The comment keeps its line break, and the line break of the member is
		// removed.
		rest := bytes.TrimLeft(m.src[s.end:], " \t\r")
		if len(rest) > 0 && rest[0] == '\n' {
			return span{lineStart(m.src, s.start), lineEnd(m.src, s.end)}
		}
		return s
	}
	s.start = before
	return s
}
