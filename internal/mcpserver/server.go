package mcpserver

import (
	"cmp"
	"context"
	"crypto/rand"
	"log/slog"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"genkan/internal/catalog"
	"genkan/internal/gateway"
	"genkan/internal/jsonrpc"
	"genkan/internal/lang"
	"genkan/internal/seal"
	"genkan/internal/views"
)

// House is the part of the current house that the edge uses.
type House interface {
	gateway.Handler
	// Page returns a page of a list; an empty cursor is the first. It may wait
	// a moment for servers that have never been listed.
	Page(ctx context.Context, view gateway.View, kind gateway.Kind, cursor string) (*catalog.Page, error)
	// Has reports whether a view exists.
	Has(view gateway.View) bool
	// Describe returns the description of a view.
	Describe(view gateway.View) Description
	// Subscribe subscribes to the resource or task that a call names, until stop is
	// called. told receives the URI of a changed resource, or the state of a task as
	// a JSON object.
	Subscribe(ctx context.Context, call *gateway.Call, told func(what string)) (stop func(), err error)
	// Tasks returns a page of the tasks that servers have created for the caller's
	// calls.
	Tasks(ctx context.Context, caller *gateway.Call, cursor string) ([]byte, error)
	// ClientNotified forwards a notification of a client to the servers that it is for. It
	// does not wait for them.
	ClientNotified(session *gateway.Session, method string, params []byte)
	// Forget releases what is kept for a session that has ended.
	Forget(session string)
	// Count counts a request that is not a call against the client's rate limit. It
	// returns an error if the limit is reached.
	Count(who gateway.Identity) error
	// SetLogLevel sets the most verbose log level that a client asks for.
	SetLogLevel(level string)
}

// Description is what a client is told about its view when it connects.
type Description = views.Description

// Options configure a Server.
type Options struct {
	// House returns the current house. It is called once per request.
	House func() House
	// Admit identifies the sender of an HTTP request. When it reports false, it has
	// answered the request.
	Admit func(w http.ResponseWriter, r *http.Request) (gateway.Identity, bool)
	// Recognizes reports whether an admitted request would still be admitted; nil
	// means always.
	Recognizes func(r *http.Request) bool
	// Refused is called for each HTTP request that is refused before it becomes a
	// call; may be nil.
	Refused func(r *http.Request, status int, reason string)
	// Introduced is called with the name that a client gives itself when it
	// connects; may be nil.
	Introduced func(id gateway.Identity, name string)
	// Instance identifies this process, so that it recognizes its own requests if
	// they come back to it; empty for none.
	Instance string
	// Place returns the view that a client gets when it asks for a view; nil gives
	// each client the view that it asks for.
	Place   func(who gateway.Identity, view gateway.View) gateway.View
	Log     *slog.Logger
	Version string
	// Budget is the memory for data in transit from and to clients.
	Budget *gateway.Shares
	// Limits are the limits that all clients share.
	Limits Limits
	// SessionIdle is how long an unused legacy session is kept in memory; zero means
	// a day. Its id stays valid for longer.
	SessionIdle time.Duration
	// AskPatience is how long a client may take to answer a question; zero means 15
	// minutes.
	AskPatience time.Duration
	// Secret signs the data that clients keep for genkan: session ids and the state
	// of parked calls. If it is empty, New makes one that is lost with the process.
	Secret []byte
	// Language returns the current language of errors; nil means English.
	Language func() lang.Language
}

// Limits bound numbers over all clients. Zero means the default.
type Limits struct {
	// Sessions bounds legacy sessions over HTTP, Streams the streams that stay open
	// for notifications.
	Sessions, Streams int
}

