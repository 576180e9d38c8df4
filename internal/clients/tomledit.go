package clients

import (
	"bytes"
	"slices"
	"strconv"
	"strings"
)

// editTOML applies the edits to TOML.
func editTOML(src []byte, e edits) ([]byte, *fault) {
	for _, c := range e.containers {
		for name, pairs := range sorted(c.change) {
			if c.goes(name) {
				continue
			}
			changed, bad := changeTOML(src, append(slices.Clone(c.keys), name), pairs)
			if bad != nil {
				return nil, bad
			}
			src = changed
		}
		for name := range sorted(c.remove) {
			changed, bad := removeTOML(src, append(slices.Clone(c.keys), name))
			if bad != nil {
				return nil, bad
			}
			src = changed
		}
		if c.add != nil {
			changed, bad := addTOML(src, c)
			if bad != nil {
				return nil, bad
			}
			src = changed
		}
	}
	return src, nil
}

// changeTOML replaces the transport of a server's table, which may be under a
// header, with dots, or inline.
func changeTOML(src []byte, server []string, pairs []pair) ([]byte, *fault) {
	f, bad := parseTOML(src)
	if bad != nil {
		return nil, bad
	}
	at, left, bad := find(f.root, server)
	if bad != nil || len(left) > 0 || !at.is(kindMap) {
		return src, bad
	}
	pairs = put(at, pairs)
	if l, ok := f.inline(server); ok {
		n, _, _ := find(l.value, server[len(l.path()):])
		return splice(src, inlineTOML(src, n, pairs)), nil
	}
	t := tomlText{src: src}
	written := false
	for _, l := range f.lines {
		path := l.path()
		if !below(path, server) || !transport(path[len(server)]) {
			continue
		}
		// A subtable such as [mcp_servers.x.env] cannot hold the keys of the server.
		if !written && !l.header && len(l.table) <= len(server) {
			written = true
			t.replace(l, pairs, len(server)-len(l.table))
			continue
		}
		t.remove(l)
	}
	if !written {
		t.under(f, server, pairs)
	}
	return splice(src, t.changes), nil
}

// removeTOML removes all lines about a table.
func removeTOML(src []byte, server []string) ([]byte, *fault) {
	f, bad := parseTOML(src)
	if bad != nil {
		return nil, bad
	}
	if l, ok := f.inline(server); ok && len(l.path()) < len(server) {
		parent, left, bad := find(l.value, server[len(l.path()):len(server)-1])
		if bad != nil || len(left) > 0 {
			return src, bad
		}
		m := members{src: src, n: parent, flat: true}
		return splice(src, m.edit(func(i int) bool { return parent.entries[i].key == server[len(server)-1] }, nil)), nil
	}
	t := tomlText{src: src}
	for _, l := range f.lines {
		if path := l.path(); below(path, server) || slices.Equal(path, server) {
			t.remove(l)
		}
	}
	return splice(src, t.changes), nil
}

// addTOML adds a table, at the end of the file if possible.
func addTOML(src []byte, c containerEdit) ([]byte, *fault) {
	server := append(slices.Clone(c.keys), c.add.name)
	src, bad := removeTOML(src, server)
	if bad != nil {
		return nil, bad
	}
	f, bad := parseTOML(src)
	if bad != nil {
		return nil, bad
	}
	if l, ok := f.inline(c.keys); ok {
		n, left, bad := find(l.value, c.keys[len(l.path()):])
		if bad != nil || len(left) > 0 {
			return src, bad
		}
		m := members{src: src, n: n, flat: true}
		return splice(src, m.edit(nothing, []func(string, bool) string{
			func(string, bool) string { return tomlAssignment(pair{c.add.name, c.add.pairs}) },
		})), nil
	}
	t := tomlText{src: src}
	t.section(server, c.add.pairs)
	return splice(src, t.changes), nil
}

// below reports whether a path is below another one.
func below(path, above []string) bool {
	return len(path) > len(above) && slices.Equal(path[:len(above)], above)
}

// inline returns the statement whose value is a table or contains it.
func (f *tomlFile) inline(table []string) (tomlLine, bool) {
	for _, l := range f.lines {
		if path := l.path(); !l.header && (slices.Equal(path, table) || below(table, path)) {
			return l, true
		}
	}
	return tomlLine{}, false
}

