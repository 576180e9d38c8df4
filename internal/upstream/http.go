package upstream

import (
	"bytes"
	"context"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/url"
	"sync"
	"sync/atomic"
	"time"

	"genkan/internal/gateway"
	"genkan/internal/jsonrpc"
)

// httpConn is a connection over streamable HTTP. In the legacy era it has a
// session, which it renews when the server has forgotten it.
type httpConn struct {
	name      string
	log       *slog.Logger
	url       *url.URL
	transport http.RoundTripper
	headers   map[string]gateway.Secret
	self      self
	agent     []string // the User-Agent header
	instance  []string // the header that lets genkan notice that it is its own server
	listeners listeners
	clientState

	lastID atomic.Uint64
	proto  protocol
	// heard counts responses and events. An opened stream does not count: many
	// servers open one before they read the request.
	heard atomic.Uint64

	mu      sync.Mutex
	session string
	// generation counts sessions, so that of many calls that lost theirs only the
	// first opens a new one.
	generation int
	// renewal is held while a new session is opened.
	renewal chan struct{}
	// sending limits the notifications in flight.
	sending chan struct{}

	// calls are the calls in flight in a legacy session.
	calls map[uint64]*inFlightCall

	closed  bool            // guarded by mu
	life    context.Context //nolint:containedctx // the connection's own life, which its streams share
	endLife context.CancelCauseFunc
	streams sync.WaitGroup
}

func newTransport() http.RoundTripper {
	return &http.Transport{
		Proxy:                 http.ProxyFromEnvironment,
		DialContext:           (&net.Dialer{Timeout: 10 * time.Second, KeepAlive: 30 * time.Second}).DialContext,
		TLSHandshakeTimeout:   10 * time.Second,
		ForceAttemptHTTP2:     true,
		MaxIdleConnsPerHost:   128,
		IdleConnTimeout:       90 * time.Second,
		ExpectContinueTimeout: time.Second,
		// A call of some kilobytes in one write, and without a buffer for it.
		WriteBufferSize: 32 << 10,
		// What is compressed can grow without end; we ask for plain bytes.
		DisableCompression: true,
	}
}

func connectHTTP(ctx context.Context, s *Server, us self, known gateway.Era, e listeners, roots []byte) (conn, error) {
	u, err := url.Parse(s.set.URL)
	if err != nil {
		return nil, &gateway.Error{Code: gateway.CodeInvalid, Message: "its URL is not valid"}
	}
	c := &httpConn{
		name: s.set.Name, log: s.log, url: u, transport: s.deps.Transport,
		headers: s.set.Headers, self: us, listeners: e, calls: map[uint64]*inFlightCall{},
		renewal: make(chan struct{}, 1), sending: make(chan struct{}, maxNotifications),
		agent: []string{"genkan/" + us.version}, instance: []string{s.deps.Instance},
	}
	c.server = s
	c.setRoots(roots)
	c.life, c.endLife = context.WithCancelCause(context.Background())
	if err := c.handshake(ctx, known); err != nil {
		c.close()
		return nil, err
	}
	if c.proto.announcesAny() || c.proto.era == gateway.EraLegacy {
		c.spawn(func() { _ = c.listen(c.life, c.proto.listenFilter(), c.listeners.missed, func() {}) })
	}
	return c, nil
}

// handshake detects the server's era. It sends a modern request first; any answer
// that is not modern means legacy.
func (c *httpConn) handshake(ctx context.Context, known gateway.Era) error {
	if known != gateway.EraLegacy {
		c.proto = protocol{era: gateway.EraModern, version: gateway.ModernVersion, self: c.self}
		msg, err := c.probe(ctx)
		var refused *statusError
		switch {
		case err == nil && msg.Kind == jsonrpc.Response:
			if p, ok := fromDiscover(msg.Result.Raw, c.self); ok {
				c.proto = p
				return nil
			}
		case err == nil && isModernError(msg.Error) && !offersLegacy(msg.Error):
			return rpcError(msg.Error)
		case err != nil && !errors.As(err, &refused):
			return err
		}
	}
	var err error
	c.proto, err = c.openSession(ctx)
	var refused *statusError
	if known == gateway.EraLegacy && (errors.As(err, &refused) || isRPCError(err)) {
		// It was legacy the last time; perhaps it was updated.
		return c.handshake(ctx, gateway.EraNone)
	}
	return err
}

