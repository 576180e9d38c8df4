package clients

import (
	"bytes"
	"slices"

	"genkan/internal/gateway"
)

// tomlFile is a TOML file as values and as lines.
type tomlFile struct {
	root *node
	// lines are headers and statements, in the file's order.
	lines []tomlLine
}

// tomlLine is a header, [a.b], or a statement, key = value.
type tomlLine struct {
	// span goes from the first byte of the key or bracket to the last of the
	// value or bracket.
	span
	// table is the path of the header that the line belongs to, or that it is.
	table []string
	// keys and value belong to a statement. A key may have several parts, each with
	// its position.
	keys   []tomlKey
	value  *node
	header bool
}

type tomlKey struct {
	text string
	span
}

// path returns the path of a line's value or table from the root.
func (l tomlLine) path() []string {
	path := slices.Clone(l.table)
	for _, k := range l.keys {
		path = append(path, k.text)
	}
	return path
}

// tomlOrigin is how a table was created, which decides whether it may be extended.
type tomlOrigin uint8

const (
	implied  tomlOrigin = iota // by a header of a table below it
	headed                     // by its own header
	dotted                     // by a key with dots
	inlined                    // by a value: closed for ever
	repeated                   // a list of tables, [[a]]
)

type tomlParser struct {
	src  []byte
	at   int
	file tomlFile
	// origins are the origins of maps and lists.
	origins map[*node]tomlOrigin
	// table is the current table.
	table *node
	path  []string
}

// parseTOML parses TOML 1.0, and the multi-line inline tables of 1.1.
func parseTOML(src []byte) (*tomlFile, *fault) {
	root := &node{kind: kindMap, span: span{0, len(src)}}
	p := &tomlParser{src: src, origins: map[*node]tomlOrigin{root: headed}, table: root}
	p.file.root = root
	if bytes.HasPrefix(src, []byte(bom)) {
		p.at = len(bom)
	}
	for {
		p.blank(true)
		if p.at == len(src) {
			return &p.file, nil
		}
		read := p.statement
		if p.peek() == '[' {
			read = p.header
		}
		if bad := read(); bad != nil {
			return nil, bad
		}
		if bad := p.endOfLine(); bad != nil {
			return nil, bad
		}
	}
}

func (p *tomlParser) fault(format string, values ...any) *fault {
	return &fault{p.at, gateway.Textf(format, values...)}
}

func (p *tomlParser) peek() byte {
	if p.at < len(p.src) {
		return p.src[p.at]
	}
	return 0
}

func (p *tomlParser) has(prefix string) bool { return bytes.HasPrefix(p.src[p.at:], []byte(prefix)) }

// blank skips white space. If lines is set, it also skips comments and line breaks.
func (p *tomlParser) blank(lines bool) {
	for p.at < len(p.src) {
		switch c := p.src[p.at]; {
		case c == ' ' || c == '\t':
			p.at++
		case lines && (c == '\n' || p.has("\r\n")):
			p.at++
		case lines && c == '#':
			p.comment()
		default:
			return
		}
	}
}

func (p *tomlParser) comment() {
	if end := bytes.IndexByte(p.src[p.at:], '\n'); end >= 0 {
		p.at += end
	} else {
		p.at = len(p.src)
	}
}

func (p *tomlParser) endOfLine() *fault {
	p.blank(false)
	if p.peek() == '#' {
		p.comment()
	}
	if p.at == len(p.src) || p.peek() == '\n' || p.has("\r\n") {
		return nil
	}
	return p.fault("the line goes on where it should end")
}

// header reads [a.b] or [[a.b]], the table of the next statements.
func (p *tomlParser) header() *fault {
	start := p.at
	brackets := "]"
	p.at++
	if p.peek() == '[' {
		p.at++
		brackets = "]]"
	}
	keys, bad := p.keys()
	if bad != nil {
		return bad
	}
	if !p.has(brackets) {
		return p.fault("%q is expected here", brackets)
	}
	p.at += len(brackets)
	p.path = nil
	for _, k := range keys {
		p.path = append(p.path, k.text)
	}
	p.file.lines = append(p.file.lines, tomlLine{span: span{start, p.at}, table: p.path, header: true})

	at := p.file.root
	for _, k := range keys[:len(keys)-1] {
		if at, bad = p.down(at, k, implied); bad != nil {
			return bad
		}
	}
	last := keys[len(keys)-1]
	if brackets == "]]" {
		return p.repeat(at, last)
	}
	if at.get(last.text) != nil {
		if at, bad = p.down(at, last, headed); bad != nil {
			return bad
		}
		if p.origins[at] != implied {
			return faultAt(last.start, "this table is there already")
		}
		p.origins[at], p.table = headed, at
		return nil
	}
	p.table = p.insert(at, last, &node{kind: kindMap, span: span{start, p.at}}, headed)
	return nil
}

