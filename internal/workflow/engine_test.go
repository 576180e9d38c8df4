package workflow

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"genkan/internal/gateway"
	"genkan/internal/jsonrpc"
	"genkan/internal/testkit"
)

// server is a source whose answers a test writes.
type server struct {
	name   string
	answer func(ctx context.Context, call *gateway.Call) (*gateway.Result, error)

	mu   sync.Mutex
	sent []string
}

func (s *server) Name() string                     { return s.name }
func (s *server) List(gateway.Kind) []gateway.Tool { return nil }

func (s *server) Handle(ctx context.Context, call *gateway.Call) (*gateway.Result, error) {
	s.mu.Lock()
	s.sent = append(s.sent, string(call.Params.Get(call.Params.Arguments)))
	s.mu.Unlock()
	if s.answer == nil {
		return &gateway.Result{Raw: []byte(`{"content":[{"type":"text","text":"done"}]}`)}, nil
	}
	return s.answer(ctx, call)
}

func answer(raw string) func(context.Context, *gateway.Call) (*gateway.Result, error) {
	return func(context.Context, *gateway.Call) (*gateway.Result, error) {
		return &gateway.Result{Raw: []byte(raw)}, nil
	}
}

// traces keeps what the engine reports.
type traces struct {
	mu  sync.Mutex
	all []Trace
}

func (t *traces) Trace(trace Trace) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.all = append(t.all, trace)
}

func (t *traces) find(want func(Trace) bool) (Trace, bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, trace := range t.all {
		if want(trace) {
			return trace, true
		}
	}
	return Trace{}, false
}

// bench has an engine around one server.
type bench struct {
	*Engine
	server  *server
	traces  *traces
	handler gateway.Handler
}

func newBench(tb testing.TB, opt Options, definitions ...*Definition) *bench {
	tb.Helper()
	b := &bench{server: &server{name: "github"}, traces: &traces{}}
	opt.Sink = b.traces
	if opt.Runner == nil {
		opt.Runner = inProcess{}
	}
	if opt.Call == nil {
		opt.Call = gateway.HandlerFunc(func(ctx context.Context, call *gateway.Call) (*gateway.Result, error) {
			call.Tool = &gateway.Tool{Name: strings.TrimPrefix(call.Name, "github__"), Exposed: call.Name, Source: b.server}
			return b.handler.Handle(ctx, call)
		})
	}
	b.Engine = NewEngine(opt)
	b.use(tb, definitions...)
	b.handler = b.Middleware(b.server)
	tb.Cleanup(func() { b.Close(context.Background()) })
	return b
}

func (b *bench) use(tb testing.TB, definitions ...*Definition) {
	tb.Helper()
	var all []*Workflow
	for _, d := range definitions {
		w, problems := Compile(d, testEnvironment)
		if len(problems) > 0 {
			tb.Fatalf("%s: %v", d.ID, problems)
		}
		all = append(all, w)
	}
	b.Use(NewSet(all))
}

// newCall makes a call of a tool of the bench's server.
func (b *bench) newCall(tool, arguments string) *gateway.Call {
	params, err := jsonrpc.ScanParams([]byte(fmt.Sprintf(`{"name":"github__%s","arguments":%s}`, tool, arguments)))
	if err != nil {
		panic(err)
	}
	return &gateway.Call{
		Method: ToolsCall, Params: params, Name: "github__" + tool, Caller: gateway.Caller{Identity: gateway.Identity{ClientID: "anna"}, RequestID: "1"},
		Tool: &gateway.Tool{Name: tool, Exposed: "github__" + tool, Source: b.server, Definition: []byte(`{"name":"` + tool + `"}`)},
	}
}

// call calls a tool, and returns the answer or the error as text.
func (b *bench) call(tool, arguments string) string {
	return said(b.handler.Handle(context.Background(), b.newCall(tool, arguments)))
}

