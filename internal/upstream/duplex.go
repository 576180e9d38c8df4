package upstream

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"genkan/internal/gateway"
	"genkan/internal/jsonrpc"
)

// duplexConn speaks with a server over a wire that has no requests and answers
// of its own, only messages: a child's pipes, or the old SSE transport. Calls of
// all clients share it: ids and progress tokens are our own numbers, one writer
// sends what has gathered since its last write, one reader hands out the
// answers.
type duplexConn struct {
	name   string
	log    *slog.Logger
	wire   wire
	output *ring
	proto  protocol
	ears   ears
	// roots is the answer to roots/list.
	roots     []byte
	questions questions

	mu      sync.Mutex
	pending map[uint64]*pending
	lastID  uint64
	// out is what waits to be written; queued counts the messages ever put
	// there, begun those that a write has been begun for.
	out           []byte
	queued, begun uint64
	dead          error
	// room is closed when out has been taken for writing; nil while nobody
	// waits for that.
	room chan struct{}
	// poured counts what the server has taken, to tell slow from deaf.
	poured atomic.Uint64
	noise  int

	wake chan struct{}
	gone chan struct{}
	// loops ends when reader and writer have ended.
	loops sync.WaitGroup
}

// pending is a request that waits for its answer.
type pending struct {
	underWay // its number is its place among the queued
	answer   chan answer
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
	// end ends the wire and returns when nothing of it is left.
	end()
}

// maxBacklog is how much may wait for a server that does not read.
const maxBacklog = 8 << 20

func newDuplexConn(s *Server, w wire, e ears, roots []byte) *duplexConn {
	return &duplexConn{
		name: s.set.Name, log: s.log, wire: w, output: s.output, ears: e, roots: roots,
		pending: map[uint64]*pending{},
		wake:    make(chan struct{}, 1), gone: make(chan struct{}),
	}
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

// subscribe opens a stream of notifications and returns its id. Its answer
// comes when it ends; opened is told when the server has acknowledged it.
func (c *duplexConn) subscribe(p protocol, filter string) (id uint64, opened *pending, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.dead != nil {
		return 0, nil, c.dead
	}
	c.lastID++
	id = c.lastID
	opened = &pending{answer: make(chan answer, 1), opened: make(chan struct{}, 1)}
	c.pending[id] = opened
	c.enqueue(func(dst []byte) []byte {
		dst = jsonrpc.AppendRequestHead(dst, id, "subscriptions/listen")
		return append(append(dst, p.ownParams(filter)...), '}')
	})
	opened.number = c.queued
	return id, opened, nil
}

// unsubscribe ends a stream of notifications.
func (c *duplexConn) unsubscribe(id uint64) {
	c.mu.Lock()
	delete(c.pending, id)
	c.mu.Unlock()
	_ = c.send(jsonrpc.AppendNotification(nil, "notifications/cancelled", canceledParams(id, nil)))
}

// acknowledged notes that a stream of notifications is open.
func (c *duplexConn) acknowledged(params []byte) {
	id, _ := parseID(jsonrpc.Lookup(jsonrpc.Lookup(params, "_meta"), jsonrpc.MetaSubscriptionID))
	c.mu.Lock()
	defer c.mu.Unlock()
	if p := c.pending[id]; p != nil && p.opened != nil {
		select {
		case p.opened <- struct{}{}:
		default:
		}
	}
}

func (c *duplexConn) watch(ctx context.Context, uri string) (stop func(), err error) {
	if c.proto.era == gateway.EraModern {
		id, p, err := c.subscribe(c.proto, watchFilter(uri))
		if err != nil {
			return nil, err
		}
		if err := awaitStream(ctx, p.opened, p.answer); err != nil {
			c.unsubscribe(id)
			return nil, err
		}
		return func() { c.unsubscribe(id) }, nil
	}
	if err := asked(c.ask(ctx, "resources/subscribe", uriParams(uri))); err != nil {
		return nil, err
	}
	return func() {
		ctx, cancel := context.WithTimeout(context.Background(), patienceForWishes)
		defer cancel()
		_, _ = c.ask(ctx, "resources/unsubscribe", uriParams(uri))
	}, nil
}

func (c *duplexConn) protocol() protocol    { return c.proto }
func (c *duplexConn) pid() int              { return c.wire.pid() }
func (c *duplexConn) lost() <-chan struct{} { return c.gone }

func (c *duplexConn) cause() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.dead
}

