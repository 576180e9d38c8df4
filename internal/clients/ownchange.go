package clients

import (
	"bytes"
	"slices"
	"strings"

	"genkan/internal/gateway"
)

// ChangeOwn returns the contents of genkan's configuration with another definition
// of one server. was and want are JSON objects: the definition in the file and the
// wanted one; a nil want removes the server. Only the keys that differ are written;
// all other bytes stay, comments too.
func ChangeOwn(path string, src []byte, name string, was, want []byte) ([]byte, error) {
	f := ownFile(path, src)
	root, bad := parse(f.Format, src)
	if bad != nil {
		return nil, bad.in(path, src)
	}
	at, left, bad := find(root, f.keys)
	if bad != nil {
		return nil, bad.in(path, src)
	}
	i := -1
	if len(left) == 0 && at.is(kindMap) {
		i = slices.IndexFunc(at.entries, func(e entry) bool { return e.key == name })
	}
	if i < 0 {
		return nil, gateway.Errorf(gateway.CodeConflict, "%s does not declare server %s any more; somebody has changed the file, so look again", path, name)
	}
	before, bad := parseJSON(was)
	if bad != nil {
		return nil, bad.in(path, was)
	}
	after, bad := parseJSON(want)
	if bad != nil {
		return nil, bad.in(path, want)
	}
	var out []byte
	if f.Format == YAML {
		out, bad = changeOwnYAML(src, root, at, i, before, after)
	} else {
		out, bad = changeOwnJSON(src, at, i, before, after)
	}
	if bad != nil {
		return nil, bad.in(path, src)
	}
	// The result must have exactly the intended values.
	model := cloned(root)
	in, _, _ := find(model, f.keys)
	if want == nil {
		in.entries = slices.Delete(in.entries, i, i+1)
	} else {
		become(in.entries[i].value, before, after)
	}
	return f.verified(src, out, model, at.entries[i].start)
}

// verified returns the new contents of a file if they have exactly the values of model.
func (f File) verified(src, out []byte, model *node, at int) ([]byte, error) {
	if got, bad := parse(f.Format, out); bad != nil || !same(got, model) {
		return nil, faultAt(at, "the file is written in a way that cannot be edited without losing something; change it by hand").in(f.Path, src)
	}
	return out, nil
}

// WriteOwn writes genkan's configuration atomically. It writes nothing if the file
// is read-only or no longer has the contents was.
func WriteOwn(path string, was, out []byte) error { return replace(path, was, false, out) }

// OwnLines returns the lines of genkan's configuration that begin the declarations of
// servers, by their names.
func OwnLines(path string, src []byte) map[string]int {
	f := ownFile(path, src)
	root, bad := parse(f.Format, src)
	if bad != nil {
		return nil
	}
	at, left, bad := find(root, f.keys)
	if bad != nil || len(left) > 0 || !at.is(kindMap) {
		return nil
	}
	lines := make(map[string]int, len(at.entries))
	for _, e := range at.entries {
		if lines[e.key] == 0 {
			lines[e.key], _ = position(src, e.start)
		}
	}
	return lines
}

// difference calls remove for each key of was that want lacks, and set for each key
// whose value differs.
func difference(was, want *node, remove func(key string), set func(key string, old, fresh *node)) {
	for _, e := range was.entries {
		if want.get(e.key) == nil {
			remove(e.key)
		}
	}
	for _, e := range want.entries {
		if old := was.get(e.key); old == nil || !same(old, e.value) || !sameOrder(old.get(ordered), e.value.get(ordered)) || e.key == ordered && !sameOrder(old, e.value) {
			set(e.key, old, e.value)
		}
	}
}

// ordered is the key below tools whose map has an order: the first pattern that
// matches counts.
const ordered = "options"

func sameOrder(a, b *node) bool {
	return a == nil || b == nil || slices.EqualFunc(a.entries, b.entries, func(x, y entry) bool { return x.key == y.key })
}

// merges reports whether a map of the file is changed key by key. One with an order
// is written as a whole.
func merges(key string, there, old, fresh *node) bool {
	return key != ordered && there.is(kindMap) && old.is(kindMap) && fresh.is(kindMap) && len(there.entries) > 0 && len(fresh.entries) > 0
}

// become changes a map of the file by what differs between was and want.
func become(n, was, want *node) {
	difference(was, want, func(key string) {
		n.entries = slices.DeleteFunc(n.entries, func(e entry) bool { return e.key == key })
	}, func(key string, old, fresh *node) {
		i := slices.IndexFunc(n.entries, func(e entry) bool { return e.key == key })
		switch {
		case i < 0:
			n.entries = append(n.entries, entry{key: key, value: fresh})
		case merges(key, n.entries[i].value, old, fresh):
			become(n.entries[i].value, old, fresh)
		default:
			n.entries[i].value = fresh
		}
	})
}

func changeOwnJSON(src []byte, at *node, i int, was, want *node) ([]byte, *fault) {
	e, bad := newJSONEditor(src)
	if bad != nil {
		return nil, bad
	}
	if want == nil {
		return splice(src, e.in(at).edit(func(j int) bool { return i == j }, nil)), nil
	}
	e.become(at.entries[i].value, was, want)
	return splice(src, e.changes), nil
}

// jsonEditor collects changes of a JSON file.
type jsonEditor struct {
	jsonWriter
	parser  jsonParser
	changes []change
}

func newJSONEditor(src []byte) (*jsonEditor, *fault) {
	e := &jsonEditor{parser: jsonParser{src: src}}
	root, bad := e.parser.document()
	if bad != nil {
		return nil, bad
	}
	e.jsonWriter = jsonWriter{unit: unitOf(src, root), nl: newline(src)}
	return e, nil
}

