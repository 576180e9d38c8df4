package clients

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"

	"genkan/internal/gateway"
)

// Read reads the servers of a file, with the variables of their envFiles.
func Read(f File) (Imported, error) {
	src, err := load(f.Path)
	if err != nil {
		return Imported{}, err
	}
	imported, err := f.Parse(src)
	if err == nil {
		imported.readEnvFiles()
	}
	return imported, err
}

func load(path string) ([]byte, error) {
	// Opening a FIFO or a device could wait forever.
	info, err := os.Stat(path)
	if err == nil && !info.Mode().IsRegular() {
		return nil, gateway.Errorf(gateway.CodeInvalid, "%s is not a regular file", path)
	}
	var src []byte
	if err == nil && info.Size() <= maxBytes {
		src, err = readLimited(path)
	}
	switch {
	case err == nil && (info.Size() > maxBytes || len(src) > maxBytes):
		return nil, gateway.Errorf(gateway.CodeInvalid, "%s is larger than %d MiB, which no list of servers is, so it was not read", path, maxBytes>>20)
	case errors.Is(err, fs.ErrNotExist):
		return nil, gateway.Errorf(gateway.CodeNotFound, "the file %s does not exist", path)
	case err != nil:
		e := gateway.Errorf(gateway.CodeUnavailable, "the file %s cannot be read", path)
		e.Err = err
		return nil, e
	}
	return src, nil
}

// readLimited reads at most one byte more than a file may have.
func readLimited(path string) ([]byte, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer func() { _ = file.Close() }() // nothing was written
	return io.ReadAll(io.LimitReader(file, maxBytes+1))
}

// Parse reads the servers in the contents of a file.
func (f File) Parse(src []byte) (Imported, error) {
	root, bad := parse(f.Format, src)
	if bad != nil {
		return Imported{}, bad.in(f.Path, src)
	}
	r := reader{file: f, inputs: map[string]bool{}, taken: map[string]bool{}, reserved: map[string]bool{}}
	r.declareInputs(root)
	containers := f.containers(root)
	for _, c := range containers {
		for _, e := range c.node.entries {
			// A name that needs no change is not taken by one that does.
			if name := nameOf(c.node, e); gateway.ServerName(name, nobody) == name {
				r.reserved[name] = true
			}
		}
	}
	for _, c := range containers {
		r.container(c)
	}
	slices.Sort(r.out.Variables)
	r.out.Variables = slices.Compact(r.out.Variables)
	return r.out, nil
}

// container is a map or list of servers in a file.
type container struct {
	section string
	keys    []string
	node    *node
}

// containers returns all maps and lists of servers in the file.
func (f File) containers(root *node) []container {
	var all []container
	add := func(section string, keys []string) {
		if at, left, bad := find(root, keys); bad == nil && len(left) == 0 && at != nil {
			all = append(all, container{section, keys, at})
		}
	}
	add("", f.keysIn(root))
	if f.sections != "" {
		if sections := root.get(f.sections); sections.is(kindMap) {
			for _, e := range sections.entries {
				add(e.key, append([]string{f.sections, e.key}, f.keys...))
			}
		}
	}
	return all
}

// keysIn returns the path to the servers of this file. Newer versions of opencode
// have them one key further down; that key may also be a server's name.
func (f File) keysIn(root *node) []string {
	if f.Client != "opencode" {
		return f.keys
	}
	at, left, bad := find(root, append(slices.Clone(f.keys), "servers"))
	if bad != nil || len(left) > 0 || !at.is(kindMap) {
		return f.keys
	}
	for _, e := range at.entries {
		if !e.value.is(kindMap) {
			return f.keys
		}
	}
	return append(slices.Clone(f.keys), "servers")
}

// reader reads the entries of a file.
type reader struct {
	file   File
	out    Imported
	inputs map[string]bool
	// taken are names that are in use; reserved are those that need no change, and
	// stay with their entries.
	taken, reserved map[string]bool
}

func nobody(string) bool { return false }

func (r *reader) tell(place Place, text string) {
	r.out.Notes = append(r.out.Notes, Note{Server: place.Name, Section: place.Section, Text: gateway.Text{Format: text}})
}

func (r *reader) container(c container) {
	if !c.node.is(kindMap) && !c.node.is(kindList) {
		if !c.node.is(kindNull) {
			r.tell(Place{Section: c.section}, "the servers are neither a map nor a list, so none was read")
		}
		return
	}
	for i, e := range c.node.entries {
		place := Place{c.section, nameOf(c.node, e)}
		switch {
		case !e.value.is(kindMap):
			r.tell(place, "this entry is not a map, so it was left out")
		case place.Name == "":
			r.tell(Place{c.section, fmt.Sprint(i + 1)}, "this entry has no name, so it was left out")
		default:
			r.server(place, e.value, c.node.is(kindList))
		}
	}
}

// server imports one entry.
func (r *reader) server(place Place, n *node, named bool) {
	d := &entryDraft{file: r.file, place: place}
	d.read(n, named)
	if d.own() {
		r.out.Own = append(r.out.Own, place)
		r.out.Leads = append(r.out.Leads, d.lead())
		return
	}
	d.unwrap()
	if d.command == "" && d.url == "" {
		r.tell(place, "this entry has neither a command nor a url, so it was left out")
		return
	}
	s := d.server()
	for _, text := range d.notes {
		r.out.Notes = append(r.out.Notes, Note{Server: place.Name, Section: place.Section, Text: text})
	}
	r.out.Variables = append(r.out.Variables, d.variables...)
	for _, id := range d.inputs {
		if !r.inputs[id] {
			r.inputs[id] = true
			r.out.Inputs = append(r.out.Inputs, Input{ID: id, Variable: inputVariable(id), Hidden: true})
		}
	}
	s.Inputs = r.inputsOf(d)
	s.Name = gateway.ServerName(nameFor(place.Name, s), func(name string) bool { return r.taken[name] || r.reserved[name] && name != place.Name })
	r.taken[s.Name] = true
	s.Secrets = literals(s)
	r.out.Servers = append(r.out.Servers, s)
}

// inputsOf returns the inputs and the environment variables that an entry refers
// to, each once.
func (r *reader) inputsOf(d *entryDraft) []Input {
	var all []Input
	for _, in := range r.out.Inputs {
		if slices.Contains(d.inputs, in.ID) && !slices.ContainsFunc(all, func(i Input) bool { return i.Variable == in.Variable }) {
			all = append(all, in)
		}
	}
	slices.Sort(d.variables)
	for _, name := range slices.Compact(d.variables) {
		all = append(all, Input{ID: name, Variable: name, Hidden: true, Environment: true})
	}
	return all
}

// declareInputs reads the inputs of VS Code.
func (r *reader) declareInputs(root *node) {
	list := root.get("inputs")
	if !list.is(kindList) || r.file.Client != "vscode" {
		return
	}
	for _, e := range list.entries {
		id := e.value.textAt("id")
		if id == "" || r.inputs[id] {
			continue
		}
		r.inputs[id] = true
		hidden := e.value.get("password")
		r.out.Inputs = append(r.out.Inputs, Input{
			ID: id, Variable: inputVariable(id), Description: e.value.textAt("description"),
			Default: e.value.textAt("default"), Hidden: hidden.is(kindBool) && hidden.text == "true",
		})
	}
}