func said(result *gateway.Result, err error) string {
	if err != nil {
		e := gateway.AsError(err)
		return e.Code.String() + ": " + e.Text()
	}
	return string(result.Raw)
}

// flow makes a workflow. Each line is an edge, or a node with its data:
//
//	start → pre → mcp → end
//	mcp -error→ sorry
//	pre: {"hook": …}
//
// The type of a node is its id up to a digit or dot: hook.redact, end2, mcp.
func flow(id, lines string) *Definition {
	d := &Definition{ID: id, Name: id, Type: ToolsCall}
	data := map[string]string{}
	seen := map[string]bool{}
	add := func(node string) string {
		node = strings.TrimSpace(node)
		if !seen[node] {
			seen[node] = true
			d.Nodes = append(d.Nodes, Node{ID: node})
		}
		return node
	}
	for line := range strings.Lines(lines) {
		line = strings.TrimSpace(line)
		node, text, isData := strings.Cut(line, ": ")
		switch {
		case line == "":
		case isData:
			data[add(node)] = text
		default:
			parts := strings.Split(line, "→")
			for i := range len(parts) - 1 {
				source, handle, _ := strings.Cut(parts[i], "-")
				if i > 0 {
					source, handle, _ = strings.Cut(parts[i], "-")
				}
				e := Edge{Source: add(source), Target: add(strings.Split(parts[i+1], "-")[0])}
				if handle = strings.TrimSpace(handle); handle != "" {
					e.SourceHandle = &handle
				}
				d.Edges = append(d.Edges, e)
			}
		}
	}
	for i := range d.Nodes {
		n := &d.Nodes[i]
		n.Type = strings.TrimRight(strings.Split(n.ID, ".")[0], "0123456789")
		switch n.Type {
		case "mcp":
			n.Type = "mcp-call"
		case "hook", "beside":
			hook, _ := encode(map[string]any{"hook": map[string]any{"script": data[n.ID], "blocking": n.Type == "hook"}})
			if !strings.HasPrefix(data[n.ID], `{"hook"`) {
				data[n.ID] = string(hook)
			}
			n.Type = "hook"
		}
		if data[n.ID] != "" {
			n.Data = json.RawMessage(data[n.ID])
		}
	}
	return d
}

