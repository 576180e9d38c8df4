package config

import (
	"context"
	"encoding/json"
	"strconv"

	"genkan/internal/gateway"
)

// Kept is a server that is kept beside the file, because it was added to a
// running house.
type Kept struct {
	Name string
	// Definition is a JSON object with the keys that a server has in the file.
	Definition []byte
	// Secrets are the names of those that were made of what stood literally in
	// the definition; they go with it.
	Secrets []string
}

// KeptStore keeps servers beside the file.
type KeptStore interface {
	// KeptServers lists them, in the order in which they were added.
	KeptServers(ctx context.Context) ([]Kept, error)
	// ChangeKeptServer changes the server with a name, in one transaction. The
	// change gets what is there, nil for nothing, and returns what is to be there;
	// its error leaves everything as it is.
	ChangeKeptServer(ctx context.Context, name string, change func(was *Kept) (*Kept, error)) error
}

// SetAside is a kept server that is not used, and why.
type SetAside struct {
	Name    string
	Written gateway.Secret
	Why     gateway.Text
}

// withKept adds the kept servers behind those of the file, which they must never
// be in the way of: one that cannot be used beside them is set aside.
func (d *decoder) withKept(l layer) layer {
	named, prefixes := map[string]bool{}, map[string]string{}
	for _, s := range l.servers {
		named[s.Name] = true
		if s.Prefix != "" && !s.Disabled {
			prefixes[s.Prefix] = s.Name
		}
	}
	for _, k := range d.from.Kept {
		aside := func(why gateway.Text) {
			l.setAside = append(l.setAside, SetAside{Name: k.Name, Written: gateway.Secret(k.Definition), Why: why})
		}
		if named[k.Name] {
			aside(gateway.Textf("the configuration file declares a server of this name, which is used in its place"))
			continue
		}
		s, err := readServer(k.Name, k.Definition, d.from)
		if err != nil {
			aside(gateway.Textf("%s", gateway.AsError(err)))
			continue
		}
		s.Kept = true
		if s.Prefix != "" && !s.Disabled {
			if other, again := prefixes[s.Prefix]; again {
				aside(gateway.Textf("it has the prefix %q, as %s has; their tools would be confused, so give one of them another prefix", s.Prefix, other))
				continue
			}
			prefixes[s.Prefix] = s.Name
		}
		l.servers = append(l.servers, s)
	}
	return l
}

// CheckServer reads one server as the file would be read. Its error tells
// everything that is wrong, and its Field is where the first of it stands.
func CheckServer(name string, definition []byte, from Sources) (Server, error) {
	s, err := readServer(name, definition, from.orNone())
	if s.Schemas == "" {
		s.Schemas = SchemasPlain
	}
	return s, err
}

func readServer(name string, definition []byte, from Sources) (Server, error) {
	if !gateway.IsServerName(name) {
		e := gateway.Errorf(gateway.CodeInvalid,
			"%s cannot be the name of a server: use a letter, then letters, digits and - (all lower case, at most %d); how about %q?",
			quoted(name), gateway.MaxServerName, gateway.ServerName(name, func(string) bool { return false }))
		e.Field = "name"
		return Server{}, e
	}
	all := &problems{}
	root, bad, _ := parseJSON(definition)
	if bad != nil {
		return Server{}, gateway.Errorf(gateway.CodeInvalid, "%s", bad.text)
	}
	d := &decoder{problems: all, from: from}
	s, _ := d.server(entry{name, root.at, root}, name)
	err := all.err()
	if err == nil {
		return s, nil
	}
	e := gateway.AsError(err)
	for _, p := range all.list { // what is wrong with the whole has no field
		if e.Field, _ = fieldAt(root, p.at, ""); e.Field != "" {
			break
		}
	}
	return Server{}, e
}

// fieldAt is the path of what stands at a position.
func fieldAt(n *node, at position, path string) (string, bool) {
	if n.at == at {
		return path, true
	}
	for _, e := range n.entries {
		inner := join(path, e.key)
		if e.at == at {
			return inner, true
		}
		if found, ok := fieldAt(e.value, at, inner); ok {
			return found, true
		}
	}
	for i, item := range n.items {
		if found, ok := fieldAt(item, at, path+"["+strconv.Itoa(i)+"]"); ok {
			return found, true
		}
	}
	return "", false
}

// appendJSON appends the value as JSON, whatever it was written in.
func (n *node) appendJSON(dst []byte) []byte {
	text := func(s string) {
		raw, err := json.Marshal(s)
		if err != nil {
			raw = []byte(`""`) // never: it is a string
		}
		dst = append(dst, raw...)
	}
	switch n.kind {
	case kindNull:
		return append(dst, "null"...)
	case kindBool:
		return append(dst, n.text...)
	case kindNumber:
		if json.Valid([]byte(n.text)) {
			return append(dst, n.text...)
		}
		text(n.text)
	case kindText:
		text(n.text)
	case kindList:
		dst = append(dst, '[')
		for i, item := range n.items {
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = item.appendJSON(dst)
		}
		dst = append(dst, ']')
	case kindMap:
		dst = append(dst, '{')
		for i, e := range n.entries {
			if i > 0 {
				dst = append(dst, ',')
			}
			text(e.key)
			dst = e.value.appendJSON(append(dst, ':'))
		}
		dst = append(dst, '}')
	}
	return dst
}
