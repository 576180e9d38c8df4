package clients

import (
	"iter"
	"maps"
	"slices"
	"strconv"
)

// edits are the changes of a file.
type edits struct {
	containers []containerEdit
}

// containerEdit are the changes of one map or list of servers.
type containerEdit struct {
	// keys are the path to it.
	keys []string
	// list says that a missing container is created as a list instead of a map.
	list bool
	// change maps entries to their new transport keys; remove selects entries to
	// remove.
	change map[string][]pair
	remove map[string]bool
	// add is a new entry, or nil. It replaces an entry of the same name.
	add *addition
}

type addition struct {
	name  string
	pairs []pair
}

// nameOf returns the name of an entry of a container.
func nameOf(container *node, e entry) string {
	if container.is(kindList) {
		return e.value.textAt("name")
	}
	return e.key
}

// goes reports whether an entry is removed, or replaced by the added one.
func (c containerEdit) goes(name string) bool {
	return name != "" && (c.remove[name] || c.add != nil && c.add.name == name)
}

// added returns the new entry as a member of a list or a map.
func (c containerEdit) added(list bool) pair {
	if list {
		return pair{"", slices.Concat([]pair{{"name", c.add.name}}, c.add.pairs)}
	}
	return pair{c.add.name, c.add.pairs}
}

// put returns the pairs to write into an entry. Keys that are not about the
// transport keep the value they have.
func put(server *node, pairs []pair) []pair {
	return slices.DeleteFunc(slices.Clone(pairs), func(p pair) bool {
		return !transport(p.key) && server.get(p.key) != nil
	})
}

// find follows a path of keys. left is the part of the path that does not exist;
// bad is set if a value on the path is not a map.
func find(root *node, keys []string) (at *node, left []string, bad *fault) {
	at = root
	for i, key := range keys {
		if at == nil {
			return nil, keys, nil // the file is empty
		}
		if !at.is(kindMap) {
			return at, keys[i:], faultAt(at.start, "a map is expected here, because %s belongs into it", key)
		}
		next := at.get(key)
		if next == nil {
			return at, keys[i:], nil
		}
		at = next
	}
	return at, nil, nil
}

// edited applies edits to a file's contents. It parses the result and fails unless
// it has exactly the intended values.
func edited(format Format, src []byte, e edits) ([]byte, *fault) {
	root, bad := parse(format, src)
	if bad != nil {
		return nil, bad
	}
	var out []byte
	switch format {
	case TOML:
		out, bad = editTOML(src, e)
	case YAML:
		out, bad = editYAML(src, root, e)
	default:
		out, bad = editJSON(src, e)
	}
	if bad != nil {
		return nil, bad
	}
	want := modeled(root, e)
	got, bad := parse(format, out)
	if bad != nil || !same(got, want) {
		return nil, faultAt(0, "the file is written in a way that cannot be edited without losing something; change it by hand")
	}
	return out, nil
}

// modeled applies edits to the values of a file: the values that the edited
// contents must have.
func modeled(root *node, e edits) *node {
	root = cloned(root)
	if root == nil {
		root = &node{kind: kindMap}
	}
	for _, c := range e.containers {
		at, left, _ := find(root, c.keys)
		if len(left) > 0 && c.add == nil {
			continue
		}
		for i, key := range left {
			k := kindMap
			if i == len(left)-1 && c.list {
				k = kindList
			}
			next := &node{kind: k}
			at.entries = append(at.entries, entry{key: key, value: next})
			at = next
		}
		var add []entry
		if c.add != nil {
			p := c.added(at.is(kindList))
			add = append(add, entry{key: p.key, value: valueOf(p.value)})
		}
		at.exchange(func(e entry) bool { return c.goes(nameOf(at, e)) }, add)
		for _, e := range at.entries {
			if pairs, ok := c.change[nameOf(at, e)]; ok && e.value.is(kindMap) {
				pairs = put(e.value, pairs)
				e.value.entries = slices.DeleteFunc(e.value.entries, func(e entry) bool { return transport(e.key) })
				e.value.entries = append(e.value.entries, valueOf(pairs).entries...)
			}
		}
	}
	return root
}

// exchange removes entries from a container and inserts others at the position of
// the first removed one, or at the end.
func (n *node) exchange(goes func(entry) bool, add []entry) {
	place := slices.IndexFunc(n.entries, goes)
	n.entries = slices.DeleteFunc(n.entries, goes)
	if place < 0 {
		place = len(n.entries)
	}
	n.entries = slices.Insert(n.entries, place, add...)
}

func cloned(n *node) *node {
	if n == nil {
		return nil
	}
	c := *n
	c.entries = slices.Clone(n.entries)
	for i := range c.entries {
		c.entries[i].value = cloned(c.entries[i].value)
	}
	return &c
}

// valueOf returns the value of a pair as a node.
func valueOf(v any) *node {
	switch v := v.(type) {
	case string:
		return &node{kind: kindText, text: v}
	case bool:
		return &node{kind: kindBool, text: strconv.FormatBool(v)}
	case []string:
		n := &node{kind: kindList}
		for _, s := range v {
			n.entries = append(n.entries, entry{value: valueOf(s)})
		}
		return n
	case []pair:
		n := &node{kind: kindMap}
		for _, p := range v {
			n.entries = append(n.entries, entry{key: p.key, value: valueOf(p.value)})
		}
		return n
	default:
		panic("clients: a pair has a value of no known kind")
	}
}

// sorted iterates over a map in the order of its keys, so that the same edits
// always give the same file.
func sorted[V any](m map[string]V) iter.Seq2[string, V] {
	return func(yield func(string, V) bool) {
		for _, key := range slices.Sorted(maps.Keys(m)) {
			if !yield(key, m[key]) {
				return
			}
		}
	}
}
