package workflow

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"genkan/internal/gateway"
)

// parsed reads a part of a definition.
func parsed[T any](raw string) (value T) {
	if err := json.Unmarshal([]byte(raw), &value); err != nil {
		panic(err)
	}
	return value
}

func TestProblems(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		flow   string
		change func(d *Definition)
		want   []string
	}{
		"nothing at all": {``, nil, []string{`the workflow has no start node`}},
		"a second start": {"start → mcp → end\nstart2 → end2", nil, []string{`node "start2": it is a second start; a workflow has one`, `node "start2": no path from the start leads to it`, `node "end2": no path from the start leads to it`}},
		"a loop":         {"start → hook → mcp → hook", nil, []string{`node "hook": this is a loop: the path comes back to it`, `node "hook": 2 edges lead to it; only one may`}},
		"two edges to an end": {"start → condition\ncondition -a→ mcp → end\ncondition -else→ end\ncondition: {\"cases\":[{\"handle\":\"a\",\"when\":\"true\"}]}", nil, []string{
			`node "end": 2 edges lead to it; only one may: add another end with + for each of the others`,
		}},
		"a loop elsewhere": {"start → mcp → end\nhook → hook2 → hook", nil, []string{`node "hook": this is a loop: the path comes back to it`, `node "hook": no path from the start leads to it`, `node "hook2": no path from the start leads to it`}},
		"a loop to itself": {"start → mcp → end\nhook → hook", nil, []string{`node "hook": this is a loop: the path comes back to it`, `node "hook": no path from the start leads to it`}},
		"back to the start": {"start → mcp → start", nil, []string{
			`node "start": this is a loop: the path comes back to it`, `node "start": an edge leads to it; nothing comes before the start`,
		}},
		"two to wait for":                 {"start → mcp → end\nstart → hook → end2", nil, []string{`node "start": it leads to “Call the tool” already; only one step can follow it`}},
		"two behind an exit":              {"start → approve → mcp → end\napprove -denied→ end2\napprove -denied→ end3\nend2: {\"label\":\"Not this\",\"outcome\":\"deny\"}", nil, []string{`node "approve": its exit “no” leads to “Not this” already; only one step can follow it`}},
		"a node with a label":             {"start → mcp → hook\nhook: {\"hook\":{\"script\":\"\",\"blocking\":true},\"label\":\"Redact mail\"}", nil, []string{`node "Redact mail": nothing follows it; every path must reach an end: add one with +`}},
		"a script of a node with a label": {"start → hook → mcp → end\nhook: {\"hook\":{\"script\":\"let x = ;\",\"blocking\":true},\"label\":\"Redact mail\"}", nil, []string{`node "Redact mail", line 1, column 27: SyntaxError: w/hook: Line 1:27 Unexpected token ; (and 2 more errors)`}},
		"a path without an end":           {"start → mcp → hook", nil, []string{`node "hook": nothing follows it; every path must reach an end: add one with +`}},
		"only a hook that is not awaited": {"start → beside", nil, []string{`node "start": nothing follows it; every path must reach an end: add one with +`}},
		"after an end":                    {"start → mcp → end → end2", nil, []string{`node "end": an edge leaves it; nothing comes after an end`}},
		"after what nobody waits for":     {"start → mcp → end\nstart → beside → end2", nil, []string{`node "beside": an edge leaves it; nothing can follow a hook that nobody waits for (blocking is false)`}},
		"two calls on a path":             {"start → mcp → hook → mcp2 → end", nil, []string{`node "mcp2": it is the second “Call the tool” on its path; a call is sent once`}},
		"a condition without else":        {"start → condition\ncondition -a→ mcp → end\ncondition: {\"cases\":[{\"handle\":\"a\",\"when\":\"true\"}]}", nil, []string{`node "condition": nothing follows its exit “else”; every path must reach an end of its own: add one with +`}},
		"a condition with other handles": {"start → condition\ncondition -b→ mcp → end\ncondition -else→ mcp2 → end2\ncondition: {\"cases\":[{\"handle\":\"a\",\"when\":\"true\"}]}", nil, []string{
			`node "condition": an edge leaves it by "b", which it does not have; it has [a else error]`, `node "condition": nothing follows its exit “a”; every path must reach an end of its own: add one with +`,
		}},
		"CEL that does not compile": {"start → condition\ncondition -a→ mcp → end\ncondition -else→ mcp2 → end2\ncondition: {\"cases\":[{\"handle\":\"a\",\"when\":\"args.x ==\\n nothing\"}]}", nil, []string{
			`node "condition", line 2, column 2: there is no variable or function nothing; an expression sees request, response, metadata, vars and args`,
		}},
		"a cascade of syntax errors": {"start → mcp → end", func(d *Definition) { d.Match.When = "args.x = = 1" }, []string{
			`line 1, column 8: "Only if" (match.when): syntax error: = is not expected here; == compares`,
		}},
		"a number for a condition": {"start → condition\ncondition -a→ mcp → end\ncondition -else→ mcp2 → end2\ncondition: {\"cases\":[{\"handle\":\"a\",\"when\":\"size(args.message)\"}]}", func(d *Definition) { d.Match.When = "[1]" }, []string{
			`line 1, column 1: "Only if" (match.when): the expression gives a value of type list(int) and must give true or false`,
			`node "condition", line 1, column 1: the expression gives a value of type int and must give true or false`,
		}},
		"a condition of a type that is not known": {"start → mcp → end", func(d *Definition) { d.Match.When = "args.x" }, nil},
		"a script that does not compile":          {"start → hook → mcp → end\nhook: let x = ;", nil, []string{`node "hook", line 1, column 27: SyntaxError: w/hook: Line 1:27 Unexpected token ; (and 2 more errors)`}},
		"an unknown type":                         {"start → magic → mcp → end", nil, []string{`node "magic": there is no node type "magic"`}},
		"a misspelt key of match":                 {"start → mcp → end", func(d *Definition) { d.Match = parsed[Match](`{"tool":["a__b"]}`) }, []string{`match has no key "tool"; its keys are servers, tools, clients, annotations, when`}},
		"a misspelt limit":                        {"start → mcp → end", func(d *Definition) { d.Limits = parsed[Limits](`{"hookMS":1,"total":1}`) }, []string{`"Limits" (limits) has no key "total"; its keys are totalMs, hookMs, hookMemMB, payloadKB, depth, logKB, detachedMax, fetchHosts`}},
		"a state that is too large":               {"start → mcp → end", func(d *Definition) { d.State.MaxKB = 16385 }, []string{`state.maxKB is 16385, and 16384 is the most that it may be`}},
		"a misspelt key of state":                 {"start → mcp → end", func(d *Definition) { d.State = parsed[State](`{"ttl":1}`) }, []string{`state has no key "ttl"; its keys are scope, ttlS, maxKB`}},
		"an unknown module":                       {"start → hook → mcp → end\nhook: {\"hook\":{\"module\":\"none\",\"blocking\":true}}", nil, []string{`node "hook": there is no hook module "none"`}},
		"an unknown template":                     {"start → hook → mcp → end\nhook: {\"hook\":{\"template\":\"none\",\"blocking\":true}}", nil, []string{`node "hook": there is no template "none"`}},
		"a branch to nowhere":                     {"start → hook → mcp → end\nhook: {\"hook\":{\"script\":\"\",\"blocking\":true,\"onError\":\"branch\"}}", nil, []string{`node "hook": nothing follows its exit “fails”, and onError is branch`}},
		"a set that sets nothing":                 {"start → set → mcp → end\nset: {\"vars\":{\"a\":{}}}", nil, []string{`node "set": "a" needs either value or cel`}},
		"an edge to nothing": {"start → mcp → end", func(d *Definition) { d.Edges = append(d.Edges, Edge{Source: "mcp", Target: "x"}) }, []string{
			`an edge leads from "mcp" to "x", and one of them does not exist`,
		}},
		"two nodes with an id": {"start → mcp → end", func(d *Definition) { d.Nodes = append(d.Nodes, Node{ID: "mcp", Type: "mcp-call"}) }, []string{`node "mcp": two nodes have this id`}},
		"settings": {"start → mcp → end", func(d *Definition) {
			d.ID, d.Type, d.Mode, d.FailMode, d.Limits.HookMs = "", "tools/cal", "x", "x", -1
			d.Match = Match{Tools: []string{"delete_repo"}, When: "1 +"}
		}, []string{
			`the workflow has no id`,
			`workflowType is "tools/cal" and must be one of [tools/call tools/list prompts/get resources/read]`,
			`mode is "x" and must be one of [enforce shadow]`, `failMode is "x" and must be one of [closed open]`, `"Limits" (limits.hookMs) is negative`,
			`the tool "delete_repo" matches nothing; tools are matched as server__tool, so write *__delete_repo for the tool of any server`,
			`line 1, column 4: "Only if" (match.when): syntax error: the expression ends too early`,
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := flow("w", c.flow)
			if c.change != nil {
				c.change(d)
			}
			var got []string
			for _, p := range Validate(d, testEnvironment) {
				got = append(got, p.String())
			}
			if !slices.Equal(got, c.want) {
				t.Errorf("got\n%s\nwanted\n%s", strings.Join(got, "\n"), strings.Join(c.want, "\n"))
			}
		})
	}
}

