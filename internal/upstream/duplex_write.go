package upstream

import (
	"bytes"
	"context"
	"errors"
	"time"

	"genkan/internal/gateway"
	"genkan/internal/jsonrpc"
)

// lockForQueue waits until a message may be queued and returns with mu held. If
// it returns an error, mu is not held.
func (c *duplexConn) lockForQueue(ctx context.Context) error {
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
		if c.drained == nil {
			c.drained = make(chan struct{})
		}
		drained, written := c.drained, c.written.Load()
		c.mu.Unlock()
		timer := time.NewTimer(c.limits.readTimeout)
		select {
		case <-drained:
			timer.Stop()
		case <-c.gone:
			timer.Stop()
		case <-timer.C:
			if c.written.Load() == written {
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

// refusal returns why nothing can be queued, or nil. Called with mu held.
func (c *duplexConn) refusal() error {
	if c.dead != nil {
		return c.lostInFlight(c.dead, true)
	}
	if len(c.out) > c.limits.backlog {
		return &gateway.Error{
			Code: gateway.CodeLimited, Unsent: true, RetryAfter: time.Second,
			Message: "server %s does not read what it is sent; `genkan servers %s` shows its last output",
			Values:  []any{c.name, c.name},
		}
	}
	return nil
}

// enqueueRequest assigns an id to a request and queues it. Called with mu held.
func (c *duplexConn) enqueueRequest(p *pending, build func(dst []byte, id uint64) []byte) (id uint64, err error) {
	id = c.lastID + 1
	if err := c.enqueue(func(dst []byte) []byte { return build(dst, id) }); err != nil {
		return 0, err
	}
	c.lastID, c.pending[id], p.number = id, p, c.queued
	return id, nil
}

// enqueue appends a message to out unless it is too large. Called with mu held.
func (c *duplexConn) enqueue(build func(dst []byte) []byte) error {
	before := len(c.out)
	c.out = append(build(c.out), '\n')
	if size := len(c.out) - before; c.maxMessage > 0 && size > c.maxMessage {
		c.out = bytes.Clone(c.out[:before]) // without the memory for the large message
		return &gateway.Error{
			Code: gateway.CodeInvalid, Unsent: true, Err: errTooLargeToSend,
			Message: "the message for server %s is %d bytes, and at most %d are sent to a command: many programs end when they get more. Send less at once",
			Values:  []any{c.name, size, c.maxMessage},
		}
	}
	c.queued++
	select {
	case c.wake <- struct{}{}:
	default:
	}
	return nil
}

// errTooLargeToSend is the cause of errors about a message over maxMessage.
var errTooLargeToSend = errors.New("the message is too large to be sent")

// send queues a notification or an answer. If an answer is too large, the server
// gets an error response in its place.
func (c *duplexConn) send(message []byte) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if err := c.refusal(); err != nil {
		return err
	}
	err := c.enqueue(func(dst []byte) []byte { return append(dst, message...) })
	if !errors.Is(err, errTooLargeToSend) {
		return err
	}
	if msg, scanErr := jsonrpc.Scan(message); scanErr == nil && msg.Kind == jsonrpc.Response {
		object := jsonrpc.ErrorObject(jsonrpc.CodeInternal, gateway.AsError(err).Text(), nil)
		_ = c.enqueue(func(dst []byte) []byte { return jsonrpc.AppendErrorObject(dst, msg.ID, object) })
	}
	return err
}

// write sends everything that is queued in one write, so that calls share writes
// under load.
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
		if c.drained != nil {
			close(c.drained)
			c.drained = nil
		}
		c.mu.Unlock()
		if err := c.writeBatch(batch); err != nil {
			c.die(err)
			return
		}
		spare = batch
		if cap(spare) > 1<<20 {
			spare = nil
		}
	}
}

// writeBatch writes a batch and counts the writes, so that a slow reader is not
// taken for one that does not read.
func (c *duplexConn) writeBatch(batch []byte) error {
	for len(batch) > 0 {
		n, err := c.wire.write(batch)
		if err != nil {
			return err
		}
		c.written.Add(1)
		batch = batch[n:]
	}
	return nil
}
