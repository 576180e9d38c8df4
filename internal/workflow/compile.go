package workflow

import (
	"bytes"
	"encoding/json"
	"maps"
	"reflect"
	"slices"

	"genkan/internal/gateway"
)

// Workflow is a definition that was compiled. It is immutable.
type Workflow struct {
	*Definition
	start *step
	match matcher
	// vars are the variables with the secrets that they refer to.
	vars map[string]json.RawMessage
	// secrets are the values of those that refer to secrets.
	secrets []string
	// behind is set if a blocking node stands behind a call: it must see the answer.
	behind bool
}

// step is a node that was compiled.
type step struct {
	Action
	id, kind, label string
	// place is what errors of a call name it by.
	place gateway.Text
	// next is where each way out leads, and beside what it starts.
	next   map[string]*step
	beside map[string][]*step
}

// Validate returns everything that keeps a definition from being enabled.
func Validate(d *Definition, env *Environment) []Problem {
	_, problems := Compile(d, env)
	return problems
}

// Compile prepares a definition to be run. It returns all problems, and no workflow if
// there are any.
func Compile(d *Definition, env *Environment) (*Workflow, []Problem) {
	b := &Builder{env: env, definition: d}
	w := &Workflow{Definition: d}
	b.settings()
	w.vars, w.secrets = b.variables()
	w.match = b.matcher(&d.Match)
	g := b.graph()
	b.check(g)
	if len(b.problems) > 0 {
		return nil, b.problems
	}
	for _, s := range g.steps {
		if s.Role == RoleStart {
			w.start = s
		}
		if s.Role == RoleCall {
			for _, next := range s.next {
				w.behind = w.behind || next.Role != RoleEnd
			}
		}
	}
	return w, nil
}

// settings checks what belongs to no node.
func (b *Builder) settings() {
	d := b.definition
	if d.ID == "" {
		b.Problem("the workflow has no id")
	}
	if d.Type == "" {
		b.Problem("the workflow has no workflowType: tools/call, tools/list, prompts/get or resources/read")
	}
	b.OneOf("workflowType", d.Type, ToolsCall, ToolsList, PromptsGet, ResourcesRead)
	b.OneOf("mode", d.Mode, "enforce", shadow)
	b.OneOf("failMode", d.FailMode, "closed", open)
	b.OneOf("state.scope", d.State.Scope, "run", scopeSession, scopeWorkflow)
	b.OneOf("notifications", d.Notifications, pass, "withhold")
	l := &d.Limits
	for _, err := range []error{d.Match.Check(), unknownKey("limits", l.rest, reflect.TypeOf(*l)), unknownKey("state", d.State.rest, reflect.TypeOf(d.State))} {
		if err != nil {
			b.Problem("%s", gateway.AsError(err))
		}
	}
	for _, limit := range []struct {
		name  string
		value int
	}{
		{"limits.totalMs", l.TotalMs},
		{"limits.hookMs", l.HookMs},
		{"limits.hookMemMB", l.HookMemMB},
		{"limits.payloadKB", l.PayloadKB},
		{"limits.depth", l.Depth},
		{"limits.logKB", l.LogKB},
		{"limits.detachedMax", l.DetachedMax},
		{"state.ttlS", d.State.TTLS},
		{"state.maxKB", d.State.MaxKB},
	} {
		if limit.value < 0 {
			b.Problem("%s is negative", settingName(limit.name))
		}
	}
	if d.State.MaxKB > mostStateKB && !b.env.running() {
		b.Problem("%s is %d, and %d is the most that it may be", settingName("state.maxKB"), d.State.MaxKB, mostStateKB)
	}
}

// variables resolves the variables of a definition.
func (b *Builder) variables() (vars map[string]json.RawMessage, secrets []string) {
	vars = map[string]json.RawMessage{}
	for _, name := range slices.Sorted(maps.Keys(b.definition.Vars)) {
		value, err := b.definition.Vars[name], error(nil)
		if b.env.Variable != nil {
			value, err = b.env.Variable(value)
		}
		if err != nil {
			b.Problem("the variable %q has no value: %s", gateway.Short(name), gateway.AsError(err))
		}
		vars[name] = value
		if secret := ""; err == nil && !bytes.Equal(value, b.definition.Vars[name]) && json.Unmarshal(value, &secret) == nil && secret != "" {
			secrets = append(secrets, secret)
		}
	}
	return vars, secrets
}

