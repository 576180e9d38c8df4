package clients

import (
	"bytes"
	"encoding/json"
	"unicode/utf8"

	"genkan/internal/gateway"
)

// parseJSON reads JSON with comments and trailing commas, which several clients
// accept. A client that does not accept them reports that itself.
func parseJSON(src []byte) (*node, *fault) {
	p := jsonParser{src: src}
	return p.document()
}

func (p *jsonParser) document() (*node, *fault) {
	src := p.src
	if bytes.HasPrefix(src, []byte(bom)) {
		p.at = len(bom)
	}
	if bad := p.space(); bad != nil {
		return nil, bad
	}
	if p.at == len(src) {
		return nil, nil
	}
	root, bad := p.value(0)
	if bad != nil {
		return nil, bad
	}
	if bad := p.space(); bad != nil {
		return nil, bad
	}
	if p.at < len(src) {
		return nil, p.fault("something stands behind the end of the JSON")
	}
	return root, nil
}

type jsonParser struct {
	src []byte
	at  int
	// comments are the comments that end with their line.
	comments []span
}

func (p *jsonParser) fault(format string, values ...any) *fault {
	return &fault{p.at, gateway.Textf(format, values...)}
}

func (p *jsonParser) peek() byte {
	if p.at < len(p.src) {
		return p.src[p.at]
	}
	return 0
}

// space skips white space and comments.
func (p *jsonParser) space() *fault {
	for p.at < len(p.src) {
		switch c := p.src[p.at]; {
		case c == ' ' || c == '\t' || c == '\n' || c == '\r':
			p.at++
		case c == '/' && bytes.HasPrefix(p.src[p.at:], []byte("//")):
			start := p.at
			if end := bytes.IndexByte(p.src[p.at:], '\n'); end >= 0 {
				p.at += end
			} else {
				p.at = len(p.src)
			}
			p.comments = append(p.comments, span{start, p.at})
		case c == '/' && bytes.HasPrefix(p.src[p.at:], []byte("/*")):
			end := bytes.Index(p.src[p.at+2:], []byte("*/"))
			if end < 0 {
				return p.fault("this comment has no end")
			}
			p.at += end + 4
		default:
			return nil
		}
	}
	return nil
}

func (p *jsonParser) value(depth int) (*node, *fault) {
	if depth > maxDepth {
		return nil, p.fault("values are nested deeper than in any list of servers")
	}
	switch c := p.peek(); {
	case p.at == len(p.src):
		return nil, p.fault("it ends in the middle of a value")
	case c == '{':
		return p.container(kindMap, '}', depth)
	case c == '[':
		return p.container(kindList, ']', depth)
	case c == '"':
		start := p.at
		text, bad := p.text()
		return &node{kind: kindText, text: text, span: span{start, p.at}}, bad
	default:
		return p.word()
	}
}

// word reads a value without delimiters: a number, true, false or null.
func (p *jsonParser) word() (*node, *fault) {
	start := p.at
	for p.at < len(p.src) && !bytes.ContainsRune([]byte(" \t\r\n,:]}[{/\""), rune(p.src[p.at])) {
		p.at++
	}
	text := string(p.src[start:p.at])
	n := &node{text: text, span: span{start, p.at}}
	switch {
	case text == "null":
		n.kind = kindNull
	case text == "true" || text == "false":
		n.kind = kindBool
	case text != "" && json.Valid([]byte(text)):
		n.kind = kindNumber
	default:
		p.at = start
		r, _ := utf8.DecodeRuneInString(string(p.src[start:]))
		if narrow := gateway.NarrowLetters(string(r)); narrow != string(r) {
			return nil, p.fault("a full-width %q cannot be used here; write %s", string(r), narrow)
		}
		return nil, p.fault("a value is expected here")
	}
	return n, nil
}

func (p *jsonParser) text() (string, *fault) {
	start := p.at
	for p.at++; p.at < len(p.src); p.at++ {
		switch c := p.src[p.at]; {
		case c == '\\':
			p.at++
		case c < ' ':
			return "", p.fault("a text has no end on its line, or holds a control character")
		case c == '"':
			p.at++
			var text string
			if json.Unmarshal(p.src[start:p.at], &text) != nil {
				p.at = start
				return "", p.fault("this text has an escape that JSON does not know")
			}
			return text, nil
		}
	}
	p.at = start
	return "", p.fault("this text has no end")
}

// container reads an object or an array.
func (p *jsonParser) container(k kind, closing byte, depth int) (*node, *fault) {
	n := &node{kind: k, span: span{start: p.at}}
	p.at++
	for {
		if bad := p.space(); bad != nil {
			return nil, bad
		}
		if p.peek() == closing {
			p.at++
			n.end = p.at
			return n, nil
		}
		if count := len(n.entries); count > 0 && n.entries[count-1].comma == nowhere {
			return nil, p.fault("a comma or %q is expected here", string(closing))
		}
		e, bad := p.entry(k, depth)
		if bad != nil {
			return nil, bad
		}
		if bad := p.space(); bad != nil {
			return nil, bad
		}
		if p.peek() == ',' {
			e.comma = p.at
			p.at++
		}
		n.entries = append(n.entries, e)
	}
}

func (p *jsonParser) entry(k kind, depth int) (entry, *fault) {
	e := entry{span: span{start: p.at}, comma: nowhere}
	var bad *fault
	if k == kindMap {
		if p.peek() != '"' {
			return e, p.fault("a key in double quotes is expected here")
		}
		if e.key, bad = p.text(); bad != nil {
			return e, bad
		}
		if bad = p.space(); bad != nil {
			return e, bad
		}
		if p.peek() != ':' {
			return e, p.fault("a colon is expected here")
		}
		p.at++
		if bad = p.space(); bad != nil {
			return e, bad
		}
	}
	if e.value, bad = p.value(depth + 1); bad != nil {
		return e, bad
	}
	e.end = p.at
	return e, nil
}
