package clients

import (
	"bytes"
	"unicode/utf8"

	"genkan/internal/gateway"
)

// These bounds of a file are far beyond any real one.
const (
	maxBytes = 32 << 20
	maxDepth = 200
)

type kind uint8

const (
	kindNull kind = iota
	kindBool
	kindNumber
	kindText
	kindMap
	kindList
	// kindOther is a date or an alias. It is compared as written and never parsed.
	kindOther
)

// span is a part of a file's bytes.
type span struct{ start, end int }

// node is a value of a file of any format, with its position.
type node struct {
	kind kind
	// text is the text of a scalar: unescaped for a string, and as written
	// otherwise.
	text string
	// entries are the members of a map or the items of a list.
	entries []entry
	span
}

// entry is a member of a map, or an item of a list without a key.
type entry struct {
	key   string
	value *node
	// span goes from the first byte of the key to the last of the value.
	span
	// comma is the position of the comma behind it, or nowhere.
	comma int
}

const nowhere = -1

// get returns a member. Of duplicates it returns the last one, as the programs that
// own these files do.
func (n *node) get(key string) *node {
	if n == nil || n.kind != kindMap {
		return nil
	}
	for i := len(n.entries) - 1; i >= 0; i-- {
		if n.entries[i].key == key {
			return n.entries[i].value
		}
	}
	return nil
}

func (n *node) is(k kind) bool { return n != nil && n.kind == k }

// textAt returns the text of a member, or "".
func (n *node) textAt(key string) string {
	if v := n.get(key); v.is(kindText) {
		return v.text
	}
	return ""
}

// scalar reports whether the node is a scalar, which has a text.
func (n *node) scalar() bool {
	return n.is(kindText) || n.is(kindNumber) || n.is(kindBool)
}

// same reports whether two values are equal. The order of a map's members does not
// matter.
func same(a, b *node) bool {
	if a == nil || b == nil {
		return a == b
	}
	if a.kind != b.kind {
		return false
	}
	switch a.kind {
	case kindMap:
		x, y := effective(a), effective(b)
		if len(x) != len(y) {
			return false
		}
		for key, value := range x {
			other, ok := y[key]
			if !ok || !same(value, other) {
				return false
			}
		}
		return true
	case kindList:
		if len(a.entries) != len(b.entries) {
			return false
		}
		for i := range a.entries {
			if !same(a.entries[i].value, b.entries[i].value) {
				return false
			}
		}
		return true
	default:
		return a.text == b.text
	}
}

func effective(n *node) map[string]*node {
	m := make(map[string]*node, len(n.entries))
	for _, e := range n.entries {
		m[e.key] = e.value
	}
	return m
}

// fault is an error in a file, with its position. Its text never repeats the file,
// which may hold secrets.
type fault struct {
	at   int
	text gateway.Text
}

func faultAt(at int, format string, values ...any) *fault {
	return &fault{at, gateway.Textf(format, values...)}
}

// in returns the fault as an error with the file, line and column.
func (f *fault) in(path string, src []byte) *gateway.Error {
	line, column := position(src, f.at)
	return gateway.Errorf(gateway.CodeInvalid, "%s:%d:%d: %s", path, line, column, f.text)
}

// position returns the line and the column in characters, both from 1.
func position(src []byte, at int) (line, column int) {
	before := src[:min(at, len(src))]
	line = 1 + bytes.Count(before, []byte("\n"))
	before = bytes.TrimPrefix(before[bytes.LastIndexByte(before, '\n')+1:], []byte(bom))
	return line, 1 + utf8.RuneCount(before)
}

const bom = "\xef\xbb\xbf"

// parse parses a file of any format. It returns nil for an empty file.
func parse(format Format, src []byte) (*node, *fault) {
	if len(src) > maxBytes {
		return nil, faultAt(0, "the file is larger than any list of servers, so it is left alone")
	}
	if !utf8.Valid(src) {
		return nil, faultAt(firstInvalid(src), "the file is not UTF-8 text; save it as UTF-8")
	}
	switch format {
	case TOML:
		doc, bad := parseTOML(src)
		if bad != nil {
			return nil, bad
		}
		return doc.root, nil
	case YAML:
		return parseYAML(src)
	default:
		return parseJSON(src)
	}
}

func firstInvalid(src []byte) int {
	for i := 0; i < len(src); {
		r, size := utf8.DecodeRune(src[i:])
		if r == utf8.RuneError && size == 1 {
			return i
		}
		i += size
	}
	return 0
}
