package n8n

import (
	"bytes"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"genkan/internal/gateway"
)

// operation is one change of a workflow.
type operation struct {
	Op string `json:"op"`
	// Node is the name of a node; for addNode the node itself.
	Node    json.RawMessage `json:"node"`
	Changes map[string]any  `json:"changes"`
	// Path, Find and Replace are for patchField.
	Path    string  `json:"path"`
	Find    string  `json:"find"`
	Replace *string `json:"replace"`
	// From, To, Output, Input and Type are for connections; To is also a new name.
	From   string `json:"from"`
	To     string `json:"to"`
	Output *int   `json:"output"`
	Input  *int   `json:"input"`
	Type   string `json:"type"`

	field string
}

// maxOperations is how many operations a call may have, and maxOutput the largest index of
// an output or input.
const maxOperations, maxOutput = 200, 1000

func operationNames() []string {
	return []string{"updateNode", "addNode", "removeNode", "renameNode", "connect", "disconnect", "patchField"}
}

// apply carries operations out on the workflow in memory.
func (w *workflow) apply(raw json.RawMessage) error {
	var list []json.RawMessage
	if err := json.Unmarshal(raw, &list); err != nil || len(list) > maxOperations {
		return invalid("operations", "operations must be an array of at most %d objects", maxOperations)
	}
	for i, one := range list {
		o := operation{}
		d := json.NewDecoder(bytes.NewReader(one))
		d.UseNumber()
		d.DisallowUnknownFields()
		field := fmt.Sprintf("operations[%d]", i)
		if err := d.Decode(&o); err != nil {
			return invalid(field, "This operation cannot be read (%s). Operations have op, node, changes, path, find, replace, from, to, output, input and type", strings.TrimPrefix(err.Error(), "json: "))
		}
		o.field = field
		if err := w.applyOne(&o); err != nil {
			return err
		}
	}
	return nil
}

func (w *workflow) applyOne(o *operation) error {
	switch o.Op {
	case "addNode":
		return w.addNode(o)
	case "connect", "disconnect":
		return w.connect(o)
	case "updateNode", "removeNode", "renameNode", "patchField":
	default:
		if near := gateway.Nearest(o.Op, slices.Values(operationNames())); near != "" {
			return invalid(o.field, "There is no operation '%s'. Did you mean %s?", gateway.Short(o.Op), near)
		}
		return invalid(o.field, "There is no operation '%s'. There are %s", gateway.Short(o.Op), strings.Join(operationNames(), ", "))
	}
	var name string
	if json.Unmarshal(orNull(o.Node), &name) != nil || name == "" {
		return invalid(o.field, "node must be the name of a node")
	}
	n, err := w.need(o.field, name)
	if err != nil {
		return err
	}
	switch o.Op {
	case "updateNode":
		return w.updateNode(o, n)
	case "removeNode":
		w.removeNode(n)
		return nil
	case "renameNode":
		return w.renameNode(o, n)
	}
	return patchField(o, n)
}

func (w *workflow) updateNode(o *operation, n *node) error {
	if len(o.Changes) == 0 {
		return invalid(o.field, `changes must have the fields to change, such as {"parameters":{"url":"https://…"}}; null removes one`)
	}
	if name, given := o.Changes["name"]; given && name != n.name {
		return invalid(o.field, "Use renameNode to rename a node, so that its connections and expressions follow")
	}
	merge(n.decoded(), o.Changes)
	n.changed = true
	return n.encode()
}

// merge puts changes into an object: objects are merged, null removes, everything else
// replaces.
func merge(into, changes map[string]any) {
	for key, value := range changes {
		inner, isObject := value.(map[string]any)
		old, wasObject := into[key].(map[string]any)
		switch {
		case value == nil:
			delete(into, key)
		case isObject && wasObject:
			merge(old, inner)
		default:
			into[key] = value
		}
	}
}

func (w *workflow) addNode(o *operation) error {
	n, err := parseNode(o.Node)
	if err != nil || n.name == "" || n.kind == "" {
		return invalid(o.field, "node must be the new node, an object with name, type, typeVersion and parameters")
	}
	if w.find(n.name) != nil {
		return invalid(o.field, "There is a node '%s' already. Choose another name, or use updateNode", n.name)
	}
	if fields := n.decoded(); fields["position"] == nil {
		fields["position"] = w.freePlace()
	}
	n.complete(true)
	n.changed = true
	if err := n.encode(); err != nil {
		return err
	}
	w.nodes = append(w.nodes, n)
	return nil
}

