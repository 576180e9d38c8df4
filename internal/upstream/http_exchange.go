package upstream

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"strconv"
	"strings"
	"time"

	"genkan/internal/gateway"
	"genkan/internal/jsonrpc"
)

// exchange is a request over HTTP and its answer, as JSON or as a stream.
type exchange struct {
	method, name   string
	proto          protocol
	body           func(dst []byte, id uint64) []byte
	call           *gateway.Call // nil for requests of our own
	headers        http.Header   // more than every request has
	onHeader       func(http.Header)
	withoutSession bool
	// generation is that of the session that was used.
	generation int
	// status is that of the response; zero before it arrives.
	status int
	// owner is the call in a legacy session.
	owner *inFlightCall
}

// errSessionLost means that the server does not know the session and did not
// process the request.
var errSessionLost = errors.New("the server does not know the session")

// statusError is an HTTP status that is not an answer.
type statusError struct {
	server string
	status int
}

func (e *statusError) Error() string {
	return fmt.Sprintf("server %s answered with HTTP status %d", e.server, e.status)
}

func (c *httpConn) exchange(ctx context.Context, x *exchange) (jsonrpc.Message, error) {
	id := c.lastID.Add(1)
	c.mu.Lock()
	session := c.session
	x.generation = c.generation
	c.mu.Unlock()
	if x.withoutSession {
		session = ""
	}
	size := 256
	if x.call != nil {
		size += len(x.call.Params.Raw)
	}
	r := c.request(ctx, http.MethodPost, x.method, x.name, x.proto, session, x.body(make([]byte, 0, size), id))
	for key, values := range x.headers {
		r.Header[key] = values
	}
	if x.call != nil && x.proto.era == gateway.EraLegacy {
		x.owner = c.begin(ctx, x.call, id)
	}
	resp, err := c.transport.RoundTrip(r)
	if err != nil {
		c.leave(x, false)
		return jsonrpc.Message{}, c.wireError(err)
	}
	msg, err := c.read(resp, x, id, session != "")
	c.leave(x, err == nil)
	return msg, err
}

// begin records a call in flight, until leave.
func (c *httpConn) begin(ctx context.Context, call *gateway.Call, id uint64) *inFlightCall {
	c.mu.Lock()
	defer c.mu.Unlock()
	owner := &inFlightCall{call: call, ctx: ctx, number: id, left: make(chan struct{})}
	c.calls[id] = owner
	return owner
}

// owner returns the newest call if all calls in flight belong to one client.
func (c *httpConn) owner() *inFlightCall {
	c.mu.Lock()
	defer c.mu.Unlock()
	return soleOwner(maps.Values(c.calls))
}

func (c *httpConn) ownerInSession(session *gateway.Session) *inFlightCall {
	c.mu.Lock()
	defer c.mu.Unlock()
	return outsideCalls(c.life, session, maps.Values(c.calls))
}

// leave removes what begin recorded. A legacy server that has not answered is
// sent a cancellation; a modern one sees its stream closed.
func (c *httpConn) leave(x *exchange, answered bool) {
	owner := x.owner
	if owner == nil {
		return
	}
	c.mu.Lock()
	delete(c.calls, owner.number)
	c.mu.Unlock()
	tell := func() {
		defer close(owner.left)
		ctx, cancel := context.WithTimeout(c.life, 5*time.Second)
		defer cancel()
		// Twice: the idle connection that is taken first may be closed by now, and
		// POST requests are not repeated by net/http.
		params := canceledParams(owner.number, context.Cause(owner.ctx))
		err := c.notify(ctx, "notifications/cancelled", params)
		if err != nil && ctx.Err() == nil {
			err = c.notify(ctx, "notifications/cancelled", params)
		}
		if err != nil {
			c.log.Debug("a cancellation could not be sent", "error", err)
		}
	}
	if answered || owner.ctx.Err() == nil || !c.spawn(tell) {
		close(owner.left)
	}
}

