package bridge

import (
	"cmp"
	"errors"
	"io"
	"slices"

	"genkan/internal/gateway"
	"genkan/internal/jsonrpc"
)

// link is a connection to an owner.
type link struct {
	conn io.ReadWriteCloser
	out  *outbox
	// pending are the requests whose answers the client waits for.
	pending map[string]*request
	// replayed are the requests that the bridge has repeated on its own, with the
	// functions that handle the answers. The client does not wait for these answers.
	replayed map[string]func(*jsonrpc.Message) [][]byte
	// retiring is set if the owner is shutting down and only answers the requests in
	// flight.
	retiring bool
}

// request is a client's request that an owner has to answer.
type request struct {
	id, method string
	// spans are those of the params.
	spans  gateway.Params
	params []byte
	number uint64
	// line is the request itself; kept if it may be sent again.
	line []byte
}

func newRequest(msg *jsonrpc.Message, line []byte, number uint64) *request {
	r := &request{id: string(msg.ID), method: msg.Method, spans: msg.Params, number: number}
	r.spans.Raw = nil // calls may be large, and many may be pending
	if repeatable[msg.Method] {
		r.params, r.line = msg.Params.Raw, line
	}
	return r
}

// head returns what is kept of every request.
func (r *request) head() *jsonrpc.Message {
	return &jsonrpc.Message{ID: []byte(r.id), Method: r.method, Params: r.spans}
}

// repeatable are the methods that change nothing at a server. They are sent to
// another owner when the first one ended without an answer. Other requests may
// have been carried out.
var repeatable = map[string]bool{
	"initialize": true, "ping": true, "server/discover": true,
	"tools/list": true, "prompts/list": true, "resources/list": true, "resources/templates/list": true,
	"logging/setLevel": true, "resources/subscribe": true, "resources/unsubscribe": true,
}

// send sends a request whose answer the client waits for.
func (l *link) send(r *request, line []byte) {
	l.pending[r.id] = r
	l.out.putLine(line)
}

// finish sends the end mark. The owner closes the connection when it has answered
// all requests.
func (l *link) finish() { l.out.put([]byte{endMark}) }

// adopt makes a connection the link for new messages, and replays the session state
// to its owner.
func (b *bridge) adopt(conn io.ReadWriteCloser) {
	l := &link{
		conn: conn, out: newOutbox(conn),
		pending: map[string]*request{}, replayed: map[string]func(*jsonrpc.Message) [][]byte{},
	}
	b.mu.Lock()
	b.connecting = false
	b.links[l] = struct{}{}
	b.current = l
	// Send everything at once: an owner handles one line after the other.
	b.state.replay(l)
	for _, w := range b.waiting.takeAll() {
		if w.request != nil {
			l.send(w.request, w.line)
		} else {
			l.out.putLine(w.line)
		}
	}
	if b.ending {
		l.finish()
	}
	b.mu.Unlock()
	b.background.Go(func() { b.readOwner(l) })
	b.background.Go(func() {
		// A link ends if it cannot be written to, or if its bridge ends.
		select {
		case <-l.out.done:
		case <-b.life.Done():
		}
		_ = l.conn.Close()
		<-l.out.done
	})
}

// connect searches for another owner if one is needed.
func (b *bridge) connect() {
	if b.current != nil || b.connecting || b.isDone() {
		return
	}
	b.connecting = true
	b.background.Go(func() {
		for wait := reconnectPause; ; wait = min(2*wait, reconnectMost) {
			conn, err := b.opt.Connect(b.life)
			if err == nil {
				b.adopt(conn)
				return
			}
			if b.life.Err() != nil {
				return
			}
			b.opt.Log.Warn("no other genkan could be joined or started; trying again", "error", err)
			if pause(b.life, wait) != nil {
				return
			}
			b.mu.Lock()
			if b.isDone() {
				b.connecting = false
				b.mu.Unlock()
				return
			}
			b.mu.Unlock()
		}
	})
}

// isDone reports whether the client has gone and no request waits.
func (b *bridge) isDone() bool { return b.ending && b.waiting.requests() == 0 }

func (b *bridge) readOwner(l *link) {
	lines := jsonrpc.NewLineReader(l.conn)
	for {
		line, err := lines.Next()
		switch {
		case errors.Is(err, jsonrpc.ErrTooLarge):
			b.opt.Log.Warn("genkan's background process sent a message that is too large")
		case err != nil:
			b.lost(l, err)
			return
		default:
			b.fromOwner(l, line)
		}
	}
}

