package bridge

import (
	"io"
	"sync"
)

const (
	// outboxRoom is how many bytes may wait in an outbox before whoever fills
	// it has to wait too.
	outboxRoom = 8 << 20
	// outboxPiece is how much is written at once, so that a slow reader can be
	// told from one that does not read.
	outboxPiece = 256 << 10
)

// outbox writes messages to a connection in the order in which they were put, in the
// background, as many at once as have gathered. Putting never blocks, so it
// can be done while a lock is held.
type outbox struct {
	w io.Writer

	mu      sync.Mutex
	queue   []byte
	size    int   // bytes that are not written yet
	written int64 // bytes that are
	closed  bool
	err     error
	room    chan struct{} // made when full, closed when there is room again

	wake chan struct{}
	done chan struct{}
}

func newOutbox(w io.Writer) *outbox {
	o := &outbox{w: w, wake: make(chan struct{}, 1), done: make(chan struct{})}
	go o.run()
	return o
}

// put adds the pieces, in one.
func (o *outbox) put(pieces ...[]byte) {
	o.mu.Lock()
	if o.err == nil && !o.closed {
		for _, piece := range pieces {
			o.queue = append(o.queue, piece...)
			o.size += len(piece)
		}
	}
	o.mu.Unlock()
	o.signal()
}

// putLine adds a message.
func (o *outbox) putLine(line []byte) { o.put(line, []byte{'\n'}) }

func (o *outbox) signal() {
	select {
	case o.wake <- struct{}{}:
	default:
	}
}

// full returns nil when there is room, and otherwise a channel that is closed
// when there is, or when nothing is written any more.
func (o *outbox) full() <-chan struct{} {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.size <= outboxRoom || o.err != nil {
		return nil
	}
	if o.room == nil {
		o.room = make(chan struct{})
	}
	return o.room
}

// progress is how much has been written so far, and what stopped it.
func (o *outbox) progress() (int64, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.written, o.err
}

func (o *outbox) run() {
	defer close(o.done)
	var spare []byte
	for range o.wake {
		o.mu.Lock()
		batch, closed := o.queue, o.closed
		o.queue = spare[:0]
		o.mu.Unlock()
		for rest := batch; len(rest) > 0; {
			n, err := o.w.Write(rest[:min(len(rest), outboxPiece)])
			rest = rest[n:]
			if !o.wrote(n, err) {
				return
			}
		}
		if spare = batch; cap(spare) > outboxPiece {
			spare = nil // one large message must not stay for ever
		}
		if closed {
			return
		}
	}
}

// wrote notes what was written, and reports whether to go on.
func (o *outbox) wrote(n int, err error) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.size -= n
	o.written += int64(n)
	if err != nil {
		o.err, o.queue = err, nil
	}
	if o.room != nil && (o.size <= outboxRoom || err != nil) {
		close(o.room)
		o.room = nil
	}
	return err == nil
}

// close lets the writer end when everything is written. Wait for done.
func (o *outbox) close() {
	o.mu.Lock()
	o.closed = true
	o.mu.Unlock()
	o.signal()
}