// graph is a definition with its nodes compiled.
type graph struct {
	steps map[string]*step
	// order has the ids of the nodes as the definition lists them.
	order []string
	// entering and leaving are the edges of each node.
	entering, leaving map[string][]*Edge
	// loops is set if a path comes back to a node.
	loops bool
}

// graph compiles the nodes and connects them. It reports the problems of single nodes
// and edges.
func (b *Builder) graph() *graph {
	d := b.definition
	g := &graph{steps: map[string]*step{}, entering: map[string][]*Edge{}, leaving: map[string][]*Edge{}}
	if len(d.Nodes) > mostNodes {
		b.Problem("the workflow has %d nodes, and %d are the most that it may have", len(d.Nodes), mostNodes)
		return g
	}
	types := b.env.types()
	for i := range d.Nodes {
		n := &d.Nodes[i]
		b.node = n
		s := &step{id: n.ID, kind: n.Type, label: n.label(), place: d.placeOf(n), next: map[string]*step{}, beside: map[string][]*step{}}
		if t, ok := types[n.Type]; ok {
			s.Action = t.Compile(b, n)
		} else {
			b.Problem("there is no node type %q", gateway.Short(n.Type))
		}
		b.OneOf("onError", s.OnError, onErrorFail, onErrorContinue, onErrorBranch)
		switch g.steps[n.ID] {
		case nil:
			g.steps[n.ID] = s
			g.order = append(g.order, n.ID)
		default:
			b.Problem("two nodes have this id")
		}
	}
	for i := range d.Edges {
		e := &d.Edges[i]
		if g.steps[e.Source] == nil || g.steps[e.Target] == nil {
			b.node = nil
			b.Problem("an edge leads from %q to %q, and one of them does not exist", gateway.Short(e.Source), gateway.Short(e.Target))
			continue
		}
		g.leaving[e.Source] = append(g.leaving[e.Source], e)
		g.entering[e.Target] = append(g.entering[e.Target], e)
	}
	// A loop is reported first: it is why other edges are too many.
	g.loops = b.loops(g)
	for i := range d.Edges {
		e := &d.Edges[i]
		if source, target := g.steps[e.Source], g.steps[e.Target]; source != nil && target != nil {
			b.node = d.node(e.Source)
			b.connect(source, target, source.way(e.handle()))
		}
	}
	for _, s := range g.steps {
		if s.OnError == "" && s.next[handleError] != nil {
			s.OnError = onErrorBranch
		}
	}
	b.node = nil
	return g
}

// connect makes target follow source.
func (b *Builder) connect(source, target *step, handle string) {
	switch {
	case target.Role == RoleDetached:
		source.beside[handle] = append(source.beside[handle], target)
	case source.next[handle] != nil && source.next[handle] != target && source.oneWay(handle):
		b.Problem("it leads to “%s” already; only one step can follow it", b.definition.nameOf(b.definition.node(source.next[handle].id)))
	case source.next[handle] != nil && source.next[handle] != target:
		b.Problem("its exit “%s” leads to “%s” already; only one step can follow it", wayName(handle), b.definition.nameOf(b.definition.node(source.next[handle].id)))
	default:
		source.next[handle] = target
	}
}

// way is the way out that a handle means. Editors name the only one as they like.
func (s *step) way(handle string) string {
	if len(s.Handles) == 0 && handle != handleError && !slices.Contains(s.Optional, handle) {
		return handleOut
	}
	return handle
}

// ways are the ways out that must lead on.
func (s *step) ways() []string {
	switch {
	case s.Role == RoleEnd || s.Role == RoleDetached:
		return nil
	case len(s.Handles) > 0:
		return s.Handles
	default:
		return []string{handleOut}
	}
}

// oneWay reports whether handle is the only way out besides that for failures, so that
// it needs no name.
func (s *step) oneWay(handle string) bool {
	return handle == handleOut && len(s.Handles) == 0 && len(s.Optional) == 0
}

func (d *Definition) node(id string) *Node {
	if i := slices.IndexFunc(d.Nodes, func(n Node) bool { return n.ID == id }); i >= 0 {
		return &d.Nodes[i]
	}
	return nil
}
