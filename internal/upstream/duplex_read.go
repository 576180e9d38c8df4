package upstream

import (
	"bytes"
	"errors"
	"iter"

	"genkan/internal/gateway"
	"genkan/internal/jsonrpc"
)

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
	case msg.Method == "notifications/tasks":
		c.ears.progressed(params)
	case msg.Method == statusOfTask:
		c.tasks.status(params, nil)
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
	return soleOwner(c.underWay())
}

func (c *duplexConn) ownerIn(session *gateway.Session) *underWay {
	c.mu.Lock()
	defer c.mu.Unlock()
	return besideCalls(c.life, session, c.underWay())
}

// underWay are the requests that wait for their answers. Called with mu held.
func (c *duplexConn) underWay() iter.Seq[*underWay] {
	return func(yield func(*underWay) bool) {
		for _, p := range c.pending {
			if !yield(&p.underWay) {
				return
			}
		}
	}
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
		answer(jsonrpc.AppendResult(nil, msg.ID, *c.roots.Load()))
	case capabilityOf(msg.Method) == "" && !isAboutTask(msg.Method):
		answer(refusal(msg, "this client did not announce the capability for "+msg.Method))
	default:
		owner := c.whose(msg, nil, c)
		if owner == nil {
			answer(nobodys(msg))
			return
		}
		go func() { answer(c.putToClient(owner.ctx, owner, msg)) }()
	}
}
