package n8n

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"genkan/internal/gateway"
)

// workflow is a workflow of n8n. Everything that is not changed keeps its bytes.
type workflow struct {
	fields map[string]json.RawMessage
	nodes  []*node
	links  links
	// linksChanged is set when links must be encoded again.
	linksChanged bool
}

// node is a node of a workflow.
type node struct {
	raw json.RawMessage
	// fields is the decoded node; nil until somebody needs it.
	fields   map[string]any
	name     string
	id, kind string
	disabled bool
	changed  bool
}

// link is the end of a connection.
type link struct {
	Node  string `json:"node"`
	Type  string `json:"type"`
	Index int    `json:"index"`
}

// links are the connections of a workflow: by the node they begin at, the type, and the
// output.
type links map[string]map[string][][]link

// sticky is the type of notes on the canvas, which are nodes in n8n's format only.
const sticky = "n8n-nodes-base.stickyNote"

const mainLink = "main"

// parseWorkflow reads the JSON of a workflow.
func parseWorkflow(raw []byte) (*workflow, error) {
	w := &workflow{}
	if err := json.Unmarshal(raw, &w.fields); err != nil || w.fields == nil {
		return nil, invalid("", "A workflow must be a JSON object with name, nodes and connections")
	}
	var err error
	if w.nodes, err = parseNodes(w.fields["nodes"]); err != nil {
		return nil, err
	}
	if w.links, err = parseLinks(w.fields["connections"]); err != nil {
		return nil, err
	}
	return w, nil
}

func parseNodes(raw json.RawMessage) ([]*node, error) {
	var list []json.RawMessage
	if err := json.Unmarshal(orNull(raw), &list); err != nil {
		return nil, invalid("nodes", "nodes must be an array of nodes")
	}
	nodes := make([]*node, len(list))
	for i, one := range list {
		var err error
		if nodes[i], err = parseNode(one); err != nil {
			return nil, err
		}
	}
	return nodes, nil
}

func parseNode(raw json.RawMessage) (*node, error) {
	var head struct {
		Name, ID, Type string
		Disabled       bool
	}
	if err := json.Unmarshal(raw, &head); err != nil || len(raw) == 0 || raw[0] != '{' {
		return nil, invalid("nodes", "A node must be an object with name, type, typeVersion, position and parameters; name, type and id are texts")
	}
	return &node{raw: raw, name: head.Name, id: head.ID, kind: head.Type, disabled: head.Disabled}, nil
}

func parseLinks(raw json.RawMessage) (links, error) {
	var all links
	if err := json.Unmarshal(orNull(raw), &all); err != nil {
		return nil, invalid("connections", `connections must be like {"From":{"main":[[{"node":"To","type":"main","index":0}]]}}`)
	}
	if all == nil {
		all = links{}
	}
	return all, nil
}

func orNull(raw json.RawMessage) json.RawMessage {
	if len(raw) == 0 {
		return json.RawMessage("null")
	}
	return raw
}

// text returns a field that is a text; empty if it is none.
func (w *workflow) text(key string) string {
	var s string
	_ = json.Unmarshal(orNull(w.fields[key]), &s)
	return s
}

func (w *workflow) flag(key string) bool { return string(w.fields[key]) == "true" }

func (w *workflow) id() string   { return w.text("id") }
func (w *workflow) name() string { return w.text("name") }

// isDraft reports whether the workflow has changes that are not published.
func (w *workflow) isDraft() bool {
	published := w.text("activeVersionId")
	return published != "" && published != w.text("versionId")
}

// tags returns the names of the tags.
func (w *workflow) tags() []string { return tagNames(w.fields["tags"]) }

func tagNames(raw json.RawMessage) []string {
	var tags []struct{ Name string }
	_ = json.Unmarshal(orNull(raw), &tags)
	names := make([]string, len(tags))
	for i, t := range tags {
		names[i] = t.Name
	}
	return names
}

// steps returns the nodes without sticky notes.
func (w *workflow) steps() []*node {
	return slices.DeleteFunc(slices.Clone(w.nodes), func(n *node) bool { return n.kind == sticky })
}