// freePlace returns a position to the right of all nodes.
func (w *workflow) freePlace() []int {
	const step = 220
	x, y := 0, 0
	for _, n := range w.nodes {
		var at struct{ Position []float64 }
		if json.Unmarshal(n.raw, &at) == nil && len(at.Position) == 2 && (int(at.Position[0])+step > x || x == 0) {
			x, y = int(at.Position[0])+step, int(at.Position[1])
		}
	}
	return []int{x, y}
}

func newID() string {
	var b [16]byte
	_, _ = rand.Read(b[:]) // it never fails
	b[6], b[8] = b[6]&0x0f|0x40, b[8]&0x3f|0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:])
}

func (w *workflow) removeNode(gone *node) {
	w.nodes = slices.DeleteFunc(w.nodes, func(n *node) bool { return n == gone })
	delete(w.links, gone.name)
	w.eachEnds(func(ends []link) []link {
		return slices.DeleteFunc(ends, func(l link) bool { return l.Node == gone.name })
	})
	w.linksChanged = true
}

// eachEnds replaces the ends of every output.
func (w *workflow) eachEnds(change func([]link) []link) {
	for _, outputs := range w.links {
		for _, list := range outputs {
			for i := range list {
				list[i] = change(list[i])
			}
		}
	}
}

func (w *workflow) renameNode(o *operation, n *node) error {
	old, name := n.name, o.To
	switch {
	case strings.TrimSpace(name) == "":
		return invalid(o.field, "to must be the new name of the node")
	case name == old:
		return nil
	case w.find(name) != nil:
		return invalid(o.field, "There is a node '%s' already. Choose another name", name)
	}
	n.decoded()["name"] = name
	n.changed = true
	if outputs, ok := w.links[old]; ok {
		delete(w.links, old)
		w.links[name] = outputs
	}
	w.eachEnds(func(ends []link) []link {
		for i := range ends {
			if ends[i].Node == old {
				ends[i].Node = name
			}
		}
		return ends
	})
	w.linksChanged = true
	follow := renamer(old, name)
	for _, one := range w.nodes {
		if !bytes.Contains(one.raw, []byte("$")) {
			continue
		}
		fields := one.decoded()
		if parameters, changed := replaceTexts(fields["parameters"], follow); changed {
			fields["parameters"] = parameters
			one.changed = true
		}
	}
	for _, one := range w.nodes {
		if err := one.encode(); err != nil {
			return err
		}
	}
	return w.renamePinned(old, name)
}

// renamePinned renames a node in the pinned data, which goes by name.
func (w *workflow) renamePinned(old, name string) error {
	var pinned map[string]json.RawMessage
	if json.Unmarshal(orNull(w.fields["pinData"]), &pinned) != nil || pinned[old] == nil {
		return nil
	}
	pinned[name] = pinned[old]
	delete(pinned, old)
	raw, err := encodeJSON(pinned)
	w.fields["pinData"] = raw
	return err
}

