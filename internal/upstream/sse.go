package upstream

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"genkan/internal/gateway"
	"genkan/internal/jsonrpc"
)

// sseWire is the transport of MCP 2024-11-05: the server sends everything on one
// stream of events, whose first event is the address that messages are posted to.
type sseWire struct {
	name      string
	transport http.RoundTripper
	headers   map[string]gateway.Secret
	agent     []string // the User-Agent header
	instance  []string
	endpoint  *url.URL
	body      io.ReadCloser
	stream    countingReader
	events    *jsonrpc.SSEReader
	// conn fails the calls that the server does not accept.
	conn *duplexConn
	// trusted is set when the server has accepted a message.
	trusted atomic.Bool

	life    context.Context //nolint:containedctx // the wire's own, which stream and posts share
	endLife context.CancelFunc
	mu      sync.Mutex
	closed  bool // no more is posted
	posts   sync.WaitGroup
	// calls and asides limit the posts in flight. Some servers accept a call only
	// when it is done, and send requests before that, so answers have a limit of
	// their own.
	calls, asides chan struct{}
}

const (
	// maxPosts is how many messages of a kind are posted at once.
	maxPosts = 256
	// endpointTimeout is how long an open stream may take to announce the address
	// to post to.
	endpointTimeout = 10 * time.Second
	// acceptTimeout is how long a server may take to accept a message other than
	// a call. A call may take as long as its caller waits, and lateAccept longer:
	// the answer may arrive before the acceptance.
	acceptTimeout = 10 * time.Second
	lateAccept    = 5 * time.Second
)

// errNotSSE means that there is no server of the old SSE transport at a URL.
var errNotSSE = errors.New("there is no SSE endpoint")

func connectSSE(ctx context.Context, s *Server, us self, e listeners, roots []byte) (conn, error) {
	w, err := openSSE(ctx, s, us)
	if err != nil {
		return nil, err
	}
	return startSSE(ctx, s, w, us, e, roots)
}

// startSSE runs a connection over an open stream.
func startSSE(ctx context.Context, s *Server, w *sseWire, us self, e listeners, roots []byte) (conn, error) {
	c := newDuplexConn(s, w, e, roots)
	w.conn = c
	return c.start(func() (protocol, error) { return c.initialize(ctx, us) })
}

// openSSE opens the stream and waits for the address to post to.
func openSSE(ctx context.Context, s *Server, us self) (*sseWire, error) {
	base, err := url.Parse(s.set.URL)
	if err != nil {
		return nil, &gateway.Error{Code: gateway.CodeInvalid, Message: "its URL is not valid"}
	}
	w := &sseWire{
		name: s.set.Name, transport: s.deps.Transport, headers: s.set.Headers,
		agent: []string{"genkan/" + us.version}, instance: []string{s.deps.Instance},
		calls: make(chan struct{}, maxPosts), asides: make(chan struct{}, maxPosts),
	}
	w.life, w.endLife = context.WithCancel(context.Background())
	// The stream stays open after ctx, which is for starting.
	defer context.AfterFunc(ctx, w.endLife)()
	if err := w.open(base); err != nil {
		w.end()
		if ctx.Err() != nil {
			err = context.Cause(ctx)
		}
		return nil, err
	}
	return w, nil
}

func (w *sseWire) open(base *url.URL) error {
	r := w.request(w.life, http.MethodGet, base, nil)
	r.Header["Accept"] = acceptSSE
	r.Header["Cache-Control"] = []string{"no-store"}
	resp, err := w.transport.RoundTrip(r) //nolint:bodyclose // end closes it
	if err != nil {
		return wireError(w.name, base, err)
	}
	w.body = resp.Body
	if resp.StatusCode != http.StatusOK {
		e := *gateway.AsError(statusOf(w.name, resp, false, nil))
		if isNotServed(resp.StatusCode) {
			e.Err = errors.Join(e.Err, errNotSSE)
		}
		return &e
	}
	if encoding := resp.Header.Get("Content-Encoding"); encoding != "" && encoding != "identity" {
		return unusable("server %s compresses its answers although it was asked not to; genkan does not unpack them", w.name)
	}
	if !strings.HasPrefix(resp.Header.Get("Content-Type"), "text/event-stream") {
		return &gateway.Error{
			Code: gateway.CodeUnavailable, Err: errNotSSE,
			Message: "it opened no stream of events; is its URL that of an SSE endpoint, which often ends with /sse?",
		}
	}
	w.stream.Reader = resp.Body
	w.events = jsonrpc.NewSSEReader(&w.stream)
	timer := time.AfterFunc(endpointTimeout, w.endLife)
	defer timer.Stop()
	return w.awaitEndpoint(base)
}

