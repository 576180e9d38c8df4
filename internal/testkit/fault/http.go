package fault

import (
	"context"
	"crypto/rand"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log"
	"mime"
	"net"
	"net/http"
	"net/url"
	"os"
	"os/signal"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"
)

// serveHTTP serves the MCP endpoint until a signal ends it. The first line on
// stdout says where.
func serveHTTP(ctx context.Context, cancel context.CancelCauseFunc, s *server, stdin io.Reader, stdout io.Writer) error {
	listener, err := net.Listen("tcp", s.opts.listen)
	if err != nil {
		return err
	}
	if !s.opts.on(modeIgnoreTerm) {
		signals := make(chan os.Signal, 1)
		signal.Notify(signals, syscall.SIGTERM, os.Interrupt)
		defer signal.Stop(signals)
		go func() {
			select {
			case <-signals:
				cancel(errShutdown)
			case <-ctx.Done():
			}
		}()
	}
	if s.opts.exitOnEOF {
		go func() {
			_, _ = io.Copy(io.Discard, stdin)
			cancel(errShutdown)
		}()
	}
	if _, err := fmt.Fprintf(stdout, "listening http://%s/mcp\n", listener.Addr()); err != nil {
		return err
	}
	if s.opts.on(modeDeaf) {
		// The kernel accepts connections; nobody ever reads from them.
		<-ctx.Done()
		return listener.Close()
	}
	web := &http.Server{
		Handler:           &endpoint{server: s, sessions: make(map[string]*conn)},
		ReadHeaderTimeout: time.Minute,
		// Requests end with the server.
		BaseContext: func(net.Listener) context.Context { return ctx },
		ErrorLog:    log.New(s.stderr, "faultserver: ", 0),
	}
	served := make(chan error, 1)
	go func() { served <- web.Serve(listener) }()
	select {
	case err := <-served:
		return err
	case <-ctx.Done():
	}
	grace, done := context.WithTimeout(context.Background(), time.Second)
	defer done()
	if err := web.Shutdown(grace); err != nil {
		_ = web.Close()
	}
	if err := <-served; !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}

// endpoint is the MCP endpoint of both eras.
type endpoint struct {
	server *server

	mu       sync.Mutex
	sessions map[string]*conn
}

func (e *endpoint) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s := e.server
	if s.opts.recordHeaders {
		s.record.headers(r)
	}
	switch {
	case r.URL.Path != "/mcp":
		http.NotFound(w, r)
	case !localOrigin(r.Header.Get("Origin")):
		http.Error(w, "foreign origin", http.StatusForbidden)
	case r.Method == http.MethodPost:
		e.post(w, r)
	case r.Method == http.MethodGet && s.opts.speaksLegacy():
		e.get(w, r)
	case r.Method == http.MethodDelete && s.opts.speaksLegacy():
		e.delete(w, r)
	default:
		w.Header().Set("Allow", http.MethodPost)
		http.Error(w, "method not allowed", http.StatusMethodNotAllowed)
	}
}

func localOrigin(origin string) bool {
	if origin == "" {
		return true
	}
	u, err := url.Parse(origin)
	return err == nil && slices.Contains([]string{"localhost", "127.0.0.1", "::1"}, u.Hostname())
}

