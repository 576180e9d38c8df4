package mcpserver

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"strings"
	"sync"
	"time"

	"genkan/internal/gateway"
	"genkan/internal/jsonrpc"
)

// StdioOptions describe one client.
type StdioOptions struct {
	// View is the view that the client asks for.
	View gateway.View
	// Client is the name of the client; empty if unknown. Seen is called for each
	// message of the client; may be nil.
	Client string
	Seen   func()
	// Dir is the directory that the client works in; empty if unknown.
	Dir string
	// Gone is closed when the client can no longer read answers. Calls are canceled
	// then. It is nil if that cannot be known.
	Gone <-chan struct{}
}

// Check returns an error if a client's options cannot be satisfied.
func (s *Server) Check(opt StdioOptions) error {
	if !s.opt.House().Has(opt.View) {
		return UnknownServers(opt.View.Servers.Names())
	}
	return nil
}

// UnknownServers returns the error for a client that asks for unknown servers.
func UnknownServers(only []string) error {
	return gateway.Errorf(gateway.CodeInvalid, "--only %s names a server that is not configured, or is disabled; `genkan servers` lists them", strings.Join(only, ","))
}

// ServeStdio serves one client until its input or ctx ends, and then lets the calls
// in flight finish. After the end of ctx it waits only for a limited time.
func (s *Server) ServeStdio(ctx context.Context, in io.Reader, out io.Writer, opt StdioOptions) error {
	if err := s.Check(opt); err != nil {
		return err
	}
	local := gateway.LocalIdentity(opt.Client)
	who := visitor{local, opt.View}
	if s.opt.Place != nil {
		who.view = s.opt.Place(local, who.view)
	}
	c := s.newDuplexConn(who, "stdio", &lines{w: out, log: s.opt.Log})
	c.sess.learn(func(known *gateway.Session) { known.Dir = opt.Dir })
	defer s.endSession(c.sess)
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
	beside.Go(func() {
		select {
		case <-opt.Gone:
			giveUp(errCanceledByClient)
		case <-life.Done():
		}
	})

	ended := make(chan error, 1)
	go func() { ended <- c.read(ctx, in, opt.Seen) }()
	var err error
	silent := errGoingDown()
	select {
	case err = <-ended:
		silent = errSessionEnded()
	case <-ctx.Done():
	case <-s.drain:
	}
	c.stopBeginning()
	c.sess.silence(silent)
	// Subscriptions end with the connection, because they would otherwise keep it
	// open for ever. Calls have their own contexts and finish.
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

// read reads the input line by line.
func (c *duplexConn) read(ctx context.Context, in io.Reader, seen func()) error {
	lines := jsonrpc.NewLineReader(in)
	for {
		line, err := lines.Next()
		if err == nil && seen != nil {
			seen()
		}
		switch {
		case errors.Is(err, io.EOF):
			return nil
		case errors.Is(err, jsonrpc.ErrTooLarge):
			c.refuse(nil, tooLarge())
		case err != nil:
			return err
		default:
			c.receiveLine(ctx, line)
		}
		if ctx.Err() != nil {
			return nil
		}
	}
}

// receiveLine handles a line: a message, or an array of messages if the client's
// version allows arrays.
func (c *duplexConn) receiveLine(ctx context.Context, line []byte) {
	messages := [][]byte{line}
	batch := jsonrpc.IsBatch(line) && c.sess.hasBatches()
	if batch {
		var err error
		if messages, err = splitBatch(line); err != nil {
			c.refuse(nil, err)
		}
	}
	for _, message := range messages {
		msg, err := jsonrpc.Scan(message)
		switch {
		case err != nil:
			c.refuse(msg.ID, unreadable(err))
		case batch && msg.Kind == jsonrpc.Request && msg.Method == "initialize":
			c.refuse(msg.ID, errInitializeInBatch())
		default:
			c.receive(ctx, &msg)
		}
	}
}

// lines is the outlet to a client that spawned this process. If the client does not
// read, writers wait. That is harmless, because the process serves no other client.
type lines struct {
	log *slog.Logger
	mu  sync.Mutex
	w   io.Writer
}

// answer sends one message as a line. Messages hold no line breaks.
func (l *lines) answer(message []byte) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if _, err := l.w.Write(append(message, '\n')); err != nil {
		l.log.Debug("the client does not read any more", "error", err)
	}
}

func (l *lines) reply(message []byte) { l.answer(message) }

func (l *lines) offer(message []byte) bool {
	l.answer(message)
	return true
}
