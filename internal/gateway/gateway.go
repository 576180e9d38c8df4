// Package gateway has the types that all other packages share: Call, Result, Error,
// Source, View. It is to tool calls what net/http is to requests. It imports the
// standard library only, so that packages can work together without knowing each
// other.
package gateway

import (
	"context"
	"encoding/json"
	"time"
)

// MetaPrefix begins the keys of _meta that only genkan sets. They are removed from
// what servers send.
const MetaPrefix = "genkan/"

// Handler answers a call. A tool's own failure is a Result with IsError; an
// error means that the call did not reach the tool or got no answer from it,
// and is an *Error wherever genkan made it.
type Handler interface {
	Handle(ctx context.Context, call *Call) (*Result, error)
}

// HandlerFunc lets a function be a Handler.
type HandlerFunc func(ctx context.Context, call *Call) (*Result, error)

// Handle calls f.
func (f HandlerFunc) Handle(ctx context.Context, call *Call) (*Result, error) { return f(ctx, call) }

// Middleware wraps a Handler. It may refuse calls and change them and their results;
// it never gives a caller more rights.
type Middleware func(Handler) Handler

// Chain wraps h with middlewares, of which the first is the outermost.
func Chain(h Handler, middlewares ...Middleware) Handler {
	for i := len(middlewares) - 1; i >= 0; i-- {
		h = middlewares[i](h)
	}
	return h
}

// Tool is one tool. A source fills in what it knows (Name, Definition, hints);
// the catalog adds the rest when it resolves names, so that nothing about a
// tool is computed while a call waits.
type Tool struct {
	// Kind is tool, prompt, resource or template.
	Kind Kind
	// Name is the tool's name in its source; a resource's URI, a template's
	// URI template.
	Name string
	// Definition is the JSON object of the list, as the source sent it. The
	// catalog replaces the name by the one that clients use, and mends what would
	// make clients drop the whole list.
	Definition []byte
	// ReadOnly and Idempotent are the source's annotations: such a call may be
	// sent again when its fate is unknown.
	ReadOnly, Idempotent bool
	// ModernHTTP is set when calls are sent over HTTP in the modern era, where
	// some arguments must also be sent as headers.
	ModernHTTP bool
	// ChecksArguments is set if the source checks the arguments of this tool
	// itself, and accepts some that the schema does not have.
	ChecksArguments bool
	// Labels are what a built-in source says about its tool beside the definition; nil
	// for tools of servers.
	Labels *ToolLabels

	// Exposed is the name that clients use. Set by the catalog.
	Exposed string
	// Legacy is the definition for clients of the legacy era, nil where it is
	// the same. Set by the catalog.
	Legacy []byte
	// InputSchema is the source's own schema, which arguments are validated
	// against. Set by the catalog.
	InputSchema []byte
	// Headers are the arguments that also travel as HTTP headers; most tools
	// have none. Set by the catalog.
	Headers []ParamHeader
	// Source is where the call ends. Set by the catalog.
	Source Source
	// Validate asks for arguments to be validated before they are sent. Set by
	// the catalog.
	Validate bool
	// Timeout is how long a call may go without a sign of life; zero is the
	// source's default. Set by the catalog.
	Timeout time.Duration
	// Options are what the configuration says about calls of this tool. Set by
	// the catalog.
	Options ExecuteOptions
	// Rewritten is what a workflow shows to the client of the view instead of Name and
	// InputSchema; nil if it changed nothing. Set by the catalog.
	Rewritten *Rewritten
}

// Rewritten is what a client sees of a tool that a workflow changed for it.
type Rewritten struct {
	Name        string
	InputSchema []byte
	// Annotations are the source's own, which the definition may not have any more.
	Annotations []byte
}

// ListedName is the tool's name in lists, without the prefix.
func (t *Tool) ListedName() string {
	if t.Rewritten != nil {
		return t.Rewritten.Name
	}
	return t.Name
}

// ListedSchema is the input schema that clients may be shown.
func (t *Tool) ListedSchema() []byte {
	if t.Rewritten != nil {
		return t.Rewritten.InputSchema
	}
	return t.InputSchema
}

// ToolLabels describe a tool in the registry and to the search. Clients do not get them in
// lists.
type ToolLabels struct {
	Category string
	Tags     []string
	Examples []ToolExample
	// Translations are the title, the description and the examples in other languages.
	Translations string
}

// ToolExample shows how a tool is used.
type ToolExample struct {
	Description string
	// Parameters is a JSON object; ExpectedResult is any JSON value, or nil.
	Parameters, ExpectedResult json.RawMessage
}

// ParamHeader is an argument that modern HTTP also sends as a header, for proxies
// that do not read bodies.
type ParamHeader struct {
	// Path leads to the argument, through the objects around it.
	Path []string
	// Key is the header's name in its canonical form: Mcp-Param-Region.
	Key string
}

// RetrySafe reports whether a call can be sent twice without harm.
func (t *Tool) RetrySafe() bool { return t.ReadOnly || t.Idempotent }

// Identity is who is calling.
type Identity struct {
	// ClientID is the name of the token, or what LocalIdentity makes of a client
	// that comes over stdio.
	ClientID string
	// Admin is set for callers that may change the configuration.
	Admin bool
	// Page is set for a person who has signed in to the web UI, with a browser.
	Page bool
}

// NotAnnounced begins what a server is told that asked the client of a call something that
// this client cannot answer. The method follows.
const NotAnnounced = "the client of this call did not announce the capability for "

// Peer is the way back to the client while its call is under way.
type Peer interface {
	// Notify sends a notification that belongs to this call. It must not
	// block for long, and after the call has been answered it does nothing.
	// The params are an encoded JSON object and are not kept.
	Notify(method string, params []byte)
	// Ask sends a request to the client and waits for its answer, the result
	// object. That may take as long as a person takes. An error that the client
	// answers with is an *Error whose RPC is the error object. Use Call.Ask, which
	// stops the call's clock meanwhile.
	Ask(ctx context.Context, method string, params []byte) ([]byte, error)
}

// Prolonger is a Peer that can be told that its answer will be needed later than
// usual.
type Prolonger interface {
	Prolong()
}

// Leaver is a Peer that knows whether its client has disconnected. The client may come back
// if its protocol allows that.
type Leaver interface {
	Left() bool
}

// Event says that something about a source changed. Sources publish events,
// edges listen.
type Event struct {
	Source string
	// Kind is the list that changed. KindResource stands for the list of templates,
	// too.
	Kind Kind
	// Announced is set when the source announced the change itself. Clients are
	// told then even if the list looks the same.
	Announced bool
}
