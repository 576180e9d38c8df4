package shape

import (
	"bytes"
	"cmp"
	"container/heap"
	"strconv"
	"strings"
	"unicode/utf8"

	"genkan/internal/gateway"
	"genkan/internal/jsonrpc"
	"genkan/internal/tokens"
)

// An outline of a JSON value has a line for each value that it shows: its JSON Pointer,
// and either the value, if it is short, or its type and size. The largest objects and
// arrays are opened first, for as long as there is room.

const (
	// shortValue is the size up to which a value is shown whole, and mostShown how much
	// is shown of a longer string, both in bytes.
	shortValue, mostShown = 160, 80
	// mostMembers is how many members of an object are shown, and mostItems how many
	// items of an array.
	mostMembers, mostItems = 40, 2
	// mostDepth bounds how deep an outline goes, so that no byte is read more often.
	mostDepth = 6
)

// node is a value of an outline.
type node struct {
	pointer  string
	value    []byte
	depth    int
	line     string
	children []*node
	// left says how many members or items are not shown.
	left string
}

// nodes is a heap of the nodes that can be opened, the largest first.
type nodes []*node

func (n nodes) Len() int           { return len(n) }
func (n nodes) Less(i, j int) bool { return len(n[i].value) > len(n[j].value) }
func (n nodes) Swap(i, j int)      { n[i], n[j] = n[j], n[i] }
func (n *nodes) Push(x any)        { *n = append(*n, x.(*node)) }
func (n *nodes) Pop() any {
	old := *n
	last := old[len(old)-1]
	*n = old[:len(old)-1]
	return last
}

// outlineJSON outlines a JSON value within a number of tokens. It returns the pointer
// of the largest array in the outline and how many of its items are shown whole, or
// the pointer of the largest value that is not shown.
func (l *labels) outlineJSON(value []byte, pointer string, room int) (outline string, next target) {
	root := &node{pointer: pointer, value: value}
	root.line = l.line(root)
	room -= tokens.Count([]byte(root.line))
	open := nodes{root}
	for len(open) > 0 && room > 0 {
		n := heap.Pop(&open).(*node)
		l.expand(n)
		cost := tokens.Count([]byte(n.left))
		for i, child := range n.children {
			cost += tokens.Count([]byte(child.line)) + 1
			if cost > room {
				n.children = n.children[:i]
				n.left = "" // the line of n says how many there are
				cost = 0
				break
			}
		}
		if len(n.children) == 0 {
			continue
		}
		room -= cost
		for _, child := range n.children {
			if len(child.value) > shortValue && (child.value[0] == '{' || child.value[0] == '[') && child.depth < mostDepth {
				heap.Push(&open, child)
			}
		}
	}
	var b strings.Builder
	root.write(&b)
	return strings.TrimSuffix(b.String(), "\n"), root.next()
}

// target is what an agent probably reads next.
type target struct {
	pointer string
	value   []byte
}

// next returns the value that holds most of a value: an agent that wants more than the
// outline reads on there.
func (n *node) next() target {
	for n.value[0] == '{' {
		var largest *node
		for _, child := range n.children {
			if largest == nil || len(child.value) > len(largest.value) {
				largest = child
			}
		}
		if largest == nil || len(largest.value) < len(n.value)/2 {
			break
		}
		n = largest
	}
	return target{n.pointer, n.value}
}

func (n *node) write(b *strings.Builder) {
	b.WriteString(n.line)
	b.WriteByte('\n')
	for _, child := range n.children {
		child.write(b)
	}
	if n.left != "" {
		b.WriteString(n.left)
		b.WriteByte('\n')
	}
}

// labels are the words of outlines in a language.
type labels struct{ translate gateway.Translate }

// expand adds the first members of an object or the first items of an array.
func (l *labels) expand(n *node) {
	total, most := 0, mostMembers
	add := func(token string, value []byte) {
		if total++; total > most {
			return
		}
		child := &node{pointer: n.pointer + "/" + token, value: value, depth: n.depth + 1}
		child.line = l.line(child)
		n.children = append(n.children, child)
	}
	switch n.value[0] {
	case '{':
		_ = jsonrpc.Members(n.value, func(key, value []byte) bool {
			add(escapeToken.Replace(string(key)), value)
			return true
		})
	case '[':
		most = mostItems
		_ = jsonrpc.Elements(n.value, func(value []byte) bool {
			add(strconv.Itoa(total), value)
			return total <= most // the line of n has the number
		})
		return
	}
	if total > most {
		n.left = gateway.Textf("%s: more keys: %d", cmp.Or(n.pointer, "/"), total-most).In(l.translate)
	}
}