func TestConversations(t *testing.T) {
	const plain = `{"content":[{"type":"text","text":"done"}]}`
	upstream := &gateway.Error{Code: gateway.CodeUnavailable, Message: "server github is down", RPC: []byte(`{"code":-1}`)}
	for name, c := range map[string]struct {
		flow     string
		change   func(d *Definition)
		args     string
		answer   string
		fails    error
		want     string // the answer, or a part of the error
		sent     string // arguments that were sent, with a space between calls
		outcome  string
		statuses string
	}{
		"a hook before the call changes arguments, and the rest keeps its bytes": {
			flow: `start → hook → mcp → end
				hook: context.request.params.arguments.q = 'b'; delete context.request.params.arguments.z`,
			args: `{"id": 1234567890123456789, "q":"a","z":[], "1" :1.0}`,
			sent: `{"id":1234567890123456789,"q":"b","1":1.0}`, want: plain, outcome: OutcomeOK, statuses: "ok ok ok",
		},
		"a hook denies": {
			flow: `start → hook → mcp → end
				hook: return {action: 'deny', reason: 'only SELECT'}`,
			want: `denied: workflow "w" refused this call: only SELECT. It was not sent.`, outcome: OutcomeDenied, statuses: "denied",
		},
		"a hook denies with a long reason": {
			flow: `start → hook → mcp → end
				hook: return {action: 'deny', reason: 'x'.repeat(1300)}`,
			want: `denied: workflow "w" refused this call: ` + strings.Repeat("x", 1200) + `…. It was not sent.`, outcome: OutcomeDenied, statuses: "denied",
		},
		"a hook throws a long text": {
			flow: `start → hook → mcp → end
				hook: throw 'x'.repeat(1300)`,
			want: strings.Repeat("x", 1150), outcome: OutcomeFailed, statuses: "error",
		},
		"a hook answers without calling": {
			flow: `start → hook → mcp → end
				hook: return {action: 'respond', response: {content: [{type: 'text', text: 'cached'}]}}`,
			want: `{"content":[{"type":"text","text":"cached"}]}`, outcome: OutcomeOK, statuses: "ok",
		},
		"a hook answers with a text": {
			flow: `start → hook → mcp → end
				hook: return {action: 'respond', response: 'cached'}`,
			want: `{"content":[{"type":"text","text":"cached"}]}`, outcome: OutcomeOK, statuses: "ok",
		},
		"a hook behind the call rewrites both forms of the answer": {
			flow: `start → mcp → hook → end
				hook: const r = ctx.response; r.content[0].text = r.content[0].text.replace(/sk-\w+/, '***'); r.structuredContent.key = '***'`,
			answer: `{"structuredContent": {"id":1234567890123456789, "key":"sk-1"}, "content":[{"type":"text","text":"key sk-1"}],"x":1e2}`,
			want:   `{"structuredContent":{"id":1234567890123456789,"key":"***"},"content":[{"type":"text","text":"key ***"}],"x":1e2}`,
			sent:   `{}`, outcome: OutcomeOK, statuses: "ok ok ok",
		},
		"a hook returns the context": {
			flow: `start → hook → mcp → end
				hook: context.request.params.arguments.a = 1; return context`,
			sent: `{"a":1}`, want: plain, outcome: OutcomeOK, statuses: "ok ok ok",
		},
		"a hook that returns something else fails closed": {
			flow: `start → hook → mcp → end
				hook: return true`,
			want: `denied: workflow "w" failed at its node "Script (hook)", so this call was refused and not sent: the script returned true; it may return nothing`, outcome: OutcomeFailed, statuses: "error",
		},
		"a hook may not change the tool": {
			flow: `start → hook → mcp → end
				hook: context.request.params.name = 'github__delete'`,
			want: `a hook changed request/params/name, and may change request/params/arguments only`, outcome: OutcomeFailed, statuses: "error",
		},
		"a hook that throws fails closed": {
			flow: `start → hook → mcp → end
				hook: throw new Error('no project')`,
			want: `denied: workflow "w" failed at its node "Script (hook)", so this call was refused and not sent: line 1, column 1: Error: no project.`, outcome: OutcomeFailed, statuses: "error",
		},
		"a hook that throws is told by its label": {
			flow: `start → hook → mcp → end
				hook: {"hook":{"script":"throw new Error('x')","blocking":true},"label":"Redact mail"}`,
			want: `denied: workflow "w" failed at its node "Redact mail", so this call was refused and not sent`, outcome: OutcomeFailed, statuses: "error",
		},
		"a hook that throws fails open where that is asked for": {
			flow: `start → hook1 → hook2 → mcp → end
				hook1: context.request.params.arguments.a = 1
				hook2: throw new Error('x')`,
			change: func(d *Definition) { d.FailMode = open },
			sent:   `{}`, want: plain, outcome: OutcomePassed, statuses: "ok error",
		},
		"a hook that throws behind the call hides the answer and what it says": {
			flow: `start → mcp → hook → end
				hook: throw new Error(context.response.content[0].text)`,
			answer: `{"content":[{"type":"text","text":"secret"}]}`, sent: `{}`,
			want: `denied: workflow "w" failed at its node "Script (hook)", so the answer to this call is withheld. The call was carried out, so do not repeat it. Tell the user, who can have the workflow mended`, outcome: OutcomeFailed, statuses: "ok error",
		},
		"a hook that throws behind the call passes the answer where it fails open": {
			flow: `start → mcp → hook → end
				hook: throw new Error('x')`,
			change: func(d *Definition) { d.FailMode = open },
			sent:   `{}`, want: plain, outcome: OutcomePassed, statuses: "ok error",
		},
		"an error branch": {
			flow: `start → hook → mcp → end
				hook -error→ end2
				hook: throw new Error('x')
				end2: {"outcome":"deny","message":"not today"}`,
			want: `refused this call: not today`, outcome: OutcomeDenied, statuses: "error denied",
		},
		"an error that is ignored": {
			flow: `start → hook → mcp → end
				hook: {"hook":{"script":"throw 1","blocking":true,"onError":"continue"}}`,
			sent: `{}`, want: plain, outcome: OutcomeOK, statuses: "error ok ok",
		},
		"an upstream error passes as it is": {
			flow: `start → mcp → hook → end
				hook: `, fails: upstream, sent: `{}`,
			want: "unavailable: server github is down", outcome: OutcomeCall, statuses: "error",
		},
		"an upstream error passes a branch that leaves it alone": {
			flow: `start → mcp → end
				mcp -error→ hook → end2
				hook: console.log('failed')`, fails: upstream, sent: `{}`,
			want: "unavailable: server github is down", outcome: OutcomeCall, statuses: "error ok ok",
		},
		"an error branch answers": {
			flow: `start → mcp → end
				mcp -error→ hook → end2
				hook: return {action: 'respond', response: 'later: ' + context.response.content[0].text}`, fails: upstream, sent: `{}`,
			want: `{"content":[{"type":"text","text":"later: server github is down"}]}`, outcome: OutcomeOK, statuses: "error ok",
		},
		"a condition": {
			flow: `start → condition
				condition -select→ mcp → end
				condition -else→ end2
				condition: {"cases":[{"handle":"select","when":"args.sql.matches('(?i)^select\\\\b')"}]}
				end2: {"outcome":"deny","message":"only SELECT"}`,
			args: `{"sql":"DROP TABLE x"}`, want: "only SELECT", outcome: OutcomeDenied, statuses: "ok denied",
		},
		"a condition on what is not there fails closed": {
			flow: `start → condition
				condition -a→ mcp → end
				condition -else→ mcp2 → end2
				condition: {"cases":[{"handle":"a","when":"args.sql == ''"}]}`,
			want: `case "a": no such key: sql`, outcome: OutcomeFailed, statuses: "error",
		},
		"set fills in an argument": {
			flow: `start → set → hook → mcp → end
				set: {"arguments":{"project":{"cel":"vars.project"},"n":{"cel":"args.big + 1"}},"vars":{"seen":{"value":[1]}}}
				hook: console.log(vars.seen[0] + vars.project)`,
			change: func(d *Definition) { d.Vars = map[string]json.RawMessage{"project": []byte(`"p1"`)} },
			args:   `{"big":1234567890123456789}`, sent: `{"big":1234567890123456789,"n":1234567890123456790,"project":"p1"}`,
			want: plain, outcome: OutcomeOK, statuses: "ok ok ok ok",
		},
		"a tool node": {
			flow: `start → tool → set → mcp → end
				tool: {"tool":"github__whoami","arguments":{"a":{"value":1}},"into":"me"}
				set: {"arguments":{"me":{"cel":"vars.me.content[0].text"}}}`,
			change: func(d *Definition) { d.Match.Tools = []string{"*__do"} },
			sent:   `{"a":1} {"me":"done"}`, want: plain, outcome: OutcomeOK, statuses: "ok ok ok ok",
		},
		"arguments that can be read in two ways": {
			flow: `start → hook → mcp → end
				hook: `, args: `{"a":{"sql":"DROP","sql":"SELECT"}}`,
			want: `invalid: the arguments cannot be checked: `, outcome: "-",
		},
		"an answer that can be read in two ways": {
			flow: `start → mcp → hook → end
				hook: `, answer: `{"content":[{"type":"text","text":"secret","text":"fine","n":1.0}]}`,
			sent: `{}`, want: `{"content":[{"type":"text","text":"fine","n":1.0}]}`, outcome: OutcomeOK, statuses: "ok ok ok",
		},
		"an end without an answer": {
			flow: `start → end`, want: "the path ends without an answer", outcome: OutcomeFailed, statuses: "error",
		},
		"a shared module with params": {
			flow: `start → hook → mcp → end
				hook: {"hook":{"module":"shared","blocking":true,"params":{"by":"me"}}}`,
			sent: `{"by":"me"}`, want: plain, outcome: OutcomeOK, statuses: "ok ok ok",
		},
		"an answer that is no answer": {
			flow: `start → mcp → hook → end
				hook: context.response = {text: 'x'}`,
			sent: `{}`, want: "so the answer to this call is withheld", outcome: OutcomeFailed, statuses: "ok error",
		},
		"a payload that is too large": {
			flow: `start → hook → mcp → end
				hook: `,
			change: func(d *Definition) { d.Limits.PayloadKB = 1 },
			args:   `{"a":"` + strings.Repeat("x", 2000) + `"}`, want: "a hook of this workflow takes at most 1 KB", outcome: OutcomeFailed, statuses: "error",
		},
		"a hook that does not end": {
			flow: `start → hook → mcp → end
				hook: for (;;) {}`,
			change: func(d *Definition) { d.Limits.TotalMs = 20 },
			want:   `denied: workflow "w" failed at its node "Script (hook)"`, outcome: OutcomeFailed, statuses: "timeout",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := flow("w", c.flow)
			if c.change != nil {
				c.change(d)
			}
			b := newBench(t, Options{}, d)
			if c.answer != "" {
				b.server.answer = answer(c.answer)
			}
			if c.fails != nil {
				b.server.answer = func(context.Context, *gateway.Call) (*gateway.Result, error) { return nil, c.fails }
			}
			args := c.args
			if args == "" {
				args = "{}"
			}
			result, err := b.handler.Handle(context.Background(), b.newCall("do", args))
			if got := said(result, err); !strings.Contains(got, c.want) || err == nil && got != c.want {
				t.Errorf("answer: %s\nwanted: %s", got, c.want)
			}
			if got := strings.Join(b.server.sent, " "); got != c.sent {
				t.Errorf("sent %s", got)
			}
			if c.fails != nil && err != nil && !errors.Is(err, c.fails) {
				t.Errorf("another error: %v", err)
			}
			if c.outcome == "-" {
				return
			}
			last := b.traces.all[len(b.traces.all)-1]
			var statuses []string
			for _, s := range last.Steps {
				statuses = append(statuses, s.Status)
			}
			if got := strings.Join(statuses, " "); last.Outcome != c.outcome || got != c.statuses {
				t.Errorf("outcome %s, statuses %s: %+v", last.Outcome, got, last)
			}
		})
	}
}