// repeat begins another table of a list of tables.
func (p *tomlParser) repeat(parent *node, key tomlKey) *fault {
	list := parent.get(key.text)
	if list == nil {
		list = p.insert(parent, key, &node{kind: kindList, span: key.span}, repeated)
	}
	if !list.is(kindList) || p.origins[list] != repeated {
		return faultAt(key.start, "this key is there already, and is no list of tables")
	}
	p.table = &node{kind: kindMap, span: key.span}
	p.origins[p.table] = headed
	list.entries = append(list.entries, entry{value: p.table, span: key.span, comma: nowhere})
	return nil
}

// down enters a table, and creates it if it is missing. For a list of tables it
// enters the last one.
func (p *tomlParser) down(at *node, key tomlKey, origin tomlOrigin) (*node, *fault) {
	next := at.get(key.text)
	if next == nil {
		return p.insert(at, key, &node{kind: kindMap, span: key.span}, origin), nil
	}
	if next.is(kindList) && p.origins[next] == repeated && origin != dotted {
		return next.entries[len(next.entries)-1].value, nil
	}
	was := p.origins[next]
	if !next.is(kindMap) || was == inlined || (origin == dotted && was != dotted) {
		return nil, faultAt(key.start, "this key is there already, and is no table that can be added to")
	}
	return next, nil
}

func (p *tomlParser) insert(at *node, key tomlKey, value *node, origin tomlOrigin) *node {
	if value.kind == kindMap || value.kind == kindList {
		p.origins[value] = origin
	}
	at.entries = append(at.entries, entry{key: key.text, value: value, span: span{key.start, value.end}, comma: nowhere})
	return value
}

// statement reads key = value into the current table.
func (p *tomlParser) statement() *fault {
	start := p.at
	keys, value, bad := p.assignment(p.table, 0)
	if bad != nil {
		return bad
	}
	p.file.lines = append(p.file.lines, tomlLine{span: span{start, p.at}, table: p.path, keys: keys, value: value})
	return nil
}

func (p *tomlParser) assignment(table *node, depth int) ([]tomlKey, *node, *fault) {
	keys, bad := p.keys()
	if bad != nil {
		return nil, nil, bad
	}
	if p.peek() != '=' {
		return nil, nil, p.fault("%q is expected here", "=")
	}
	p.at++
	p.blank(false)
	value, bad := p.value(depth)
	if bad != nil {
		return nil, nil, bad
	}
	for _, k := range keys[:len(keys)-1] {
		if table, bad = p.down(table, k, dotted); bad != nil {
			return nil, nil, bad
		}
	}
	last := keys[len(keys)-1]
	if table.get(last.text) != nil {
		return nil, nil, faultAt(last.start, "this key is there already")
	}
	p.insert(table, last, value, inlined)
	return keys, value, nil
}

// keys reads a dotted key.
func (p *tomlParser) keys() ([]tomlKey, *fault) {
	var keys []tomlKey
	for {
		p.blank(false)
		start := p.at
		var text string
		switch p.peek() {
		case '"', '\'':
			if p.has(`"""`) || p.has(`'''`) {
				return nil, p.fault("a key is expected here")
			}
			n, bad := p.text()
			if bad != nil {
				return nil, bad
			}
			text = n
		default:
			for p.at < len(p.src) && bareKey(p.src[p.at]) {
				p.at++
			}
			if text = string(p.src[start:p.at]); text == "" {
				return nil, p.fault("a key is expected here")
			}
		}
		keys = append(keys, tomlKey{text, span{start, p.at}})
		if len(keys) > maxDepth {
			return nil, p.fault("values are nested deeper than in any list of servers")
		}
		p.blank(false)
		if p.peek() != '.' {
			return keys, nil
		}
		p.at++
	}
}

func bareKey(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '_' || c == '-'
}
