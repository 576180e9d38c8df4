package config

import (
	"cmp"
	"context"
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	"genkan/internal/gateway"
)

// StoredServer is a server that was added at run time. It is in the database, not
// in the file.
type StoredServer struct {
	Name string
	// Definition is a JSON object with the keys of a server in the file.
	Definition []byte
	// Secrets names the secrets that replaced literal ones in the definition. They
	// are deleted with it.
	Secrets []string
}

// ServerStore stores servers.
type ServerStore interface {
	// StoredServers returns all servers, in the order in which they were added.
	StoredServers(ctx context.Context) ([]StoredServer, error)
	// ChangeStoredServer adds, changes or removes the server with a name in one
	// transaction. change gets the stored server, nil for none, and returns its
	// replacement, nil to remove it. If change fails, nothing is written.
	ChangeStoredServer(ctx context.Context, name string, change func(was *StoredServer) (*StoredServer, error)) error
}

// RejectedServer is a stored server that is not used.
type RejectedServer struct {
	Name       string
	Definition gateway.Secret
	// Reason says why the server is not used.
	Reason gateway.Text
}

// addStored appends the stored servers to those of the file. The file takes
// precedence: a stored server that conflicts with it is rejected.
func (d *decoder) addStored(l layer) layer {
	named, prefixes := map[string]bool{}, map[string]string{}
	for _, s := range l.servers {
		named[s.Name] = true
		if s.Prefix != "" && !s.Disabled {
			prefixes[s.Prefix] = s.Name
		}
	}
	for _, k := range d.from.Stored {
		reject := func(why gateway.Text) {
			l.rejected = append(l.rejected, RejectedServer{Name: k.Name, Definition: gateway.Secret(k.Definition), Reason: why})
		}
		if named[k.Name] {
			reject(gateway.Textf("the configuration file declares a server of this name, which is used in its place"))
			continue
		}
		s, err := readServer(k.Name, k.Definition, d.from)
		if err != nil {
			reject(gateway.Textf("%s", gateway.AsError(err)))
			continue
		}
		s.Stored = true
		if s.Prefix != "" && !s.Disabled {
			if other, again := prefixes[s.Prefix]; again {
				reject(gateway.Textf("it has the prefix %q, as %s has; their tools would be confused, so give one of them another prefix", s.Prefix, other))
				continue
			}
			prefixes[s.Prefix] = s.Name
		}
		l.servers = append(l.servers, s)
	}
	return l
}

// CheckServer reads a server's definition with the rules of the file. The error
// reports all problems, each with the path of its field.
func CheckServer(name string, definition []byte, from Sources) (Server, error) {
	s, err := readServer(name, definition, from.orNone())
	if s.Schemas == "" {
		s.Schemas = SchemasPlain
	}
	return s, err
}

func readServer(name string, definition []byte, from Sources) (Server, error) {
	all := &problems{}
	root, bad, _ := parseJSON(definition)
	if bad != nil {
		return Server{}, gateway.Errorf(gateway.CodeInvalid, "%s", bad.text)
	}
	shown := name
	switch {
	case name == "":
		shown = "server"
		all.list = append(all.list, problem{at: nameAt, text: gateway.MissingField(nil, "name").Text})
	case !gateway.IsServerName(name):
		shown = gateway.ServerName(name, from.Taken)
		all.add(nameAt, "%q cannot be the name of a server: %s",
			cutWord(name), gateway.HowAbout(gateway.WrongInName(name, "-", false, gateway.MaxServerName), gateway.BetterServerName(name, from.Taken)))
	}
	d := &decoder{problems: all, from: from}
	s, _ := d.server(entry{shown, root.at, root}, shown)
	if err := all.fields(root); err != nil {
		return Server{}, err
	}
	return s, nil
}

// CheckSettings reads a JSON object with keys of the file by the rules of the file. The
// error reports all problems, each with the path of its field.
func CheckSettings(settings []byte, from Sources) (*Config, error) {
	all := &problems{}
	root, bad, _ := parseJSON(settings)
	if bad != nil {
		return nil, gateway.Errorf(gateway.CodeInvalid, "%s", bad.text)
	}
	d := &decoder{problems: all, from: from.orNone()}
	l := d.file(root)
	l.lang = cmp.Or(l.lang, new(langs()[0]))
	c := l.config(all)
	if err := all.fields(root); err != nil {
		return nil, err
	}
	return c, nil
}

// fields tells all problems, as err does, each with the path of its field below root.
func (p *problems) fields(root *node) error {
	err := p.err()
	if err == nil {
		return nil
	}
	e := gateway.AsError(err)
	for _, p := range p.list {
		field := "name"
		if p.at != nameAt {
			field, _ = fieldAt(root, p.at, "") // a problem with the whole definition has none
		}
		e.Field = cmp.Or(e.Field, field)
		if len(e.Problems) < gateway.MaxProblems {
			// The rules of the file are more than those of JSON Schema.
			e.Problems = append(e.Problems, gateway.Problem{Field: field, Pointer: gateway.Pointer(strings.Split(field, ".")), Keyword: "definition", Text: p.about(field)})
		}
	}
	return e
}

// about returns the text with the path of the field below the root in place of that below
// the name of the server.
func (p problem) about(field string) gateway.Text {
	text := p.text
	if field == "" || len(text.Values) == 0 {
		return text
	}
	if path, ok := text.Values[0].(string); ok && strings.HasSuffix(path, "."+field) {
		text.Values = slices.Clone(text.Values)
		text.Values[0] = field
	}
	return text
}

// key returns the position of an entry's value, or of the map if it has no such entry.
func (n *node) key(name string) position {
	for _, e := range n.entries {
		if e.key == name {
			return e.value.at
		}
	}
	return n.at
}

// nameAt stands for the position of a server's name, which is not in its definition. It is
// before all that are.
var nameAt = position{line: -1} //nolint:gochecknoglobals // a constant

// fieldAt returns the path of the key or value at a position.
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

// appendJSON appends the value as JSON, also if the file is YAML.
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