// line is the line of a value in an outline.
func (l *labels) line(n *node) string {
	pointer := n.pointer
	if pointer == "" {
		pointer = "/"
	}
	if utf8.RuneCountInString(pointer) > 2*mostShown {
		pointer = string([]rune(pointer)[:2*mostShown]) + "…"
	}
	v := n.value
	if len(v) <= shortValue {
		return pointer + " " + string(bytes.ReplaceAll(v, []byte("\n"), []byte(" ")))
	}
	switch v[0] {
	case '{':
		if memberCount(v) == 1 {
			return gateway.Textf("%s object of 1 key, %s", pointer, size(len(v))).In(l.translate)
		}
		return gateway.Textf("%s object of %d keys, %s", pointer, memberCount(v), size(len(v))).In(l.translate)
	case '[':
		if itemCount(v) == 1 {
			return gateway.Textf("%s array of 1 item, %s", pointer, size(len(v))).In(l.translate)
		}
		return gateway.Textf("%s array of %d items, %s", pointer, itemCount(v), size(len(v))).In(l.translate)
	case '"':
		text, _ := jsonrpc.Unquote(v)
		return gateway.Textf("%s string of %s: %s…", pointer, size(len(text)), string(cutRunes(jsonrpc.AppendQuoted(nil, string(cutRunes(text, mostShown))), 2*mostShown))).In(l.translate)
	}
	return pointer + " " + string(cutRunes(v, mostShown)) + "…"
}

func itemCount(array []byte) (count int) {
	_ = jsonrpc.Elements(array, func([]byte) bool { count++; return true })
	return count
}

func memberCount(object []byte) (count int) {
	_ = jsonrpc.Members(object, func(_, _ []byte) bool { count++; return true })
	return count
}

// size writes a number of bytes.
func size(n int) string {
	switch {
	case n < 1000:
		return strconv.Itoa(n) + " B"
	case n < 1_000_000:
		return strconv.FormatFloat(float64(n)/1e3, 'f', 1, 64) + " kB"
	}
	return strconv.FormatFloat(float64(n)/1e6, 'f', 1, 64) + " MB"
}

// cutRunes returns at most n bytes of a text, in whole characters.
func cutRunes(text []byte, n int) []byte {
	if len(text) <= n {
		return text
	}
	for n > 0 && !utf8.RuneStart(text[n]) {
		n--
	}
	return text[:n]
}

// outlineText returns the head and the tail of a text within a number of tokens, and
// where the head ends, in the unit in which the text is read.
func (l *labels) outlineText(text []byte, room int) (outline string, next int, unit string) {
	unit = unitOf(text)
	head, tail := within(text, room*6/10), withinTail(text, room*3/10)
	if lineCount(text) == 1 {
		unit = unitBytes
	}
	if unit == unitBytes {
		head, tail = cutRunes(text, len(head)), text[len(text)-len(tail):]
		if lineCount(text) == 1 {
			return gateway.Textf("Text of %s in 1 line. It begins:\n%s\n… and ends:\n%s", size(len(text)), string(head), string(tail)).In(l.translate), len(head), unit
		}
		return gateway.Textf("Text of %s in %d lines. It begins:\n%s\n… and ends:\n%s", size(len(text)), lineCount(text), string(head), string(tail)).In(l.translate), len(head), unit
	}
	if i := bytes.LastIndexByte(head, '\n'); i >= 0 {
		head = head[:i+1]
	}
	if i := bytes.IndexByte(tail, '\n'); i >= 0 {
		tail = tail[i+1:]
	}
	shown, all := bytes.Count(head, []byte("\n")), lineCount(text)
	return gateway.Textf("Text of %s in %d lines. The first %d:\n%s… and the last %d:\n%s",
		size(len(text)), all, shown, string(head), lineCount(tail), string(tail)).In(l.translate), shown, unit
}

// fits reports whether a text has at most a number of tokens.
func fits(text []byte, room int) bool {
	return len(text) <= room*16 && tokens.Count(text) <= room
}

// lineCount returns the number of lines. The last one need not end.
func lineCount(text []byte) int {
	n := bytes.Count(text, []byte("\n"))
	if len(text) > 0 && text[len(text)-1] != '\n' {
		n++
	}
	return n
}

// The units in which values are read.
const (
	unitLines   = "lines"
	unitBytes   = "bytes"
	unitItems   = "items"
	unitMembers = "members"
)

// longestLine is the length up to which a text is read in lines.
const longestLine = 4000

// unitOf returns the unit in which a text is read by default.
func unitOf(text []byte) string {
	for len(text) > longestLine {
		end := bytes.LastIndexByte(text[:longestLine+1], '\n')
		if end < 0 {
			return unitBytes
		}
		text = text[end+1:]
	}
	return unitLines
}

// within returns the longest beginning of a text that has at most a number of tokens,
// or nearly so.
func within(text []byte, room int) []byte {
	// A token has at least a byte, and hardly ever more than 16.
	cut := cutRunes(text, min(len(text), max(room, 1)*16))
	for {
		n := tokens.Count(cut)
		if n <= room || len(cut) <= 1 {
			return cut
		}
		cut = cutRunes(cut, min(len(cut)-1, len(cut)*room/n*31/32))
		if len(cut) == 0 { // a single character is always returned
			_, first := utf8.DecodeRune(text)
			return text[:first]
		}
	}
}

// withinTail is within for the end of a text.
func withinTail(text []byte, room int) []byte {
	from := max(0, len(text)-max(room, 1)*16)
	for {
		for from < len(text) && !utf8.RuneStart(text[from]) {
			from++
		}
		cut := text[from:]
		n := tokens.Count(cut)
		if n <= room || len(cut) <= 1 {
			return cut
		}
		from = max(from+1, len(text)-len(cut)*room/n*31/32)
	}
}
