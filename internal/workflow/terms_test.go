package workflow

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"genkan/internal/gateway"
	"genkan/internal/jsonrpc"
	"genkan/internal/script"
)

// runnerFunc lets a function run scripts.
type runnerFunc func(ctx context.Context, job script.Job) (script.Result, error)

func (f runnerFunc) Run(ctx context.Context, job script.Job) (script.Result, error) {
	return f(ctx, job)
}

// deciderFunc lets a function be a person.
type deciderFunc func(ctx context.Context, q Question) (Decision, error)

func (f deciderFunc) Decide(ctx context.Context, q Question) (Decision, error) { return f(ctx, q) }

func TestApproval(t *testing.T) {
	t.Parallel()
	const asks = `start → approve → mcp → end
		approve: {"message":"Merge it?","timeoutMs":60000}`
	granted := func(context.Context, Question) (Decision, error) { return Decision{Granted: true, By: "anna"}, nil }
	for name, c := range map[string]struct {
		flows  []string
		decide deciderFunc
		want   string
		sent   int
	}{
		"granted":           {[]string{asks}, granted, `{"content"`, 1},
		"denied":            {[]string{asks}, func(context.Context, Question) (Decision, error) { return Decision{Reason: "not on Fridays"}, nil }, `denied: a person whom workflow "w0" asked refused this call: not on Fridays. It was not sent. Do not repeat it, and do not reach the same by another way: ask the user`, 0},
		"denied, no reason": {[]string{asks}, func(context.Context, Question) (Decision, error) { return Decision{}, nil }, `denied: a person whom workflow "w0" asked refused this call. It was not sent. Do not repeat it`, 0},
		"no answer": {[]string{asks}, func(ctx context.Context, _ Question) (Decision, error) {
			<-ctx.Done()
			return Decision{}, ctx.Err()
		}, `refused this call: nobody answered in time whether this call may be made. It was not sent`, 0},
		"nobody to ask": {[]string{asks}, nil, `failed at its node "Ask a person (approve)", so this call was refused and not sent: nobody can be asked`, 0},
		"cannot ask":    {[]string{asks}, func(context.Context, Question) (Decision, error) { return Decision{}, errors.New("no door") }, "no door", 0},
		"another way for denied": {[]string{`start → approve → mcp → end
			approve -denied→ hook → end2
			hook: return {action: 'respond', response: 'perhaps later'}`}, func(context.Context, Question) (Decision, error) { return Decision{}, nil }, "perhaps later", 0},
		"the arguments stay": {[]string{asks, `start → hook → mcp → end
			hook: console.log(1)`}, granted, `{"content"`, 1},
		"the arguments change afterwards": {[]string{asks, `start → hook → mcp → end
			hook: context.request.params.arguments.pr = 2`}, granted, `denied: the arguments were changed after a person had agreed to them`, 0},
		"they change in the same workflow": {[]string{`start → approve → set → mcp → end
			set: {"arguments":{"pr":{"value":2}}}`}, granted, `denied: the arguments were changed after a person had agreed to them`, 0},
		"they change before": {[]string{`start → set → approve → mcp → end
			set: {"arguments":{"pr":{"value":2}}}`}, granted, `{"content"`, 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				var all []*Definition
				for i, lines := range c.flows {
					d := flow("w"+string(rune('0'+i)), lines)
					d.Limits.TotalMs = 1000
					all = append(all, d)
				}
				opt := Options{}
				var asked []Question
				if c.decide != nil {
					opt.Decider = deciderFunc(func(ctx context.Context, q Question) (Decision, error) {
						asked = append(asked, q)
						time.Sleep(30 * time.Second) // a person takes longer than a workflow may
						return c.decide(ctx, q)
					})
				}
				b := newBench(t, opt, all...)
				call := b.newCall("merge", `{"pr":1}`)
				call.Options.Timeout = 2 * time.Second
				got := said(b.handler.Handle(context.Background(), call))
				if !strings.Contains(got, c.want) || len(b.server.sent) != c.sent {
					t.Errorf("%s, sent %d times", got, len(b.server.sent))
				}
				if c.decide != nil && (len(asked) != 1 || !strings.HasPrefix(string(asked[0].Arguments), `{"pr":`) || len(asked[0].Hash) != 64) {
					t.Errorf("%+v", asked)
				}
				// The wait for the person is known apart.
				if wait := 30 * time.Second * time.Duration(len(asked)); call.Timing.Asked < wait || call.Timing.Hooks >= 2*time.Second {
					t.Errorf("asked for %v, workflows took %v", call.Timing.Asked, call.Timing.Hooks)
				}
				b.Close(context.Background())
			})
		})
	}
}

