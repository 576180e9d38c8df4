package fault

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
)

// conn is what belongs to one client: the pipe of stdio, or a legacy HTTP
// session. Modern HTTP requests each get one of their own, since they share
// nothing.
type conn struct {
	// id is the session id; empty on stdio.
	id string
	// ended is closed, by cancel, when the session ends.
	ended  context.Context
	cancel context.CancelCauseFunc

	mu           sync.Mutex
	opened       bool
	capabilities *clientCapabilities
	// subscribed and logLevel are a legacy client's wishes.
	subscribed map[string]bool
	logLevel   string
	inflight   map[string]context.CancelCauseFunc
	pending    map[string]chan *message
	asked      int
	// standing is where messages go that belong to no request: the pipe, or
	// the stream of a GET.
	standing outlet
	// backlog holds them until there is such a stream.
	backlog [][]byte
}

func newConn(ctx context.Context, id string, standing outlet) *conn {
	c := &conn{
		id:       id,
		inflight: make(map[string]context.CancelCauseFunc),
		pending:  make(map[string]chan *message),
		standing: standing,
	}
	c.ended, c.cancel = context.WithCancelCause(ctx)
	return c
}

func (c *conn) open(capabilities *clientCapabilities) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.opened, c.capabilities = true, capabilities
}

func (c *conn) isOpen() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.opened
}

func (c *conn) clientCapabilities() *clientCapabilities {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.capabilities
}

// track makes a request cancellable by its id until its answer begins, when
// the id becomes free again. An id that is still in use is refused, so that a
// gateway which mixes up its callers' ids is found out. The returned release
// frees what the context holds.
func (c *conn) track(ctx context.Context, req *request) (_ context.Context, release func(), err *rpcError) {
	id := req.ID
	ctx, cancel := context.WithCancelCause(ctx)
	c.mu.Lock()
	defer c.mu.Unlock()
	if _, taken := c.inflight[string(id)]; taken {
		cancel(nil)
		return nil, nil, badRequest(codeInvalidRequest, "id %s is in use", id)
	}
	c.inflight[string(id)] = cancel
	req.settle = sync.OnceFunc(func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		delete(c.inflight, string(id))
	})
	return ctx, func() {
		req.settle()
		cancel(nil)
	}, nil
}

// receive takes what is not a request: cancellations, and answers to our own
// requests. The rest needs no reaction.
func (c *conn) receive(m *message) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if m.isResponse() {
		if answer, ok := c.pending[string(m.ID)]; ok {
			delete(c.pending, string(m.ID))
			answer <- m // buffered
		}
		return
	}
	if m.Method == "notifications/cancelled" {
		var params struct {
			RequestID json.RawMessage `json:"requestId"`
		}
		if json.Unmarshal(m.Params, &params) == nil {
			if cancel, ok := c.inflight[string(params.RequestID)]; ok {
				cancel(errCancelled)
			}
		}
	}
}

// errTakenBack ends a question that the server itself takes back.
var errTakenBack = errors.New("the question was taken back")

// ask sends the client a request and waits for its answer. When ctx ends, the
// client is told that the answer is not wanted any more.
func (c *conn) ask(ctx context.Context, out outlet, method string, params any) (*message, error) {
	answer := make(chan *message, 1)
	c.mu.Lock()
	c.asked++
	id := encode(fmt.Sprintf("fault-%d", c.asked))
	c.pending[string(id)] = answer
	c.mu.Unlock()
	defer func() {
		c.mu.Lock()
		delete(c.pending, string(id))
		c.mu.Unlock()
	}()
	ask := encode(struct {
		JSONRPC string          `json:"jsonrpc"`
		ID      json.RawMessage `json:"id"`
		Method  string          `json:"method"`
		Params  any             `json:"params"`
	}{"2.0", id, method, params})
	if err := send(out, aside, ask); err != nil {
		return nil, err
	}
	select {
	case m := <-answer:
		return m, nil
	case <-ctx.Done():
		if errors.Is(context.Cause(ctx), errTakenBack) {
			_ = send(out, aside, notification("notifications/cancelled", map[string]any{"requestId": id}))
		}
		return nil, context.Cause(ctx)
	}
}

// askBeside asks on the stream that belongs to no request.
func (c *conn) askBeside(ctx context.Context, method string, params any) (*message, error) {
	c.mu.Lock()
	standing := c.standing
	c.mu.Unlock()
	if standing == nil {
		return nil, errGone
	}
	return c.ask(ctx, standing, method, params)
}

func (c *conn) changed(kind string) { c.tell(notification("notifications/"+kind+"/list_changed", nil)) }

func (c *conn) updated(uri string) {
	c.mu.Lock()
	subscribed := c.subscribed[uri]
	c.mu.Unlock()
	if subscribed {
		c.tell(notification("notifications/resources/updated", map[string]any{"uri": uri}))
	}
}

// tell tells a legacy client what belongs to no request, now or when it next
// opens a stream.
func (c *conn) tell(msg []byte) {
	c.mu.Lock()
	standing := c.standing
	if standing == nil {
		c.backlog = append(c.backlog, msg)
	}
	c.mu.Unlock()
	if standing != nil {
		_ = send(standing, aside, msg)
	}
}

// attach makes out the standing stream; it fails when there is one already,
// since a message must go to one stream only.
func (c *conn) attach(out outlet) bool {
	c.mu.Lock()
	if c.standing != nil {
		c.mu.Unlock()
		return false
	}
	c.standing = out
	backlog := c.backlog
	c.backlog = nil
	c.mu.Unlock()
	for _, msg := range backlog {
		_ = send(out, aside, msg)
	}
	return true
}

func (c *conn) detach() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.standing = nil
}