func (c *duplexConn) call(ctx context.Context, call *gateway.Call, in *gateway.Params) (*gateway.Result, error) {
	if err := c.proto.refuses(in); err != nil {
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

func (c *duplexConn) list(ctx context.Context, kind gateway.Kind) (listed, error) {
	return listAll(ctx, c.proto, kind, c.ask)
}

// roundTrip queues a request and waits for its answer.
func (c *duplexConn) roundTrip(ctx context.Context, call *gateway.Call, build func(dst []byte, id uint64) []byte) (jsonrpc.Message, error) {
	p := &pending{underWay: underWay{call: call, ctx: ctx, left: make(chan struct{})}, answer: make(chan answer, 1)}
	defer close(p.left)
	if err := c.lockWithRoom(ctx); err != nil {
		return jsonrpc.Message{}, err
	}
	c.lastID++
	id := c.lastID
	c.pending[id] = p
	c.enqueue(func(dst []byte) []byte { return build(dst, id) })
	p.number = c.queued
	c.mu.Unlock()

	select {
	case a := <-p.answer:
		return a.msg, a.err
	case <-ctx.Done():
	}
	c.mu.Lock()
	_, waiting := c.pending[id]
	delete(c.pending, id)
	if waiting && c.dead == nil && len(c.out) < maxBacklog {
		c.enqueue(func(dst []byte) []byte {
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

// readPatience is how long a server may leave a full backlog untouched before
// it is taken for one that does not read.
const readPatience = 5 * time.Second

// lockWithRoom waits until something may be queued, and returns with mu held;
// with an error, it is not.
func (c *duplexConn) lockWithRoom(ctx context.Context) error {
	for {
		c.mu.Lock()
		err := c.refusal()
		if err == nil {
			return nil
		}
		if c.dead != nil {
			c.mu.Unlock()
			return err
		}
		if c.room == nil {
			c.room = make(chan struct{})
		}
		room, poured := c.room, c.poured.Load()
		c.mu.Unlock()
		timer := time.NewTimer(readPatience)
		select {
		case <-room:
			timer.Stop()
		case <-c.gone:
			timer.Stop()
		case <-timer.C:
			if c.poured.Load() == poured {
				return err
			}
		case <-ctx.Done():
			timer.Stop()
			return &gateway.Error{
				Code: gateway.AsError(context.Cause(ctx)).Code, Unsent: true, Err: context.Cause(ctx),
				Message: "server %s was busy reading other calls; this one was not sent",
				Values:  []any{c.name},
			}
		}
	}
}

// refusal says why nothing can be queued. Called with mu held.
func (c *duplexConn) refusal() error {
	if c.dead != nil {
		return c.lostInFlight(c.dead, true)
	}
	if len(c.out) > maxBacklog {
		return &gateway.Error{
			Code: gateway.CodeLimited, Unsent: true, RetryAfter: time.Second,
			Message: "server %s does not read what it is sent; `genkan servers %s` shows its last output",
			Values:  []any{c.name, c.name},
		}
	}
	return nil
}

// enqueue appends a message to what the writer takes next. Called with mu
// held.
func (c *duplexConn) enqueue(build func(dst []byte) []byte) {
	c.out = append(build(c.out), '\n')
	c.queued++
	select {
	case c.wake <- struct{}{}:
	default:
	}
}

func (c *duplexConn) send(message []byte) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if err := c.refusal(); err != nil {
		return err
	}
	c.enqueue(func(dst []byte) []byte { return append(dst, message...) })
	return nil
}

// write sends what has gathered, in one write: under load many calls share it.
func (c *duplexConn) write() {
	defer c.loops.Done()
	var spare []byte
	for {
		select {
		case <-c.wake:
		case <-c.gone:
			return
		}
		c.mu.Lock()
		batch := c.out
		c.out = spare[:0]
		c.begun = c.queued
		if c.room != nil {
			close(c.room)
			c.room = nil
		}
		c.mu.Unlock()
		if err := c.pour(batch); err != nil {
			c.die(err)
			return
		}
		spare = batch
		if cap(spare) > 1<<20 {
			spare = nil
		}
	}
}

// pour writes a batch, counting as it goes: a server that reads slowly reads.
func (c *duplexConn) pour(batch []byte) error {
	for len(batch) > 0 {
		n, err := c.wire.write(batch)
		if err != nil {
			return err
		}
		c.poured.Add(1)
		batch = batch[n:]
	}
	return nil
}

// read hands out answers until the wire ends.
func (c *duplexConn) read() {
	defer c.loops.Done()
	for {
		line, err := c.wire.next()
		switch {
		case errors.Is(err, jsonrpc.ErrTooLarge):
			c.malformed(line, tooLarge(c.name))
		case err != nil:
			c.die(err)
			return
		default:
			c.receive(line)
		}
	}
}

func (c *duplexConn) receive(line []byte) {
	if jsonrpc.IsBatch(line) {
		// One version of MCP has arrays of messages. Much noise begins like one.
		if messages, err := jsonrpc.SplitBatch(line); err == nil {
			for _, message := range messages {
				c.receiveOne(message)
			}
			return
		}
	}
	c.receiveOne(line)
}

func (c *duplexConn) receiveOne(line []byte) {
	msg, err := jsonrpc.Scan(line)
	if err != nil {
		c.malformed(line, invalidAnswer(c.name, err))
		return
	}
	switch msg.Kind {
	case jsonrpc.Response, jsonrpc.ErrorResponse:
		c.settle(msg.ID, answer{msg: msg})
	case jsonrpc.Notification:
		c.notified(&msg)
	case jsonrpc.Request:
		c.requested(&msg)
	}
}

// settle gives a request its answer. An answer that nobody waits for (late
// after a cancellation, or made up) goes nowhere.
func (c *duplexConn) settle(rawID []byte, a answer) bool {
	id, ok := parseID(rawID)
	if !ok {
		return false
	}
	c.mu.Lock()
	p := c.pending[id]
	delete(c.pending, id)
	c.mu.Unlock()
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

// malformed deals with a line that is no message. If it began as the answer to
// somebody, they are told; otherwise it is noise, which many servers make, and
// is kept with the rest of their output.
func (c *duplexConn) malformed(line []byte, failure error) {
	if len(line) > 0 && line[0] == '{' {
		partial, _ := jsonrpc.Scan(bytes.Clone(line))
		if partial.ID == nil {
			partial.ID = lastID(line)
		}
		if partial.ID != nil && c.settle(partial.ID, answer{err: failure}) {
			return
		}
	}
	c.mu.Lock()
	c.noise++
	first := c.noise == 1
	c.mu.Unlock()
	if first {
		c.log.Warn("server writes between its messages what is none; this is tolerated, and shown with the rest of its output")
	}
	const most = 1024
	if len(line) > most {
		line = append(line[:most:most], "…"...)
	}
	_, _ = c.output.Write(append(line[:len(line):len(line)], '\n'))
}

// lastID is the id of a message that ends with it, as those of the TypeScript
// SDK do; nil if it does not.
func lastID(line []byte) []byte {
	const most = 64
	end := bytes.TrimRight(line[max(len(line)-most, 0):], " \t\r}")
	at := bytes.LastIndex(end, []byte(`"id":`))
	if at < 0 {
		return nil
	}
	return bytes.TrimSpace(end[at+len(`"id":`):])
}

func (c *duplexConn) notified(msg *jsonrpc.Message) {
	params := msg.Params.Raw
	switch {
	case msg.Method == "notifications/progress":
		id, ok := parseID(jsonrpc.Lookup(params, "progressToken"))
		if !ok {
			return
		}
		c.mu.Lock()
		p := c.pending[id]
		c.mu.Unlock()
		if p != nil && p.call != nil {
			forward(p.call, params)
		}
	case c.ears.heard(msg.Method):
	case msg.Method == "notifications/subscriptions/acknowledged":
		c.acknowledged(params)
	case msg.Method == "notifications/resources/updated":
		c.ears.updated(jsonrpc.LookupText(params, "uri"))
	case msg.Method == "notifications/cancelled":
		c.questions.cancel(string(jsonrpc.Lookup(params, "requestId")))
	default:
		if owner := c.owner(); owner != nil {
			pass(owner.call, msg.Method, params)
		} else if msg.Method == "notifications/message" {
			_, _ = c.output.Write(append(params[:len(params):len(params)], '\n'))
		}
	}
}

// owner finds whose a message is that names no call.
func (c *duplexConn) owner() *underWay {
	c.mu.Lock()
	defer c.mu.Unlock()
	return soleOwner(func(yield func(*underWay) bool) {
		for _, p := range c.pending {
			if !yield(&p.underWay) {
				return
			}
		}
	})
}

// requested answers what the server asks of its client, or has the client
// answer it.
func (c *duplexConn) requested(msg *jsonrpc.Message) {
	c.ears.asked(msg.Method)
	answer := func(message []byte) {
		if message == nil {
			return
		}
		if err := c.send(message); err != nil {
			c.log.Debug("the server's request could not be answered", "error", err)
		}
	}
	switch {
	case msg.Method == "ping":
		answer(jsonrpc.AppendResult(nil, msg.ID, []byte("{}")))
	case msg.Method == "roots/list":
		answer(jsonrpc.AppendResult(nil, msg.ID, c.roots))
	case capabilityOf(msg.Method) == "":
		answer(refusal(msg, "this client did not announce the capability for "+msg.Method))
	default:
		owner := c.owner()
		if owner == nil {
			answer(refusal(msg, nobodysQuestion))
			return
		}
		go func() { answer(c.questions.putToClient(owner.ctx, owner, msg)) }()
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
		Code: gateway.CodeUnavailable, Err: e.Err, Unsent: neverLeft,
		Message: "server %s was lost during the call: %s; %s",
		Values:  []any{c.name, e, fate},
	}
}

func (c *duplexConn) close() {
	c.die(&gateway.Error{Code: gateway.CodeUnavailable, Message: "it was stopped"})
	c.wire.end()
	c.loops.Wait()
}