// The time of a run is what the caller has stated, or the workflow's own, whatever is
// less. The server's time is not the workflow's.
func TestBudget(t *testing.T) {
	t.Parallel()
	slow := runnerFunc(func(ctx context.Context, _ script.Job) (script.Result, error) {
		select {
		case <-time.After(400 * time.Millisecond):
			return script.Result{Context: []byte(`{}`)}, nil
		case <-ctx.Done():
			return script.Result{}, &script.Error{Kind: script.Timeout, Message: "it ran longer than it may"}
		}
	})
	const two = `start → hook1 → mcp → hook2 → end`
	for name, c := range map[string]struct {
		total           int
		stated, serving time.Duration
		took            time.Duration
		left            time.Duration // what the call is given
		want            string
	}{
		"enough":                         {1000, 0, time.Hour, time.Hour + 800*time.Millisecond, 0, `{"content"`},
		"too little for the first":       {300, 0, 0, 300 * time.Millisecond, 0, "denied: workflow \"w\" failed at its node \"Script (hook1)\""},
		"too little for the second":      {700, 0, time.Second, 1700 * time.Millisecond, 0, "denied: workflow \"w\" failed at its node \"Script (hook2)\", so the answer"},
		"the caller has little time":     {1000, 300 * time.Millisecond, 0, 300 * time.Millisecond, 0, "denied: workflow \"w\" failed at its node \"Script (hook1)\""},
		"the call gets what is left":     {1000, 2 * time.Second, time.Second, 1800 * time.Millisecond, 1600 * time.Millisecond, `{"content"`},
		"the caller's time ends at last": {1000, time.Second, 500 * time.Millisecond, time.Second, 600 * time.Millisecond, "so the answer to this call is withheld"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				d := flow("w", two)
				d.Limits.TotalMs = c.total
				w, problems := Compile(d, testEnvironment)
				if len(problems) > 0 {
					t.Fatal(problems)
				}
				e := NewEngine(Options{Runner: slow})
				e.Use(NewSet([]*Workflow{w}))
				b := &bench{server: &server{name: "github"}}
				var left time.Duration
				b.server.answer = func(_ context.Context, call *gateway.Call) (*gateway.Result, error) {
					left = call.Options.Timeout
					time.Sleep(c.serving)
					return answer(`{"content":[]}`)(context.Background(), call)
				}
				call := b.newCall("do", "{}")
				call.Options.Timeout = c.stated
				began := time.Now()
				got := said(e.Middleware(b.server).Handle(context.Background(), call))
				if took := time.Since(began); !strings.Contains(got, c.want) || took != c.took || left != c.left || call.Options.Timeout != c.stated {
					t.Errorf("%s after %s; the call was given %s", got, took, left)
				}
				e.Close(context.Background())
			})
		})
	}
}

func TestCallTimeoutOfAWorkflow(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, Options{}, flow("w", `start → mcp → end
			mcp: {"timeoutMs":100}`))
		b.server.answer = func(ctx context.Context, _ *gateway.Call) (*gateway.Result, error) {
			<-ctx.Done()
			return nil, context.Cause(ctx)
		}
		if got := b.call("do", "{}"); !strings.HasPrefix(got, `timeout: github__do gave no answer within the time that workflow "w" allows, which is 100 ms`) {
			t.Error(got)
		}
		b.Close(context.Background())
	})
}

func TestCancelledCallsAreNoFailures(t *testing.T) {
	t.Parallel()
	for _, mode := range []string{"", open} {
		d := flow("w", `start → mcp → hook → end`)
		d.FailMode = mode
		b := newBench(t, Options{}, d)
		ctx, cancel := context.WithCancel(context.Background())
		b.server.answer = func(context.Context, *gateway.Call) (*gateway.Result, error) {
			cancel()
			return &gateway.Result{Raw: []byte(`{"content":[]}`)}, nil
		}
		if got := said(b.handler.Handle(ctx, b.newCall("do", "{}"))); !strings.HasPrefix(got, "canceled: ") {
			t.Error(got)
		}
	}
}

