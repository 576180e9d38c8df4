package redact

import (
	"slices"
	"strings"
)

// maxDepth bounds how many encodings inside of one another are decoded.
const maxDepth = 4

// node is a value of a JSON text, or a key.
type node struct {
	kind       byte // '{', '[', '"', '0' for a number, 'n' for true, false and null
	isKey      bool
	closed     bool // whether a string has its closing quote
	start, end int
	// parent is the container, and key the key within it; -1 if there is none.
	parent, key int
}

// content returns the span of a string without its quotes.
func (n node) content() (start, end int) {
	if n.closed {
		return n.start + 1, n.end - 1
	}
	return n.start + 1, n.end
}

// parse reads JSON values: one, or all that the text has. It returns them and what is
// in them in the order in which they begin, and where it stopped. cut reports that
// the text ends within a value.
func parse(s string, one bool) (nodes []node, stop int, cut, ok bool) {
	const (
		wantValue = iota
		wantFirst // a value, or the end of an array
		wantKey
		wantFirstKey // a key, or the end of an object
		wantColon
		wantComma
	)
	state, parent, key := wantValue, -1, -1
	if !one {
		nodes = make([]node, 0, len(s)/16+4)
	}
	for i := 0; i < len(s); {
		c := s[i]
		if c == ' ' || c == '\n' || c == '\r' || c == '\t' {
			i++
			continue
		}
		switch state {
		case wantColon:
			if c != ':' {
				return nil, i, false, false
			}
			i, state = i+1, wantValue
			continue
		case wantComma:
			if parent < 0 && one {
				return nodes, i, false, true
			}
			if parent < 0 { // another value follows
				state = wantValue
				continue
			}
			object := nodes[parent].kind == '{'
			switch {
			case c == ',' && object:
				i, state = i+1, wantKey
				continue
			case c == ',':
				i, state = i+1, wantValue
				continue
			}
		case wantKey, wantFirstKey:
			if c == '"' {
				n := node{kind: '"', isKey: true, start: i, parent: parent, key: -1}
				n.end, n.closed = endOfString(s, i)
				key = len(nodes)
				nodes = append(nodes, n)
				i, state = n.end, wantColon
				continue
			}
		}
		if c == '}' || c == ']' {
			fits := parent >= 0 && (c == '}') == (nodes[parent].kind == '{') && (state == wantComma || state == wantFirst || state == wantFirstKey)
			if !fits {
				return nil, i, false, false
			}
			i++
			nodes[parent].end, nodes[parent].closed = i, true
			parent, key, state = nodes[parent].parent, -1, wantComma
			continue
		}
		if state != wantValue && state != wantFirst {
			return nil, i, false, false
		}
		n := node{kind: c, start: i, parent: parent, key: key, end: len(s)}
		key, state = -1, wantComma
		switch {
		case c == '{' || c == '[':
			parent = len(nodes)
			i++
			if state = wantFirst; c == '{' {
				state = wantFirstKey
			}
		case c == '"':
			n.end, n.closed = endOfString(s, i)
			i = n.end
		case c == '-' || isDigit[c]:
			n.kind = '0'
			for i++; i < len(s) && (isDigit[s[i]] || strings.IndexByte("+-.eE", s[i]) >= 0); i++ {
			}
			n.end = i
		default:
			n.kind = 'n'
			for i < len(s) && s[i] >= 'a' && s[i] <= 'z' {
				i++
			}
			n.end = i
			word := s[n.start:i]
			if word != "true" && word != "false" && word != "null" && (i < len(s) || !startsLiteral(word)) {
				return nil, i, false, false
			}
		}
		nodes = append(nodes, n)
	}
	if len(nodes) == 0 {
		return nil, len(s), false, false
	}
	last := nodes[len(nodes)-1]
	return nodes, len(s), parent >= 0 || last.kind == '"' && !last.closed, true
}

func startsLiteral(word string) bool {
	return word != "" && (strings.HasPrefix("true", word) || strings.HasPrefix("false", word) || strings.HasPrefix("null", word))
}

// endOfString returns the end of the string that begins at i.
func endOfString(s string, i int) (end int, closed bool) {
	for i++; i < len(s); i++ {
		switch s[i] {
		case '"':
			return i + 1, true
		case '\\':
			i++
		}
	}
	return len(s), false
}

// json finds secrets in a view that is JSON. It returns false if it is not.
func (p *pass) json(v view, depth int) bool {
	nodes, _, cut, ok := parse(v.text, false)
	if !ok {
		return false
	}
	if cut {
		v.cut = true
	}
	p.walk(v, nodes, depth)
	return true
}

