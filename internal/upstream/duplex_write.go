package upstream

import (
	"context"
	"time"

	"genkan/internal/gateway"
)

// maxBacklog is how much may wait for a server that does not read.
const maxBacklog = 8 << 20

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