// Server is the edge for MCP clients. It outlives houses.
type Server struct {
	opt      Options
	info     []byte // serverInfo, encoded
	sessions sessions
	sse      sseClients
	parks    parks
	// orphans counts the streams without a reader. undelivered and delivered bound
	// the bytes that ended streams keep.
	orphans                atomic.Int64
	undelivered, delivered *gateway.Shares
	// streams counts the streams that clients have open.
	streams *gateway.Shares

	// life ends when the process cancels the calls in flight.
	life context.Context //nolint:containedctx // legacy calls outlive their HTTP requests
	end  context.CancelFunc

	levels sync.Mutex // see tellLoudest

	mu sync.Mutex
	// listeners are the open streams that receive notifications of changes.
	listeners map[*listener]struct{}
	// connected are the sessions of clients over stdio and SSE.
	connected map[*session]struct{}
	draining  bool
	// drain is closed when streams must end.
	drain chan struct{}
}

// New returns a Server. The caller closes it.
func New(opt Options) *Server {
	opt.SessionIdle = cmp.Or(opt.SessionIdle, 24*time.Hour)
	opt.AskPatience = cmp.Or(opt.AskPatience, 15*time.Minute)
	opt.Limits.Sessions = cmp.Or(opt.Limits.Sessions, mostSessions)
	opt.Limits.Streams = cmp.Or(opt.Limits.Streams, mostStreams)
	if len(opt.Secret) == 0 {
		opt.Secret = []byte(rand.Text())
	}
	s := &Server{
		opt:       opt,
		listeners: map[*listener]struct{}{}, connected: map[*session]struct{}{},
		drain:       make(chan struct{}),
		undelivered: gateway.NewShares(undeliveredBytes), delivered: gateway.NewShares(deliveredBytes),
		streams: gateway.NewShares(int64(opt.Limits.Streams)),
	}
	s.info = append(jsonrpc.AppendQuoted([]byte(`{"name":"genkan","title":"Genkan","version":`), opt.Version), '}')
	s.life, s.end = context.WithCancel(context.Background())
	s.sessions.init(opt, s.forget)
	s.parks.init(seal.Sealer{Secret: opt.Secret})
	s.sse.byID = map[string]*duplexConn{}
	go s.sessions.sweep(opt.SessionIdle)
	return s
}

func (s *Server) language() lang.Language {
	if s.opt.Language == nil {
		return lang.English
	}
	return s.opt.Language()
}

// recognizes reports whether a stream may go on.
func (s *Server) recognizes(r *http.Request) bool {
	return s.opt.Recognizes == nil || s.opt.Recognizes(r)
}

// Drain ends the streams that would stay open for ever. Calls continue, except
// calls that wait for an answer over HTTP, which could no longer be received.
func (s *Server) Drain() {
	s.mu.Lock()
	if !s.draining {
		s.draining = true
		close(s.drain)
	}
	s.mu.Unlock()
	silence := func(sess *session) { sess.silence(errGoingDown()) }
	s.sessions.each(silence)
	s.sse.each(silence)
}

// Close cancels the calls that are still in flight.
func (s *Server) Close() {
	s.Drain()
	s.end()
	s.sessions.close()
}

// Sessions returns the number of legacy sessions.
func (s *Server) Sessions() int { return s.sessions.count() + s.sse.count() }

// Parked returns the number of calls that wait for input from their clients.
func (s *Server) Parked() int { return s.parks.count() }

// listResult answers a list request.
func (s *Server) listResult(ctx context.Context, msg *jsonrpc.Message, view gateway.View, era gateway.Era) ([]byte, error) {
	kind, ok := gateway.KindOfList(msg.Method)
	if !ok {
		return nil, methodNotFound(msg.Method)
	}
	cursor, err := cursorOf(msg)
	if err != nil {
		return nil, err
	}
	page, err := s.opt.House().Page(ctx, view, kind, cursor)
	if err != nil {
		return nil, err
	}
	if era == gateway.EraModern {
		return page.Modern, nil
	}
	return page.Legacy, nil
}

// cursorOf returns the cursor of a list request; empty for the first page.
func cursorOf(msg *jsonrpc.Message) (string, error) {
	raw := msg.Params.Get(msg.Params.Cursor)
	if raw == nil {
		return "", nil
	}
	text, ok := jsonrpc.Unquote(raw)
	if !ok || len(text) == 0 {
		return "", gateway.Errorf(gateway.CodeInvalid, "params.cursor must be a cursor of an earlier answer")
	}
	return string(text), nil
}
