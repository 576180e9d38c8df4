package mcpserver

import (
	"net/http"
	"sync"
	"time"
)

// events is the outlet to a client over SSE: what waits to be written to its
// stream.
type events struct {
	wake chan struct{}
	// gone is closed when the stream is, deaf when the client asks and asks and
	// does not read the answers.
	gone, deaf chan struct{}
	deafen     func()

	// bytes is where offers and large replies are counted. Answers count with
	// their requests, which wait until they are written.
	bytes account

	mu      sync.Mutex
	waiting []event
	size    int // of what waits, in bytes
	replies int // among what waits
	closed  bool
	// room is closed when what waited is being written; nil while nobody waits
	// for that.
	room chan struct{}
}

type event struct {
	kind string
	data []byte
	// written is closed when the event is; nil when nobody waits for that.
	written chan struct{}
	// counted is how many of its bytes are counted here.
	counted int
}

func newEvents(bytes account) *events {
	e := &events{bytes: bytes, wake: make(chan struct{}, 1), gone: make(chan struct{}), deaf: make(chan struct{})}
	e.deafen = sync.OnceFunc(func() { close(e.deaf) })
	return e
}

// close lets go of whoever waits.
func (e *events) close() {
	close(e.gone)
	e.mu.Lock()
	defer e.mu.Unlock()
	e.closed = true
	e.give(e.waiting)
	e.waiting, e.size = nil, 0
}

// give gives back the memory of events.
func (e *events) give(events []event) {
	for _, ev := range events {
		e.bytes.give(ev.counted)
	}
}

// put adds an event, whatever waits already.
func (e *events) put(data []byte, kind string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.add(event{kind: kind, data: data})
}

// add adds an event, and reports whether the client's share of the memory allows
// for what is to be counted of it. Called with mu held.
func (e *events) add(ev event) bool {
	if e.closed || !e.bytes.take(ev.counted) {
		return false
	}
	e.waiting = append(e.waiting, ev)
	e.size += len(ev.data)
	nudge(e.wake)
	return true
}

// answer waits while too much does already, and then until the answer is
// written: its bytes count as being in flight until then.
func (e *events) answer(message []byte) {
	ev := event{kind: "message", data: message, written: make(chan struct{})}
	for {
		e.mu.Lock()
		if e.size <= maxBacklog {
			e.add(ev)
			e.mu.Unlock()
			break
		}
		if e.room == nil {
			e.room = make(chan struct{})
		}
		room := e.room
		e.mu.Unlock()
		select {
		case <-room:
		case <-e.gone:
			return
		}
	}
	select {
	case <-ev.written:
	case <-e.gone:
	}
}

// reply never waits, so their number is bounded.
func (e *events) reply(message []byte) {
	e.mu.Lock()
	defer e.mu.Unlock()
	ev := event{kind: "message", data: message}
	if len(message) > smallResult { // small ones also tell that the share is used up
		ev.counted = len(message)
	}
	if e.replies++; e.replies > mostWaiting || !e.add(ev) {
		e.deafen()
	}
}

func (e *events) offer(message []byte) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.size > 0 && e.size+len(message) > maxBacklog {
		return false
	}
	return e.add(event{kind: "message", data: message, counted: len(message)})
}

// pour writes what waits, and a sign of life if there is nothing else to say.
// A client that does not read must not keep it in memory for ever.
func (e *events) pour(w http.ResponseWriter, silent bool) error {
	e.mu.Lock()
	batch := e.waiting
	e.waiting, e.size, e.replies = nil, 0, 0
	if e.room != nil {
		close(e.room)
		e.room = nil
	}
	e.mu.Unlock()
	defer e.give(batch)
	if silent && len(batch) == 0 {
		batch = []event{{}}
	}
	if len(batch) == 0 {
		return nil
	}
	control := http.NewResponseController(w)
	_ = control.SetWriteDeadline(time.Now().Add(writeTime))
	defer func() { _ = control.SetWriteDeadline(time.Time{}) }()
	for _, ev := range batch {
		if err := ev.write(w); err != nil {
			return err
		}
	}
	return control.Flush()
}

// write writes an event, without copying a large one; one without a kind is a
// sign of life.
func (ev event) write(w http.ResponseWriter) error {
	if ev.written != nil {
		defer close(ev.written)
	}
	if ev.kind == "" {
		_, err := w.Write([]byte(keepAliveComment))
		return err
	}
	if _, err := w.Write([]byte("event: " + ev.kind + "\ndata: ")); err != nil {
		return err
	}
	if _, err := w.Write(ev.data); err != nil {
		return err
	}
	_, err := w.Write([]byte("\n\n"))
	return err
}
