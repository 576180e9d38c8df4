package clients

import (
	"bytes"
	"strconv"
	"strings"
)

// editYAML applies the edits to YAML, line by line. It changes only block style,
// and refuses everything else.
func editYAML(src []byte, root *node, e edits) ([]byte, *fault) {
	var changes []change
	for _, c := range e.containers {
		y := yamlText{src: src, nl: newline(src)}
		at, left, bad := find(root, c.keys)
		switch {
		case root == nil:
			left = c.keys
		case bad != nil:
			return nil, bad
		}
		if len(left) > 0 {
			if c.add != nil {
				bad = y.create(left, root, c)
			}
		} else {
			bad = y.container(at, c)
		}
		if bad != nil {
			return nil, bad
		}
		changes = append(changes, y.changes...)
	}
	return splice(src, changes), nil
}

// yamlText collects changes to whole lines.
type yamlText struct {
	src     []byte
	nl      string
	changes []change
}

// create adds a container at the end of the file, which is possible only at the
// first level.
func (y *yamlText) create(keys []string, root *node, c containerEdit) *fault {
	if len(keys) != 1 || root != nil && (!root.is(kindMap) || y.flow(root)) {
		return faultAt(len(y.src), "%s is missing here, and cannot be added to this kind of YAML; add it by hand", keys[0])
	}
	var text strings.Builder
	if len(y.src) > 0 && !bytes.HasSuffix(y.src, []byte("\n")) {
		text.WriteString(y.nl)
	}
	text.WriteString(yamlName(keys[0]) + ":" + y.nl)
	y.item(&text, c.added(c.list), "  ", c.list)
	y.changes = append(y.changes, change{span{len(y.src), len(y.src)}, text.String()})
	return nil
}

func (y *yamlText) container(at *node, c containerEdit) *fault {
	var kept, last *entry
	added := false
	for i := range at.entries {
		e := &at.entries[i]
		last = e
		name := nameOf(at, *e)
		pairs, changed := c.change[name]
		switch {
		case c.goes(name):
			if y.flow(at) {
				return y.refuse(at)
			}
			var text strings.Builder
			column := y.column(at, e)
			if c.add != nil && !added {
				added = true
				y.item(&text, c.added(at.is(kindList)), strings.Repeat(" ", column), at.is(kindList))
			}
			y.changes = append(y.changes, change{y.lines(e.start, column), text.String()})
			continue
		case changed && e.value.is(kindMap):
			if y.flow(at) || y.flow(e.value) {
				return y.refuse(e.value)
			}
			y.transport(e.value, put(e.value, pairs))
		}
		kept = e
	}
	if c.add == nil {
		if kept == nil && last != nil {
			// A key without a value would be null and not an empty list.
			return faultAt(at.start, "nothing would be left of this list; take it out by hand")
		}
		return nil
	}
	if added {
		return nil
	}
	var text strings.Builder
	if last == nil {
		if !y.flow(at) || !at.is(kindMap) && !at.is(kindList) {
			return y.refuse(at)
		}
		end := at.start + 1 + bytes.IndexAny(y.src[at.start:], "]}")
		y.item(&text, c.added(at.is(kindList)), indentation(y.src, at.start)+"  ", at.is(kindList))
		y.changes = append(y.changes, change{span{at.start, end}, y.nl + strings.TrimSuffix(text.String(), y.nl)})
		return nil
	}
	if y.flow(at) {
		return y.refuse(at)
	}
	column := y.column(at, last)
	end := y.lines(last.start, column).end
	if end > 0 && y.src[end-1] != '\n' {
		text.WriteString(y.nl)
	}
	y.item(&text, c.added(at.is(kindList)), strings.Repeat(" ", column), at.is(kindList))
	y.changes = append(y.changes, change{span{end, end}, text.String()})
	return nil
}

func (y *yamlText) refuse(n *node) *fault {
	return faultAt(n.start, "this is written in brackets or in another way that is not edited; write it as lines, or change it by hand")
}

// flow reports whether a map or list is not in block style.
func (y *yamlText) flow(n *node) bool {
	return n.start < len(y.src) && (y.src[n.start] == '{' || y.src[n.start] == '[')
}

// column returns the column where the entries of a container begin: at the dash of
// an item, or at the key.
func (y *yamlText) column(at *node, e *entry) int {
	start := lineStart(y.src, e.start)
	if at.is(kindList) {
		return len(indentation(y.src, e.start))
	}
	return e.start - start
}

// lines returns the lines of an entry: the one that it begins on, and all that are
// indented further than its column.
func (y *yamlText) lines(at, column int) span {
	s := span{lineStart(y.src, at), lineEnd(y.src, at)}
	key := at - s.start
	for next := s.end; next < len(y.src); {
		end := lineEnd(y.src, next)
		line := bytes.TrimRight(y.src[next:end], " \t\r\n")
		if len(line) > 0 {
			body := bytes.TrimLeft(line, " ")
			indent := len(line) - len(body)
			// The items of a list may be indented as little as their key.
			item := key == column && indent == column && (bytes.HasPrefix(body, []byte("- ")) || string(body) == "-")
			if indent <= column && !item {
				break
			}
			s.end = end
		}
		next = end
	}
	return s
}

// transport replaces the transport of a server's map.
func (y *yamlText) transport(server *node, pairs []pair) {
	written := false
	for _, e := range server.entries {
		if !transport(e.key) {
			continue
		}
		column := e.start - lineStart(y.src, e.start)
		s := y.lines(e.start, column)
		if written {
			y.changes = append(y.changes, change{s, ""})
			continue
		}
		written = true
		// The dash of an item may be before its first key.
		s.start = e.start
		y.changes = append(y.changes, change{s, y.pairs(pairs, strings.Repeat(" ", column), false)})
	}
	if !written && len(server.entries) > 0 {
		first := server.entries[0]
		column := first.start - lineStart(y.src, first.start)
		end := y.lines(first.start, column).end
		y.changes = append(y.changes, change{span{end, end}, y.pairs(pairs, strings.Repeat(" ", column), true)})
	}
}

// pairs writes lines. The first one is indented only if asked.
func (y *yamlText) pairs(pairs []pair, indent string, first bool) string {
	var text strings.Builder
	for i, p := range pairs {
		if i > 0 || first {
			text.WriteString(indent)
		}
		text.WriteString(yamlName(p.key) + ":")
		switch v := p.value.(type) {
		case string:
			text.WriteString(" " + yamlScalar(v) + y.nl)
		case bool:
			text.WriteString(" " + strconv.FormatBool(v) + y.nl)
		case []string:
			text.WriteString(y.nl)
			for _, s := range v {
				text.WriteString(indent + "  - " + yamlScalar(s) + y.nl)
			}
		case []pair:
			text.WriteString(y.nl + y.pairs(v, indent+"  ", true))
		}
	}
	return text.String()
}

// item writes an entry of a container.
func (y *yamlText) item(text *strings.Builder, p pair, indent string, list bool) {
	pairs, _ := p.value.([]pair)
	if list {
		text.WriteString(indent + "- " + y.pairs(pairs, indent+"  ", false))
		return
	}
	text.WriteString(indent + yamlName(p.key) + ":" + y.nl + y.pairs(pairs, indent+"  ", true))
}

func yamlName(key string) string {
	if plainWord(key) {
		return key
	}
	return jsonText(key)
}

// yamlScalar quotes a text that could be read as another type.
func yamlScalar(s string) string {
	switch s {
	case "stdio", "http", "sse", "streamable-http", "genkan":
		return s
	default:
		return jsonText(s)
	}
}