// tally is a type whose nodes count how often they ran.
type tally struct{ runs map[string]int }

func (c tally) Compile(_ *Builder, n *Node) Action {
	id := n.ID
	return Action{Run: func(context.Context, *Run) (string, error) {
		c.runs[id]++
		if strings.HasSuffix(id, "bad") {
			return "", failure("it is bad")
		}
		return "", nil
	}}
}

// drawn is a random graph. What it breaks is in its name.
type drawn struct {
	definition *Definition
	number     int
	t          *rapid.T
}

func (g *drawn) node(kind, data string) string {
	g.number++
	id := fmt.Sprintf("%s%d", kind, g.number)
	if kind == "tally" && rapid.IntRange(0, 5).Draw(g.t, "bad") == 0 {
		id += "bad"
	}
	g.definition.Nodes = append(g.definition.Nodes, Node{ID: id, Type: kind, Data: json.RawMessage(data)})
	return id
}

func (g *drawn) edge(source, handle, target string) {
	e := Edge{Source: source, Target: target}
	if handle != "" {
		e.SourceHandle = &handle
	}
	at := 0
	if n := len(g.definition.Edges); n > 0 {
		at = rapid.IntRange(0, n).Draw(g.t, "place")
	}
	g.definition.Edges = slices.Insert(g.definition.Edges, at, e)
}

