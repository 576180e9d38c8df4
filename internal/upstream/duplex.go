package upstream

import (
	"context"
	"log/slog"
	"sync"
	"sync/atomic"

	"genkan/internal/gateway"
	"genkan/internal/jsonrpc"
)

// duplexConn is a connection over a wire that carries single messages: the pipes
// of a command, or the old SSE transport. All clients share it. Request ids and
// progress tokens are genkan's own numbers. One goroutine writes everything that
// was queued since its last write, another reads and delivers answers.
type duplexConn struct {
	name      string
	log       *slog.Logger
	wire      wire
	output    *ring
	proto     protocol
	listeners listeners
	limits    limits
	// maxMessage is the size of the largest message that is sent; zero for no
	// limit.
	maxMessage int
	clientState

	mu      sync.Mutex
	pending map[uint64]*pending
	lastID  uint64
	// out holds the queued messages. queued counts the messages that were ever
	// queued, begun those of them whose write has begun.
	out           []byte
	queued, begun uint64
	dead          error
	// drained is closed when out has been taken for writing; nil unless somebody
	// waits for that.
	drained chan struct{}
	// written counts the writes that the server accepted, which tells a slow
	// server from one that does not read.
	written atomic.Uint64
	noise   int
	// lostAnswers counts unreadable answers that cannot be assigned to a request
	// yet. They belong to requests with ids up to lostBy, which fail with
	// lostWhy.
	lostAnswers int
	lostBy      uint64
	lostWhy     error

	wake chan struct{}
	gone chan struct{}
	// life ends with the connection.
	life    context.Context //nolint:containedctx // it ends with the connection
	endLife context.CancelFunc
	// loops waits for the reader and the writer.
	loops sync.WaitGroup
}

// pending is a request that waits for its answer.
type pending struct {
	inFlightCall // its number is its place among the queued
	answer       chan answer
	// opened receives when the server acknowledges a subscription; nil for other
	// requests.
	opened chan struct{}
}

type answer struct {
	msg jsonrpc.Message
	err error
}

// wire carries messages to a server and back. Its errors say what happened to the
// server.
type wire interface {
	// write sends the beginning of a batch of messages, each of them a line, and
	// returns how many bytes that was.
	write(batch []byte) (int, error)
	// next returns the next message in a new slice. With jsonrpc.ErrTooLarge it
	// returns the beginning and the end of a message that is too large, and the
	// wire goes on; any other error is final.
	next() ([]byte, error)
	// pid returns the process id of a command, otherwise zero.
	pid() int
	// received counts how often anything came from the server.
	received() uint64
	// end closes the wire and waits until its goroutines have ended.
	end()
}

func newDuplexConn(s *Server, w wire, e listeners, roots []byte) *duplexConn {
	c := &duplexConn{
		name: s.set.Name, log: s.log, wire: w, output: s.output, listeners: e, limits: s.deps.limits,
		pending: map[uint64]*pending{},
		wake:    make(chan struct{}, 1), gone: make(chan struct{}),
	}
	c.server = s
	c.setRoots(roots)
	c.life, c.endLife = context.WithCancel(context.Background())
	return c
}

// start runs the connection and the handshake. It closes the connection if the
// handshake fails.
func (c *duplexConn) start(agree func() (protocol, error)) (conn, error) {
	c.loops.Add(2)
	go c.write()
	go c.read()
	var err error
	c.proto, err = agree()
	if err != nil {
		if dead := c.cause(); dead != nil {
			err = dead // what happened to the server, not to our question
		}
		c.close()
		return nil, err
	}
	return c, nil
}

func (c *duplexConn) protocol() protocol    { return c.proto }
func (c *duplexConn) pid() int              { return c.wire.pid() }
func (c *duplexConn) received() uint64      { return c.wire.received() }
func (c *duplexConn) lost() <-chan struct{} { return c.gone }

func (c *duplexConn) busy() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, p := range c.pending {
		if p.call != nil {
			return true
		}
	}
	return false
}

func (c *duplexConn) cause() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.dead
}

func (c *duplexConn) call(ctx context.Context, call *gateway.Call, in *gateway.Params) (*gateway.Result, error) {
	if err := c.proto.checkState(in); err != nil {
		return nil, err
	}
	msg, err := c.roundTrip(ctx, call, func(dst []byte, id uint64) []byte {
		dst = jsonrpc.AppendRequestHead(dst, id, call.Method)
		dst = c.proto.appendParams(dst, call, in, id)
		return append(dst, '}')
	})
	if err != nil {
		return nil, err
	}
	return c.proto.answer(&msg, call)
}

