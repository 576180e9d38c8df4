package mcpserver

import (
	"net/http"
	"sync"
	"time"
)

// events queues messages for the SSE stream of a client.
type events struct {
	queue outbox
	// gone is closed with the stream. deaf is closed when the client sends
	// requests and does not read the replies.
	gone, deaf chan struct{}
	deafen     func()

	mu      sync.Mutex
	replies int // in the queue
}

func newEvents(account account) *events {
	e := &events{
		queue: outbox{account: account, mostBytes: maxBacklog, wake: make(chan struct{}, 1)},
		gone:  make(chan struct{}), deaf: make(chan struct{}),
	}
	e.deafen = sync.OnceFunc(func() { close(e.deaf) })
	return e
}

// close releases all goroutines that wait for the client.
func (e *events) close() {
	close(e.gone)
	e.queue.close()
}

// put queues an event even if the queue is full.
func (e *events) put(data []byte, event string) {
	e.queue.add(outgoing{event: event, data: data})
}

// answer sends the result of a call. It waits while the queue is full, and then
// until the answer is written.
// The answer's bytes count with its request, which is in flight until then.
func (e *events) answer(message []byte) {
	m := outgoing{event: "message", data: message, written: make(chan struct{})}
	for {
		space := e.queue.addOrWait(m)
		if space == nil {
			break
		}
		select {
		case <-space:
		case <-e.gone:
			return
		}
	}
	select {
	case <-m.written:
	case <-e.gone:
	}
}

// reply sends an answer that the edge produces itself. It never waits, so the
// number of replies in the queue is bounded.
func (e *events) reply(message []byte) {
	m := outgoing{event: "message", data: message}
	if len(message) > smallResult { // small ones are not counted: one may report that the share is used up
		m.counted = len(message)
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.replies++; e.replies > mostWaiting || !e.queue.add(m) {
		e.deafen()
	}
}

func (e *events) offer(message []byte) bool {
	return e.queue.offer(outgoing{event: "message", data: message, counted: len(message)})
}

// flush writes the queue. If alive is set and the queue is empty, it writes a
// comment to show that the stream is alive. Writing has a deadline: a client that
// does not read must not keep the messages in memory for ever.
func (e *events) flush(w http.ResponseWriter, alive bool) error {
	e.mu.Lock()
	batch := e.queue.take()
	e.replies = 0
	e.mu.Unlock()
	defer e.queue.release()
	if alive && len(batch) == 0 {
		batch = []outgoing{keepAlive()}
	}
	if len(batch) == 0 {
		return nil
	}
	control := http.NewResponseController(w)
	_ = control.SetWriteDeadline(time.Now().Add(writeTime))
	defer func() { _ = control.SetWriteDeadline(time.Time{}) }()
	for _, m := range batch {
		if err := m.write(w); err != nil {
			return err
		}
	}
	return control.Flush()
}