// grow adds a valid rest of a path behind a way out of a node.
func (g *drawn) grow(source, handle string, called bool, depth int) {
	if rapid.IntRange(0, 3).Draw(g.t, "beside") == 0 {
		g.edge(source, handle, g.node("hook", `{"hook":{"script":"","blocking":false}}`))
	}
	kinds := []string{"end", "tally", "condition", "tally"}
	if !called {
		kinds = append(kinds, "mcp-call", "mcp-call")
	}
	if depth > 6 {
		kinds = kinds[:1]
	}
	switch kind := rapid.SampledFrom(kinds).Draw(g.t, "kind"); kind {
	case "condition":
		id := g.node(kind, fmt.Sprintf(`{"cases":[{"handle":"a","when":"%v"}]}`, rapid.Bool().Draw(g.t, "case")))
		g.edge(source, handle, id)
		g.grow(id, "a", called, depth+1)
		g.grow(id, handleElse, called, depth+1)
	case "end":
		g.edge(source, handle, g.node(kind, `{}`))
	default:
		id := g.node(kind, `{}`)
		g.edge(source, handle, id)
		if called = called || kind == "mcp-call"; rapid.Bool().Draw(g.t, "error") {
			g.grow(id, handleError, called, depth+1)
		}
		g.grow(id, "", called, depth+1)
	}
}

func draw(t *rapid.T) *drawn {
	g := &drawn{t: t, definition: &Definition{ID: "w", Type: ToolsCall}}
	if rapid.Bool().Draw(t, "open") {
		g.definition.FailMode = open
	}
	g.grow(g.node("start", `{}`), "", false, 0)
	return g
}