// listener is a client that hears what a server says during a call.
type listener struct {
	mu    sync.Mutex
	heard []string
}

func (l *listener) Notify(method string, params []byte) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.heard = append(l.heard, method+" "+string(params))
}

func (l *listener) Ask(context.Context, string, []byte) ([]byte, error) { return []byte(`{}`), nil }

func TestTextsBesideTheAnswerAreWithheld(t *testing.T) {
	t.Parallel()
	const all = `notifications/progress {"progress":1,"message":"secret"}; notifications/message {"data":"secret"}`
	for name, c := range map[string]struct {
		flow   string
		change func(*Definition)
		want   string
	}{
		"a blocking node behind the call": {"start → mcp → hook → end", nil, `notifications/progress {"progress":1}`},
		"only before it":                  {"start → hook → mcp → end", nil, all},
		"one that nobody waits for":       {"start → mcp → end\nmcp → beside", nil, all},
		"where they may pass":             {"start → mcp → hook → end", func(d *Definition) { d.Notifications = pass }, all},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := flow("w", c.flow)
			if c.change != nil {
				c.change(d)
			}
			b := newBench(t, Options{}, d)
			b.server.answer = func(_ context.Context, call *gateway.Call) (*gateway.Result, error) {
				call.Peer.Notify("notifications/progress", []byte(`{"progress":1,"message":"secret"}`))
				call.Peer.Notify("notifications/message", []byte(`{"data":"secret"}`))
				return &gateway.Result{Raw: []byte(`{"content":[]}`)}, nil
			}
			client := &listener{}
			call := b.newCall("do", "{}")
			call.Peer = client
			if _, err := b.handler.Handle(context.Background(), call); err != nil {
				t.Fatal(err)
			}
			if got := strings.Join(client.heard, "; "); got != c.want || call.Peer != gateway.Peer(client) {
				t.Error(got)
			}
		})
	}
}

func TestAnswersThatAreNotFinal(t *testing.T) {
	t.Parallel()
	d := flow("w", "start → mcp → hook → end")
	d.Notifications = pass
	b := newBench(t, Options{}, d)
	task := b.newCall("do", "{}")
	params, err := jsonrpc.ScanParams([]byte(`{"name":"github__do","task":{"ttl":1}}`))
	if err != nil {
		t.Fatal(err)
	}
	task.Params = params
	if got := said(b.handler.Handle(context.Background(), task)); !strings.HasPrefix(got, `invalid: workflow "w" has to see the answer`) || !strings.HasSuffix(got, "send it again without task, and wait for the answer") || len(b.server.sent) > 0 {
		t.Error(got)
	}
	task.Tool.Definition = []byte(`{"name":"do","execution":{"taskSupport":"required"}}`)
	if got := said(b.handler.Handle(context.Background(), task)); !strings.HasPrefix(got, "denied: github__do works as a task only") || !strings.Contains(got, "must not match this tool") || len(b.server.sent) > 0 {
		t.Error(got)
	}
	var whole bool
	b.server.answer = func(_ context.Context, call *gateway.Call) (*gateway.Result, error) {
		whole = call.Whole
		return &gateway.Result{Raw: []byte(`{"resultType":"task"}`), Type: gateway.ResultOther}, nil
	}
	if got := b.call("do", "{}"); !strings.HasPrefix(got, `denied: workflow "w" has to see the answer`) || !whole {
		t.Error(got)
	}
}

func TestAnswersForModernClients(t *testing.T) {
	t.Parallel()
	b := newBench(t, Options{}, flow("w", `start → hook → end
		hook: return {action: 'respond', response: 'x'}`))
	call := b.newCall("do", "{}")
	call.Era = gateway.EraModern
	if got := said(b.handler.Handle(context.Background(), call)); got != `{"resultType":"complete","content":[{"type":"text","text":"x"}]}` {
		t.Error(got)
	}
}

