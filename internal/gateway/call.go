package gateway

import (
	"bytes"
	"encoding/json"
	"net/http"
	"sync/atomic"
	"time"
)

// Call is one request on its way to a source. Its bytes are immutable and never
// pooled, so anybody may keep them.
type Call struct {
	// Method is the MCP method, "tools/call" for tools.
	Method string
	// Params is the params object, as it came. Params.Name is the span of the
	// exposed name.
	Params Params
	// Name is what is called, as the caller gave it: the name of a tool or
	// prompt, the URI of a resource or template; Kind tells which.
	Name string
	Kind Kind
	// Tool is where the call goes. Set once, by the catalog.
	Tool *Tool

	// ParamHeaders are the Mcp-Param-* headers of a modern HTTP caller. Those
	// that the tool knows must say what the arguments say; the others are
	// passed on because intermediaries must.
	ParamHeaders http.Header

	Caller
	Terms

	// Parent is the call that made this one, if a workflow, a script or a tool for
	// searching did.
	Parent *Call
	// Attempts counts how often the call was sent, Timing says where its time went, and
	// Sent and Answered are the params that its source got and the result that it
	// returned. Set by the steps that know.
	Attempts       int
	Timing         Timing
	Sent, Answered []byte
	// Saved is how many tokens the caller was spared because the answer was stored and
	// its outline returned. It is negative if the call read a part of a stored answer.
	Saved int
	// Forwarded is set if the call became another call, which is recorded instead of
	// it.
	Forwarded bool
	decoded   bool // whether arguments is set; beside another byte, so that a Call fits its size class

	// OnProgress is what Progressed calls; record sets it before the call is sent.
	OnProgress func(call *Call, params []byte)

	reserved atomic.Int64
	// The following fields are set and read by different goroutines.
	alive     atomic.Pointer[func()]
	answered  atomic.Pointer[func()]
	pause     atomic.Pointer[func() (resume func())]
	token     atomic.Pointer[[]byte]
	arguments map[string]any
}

// Timing is where the time of a call went. The rest is genkan's own.
type Timing struct {
	// Queue is the time that the call waited for its turn, Hooks that of workflows,
	// and Server that of its source, without Asked, in which people were asked
	// something, by the source or by a workflow.
	Queue, Hooks, Server, Asked time.Duration
}

// Caller is who makes a call, what they see, and the way back to them. A call that
// is made on somebody's behalf has their Caller.
type Caller struct {
	Identity Identity
	// Era is the protocol era that the caller speaks.
	Era Era
	// View is what the caller sees.
	View View
	// Session is the caller's session; nil for a caller without one.
	Session *Session
	// Dir is where a caller without a session works, when it said so. DirStated is set
	// if it chose the folder for this call, as a client states its roots; otherwise the
	// folder is only its working directory.
	Dir       string
	DirStated bool
	// Via names the edge the call came through: "http", "sse", "stdio", "rest",
	// and "items" for the REST routes of the knowledge base.
	Via string
	// Translate is the language in which the caller reads what Genkan itself says in an
	// answer; nil for that of the configuration.
	Translate Translate
	// RequestID names the call in the log.
	RequestID string
	// Peer is the way back to the client; nil when it cannot be reached.
	Peer Peer
	// Budget is the memory for calls, of which the caller has a share; nil for no
	// bounds.
	Budget *Shares
}

// Audience returns the client whose lists the caller has to keep to. Administrators look
// after all tools over REST, so they have none there.
func (c *Caller) Audience() string {
	if c.Identity.Admin && (c.Via == ViaREST || c.Via == ViaItems) {
		return ""
	}
	return c.Identity.ClientID
}

// OfPage reports whether the call is one that the pages of the web UI make for
// themselves: an administrator reads or edits the knowledge base there. It is no call of
// an agent, so workflows and what searches learn leave it out; otherwise a person would
// edit, and save, what a workflow has made of an item. A tool that a person runs on the
// page of tools is a call like any other. Sessions of other clients do not count: their
// tokens are in the hands of agents, too, which must not get around workflows.
func (c *Caller) OfPage() bool {
	return c.Via == ViaItems && c.Identity.Page && c.Identity.Admin
}

// The edges that are no MCP.
const (
	ViaREST  = "rest"
	ViaItems = "items"
)

// Terms are the conditions on which a call is carried out.
type Terms struct {
	// Options are the caller's own. What they leave open is as the configuration
	// says for the tool, then as Usual says for callers of this edge, then as for
	// every call.
	Options, Usual ExecuteOptions
	// ReadOnly is set for a call that may only read. It is refused if its tool may
	// change something.
	ReadOnly bool
	// Complete asks for the arguments to be checked against the tool's schema
	// and completed with its defaults. Edges set it for people and programs that
	// are no MCP clients.
	Complete bool
	// Included is set when the call counts as a part of its parent: rate limits
	// count the parent only.
	Included bool
	// Query is the search that led to the call, if the caller says which it was.
	Query string
	// Browsing is set for what a person looks up in the web UI. It is logged and
	// measured, but it is no call of an agent: the history and its events leave it out.
	Browsing bool
	// Whole asks for the final answer: if the server asks for more input first, the
	// caller is asked while the call waits. A workflow that looks at the answer sets it.
	Whole bool
}

// ExecuteOptions say how a call is carried out. Zero values mean the default.
type ExecuteOptions struct {
	// Timeout is how long the call may take, if its caller states it. In the
	// configuration it is how long an attempt may go without a sign of life.
	Timeout time.Duration
	// Retries is how often a call that is safe to repeat may be sent again;
	// NoRetries is never.
	Retries    int
	RetryDelay time.Duration
	// Budget is how many tokens the answer may have; NoBudget is any number. A larger
	// answer is stored, and its outline is returned.
	Budget int
}