func TestValidGraphsRunEachNodeOnceAndEnd(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		g := draw(t)
		runs := tally{map[string]int{}}
		w, problems := Compile(g.definition, &Environment{Compile: testEnvironment.Compile, Types: map[string]NodeType{"tally": runs}})
		if len(problems) > 0 {
			t.Fatalf("%v", problems)
		}
		kept, server := &traces{}, &server{name: "github"}
		e := NewEngine(Options{Runner: inProcess{}, Sink: kept})
		defer e.Close(context.Background())
		if rapid.Bool().Draw(t, "fails") {
			server.answer = func(context.Context, *gateway.Call) (*gateway.Result, error) {
				return nil, gateway.Errorf(gateway.CodeUnavailable, "it is down")
			}
		}
		e.Use(NewSet([]*Workflow{w}))
		b := &bench{server: server}
		result, err := e.Middleware(server).Handle(context.Background(), b.newCall("do", "{}"))
		if (result == nil) == (err == nil) {
			t.Fatalf("%v, %v", result, err)
		}
		for id, n := range runs.runs {
			if n > 1 {
				t.Errorf("%s ran %d times", id, n)
			}
		}
		if len(server.sent) > 1 {
			t.Errorf("sent %d times", len(server.sent))
		}
		run, ok := kept.find(func(t Trace) bool { return !t.Detached })
		if !ok || run.Outcome == "" || run.Sent != (len(server.sent) == 1) && run.Outcome != OutcomePassed {
			t.Errorf("%+v", run)
		}
	})
}

func TestBrokenGraphsAreRefusedWithTheReason(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		g := draw(t)
		d := g.definition
		pick := func(want func(n Node) bool) string {
			var ids []string
			for _, n := range d.Nodes {
				if want(n) {
					ids = append(ids, n.ID)
				}
			}
			if len(ids) == 0 {
				t.Skip("no such node")
			}
			return rapid.SampledFrom(ids).Draw(t, "node")
		}
		is := func(kinds ...string) func(n Node) bool {
			return func(n Node) bool { return slices.Contains(kinds, n.Type) }
		}
		var node, reason string
		switch breakage := rapid.IntRange(0, 6).Draw(t, "breakage"); breakage {
		case 0:
			node, reason = g.node("start", `{}`), "second start"
		case 1:
			node, reason = g.node("end", `{}`), "no path from the start leads to it"
		case 2: // an edge back
			source, target := pick(is("tally", "mcp-call", "condition")), "start1"
			node, reason = target, "nothing comes before the start"
			g.edge(source, "", target)
		case 3:
			node, reason = pick(is("end")), "nothing comes after an end"
			g.edge(node, "", g.node("end", `{}`))
		case 4:
			node = pick(is("tally", "mcp-call"))
			reason = "only one step can follow it"
			g.edge(node, "", g.node("end", `{}`))
		case 5: // a path loses its end
			end := pick(is("end"))
			i := slices.IndexFunc(d.Edges, func(e Edge) bool { return e.Target == end })
			node, reason = d.Edges[i].Source, "every path must reach an end"
			if d.Edges[i].handle() == handleError {
				t.Skip("an error need not lead anywhere")
			}
			d.Nodes = slices.DeleteFunc(d.Nodes, func(n Node) bool { return n.ID == end })
			d.Edges = slices.Delete(d.Edges, i, i+1)
		default: // a second call before an end that has one
			called := pick(is("mcp-call"))
			i := slices.IndexFunc(d.Edges, func(e Edge) bool {
				return e.Source == called && e.handle() == handleOut && !strings.HasPrefix(e.Target, "hook")
			})
			node, reason = g.node("mcp-call", `{}`), "is the second"
			target := d.Edges[i].Target
			d.Edges[i].Target = node
			g.edge(node, "", target)
		}
		problems := Validate(d, &Environment{Compile: testEnvironment.Compile, Types: map[string]NodeType{"tally": tally{map[string]int{}}}})
		if !slices.ContainsFunc(problems, func(p Problem) bool { return p.Node == node && strings.Contains(p.Reason.String(), reason) }) {
			t.Errorf("%s: %s is not among %v", node, reason, problems)
		}
	})
}