func TestStructuredContentIsChecked(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ script, want string }{
		"it fits":                {"context.response.structuredContent.n = 2", `{"content":[],"structuredContent":{"n":2}}`},
		"it does not fit":        {"context.response.structuredContent.n = 'x'", `denied: workflow "w" failed at its node "Script (hook)", so the answer`},
		"it is removed":          {"delete context.response.structuredContent", `denied: workflow "w" failed at its node "Script (hook)", so the answer`},
		"it is untouched":        {"context.response.content.push({type: 'text', text: 'x'})", `{"content":[{"type":"text","text":"x"}],"structuredContent":{"n":1}}`},
		"an error has no schema": {"context.response = {content: [], isError: true}", `{"content":[],"isError":true}`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t, Options{CheckOutput: func(_ *gateway.Tool, structured []byte) error {
				if string(structured) != `{"n":2}` {
					return gateway.Errorf(gateway.CodeInvalid, "n must be a number")
				}
				return nil
			}}, flow("w", "start → mcp → hook → end\nhook: "+c.script))
			b.server.answer = answer(`{"content":[],"structuredContent":{"n":1}}`)
			call := b.newCall("do", "{}")
			call.Tool.Definition = []byte(`{"outputSchema":{}}`)
			if got := said(b.handler.Handle(context.Background(), call)); !strings.HasPrefix(got, c.want) {
				t.Error(got)
			}
		})
	}
}

// What a hook makes of content must be readable by clients. What the server said is its own.
func TestContentIsChecked(t *testing.T) {
	t.Parallel()
	const ok, wrong = `{"content":[`, `denied: workflow "w" failed at its node "Script (hook)", so the answer`
	for name, c := range map[string]struct{ script, want string }{
		"a text is changed":           {"context.response.content[0].text = 'b'", ok},
		"a text becomes a number":     {"context.response.content[0].text = 5", wrong},
		"a text is removed":           {"delete context.response.content[0].text", wrong},
		"an item has no type":         {"context.response.content.push({text: 'x'})", wrong},
		"an item is a text":           {"context.response.content.push('x')", wrong},
		"an image has no data":        {"context.response.content.push({type: 'image', mimeType: 'image/png'})", wrong},
		"an image is added":           {"context.response.content.push({type: 'image', mimeType: 'image/png', data: ''})", ok},
		"a type that is not known":    {"context.response.content.push({type: 'smell'})", ok},
		"the server's item is odd":    {"context.response.content[0].text = 'b'; /* content[1] stays */", ok},
		"an item is removed":          {"context.response.content.shift()", ok},
		"an item is added before":     {"context.response.content.unshift({type: 'text', text: 'x'})", ok},
		"items around the odd one":    {"context.response.content.unshift({type: 'text', text: 'x'}); context.response.content.push({type: 'text', text: 'y'})", ok},
		"a text becomes an image":     {"context.response.content[0].type = 'image'", wrong},
		"a text is added as a number": {"context.response.content[1] = {type: 'text', text: 5}", wrong},
		"an odd item gets more":       {"context.response.content[1].more = 5", ok},
		"an odd item changes type":    {"context.response.content[1] = {type: 'image', text: 5}", wrong},
		"an answer is made before":    {"return {action: 'respond', response: {content: [{type: 'text', text: 'x'}]}}", ok},
		"a wrong answer is made":      {"return {action: 'respond', response: {content: [{type: 'text', text: 1}]}}", wrong},
		"a text alone is an answer":   {"context.response = 'x'", ok},
		"structured content is free":  {"context.response.structuredContent = {text: 5}", ok},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t, Options{}, flow("w", "start → mcp → hook → end\nhook: "+c.script))
			b.server.answer = answer(`{"content":[{"type":"text","text":"a"},{"type":"text","odd":1}]}`)
			if got := said(b.handler.Handle(context.Background(), b.newCall("do", "{}"))); !strings.HasPrefix(got, c.want) {
				t.Error(got)
			}
		})
	}
}

