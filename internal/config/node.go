package config

import (
	"bytes"
	"encoding/binary"
	"unicode/utf16"
	"unicode/utf8"

	"genkan/internal/gateway"
)

// Bounds on what a file may make us do. A real file is far below all of them.
const (
	maxFile = 4 << 20
	// maxTokens also bounds time: the YAML parser is quadratic in the number
	// of keys of one map.
	maxTokens = 1 << 15
	// maxDepth is five in a file that makes sense. The parser recurses, and a
	// stack overflow cannot be recovered from.
	maxDepth = 32
)

// position is a place in the file, both counted from 1, the column in
// characters. The zero position is no place in particular.
type position struct{ line, column int }

func (p position) before(q position) bool {
	return p.line < q.line || p.line == q.line && p.column < q.column
}

type kind uint8

const (
	kindNull kind = iota
	kindBool
	kindNumber
	kindText
	kindList
	kindMap
)

// text reads after "found".
func (k kind) text() gateway.Text {
	return [...]gateway.Text{
		gateway.Textf("nothing"), gateway.Textf("true or false"), gateway.Textf("a number"),
		gateway.Textf("text"), gateway.Textf("a list"), gateway.Textf("a map"),
	}[k]
}

// node is a value as the file spells it. YAML and JSON become the same tree,
// so that everything after this is written once and both get positions,
// duplicate keys and every problem at once. Numbers stay text: what they may
// be depends on the key.
type node struct {
	kind    kind
	at      position
	text    string
	items   []*node
	entries []entry
}

// entry is one key of a map, duplicates included.
type entry struct {
	key   string
	at    position
	value *node
}

// parse reads a file by its content: what is JSON is read as JSON, tabs and
// all, the rest as YAML. A nil node without a problem is an empty file.
func parse(data []byte) (*node, *problem) {
	if len(data) > maxFile {
		return nil, problemAt(position{}, "the file is larger than 4 MiB, which no configuration needs")
	}
	data, bad := plainUTF8(data)
	if bad != nil {
		return nil, bad
	}
	trimmed := bytes.TrimLeft(data, " \t\r\n")
	if len(trimmed) == 0 {
		return nil, nil
	}
	if trimmed[0] != '{' && trimmed[0] != '[' {
		return parseYAML(string(data))
	}
	n, bad, isJSON := parseJSON(data)
	if isJSON {
		return n, bad
	}
	// A YAML flow map starts like JSON. If it is not one either, then JSON is
	// what was meant.
	if n, worse := parseYAML(string(data)); worse == nil {
		return n, nil
	}
	return nil, bad
}

// plainUTF8 removes a byte order mark and undoes the UTF-16 that a redirect in
// an old PowerShell writes.
func plainUTF8(data []byte) ([]byte, *problem) {
	var order binary.ByteOrder
	switch {
	case bytes.HasPrefix(data, []byte("\xef\xbb\xbf")):
		data = data[3:]
	case bytes.HasPrefix(data, []byte("\xff\xfe")):
		order = binary.LittleEndian
	case bytes.HasPrefix(data, []byte("\xfe\xff")):
		order = binary.BigEndian
	}
	if order != nil && len(data)%2 == 0 {
		units := make([]uint16, 0, len(data)/2)
		for i := 2; i < len(data); i += 2 {
			units = append(units, order.Uint16(data[i:]))
		}
		data = []byte(string(utf16.Decode(units)))
	}
	if utf8.Valid(data) {
		return data, nil
	}
	c := cursor{data: data}
	for c.offset < len(data) {
		r, size := utf8.DecodeRune(data[c.offset:])
		if r == utf8.RuneError && size == 1 {
			break
		}
		c.to(c.offset + size)
	}
	return nil, problemAt(c.position(), "the file is not UTF-8 text; save it as UTF-8")
}

// cursor turns rising offsets into positions, reading every byte once.
type cursor struct {
	data         []byte
	offset       int
	line, column int // counted from 0
}

func (c *cursor) to(offset int) {
	for ; c.offset < offset && c.offset < len(c.data); c.offset++ {
		switch b := c.data[c.offset]; {
		case b == '\n':
			c.line++
			c.column = 0
		case utf8.RuneStart(b):
			c.column++
		}
	}
}

func (c *cursor) position() position { return position{c.line + 1, c.column + 1} }
