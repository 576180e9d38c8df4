package mcpserver

import (
	"context"
	"errors"
	"sync"
	"time"

	"genkan/internal/gateway"
	"genkan/internal/jsonrpc"
)

// duplexConn is a client whose messages all go over one connection: it spawned this
// process, or it uses the old SSE transport. Requests of both eras may come on it:
// a legacy client begins with initialize, a modern one with any request.
type duplexConn struct {
	server *Server
	id     gateway.Identity
	via    string
	// legacyOnly is set if the transport belongs to the legacy era.
	legacyOnly bool
	sess       *session
	out        outlet
	// life is the context of calls. It lasts longer than the reading of the input.
	life context.Context //nolint:containedctx // calls outlive the request to stop

	// calls counts the requests in flight. ending is set when no more may begin. mu
	// prevents a request from beginning while the last ones are waited for.
	mu     sync.Mutex
	ending bool
	calls  sync.WaitGroup
	// slots bounds the calls in flight of the client.
	slots chan struct{}
}

// outlet sends messages to the client.
type outlet interface {
	// answer sends a message that must arrive. It may wait until the client reads.
	answer(message []byte)
	// reply is answer for the goroutine that reads from the client. It does not
	// wait.
	reply(message []byte)
	// offer sends a message that may be dropped when the client is slow. It does not
	// wait. It reports whether the message was sent.
	offer(message []byte) bool
}

// mostDuplexCalls is how many calls such a client may have in flight.
const mostDuplexCalls = 1024

// drainTime is how long calls may run on after a request to stop.
const drainTime = 30 * time.Second

func (s *Server) newDuplexConn(id visitor, via string, out outlet) *duplexConn {
	return &duplexConn{
		server: s, id: id.Identity, via: via, out: out, slots: make(chan struct{}, mostDuplexCalls),
		sess: newSession(id.Identity, s.opt.Budget, id.view, "", nil, s.opt.AskPatience),
	}
}

// stopBeginning refuses all further requests. Requests in flight continue.
func (c *duplexConn) stopBeginning() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.ending = true
}

// receive handles a message from the client. It does not wait.
func (c *duplexConn) receive(ctx context.Context, msg *jsonrpc.Message) {
	switch msg.Kind {
	case jsonrpc.Request:
		if err := c.request(ctx, msg); err != nil {
			c.refuse(msg.ID, err)
		}
	case jsonrpc.Notification:
		c.server.notified(c.sess, msg)
	case jsonrpc.Response, jsonrpc.ErrorResponse:
		c.sess.answered(msg)
	}
}

// request answers a request, or starts a goroutine that does. The client gets a
// returned error as the answer.
func (c *duplexConn) request(ctx context.Context, msg *jsonrpc.Message) error {
	era := gateway.EraLegacy
	switch {
	case isModern(msg) && c.legacyOnly && msg.Method == "server/discover":
		return methodNotFound(msg.Method) // so that the client sends initialize
	case isModern(msg) && c.legacyOnly:
		return invalidRequest("this transport ends with MCP %s; for %s use /mcp", gateway.LegacyVersion, gateway.ModernVersion)
	case isModern(msg):
		era = gateway.EraModern
		if err := checkMeta(msg); err != nil {
			return err
		}
	}
	switch {
	case isCall(msg.Method, era):
		return c.call(ctx, msg, era)
	case era == gateway.EraModern && msg.Method == "subscriptions/listen":
		return c.listen(ctx, msg)
	case era == gateway.EraModern:
		return c.beside(ctx, msg, func(ctx context.Context) ([]byte, error) {
			return c.server.modernResult(ctx, msg, c.sess.view)
		})
	case msg.Method == "initialize":
		if err := c.server.opt.House().Count(c.id); err != nil {
			return err
		}
		version := negotiate(msg.Params.Raw)
		capabilities := clientCapabilities(msg)
		client := c.server.introduced(c.id, jsonrpc.Lookup(msg.Params.Raw, "clientInfo"))
		c.sess.learn(func(known *gateway.Session) { known.Capabilities, known.Client = capabilities, client })
		c.sess.mu.Lock()
		c.sess.version = version
		c.sess.mu.Unlock()
		c.out.reply(jsonrpc.AppendResult(nil, msg.ID, c.server.initializeResult(version, c.sess.view)))
		return nil
	case msg.Method == "ping":
		c.out.reply(jsonrpc.AppendResult(nil, msg.ID, []byte("{}")))
		return nil
	default:
		return c.beside(ctx, msg, func(ctx context.Context) ([]byte, error) {
			return c.server.legacyResult(ctx, msg, c.sess)
		})
	}
}

