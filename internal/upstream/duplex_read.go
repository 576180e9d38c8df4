package upstream

import (
	"bytes"
	"errors"
	"iter"

	"genkan/internal/gateway"
	"genkan/internal/jsonrpc"
)

// read delivers messages until the wire ends.
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
		c.malformed(line, invalidAnswer(c.name, line, err))
		return
	}
	switch msg.Kind {
	case jsonrpc.Response, jsonrpc.ErrorResponse:
		c.deliver(msg.ID, answer{msg: msg})
	case jsonrpc.Notification:
		c.notified(&msg)
	case jsonrpc.Request:
		c.requested(&msg)
	}
}

// malformed handles a line that is not a message. If it is an unreadable answer,
// the call that it belongs to ends with failure. Anything else is noise, which
// many servers write, and is kept with their output.
func (c *duplexConn) malformed(line []byte, failure error) {
	id, isAnswer := answeredID(line)
	switch {
	case id != nil && c.deliver(id, answer{err: failure}):
		return
	case id == nil && isAnswer:
		c.lostAnswer(failure)
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

// lostAnswer records an unreadable answer without an id. It belongs to one of the
// requests in flight. Which one may be known only when the others are answered.
func (c *duplexConn) lostAnswer(failure error) {
	c.mu.Lock()
	c.lostAnswers++
	c.lostBy, c.lostWhy = c.lastID, failure
	lost := c.lostAnswers
	lostRequests := c.lostRequests()
	c.mu.Unlock()
	c.log.Warn("server sent an answer that cannot be read and has no id", "lost_answers", lost, "known_call", len(lostRequests) > 0)
	c.failAll(lostRequests, failure)
}

// lostRequests removes and returns the requests whose answers are known to be
// lost: those that remain when as many requests are in flight as answers were
// lost. Called with mu held.
func (c *duplexConn) lostRequests() []*pending {
	var found []uint64
	for id, p := range c.pending {
		if id <= c.lostBy && p.opened == nil {
			found = append(found, id)
		}
	}
	if len(found) > c.lostAnswers {
		return nil
	}
	c.lostAnswers = 0
	lostRequests := make([]*pending, 0, len(found))
	for _, id := range found {
		lostRequests = append(lostRequests, c.pending[id])
		delete(c.pending, id)
	}
	return lostRequests
}

func (c *duplexConn) failAll(lostRequests []*pending, failure error) {
	for _, p := range lostRequests {
		p.answer <- answer{err: failure}
	}
}

// answeredID looks for the id of an unreadable answer. It reports whether the
// line is an answer, which it can be without an id that is found.
//
// It reads tokens without checking them, because the line may be invalid UTF-8,
// cut off, or too large to be kept whole.
func answeredID(line []byte) (id []byte, isAnswer bool) {
	line = bytes.TrimSpace(bytes.TrimPrefix(line, []byte("\ufeff")))
	if len(line) == 0 || line[0] != '{' {
		return nil, false
	}
	depth, isMessage := 0, false
	for i := 0; i < len(line); i++ {
		switch line[i] {
		case '{', '[':
			depth++
		case '}', ']':
			depth--
		case '"':
			end := stringEnd(line, i)
			if depth == 1 {
				if value, ok := bytes.CutPrefix(bytes.TrimLeft(line[end:], " \t"), []byte{':'}); ok {
					switch string(line[i:end]) {
					case `"method"`:
						return nil, false // a request or a notification
					case `"jsonrpc"`:
						isMessage = true
					case `"result"`, `"error"`:
						isAnswer = true
					case `"id"`:
						id = number(value)
					}
				}
			}
			i = end - 1
		}
	}
	switch {
	case isAnswer && id == nil:
		return lastID(line), true
	case isAnswer || isMessage:
		return id, isAnswer
	default:
		return nil, false
	}
}

// stringEnd returns the index behind the string that begins at i.
func stringEnd(line []byte, i int) int {
	for i++; i < len(line); i++ {
		switch line[i] {
		case '\\':
			i++
		case '"':
			return i + 1
		}
	}
	return len(line)
}

// number returns the digits that a value begins with, nil if there are none.
func number(value []byte) []byte {
	value = bytes.TrimLeft(value, " \t")
	n := 0
	for n < len(value) && value[n] >= '0' && value[n] <= '9' {
		n++
	}
	if n == 0 {
		return nil
	}
	return value[:n]
}

// lastID returns the id at the end of a message, where the TypeScript SDK writes
// it, or nil.
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
			forwardProgress(p.call, params)
		}
	case c.listeners.listChanged(msg.Method):
	case msg.Method == "notifications/subscriptions/acknowledged":
		c.acknowledged(params)
	case msg.Method == "notifications/resources/updated":
		c.listeners.updated(jsonrpc.LookupText(params, "uri"))
	case msg.Method == "notifications/tasks":
		c.listeners.progressed(params)
	case msg.Method == statusOfTask:
		c.tasks.status(params, nil)
	case msg.Method == "notifications/cancelled":
		c.questions.cancel(string(jsonrpc.Lookup(params, "requestId")))
	default:
		if owner := c.owner(); owner != nil {
			forwardNotification(owner.call, msg.Method, params)
		} else if msg.Method == "notifications/message" {
			_, _ = c.output.Write(append(params[:len(params):len(params)], '\n'))
		}
	}
}

// owner returns the newest call if all calls in flight belong to one client.
func (c *duplexConn) owner() *inFlightCall {
	c.mu.Lock()
	defer c.mu.Unlock()
	return soleOwner(c.inFlightCalls())
}

func (c *duplexConn) ownerInSession(session *gateway.Session) *inFlightCall {
	c.mu.Lock()
	defer c.mu.Unlock()
	return outsideCalls(c.life, session, c.inFlightCalls())
}

// inFlightCalls iterates over the requests in flight. Called with mu held.
func (c *duplexConn) inFlightCalls() iter.Seq[*inFlightCall] {
	return func(yield func(*inFlightCall) bool) {
		for _, p := range c.pending {
			if !yield(&p.inFlightCall) {
				return
			}
		}
	}
}

// requested answers a request of the server, or asks the client to.
func (c *duplexConn) requested(msg *jsonrpc.Message) {
	c.listeners.asked(msg.Method)
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
		owner := c.ownerOf(msg, nil, c)
		if owner == nil {
			answer(noOwner(msg))
			return
		}
		if !c.beginAnswer() {
			answer(jsonrpc.AppendErrorObject(nil, msg.ID, jsonrpc.ErrorObject(jsonrpc.CodeInternal,
				"too many requests of this server wait for an answer", nil)))
			return
		}
		go func() {
			defer c.endAnswer()
			answer(c.askClient(owner.ctx, owner, msg))
		}()
	}
}
