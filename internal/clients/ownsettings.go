package clients

import "slices"

// OwnSettings returns the values of some first keys of genkan's configuration, as a
// JSON object.
func OwnSettings(path string, src []byte, keys []string) ([]byte, error) {
	root, bad := parse(ownFile(path, src).Format, src)
	if bad != nil {
		return nil, bad.in(path, src)
	}
	all := []pair{}
	if root.is(kindMap) {
		for _, e := range root.entries {
			if slices.Contains(keys, e.key) {
				all = append(all, pair{e.key, valueFrom(e.value)})
			}
		}
	}
	return []byte(jsonWriter{}.value(all, "", false)), nil
}

// SetOwn returns the contents of genkan's configuration with other values of some first
// keys. want is a JSON object; null removes a key. Only what differs is written; all
// other bytes stay, comments too.
func SetOwn(path string, src, want []byte) ([]byte, error) {
	f := ownFile(path, src)
	root, bad := parse(f.Format, src)
	if bad != nil {
		return nil, bad.in(path, src)
	}
	given, bad := parseJSON(want)
	if bad != nil {
		return nil, bad.in(path, want)
	}
	if !root.is(kindMap) { // comments alone
		root = &node{kind: kindMap}
	}
	before, after := &node{kind: kindMap}, &node{kind: kindMap}
	for _, e := range given.entries {
		if old := root.get(e.key); old != nil {
			before.entries = append(before.entries, entry{key: e.key, value: old})
		}
		if !e.value.is(kindNull) {
			after.entries = append(after.entries, e)
		}
	}
	out, bad := f.setOwn(src, root, before, after)
	if bad != nil {
		return nil, bad.in(path, src)
	}
	model := cloned(root)
	become(model, before, after)
	if len(model.entries) == 0 && f.Format == YAML {
		model = nil
	}
	return f.verified(src, out, model, 0)
}

func (f File) setOwn(src []byte, root, before, after *node) ([]byte, *fault) {
	if f.Format != YAML {
		e, bad := newJSONEditor(src)
		if bad != nil {
			return nil, bad
		}
		e.become(root, before, after)
		return splice(src, e.changes), nil
	}
	y := yamlText{src: src, nl: newline(src)}
	switch {
	case len(root.entries) == 0:
		out := slices.Clone(src)
		if len(out) > 0 && out[len(out)-1] != '\n' {
			out = append(out, y.nl...)
		}
		for _, e := range after.entries {
			out = append(out, y.member(e.key, e.value, "", "")...)
		}
		return out, nil
	case y.flow(root):
		return nil, y.refuse(root)
	default:
		y.become(root, before, after)
		return splice(src, y.changes), nil
	}
}
