package catalog

import (
	"slices"

	"genkan/internal/jsonrpc"
)

// fields are the members of a JSON object in order, their values as they came:
// the first level of a schema, or its properties. Of a key that stands twice
// the last counts, as it does for most readers.
type fields struct {
	list []field
	at   map[string]int
}

type field struct {
	key   string
	value []byte
}

func parseFields(object []byte) (*fields, bool) {
	f := &fields{at: map[string]int{}}
	err := jsonrpc.Members(object, func(key, value []byte) bool {
		f.set(string(key), value)
		return true
	})
	return f, err == nil
}

// get is the value of a key, nil for none.
func (f *fields) get(key string) []byte {
	if i, ok := f.at[key]; ok {
		return f.list[i].value
	}
	return nil
}

func (f *fields) has(key string) bool {
	_, ok := f.at[key]
	return ok
}

// set changes a value where it stands, or adds it at the end.
func (f *fields) set(key string, value []byte) {
	if i, ok := f.at[key]; ok {
		f.list[i].value = value
		return
	}
	f.at[key] = len(f.list)
	f.list = append(f.list, field{key, value})
}

// drop removes keys and returns those that were there.
func (f *fields) drop(keys ...string) (gone []string) {
	kept := &fields{at: map[string]int{}}
	for _, one := range f.list {
		if slices.Contains(keys, one.key) {
			gone = append(gone, one.key)
			continue
		}
		kept.set(one.key, one.value)
	}
	*f = *kept
	return gone
}

func (f *fields) clone() *fields {
	c := &fields{at: map[string]int{}}
	for _, one := range f.list {
		c.set(one.key, one.value)
	}
	return c
}

func (f *fields) encode() []byte {
	out := []byte{'{'}
	for i, one := range f.list {
		if i > 0 {
			out = append(out, ',')
		}
		out = append(append(jsonrpc.AppendQuoted(out, one.key), ':'), one.value...)
	}
	return append(out, '}')
}

// types are what a schema says that instances may be, nil when it does not.
func (f *fields) types() []string {
	raw := f.get("type")
	if name, ok := jsonrpc.Unquote(raw); ok {
		return []string{string(name)}
	}
	if list, ok := elements(raw); ok {
		names := []string{}
		for _, value := range list {
			name, _ := jsonrpc.Unquote(value)
			names = append(names, string(name))
		}
		return names
	}
	return nil
}

// allowsObjects reports whether the types of a schema let objects through.
func (f *fields) allowsObjects() bool {
	types := f.types()
	return types == nil || slices.Contains(types, "object")
}

// elements are the values of a JSON array. It reports false for what is none.
func elements(array []byte) ([][]byte, bool) {
	var all [][]byte
	err := jsonrpc.Elements(array, func(value []byte) bool {
		all = append(all, value)
		return true
	})
	return all, err == nil
}

// names are a list without repetitions, in order.
type names struct {
	list []string
	has  map[string]bool
}

func (n *names) add(name string) {
	if n.has == nil {
		n.has = map[string]bool{}
	}
	if !n.has[name] {
		n.has[name] = true
		n.list = append(n.list, name)
	}
}

// namesIn are the strings in a JSON array. It reports false when there is
// anything else in it, or it is no array.
func namesIn(array []byte) (names, bool) {
	var n names
	values, pure := elements(array)
	for _, value := range values {
		text, ok := jsonrpc.Unquote(value)
		if !ok {
			pure = false
			continue
		}
		n.add(string(text))
	}
	return n, pure
}

func (n *names) encode() []byte {
	out := []byte{'['}
	for i, name := range n.list {
		if i > 0 {
			out = append(out, ',')
		}
		out = jsonrpc.AppendQuoted(out, name)
	}
	return append(out, ']')
}