// A hook that may leave members out is not held to a schema that no client checks.
func TestPartialStructuredContent(t *testing.T) {
	t.Parallel()
	b := newBench(t, Options{CheckOutput: func(*gateway.Tool, []byte) error {
		return gateway.Errorf(gateway.CodeInvalid, "n is required")
	}}, flow("w", `start → mcp → hook → end
		hook: {"hook":{"blocking":true,"partial":true,"script":"delete context.response.structuredContent.n"}}`))
	b.server.answer = answer(`{"content":[],"structuredContent":{"n":1,"m":2}}`)
	call := b.newCall("do", "{}")
	call.Tool.Definition = []byte(`{"outputSchema":{}}`)
	if got := said(b.handler.Handle(context.Background(), call)); !strings.Contains(got, "is withheld") {
		t.Errorf("a client that checks got %s", got)
	}
	last := b.traces.all[len(b.traces.all)-1]
	if got := last.Steps[1].Error; got != "the hook left out what the tool's outputSchema asks for: n is required. Enable the tools/list workflow that belongs to this one, which tells clients so" {
		t.Error(got)
	}
	const want = `{"content":[],"structuredContent":{"m":2}}`
	replayed := b.Rehearse(context.Background(), b.Set().Workflow("w"), Past{Call: call, Answer: &gateway.Result{Raw: []byte(`{"content":[],"structuredContent":{"n":1,"m":2}}`)}})
	if got := said(replayed.Result, replayed.Err); got != want {
		t.Errorf("a replay: %s", got)
	}
	call = b.newCall("do", "{}")
	call.Tool.Definition, call.Identity.Admin, call.Via = []byte(`{"outputSchema":{}}`), true, gateway.ViaREST
	if got := said(b.handler.Handle(context.Background(), call)); got != want {
		t.Errorf("an administrator over REST: %s", got)
	}
}

func TestPromptsAndResources(t *testing.T) {
	t.Parallel()
	redact := `start → mcp → hook → end
		hook: const c = context.response.contents || context.response.messages; c[0].text = '***'`
	for method, c := range map[string]struct {
		kind                 gateway.Kind
		params, answer, want string
	}{
		PromptsGet:    {gateway.KindPrompt, `{"name":"github__p"}`, `{"messages":[{"text":"secret"}]}`, `{"messages":[{"text":"***"}]}`},
		ResourcesRead: {gateway.KindResource, `{"uri":"file:///x"}`, `{"contents":[{"uri":"file:///x","text":"secret"}]}`, `{"contents":[{"uri":"file:///x","text":"***"}]}`},
	} {
		t.Run(method, func(t *testing.T) {
			t.Parallel()
			d := flow("w", redact)
			d.Type = method
			b := newBench(t, Options{}, d)
			b.server.answer = answer(c.answer)
			call := b.newCall("p", "{}")
			params, err := jsonrpc.ScanParams([]byte(c.params))
			if err != nil {
				t.Fatal(err)
			}
			call.Method, call.Params, call.Tool.Kind = method, params, c.kind
			if got := said(b.handler.Handle(context.Background(), call)); got != c.want {
				t.Error(got)
			}
			if trace, ok := b.traces.find(func(Trace) bool { return true }); !ok || trace.Tool != "" {
				t.Errorf("the trace names the tool %q", trace.Tool)
			}
			if string(call.Params.Raw) != c.params {
				t.Errorf("sent %s", call.Params.Raw)
			}
		})
	}
}

func TestFetchReachesOnlyNamedHosts(t *testing.T) {
	t.Parallel()
	for url, want := range map[string]string{
		"https://api.example.com/x":     `{"content":[{"type":"text","text":"fetched"}]}`,
		"https://example.com.evil/x":    "is not among limits.fetchHosts",
		"https://api.example.com@evil/": "the host evil is not among",
		"file:///etc/passwd":            "fetch needs an http or https URL",
	} {
		d := flow("w", `start → hook → end
			hook: return {action: 'respond', response: fetch(context.request.params.arguments.url)}`)
		d.Limits.FetchHosts = []string{"*.example.com"}
		b := newBench(t, Options{Fetch: func(context.Context, script.Request) (script.Response, error) {
			return script.Response{Status: 200, Body: "fetched"}, nil
		}}, d)
		if got := b.call("do", `{"url":"`+url+`"}`); !strings.Contains(got, want) {
			t.Errorf("%s: %s", url, got)
		}
	}
}

// Calls that become other calls are left to those.
func TestForwardersAreLeftAlone(t *testing.T) {
	t.Parallel()
	b := newBench(t, Options{}, flow("w", `start → end
		end: {"outcome":"deny"}`))
	call := b.newCall("call_tool", "{}")
	call.Tool.Source = forwarder{b.server}
	if _, err := b.handler.Handle(context.Background(), call); err != nil {
		t.Error(err)
	}
}

type forwarder struct{ *server }

func (forwarder) Forwards() {}