// read returns the answer to request id in an HTTP response.
func (c *httpConn) read(resp *http.Response, x *exchange, id uint64, inSession bool) (jsonrpc.Message, error) {
	x.status = resp.StatusCode
	if x.onHeader != nil {
		x.onHeader(resp.Header)
	}
	kind, _, _ := strings.Cut(resp.Header.Get("Content-Type"), ";")
	kind = strings.TrimSpace(kind)
	if encoding := resp.Header.Get("Content-Encoding"); encoding != "" && encoding != "identity" {
		_ = resp.Body.Close()
		return jsonrpc.Message{}, unusable(
			"server %s compresses its answers although it was asked not to; genkan does not unpack them", c.name)
	}
	if resp.StatusCode == http.StatusOK && kind == "text/event-stream" {
		return c.readStream(resp.Request.Context(), resp.Body, x, id)
	}
	if resp.StatusCode != http.StatusBadGateway && resp.StatusCode != http.StatusGatewayTimeout {
		c.heard.Add(1) // with those a proxy answers for a server that does not
	}
	if resp.StatusCode != http.StatusOK && kind != "application/json" {
		defer drain(resp.Body)
		// Its beginning is enough to tell what is meant.
		text, _ := io.ReadAll(io.LimitReader(resp.Body, 4<<10))
		return jsonrpc.Message{}, c.statusOf(resp, inSession, text)
	}
	if x.call != nil && resp.ContentLength > 0 {
		if err := reserve(x.call, int(min(resp.ContentLength, jsonrpc.MaxMessage))); err != nil {
			_ = resp.Body.Close()
			return jsonrpc.Message{}, err
		}
	}
	body, err := jsonrpc.ReadBody(resp.Body, resp.ContentLength)
	_ = resp.Body.Close()
	if errors.Is(err, jsonrpc.ErrTooLarge) {
		return jsonrpc.Message{}, tooLarge(c.name)
	}
	if err != nil {
		return jsonrpc.Message{}, c.wireError(err)
	}
	if x.call != nil && resp.ContentLength < 0 { // only now is it known how large it is
		if err := reserve(x.call, len(body)); err != nil {
			return jsonrpc.Message{}, err
		}
	}
	msg, err := c.scan(body, x, id)
	if resp.StatusCode != http.StatusOK {
		if err != nil || msg.Kind != jsonrpc.ErrorResponse {
			return jsonrpc.Message{}, c.statusOf(resp, inSession, body)
		}
		if lost := c.statusOf(resp, inSession, msg.Error); errors.Is(lost, errSessionLost) {
			return jsonrpc.Message{}, lost
		}
		return msg, nil
	}
	if err != nil {
		return jsonrpc.Message{}, invalidAnswer(c.name, body, err)
	}
	if got, ok := parseID(msg.ID); !ok || got != id || (msg.Kind != jsonrpc.Response && msg.Kind != jsonrpc.ErrorResponse) {
		return jsonrpc.Message{}, unusable("server %s sent an answer that is not valid: it is not the answer to what was asked", c.name)
	}
	return msg, nil
}

// scan reads a message. In a batch, which MCP 2025-03-26 has, it returns the
// answer and handles the notifications.
func (c *httpConn) scan(data []byte, x *exchange, id uint64) (jsonrpc.Message, error) {
	if x.proto.version != jsonrpc.BatchVersion || !jsonrpc.IsBatch(data) {
		return jsonrpc.Scan(data)
	}
	messages, err := jsonrpc.SplitBatch(data)
	if err != nil {
		return jsonrpc.Message{}, err
	}
	found := jsonrpc.Message{}
	for _, message := range messages {
		msg, err := jsonrpc.Scan(message)
		if err != nil {
			return msg, err
		}
		if got, ok := parseID(msg.ID); ok && got == id && (msg.Kind == jsonrpc.Response || msg.Kind == jsonrpc.ErrorResponse) {
			found = msg
		} else if msg.Kind == jsonrpc.Notification {
			c.notified(&msg, x)
		}
	}
	return found, nil
}

func (c *httpConn) statusOf(resp *http.Response, inSession bool, body []byte) error {
	return statusOf(c.name, resp, inSession, body)
}

// statusOf returns the error for an HTTP status.
func statusOf(server string, resp *http.Response, inSession bool, body []byte) error {
	switch code := resp.StatusCode; {
	case inSession && (code == http.StatusNotFound ||
		// Many servers say 400 where the specification asks for 404.
		code == http.StatusBadRequest && strings.Contains(strings.ToLower(string(body)), "session")):
		return errSessionLost
	case code == http.StatusBadRequest && wantsTLS(body):
		why := &unreachable{
			cause: CauseNotHTTP, err: &statusError{server, code},
			text: gateway.Textf("%s wants TLS, so its URL must begin with https", resp.Request.URL.Host),
		}
		return &gateway.Error{
			Code: gateway.CodeUnavailable, Answered: true, Err: why,
			Message: "server %s cannot be reached: %s; `genkan doctor %s` says what mends it",
			Values:  []any{server, why.text, server},
		}
	case code == http.StatusUnauthorized || code == http.StatusForbidden:
		return &gateway.Error{
			Code: gateway.CodeUnavailable, Answered: true, Err: &statusError{server, code},
			Message: "server %s wants other credentials (HTTP %d); check its headers in the configuration",
			Values:  []any{server, code},
		}
	case code == http.StatusTooManyRequests || code == http.StatusServiceUnavailable:
		return &gateway.Error{
			Code: gateway.CodeLimited, Err: &statusError{server, code}, RetryAfter: retryAfter(resp.Header),
			Message: "server %s is busy (HTTP %d); try again later",
			Values:  []any{server, code},
		}
	case code >= 300 && code < 400:
		return &gateway.Error{
			Code: gateway.CodeUnavailable, Answered: true, Err: &statusError{server, code},
			Message: "server %s redirects elsewhere; genkan does not follow with your credentials, so put the new URL into the configuration",
			Values:  []any{server},
		}
	default:
		return &gateway.Error{
			Code: gateway.CodeUnavailable, Answered: code < 500, Err: &statusError{server, code},
			Message: "server %s answered with HTTP status %d; is its URL that of an MCP endpoint?",
			Values:  []any{server, code},
		}
	}
}

