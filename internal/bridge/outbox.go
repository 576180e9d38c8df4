package bridge

import (
	"io"
	"sync"
)

const (
	// outboxLimit is how many bytes may wait in an outbox before its sender has
	// to wait.
	outboxLimit = 8 << 20
	// outboxPiece is how much is written at once, in bytes, so that a slow reader
	// can be distinguished from one that does not read.
	outboxPiece = 256 << 10
)

// outbox writes messages to a connection in a goroutine of its own, in order, and
// as many in one write as have gathered. Putting never blocks, so it can be done
// while a lock is held. A sender that can wait asks full for space.
//
// The outbox of mcpserver is different: it keeps messages apart for a stream that
// an HTTP handler writes, drops what may be dropped, and counts shares of memory.
type outbox struct {
	w io.Writer

	mu      sync.Mutex
	queue   []byte
	size    int   // bytes that are not written yet
	written int64 // bytes that are
	closed  bool
	err     error
	space   chan struct{} // made when full, closed when there is space again

	wake chan struct{}
	done chan struct{}
}

func newOutbox(w io.Writer) *outbox {
	o := &outbox{w: w, wake: make(chan struct{}, 1), done: make(chan struct{})}
	go o.run()
	return o
}

// put adds a message that consists of the pieces.
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

// full returns nil if there is space. Otherwise it returns a channel that is
// closed when there is, or when writing has failed.
func (o *outbox) full() <-chan struct{} {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.size <= outboxLimit || o.err != nil {
		return nil
	}
	if o.space == nil {
		o.space = make(chan struct{})
	}
	return o.space
}

// progress returns how many bytes have been written, and the error that ended
// writing.
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
			spare = nil // the buffer of a large message must not be kept for ever
		}
		if closed {
			return
		}
	}
}

// wrote records a write, and returns false after an error.
func (o *outbox) wrote(n int, err error) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.size -= n
	o.written += int64(n)
	if err != nil {
		o.err, o.queue = err, nil
	}
	if o.space != nil && (o.size <= outboxLimit || err != nil) {
		close(o.space)
		o.space = nil
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
