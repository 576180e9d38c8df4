package mcpserver

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"sync"
	"time"

	"genkan/internal/gateway"
	"genkan/internal/jsonrpc"
)

// ServeStdio serves one client until its input ends or ctx does, and then lets
// the calls that are under way finish; not for ever, once ctx has ended.
func (s *Server) ServeStdio(ctx context.Context, in io.Reader, out io.Writer) error {
	c := s.newDuplexConn(visitor{Identity: gateway.Identity{ClientID: "local", Admin: true}}, "stdio", &lines{w: out, log: s.opt.Log})
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
	c.stopBeginning()
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

// read takes what comes, line by line.
func (c *duplexConn) read(ctx context.Context, in io.Reader) error {
	lines := jsonrpc.NewLineReader(in)
	for {
		line, err := lines.Next()
		switch {
		case errors.Is(err, io.EOF):
			return nil
		case errors.Is(err, jsonrpc.ErrTooLarge):
			c.refuse(nil, tooLarge())
		case err != nil:
			return err
		default:
			if msg, err := jsonrpc.Scan(line); err != nil {
				c.refuse(msg.ID, unreadable(err))
			} else {
				c.receive(ctx, &msg)
			}
		}
		if ctx.Err() != nil {
			return nil
		}
	}
}

// lines is the outlet to a client that spawned us. If it does not read, whoever
// writes to it waits: in such a process there is nobody else to be held up.
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
