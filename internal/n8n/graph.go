package n8n

import (
	"cmp"
	"encoding/json"
	"slices"
)

// graphNode is a node with its neighbours.
type graphNode struct {
	Node    string   `json:"node"`
	ID      string   `json:"id"`
	Type    string   `json:"type"`
	Inputs  []string `json:"inputs"`
	Outputs []string `json:"outputs"`
	// Branches are the outputs of a node that has several, or one that is not main.
	Branches []branch `json:"branches,omitempty"`
	Disabled bool     `json:"disabled,omitempty"`
	// Dangling are targets that do not exist.
	Dangling []string `json:"dangling,omitempty"`
}

type branch struct {
	Type  string   `json:"type"`
	Index int      `json:"index"`
	To    []string `json:"to"`
}

type graphAnswer struct {
	ID    string      `json:"id"`
	Name  string      `json:"name"`
	Graph []graphNode `json:"graph"`
	// Dangling are nodes that connections begin at and that do not exist.
	Dangling       []string        `json:"dangling,omitempty"`
	RawConnections json.RawMessage `json:"rawConnections,omitempty"`
}

// types returns the types of a node's connections, main first.
func types(outputs map[string][][]link) []string {
	var names []string
	for name := range outputs {
		names = append(names, name)
	}
	slices.SortFunc(names, func(a, b string) int {
		if (a == mainLink) != (b == mainLink) {
			return map[bool]int{true: -1, false: 1}[a == mainLink]
		}
		return cmp.Compare(a, b)
	})
	return names
}

// graph returns the nodes with their neighbours, without sticky notes.
func (w *workflow) graph() graphAnswer {
	steps := w.steps()
	known := map[string]int{}
	for i, n := range steps {
		known[n.name] = i
	}
	out := graphAnswer{ID: w.id(), Name: w.name(), Graph: make([]graphNode, len(steps))}
	for i, n := range steps {
		out.Graph[i] = graphNode{Node: n.name, ID: n.id, Type: n.kind, Inputs: []string{}, Outputs: []string{}, Disabled: n.disabled}
	}
	add := func(list *[]string, name string) {
		if !slices.Contains(*list, name) {
			*list = append(*list, name)
		}
	}
	for i := range out.Graph {
		from := &out.Graph[i]
		var branches []branch
		plain := true
		for _, kind := range types(w.links[from.Node]) {
			outputs := w.links[from.Node][kind]
			plain = plain && kind == mainLink && len(outputs) < 2
			for index, ends := range outputs {
				b := branch{kind, index, []string{}}
				for _, end := range ends {
					to, ok := known[end.Node]
					if !ok {
						add(&from.Dangling, end.Node)
						continue
					}
					add(&b.To, end.Node)
					add(&from.Outputs, end.Node)
					add(&out.Graph[to].Inputs, from.Node)
				}
				branches = append(branches, b)
			}
		}
		if !plain {
			from.Branches = branches
		}
	}
	for name := range w.links {
		if _, ok := known[name]; !ok {
			out.Dangling = append(out.Dangling, name)
		}
	}
	slices.Sort(out.Dangling)
	return out
}