func (e *endpoint) post(w http.ResponseWriter, r *http.Request) {
	s := e.server
	if media, _, err := mime.ParseMediaType(r.Header.Get("Content-Type")); err != nil || media != "application/json" {
		http.Error(w, "Content-Type must be application/json", http.StatusUnsupportedMediaType)
		return
	}
	if !accepts(r, "application/json") || !accepts(r, "text/event-stream") {
		http.Error(w, "Accept must list application/json and text/event-stream", http.StatusNotAcceptable)
		return
	}
	body, err := io.ReadAll(r.Body)
	if err != nil {
		http.Error(w, "unreadable body", http.StatusBadRequest)
		return
	}
	m, rpcErr := parseMessage(body)
	// A request is recorded when it can be canceled: a test that reads of it in
	// the record may cancel it with a POST that overtakes this one.
	note := sync.OnceFunc(func() { s.record.line(body) })
	defer note()
	if rpcErr != nil {
		(&request{message: &message{}, out: newExchange(w, false), note: note}).fail(rpcErr)
		return
	}
	if !m.isRequest() {
		note()
	}
	// What is wrong with the metadata is said later, in the right era.
	meta, _ := parseMeta(m.Params)
	version := r.Header.Get("MCP-Protocol-Version")
	modern := !s.opts.speaksLegacy() || meta.version != nil || version >= latestModern ||
		m.Method == "server/discover" || m.Method == "subscriptions/listen"
	switch {
	case !modern:
		e.postLegacy(w, r, m, version, note)
	case !s.opts.speaksModern():
		// As servers from before the modern era do: no JSON-RPC, and nothing
		// that could be mistaken for a modern error.
		http.Error(w, "Bad Request: No valid session ID provided", http.StatusBadRequest)
	default:
		e.postModern(w, r, m, meta, version, note)
	}
}

// accepts reports whether the Accept header lists a media type. Wildcards do
// not count: the specification asks for both types by name.
func accepts(r *http.Request, want string) bool {
	for _, line := range r.Header.Values("Accept") {
		for part := range strings.SplitSeq(line, ",") {
			if media, _, err := mime.ParseMediaType(part); err == nil && media == want {
				return true
			}
		}
	}
	return false
}

func (e *endpoint) postModern(w http.ResponseWriter, r *http.Request, m *message, meta meta, version string, note func()) {
	s := e.server
	if !m.isRequest() {
		if m.isResponse() {
			http.Error(w, "clients send no responses in this era", http.StatusBadRequest)
			return
		}
		w.WriteHeader(http.StatusAccepted)
		return
	}
	c := newConn(r.Context(), "", nil)
	defer c.cancel(nil)
	stream := s.opts.sse || s.opts.on(modeDoubleAnswer)
	x := newExchange(w, stream)
	defer x.finish()
	req := &request{message: m, conn: c, out: x, headerParams: r.Header, note: note}
	if m.Method != "initialize" {
		if err := checkHeaders(r, m, meta, version); err != nil {
			req.fail(err)
			return
		}
	}
	if err := s.admit(req, false); err != nil {
		req.fail(err)
		return
	}
	// The request's context ends when the client disconnects, which is how it
	// cancels.
	ctx, release, err := c.track(r.Context(), req)
	if err != nil {
		req.fail(err)
		return
	}
	defer release()
	note()
	s.serve(ctx, req)
}

// checkHeaders compares what travels twice, once for those who do not read
// bodies.
func checkHeaders(r *http.Request, m *message, meta meta, version string) *rpcError {
	mismatch := func(format string, args ...any) *rpcError {
		return badRequest(codeHeaderMismatch, "Header mismatch: "+format, args...)
	}
	if version == "" {
		return mismatch("MCP-Protocol-Version is missing")
	}
	if meta.version != nil && version != *meta.version {
		return mismatch("MCP-Protocol-Version %q, but the body says %q", version, *meta.version)
	}
	if got := r.Header.Get("Mcp-Method"); got != m.Method {
		return mismatch("Mcp-Method %q, but the body says %q", got, m.Method)
	}
	var named struct {
		Name   string `json:"name"`
		URI    string `json:"uri"`
		TaskID string `json:"taskId"`
	}
	if len(m.Params) > 0 {
		_ = json.Unmarshal(m.Params, &named)
	}
	want := named.Name
	switch m.Method {
	case "resources/read":
		want = named.URI
	case "tasks/get", "tasks/update", "tasks/cancel":
		want = named.TaskID
	case "tools/call", "prompts/get":
	default:
		return nil
	}
	if len(r.Header.Values("Mcp-Name")) != 1 {
		return mismatch("Mcp-Name must be given once")
	}
	got, err := decodeHeader(r.Header.Get("Mcp-Name"))
	if err != nil || got != want {
		return mismatch("Mcp-Name %q, but the body says %q", got, want)
	}
	return nil
}