func (c *duplexConn) ask(ctx context.Context, method string, params []byte) (jsonrpc.Message, error) {
	return c.roundTrip(ctx, nil, func(dst []byte, id uint64) []byte {
		return append(append(jsonrpc.AppendRequestHead(dst, id, method), params...), '}')
	})
}

func (c *duplexConn) sendNotification(method string, params []byte) {
	if err := c.send(jsonrpc.AppendNotification(nil, method, params)); err != nil {
		c.log.Debug("a notification could not be sent", "error", err)
	}
}

func (c *duplexConn) list(ctx context.Context, kind gateway.Kind) (listed, error) {
	return listAll(ctx, c.proto, kind, c.ask)
}

// roundTrip queues a request and waits for its answer.
func (c *duplexConn) roundTrip(ctx context.Context, call *gateway.Call, build func(dst []byte, id uint64) []byte) (jsonrpc.Message, error) {
	p := &pending{inFlightCall: inFlightCall{call: call, ctx: ctx, left: make(chan struct{})}, answer: make(chan answer, 1)}
	defer close(p.left)
	if err := c.lockForQueue(ctx); err != nil {
		return jsonrpc.Message{}, err
	}
	id, err := c.enqueueRequest(p, build)
	c.mu.Unlock()
	if err != nil {
		return jsonrpc.Message{}, err
	}

	select {
	case a := <-p.answer:
		return a.msg, a.err
	case <-ctx.Done():
	}
	c.mu.Lock()
	_, waiting := c.pending[id]
	delete(c.pending, id)
	if waiting && id <= c.lostBy {
		c.lostAnswers = 0 // the lost answer may have been this one's
	}
	if waiting && c.dead == nil && len(c.out) < c.limits.backlog {
		_ = c.enqueue(func(dst []byte) []byte {
			return jsonrpc.AppendNotification(dst, "notifications/cancelled", canceledParams(id, context.Cause(ctx)))
		})
	}
	c.mu.Unlock()
	if !waiting {
		a := <-p.answer // it came at the same moment
		return a.msg, a.err
	}
	return jsonrpc.Message{}, context.Cause(ctx)
}

// deliver hands an answer to the request that it belongs to. It reports false if
// there is none: the answer came after a cancellation, or the server made up the
// id.
func (c *duplexConn) deliver(rawID []byte, a answer) bool {
	id, ok := parseID(rawID)
	if !ok {
		return false
	}
	c.mu.Lock()
	p := c.pending[id]
	delete(c.pending, id)
	var lostRequests []*pending
	var why error
	if c.lostAnswers > 0 {
		lostRequests, why = c.lostRequests(), c.lostWhy
	}
	c.mu.Unlock()
	c.failAll(lostRequests, why)
	if p == nil {
		return false
	}
	if p.call != nil && a.err == nil {
		if err := reserve(p.call, len(a.msg.Result.Raw)); err != nil {
			a = answer{err: err}
		}
	}
	p.answer <- a
	return true
}

// waiter returns the context of a request in flight, or nil.
func (c *duplexConn) waiter(id uint64) context.Context {
	c.mu.Lock()
	defer c.mu.Unlock()
	if p := c.pending[id]; p != nil {
		return p.ctx
	}
	return nil
}

// fail ends a request in flight with an error.
func (c *duplexConn) fail(id uint64, err error) {
	c.mu.Lock()
	p := c.pending[id]
	delete(c.pending, id)
	c.mu.Unlock()
	if p != nil {
		p.answer <- answer{err: err}
	}
}

// die ends the connection once. Requests in flight fail, and the error says
// whether they were sent.
func (c *duplexConn) die(err error) {
	c.mu.Lock()
	if c.dead != nil {
		c.mu.Unlock()
		return
	}
	c.dead = err
	waiting, begun := c.pending, c.begun
	c.pending = map[uint64]*pending{}
	c.mu.Unlock()
	close(c.gone)
	c.endLife()
	for _, p := range waiting {
		p.answer <- answer{err: c.lostInFlight(err, p.number > begun)}
	}
}

func (c *duplexConn) lostInFlight(err error, neverLeft bool) error {
	e := gateway.AsError(err)
	fate := gateway.Textf("the call may or may not have been carried out")
	if neverLeft {
		fate = gateway.Textf("the call was not sent")
	}
	return &gateway.Error{
		Code: gateway.CodeUnavailable, Err: e.Err, Unsent: neverLeft, Lost: !neverLeft,
		Message: "server %s was lost during the call: %s; %s",
		Values:  []any{c.name, e, fate},
	}
}

func (c *duplexConn) end(why error) { c.die(why) }

func (c *duplexConn) close() {
	c.die(&gateway.Error{Code: gateway.CodeUnavailable, Message: "it was stopped"})
	c.wire.end()
	c.loops.Wait()
}