// wantsTLS recognizes the responses of Go's and nginx's TLS ports to plain HTTP.
func wantsTLS(body []byte) bool {
	text := strings.ToLower(string(body[:min(len(body), 4<<10)]))
	return strings.Contains(text, "http request to an https server") || strings.Contains(text, "plain http request was sent to https port")
}

func retryAfter(h http.Header) time.Duration {
	seconds, err := strconv.Atoi(h.Get("Retry-After"))
	if err != nil || seconds < 0 || seconds > 3600 {
		return 0
	}
	return time.Duration(seconds) * time.Second
}

// readStream reads a stream until the answer to request id. What comes before
// belongs to this call. A legacy server may close the connection before the
// answer; if its events have ids, the stream is resumed.
func (c *httpConn) readStream(ctx context.Context, body io.ReadCloser, x *exchange, id uint64) (jsonrpc.Message, error) {
	events := jsonrpc.NewSSEReader(body)
	defer func() { _ = body.Close() }()
	idle := 0 // resumptions that brought nothing
	for {
		event, err := events.Next()
		if errors.Is(err, jsonrpc.ErrTooLarge) {
			return jsonrpc.Message{}, tooLarge(c.name)
		}
		if err != nil {
			if x.call != nil && events.Retry() > 0 { // "come back later" is for whoever waits behind us, too
				if peer, ok := x.call.Peer.(gateway.Prolonger); ok {
					peer.Prolong()
				}
			}
			if idle++; idle > maxResumptions || x.proto.era != gateway.EraLegacy || events.LastID() == "" {
				return jsonrpc.Message{}, c.wireError(err)
			}
			again, resumeErr := c.resume(ctx, events.LastID(), events.Retry())
			var signIn *signInError
			if needsPerson(resumeErr) && errors.As(resumeErr, &signIn) {
				return jsonrpc.Message{}, &gateway.Error{
					Code: signIn.because.Code, Answered: true, Err: errors.Join(err, resumeErr),
					Message: "the connection to server %s broke, and it does not let genkan come back for the answer: %s. The call may have been carried out",
					Values:  []any{c.name, signIn.because},
				}
			}
			if resumeErr != nil {
				// Not as a failure to connect: the call has been sent.
				return jsonrpc.Message{}, broken(c.name, whyUnreachable(c.url, errors.Join(err, resumeErr)))
			}
			_ = body.Close()
			body = again
			events = events.Resume(again)
			continue
		}
		idle = 0
		c.heard.Add(1)
		if !isMessage(event) {
			continue
		}
		msg, err := c.scan(event.Data, x, id)
		if err != nil {
			return jsonrpc.Message{}, invalidAnswer(c.name, event.Data, err)
		}
		switch msg.Kind {
		case jsonrpc.Response, jsonrpc.ErrorResponse:
			if got, ok := parseID(msg.ID); ok && got == id {
				if x.call != nil {
					if err := reserve(x.call, len(msg.Result.Raw)); err != nil {
						return jsonrpc.Message{}, err
					}
				}
				go finish(body)
				body = io.NopCloser(nil) // finish closes it
				return msg, nil
			}
		case jsonrpc.Notification:
			c.notified(&msg, x)
		case jsonrpc.Request:
			c.requested(&msg, x.owner)
		}
	}
}

// isMessage reports whether an event carries a message of MCP. Other events, such
// as a server's own "ping", are ignored.
func isMessage(e jsonrpc.SSEvent) bool { return e.Type == "" || e.Type == "message" }

// maxResumptions is how often a stream is resumed without a new event, and
// defaultRetry the wait before that if the server states none.
const (
	maxResumptions = 5
	defaultRetry   = time.Second
	maxRetry       = time.Minute
)

// resume requests a stream again after the event with this id.
func (c *httpConn) resume(ctx context.Context, lastID string, wait time.Duration) (io.ReadCloser, error) {
	if wait <= 0 {
		wait = defaultRetry
	}
	timer := time.NewTimer(min(wait, maxRetry))
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
	c.mu.Lock()
	session := c.session
	c.mu.Unlock()
	r := c.request(ctx, http.MethodGet, "", "", c.proto, session, nil)
	r.Header["Accept"] = acceptSSE
	r.Header["Last-Event-Id"] = []string{lastID}
	resp, err := c.transport.RoundTrip(r) //nolint:bodyclose // the caller reads on, or drain closes it
	if err != nil {
		return nil, err
	}
	if resp.StatusCode != http.StatusOK || !strings.HasPrefix(resp.Header.Get("Content-Type"), "text/event-stream") {
		drain(resp.Body)
		return nil, &statusError{c.name, resp.StatusCode}
	}
	return resp.Body, nil
}

// finish waits briefly for a stream to end by itself: an HTTP connection that is
// closed under it cannot be reused.
func finish(body io.ReadCloser) {
	timer := time.AfterFunc(time.Second, func() { _ = body.Close() })
	drain(body)
	timer.Stop()
}