// A hook that is not blocking runs beside the path, also if its edge comes first.
func TestDetachedHooksRunBesideThePath(t *testing.T) {
	t.Parallel()
	d := flow("w", `start → beside1
		start → hook → mcp → beside2
		mcp → end
		beside1: throw new Error('nobody cares')
		hook: context.request.params.arguments.a = 2
		beside2: context.response.content = []; console.log(JSON.stringify(context.request.params.arguments), context.response.content.length)`)
	b := newBench(t, Options{}, d)
	if got := b.call("do", `{"a":1}`); got != `{"content":[{"type":"text","text":"done"}]}` {
		t.Error(got)
	}
	b.Close(context.Background()) // drains
	failed, ok := b.traces.find(func(t Trace) bool { return t.Detached && t.Steps[0].Node == "beside1" })
	if !ok || failed.Outcome != OutcomeFailed || failed.Steps[0].Status != StatusError {
		t.Errorf("%+v", failed)
	}
	logged, ok := b.traces.find(func(t Trace) bool { return t.Detached && t.Steps[0].Node == "beside2" })
	if !ok || len(logged.Steps[0].Console) != 1 || logged.Steps[0].Console[0].Text != `{"a":2} 0` {
		t.Errorf("%+v", logged)
	}
	// After the end nothing is taken on, and that is recorded.
	b.call("do", `{}`)
	if _, ok := b.traces.find(func(t Trace) bool { return t.Outcome == StatusDropped }); !ok {
		t.Error("nothing was dropped")
	}
}