// lost handles the end of an owner's connection.
func (b *bridge) lost(l *link, err error) {
	l.out.close()
	_ = l.conn.Close()
	b.mu.Lock()
	delete(b.links, l)
	if b.current == l {
		b.current = nil
		if !b.ending {
			b.opt.Log.Warn("genkan's background process was lost; looking for another one", "error", err, "calls_lost", len(l.pending))
		}
	}
	var messages [][]byte
	var again []*request
	for _, r := range l.pending {
		if r.line != nil {
			again = append(again, r)
		} else {
			messages = append(messages, b.opt.Answer(r.head(), errLost))
		}
	}
	slices.SortFunc(again, func(x, y *request) int { return cmp.Compare(x.number, y.number) })
	for _, r := range again {
		if b.current != nil { // this owner was retiring already
			b.current.send(r, r.line)
		} else if err := b.wait(r, r.line); err != nil {
			messages = append(messages, b.opt.Answer(r.head(), err))
		}
	}
	messages = append(messages, b.questions.lost(l)...)
	b.connect()
	b.mu.Unlock()
	b.toClient(messages...)
	b.signal()
}

// retire lets a retiring owner answer the requests in flight. New requests wait for
// another owner.
func (b *bridge) retire(l *link) {
	b.mu.Lock()
	defer b.mu.Unlock()
	l.retiring = true
	if b.current == l {
		b.current = nil
		b.connect()
	}
	b.leaveIfDone(l)
}

// leaveIfDone ends the link to a retiring owner that has answered everything.
func (b *bridge) leaveIfDone(l *link) {
	if l.retiring && len(l.pending) == 0 {
		l.out.close() // this closes the connection, which ends the reading
	}
}

// fromOwner handles a message of an owner.
func (b *bridge) fromOwner(l *link, line []byte) {
	msg, err := jsonrpc.Scan(line)
	if err != nil {
		b.opt.Log.Warn("genkan's background process sent what is no message", "error", err)
		b.toClient(line)
		return
	}
	switch msg.Kind {
	case jsonrpc.Request:
		b.mu.Lock()
		line = b.questions.ask(l, &msg, line)
		b.mu.Unlock()
		b.toClient(line)
	case jsonrpc.Notification:
		if msg.Method == retiring {
			b.retire(l)
			return
		}
		b.toClient(b.forNotification(l, &msg, line)...)
	case jsonrpc.Response, jsonrpc.ErrorResponse:
		b.toClient(b.forAnswer(l, &msg, line)...)
	}
}

// forNotification returns the messages for the client when an owner sends a
// notification.
func (b *bridge) forNotification(l *link, msg *jsonrpc.Message, line []byte) [][]byte {
	b.mu.Lock()
	defer b.mu.Unlock()
	switch msg.Method {
	case "notifications/cancelled":
		return [][]byte{b.questions.canceled(l, msg, line)}
	case "notifications/progress", "notifications/message":
		return [][]byte{line} // it is about a request in flight, so it counts from any owner
	}
	if l.retiring {
		return nil // the next owner sends it
	}
	if msg.Method == "notifications/subscriptions/acknowledged" {
		return b.state.acknowledged(msg, line)
	}
	return [][]byte{line}
}

// forAnswer returns the messages for the client when an owner sends an answer.
func (b *bridge) forAnswer(l *link, msg *jsonrpc.Message, line []byte) [][]byte {
	b.mu.Lock()
	defer b.mu.Unlock()
	id := string(msg.ID)
	if then, ok := l.replayed[id]; ok {
		delete(l.replayed, id)
		if msg.Kind == jsonrpc.ErrorResponse {
			b.opt.Log.Warn("the new genkan did not take over all of the session", "error", string(jsonrpc.Lookup(msg.Error, "message")))
		}
		return then(msg)
	}
	if b.state.listens.has(id) {
		if l.retiring {
			return nil // the next owner continues it
		}
		b.state.listens.remove(id)
		return [][]byte{line}
	}
	if r, ok := l.pending[id]; ok {
		delete(l.pending, id)
		if msg.Kind == jsonrpc.Response {
			b.state.note(r)
		}
		b.leaveIfDone(l)
	}
	return [][]byte{line}
}
