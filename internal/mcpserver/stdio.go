package mcpserver

import (
	"context"
	"errors"
	"io"
	"sync"
	"time"

	"genkan/internal/gateway"
	"genkan/internal/jsonrpc"
)

// stdioConn is one client that spawned us. Requests of both eras may come on
// it: a legacy client begins with initialize, a modern one with anything.
type stdioConn struct {
	server *Server
	id     gateway.Identity
	sess   *session
	// life is what calls live for: longer than the reading.
	life context.Context //nolint:containedctx // calls outlive the request to stop

	writing sync.Mutex
	w       io.Writer

	// calls are under way; ending is set when no more may begin. mu keeps one
	// from beginning while the last ones are waited for.
	mu     sync.Mutex
	ending bool
	calls  sync.WaitGroup
	// places bounds what one client can have under way.
	places chan struct{}
}

// mostStdioCalls is how many calls one stdio client may have under way.
const mostStdioCalls = 1024

// drainTime is how long calls may go on after a request to stop.
const drainTime = 30 * time.Second

// ServeStdio serves one client until its input ends or ctx does, and then lets
// the calls that are under way finish; not for ever, once ctx has ended.
func (s *Server) ServeStdio(ctx context.Context, in io.Reader, out io.Writer) error {
	c := &stdioConn{
		server: s, w: out, places: make(chan struct{}, mostStdioCalls),
		id:   gateway.Identity{ClientID: "local", Admin: true},
		sess: newSession("local", "", "", nil),
	}
	defer c.sess.end()
	st := c.sess.open()
	leave, ok := s.connect(c.sess)
	if !ok {
		return errGoingDown()
	}
	defer leave()
	life, giveUp := context.WithCancelCause(s.life)
	defer giveUp(nil)
	c.life = life
	stop := ctx.Done()
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var beside sync.WaitGroup
	beside.Go(func() { c.tellOfChanges(ctx, st) })

	ended := make(chan error, 1)
	go func() { ended <- c.read(ctx, in) }()
	var err error
	select {
	case err = <-ended:
	case <-ctx.Done():
	case <-s.drain:
	}
	c.mu.Lock()
	c.ending = true
	c.mu.Unlock()
	c.sess.silence()
	// Subscriptions end with the connection, or they would keep it for ever.
	// Calls have contexts of their own and finish.
	cancel(nil)
	beside.Go(func() {
		select {
		case <-stop:
		case <-life.Done():
			return
		}
		patience := time.NewTimer(drainTime)
		defer patience.Stop()
		select {
		case <-patience.C:
			giveUp(errGoingDown())
		case <-life.Done():
		}
	})
	c.calls.Wait()
	giveUp(nil)
	beside.Wait()
	return err
}

func (c *stdioConn) read(ctx context.Context, in io.Reader) error {
	lines := jsonrpc.NewLineReader(in)
	for {
		line, err := lines.Next()
		switch {
		case errors.Is(err, io.EOF):
			return nil
		case errors.Is(err, jsonrpc.ErrTooLarge):
			c.fail(nil, tooLarge())
		case err != nil:
			return err
		default:
			c.receive(ctx, line)
		}
		if ctx.Err() != nil {
			return nil
		}
	}
}

func (c *stdioConn) receive(ctx context.Context, line []byte) {
	msg, err := jsonrpc.Scan(line)
	if err != nil {
		c.fail(msg.ID, unreadable(err))
		return
	}
	switch msg.Kind {
	case jsonrpc.Request:
		if err := c.request(ctx, &msg); err != nil {
			c.fail(msg.ID, err)
		}
	case jsonrpc.Notification:
		c.sess.notified(&msg)
	case jsonrpc.Response, jsonrpc.ErrorResponse:
		c.sess.answered(&msg)
	}
}

// request answers, or begins to. An error it returns is the answer.
func (c *stdioConn) request(ctx context.Context, msg *jsonrpc.Message) error {
	era := gateway.EraLegacy
	if isModern(msg) {
		era = gateway.EraModern
		if err := checkMeta(msg); err != nil {
			return err
		}
	}
	switch {
	case isCall(msg.Method):
		return c.call(ctx, msg, era)
	case era == gateway.EraModern && msg.Method == "subscriptions/listen":
		return c.listen(ctx, msg)
	case era == gateway.EraModern:
		return c.beside(ctx, msg, func(ctx context.Context) ([]byte, error) {
			return c.server.modernResult(ctx, msg, c.sess.view)
		})
	case msg.Method == "initialize":
		version := negotiate(msg.Params.Raw)
		capabilities := clientCapabilities(msg)
		c.sess.learn(func(known *gateway.Session) { known.Capabilities = capabilities })
		c.sess.mu.Lock()
		c.sess.version = version
		c.sess.mu.Unlock()
		c.write(jsonrpc.AppendResult(nil, msg.ID, c.server.initializeResult(version, c.sess.view)))
		return nil
	case msg.Method == "ping":
		c.write(jsonrpc.AppendResult(nil, msg.ID, []byte("{}")))
		return nil
	default:
		return c.beside(ctx, msg, func(ctx context.Context) ([]byte, error) {
			return c.server.legacyResult(ctx, msg, c.sess)
		})
	}
}