// call runs a call in a goroutine of its own, so that calls do not wait for one
// another.
func (c *duplexConn) call(ctx context.Context, msg *jsonrpc.Message, era gateway.Era) error {
	call, err := newCall(msg, era, c.id, c.via)
	if err != nil {
		return err
	}
	call.View = c.sess.view
	call.Session = c.sess.known.Load() // a connection is one session in both eras
	call.Budget = c.server.opt.Budget
	ctx, freeID, done, err := c.begin(ctx, msg)
	if err != nil {
		return err
	}
	peer := &duplexPeer{c: c, ctx: ctx}
	go func() {
		defer done()
		result, release, err := c.server.handle(ctx, call, peer)
		defer release()
		peer.close()
		freeID()
		switch {
		case errors.Is(context.Cause(ctx), errCanceledByClient):
			// The client does not want an answer to a canceled call.
		case err != nil:
			message, _, _ := c.server.callErrorMessage(msg.ID, call, err)
			c.out.answer(message)
		default:
			c.out.answer(jsonrpc.AppendResult(nil, msg.ID, jsonrpc.WithNotice(result.Raw, c.server.language().Text(result.Notice))))
		}
	}()
	return nil
}

// beside answers a request in a goroutine of its own. A list may wait for servers
// that have never been listed, and later messages must not wait for it.
func (c *duplexConn) beside(ctx context.Context, msg *jsonrpc.Message, answer func(context.Context) ([]byte, error)) error {
	ctx, freeID, done, err := c.begin(ctx, msg)
	if err != nil {
		return err
	}
	go func() {
		defer done()
		result, err := answer(ctx)
		freeID()
		switch {
		case errors.Is(context.Cause(ctx), errCanceledByClient):
		case err != nil:
			c.fail(msg.ID, err)
		case !c.sess.bytes.take(len(result)):
			c.fail(msg.ID, gateway.ErrShareUsedUp)
		default:
			c.out.answer(jsonrpc.AppendResult(nil, msg.ID, result))
			c.sess.bytes.give(len(result))
		}
	}()
	return nil
}

