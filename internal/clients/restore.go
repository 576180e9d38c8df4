package clients

import (
	"bytes"
	"slices"
	"strings"
)

// restored returns the present contents with the entries of earlier contents.
// Several clients rewrite their files all the time, for counters and the like. Such
// changes stay; only entries that still lead to genkan are restored, and of those that
// were not there only the added ones are removed. restored reports false if there are
// none, or if the result is not as intended.
func (f File) restored(now, before []byte, added []string) ([]byte, bool) {
	old, bad := parse(f.Format, before)
	present, alsoBad := parse(f.Format, now)
	if bad != nil || alsoBad != nil {
		return nil, false
	}
	var plans []restoration
	want := cloned(present)
	for _, c := range f.containers(old) {
		at, left, bad := find(present, c.keys)
		if bad != nil || len(left) > 0 || at.kind != c.node.kind {
			continue
		}
		r := f.restoration(c, at, f.aggregated(present) && !f.aggregated(old), added)
		plans = append(plans, r)
		model, _, _ := find(want, c.keys)
		r.apply(model)
	}
	if !slices.ContainsFunc(plans, restoration.useful) {
		return nil, false
	}
	var out []byte
	switch f.Format {
	case JSON:
		out = restoreJSON(now, before, plans)
	case TOML:
		out, bad = restoreTOML(now, before, plans)
	default:
		return nil, false
	}
	got, alsoBad := parse(f.Format, out)
	if bad != nil || alsoBad != nil || !same(got, want) {
		return nil, false
	}
	return out, true
}

// restoration are the changes of one container of the present file.
type restoration struct {
	keys []string
	at   *node
	// back are earlier entries that replace the present ones; add are earlier
	// entries that are missing; remove are entries for genkan that connecting added.
	back   map[string]entry
	add    []entry
	remove map[string]bool
}

func (r restoration) useful() bool { return len(r.back)+len(r.add)+len(r.remove) > 0 }

func (f File) restoration(was container, at *node, aggregated bool, added []string) restoration {
	r := restoration{keys: was.keys, at: at, back: map[string]entry{}, remove: map[string]bool{}}
	names := map[string]bool{}
	for _, e := range was.node.entries {
		name := nameOf(was.node, e)
		names[name] = true
		if name == "" || f.own(name, e.value) {
			continue
		}
		i := slices.IndexFunc(at.entries, func(other entry) bool { return nameOf(at, other) == name })
		switch {
		case i >= 0 && f.own(name, at.entries[i].value):
			r.back[name] = e
		case i < 0 && aggregated:
			r.add = append(r.add, e)
		}
	}
	for _, e := range at.entries {
		name := nameOf(at, e)
		if was.section == "" && slices.Contains(added, name) && !names[name] && f.own(name, e.value) {
			r.remove[name] = true
		}
	}
	return r
}

// aggregated reports whether one entry of the file stands for all servers.
func (f File) aggregated(root *node) bool {
	at, left, bad := find(root, f.keysIn(root))
	if bad != nil || len(left) > 0 || at == nil {
		return false
	}
	return slices.ContainsFunc(at.entries, func(e entry) bool {
		return nameOf(at, e) == aggregateName && f.own(aggregateName, e.value)
	})
}

func (f File) own(name string, n *node) bool {
	if !n.is(kindMap) {
		return false
	}
	d := entryDraft{file: f, place: Place{Name: name}}
	d.read(n, true)
	return d.own()
}

// apply applies the changes to the values of a file.
func (r restoration) apply(at *node) {
	at.exchange(func(e entry) bool { return r.remove[nameOf(at, e)] }, r.add)
	for i, e := range at.entries {
		if was, ok := r.back[nameOf(at, e)]; ok {
			at.entries[i].value = was.value
		}
	}
}

func restoreJSON(now, before []byte, plans []restoration) []byte {
	p := jsonParser{src: now}
	root, _ := p.document()
	var changes []change
	for _, r := range plans {
		for _, e := range r.at.entries {
			if was, ok := r.back[nameOf(r.at, e)]; ok {
				changes = append(changes, change{e.value.span, string(before[was.value.start:was.value.end])})
			}
		}
		var add []func(string, bool) string
		for _, e := range r.add {
			add = append(add, func(string, bool) string { return string(before[e.start:e.end]) })
		}
		m := members{src: now, n: r.at, unit: unitOf(now, root), lineComment: p.lineComment}
		changes = append(changes, m.edit(func(i int) bool { return r.remove[nameOf(r.at, r.at.entries[i])] }, add)...)
	}
	return splice(now, changes)
}

// restoreTOML puts tables back at the end of the file. It does not check that they
// had their own headers; the comparison of the result does.
func restoreTOML(now, before []byte, plans []restoration) ([]byte, *fault) {
	old, bad := parseTOML(before)
	if bad != nil {
		return nil, bad
	}
	nl := newline(now)
	for _, r := range plans {
		for name := range sorted(r.remove) {
			if now, bad = removeTOML(now, append(slices.Clone(r.keys), name)); bad != nil {
				return nil, bad
			}
		}
		tables := slices.Clone(r.add)
		for _, e := range sorted(r.back) {
			tables = append(tables, e)
		}
		for _, e := range tables {
			server := append(slices.Clone(r.keys), e.key)
			if now, bad = removeTOML(now, server); bad != nil {
				return nil, bad
			}
			var text strings.Builder
			for _, l := range old.lines {
				if path := l.path(); below(path, server) || slices.Equal(path, server) {
					if l.header {
						text.WriteString(nl)
					}
					text.Write(bytes.TrimRight(before[lineStart(before, l.start):lineEnd(before, l.end)], "\r\n"))
					text.WriteString(nl)
				}
			}
			if len(now) > 0 && !bytes.HasSuffix(now, []byte("\n")) {
				now = append(slices.Clone(now), nl...)
			}
			now = append(slices.Clone(now), text.String()...)
		}
	}
	return now, nil
}