// A workflow that calls a tool that has a workflow comes to an end.
func TestCallsOfWorkflowsHaveALimit(t *testing.T) {
	t.Parallel()
	for name, lines := range map[string]string{
		"of a script": `start → hook → mcp → end
			hook: await call('github__do', {})`,
		"of a node": `start → tool → mcp → end
			tool: {"tool":"github__do"}`,
		"of a script that nobody waits for": `start → beside
			start → mcp → end
			beside: await call('github__do', {})`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := flow("w", lines)
			d.Limits.Depth = 3
			b := newBench(t, Options{}, d)
			b.call("do", "{}")
			testkit.Eventually(t, func() bool {
				_, ok := b.traces.find(func(t Trace) bool {
					return strings.Contains(t.Steps[0].Error, "calls that workflows make are nested 3 deep here")
				})
				return ok
			}, "no run came to the limit")
			b.Close(context.Background())
			if n := len(b.server.sent); n > 4 {
				t.Errorf("%d calls were sent", n)
			}
		})
	}
}

func TestWorkflowsNestInOrder(t *testing.T) {
	t.Parallel()
	lines := `start → hook1 → mcp → hook2 → end
		hook1: (context.request.params.arguments.way ||= []).push(context.metadata.workflowId)
		hook2: context.response.content.push({type: 'text', text: context.metadata.workflowId})`
	a, c, e := flow("a", lines), flow("c", lines), flow("b", lines)
	a.Order, c.Order, e.Order = 2, 1, 2
	b := newBench(t, Options{}, a, c, e)
	b.server.answer = answer(`{"content":[]}`)
	if got := b.call("do", `{}`); got != `{"content":[{"type":"text","text":"b"},{"type":"text","text":"a"},{"type":"text","text":"c"}]}` {
		t.Error(got)
	}
	if got := b.server.sent[0]; got != `{"way":["c","a","b"]}` {
		t.Error(got)
	}
}