// begin registers a request, so that the client can cancel it and a stop waits for
// it until done is called. Its params count against the client's share until then.
// freeID frees its id before the answer is sent, because a client that has its
// answer may reuse the id at once.
func (c *duplexConn) begin(ctx context.Context, msg *jsonrpc.Message) (_ context.Context, freeID, done func(), _ error) {
	select {
	case c.slots <- struct{}{}:
	default:
		return nil, nil, nil, &gateway.Error{
			Code: gateway.CodeLimited, RetryAfter: time.Second,
			Message: "too many calls of this client are under way; wait for some to end",
		}
	}
	// A call outlives the reading: when the input ends, pending requests are still
	// answered.
	ctx, cancel := context.WithCancelCause(context.WithoutCancel(ctx))
	stop := context.AfterFunc(c.life, func() { cancel(context.Cause(c.life)) })
	name := string(msg.ID)
	size := len(msg.Params.Raw)
	release := func() {
		stop()
		cancel(nil)
		<-c.slots
	}
	if !c.sess.bytes.take(size) {
		release()
		return nil, nil, nil, gateway.ErrShareUsedUp
	}
	if err := c.sess.begin(name, cancel); err != nil {
		c.sess.bytes.give(size)
		release()
		return nil, nil, nil, err
	}
	freeID = sync.OnceFunc(func() { c.sess.finish(name) })
	forget := func() {
		freeID()
		c.sess.bytes.give(size)
		release()
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.ending {
		forget()
		return nil, nil, nil, errGoingDown()
	}
	c.calls.Add(1)
	return ctx, freeID, func() { forget(); c.calls.Done() }, nil
}

func errGoingDown() error {
	return gateway.Errorf(gateway.CodeUnavailable, "genkan is going down")
}

// listen serves subscriptions/listen until the client cancels it.
func (c *duplexConn) listen(ctx context.Context, msg *jsonrpc.Message) error {
	sub, err := c.server.newSubscription(msg, visitor{c.id, c.sess.view}, c.sess.known.Load())
	if err != nil {
		return err
	}
	closeStream, err := c.server.openStream(c.id.ClientID, sub.cost)
	if err != nil {
		return err
	}
	leave, ok := c.server.join(sub.listener)
	if !ok {
		closeStream()
		return errGoingDown()
	}
	outer := ctx
	ctx, freeID, done, err := c.begin(ctx, msg)
	if err != nil {
		leave()
		closeStream()
		return err
	}
	alone := len(sub.topics) == 0
	if alone {
		c.out.reply(sub.acknowledged())
	}
	go func() {
		defer done()
		defer closeStream()
		defer leave()
		defer sub.end()
		if !alone { // in a goroutine, because a server may take long
			sub.open(ctx, c.server)
			c.out.answer(sub.acknowledged())
		}
		for {
			select {
			case <-sub.listener.again:
				sub.renew(ctx, c.server)
			case <-sub.listener.queue.wake:
				for _, message := range sub.news() {
					c.out.answer(message)
				}
				sub.listener.sent()
			case <-ctx.Done():
				return
			case <-outer.Done():
				freeID()
				c.out.answer(sub.ended())
				return
			case <-c.server.drain:
				freeID()
				c.out.answer(sub.ended())
				return
			}
		}
	}()
	return nil
}

// tellOfChanges notifies a legacy client of changed lists and resources.
func (c *duplexConn) tellOfChanges(ctx context.Context, st *stream) {
	for {
		select {
		case <-st.queue.wake:
		case <-ctx.Done():
			return
		}
		messages := st.take(nil, everyKind)
		c.sess.mu.Lock()
		legacy := c.sess.version != ""
		c.sess.mu.Unlock()
		for _, message := range messages {
			if legacy {
				c.out.answer(message)
			}
		}
		st.sent()
	}
}

// fail answers a request with an error.
func (c *duplexConn) fail(id []byte, err error) {
	message, _, _ := c.server.errorMessage(id, err)
	c.out.answer(message)
}

// refuse is fail for the goroutine that reads from the client.
func (c *duplexConn) refuse(id []byte, err error) {
	message, _, _ := c.server.errorMessage(id, err)
	c.out.reply(message)
}

// duplexPeer reaches the client while a call is in flight. After the answer or a
// cancellation it sends nothing about the call.
type duplexPeer struct {
	c   *duplexConn
	ctx context.Context //nolint:containedctx // the call's own

	mu   sync.Mutex
	done bool
}

func (p *duplexPeer) Notify(method string, params []byte) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.done && p.ctx.Err() == nil {
		p.c.out.offer(jsonrpc.AppendNotification(nil, method, params))
	}
}

// Ask sends a question to the client and waits for the answer.
func (p *duplexPeer) Ask(ctx context.Context, method string, params []byte) ([]byte, error) {
	return p.c.sess.askVia(ctx, method, params, p.c.out.offer, nil)
}

func (p *duplexPeer) close() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.done = true
}