// inlineTOML replaces the transport of an inline table.
func inlineTOML(src []byte, n *node, pairs []pair) []change {
	if !n.is(kindMap) {
		return nil
	}
	var add []func(string, bool) string
	for _, p := range pairs {
		add = append(add, func(string, bool) string { return tomlAssignment(p) })
	}
	m := members{src: src, n: n, flat: true}
	return m.edit(func(i int) bool { return transport(n.entries[i].key) }, add)
}

// tomlText collects changes to whole lines.
type tomlText struct {
	src     []byte
	changes []change
}

// replace replaces a statement with pairs. depth is how many parts of its key
// belong to the server.
func (t *tomlText) replace(l tomlLine, pairs []pair, depth int) {
	prefix := ""
	if depth > 0 {
		prefix = string(t.src[l.keys[0].start:l.keys[depth].start])
	}
	var lines []string
	for _, p := range pairs {
		lines = append(lines, prefix+tomlAssignment(p))
	}
	between := newline(t.src) + indentation(t.src, l.start)
	t.changes = append(t.changes, change{l.span, strings.Join(lines, between)})
}

// remove removes a line. A comment behind it stays on the line.
func (t *tomlText) remove(l tomlLine) {
	s := span{lineStart(t.src, l.start), lineEnd(t.src, l.end)}
	if comment := bytes.TrimLeft(t.src[l.end:s.end], " \t"); len(comment) > 0 && comment[0] == '#' {
		t.changes = append(t.changes, change{span{l.start, s.end - len(comment)}, ""})
		return
	}
	if l.header {
		// The empty line before the table is removed with it.
		before := lineStart(t.src, max(s.start-1, 0))
		if before < s.start && len(bytes.TrimSpace(t.src[before:s.start])) == 0 {
			s.start = before
		}
	}
	t.changes = append(t.changes, change{s, ""})
}

// under adds pairs below the server's header, or creates one.
func (t *tomlText) under(f *tomlFile, server []string, pairs []pair) {
	for _, l := range f.lines {
		if l.header && slices.Equal(l.table, server) {
			var text strings.Builder
			for _, p := range pairs {
				text.WriteString(newline(t.src) + indentation(t.src, l.start) + tomlAssignment(p))
			}
			end := lineEnd(t.src, l.end)
			end = l.end + len(bytes.TrimRight(t.src[l.end:end], "\r\n"))
			t.changes = append(t.changes, change{span{end, end}, text.String()})
			return
		}
	}
	t.section(server, pairs)
}

// section adds a table at the end of the file.
func (t *tomlText) section(table []string, pairs []pair) {
	nl := newline(t.src)
	var text strings.Builder
	if body := bytes.TrimPrefix(t.src, []byte(bom)); len(body) > 0 {
		if !bytes.HasSuffix(body, []byte("\n")) {
			text.WriteString(nl)
		}
		text.WriteString(nl)
	}
	var keys []string
	for _, key := range table {
		keys = append(keys, tomlName(key))
	}
	text.WriteString("[" + strings.Join(keys, ".") + "]" + nl)
	for _, p := range pairs {
		text.WriteString(tomlAssignment(p) + nl)
	}
	t.changes = append(t.changes, change{span{len(t.src), len(t.src)}, text.String()})
}

func tomlAssignment(p pair) string { return tomlName(p.key) + " = " + tomlValue(p.value) }

func tomlName(key string) string {
	if plainWord(key) {
		return key
	}
	return tomlQuoted(key)
}

// plainWord reports whether a key needs no quotes.
func plainWord(key string) bool {
	for i := range len(key) {
		if !bareKey(key[i]) {
			return false
		}
	}
	return key != ""
}

// tomlQuoted quotes a text. TOML has all escapes of JSON, but also requires one for
// a character that JSON does not escape.
func tomlQuoted(s string) string { return strings.ReplaceAll(jsonText(s), "\x7f", `\u007f`) }

func tomlValue(v any) string {
	var parts []string
	switch v := v.(type) {
	case string:
		return tomlQuoted(v)
	case bool:
		return strconv.FormatBool(v)
	case []string:
		for _, s := range v {
			parts = append(parts, tomlQuoted(s))
		}
		return "[" + strings.Join(parts, ", ") + "]"
	case []pair:
		for _, p := range v {
			parts = append(parts, tomlAssignment(p))
		}
		return "{ " + strings.Join(parts, ", ") + " }"
	default:
		panic("clients: a pair has a value of no known kind")
	}
}