// A call that an inner workflow refuses is a failed call to the outer one.
func TestRefusalsWithinAnotherWorkflow(t *testing.T) {
	t.Parallel()
	refuses := flow("b", `start → hook → mcp → end
		hook: if (context.metadata.toolName != 'other') return {action: 'deny', reason: 'no'}`)
	for name, c := range map[string]struct{ outer, want string }{
		"it passes":        {"start → mcp → hook → end", `denied: workflow "b" refused this call: no. It was not sent.`},
		"it is branched":   {"start → mcp → end\nmcp -error→ hook → end2\nhook: return {action: 'respond', response: 'sorry'}", `{"content":[{"type":"text","text":"sorry"}]}`},
		"of a tool node":   {"start → tool → mcp → end\ntool -error→ mcp2 → end2\ntool: {\"tool\":\"github__refused\"}", `{"content":[{"type":"text","text":"done"}]}`},
		"of a script":      {"start → hook → mcp → end\nhook: try { await call('github__refused', {}) } catch (e) {}", `{"content":[{"type":"text","text":"done"}]}`},
		"of a failed tool": {"start → tool → mcp → end\ntool: {\"tool\":\"github__refused\"}", `denied: workflow "a" failed at its node "Another tool (tool)", so this call was refused and not sent: workflow "b" refused this call: no.`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			outer := flow("a", c.outer)
			outer.Match.Tools = []string{"!*__refused"}
			b := newBench(t, Options{}, outer, refuses)
			tool := "do"
			if strings.Contains(c.outer, "refused") {
				tool = "other"
			}
			if got := b.call(tool, "{}"); !strings.HasPrefix(got, c.want) {
				t.Error(got)
			}
		})
	}
}