// What is left five seconds after the end began is given up, and that is recorded.
func TestShutdownDrains(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var done int
		kept := &traces{}
		d := flow("w", `start → beside
			start → mcp → end`)
		w, problems := Compile(d, testEnvironment)
		if len(problems) > 0 {
			t.Fatal(problems)
		}
		e := NewEngine(Options{Sink: kept, Runner: runnerFunc(func(ctx context.Context, _ script.Job) (script.Result, error) {
			select {
			case <-time.After(3 * time.Second):
				kept.mu.Lock()
				done++
				kept.mu.Unlock()
				return script.Result{}, nil
			case <-ctx.Done():
				return script.Result{}, context.Cause(ctx)
			}
		})})
		e.Use(NewSet([]*Workflow{w}))
		b := &bench{server: &server{name: "github"}}
		for range 3*mostDetached - 2 {
			if _, err := e.Middleware(b.server).Handle(context.Background(), b.newCall("do", "{}")); err != nil {
				t.Fatal(err)
			}
		}
		began := time.Now()
		e.Close(context.Background())
		outcomes := map[string]int{}
		for _, trace := range kept.all {
			if trace.Detached {
				outcomes[trace.Outcome]++
			}
		}
		if took := time.Since(began); took != drainTime || done != mostDetached || outcomes[OutcomeOK] != mostDetached ||
			outcomes[OutcomeFailed] != mostDetached || outcomes[StatusDropped] != mostDetached-2 {
			t.Errorf("%s, %d done, %v", took, done, outcomes)
		}
	})
}

func TestReplaySendsNothing(t *testing.T) {
	t.Parallel()
	d := flow("w", `start → hook → mcp → hook2 → end
		hook: context.request.params.arguments.a = 2; state.set('n', 1)
		hook2: context.response.content[0].text += '!'`)
	b := newBench(t, Options{}, d)
	call := b.newCall("do", `{"a":1}`)
	result, trace, err := b.Replay(context.Background(), b.Set().Workflow("w"), call, &gateway.Result{Raw: []byte(`{"content":[{"type":"text","text":"then"}]}`)})
	if got := said(result, err); got != `{"content":[{"type":"text","text":"then!"}]}` || !trace.Changed || len(trace.Steps) != 4 {
		t.Errorf("%s, %+v", got, trace)
	}
	if len(b.server.sent) > 0 || string(call.Params.Get(call.Params.Arguments)) != `{"a":1}` {
		t.Errorf("sent %v", b.server.sent)
	}
	if patch := string(trace.Steps[0].PatchJSON()); patch != `[{"op":"replace","path":"/request/params/arguments/a","value":2}]` {
		t.Error(patch)
	}
}

func TestVariablesMayReferToSecrets(t *testing.T) {
	t.Parallel()
	env := *testEnvironment
	env.Variable = func(value json.RawMessage) (json.RawMessage, error) {
		if string(value) == `"${secret:KEY}"` {
			return []byte(`"k-1"`), nil
		}
		return nil, gateway.Errorf(gateway.CodeNotFound, "there is no such secret")
	}
	d := flow("w", `start → set → mcp → end
		set: {"arguments":{"key":{"cel":"vars.key"}}}`)
	d.Vars = map[string]json.RawMessage{"key": []byte(`"${secret:KEY}"`)}
	w, problems := Compile(d, &env)
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	b := newBench(t, Options{})
	b.Use(NewSet([]*Workflow{w}))
	b.call("do", "{}")
	if b.server.sent[0] != `{"key":"k-1"}` {
		t.Error(b.server.sent)
	}
	d.Vars["key"] = []byte(`"${secret:NONE}"`)
	if problems := Validate(d, &env); len(problems) != 1 || problems[0].String() != `the variable "key" has no value: there is no such secret` {
		t.Error(problems)
	}
}