// discoverTimeout is how long a server may leave server/discover unanswered
// before it counts as legacy.
const discoverTimeout = 10 * time.Second

// probe sends server/discover. No answer counts as a refusal.
func (c *httpConn) probe(ctx context.Context) (jsonrpc.Message, error) {
	patient, cancel := context.WithTimeout(ctx, discoverTimeout)
	defer cancel()
	msg, err := c.ask(patient, "server/discover", c.self.discoverParams())
	if err != nil && patient.Err() != nil && ctx.Err() == nil {
		err = &statusError{c.name, http.StatusRequestTimeout}
	}
	return msg, err
}

func isRPCError(err error) bool {
	var e *gateway.Error
	return errors.As(err, &e) && e.RPC != nil
}

func offersLegacy(object []byte) bool {
	return bytes.Contains(jsonrpc.Lookup(jsonrpc.Lookup(object, "data"), "supported"), []byte(gateway.LegacyVersion))
}

// openSession opens a legacy session and returns the agreed protocol.
func (c *httpConn) openSession(ctx context.Context) (protocol, error) {
	p := protocol{era: gateway.EraLegacy, version: gateway.LegacyVersion, self: c.self}
	var session string
	x := &exchange{
		method: "initialize", proto: p, withoutSession: true,
		body: func(dst []byte, id uint64) []byte {
			return append(append(jsonrpc.AppendRequestHead(dst, id, "initialize"), c.self.initializeParams()...), '}')
		},
		onHeader: func(h http.Header) { session = h.Get("Mcp-Session-Id") },
	}
	msg, err := c.exchange(ctx, x)
	if err != nil {
		return p, err
	}
	if msg.Kind == jsonrpc.ErrorResponse {
		return p, c.refusedSession(msg.Error, x.status)
	}
	if p, err = fromInitialize(msg.Result.Raw, c.self); err != nil {
		return p, err
	}
	// Calls may use the session only after it has been opened: strict servers
	// refuse them before.
	err = c.postIn(ctx, session, p, "notifications/initialized", jsonrpc.AppendNotification(nil, "notifications/initialized", nil))
	c.mu.Lock()
	c.session = session
	c.generation++
	c.mu.Unlock()
	return p, err
}

// refusedSession keeps the status of a refusal that no modern server sends: it
// may mean that the server uses the old SSE transport.
func (c *httpConn) refusedSession(object []byte, status int) error {
	e := *gateway.AsError(rpcError(object))
	if status != http.StatusOK && !isModernError(object) {
		e.Err = &statusError{c.name, status}
	}
	return &e
}

// renew opens a new session unless that has happened since the given generation.
func (c *httpConn) renew(ctx context.Context, generation int) error {
	select {
	case c.renewal <- struct{}{}:
		defer func() { <-c.renewal }()
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	c.mu.Lock()
	done := c.generation != generation
	c.mu.Unlock()
	if done {
		return nil
	}
	c.log.Info("the server has forgotten the session; opening a new one")
	// The protocol stays the one that was agreed first: calls read it
	// concurrently, and a server does not change it between sessions.
	if _, err := c.openSession(ctx); err != nil {
		return err
	}
	// The server may have other tools now, and has forgotten its subscriptions.
	c.tasks.reset()
	c.listeners.missed()
	c.listeners.renewed()
	return nil
}

// hasSession reports whether the server gave out a session.
func (c *httpConn) hasSession() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.session != ""
}

func (c *httpConn) protocol() protocol    { return c.proto }
func (c *httpConn) pid() int              { return 0 }
func (c *httpConn) received() uint64      { return c.heard.Load() }
func (c *httpConn) lost() <-chan struct{} { return c.life.Done() }
func (c *httpConn) cause() error          { return context.Cause(c.life) }

// busy reports whether calls are in flight in a legacy session. Calls to modern
// servers do not depend on the connection.
func (c *httpConn) busy() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.calls) > 0
}