func TestMatching(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		match      Match
		tool, args string
		definition string
		want       bool
	}{
		"everything":                   {Match{}, "do", `{}`, ``, true},
		"the server":                   {Match{Servers: []string{"git*"}}, "do", `{}`, ``, true},
		"another server":               {Match{Servers: []string{"slack"}}, "do", `{}`, ``, false},
		"a tool of any server":         {Match{Tools: []string{"*__delete_*"}}, "delete_repo", `{}`, ``, true},
		"all tools but one":            {Match{Tools: []string{"github__*", "!*__do"}}, "do", `{}`, ``, false},
		"only exclusions":              {Match{Tools: []string{"!*__do"}}, "done", `{}`, ``, true},
		"another client":               {Match{Clients: []string{"!anna"}}, "do", `{}`, ``, false},
		"when it holds":                {Match{When: "args.n > 2"}, "do", `{"n":3}`, ``, true},
		"when it does not":             {Match{When: "args.n > 2"}, "do", `{"n":2}`, ``, false},
		"who calls":                    {Match{When: "metadata.clientId == 'anna' && metadata.toolName == 'do'"}, "do", `{}`, ``, true},
		"a tool that says nothing":     {Match{Annotations: map[string]bool{"destructiveHint": true}}, "do", `{}`, ``, true},
		"a tool that only reads":       {Match{Annotations: map[string]bool{"destructiveHint": true}}, "do", `{}`, `{"annotations":{"readOnlyHint":true}}`, false},
		"a tool that destroys nothing": {Match{Annotations: map[string]bool{"destructiveHint": true}}, "do", `{}`, `{"annotations":{"destructiveHint":false}}`, false},
		"a tool that is not read-only": {Match{Annotations: map[string]bool{"readOnlyHint": false}}, "do", `{}`, ``, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := flow("w", `start → end
				end: {"outcome":"deny"}`)
			d.Match = c.match
			b := newBench(t, Options{}, d)
			call := b.newCall(c.tool, c.args)
			if c.definition != "" {
				call.Tool.Definition = []byte(c.definition)
			}
			_, err := b.handler.Handle(context.Background(), call)
			if matched := err != nil; matched != c.want {
				t.Errorf("matched: %v, %v", matched, err)
			}
		})
	}
}

func TestShadowChangesNothing(t *testing.T) {
	t.Parallel()
	d := flow("w", `start → hook → tool → mcp → hook2 → end
		hook: context.request.params.arguments.a = 2; state.set('n', 1)
		tool: {"tool":"github__other"}
		hook2: return {action: 'deny', reason: 'x' + context.response.content.length}`)
	d.Mode = shadow
	b := newBench(t, Options{}, d)
	if got := b.call("do", `{"a":1}`); got != `{"content":[{"type":"text","text":"done"}]}` {
		t.Error(got)
	}
	b.Close(context.Background())
	trace, ok := b.traces.find(func(t Trace) bool { return t.Mode == shadow })
	if !ok || trace.Outcome != OutcomeDenied || trace.Steps[1].Status != StatusSkipped || len(trace.Steps[0].Patch) != 1 {
		t.Errorf("%+v", trace)
	}
	if got := strings.Join(b.server.sent, " "); got != `{"a":1}` {
		t.Error(got)
	}
}

func TestStateOutlivesRuns(t *testing.T) {
	t.Parallel()
	count := `start → hook → end
		hook: const n = (state.get('n') || 0) + 1; state.set('n', n); return {action: 'respond', response: String(n)}`
	for scope, want := range map[string]string{"": "1 1 1", scopeWorkflow: "1 2 3", scopeSession: "1 2 1"} {
		t.Run("scope "+scope, func(t *testing.T) {
			t.Parallel()
			d := flow("w", count)
			d.State.Scope = scope
			b := newBench(t, Options{}, d)
			var got []string
			for _, session := range []string{"s1", "s1", "s2"} {
				call := b.newCall("do", "{}")
				call.Session = &gateway.Session{ID: session}
				result, err := b.handler.Handle(context.Background(), call)
				if err != nil {
					t.Fatal(err)
				}
				text, _ := jsonrpc.TextAt(result.Raw[12:len(result.Raw)-2], "text")
				got = append(got, text)
			}
			if strings.Join(got, " ") != want {
				t.Error(got)
			}
		})
	}
}