// renamer replaces the name of a node in the ways in which expressions and code refer to
// it: $('Name'), $node["Name"], $items("Name").
func renamer(old, name string) *strings.Replacer {
	var pairs []string
	for _, form := range []string{"$(%s)", "$node[%s]", "$items(%s)", "$items(%s,"} {
		for _, quote := range []string{"'", `"`, "`"} {
			quoted := func(s string) string {
				return fmt.Sprintf(form, quote+strings.NewReplacer(`\`, `\\`, quote, `\`+quote).Replace(s)+quote)
			}
			pairs = append(pairs, quoted(old), quoted(name))
		}
	}
	return strings.NewReplacer(pairs...)
}

func replaceTexts(value any, r *strings.Replacer) (any, bool) {
	changed := false
	switch v := value.(type) {
	case string:
		s := r.Replace(v)
		return s, s != v
	case []any:
		for i := range v {
			one, c := replaceTexts(v[i], r)
			v[i], changed = one, changed || c
		}
	case map[string]any:
		for key := range v {
			one, c := replaceTexts(v[key], r)
			v[key], changed = one, changed || c
		}
	}
	return value, changed
}

func (w *workflow) connect(o *operation) error {
	kind, output, input := o.Type, 0, 0
	if kind == "" {
		kind = mainLink
	}
	if o.Output != nil {
		output = *o.Output
	}
	if o.Input != nil {
		input = *o.Input
	}
	if output < 0 || input < 0 || output > maxOutput || input > maxOutput {
		return invalid(o.field, "output and input must be numbers from 0 to %d", maxOutput)
	}
	if o.Op == "disconnect" {
		return w.disconnect(o, kind)
	}
	for _, name := range []string{o.From, o.To} {
		if _, err := w.need(o.field, name); err != nil {
			return err
		}
	}
	if w.links[o.From] == nil {
		w.links[o.From] = map[string][][]link{}
	}
	list := w.links[o.From][kind]
	for len(list) <= output {
		list = append(list, []link{})
	}
	if end := (link{o.To, kind, input}); !slices.Contains(list[output], end) {
		list[output] = append(list[output], end)
	}
	w.links[o.From][kind] = list
	w.linksChanged = true
	return nil
}

// disconnect removes the connections between two nodes. Without output or input it
// removes those of all outputs or inputs. The nodes need not exist.
func (w *workflow) disconnect(o *operation, kind string) error {
	removed := false
	for i, ends := range w.links[o.From][kind] {
		if o.Output != nil && *o.Output != i {
			continue
		}
		w.links[o.From][kind][i] = slices.DeleteFunc(ends, func(l link) bool {
			gone := l.Node == o.To && (o.Input == nil || *o.Input == l.Index)
			removed = removed || gone
			return gone
		})
	}
	if !removed {
		return invalid(o.field, "'%s' has no such connection to '%s'. get_workflow_connections shows the connections", gateway.Short(o.From), gateway.Short(o.To))
	}
	w.linksChanged = true
	return nil
}

// patchField replaces a part of one text of a node. The part must occur once.
func patchField(o *operation, n *node) error {
	if o.Find == "" || o.Replace == nil {
		return invalid(o.field, "patchField needs node, path, find and replace; find must not be empty")
	}
	if o.Path == "name" || o.Path == "/name" {
		return invalid(o.field, "Use renameNode to rename a node, so that its connections and expressions follow")
	}
	parts := strings.Split(o.Path, ".")
	if pointer, ok := strings.CutPrefix(o.Path, "/"); ok {
		parts = strings.Split(pointer, "/")
		for i := range parts {
			parts[i] = strings.NewReplacer("~1", "/", "~0", "~").Replace(parts[i])
		}
	}
	text, put, err := lookUp(n.decoded(), parts)
	if err != nil {
		return invalid(o.field, "%s of node '%s' is no text: %s", gateway.Short(o.Path), n.name, err)
	}
	switch found := strings.Count(text, o.Find); found {
	case 1:
	case 0:
		return invalid(o.field, "find does not occur in %s of node '%s'. It must match exactly, spaces and line ends included", o.Path, n.name)
	default:
		return invalid(o.field, "find occurs %d times in %s of node '%s'. Make it longer, so that it occurs once", found, o.Path, n.name)
	}
	text = strings.Replace(text, o.Find, *o.Replace, 1)
	put(text)
	n.changed = true
	return n.encode()
}

// lookUp finds a text in an object, and returns how to replace it.
func lookUp(at any, parts []string) (text string, put func(string), err error) {
	for i, part := range parts {
		last := i == len(parts)-1
		switch v := at.(type) {
		case map[string]any:
			next, ok := v[part]
			if !ok {
				return "", nil, gateway.Errorf(gateway.CodeInvalid, "there is no %s; there are %s", gateway.Short(part), shortList(slices.Sorted(maps.Keys(v))))
			}
			if last {
				put = func(s string) { v[part] = s }
			}
			at = next
		case []any:
			index, err := strconv.Atoi(part)
			if err != nil || index < 0 || index >= len(v) {
				return "", nil, gateway.Errorf(gateway.CodeInvalid, "%s is no index from 0 to %d", gateway.Short(part), len(v)-1)
			}
			if last {
				put = func(s string) { v[index] = s }
			}
			at = v[index]
		default:
			return "", nil, gateway.Errorf(gateway.CodeInvalid, "there is nothing below %s", gateway.Short(strings.Join(parts[:i], ".")))
		}
	}
	text, ok := at.(string)
	if !ok {
		return "", nil, gateway.Errorf(gateway.CodeInvalid, "patchField changes texts; use updateNode for other values")
	}
	return text, put, nil
}
