package clients

import (
	"iter"
	"maps"
	"slices"
	"strconv"
)

// edits are what is to become of a file.
type edits struct {
	containers []containerEdit
}

// containerEdit is what is to become of one map or list of servers.
type containerEdit struct {
	// keys lead to it.
	keys []string
	// list is what is made when it is missing: a list, or else a map.
	list bool
	// change has the new transport of entries, remove those that go.
	change map[string][]pair
	remove map[string]bool
	// add is a new entry, or nil. One with its name gives way.
	add *addition
}

type addition struct {
	name  string
	pairs []pair
}

// nameOf is what an entry of a container is called.
func nameOf(container *node, e entry) string {
	if container.is(kindList) {
		return e.value.textAt("name")
	}
	return e.key
}

// goes reports whether an entry is removed, or gives way to the added one.
func (c containerEdit) goes(name string) bool {
	return name != "" && (c.remove[name] || c.add != nil && c.add.name == name)
}

// added is the new entry as a member of a list or a map.
func (c containerEdit) added(list bool) pair {
	if list {
		return pair{"", slices.Concat([]pair{{"name", c.add.name}}, c.add.pairs)}
	}
	return pair{c.add.name, c.add.pairs}
}

// put is what is written into an entry: not what it has and keeps.
func put(server *node, pairs []pair) []pair {
	return slices.DeleteFunc(slices.Clone(pairs), func(p pair) bool {
		return !transport(p.key) && server.get(p.key) != nil
	})
}

// find goes down the keys. What is left is the part of them that is not there;
// bad is set when something else than a map is in the way.
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

// edited writes the edits into a file. What comes out was read again, and means
// what was meant and nothing else.
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

// modeled makes the edits to the values of a file instead of its bytes: what a
// changed file must mean.
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

// exchange takes entries out of a container and puts others where the first of
// them was, or else at the end.
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

// valueOf is what a value of a pair means.
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

// sorted goes through a map by its keys, so that the same edits always give
// the same file.
func sorted[V any](m map[string]V) iter.Seq2[string, V] {
	return func(yield func(string, V) bool) {
		for _, key := range slices.Sorted(maps.Keys(m)) {
			if !yield(key, m[key]) {
				return
			}
		}
	}
}