// A refusal says either that the call must not be sent again, or when.
func TestRefusalForAWhile(t *testing.T) {
	t.Parallel()
	const once, later = "Do not send it again unchanged: tell the user, who can have the workflow changed", "Wait 40 s, then call it again"
	for returned, c := range map[string]struct {
		want  string
		after time.Duration
	}{
		"retryAfter: 39.2":   {`refused this call: busy. It was not sent. ` + later, 40 * time.Second},
		"retryAfter: 0":      {`refused this call: busy. It was not sent. ` + once, 0},
		"retryAfter: -1":     {once, 0},
		"retryAfter: 1/0":    {once, 0},
		"retryAfter: 1e300":  {"Wait 31536000 s", 365 * 24 * time.Hour},
		`retryAfter: "soon"`: {`the script returned retryAfter "soon", and it must be a number of seconds`, 0},
	} {
		b := newBench(t, Options{}, flow("w", "start → hook → mcp → end\nhook: return {action: 'deny', reason: 'busy.', "+returned+"}"))
		_, err := b.handler.Handle(context.Background(), b.newCall("do", `{}`))
		if e := gateway.AsError(err); e.Code != gateway.CodeDenied || !strings.Contains(e.Text(), c.want) || e.RetryAfter != c.after {
			t.Errorf("%s: %s, after %v", returned, e.Text(), e.RetryAfter)
		}
	}
	b := newBench(t, Options{}, flow("w", "start → mcp → hook → end\nhook: return {action: 'deny', reason: 'busy', retryAfter: 5}"))
	if got := b.call("do", `{}`); !strings.Contains(got, "The call was carried out, so do not repeat it") {
		t.Error(got)
	}
}

// A run that has begun goes on with the version that it began with.
func TestVersionIsPinned(t *testing.T) {
	t.Parallel()
	before := flow("w", `start → mcp → hook → end
		hook: context.response.content[0].text = 'one'`)
	after := flow("w", `start → mcp → hook → end
		hook: context.response.content[0].text = 'two'`)
	b := newBench(t, Options{}, before)
	b.server.answer = func(context.Context, *gateway.Call) (*gateway.Result, error) {
		b.use(t, after)
		return &gateway.Result{Raw: []byte(`{"content":[{"type":"text","text":"done"}]}`)}, nil
	}
	for _, want := range []string{"one", "two"} {
		if got := b.call("do", "{}"); !strings.Contains(got, want) {
			t.Errorf("%s instead of %s", got, want)
		}
	}
}

func TestStatistics(t *testing.T) {
	t.Parallel()
	b := newBench(t, Options{}, flow("w", `start → hook → mcp → end
		hook: if (context.request.params.arguments.bad) throw 1`))
	b.call("do", `{}`)
	b.call("do", `{"bad":true}`)
	// It is killed for its own limit, and not for that of the workflow or the caller.
	for _, limits := range []Limits{{HookMs: 20}, {TotalMs: 20}} {
		endless := flow("w", `start → hook → mcp → end
			hook: for (;;) {}`)
		endless.Limits = limits
		b.use(t, endless)
		b.call("do", `{}`)
	}
	stats := b.Stats("w")
	if s := stats["hook"]; s.Runs != 4 || s.Errors != 3 || s.Killed != 1 || s.P95 == 0 {
		t.Errorf("%+v", stats)
	}
	b.Use(NewSet(nil))
	if len(b.Stats("w")) > 0 {
		t.Error("figures of a workflow that is gone")
	}
}