// decodeHeader undoes the encoding of values that headers cannot carry.
func decodeHeader(value string) (string, error) {
	inner, ok := strings.CutPrefix(value, "=?base64?")
	if !ok {
		return value, nil
	}
	inner, ok = strings.CutSuffix(inner, "?=")
	if !ok {
		return value, nil
	}
	decoded, err := base64.StdEncoding.DecodeString(inner)
	return string(decoded), err
}

func (e *endpoint) postLegacy(w http.ResponseWriter, r *http.Request, m *message, version string, note func()) {
	s := e.server
	if version != "" && !slices.Contains(legacyVersions(), version) {
		http.Error(w, "Bad Request: unsupported protocol version", http.StatusBadRequest)
		return
	}
	var c *conn
	if m.Method == "initialize" && m.isRequest() {
		c = newConn(s.lifetime, rand.Text(), nil)
		// Known before it is answered, and forgotten if it was refused.
		e.remember(c)
		defer func() {
			if !c.isOpen() {
				e.forget(c)
			}
		}()
	} else if c = e.session(w, r); c == nil {
		return
	}
	if !m.isRequest() {
		c.receive(m)
		w.WriteHeader(http.StatusAccepted)
		return
	}
	x := newExchange(w, s.opts.sse || s.opts.on(modeDoubleAnswer))
	defer x.finish()
	req := &request{message: m, conn: c, out: x, note: note}
	if err := s.admit(req, c.isOpen()); err != nil {
		req.fail(err)
		return
	}
	ctx, release, err := c.track(c.ended, req)
	if err != nil {
		req.fail(err)
		return
	}
	note()
	// A legacy client that disconnects has not cancelled: the call goes on,
	// and its answer finds nobody.
	done := make(chan struct{})
	go func() {
		defer close(done)
		defer release()
		s.serve(ctx, req)
	}()
	select {
	case <-done:
	case <-r.Context().Done():
	}
}

// session finds the session that a request names, or says what is wrong.
func (e *endpoint) session(w http.ResponseWriter, r *http.Request) *conn {
	id := r.Header.Get("Mcp-Session-Id")
	if id == "" {
		http.Error(w, "Bad Request: Mcp-Session-Id is missing", http.StatusBadRequest)
		return nil
	}
	e.mu.Lock()
	c := e.sessions[id]
	e.mu.Unlock()
	if c == nil {
		http.Error(w, "session not found", http.StatusNotFound)
	}
	return c
}

func (e *endpoint) remember(c *conn) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.sessions[c.id] = c
}

func (e *endpoint) forget(c *conn) {
	e.mu.Lock()
	delete(e.sessions, c.id)
	e.mu.Unlock()
	e.server.unlisten(c)
	c.cancel(errCancelled)
}

// get is the stream for what belongs to no request.
func (e *endpoint) get(w http.ResponseWriter, r *http.Request) {
	if !accepts(r, "text/event-stream") {
		http.Error(w, "Accept must list text/event-stream", http.StatusNotAcceptable)
		return
	}
	c := e.session(w, r)
	if c == nil {
		return
	}
	x := newExchange(w, true)
	if !c.attach(x) {
		http.Error(w, "there is a stream already", http.StatusConflict)
		return
	}
	defer x.finish()
	defer c.detach()
	x.open()
	select {
	case <-r.Context().Done():
	case <-c.ended.Done():
	}
}

func (e *endpoint) delete(w http.ResponseWriter, r *http.Request) {
	if c := e.session(w, r); c != nil {
		e.forget(c)
		w.WriteHeader(http.StatusNoContent)
	}
}