// Whatever a script leaves, the engine answers or refuses, and never changes the tool.
func FuzzHookResult(f *testing.F) {
	f.Add([]byte(`{"request":{"method":"tools/call","params":{"name":"github__do","arguments":{"a":2}}}}`), []byte(`null`), false)
	f.Add([]byte(`{}`), []byte(`{"action":"respond","response":{"content":[]}}`), true)
	f.Add([]byte(`{"response":{"content":[1],"resultType":"input_required"}}`), []byte(`{"action":"deny","reason":1}`), true)
	f.Add([]byte(`{"request":{"params":{"arguments":[],"arguments":{}}}}`), []byte(`{"action":"continue","request":null}`), false)
	f.Fuzz(func(t *testing.T, after, returned []byte, behind bool) {
		lines := "start → hook → mcp → end"
		if behind {
			lines = "start → mcp → hook → end"
		}
		w, problems := Compile(flow("w", lines), testEnvironment)
		if len(problems) > 0 {
			t.Fatal(problems)
		}
		e := NewEngine(Options{Runner: runnerFunc(func(context.Context, script.Job) (script.Result, error) {
			return script.Result{Context: after, Returned: returned}, nil
		})})
		e.Use(NewSet([]*Workflow{w}))
		b := &bench{server: &server{name: "github"}}
		b.server.answer = func(_ context.Context, call *gateway.Call) (*gateway.Result, error) {
			params, err := jsonrpc.ScanParams([]byte(string(call.Params.Raw)))
			if err != nil || jsonrpc.LookupText(params.Raw, "name") != "github__do" || jsonrpc.CheckUnique(call.Params.Raw) != nil {
				t.Errorf("sent %s: %v", call.Params.Raw, err)
			}
			return &gateway.Result{Raw: []byte(`{"content":[{"type":"text","text":"done"}]}`)}, nil
		}
		result, err := e.Middleware(b.server).Handle(context.Background(), b.newCall("do", `{"a":1}`))
		if err != nil {
			if code := gateway.AsError(err).Code; code != gateway.CodeDenied {
				t.Errorf("%s: %v", code, err)
			}
			return
		}
		if list := jsonrpc.Lookup(result.Raw, "content"); len(list) == 0 || list[0] != '[' {
			t.Errorf("answered %s", result.Raw)
		}
	})
}

// A call that waited for a person is sent only if its caller may still make it, whatever
// the workflow makes of a refusal.
func TestACallThatWaitedIsCheckedAgain(t *testing.T) {
	t.Parallel()
	for name, lines := range map[string]string{
		"granted": "start → approve → mcp → end",
		"denied":  "start → approve → mcp → end\napprove -denied→ mcp2 → end2",
	} {
		for _, may := range []bool{true, false} {
			opt := Options{
				Decider: deciderFunc(func(context.Context, Question) (Decision, error) { return Decision{Granted: name == "granted"}, nil }),
				Recheck: func(_ context.Context, call *gateway.Call) error {
					if may {
						return nil
					}
					return gateway.Errorf(gateway.CodeUnauthenticated, "the token %q was revoked", call.Identity.ClientID)
				},
			}
			d := flow("w", lines)
			d.FailMode = open
			b := newBench(t, opt, d)
			got := b.call("merge", `{}`)
			if may != strings.HasPrefix(got, `{"content"`) || may == strings.Contains(got, `its caller may not make it any more: the token "anna" was revoked`) || may != (len(b.server.sent) == 1) {
				t.Errorf("%s, %t: %s, sent %v", name, may, got, b.server.sent)
			}
		}
	}
	// So is a call whose workflow has called tools of which the innermost waited.
	asks, calls := flow("asks", "start → approve → mcp → end"), flow("calls", "start → tool → mcp → end\ntool: {\"tool\":\"github__asks\"}")
	asks.Match.Tools, calls.Match.Tools = []string{"github__asks"}, []string{"github__calls"}
	outer := flow("outer", "start → hook → mcp → end\nhook: await call('github__calls', {})")
	outer.Match.Tools = []string{"github__merge"}
	nested := newBench(t, Options{
		Decider: deciderFunc(func(context.Context, Question) (Decision, error) { return Decision{Granted: true}, nil }),
		Recheck: func(_ context.Context, call *gateway.Call) error {
			if call.Name == "github__merge" {
				return errors.New("revoked")
			}
			return nil
		},
	}, asks, calls, outer)
	if got := nested.call("merge", `{}`); !strings.Contains(got, "its caller may not make it any more") || len(nested.server.sent) != 2 {
		t.Errorf("a call around one that waited: %s, sent %v", got, nested.server.sent)
	}
	b := newBench(t, Options{Recheck: func(context.Context, *gateway.Call) error { return errors.New("asked") }}, flow("w", "start → hook → mcp → end\nhook: 1"))
	if got := b.call("merge", `{}`); !strings.HasPrefix(got, `{"content"`) {
		t.Errorf("a call that did not wait: %s", got)
	}
}