// NoRetries asks for one attempt only, and NoBudget for the whole answer.
const NoRetries, NoBudget = -1, -1

// LeastBudget is the smallest budget of an answer, in tokens: its outline needs some
// room.
const LeastBudget = 500

// OnSignOfLife sets the function that SignOfLife calls; execute extends the
// deadline with it.
func (c *Call) OnSignOfLife(f func()) { c.alive.Store(&f) }

// SignOfLife reports that the server is working on the call.
func (c *Call) SignOfLife() {
	if f := c.alive.Load(); f != nil {
		(*f)()
	}
}

// Progressed reports how far the server is, with the params of its notification.
func (c *Call) Progressed(params []byte) {
	if c.OnProgress != nil {
		c.OnProgress(c, params)
	}
}

// ProgressToken is the token that the caller asked for progress with, as JSON; nil if
// it did not ask.
func (c *Call) ProgressToken() []byte {
	if token := c.token.Load(); token != nil {
		return *token
	}
	return c.Params.Get(c.Params.ProgressToken)
}

// SetProgressToken replaces the token when the caller comes back with another one,
// or with none.
func (c *Call) SetProgressToken(token []byte) { c.token.Store(&token) }

// Arguments decodes the tool's arguments, once per call. Numbers keep their
// spelling. The map belongs to the call: to change
// arguments, pass a map to SetArguments.
func (c *Call) Arguments() (map[string]any, error) {
	if c.decoded {
		return c.arguments, nil
	}
	args := map[string]any{}
	if raw := c.Params.Get(c.Params.Arguments); raw != nil {
		if len(raw) > SmallArguments {
			_, size, err := DecodedSize(raw)
			if err == nil {
				err = c.Reserve(size)
			}
			if err != nil {
				return nil, err
			}
		}
		if err := decode(raw, &args); err != nil {
			return nil, &Error{Code: CodeInvalid, Message: "the arguments must be a JSON object", Err: err}
		}
	}
	c.arguments, c.decoded = args, true
	return args, nil
}

// SetArguments replaces the tool's arguments. The rest of the params keeps
// its bytes.
func (c *Call) SetArguments(args map[string]any) error {
	raw, err := encode(args)
	if err != nil {
		return &Error{Code: CodeInvalid, Message: "the new arguments cannot be encoded as JSON", Err: err}
	}
	c.Params = c.Params.withArguments(raw)
	c.arguments, c.decoded = args, true
	return nil
}

// SetRawArguments replaces the tool's arguments by a JSON object.
func (c *Call) SetRawArguments(raw []byte) {
	c.Params = c.Params.withArguments(raw)
	c.arguments, c.decoded = nil, false
}

// Span is a range of bytes in a message. The zero Span means absent.
type Span struct{ Start, End uint32 }

// Present reports whether the span names anything.
func (s Span) Present() bool { return s.End > s.Start }

// Params is the params object of a request, as it came, with the spans of the values
// that genkan reads or replaces. The edge scans it once.
type Params struct {
	Raw []byte

	Name, Arguments, URI, Cursor, Meta Span
	// InputResponses and RequestState are what a modern client sends with a
	// call that was asked for more.
	InputResponses, RequestState Span
	// Task is a legacy client's wish that the call be made a task.
	Task Span

	// In _meta:
	ProgressToken, Version, ClientInfo, ClientCapabilities, LogLevel Span
}

// Get returns the bytes of a span, nil when it is absent.
func (p *Params) Get(s Span) []byte {
	if !s.Present() {
		return nil
	}
	return p.Raw[s.Start:s.End:s.End]
}

// withArguments replaces the arguments' bytes, or adds them.
func (p *Params) withArguments(args []byte) Params {
	q := *p
	var at Span
	var insert []byte
	switch {
	case p.Arguments.Present():
		at, insert = p.Arguments, args
		q.Arguments.End = q.Arguments.Start + uint32(len(args)) //nolint:gosec // messages are at most 32 MiB
	case len(p.Raw) == 0:
		q.Raw = append(append([]byte(`{"arguments":`), args...), '}')
		q.Arguments = Span{13, 13 + uint32(len(args))} //nolint:gosec // as above
		return q
	default:
		insert = append([]byte(`"arguments":`), args...)
		if p.Name.Present() || p.Meta.Present() || len(bytes.TrimSpace(p.Raw[1:len(p.Raw)-1])) > 0 {
			insert = append(insert, ',')
		}
		at = Span{1, 1}
		q.Arguments = Span{1 + 12, 1 + 12 + uint32(len(args))} //nolint:gosec // as above
	}
	raw := make([]byte, 0, len(p.Raw)+len(insert))
	raw = append(raw, p.Raw[:at.Start]...)
	raw = append(raw, insert...)
	q.Raw = append(raw, p.Raw[at.End:]...)
	moved := int64(len(insert)) - int64(at.End-at.Start)
	for _, s := range []*Span{
		&q.Name, &q.URI, &q.Cursor, &q.Meta, &q.InputResponses, &q.RequestState, &q.Task,
		&q.ProgressToken, &q.Version, &q.ClientInfo, &q.ClientCapabilities, &q.LogLevel,
	} {
		if s.Present() && s.Start >= at.End {
			s.Start = uint32(int64(s.Start) + moved) //nolint:gosec // as above
			s.End = uint32(int64(s.End) + moved)     //nolint:gosec // as above
		}
	}
	return q
}

func decode(raw []byte, into *map[string]any) error {
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	return d.Decode(into)
}

func encode(v any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimRight(b.Bytes(), "\n"), nil
}