func (c *httpConn) call(ctx context.Context, call *gateway.Call, in *gateway.Params) (*gateway.Result, error) {
	if err := c.proto.checkState(in); err != nil {
		return nil, err
	}
	headers, err := c.proto.paramHeaders(call)
	if err != nil {
		return nil, err
	}
	x := &exchange{
		method: call.Method, name: headerName(call), proto: c.proto, call: call, headers: headers,
		body: func(dst []byte, id uint64) []byte {
			dst = jsonrpc.AppendRequestHead(dst, id, call.Method)
			dst = c.proto.appendParams(dst, call, in, id)
			return append(dst, '}')
		},
	}
	msg, err := c.exchange(ctx, x)
	if errors.Is(err, errSessionLost) {
		// The server did not look at the call: it refused the session.
		if err = c.renew(ctx, x.generation); err == nil {
			msg, err = c.exchange(ctx, x)
		} else {
			err = unsent(err)
		}
	}
	if err != nil {
		return nil, c.callError(ctx, err)
	}
	if msg.Kind == jsonrpc.ErrorResponse && isMismatch(msg.Error) {
		// The headers are made by what the tool's schema said when it was
		// listed; it seems to say another thing now.
		c.listeners.changed(gateway.KindTool, suspected)
	}
	return c.proto.answer(&msg, call)
}

func (c *httpConn) watch(ctx context.Context, of topic) (stop func(), err error) {
	if c.proto.era == gateway.EraModern {
		life, stop := context.WithCancel(c.life)
		opened, ended := make(chan struct{}, 1), make(chan answer, 1)
		c.spawn(func() {
			err := c.listen(life, of.filter(), func() { c.listeners.missedTopic(of) }, func() {
				select {
				case opened <- struct{}{}:
				default:
				}
			})
			ended <- answer{err: err}
		})
		if err := awaitStream(ctx, opened, ended); err != nil {
			stop()
			return nil, err
		}
		return stop, nil
	}
	if err := asked(c.ask(ctx, "resources/subscribe", uriParams(of.name))); err != nil {
		return nil, err
	}
	return func() {
		ctx, cancel := context.WithTimeout(c.life, requestTimeout)
		defer cancel()
		_, _ = c.ask(ctx, "resources/unsubscribe", uriParams(of.name))
	}, nil
}

// unsent marks an error as one of a call that the server did not process.
func unsent(err error) error {
	e := *gateway.AsError(err)
	e.Unsent = true
	return &e
}

// callError returns the error for the caller. It ends the connection if the
// server cannot be reached, so that the supervisor reconnects.
func (c *httpConn) callError(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if errors.Is(err, errSessionLost) {
		return sessionForgotten(c.name)
	}
	var e *gateway.Error
	var signIn *signInError
	if errors.As(err, &e) && e.Unsent && e.Code == gateway.CodeUnavailable && !errors.As(err, &signIn) {
		c.endLife(err)
	}
	return err
}

// sessionForgotten is the error of a call to a server that does not know a
// session which it has just opened. Several servers behind one address do that.
func sessionForgotten(server string) error {
	return &gateway.Error{
		Code: gateway.CodeUnavailable, Err: errSessionLost, Unsent: true,
		Message: "server %s does not know the session that it has just opened; if several run behind its URL, they must share their sessions",
		Values:  []any{server},
	}
}

func (c *httpConn) ask(ctx context.Context, method string, params []byte) (jsonrpc.Message, error) {
	return c.exchange(ctx, &exchange{
		method: method, proto: c.proto,
		body: func(dst []byte, id uint64) []byte {
			return append(append(jsonrpc.AppendRequestHead(dst, id, method), params...), '}')
		},
	})
}

func (c *httpConn) list(ctx context.Context, kind gateway.Kind) (listed, error) {
	// Read before listing: a session that is renewed meanwhile is not the one
	// that was lost.
	c.mu.Lock()
	generation := c.generation
	c.mu.Unlock()
	raw, err := listAll(ctx, c.proto, kind, c.ask)
	if errors.Is(err, errSessionLost) {
		if err = c.renew(ctx, generation); err == nil {
			raw, err = listAll(ctx, c.proto, kind, c.ask)
		}
	}
	if errors.Is(err, errSessionLost) {
		return listed{}, sessionForgotten(c.name)
	}
	return raw, err
}

// maxNotifications is how many notifications may be in flight; more are dropped.
const maxNotifications = 64