// isNotServed reports whether a status means that there is no SSE endpoint.
func isNotServed(status int) bool {
	switch status {
	case http.StatusUnauthorized, http.StatusForbidden, http.StatusTooManyRequests:
		return false
	default:
		return status < http.StatusInternalServerError
	}
}

// awaitEndpoint reads the address to post to, which comes before any message.
func (w *sseWire) awaitEndpoint(base *url.URL) error {
	for {
		event, err := w.events.Next()
		switch {
		case err != nil || isMessage(event):
			return &gateway.Error{
				Code: gateway.CodeUnavailable, Err: errors.Join(err, errNotSSE),
				Message: "it opened a stream but did not say where to send messages to (an endpoint event); is its URL that of an SSE endpoint, which often ends with /sse?",
			}
		case event.Type == "endpoint":
			w.endpoint, err = endpointOf(base, string(bytes.TrimSpace(event.Data)))
			return err
		}
	}
}

// endpointOf returns the address to post to. It must have the origin of the
// configured URL, because the configured headers are sent there.
func endpointOf(base *url.URL, announced string) (*url.URL, error) {
	u, err := base.Parse(announced)
	if err != nil {
		return nil, &gateway.Error{Code: gateway.CodeUnavailable, Message: "the address that it wants messages sent to (its endpoint event) is not valid", Err: err}
	}
	if origin(u) != origin(base) {
		return nil, gateway.Errorf(gateway.CodeUnavailable,
			"it wants messages sent to %q instead of %q, where its headers are not meant to go; let it announce a path only, or put its own address into the configuration", origin(u), origin(base))
	}
	u.User, u.Fragment = nil, ""
	return u, nil
}

// origin returns scheme, host and port in a comparable form.
func origin(u *url.URL) string {
	port := u.Port()
	if port == "" {
		port = map[string]string{"http": "80", "https": "443"}[strings.ToLower(u.Scheme)]
	}
	return strings.ToLower(u.Scheme+"://"+u.Hostname()) + ":" + port
}

// request builds an HTTP request. It carries none of the client's headers.
func (w *sseWire) request(ctx context.Context, verb string, to *url.URL, body []byte) *http.Request {
	h := make(http.Header, 4+len(w.headers))
	h["User-Agent"] = w.agent
	h["Genkan-Instance"] = w.instance
	if body != nil {
		h["Accept"] = acceptBoth
		h["Content-Type"] = jsonType
	}
	for key, value := range w.headers {
		h[http.CanonicalHeaderKey(key)] = []string{value.Reveal()}
	}
	r := &http.Request{
		Method: verb, URL: to, Host: to.Host, Header: h,
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

func (w *sseWire) pid() int         { return 0 }
func (w *sseWire) received() uint64 { return w.stream.reads.Load() }

func (w *sseWire) next() ([]byte, error) {
	for {
		event, err := w.events.Next()
		switch {
		case errors.Is(err, jsonrpc.ErrTooLarge):
			ends, err := w.events.Rest()
			if err != nil {
				return nil, streamEnded(err)
			}
			return ends, jsonrpc.ErrTooLarge
		case err != nil:
			return nil, streamEnded(err)
		case isMessage(event):
			return event.Data, nil
		}
	}
}

func streamEnded(err error) error {
	if errors.Is(err, io.EOF) {
		return &gateway.Error{Code: gateway.CodeUnavailable, Message: "it closed the stream of its answers", Err: err}
	}
	return &gateway.Error{Code: gateway.CodeUnavailable, Message: "the stream of its answers broke", Err: err}
}

func (w *sseWire) end() {
	w.mu.Lock()
	w.closed = true
	w.mu.Unlock()
	w.endLife()
	if w.body != nil {
		_ = w.body.Close()
	}
	w.posts.Wait()
	closeIdle(w.transport)
}