// find returns the node of a name; nil if there is none.
func (w *workflow) find(name string) *node {
	for _, n := range w.nodes {
		if n.name == name {
			return n
		}
	}
	return nil
}

// need returns the node of a name, or an error that suggests the right one.
func (w *workflow) need(field, name string) (*node, error) {
	if n := w.find(name); n != nil {
		return n, nil
	}
	names := func(yield func(string) bool) {
		for _, n := range w.nodes {
			if !yield(n.name) {
				return
			}
		}
	}
	for n := range names {
		if strings.EqualFold(n, name) {
			return nil, invalid(field, "There is no node '%s'. Did you mean '%s'?", gateway.Short(name), n)
		}
	}
	if near := gateway.Nearest(name, names); near != "" {
		return nil, invalid(field, "There is no node '%s'. Did you mean '%s'?", gateway.Short(name), near)
	}
	return nil, invalid(field, "There is no node '%s'. Nodes: %s", gateway.Short(name), shortList(slices.Collect(names)))
}

// shortList joins names, and counts those that have no room.
func shortList(names []string) string {
	const most = 20
	if len(names) > most {
		return strings.Join(names[:most], ", ") + ", …"
	}
	return strings.Join(names, ", ")
}

// decoded returns the fields of a node, to be changed. Numbers keep their spelling.
func (n *node) decoded() map[string]any {
	if n.fields == nil {
		d := json.NewDecoder(bytes.NewReader(n.raw))
		d.UseNumber()
		_ = d.Decode(&n.fields) // the node was decoded before
	}
	return n.fields
}

// encode writes the changes of a node into its JSON.
func (n *node) encode() error {
	if !n.changed {
		return nil
	}
	raw, err := encodeJSON(n.fields)
	if err != nil {
		return err
	}
	fresh, err := parseNode(raw)
	if err != nil {
		return err
	}
	fresh.fields = n.fields
	*n = *fresh
	return nil
}

// body returns what is sent to save the workflow: only fields that n8n accepts. also names
// further fields that are sent if the workflow has them.
func (w *workflow) body(also ...string) (map[string]json.RawMessage, error) {
	body := map[string]json.RawMessage{"settings": json.RawMessage(`{"executionOrder":"v1"}`)}
	for _, key := range append([]string{"name", "settings"}, also...) {
		if value := w.fields[key]; len(value) > 0 && string(value) != "null" {
			body[key] = value
		}
	}
	raws := make([]json.RawMessage, len(w.nodes))
	for i, n := range w.nodes {
		if err := n.encode(); err != nil {
			return nil, err
		}
		raws[i] = n.raw
	}
	var err error
	if body["nodes"], err = encodeJSON(raws); err != nil {
		return nil, err
	}
	body["connections"] = w.fields["connections"]
	if w.linksChanged || len(body["connections"]) == 0 || string(body["connections"]) == "null" {
		body["connections"], err = encodeJSON(w.links)
	}
	return body, err
}

// whole returns the workflow for raw answers: everything but what repeats the workflow
// and who it is shared with. Tags are names, so that it can be sent back.
func (w *workflow) whole() (map[string]json.RawMessage, error) {
	out := maps.Clone(w.fields)
	delete(out, "activeVersion")
	delete(out, "shared")
	if len(w.fields["tags"]) > 0 {
		tags, err := encodeJSON(w.tags())
		if err != nil {
			return nil, err
		}
		out["tags"] = tags
	}
	return out, nil
}

// keep gives nodes that were sent without credentials, id or webhookId those of the node
// that they replace: the one with the same id, or else name, and the same type.
func (w *workflow) keep(sent []*node) error {
	for _, n := range sent {
		old := w.replaced(n)
		if old == nil || old.kind != n.kind {
			continue
		}
		had, has := old.decoded(), n.decoded()
		for _, key := range []string{"credentials", "id", "webhookId"} {
			if _, given := has[key]; !given && had[key] != nil {
				has[key] = had[key]
				n.changed = true
			}
		}
		if err := n.encode(); err != nil {
			return err
		}
	}
	return nil
}

func (w *workflow) replaced(n *node) *node {
	for _, old := range w.nodes {
		if n.id != "" && old.id == n.id {
			return old
		}
	}
	return w.find(n.name)
}