// embedded finds secrets in the JSON that is on lines of its own in a text.
func (p *pass) embedded(v view, depth int) {
	for i := 0; i < len(v.text); {
		if c := v.text[i]; c == '{' || c == '[' {
			nodes, n, cut, ok := parse(v.text[i:], true)
			if ok && len(nodes) > 1 && (!cut || v.cut) {
				p.walk(v.slice(i, i+n), nodes, depth)
			}
			i += n
		}
		n := strings.IndexByte(v.text[i:], '\n')
		if n < 0 {
			return
		}
		for i += n + 1; i < len(v.text) && (v.text[i] == ' ' || v.text[i] == '\t'); i++ {
		}
	}
}

// walk finds secrets in the values of a view.
func (p *pass) walk(v view, nodes []node, depth int) {
	w := &walk{pass: p, view: v, quote: escaped(v.quote), depth: depth, nodes: nodes, classes: make([]class, len(nodes))}
	for i := range nodes {
		w.visit(i)
	}
	if !p.rules.knownOnly {
		for _, one := range w.pairs {
			w.judge(one)
		}
	}
	if !p.rules.known.empty() {
		w.findKnown()
	}
}

// walk is the search of one JSON text.
type walk struct {
	*pass
	view    view
	quote   string // a quotation mark within the strings
	depth   int
	nodes   []node
	classes []class // what the key of each value says about it
	pairs   map[int]*pair
}

// pair is an object that has the name of a value beside it:
// {"name": "PASSWORD", "value": "x"}.
type pair struct {
	name  string
	label bool // the name is the description of a field of a form
	value int
}

// decoded returns the content of a string.
func (w *walk) decoded(n node) view {
	start, end := n.content()
	inner := w.view.slice(start, end)
	inner.cut = w.view.cut && !n.closed
	inner, _ = unescape(inner)
	inner.quote = w.quote
	return inner
}

func (w *walk) visit(i int) {
	n := w.nodes[i]
	same := n.kind == '"' && w.again && !w.touchesMark(w.view.start(n.start), w.view.end(n.end))
	if n.isKey && same {
		return
	}
	if n.isKey {
		w.scan(w.decoded(n), w.depth+1)
		return
	}
	var key string
	of := class{}
	switch {
	case n.key >= 0:
		key = w.decoded(w.nodes[n.key]).text
		if same && roleOf(key) == noRole {
			return
		}
		if k := w.nodes[n.key]; !w.touchesMark(w.view.start(k.start), w.view.end(k.end)) { // a mark's own words say nothing
			of = w.classOf(key)
		}
		if of.kind == notSecret && n.parent >= 0 {
			of = w.inherited(key, n.parent)
		}
	case n.parent >= 0 && w.nodes[n.parent].kind == '[':
		if same {
			return
		}
		of = w.classes[n.parent] // the elements of "password": [...]
		if n.kind == '"' && of.kind == notSecret {
			of = w.afterOption(i)
		}
	}
	if w.rules.knownOnly {
		of = class{}
	}
	w.classes[i] = of
	switch n.kind {
	case '"':
		text := w.decoded(n)
		if of.kind != notSecret {
			w.findValue(text, of)
		}
		if n.parent >= 0 && n.key >= 0 {
			w.pair(i, roleOf(key), text.text)
		}
		if same {
			return
		}
		w.scan(text, w.depth+1)
	case '0':
		if of.secretNumber(w.view.text[n.start:n.end]) {
			w.addValue(w.view, n.start, n.end, of.rule(), byKey)
		}
	}
}

// findValue marks the secret part of a string whose key is secret.
func (p *pass) findValue(v view, of class) {
	start, end := of.secretPart(v.text)
	if start < end {
		p.add(v, start, end, of.rule(), byKey)
	}
}

// inherited returns the class of a value whose container has a secret key:
// "password": {"value": "x"}.
func (w *walk) inherited(key string, parent int) class {
	of := w.classes[parent]
	switch of.kind {
	case notSecret:
		return of
	case cookie:
		// The cookies of a browser are objects with name, value, domain and path.
		if w.nodes[parent].key < 0 && !strings.EqualFold(key, "value") {
			return class{}
		}
		return of
	default:
	}
	switch strings.ToLower(key) {
	case "value", "val", "plaintext", "plain", "raw", "data", "current", "new", "old", "stringvalue", "secretstring":
		return of
	}
	return class{}
}

// afterOption returns the class of an argument after an option: ["--password", "x"].
func (w *walk) afterOption(i int) class {
	before := i - 1
	if before < 0 || w.nodes[before].kind != '"' || w.nodes[before].parent != w.nodes[i].parent || w.nodes[before].isKey {
		return class{}
	}
	option := w.decoded(w.nodes[before]).text
	name := strings.TrimLeft(option, "-")
	if name == option || name == "" || len(name) > maxKey || strings.ContainsAny(name, "= :") {
		return class{}
	}
	return w.classOfOption(name)
}

