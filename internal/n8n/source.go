package n8n

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"sync"
	"time"

	"genkan/internal/gateway"
)

// SourceName is the name of a single instance.
const SourceName = "n8n"

// ExecutionReader reads single executions, with package execution. An *Error becomes the
// error of the answer.
type ExecutionReader interface {
	// Summary answers get_execution.
	Summary(ctx context.Context, n8n Executions, q ExecutionQuery) (ExecutionAnswer, error)
	// Node answers get_execution_by_node.
	Node(ctx context.Context, n8n Executions, q ExecutionQuery) (ExecutionAnswer, error)
}

// ExecutionAnswer is an answer about an execution. Data is encoded as JSON. An empty
// message is the usual one.
type ExecutionAnswer struct {
	Message gateway.Text
	Data    any
}

// Executions opens executions as streams. Client implements it.
type Executions interface {
	// OpenExecution returns the JSON of an execution, with its data if asked.
	OpenExecution(ctx context.Context, id string, data bool) (io.ReadCloser, error)
}

// ExecutionQuery is which part of an execution is wanted. Numbers are nil if they were not
// given.
type ExecutionQuery struct {
	ID, NodeName string
	NodeOffset   *int
	RunIndex     *int
	OutputIndex  *int
	OutputType   string
	ItemOffset   *int
	ItemLimit    *int
	Raw          bool
	// Translate is the language of the answer.
	Translate gateway.Translate
	// Caller is who asks.
	Caller gateway.Caller
}

// Setup is what a source needs beside its client. The zero value is English, without
// executions, and with files only below the folder of local callers.
type Setup struct {
	// Translate is the language of the tools, and Others are those in which the search
	// knows them, too.
	Translate gateway.Translate
	Others    []gateway.Translate
	// Executions reads executions; without it there is no tool for one execution.
	Executions ExecutionReader
	// Folder returns the folder that a caller works in, after checking that it may. It is
	// empty if the caller has none. Without the function local callers work where they
	// say and others have no folder.
	Folder func(ctx context.Context, call *gateway.Call) (string, error)
	// Allowed returns a folder if a caller without one may read files in it, or why not.
	// Without the function such a caller may read no files.
	Allowed func(call *gateway.Call, dir string) (folder string, why gateway.Text)
	// CheckCode returns what is wrong with the JavaScript of a Code node; nil for no
	// check. The code is the body of an async function.
	CheckCode func(code string) error
	// Log gets the errors that agents get, as warnings; nil for none.
	Log *slog.Logger
}

// Source is the gateway.Source of the tools of one instance.
type Source struct {
	client *Client
	Setup
	tools map[string]*tool
	list  []gateway.Tool
	names names
	// searchTime is how long search_executions may take.
	searchTime time.Duration
}

// New returns the source of an instance.
func New(client *Client, setup Setup) *Source {
	s := &Source{client: client, Setup: setup, tools: map[string]*tool{}, searchTime: searchTime}
	for _, one := range toolTable() {
		if one.needsReader && setup.Executions == nil {
			continue
		}
		s.tools[one.name] = &one
		s.list = append(s.list, one.encode(setup.Translate, setup.Others))
	}
	return s
}

// Name returns the name of the instance.
func (s *Source) Name() string { return s.client.name }

// About describes the source.
func (s *Source) About() gateway.About {
	return gateway.About{
		Title:       "n8n",
		Description: gateway.Textf("Workflows and executions of n8n at %s.", s.client.url()).In(s.Translate),
		Instructions: gateway.Textf("n8n automates with workflows. Read and change single nodes of a large workflow: get_workflow with nodeNames, " +
			"update_workflow with operations. An update of a published workflow is a draft until publish: true. " +
			"To find out why a workflow failed: list_executions with status error, get_execution, get_execution_by_node.").In(s.Translate),
	}
}

// Health returns what the last request found. It does not ask the instance.
func (s *Source) Health() gateway.Health {
	if problem := s.client.problem.Load(); problem != nil {
		return gateway.Health{Down: true, Problem: *problem}
	}
	return gateway.Health{}
}

// Check asks the instance whether it can be used. Health has the result.
func (s *Source) Check(ctx context.Context) error { return s.client.Check(ctx) }

const (
	// freshFor is how long the result of a request counts as the state of the instance,
	// and refreshTime how long Refresh waits for another.
	freshFor    = 10 * time.Second
	refreshTime = 2 * time.Second
)

// Refresh asks the instance how it is, unless a request has shown that lately. Health has
// the result.
func (s *Source) Refresh(ctx context.Context) {
	if time.Since(time.Unix(0, s.client.at.Load())) < freshFor {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, refreshTime)
	defer cancel()
	_ = s.Check(ctx) // the client notes the error
}

// List lists the tools.
func (s *Source) List(kind gateway.Kind) []gateway.Tool {
	if kind != gateway.KindTool {
		return nil
	}
	return s.list
}

// answer is what a tool returns.
type answer struct {
	message gateway.Text
	data    any
	// next is the offset of the rest of a list whose data is an array.
	next int
}

// Handle answers a call. An *Error is returned as a result.
func (s *Source) Handle(ctx context.Context, call *gateway.Call) (*gateway.Result, error) {
	t := s.tools[call.Tool.Name]
	if t == nil {
		return nil, gateway.Errorf(gateway.CodeNotFound, "Unknown tool: %s. tools/list names the tools there are", call.Tool.Name)
	}
	in := newArguments(call, t)
	var out answer
	err := in.err
	if err == nil {
		out, err = t.run(ctx, s, call, in)
	}
	if err == nil {
		err = in.err
	}
	if err != nil {
		return s.failure(t, err)
	}
	raw, err := encodeJSON(struct {
		Success bool   `json:"success"`
		Message string `json:"message"`
		Data    any    `json:"data"`
		Next    int    `json:"nextOffset,omitempty"`
	}{true, out.message.In(s.Translate), out.data, out.next})
	if err != nil {
		return nil, err
	}
	return textResult(raw, false)
}

func (s *Source) failure(t *tool, err error) (*gateway.Result, error) {
	var own *Error
	if !errors.As(err, &own) {
		return nil, err
	}
	raw, encodeErr := own.encode(s.Translate)
	if encodeErr != nil {
		return nil, encodeErr
	}
	if s.Log != nil {
		s.Log.Warn("n8n call failed", "instance", s.client.name, "tool", t.name, "error", string(raw))
	}
	return textResult(raw, true)
}

func textResult(text []byte, isError bool) (*gateway.Result, error) {
	fields := map[string]any{"content": []any{map[string]any{"type": "text", "text": string(text)}}}
	if isError {
		fields["isError"] = true
	}
	return gateway.NewResult(fields)
}

// names caches the names of workflows for lists of executions.
type names struct {
	mu    sync.Mutex
	known map[string]knownName
}

type knownName struct {
	name string
	at   time.Time
}

// nameTTL is how long a name is kept, and maxNames how many are.
const (
	nameTTL  = time.Minute
	maxNames = 10_000
)

func (n *names) get(id string) (string, bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	known, ok := n.known[id]
	return known.name, ok && time.Since(known.at) < nameTTL
}

func (n *names) put(id, name string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.known == nil || len(n.known) >= maxNames {
		n.known = map[string]knownName{}
	}
	n.known[id] = knownName{name, time.Now()}
}