// sendNotification sends in the background.
func (c *httpConn) sendNotification(method string, params []byte) {
	select {
	case c.sending <- struct{}{}:
	default:
		c.log.Debug("a notification was left out: too many are waiting to be accepted")
		return
	}
	if !c.spawn(func() {
		defer func() { <-c.sending }()
		ctx, cancel := context.WithTimeout(c.life, 10*time.Second)
		defer cancel()
		if err := c.notify(ctx, method, params); err != nil {
			c.log.Debug("a notification could not be sent", "error", err)
		}
	}) {
		<-c.sending
	}
}

// notify posts a notification.
func (c *httpConn) notify(ctx context.Context, method string, params []byte) error {
	return c.post(ctx, c.proto, method, jsonrpc.AppendNotification(nil, method, params))
}

func (c *httpConn) post(ctx context.Context, p protocol, method string, body []byte) error {
	c.mu.Lock()
	session := c.session
	c.mu.Unlock()
	return c.postIn(ctx, session, p, method, body)
}

func (c *httpConn) postIn(ctx context.Context, session string, p protocol, method string, body []byte) error {
	resp, err := c.transport.RoundTrip(c.request(ctx, http.MethodPost, method, "", p, session, body)) //nolint:bodyclose // drain closes it
	if err != nil {
		return c.wireError(err)
	}
	defer drain(resp.Body)
	if resp.StatusCode >= 400 {
		return &statusError{server: c.name, status: resp.StatusCode}
	}
	return nil
}

// request builds an HTTP request. It carries none of the client's headers.
func (c *httpConn) request(ctx context.Context, verb, method, name string, p protocol, session string, body []byte) *http.Request {
	h := make(http.Header, 8+len(c.headers))
	h["Accept"] = acceptBoth
	h["User-Agent"] = c.agent
	h["Genkan-Instance"] = c.instance
	if body != nil {
		h["Content-Type"] = jsonType
	}
	if method != "initialize" {
		h["Mcp-Protocol-Version"] = []string{p.version}
	}
	if p.era == gateway.EraModern {
		h["Mcp-Method"] = []string{method}
		if name != "" {
			h["Mcp-Name"] = []string{jsonrpc.EncodeHeader(name)}
		}
	}
	if session != "" {
		h["Mcp-Session-Id"] = []string{session}
	}
	for key, value := range c.headers {
		h[http.CanonicalHeaderKey(key)] = []string{value.Reveal()}
	}
	r := &http.Request{
		Method: verb, URL: c.url, Host: c.url.Host, Header: h,
		Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
	}
	if body != nil {
		r.Body = io.NopCloser(bytes.NewReader(body))
		r.ContentLength = int64(len(body))
		// Only used when nothing of the request was written.
		r.GetBody = func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(body)), nil }
	}
	return r.WithContext(ctx)
}

var (
	acceptBoth = []string{"application/json, text/event-stream"}
	acceptSSE  = []string{"text/event-stream"}
	jsonType   = []string{"application/json"}
)

func (c *httpConn) wireError(err error) error { return wireError(c.name, c.url, err) }

// spawn runs f in a goroutine that close waits for. It reports false if the
// connection is closed; then f does not run.
func (c *httpConn) spawn(f func()) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.closed {
		c.streams.Go(f)
	}
	return !c.closed
}

func (c *httpConn) end(why error) { c.endLife(why) }

func (c *httpConn) close() {
	c.mu.Lock()
	c.closed = true
	c.mu.Unlock()
	c.endLife(&gateway.Error{Code: gateway.CodeUnavailable, Message: "it was stopped"})
	c.streams.Wait()
	c.mu.Lock()
	session := c.session
	c.mu.Unlock()
	if session != "" {
		// Politeness, as the specification asks; the answer does not matter.
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		defer cancel()
		bye := c.request(ctx, http.MethodDelete, "", "", c.proto, session, nil)
		if resp, err := c.transport.RoundTrip(bye); err == nil { //nolint:bodyclose // drain closes it
			drain(resp.Body)
		}
	}
	closeIdle(c.transport)
}

// drain reads the rest of a short body, so that the HTTP connection can be
// reused.
func drain(body io.ReadCloser) {
	_, _ = io.CopyN(io.Discard, body, 64<<10)
	_ = body.Close()
}
