package template_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"genkan/internal/gateway"
	"genkan/internal/jsonrpc"
	"genkan/internal/script"
	"genkan/internal/testkit"
	"genkan/internal/workflow"
	"genkan/internal/workflow/template"
)

func TestMain(m *testing.M) {
	script.Main()
	testkit.Main(m)
}

// bench runs the workflows of templates around a server, with real workers.
type bench struct {
	*workflow.Engine
	pool    *script.Pool
	handler gateway.Handler
	// answer is what the server answers, and fails its error.
	answer string
	fails  error
	// session is that of the calls, if it is not empty.
	session string

	mu      sync.Mutex
	sent    []string
	fetched []script.Request
	asked   []workflow.Question
	grant   bool
	traces  []workflow.Trace
}

func newBench(tb testing.TB) *bench {
	tb.Helper()
	b := &bench{pool: script.NewPool(script.Options{QueueTime: 5 * time.Minute})}
	tb.Cleanup(b.pool.Close)
	b.Engine = workflow.NewEngine(workflow.Options{
		Runner: b.pool, Decider: b, Sink: b,
		Fetch: func(_ context.Context, r script.Request) (script.Response, error) {
			b.mu.Lock()
			defer b.mu.Unlock()
			b.fetched = append(b.fetched, r)
			return script.Response{Status: 200}, nil
		},
	})
	tb.Cleanup(func() { b.Close(context.Background()) })
	b.handler = b.Middleware(gateway.HandlerFunc(func(_ context.Context, call *gateway.Call) (*gateway.Result, error) {
		b.mu.Lock()
		defer b.mu.Unlock()
		b.sent = append(b.sent, string(call.Params.Get(call.Params.Arguments)))
		if b.fails != nil {
			return nil, b.fails
		}
		raw := []byte(b.answer)
		return &gateway.Result{Raw: raw, IsError: string(jsonrpc.Lookup(raw, "isError")) == "true"}, nil
	}))
	return b
}

func (b *bench) Decide(_ context.Context, q workflow.Question) (workflow.Decision, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.asked = append(b.asked, q)
	return workflow.Decision{Granted: b.grant}, nil
}

func (b *bench) Trace(t workflow.Trace) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.traces = append(b.traces, t)
}

// use makes the workflows of a template and enables them.
func (b *bench) use(tb testing.TB, id, params string, options template.Options) {
	tb.Helper()
	definitions, err := template.Use(id, json.RawMessage(params), options)
	if err != nil {
		tb.Fatal(err)
	}
	b.enable(tb, definitions)
}

func (b *bench) enable(tb testing.TB, definitions []workflow.Definition) {
	tb.Helper()
	env := b.environment()
	var all []*workflow.Workflow
	for i := range definitions {
		definitions[i].Limits.HookMs = 300_000 // the machine may be busy
		definitions[i].Limits.TotalMs = 300_000
		if testkit.RaceDetector() {
			definitions[i].Limits.HookMemMB = 256 // the detector has a memory of its own for each word
		}
		w, problems := workflow.Compile(&definitions[i], env)
		if len(problems) > 0 {
			tb.Fatalf("%s: %v", definitions[i].ID, problems)
		}
		all = append(all, w)
	}
	b.Use(workflow.NewSet(all))
}

func (b *bench) environment() *workflow.Environment {
	return &workflow.Environment{Template: template.HookOf, Compile: func(name, source string) (*script.Program, error) {
		return b.pool.Compile(context.Background(), name, source)
	}}
}

// server is where the tools of a test are.
type server string

func (s server) Name() string                     { return string(s) }
func (s server) List(gateway.Kind) []gateway.Tool { return nil }
func (s server) Handle(context.Context, *gateway.Call) (*gateway.Result, error) {
	return nil, nil
}

// call calls server__tool as a client, and returns the answer or the error as a text.
// The arguments are left out if they are empty.
func (b *bench) call(client, tool, arguments string) string {
	return b.callMarked(client, tool, `{}`, arguments)
}

func (b *bench) callMarked(client, tool, annotations, arguments string) string {
	params := fmt.Sprintf(`{"name":%q}`, tool)
	if arguments != "" {
		params = fmt.Sprintf(`{"name":%q,"arguments":%s}`, tool, arguments)
	}
	return b.send(workflow.ToolsCall, params, client, tool, annotations)
}

func (b *bench) send(method, raw, client, tool, annotations string) string {
	params, err := jsonrpc.ScanParams([]byte(raw))
	if err != nil {
		panic(err)
	}
	from, name, _ := strings.Cut(tool, "__")
	caller := gateway.Caller{Identity: gateway.Identity{ClientID: client}, RequestID: "1"}
	if b.session != "" {
		caller.Session = &gateway.Session{ID: b.session}
	}
	result, err := b.handler.Handle(context.Background(), &gateway.Call{
		Method: method, Params: params, Name: tool,
		Caller: caller,
		Tool:   &gateway.Tool{Name: name, Exposed: tool, Source: server(from), Definition: []byte(fmt.Sprintf(`{"name":%q,"annotations":%s}`, name, annotations))},
	})
	if err != nil {
		e := gateway.AsError(err)
		return strings.TrimSuffix(e.Code.String()+": "+e.Text()+" "+string(e.RPC), " ")
	}
	return string(result.Raw)
}

// list returns the definitions that a client sees of the tools of a server.
func (b *bench) list(tb testing.TB, client, from string, definitions ...string) (seen []string) {
	tb.Helper()
	var tools []gateway.Tool
	for _, d := range definitions {
		tools = append(tools, gateway.Tool{Name: jsonrpc.LookupText([]byte(d), "name"), Definition: []byte(d)})
	}
	listed, err := b.Tools(context.Background(), gateway.Identity{ClientID: client}, gateway.View{}, server(from), tools)
	if err != nil {
		tb.Fatal(err)
	}
	for _, t := range listed {
		seen = append(seen, string(t.Definition))
	}
	return seen
}

// text is a result with one text.
func text(s string) string {
	raw, _ := json.Marshal(s)
	return `{"content":[{"type":"text","text":` + string(raw) + `}]}`
}

// textOf returns the first text of a result.
func textOf(tb testing.TB, result string) string {
	tb.Helper()
	var r struct{ Content []struct{ Text string } }
	if err := json.Unmarshal([]byte(result), &r); err != nil || len(r.Content) == 0 {
		tb.Fatalf("no text in %s", result)
	}
	return r.Content[0].Text
}
