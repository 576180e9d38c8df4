package upstream

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"time"

	"genkan/internal/gateway"
	"genkan/internal/jsonrpc"
)

// notified handles a notification. x is the exchange on whose stream it came, or
// nil.
func (c *httpConn) notified(msg *jsonrpc.Message, x *exchange) {
	params := msg.Params.Raw
	switch {
	case c.listeners.listChanged(msg.Method), msg.Method == "notifications/subscriptions/acknowledged":
	case msg.Method == "notifications/resources/updated":
		c.listeners.updated(jsonrpc.LookupText(params, "uri"))
	case msg.Method == "notifications/tasks":
		c.listeners.progressed(params)
	case msg.Method == statusOfTask && x != nil:
		c.tasks.status(params, x.call)
	case msg.Method == statusOfTask:
		c.tasks.status(params, nil)
	case msg.Method == "notifications/cancelled":
		c.questions.cancel(string(jsonrpc.Lookup(params, "requestId")))
	case x != nil && x.call != nil:
		forwardNotification(x.call, msg.Method, params)
	case msg.Method == "notifications/progress":
		// The token is the number of the call.
		id, _ := parseID(jsonrpc.Lookup(params, "progressToken"))
		c.mu.Lock()
		owner := c.calls[id]
		c.mu.Unlock()
		if owner != nil {
			forwardProgress(owner.call, params)
		}
	default:
		if owner := c.owner(); owner != nil {
			forwardNotification(owner.call, msg.Method, params)
		}
	}
}

// requested answers a request of the server, or asks the client of the call on
// whose stream it came.
func (c *httpConn) requested(msg *jsonrpc.Message, on *inFlightCall) {
	c.listeners.asked(msg.Method)
	owner := c.ownerOf(msg, on, c)
	kept := *msg
	if !c.beginAnswer() {
		c.endLife(&gateway.Error{
			Code:    gateway.CodeUnavailable,
			Message: "it sent more than %d requests of its own without accepting the answers; this is a fault of the server, or an attack",
			Values:  []any{maxAnswering},
		})
		return
	}
	if !c.spawn(func() {
		defer c.endAnswer()
		var answer []byte
		switch {
		case msg.Method == "ping":
			answer = jsonrpc.AppendResult(nil, kept.ID, []byte("{}"))
		case msg.Method == "roots/list" && (owner == nil || !canAnswer(owner.call, msg.Method, nil)):
			answer = jsonrpc.AppendResult(nil, kept.ID, *c.roots.Load())
		case capabilityOf(msg.Method) == "" && !isAboutTask(msg.Method) || c.proto.era == gateway.EraModern:
			answer = refusal(&kept, "this client did not announce the capability for "+msg.Method)
		case owner == nil:
			answer = noOwner(&kept)
		default:
			// Stop asking when the connection ends, since the answer cannot be
			// sent.
			ctx, cancel := context.WithCancelCause(owner.ctx)
			stop := context.AfterFunc(c.life, func() { cancel(context.Cause(c.life)) })
			answer = c.askClient(ctx, owner, &kept)
			stop()
			cancel(nil)
		}
		if answer == nil {
			return
		}
		ctx, cancel := context.WithTimeout(c.life, 10*time.Second)
		defer cancel()
		if err := c.post(ctx, c.proto, msg.Method, answer); err != nil {
			c.log.Debug("the server's request could not be answered", "error", err)
		}
	}) {
		c.endAnswer()
	}
}

// listen keeps a stream of changes open until ctx ends: a GET in the legacy era,
// a subscription in the modern one. It calls missed when changes may have been
// lost, and opened each time that the server acknowledges a subscription.
func (c *httpConn) listen(ctx context.Context, filter string, missed, opened func()) error {
	wait := time.Second
	for first := true; ; first = false {
		began := time.Now()
		retry, err := c.listenOnce(ctx, filter, opened)
		if ctx.Err() != nil || errors.Is(err, errNoStream) || first && needsPerson(err) {
			return err // calls will say why, and another connection asks again
		}
		if needsPerson(err) {
			retry = signInRetry // servers have been wrong about tokens before
		}
		if time.Since(began) > healthyAfter {
			wait = time.Second
		}
		c.log.Debug("the stream of changes ended", "error", err)
		timer := time.NewTimer(max(wait, retry))
		select {
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
			return err
		}
		wait = min(2*wait, time.Minute)
		missed()
	}
}

// errNoStream means that the server offers no stream of changes.
var errNoStream = errors.New("the server has no stream of changes")

func (c *httpConn) listenOnce(ctx context.Context, filter string, opened func()) (time.Duration, error) {
	var r *http.Request
	c.mu.Lock()
	session := c.session
	c.mu.Unlock()
	if c.proto.era == gateway.EraModern {
		body := jsonrpc.AppendRequestHead(nil, c.lastID.Add(1), "subscriptions/listen")
		body = append(append(body, c.proto.listenParams(filter)...), '}')
		r = c.request(ctx, http.MethodPost, "subscriptions/listen", "", c.proto, "", body)
	} else {
		r = c.request(ctx, http.MethodGet, "", "", c.proto, session, nil)
		r.Header["Accept"] = acceptSSE
	}
	resp, err := c.transport.RoundTrip(r)
	if err != nil {
		return 0, err
	}
	defer func() { _ = resp.Body.Close() }()
	if resp.StatusCode != http.StatusOK || !strings.HasPrefix(resp.Header.Get("Content-Type"), "text/event-stream") {
		if resp.StatusCode == http.StatusNotFound && session != "" {
			return 0, errSessionLost // a call will make a new one
		}
		switch resp.StatusCode {
		case http.StatusConflict, http.StatusTooManyRequests, http.StatusInternalServerError,
			http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
			// The former stream is still open, or a proxy answers for a server
			// that restarts.
			return retryAfter(resp.Header), &statusError{c.name, resp.StatusCode}
		}
		return 0, errNoStream
	}
	events := jsonrpc.NewSSEReader(resp.Body)
	for {
		event, err := events.Next()
		if err != nil {
			return events.Retry(), err
		}
		c.heard.Add(1)
		if !isMessage(event) {
			continue
		}
		msg, err := jsonrpc.Scan(event.Data)
		switch {
		case err != nil:
			return events.Retry(), err
		case msg.Kind == jsonrpc.Notification && msg.Method == "notifications/subscriptions/acknowledged":
			opened()
		case msg.Kind == jsonrpc.Notification:
			c.notified(&msg, nil)
		case msg.Kind == jsonrpc.Request:
			c.requested(&msg, nil)
		}
	}
}
