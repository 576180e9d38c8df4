package clients

import (
	"bytes"
	"encoding/json"
	"strconv"
	"strings"
)

// editJSON applies the edits to JSON.
func editJSON(src []byte, e edits) ([]byte, *fault) {
	for _, c := range e.containers {
		// Edit one container after the other, because each may have created the map
		// that the next one needs.
		changes, bad := editJSONContainer(src, c)
		if bad != nil {
			return nil, bad
		}
		src = splice(src, changes)
	}
	return src, nil
}

func editJSONContainer(src []byte, c containerEdit) ([]change, *fault) {
	p := jsonParser{src: src}
	root, bad := p.document()
	if bad != nil {
		return nil, bad
	}
	w := jsonWriter{unit: unitOf(src, root), nl: newline(src)}
	in := func(n *node) members {
		return members{src: src, n: n, unit: w.unit, lineComment: p.lineComment}
	}
	if root == nil {
		if c.add == nil {
			return nil, nil
		}
		text := w.value(nest(c.keys, c), "", true) + w.nl
		return []change{{span{len(src), len(src)}, text}}, nil
	}
	at, left, bad := find(root, c.keys)
	if bad != nil {
		return nil, bad
	}
	if len(left) > 0 {
		if c.add == nil {
			return nil, nil
		}
		if !at.is(kindMap) {
			return nil, faultAt(at.start, "a map is expected here, because %s belongs into it", left[0])
		}
		return in(at).edit(nothing, []func(string, bool) string{w.member(pair{left[0], nest(left[1:], c)})}), nil
	}
	if !at.is(kindMap) && !at.is(kindList) {
		return nil, faultAt(at.start, "a map of servers is expected here")
	}
	var changes []change
	for _, e := range at.entries {
		name := nameOf(at, e)
		pairs, ok := c.change[name]
		if !ok || c.goes(name) || !e.value.is(kindMap) {
			continue
		}
		var add []func(string, bool) string
		for _, p := range put(e.value, pairs) {
			add = append(add, w.member(p))
		}
		changes = append(changes, in(e.value).edit(func(i int) bool { return transport(e.value.entries[i].key) }, add)...)
	}
	var add []func(string, bool) string
	if c.add != nil {
		add = append(add, w.member(c.added(at.is(kindList))))
	}
	goes := func(i int) bool { return c.goes(nameOf(at, at.entries[i])) }
	return append(changes, in(at).edit(goes, add)...), nil
}

func nothing(int) bool { return false }

// nest returns a new container nested below keys.
func nest(keys []string, c containerEdit) any {
	if len(keys) > 0 {
		return []pair{{keys[0], nest(keys[1:], c)}}
	}
	added := c.added(c.list)
	if c.list {
		return items{added.value}
	}
	return []pair{added}
}

// items is a list of any values.
type items []any

// unitOf returns one level of the file's indentation.
func unitOf(src []byte, root *node) string {
	if root != nil && len(root.entries) > 0 {
		first := root.entries[0].start
		if in := indentation(src, first); in != "" && lineStart(src, first)+len(in) == first {
			return in
		}
	}
	return "  "
}

// lineComment reports whether a line comment ends at a byte.
func (p *jsonParser) lineComment(at int) bool {
	for _, c := range p.comments {
		if c.start < at && at <= c.end {
			return true
		}
	}
	return false
}

type jsonWriter struct{ unit, nl string }

// member returns the function that writes a member of an object, or an item of an
// array.
func (w jsonWriter) member(p pair) func(inner string, multi bool) string {
	return func(inner string, multi bool) string {
		if p.key == "" {
			return w.value(p.value, inner, multi)
		}
		return jsonText(p.key) + ": " + w.value(p.value, inner, multi)
	}
}

func (w jsonWriter) value(v any, indent string, multi bool) string {
	var parts []string
	opening, closing := "{", "}"
	switch v := v.(type) {
	case string:
		return jsonText(v)
	case bool:
		return strconv.FormatBool(v)
	case literal:
		return string(v)
	case []string:
		for _, s := range v {
			parts = append(parts, jsonText(s))
		}
		return "[" + strings.Join(parts, ", ") + "]"
	case []pair:
		for _, p := range v {
			parts = append(parts, w.member(p)(indent+w.unit, multi))
		}
	case items:
		opening, closing = "[", "]"
		flat := true
		for _, item := range v {
			_, isMap := item.([]pair)
			flat = flat && !isMap
			parts = append(parts, w.value(item, indent+w.unit, multi))
		}
		multi = multi && !flat // a list of texts stays on its line
	}
	if !multi || len(parts) == 0 {
		return opening + strings.Join(parts, ", ") + closing
	}
	inner := w.nl + indent + w.unit
	return opening + inner + strings.Join(parts, ","+inner) + w.nl + indent + closing
}

// jsonText quotes a text. It leaves the characters that HTML would escape readable.
func jsonText(s string) string {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if enc.Encode(s) != nil {
		return `""`
	}
	return strings.TrimSuffix(b.String(), "\n")
}
