package workflow

import (
	"encoding/json"
	"slices"

	"genkan/internal/gateway"
)

// Kind is what people know a node as: a hook is a script that the call waits for, or one
// beside the path. A node is of the first kind that fits it. Editors learn from the kinds
// what can be added, what it is called and by which ways it is left.
type Kind struct {
	Type string
	// Workflow is the type of the workflows that have it; empty for all.
	Workflow           string
	Title, Description gateway.Text
	// When are settings that a node of this kind has; nil if it needs none.
	When map[string]any
	// Handles are the ways out, with error if it can fail.
	Handles []string
	// HandlesIn is the setting that lists more of them, which come first; empty if none does.
	HandlesIn string
	// Beside is set if nobody waits for it.
	Beside bool
	// New are the settings of a node that is added; nil for a kind that nobody adds.
	New map[string]any
}

// Kinds returns the kinds of the built-in node types. Those that are added most come first.
func Kinds() []Kind { return slices.Clone(kinds) }

// blocking are the settings of a hook that the call waits for.
var (
	blocking = map[string]any{"hook": map[string]any{"blocking": true}}
	steps    = []string{handleOut, handleError}
)

var kinds = []Kind{
	{
		Type: "hook", Title: gateway.Textf("Script"), Description: gateway.Textf("JavaScript that changes, answers or refuses the call"),
		When: blocking, Handles: steps, New: map[string]any{"hook": map[string]any{"blocking": true, "script": ""}},
	},
	{
		Type: "condition", Title: gateway.Textf("Condition"), Description: gateway.Textf("Takes one way or another"),
		Handles: []string{handleElse, handleError}, HandlesIn: "cases",
		New: map[string]any{"cases": []any{map[string]any{"handle": "yes", "when": "true"}}},
	},
	{
		Type: "set", Title: gateway.Textf("Set values"), Description: gateway.Textf("Changes arguments of the call, or keeps variables"),
		Handles: steps, New: map[string]any{"arguments": map[string]any{}},
	},
	{
		Type: "approve", Title: gateway.Textf("Ask a person"), Description: gateway.Textf("The call waits until somebody agrees"),
		Handles: []string{handleOut, handleDenied, handleError}, New: map[string]any{"message": ""},
	},
	{
		Type: "tool", Title: gateway.Textf("Another tool"), Description: gateway.Textf("Calls another tool and keeps its result"),
		Handles: steps, New: map[string]any{"tool": "", "arguments": map[string]any{}, "into": "result"},
	},
	{
		Type: "hook", Title: gateway.Textf("Script beside the path"), Description: gateway.Textf("Nobody waits for it: for logs and messages"),
		Beside: true, New: map[string]any{"hook": map[string]any{"blocking": false, "script": ""}},
	},
	{
		Type: "mcp-call", Workflow: PromptsGet, Title: gateway.Textf("Get the prompt"), Description: gateway.Textf("Sends the call on, once on each path"),
		Handles: steps, New: map[string]any{},
	},
	{
		Type: "mcp-call", Workflow: ResourcesRead, Title: gateway.Textf("Read the resource"), Description: gateway.Textf("Sends the call on, once on each path"),
		Handles: steps, New: map[string]any{},
	},
	{
		Type: "mcp-call", Workflow: ToolsList, Title: gateway.Textf("Get the list of tools"), Description: gateway.Textf("Sends the call on, once on each path"),
		Handles: steps, New: map[string]any{},
	},
	{
		Type: "mcp-call", Title: gateway.Textf("Call the tool"), Description: gateway.Textf("Sends the call on, once on each path"),
		Handles: steps, New: map[string]any{},
	},
	{
		Type: "end", Title: gateway.Textf("Refuse"), Description: gateway.Textf("The caller reads why"),
		When: map[string]any{"outcome": "deny"}, New: map[string]any{"outcome": "deny", "message": ""},
	},
	{Type: "end", Title: gateway.Textf("Fail"), Description: gateway.Textf("The workflow fails"), When: map[string]any{"outcome": "error"}},
	{Type: "end", Title: gateway.Textf("End"), Description: gateway.Textf("Returns the answer"), New: map[string]any{}},
	{Type: "start", Title: gateway.Textf("Start"), Description: gateway.Textf("The call begins here"), Handles: []string{handleOut}},
}

// kindOf returns the kind of a node of a workflow of a type; nil if it has none.
func kindOf(n *Node, workflowType string) *Kind {
	var data map[string]any
	_ = json.Unmarshal(n.Data, &data) // Compile reports what cannot be read
	i := slices.IndexFunc(kinds, func(k Kind) bool {
		return k.Type == n.Type && (k.Workflow == "" || k.Workflow == workflowType) && includes(data, k.When)
	})
	if i < 0 {
		return nil
	}
	return &kinds[i]
}

// includes reports whether an object has the members of another one.
func includes(object, part map[string]any) bool {
	for key, want := range part {
		if inner, ok := want.(map[string]any); ok {
			object, _ := object[key].(map[string]any)
			if !includes(object, inner) {
				return false
			}
		} else if object[key] != want {
			return false
		}
	}
	return true
}

// called is the label of a node, or its id if it has none.
func (n *Node) called() string { return or(n.label(), n.ID) }

func (n *Node) label() string {
	var data struct{ Label string }
	_ = json.Unmarshal(n.Data, &data) // Compile reports what cannot be read
	return gateway.Short(data.Label)
}

// nameOf is what editors call a node: its label, or its kind.
func (d *Definition) nameOf(n *Node) gateway.Text {
	if label := n.label(); label != "" {
		return gateway.Textf("%s", label)
	}
	if kind := kindOf(n, d.Type); kind != nil {
		return kind.Title
	}
	return gateway.Textf("%s", gateway.Short(n.ID))
}

// placeOf is what errors of a call name a node by: as nameOf does, and by its id where it has
// no label and there may be others of its kind.
func (d *Definition) placeOf(n *Node) gateway.Text {
	if n.label() == "" && kindOf(n, d.Type) != nil {
		return gateway.Textf("%s (%s)", d.nameOf(n), gateway.Short(n.ID))
	}
	return d.nameOf(n)
}

// callName is what editors call the node that sends the call on.
func (b *Builder) callName() gateway.Text {
	return kindOf(&Node{Type: "mcp-call"}, b.definition.Type).Title
}