// role is what a member of an object that names its value is.
type role byte

const (
	noRole    role = iota
	nameRole       // the name of the value
	labelRole      // the description of a field of a form
	valueRole
)

func roleOf(key string) role {
	const longest = len("description")
	if len(key) > longest {
		return noRole
	}
	switch strings.ToLower(key) {
	case "name", "key", "header", "variable", "param", "parameter", "property", "option", "attribute", "env":
		return nameRole
	case "element", "selector", "locator", "field", "target", "label", "placeholder", "description":
		return labelRole
	case "value", "val", "text", "content":
		return valueRole
	}
	return noRole
}

// pair remembers the parts of an object that names its value.
func (w *walk) pair(i int, of role, text string) {
	if of == noRole {
		return
	}
	parent := w.nodes[i].parent
	one := w.pairs[parent]
	if one == nil {
		if w.pairs == nil {
			w.pairs = map[int]*pair{}
		}
		one = &pair{value: -1}
		w.pairs[parent] = one
	}
	switch {
	case of == valueRole:
		one.value = i
	case of == nameRole || one.name == "":
		one.name, one.label = text, of == labelRole
	}
}

func (w *walk) judge(one *pair) {
	if one.value < 0 || one.name == "" || len(one.name) > 2*maxKey || strings.Contains(one.name, markStart) {
		return
	}
	of := w.classOf(one.name)
	text := w.decoded(w.nodes[one.value])
	key := w.decoded(w.nodes[w.nodes[one.value].key]).text
	if of.kind == notSecret || one.label || key == "text" || key == "content" {
		// A program types into the field of a form: {"element": "Password field", "text": "x"}.
		of = class{}
		if asksForPassword(one.name) && !strings.ContainsAny(text.text, " \n") {
			of = class{kind: password, word: "password"}
		}
	}
	if of.kind != notSecret {
		w.findValue(text, of)
	}
}

// findKnown finds known values in the text as it is written, which may be longer than
// one string: each string, key or number that one touches is masked. Rules for known
// values alone mask nothing beside them.
func (w *walk) findKnown() {
	var scalars []node
	for _, n := range w.nodes {
		if n.kind != '{' && n.kind != '[' {
			scalars = append(scalars, n)
		}
	}
	last, inner := -1, view{}
	w.findPlain(w.view, func(start, end int, rule string) {
		i, _ := slices.BinarySearchFunc(scalars, start, func(n node, at int) int { return n.end - 1 - at })
		for ; i < len(scalars) && scalars[i].start < end; i++ {
			n := scalars[i]
			from, to := n.content()
			start, end := start, end
			if w.rules.knownOnly {
				switch {
				case n.kind == '"':
					start, end = max(start, from), min(end, to)
				case start > n.start || end < n.end: // a part of a number
					continue
				}
			}
			if n.kind != '"' || start < from || end > to {
				w.addValue(w.view, n.start, n.end, rule, byValue)
				continue
			}
			if i != last {
				last, inner = i, w.decoded(n)
			}
			if inner.at == nil {
				w.add(w.view, start, end, rule, byValue)
				continue
			}
			// Begin and end with whole escapes.
			first, found := slices.BinarySearch(inner.at, int32(w.view.start(start))) //nolint:gosec // texts are far shorter
			if !found {
				first--
			}
			after, _ := slices.BinarySearch(inner.at, int32(w.view.end(end))) //nolint:gosec // texts are far shorter
			w.add(inner, max(first, 0), min(after, len(inner.text)), rule, byValue)
		}
	})
}

// scan finds secrets in a view, and in what is encoded in it.
func (p *pass) scan(v view, depth int) {
	const shortest = 4
	if len(v.text) < shortest {
		return
	}
	if depth < maxDepth {
		if t := strings.TrimLeft(v.text, " \t\r\n"); t != "" && (t[0] == '{' || t[0] == '[') && p.json(v, depth) {
			return
		}
	}
	p.findKnown(v)
	if !p.rules.knownOnly {
		p.findShapes(v)
		p.findAssignments(v)
		if p.rules.strict {
			p.findGenerated(v)
		}
		p.findEncoded(v, depth)
	}
	if depth >= maxDepth {
		return
	}
	p.embedded(v, depth)
	if d, ok := unescape(v); ok {
		p.scan(d, depth+1)
	}
	if d, ok := percentDecode(v, false); ok {
		p.scan(d, depth+1)
	}
	if p.rules.known.spaces {
		if d, ok := percentDecode(v, true); ok {
			p.findKnown(d)
		}
	}
	if d, ok := htmlDecode(v); ok {
		p.scan(d, depth+1)
	}
}
