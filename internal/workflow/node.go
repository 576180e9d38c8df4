package workflow

import (
	"context"
	"encoding/json"
	"errors"
	"maps"

	"genkan/internal/gateway"
	"genkan/internal/script"
)

// NodeType is a type of nodes. To add a type, implement it in a file of its own and
// name it in Environment.Types.
type NodeType interface {
	// Compile reads the settings of a node and returns what the node does. It reports
	// what is wrong with the settings to the builder.
	Compile(b *Builder, n *Node) Action
}

// Action is what a node does.
type Action struct {
	Role Role
	// Run does it, and returns the way out that it takes; empty for out. Nil does
	// nothing.
	Run func(ctx context.Context, r *Run) (handle string, err error)
	// Handles are the ways out that must lead on. Nil is out alone, for every role
	// but those that have none.
	Handles []string
	// Optional are ways out that need not lead on, besides error.
	Optional []string
	// OnError says what happens if Run fails: fail, continue or branch. Empty is
	// branch for a node with an edge from its handle error, and else fail.
	OnError string
	// Side says on which side of the call it must stand.
	Side Side
}

// Side is the side of the call on which a node works.
type Side uint8

// The sides.
const (
	AnySide Side = iota
	// BeforeCall is that of nodes that refuse or change a call.
	BeforeCall
	// BehindCall is that of nodes that need the answer.
	BehindCall
)

// Role is the place of a node in the graph.
type Role uint8

// The roles.
const (
	// RoleStep is a node that is waited for.
	RoleStep Role = iota
	// RoleStart and RoleEnd are where a run begins and ends.
	RoleStart
	RoleEnd
	// RoleCall sends the call on.
	RoleCall
	// RoleDetached runs beside the path, and nobody waits for it.
	RoleDetached
)

// nodeTypes are the built-in types.
func nodeTypes() map[string]NodeType {
	return map[string]NodeType{
		"start": startNode{}, "end": endNode{}, "mcp-call": callNode{}, "hook": hookNode{},
		"condition": conditionNode{}, "set": setNode{}, "tool": toolNode{}, "approve": approveNode{},
	}
}

// Environment is what definitions are compiled with.
type Environment struct {
	// Compile compiles a script. Its error is a *script.SyntaxError if the script is
	// wrong.
	Compile func(name, source string) (*script.Program, error)
	// Module returns a shared hook module. A reference is a name, or name@version.
	Module func(reference string) (m Module, ok bool)
	// Params checks the params of a hook against the JSON Schema of its module; nil if
	// they are not checked.
	Params func(schema, params json.RawMessage) error
	// Template returns what a hook runs that names a template. Its error says what is
	// wrong with the params.
	Template func(id string, params json.RawMessage) (TemplateHook, error)
	// Variable returns the value of a variable, which may refer to a secret; nil if
	// none can.
	Variable func(value json.RawMessage) (json.RawMessage, error)
	// Types are node types besides the built-in ones.
	Types map[string]NodeType

	// enabled is set for workflows that are enabled already. Rules that are newer than such a
	// workflow do not stop it.
	enabled bool
}

// running reports whether the workflow is enabled already. A nil Environment is for drafts.
func (e *Environment) running() bool { return e != nil && e.enabled }

// TemplateHook is what a hook runs that names a template.
type TemplateHook struct {
	Script string
	// Params are those of the hook, with the defaults of the template.
	Params json.RawMessage
	// Hosts are those that the script may reach, besides limits.fetchHosts.
	Hosts []string
	// Blocking is set if the script changes or refuses calls, so that beside the path it
	// would do nothing.
	Blocking bool
	// Side is where it must stand.
	Side Side
	// State says where its values are kept, whatever the workflow says; no scope if it keeps
	// none.
	State State
}

func (e *Environment) types() map[string]NodeType {
	all := nodeTypes()
	maps.Copy(all, e.Types)
	return all
}

// Problem is something that is wrong with a definition.
type Problem struct {
	// Node is the id of the node that has it; empty for the whole workflow.
	Node string
	// Name is what people call the node: its label, or its id if it has none.
	Name string
	// Case is the handle of the case of a condition that has it; empty if none has.
	Case string
	// Line and Column are places in a script or an expression, from 1; 0 if unknown.
	Line, Column int
	Reason       gateway.Text
}

func (p Problem) String() string { return p.Text().String() }

// Text says which node has the problem, and where.
func (p Problem) Text() gateway.Text {
	switch {
	case p.Node == matchWhen && p.Line > 0:
		return gateway.Textf("line %d, column %d: %s", p.Line, p.Column, p.Reason)
	case p.Line > 0:
		return gateway.Textf("node %q, line %d, column %d: %s", p.Name, p.Line, p.Column, p.Reason)
	case p.Node != "":
		return gateway.Textf("node %q: %s", p.Name, p.Reason)
	default:
		return p.Reason
	}
}

// Builder collects what is wrong with a definition while it is compiled.
type Builder struct {
	env        *Environment
	definition *Definition
	node       *Node
	problems   []Problem
}

// Problem reports that something is wrong with the node.
func (b *Builder) Problem(format string, values ...any) {
	p := Problem{Reason: gateway.Textf(format, values...)}
	if b.node != nil {
		p.Node, p.Name = b.node.ID, b.node.called()
	}
	b.problems = append(b.problems, p)
}

func (b *Builder) problemAt(line, column int, format string, values ...any) {
	b.Problem(format, values...)
	last := &b.problems[len(b.problems)-1]
	last.Line, last.Column = line, column
}

// Data decodes the node's settings.
func (b *Builder) Data(into any) {
	if len(b.node.Data) == 0 {
		return
	}
	if err := json.Unmarshal(b.node.Data, into); err != nil {
		b.Problem("its data cannot be read: %s", err.Error())
	}
}

// OneOf checks that a setting is one of several words.
func (b *Builder) OneOf(setting, value string, words ...string) {
	for _, word := range words {
		if value == word {
			return
		}
	}
	if value != "" {
		b.Problem("%s is %q and must be one of %v", setting, gateway.Short(value), words)
	}
}

// Script compiles a script.
func (b *Builder) Script(source string) *script.Program {
	name := b.definition.ID + "/" + b.node.ID
	program, err := b.env.Compile(name, source)
	var e *script.SyntaxError
	switch {
	case err == nil:
	case errors.As(err, &e):
		b.problemAt(e.Line, e.Column, "%s", e.Text())
	default:
		b.Problem("%s", err.Error())
	}
	return program
}