// call runs a call beside the reading, so that calls do not wait for one
// another.
func (c *stdioConn) call(ctx context.Context, msg *jsonrpc.Message, era gateway.Era) error {
	call, err := newCall(msg, era, c.id, "stdio")
	if err != nil {
		return err
	}
	call.View = c.sess.view
	if era == gateway.EraLegacy {
		call.Session = c.sess.known.Load()
	}
	call.Budget = c.server.opt.Budget
	if err := call.Reserve(len(msg.Params.Raw)); err != nil {
		return err
	}
	ctx, settle, done, err := c.begin(ctx, msg)
	if err != nil {
		call.Release()
		return err
	}
	peer := &stdioPeer{c: c, ctx: ctx}
	go func() {
		defer done()
		result, release, err := c.server.handle(ctx, call, peer)
		defer release()
		peer.close()
		settle()
		switch {
		case errors.Is(context.Cause(ctx), errCanceledByClient):
			// The client has said that it does not want an answer.
		case err != nil:
			c.fail(msg.ID, err)
		default:
			c.write(jsonrpc.AppendResult(nil, msg.ID, result.Raw))
		}
	}()
	return nil
}

// beside answers a request beside the reading: a list may wait for servers that
// were never seen before, and what comes behind it must not.
func (c *stdioConn) beside(ctx context.Context, msg *jsonrpc.Message, answer func(context.Context) ([]byte, error)) error {
	ctx, settle, done, err := c.begin(ctx, msg)
	if err != nil {
		return err
	}
	go func() {
		defer done()
		result, err := answer(ctx)
		settle()
		switch {
		case errors.Is(context.Cause(ctx), errCanceledByClient):
		case err != nil:
			c.fail(msg.ID, err)
		default:
			c.write(jsonrpc.AppendResult(nil, msg.ID, result))
		}
	}()
	return nil
}

// begin registers a request so that it can be canceled, and is waited for
// until done is called. settle frees its id: before the answer is out, since a
// client that has its answer may use the id again at once.
func (c *stdioConn) begin(ctx context.Context, msg *jsonrpc.Message) (_ context.Context, settle, done func(), _ error) {
	select {
	case c.places <- struct{}{}:
	default:
		return nil, nil, nil, &gateway.Error{
			Code: gateway.CodeLimited, RetryAfter: time.Second,
			Message: "too many calls of this client are under way; wait for some to end",
		}
	}
	// A call outlives the reading: when the input ends, what was asked is
	// still answered.
	ctx, cancel := context.WithCancelCause(context.WithoutCancel(ctx))
	stop := context.AfterFunc(c.life, func() { cancel(context.Cause(c.life)) })
	name := string(msg.ID)
	if err := c.sess.begin(name, cancel); err != nil {
		stop()
		cancel(nil)
		<-c.places
		return nil, nil, nil, err
	}
	settle = sync.OnceFunc(func() { c.sess.finish(name) })
	forget := func() {
		settle()
		stop()
		cancel(nil)
		<-c.places
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.ending {
		forget()
		return nil, nil, nil, errGoingDown()
	}
	c.calls.Add(1)
	return ctx, settle, func() { forget(); c.calls.Done() }, nil
}

func errGoingDown() error {
	return gateway.Errorf(gateway.CodeUnavailable, "genkan is going down")
}

// listen serves subscriptions/listen until the client cancels it.
func (c *stdioConn) listen(ctx context.Context, msg *jsonrpc.Message) error {
	sub, err := newSubscription(msg, c.sess.view)
	if err != nil {
		return err
	}
	leave, ok := c.server.join(sub.listener)
	if !ok {
		return errGoingDown()
	}
	outer := ctx
	ctx, settle, done, err := c.begin(ctx, msg)
	if err != nil {
		leave()
		return err
	}
	alone := len(sub.resources) == 0
	if alone {
		c.write(sub.acknowledged())
	}
	go func() {
		defer done()
		defer leave()
		defer sub.end()
		if !alone { // beside the reading: a server may take its time
			sub.open(ctx, c.server)
			c.write(sub.acknowledged())
		}
		for {
			select {
			case <-sub.listener.again:
				sub.renew(ctx, c.server)
			case <-sub.listener.wake:
				for _, message := range sub.news() {
					c.write(message)
				}
			case <-ctx.Done():
				return
			case <-outer.Done():
				settle()
				c.write(sub.ended())
				return
			case <-c.server.drain:
				settle()
				c.write(sub.ended())
				return
			}
		}
	}()
	return nil
}

// tellOfChanges notifies a legacy client of changed lists and resources.
func (c *stdioConn) tellOfChanges(ctx context.Context, st *stream) {
	for {
		select {
		case <-st.wake:
		case <-ctx.Done():
			return
		}
		messages := st.take(nil, everyKind)
		c.sess.mu.Lock()
		legacy := c.sess.version != ""
		c.sess.mu.Unlock()
		for _, message := range messages {
			if legacy {
				c.write(message)
			}
		}
	}
}

// fail answers a request with an error.
func (c *stdioConn) fail(id []byte, err error) {
	message, _, _ := c.server.errorMessage(id, err)
	c.write(message)
}

// write sends one message as a line. Messages hold no line breaks.
func (c *stdioConn) write(message []byte) {
	c.writing.Lock()
	defer c.writing.Unlock()
	if _, err := c.w.Write(append(message, '\n')); err != nil {
		c.server.opt.Log.Debug("the client does not read any more", "error", err)
	}
}

// stdioPeer is the way back to the client while a call is under way. After the
// answer, and after a cancellation, nothing about the call may be said.
type stdioPeer struct {
	c   *stdioConn
	ctx context.Context //nolint:containedctx // the call's own

	mu   sync.Mutex
	done bool
}

func (p *stdioPeer) Notify(method string, params []byte) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.done && p.ctx.Err() == nil {
		p.c.write(jsonrpc.AppendNotification(nil, method, params))
	}
}

// Ask sends a question to the client and waits for the answer.
func (p *stdioPeer) Ask(ctx context.Context, method string, params []byte) ([]byte, error) {
	return p.c.sess.askVia(ctx, p.c.server.opt.AskPatience, method, params, func(message []byte) bool {
		p.c.write(message)
		return true
	}, nil)
}

func (p *stdioPeer) close() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.done = true
}
