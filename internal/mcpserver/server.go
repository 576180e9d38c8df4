// Package mcpserver is the edge that speaks MCP with clients: both eras, over
// stdio and streamable HTTP, at one URL. It decodes envelopes, knows who is
// calling, makes a gateway.Call of each tools/call, and writes down the answer
// in the caller's language. What a call means is decided in the corridor.
package mcpserver

import (
	"context"
	"log/slog"
	"net/http"
	"sync"
	"time"

	"genkan/internal/catalog"
	"genkan/internal/gateway"
	"genkan/internal/jsonrpc"
	"genkan/internal/lang"
)

// House is what the edge needs of the house that serves now.
type House interface {
	gateway.Handler
	// Page returns a page of the tools list; an empty cursor is the first. It
	// may wait a moment for servers that have never been listed.
	Page(ctx context.Context, cursor string) (*catalog.Page, error)
}

// Options are what the edge is made of.
type Options struct {
	// House returns the current house. It is asked once per request.
	House func() House
	// Admit decides who may come in over HTTP. When it reports false it has
	// answered already.
	Admit   func(w http.ResponseWriter, r *http.Request) (gateway.Identity, bool)
	Log     *slog.Logger
	Version string
	// Budget bounds the bytes in flight.
	Budget *gateway.Budget
	// SessionIdle is how long a legacy session lives without a sign of its
	// client; zero means a day.
	SessionIdle time.Duration
	// Language is what errors are told in now; nil is English.
	Language func() lang.Language
}

// Server is the edge. It outlives houses.
type Server struct {
	opt      Options
	info     []byte // serverInfo, encoded
	sessions sessions

	// life ends when the process gives up on calls that are under way.
	life context.Context //nolint:containedctx // legacy calls outlive their HTTP requests
	end  context.CancelFunc

	// listeners are the open streams that want to know of changes.
	mu        sync.Mutex
	listeners map[*listener]struct{}
	draining  bool
	// drain is closed when streams must end.
	drain chan struct{}
}

// listener is somebody who is told once per batch of changes.
type listener struct {
	changed chan struct{}
}

// New makes the edge.
func New(opt Options) *Server {
	if opt.SessionIdle == 0 {
		opt.SessionIdle = 24 * time.Hour
	}
	s := &Server{
		opt:       opt,
		listeners: map[*listener]struct{}{},
		drain:     make(chan struct{}),
	}
	s.info = append(jsonrpc.AppendQuoted([]byte(`{"name":"genkan","title":"Genkan","version":`), opt.Version), '}')
	s.life, s.end = context.WithCancel(context.Background())
	s.sessions.init()
	go s.sessions.sweep(opt.SessionIdle)
	return s
}

func (s *Server) language() lang.Language {
	if s.opt.Language == nil {
		return lang.English
	}
	return s.opt.Language()
}

// ToolsChanged tells every open stream that the list of tools is another one.
// Changes that come faster than a stream can tell of them become one.
func (s *Server) ToolsChanged() {
	s.mu.Lock()
	for l := range s.listeners {
		l.tell()
	}
	s.mu.Unlock()
	s.sessions.toolsChanged()
}

func (l *listener) tell() {
	select {
	case l.changed <- struct{}{}:
	default:
	}
}

// join adds a listener. It reports false while the server is going down.
func (s *Server) join() (*listener, func(), bool) {
	l := &listener{changed: make(chan struct{}, 1)}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.draining {
		return nil, nil, false
	}
	s.listeners[l] = struct{}{}
	return l, func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		delete(s.listeners, l)
	}, true
}

// Drain ends the streams that would stay open for ever. Calls go on.
func (s *Server) Drain() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.draining {
		s.draining = true
		close(s.drain)
	}
}

// Close gives up on calls that are still under way.
func (s *Server) Close() {
	s.Drain()
	s.end()
	s.sessions.close()
}

// Sessions is how many legacy sessions there are.
func (s *Server) Sessions() int { return s.sessions.count() }

// newCall makes a tools/call into a Call.
func newCall(msg *jsonrpc.Message, era gateway.Era, id gateway.Identity, via string) (*gateway.Call, error) {
	name, ok := jsonrpc.Unquote(msg.Params.Get(msg.Params.Name))
	if !ok || len(name) == 0 {
		return nil, gateway.Errorf(gateway.CodeInvalid, "params.name must be the name of a tool")
	}
	if args := msg.Params.Get(msg.Params.Arguments); args != nil && args[0] != '{' && string(args) != "null" {
		return nil, gateway.Errorf(gateway.CodeInvalid, "params.arguments must be an object")
	}
	if token := msg.Params.Get(msg.Params.ProgressToken); token != nil && token[0] != '"' && token[0] != '-' && (token[0] < '0' || token[0] > '9') {
		return nil, gateway.Errorf(gateway.CodeInvalid, "_meta.progressToken must be a string or a number")
	}
	return &gateway.Call{
		Method: msg.Method, Params: msg.Params, Name: string(name),
		Era: era, Identity: id, Via: via,
	}, nil
}

// listResult answers tools/list.
func (s *Server) listResult(ctx context.Context, msg *jsonrpc.Message, era gateway.Era) ([]byte, error) {
	cursor := ""
	if raw := msg.Params.Get(msg.Params.Cursor); raw != nil {
		text, ok := jsonrpc.Unquote(raw)
		if !ok || len(text) == 0 {
			return nil, gateway.Errorf(gateway.CodeInvalid, "params.cursor must be a cursor of an earlier answer")
		}
		cursor = string(text)
	}
	page, err := s.opt.House().Page(ctx, cursor)
	if err != nil {
		return nil, err
	}
	if era == gateway.EraModern {
		return page.Modern, nil
	}
	return page.Legacy, nil
}
