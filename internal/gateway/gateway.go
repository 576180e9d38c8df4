// Package gateway is the vocabulary of the house: what a call is, what a
// result is, and the one door that every room has. It is to tool calls what
// net/http is to requests, and imports the standard library only, so that
// every room can speak it without knowing any other room.
package gateway

import (
	"context"
	"time"
)

// Handler answers a call. A tool's own failure is a Result with IsError; an
// error means that the call did not reach the tool or got no answer from it,
// and is an *Error wherever the house made it.
type Handler interface {
	Handle(ctx context.Context, call *Call) (*Result, error)
}

// HandlerFunc lets a function be a Handler.
type HandlerFunc func(ctx context.Context, call *Call) (*Result, error)

// Handle calls f.
func (f HandlerFunc) Handle(ctx context.Context, call *Call) (*Result, error) { return f(ctx, call) }

// Middleware wraps the rest of the corridor. It may refuse a call or shrink
// what passes; it never widens what the caller may do.
type Middleware func(Handler) Handler

// Chain puts middlewares around h; the first one named is the outermost.
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
	// Kind is what it is: beside tools, prompts, resources and templates.
	Kind Kind
	// Name is the tool's name in its source; a resource's URI, a template's
	// URI template.
	Name string
	// Definition is the JSON object of the list, as the source sent it. The
	// catalog puts the name into it that clients use, and mends what would make
	// them drop the whole list.
	Definition []byte
	// ReadOnly and Idempotent are the source's annotations: such a call may be
	// sent again when its fate is unknown.
	ReadOnly, Idempotent bool
	// ModernHTTP is set when calls go out over HTTP in the modern era, where
	// the rules for headers made of arguments bind whoever calls.
	ModernHTTP bool

	// Exposed is the name that clients use. Set by the catalog.
	Exposed string
	// Legacy is the definition for clients of the legacy era, nil where it is
	// the same. Set by the catalog.
	Legacy []byte
	// InputSchema is what arguments are checked against: the source's own,
	// whatever clients are shown. Set by the catalog.
	InputSchema []byte
	// Headers are the arguments that also travel as HTTP headers; most tools
	// have none. Set by the catalog.
	Headers []ParamHeader
	// Source is where the call ends. Set by the catalog.
	Source Source
	// Validate asks for arguments to be checked against the input schema
	// before they leave the house. Set by the catalog.
	Validate bool
	// Timeout is how long a call may go without a sign of life; zero is the
	// source's default. Set by the catalog.
	Timeout time.Duration
	// Options are what the configuration says for calls of this one. Set by the
	// catalog.
	Options ExecuteOptions
}

// ParamHeader is an argument that modern HTTP also carries as a header, for
// those between client and server who do not read bodies.
type ParamHeader struct {
	// Path leads to the argument, through the objects around it.
	Path []string
	// Key is the header's name in its canonical form: Mcp-Param-Region.
	Key string
}

// RetrySafe reports whether a second sending can do no harm.
func (t *Tool) RetrySafe() bool { return t.ReadOnly || t.Idempotent }

// Identity is who is calling.
type Identity struct {
	// ClientID is the name of the token, or what LocalIdentity makes of a client
	// that comes over stdio.
	ClientID string
	// Admin may change the house.
	Admin bool
}

// Peer is the way back to the client while its call is under way.
type Peer interface {
	// Notify sends a notification that belongs to this call. It must not
	// block for long, and after the call has been answered it does nothing.
	// The params are an encoded JSON object and are not kept.
	Notify(method string, params []byte)
	// Ask sends a request to the client and waits for its answer, the result
	// object. That may take as long as a person takes. What the client answers
	// with instead is an *Error whose RPC is its error object. Use Call.Ask,
	// which stops the call's clock meanwhile.
	Ask(ctx context.Context, method string, params []byte) ([]byte, error)
}

// Prolonger is a Peer that can be told that the answer will take its time: the
// server behind has put its own client off.
type Prolonger interface {
	Prolong()
}

// Event says that something about a source changed. Sources publish events,
// edges listen.
type Event struct {
	Source string
	// Kind is the list that is another one. That of templates may be too when
	// it is that of resources.
	Kind Kind
	// Announced is set when the source said so itself: its word passes on even
	// if the list looks the same.
	Announced bool
}
