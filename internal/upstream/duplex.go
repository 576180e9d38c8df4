package upstream

import (
	"context"
	"log/slog"
	"sync"
	"sync/atomic"

	"genkan/internal/gateway"
	"genkan/internal/jsonrpc"
)

// duplexConn speaks with a server over a wire that has no requests and answers
// of its own, only messages: a child's pipes, or the old SSE transport. Calls of
// all clients share it: ids and progress tokens are our own numbers, one writer
// sends what has gathered since its last write, one reader hands out the
// answers.
type duplexConn struct {
	name      string
	log       *slog.Logger
	wire      wire
	output    *ring
	proto     protocol
	listeners listeners
	limits    limits
	// maxMessage is the size of the largest message that is sent; zero for any.
	maxMessage int
	clientState

	mu      sync.Mutex
	pending map[uint64]*pending
	lastID  uint64
	// out is what waits to be written; queued counts the messages ever put
	// there, begun those that a write has been begun for.
	out           []byte
	queued, begun uint64
	dead          error
	// drained is closed when out has been taken for writing; nil while nobody
	// waits for that.
	drained chan struct{}
	// written counts what the server has taken, to tell slow from deaf.
	written atomic.Uint64
	noise   int
	// lostAnswers counts unreadable answers whose call is not known yet. It is
	// one of those up to lostBy, and fails with lostWhy.
	lostAnswers int
	lostBy      uint64
	lostWhy     error

	wake chan struct{}
	gone chan struct{}
	// life is the connection's own, for what is asked beside calls.
	life    context.Context //nolint:containedctx // it ends with the connection
	endLife context.CancelFunc
	// loops ends when reader and writer have ended.
	loops sync.WaitGroup
}

// pending is a request that waits for its answer.
type pending struct {
	inFlightCall // its number is its place among the queued
	answer       chan answer
	// opened is told when a stream of notifications is open; nil for requests
	// that are none.
	opened chan struct{}
}

type answer struct {
	msg jsonrpc.Message
	err error
}

// wire carries messages to a server and back. Its errors say what has happened
// to the server.
type wire interface {
	// write sends the beginning of a batch of messages, each of them a line, and
	// returns how many bytes that was.
	write(batch []byte) (int, error)
	// next returns the next message, in memory of its own. With
	// jsonrpc.ErrTooLarge come the beginning and the end of one that is too
	// large, and the wire goes on; any other error is its end.
	next() ([]byte, error)
	// pid is the server's process, zero if it is not a child.
	pid() int
	// received counts the times that anything came from the server, messages or
	// not.
	received() uint64
	// end ends the wire and returns when nothing of it is left.
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

// start begins to speak, and closes the connection again if nothing can be
// agreed on.
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

// deliver gives a request its answer. An answer that nobody waits for (late
// after a cancellation, or made up) goes nowhere.
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

// waiter is the context of whoever waits for an answer, nil for nobody.
func (c *duplexConn) waiter(id uint64) context.Context {
	c.mu.Lock()
	defer c.mu.Unlock()
	if p := c.pending[id]; p != nil {
		return p.ctx
	}
	return nil
}

// fail tells whoever waits for an answer that there is none.
func (c *duplexConn) fail(id uint64, err error) {
	c.mu.Lock()
	p := c.pending[id]
	delete(c.pending, id)
	c.mu.Unlock()
	if p != nil {
		p.answer <- answer{err: err}
	}
}

// die ends the connection once. Whoever waits is told whether the request had
// left.
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
