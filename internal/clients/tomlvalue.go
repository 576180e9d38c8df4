package clients

import (
	"bytes"
	"strconv"
	"strings"
	"unicode/utf8"
)

func (p *tomlParser) value(depth int) (*node, *fault) {
	if depth > maxDepth {
		return nil, p.fault("values are nested deeper than in any list of servers")
	}
	start := p.at
	switch p.peek() {
	case '"', '\'':
		text, bad := p.text()
		return &node{kind: kindText, text: text, span: span{start, p.at}}, bad
	case '[':
		return p.container(kindList, ']', depth)
	case '{':
		return p.container(kindMap, '}', depth)
	default:
		return p.word()
	}
}

// container reads an array or an inline table.
func (p *tomlParser) container(k kind, closing byte, depth int) (*node, *fault) {
	n := &node{kind: k, span: span{start: p.at}}
	p.origins[n] = dotted // open for keys with dots until its bracket
	p.at++
	comma := true
	for {
		p.blank(true)
		if p.peek() == closing {
			p.at++
			n.end = p.at
			p.close(n)
			return n, nil
		}
		if !comma {
			return nil, p.fault("a comma or %q is expected here", string(closing))
		}
		start, count := p.at, len(n.entries)
		var bad *fault
		if k == kindMap {
			_, _, bad = p.assignment(n, depth+1)
		} else {
			var item *node
			if item, bad = p.value(depth + 1); bad == nil {
				n.entries = append(n.entries, entry{value: item})
			}
		}
		if bad != nil {
			return nil, bad
		}
		end := p.at
		p.blank(true)
		comma = p.peek() == ','
		// The b of { a.b = 1 } after another a belongs to that one.
		if len(n.entries) > count {
			e := &n.entries[count]
			e.span, e.comma = span{start, end}, nowhere
			if comma {
				e.comma = p.at
			}
		}
		if comma {
			p.at++
		}
	}
}

// close makes an inline table immutable.
func (p *tomlParser) close(n *node) {
	p.origins[n] = inlined
	for _, e := range n.entries {
		if e.value.is(kindMap) && p.origins[e.value] != inlined {
			p.close(e.value)
		}
	}
}

//nolint:gochecknoglobals // compiled once
var (
	tomlNumber = lazily(`^(?:[+-]?(?:0|[1-9](?:_?[0-9])*)(?:\.[0-9](?:_?[0-9])*)?(?:[eE][+-]?[0-9](?:_?[0-9])*)?` +
		`|0x[0-9a-fA-F](?:_?[0-9a-fA-F])*|0o[0-7](?:_?[0-7])*|0b[01](?:_?[01])*|[+-]?(?:inf|nan))$`)
	tomlTime = lazily(`^(?:\d{4}-\d\d-\d\d(?:[Tt ]\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:[Zz]|[+-]\d\d:\d\d)?)?|\d\d:\d\d(?::\d\d(?:\.\d+)?)?)$`)
)

// word reads a value without delimiters: a number, true, false or a time.
func (p *tomlParser) word() (*node, *fault) {
	start := p.at
	p.bare()
	// A date and a time may have a space between them.
	if p.at-start == len("2006-01-02") && p.peek() == ' ' && p.at+1 < len(p.src) && p.src[p.at+1] >= '0' && p.src[p.at+1] <= '9' {
		p.at++
		p.bare()
	}
	text := string(p.src[start:p.at])
	n := &node{text: text, span: span{start, p.at}}
	switch {
	case text == "true" || text == "false":
		n.kind = kindBool
	case tomlNumber().MatchString(text):
		n.kind = kindNumber
	case tomlTime().MatchString(text):
		n.kind = kindOther
	default:
		p.at = start
		return nil, p.fault("a value is expected here; text needs quotes")
	}
	return n, nil
}

func (p *tomlParser) bare() {
	for p.at < len(p.src) && (bareKey(p.src[p.at]) || strings.IndexByte("+.:", p.src[p.at]) >= 0) {
		p.at++
	}
}

// text reads a text in any of the four kinds of quotes.
func (p *tomlParser) text() (string, *fault) {
	quote := p.src[p.at : p.at+1]
	if three := bytes.Repeat(quote, 3); bytes.HasPrefix(p.src[p.at:], three) {
		return p.longText(three)
	}
	start := p.at
	for p.at++; p.at < len(p.src); p.at++ {
		switch c := p.src[p.at]; {
		case c == '\\' && quote[0] == '"':
			p.at++
		case c == quote[0]:
			inside := p.src[start+1 : p.at]
			p.at++
			if quote[0] == '\'' {
				return string(inside), nil
			}
			return p.unescape(inside, start+1)
		case c < ' ' && c != '\t':
			return "", p.fault("a text has no end on its line, or holds a control character")
		}
	}
	p.at = start
	return "", p.fault("this text has no end")
}

// longText reads a text between three quotes, which may span lines. Up to two more
// quotes before the last three belong to the text.
func (p *tomlParser) longText(quotes []byte) (string, *fault) {
	start := p.at
	p.at += len(quotes)
	first := p.at
	for p.at < len(p.src) {
		switch {
		case p.src[p.at] == '\\' && quotes[0] == '"':
			p.at += 2
		case bytes.HasPrefix(p.src[p.at:], quotes):
			end := p.at
			for range 2 {
				if end+3 < len(p.src) && p.src[end+3] == quotes[0] {
					end++
				}
			}
			p.at = end + 3
			inside := p.src[first:end]
			inside = bytes.TrimPrefix(bytes.TrimPrefix(inside, []byte("\r")), []byte("\n"))
			if quotes[0] == '\'' {
				return string(inside), nil
			}
			return p.unescape(inside, end-len(inside))
		default:
			if c := p.src[p.at]; c < ' ' && c != '\t' && c != '\n' && c != '\r' {
				return "", p.fault("a text has no end on its line, or holds a control character")
			}
			p.at++
		}
	}
	p.at = start
	return "", p.fault("this text has no end")
}

// unescape resolves the escapes of a text at a position.
func (p *tomlParser) unescape(s []byte, at int) (string, *fault) {
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] != '\\' {
			b.WriteByte(s[i])
			continue
		}
		wrong := faultAt(at+i, "this text has an escape that TOML does not know")
		if i++; i == len(s) {
			return "", wrong
		}
		if short := strings.IndexByte(`btnfre"\`, s[i]); short >= 0 {
			b.WriteByte("\b\t\n\f\r\x1b\"\\"[short])
			continue
		}
		if digits := hexDigits(s[i]); digits > 0 {
			if i+digits >= len(s) {
				return "", wrong
			}
			code, err := strconv.ParseUint(string(s[i+1:i+1+digits]), 16, 32)
			if err != nil || code > utf8.MaxRune || !utf8.ValidRune(rune(code)) {
				return "", wrong
			}
			b.WriteRune(rune(code))
			i += digits
			continue
		}
		// A backslash at the end of a line removes the white space that follows.
		rest := bytes.TrimLeft(s[i:], " \t\r\n")
		if skipped := s[i : len(s)-len(rest)]; bytes.IndexByte(skipped, '\n') < 0 {
			return "", wrong
		}
		i = len(s) - len(rest) - 1
	}
	return b.String(), nil
}

// hexDigits returns how many digits follow an escape.
func hexDigits(escape byte) int {
	switch escape {
	case 'x':
		return 2
	case 'u':
		return 4
	case 'U':
		return 8
	default:
		return 0
	}
}