func (e *jsonEditor) in(n *node) members {
	return members{src: e.parser.src, n: n, unit: e.unit, lineComment: e.parser.lineComment}
}

// become changes an object by what differs between was and want.
func (e *jsonEditor) become(n, was, want *node) {
	src := e.parser.src
	gone := map[string]bool{}
	var add []func(string, bool) string
	difference(was, want, func(key string) { gone[key] = true }, func(key string, old, fresh *node) {
		j := slices.IndexFunc(n.entries, func(e entry) bool { return e.key == key })
		switch {
		case j < 0:
			add = append(add, e.member(pair{key, valueFrom(fresh)}))
		case merges(key, n.entries[j].value, old, fresh):
			e.become(n.entries[j].value, old, fresh)
		default:
			there := n.entries[j].value
			multi := bytes.IndexByte(src[n.start:there.start], '\n') >= 0
			e.changes = append(e.changes, change{there.span, e.value(valueFrom(fresh), indentation(src, there.start), multi)})
		}
	})
	e.changes = append(e.changes, e.in(n).edit(func(j int) bool { return gone[n.entries[j].key] }, add)...)
}

func changeOwnYAML(src []byte, root, at *node, i int, was, want *node) ([]byte, *fault) {
	y := yamlText{src: src, nl: newline(src)}
	if y.flow(root) || y.flow(at) {
		return nil, y.refuse(at)
	}
	server := &at.entries[i]
	column := y.column(at, server)
	switch {
	case want == nil:
		y.changes = append(y.changes, change{y.lines(server.start, column), ""})
		if len(at.entries) == 1 { // a key without a value would be null
			for _, e := range root.entries {
				if e.value == at {
					colon := e.start + bytes.IndexByte(src[e.start:], ':') + 1
					y.changes = append(y.changes, change{span{colon, colon}, " {}"})
				}
			}
		}
	case y.flow(server.value):
		y.replaceMember(server, column, want)
	default:
		y.become(server.value, was, want)
	}
	return splice(src, y.changes), nil
}

// become changes the lines of a block map by what differs between was and want.
func (y *yamlText) become(n, was, want *node) {
	var added strings.Builder
	last := &n.entries[len(n.entries)-1]
	column := last.start - lineStart(y.src, last.start)
	difference(was, want, func(key string) {
		for _, e := range n.entries {
			if e.key == key {
				y.changes = append(y.changes, change{y.lines(e.start, column), ""})
			}
		}
	}, func(key string, old, fresh *node) {
		j := slices.IndexFunc(n.entries, func(e entry) bool { return e.key == key })
		switch {
		case j < 0:
			added.WriteString(y.member(key, fresh, strings.Repeat(" ", column), ""))
		case merges(key, n.entries[j].value, old, fresh) && !y.flow(n.entries[j].value):
			y.become(n.entries[j].value, old, fresh)
		default:
			y.replaceMember(&n.entries[j], column, fresh)
		}
	})
	if added.Len() == 0 {
		return
	}
	end := y.lines(last.start, column).end
	text := added.String()
	if end > 0 && y.src[end-1] != '\n' {
		text = y.nl + text
	}
	y.changes = append(y.changes, change{span{end, end}, text})
}

// replaceMember writes another value of a key. The comment behind it stays.
func (y *yamlText) replaceMember(e *entry, column int, value *node) {
	s := y.lines(e.start, column)
	line := string(bytes.TrimRight(y.src[e.start:lineEnd(y.src, e.start)], "\r\n"))
	y.changes = append(y.changes, change{s, y.member(e.key, value, strings.Repeat(" ", column), lineComment(line))})
}

// lineComment returns the comment at the end of a line of YAML.
func lineComment(line string) string {
	whole, bad := parseYAML([]byte(line))
	if bad != nil {
		return ""
	}
	for i := 0; i < len(line); i++ {
		if line[i] != '#' || i == 0 || line[i-1] != ' ' && line[i-1] != '\t' {
			continue
		}
		if part, bad := parseYAML([]byte(line[:i])); bad == nil && same(part, whole) {
			return line[i:]
		}
	}
	return ""
}

// member writes a key with a value, and a comment on its line.
func (y *yamlText) member(key string, v *node, indent, comment string) string {
	if comment != "" {
		comment = " " + comment
	}
	begin := indent + yamlName(key) + ":"
	switch {
	case v.is(kindMap) && len(v.entries) > 0:
		text := begin + comment + y.nl
		for _, e := range v.entries {
			text += y.member(e.key, e.value, indent+"  ", "")
		}
		return text
	case v.is(kindList) && len(v.entries) > 0:
		text := begin + comment + y.nl
		for _, e := range v.entries {
			text += indent + "  - " + inlineYAML(e.value) + y.nl
		}
		return text
	default:
		return begin + " " + inlineYAML(v) + comment + y.nl
	}
}

// inlineYAML writes a value on one line.
func inlineYAML(v *node) string {
	if v.is(kindText) {
		return yamlScalar(v.text)
	}
	return jsonWriter{}.value(valueFrom(v), "", false)
}

// literal is a number or null, as written.
type literal string

// valueFrom returns a node as the value of a pair.
func valueFrom(n *node) any {
	switch n.kind {
	case kindText:
		return n.text
	case kindBool:
		return n.text == "true"
	case kindList:
		all := items{}
		for _, e := range n.entries {
			all = append(all, valueFrom(e.value))
		}
		return all
	case kindMap:
		all := []pair{}
		for _, e := range n.entries {
			all = append(all, pair{e.key, valueFrom(e.value)})
		}
		return all
	case kindNull:
		return literal("null")
	default:
		return literal(n.text)
	}
}
