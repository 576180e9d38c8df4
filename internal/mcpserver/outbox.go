package mcpserver

import (
	"io"
	"sync"
)

// outbox is the queue of messages for one stream. Adding never blocks. One
// goroutine writes: it takes all that waits, writes it and calls release. The
// counted bytes of a message belong to the client's share of the memory until
// then.
//
// The queue towards the owner of a data directory (bridge.outbox) and the one
// towards a server (upstream) are different things: they join messages into one
// buffer, write it by themselves and count no shares.
type outbox struct {
	account account
	// most and mostBytes bound the messages that offer adds. A message larger than
	// mostBytes may wait alone. A most of zero means no bound.
	most, mostBytes int
	// wake is signaled when a message was added; nil for none.
	wake chan struct{}

	mu      sync.Mutex
	waiting []outgoing
	size    int // bytes of data in waiting
	counted int // bytes of the share that waiting holds
	taken   int // bytes of the share that taken messages hold
	closed  bool
	// space is closed when the waiting messages are taken; nil while no goroutine
	// waits for that.
	space chan struct{}
}

// outgoing is a message in an outbox.
type outgoing struct {
	// event is the name of the SSE event that data is written as. If it is empty,
	// data is written as it is.
	event string
	data  []byte
	// counted is how many bytes of the client's share the message holds.
	counted int
	// written is closed when the message is written; nil if no goroutine waits for
	// it.
	written chan struct{}
}

// keepAlive is the message that shows a client that its connection is alive.
func keepAlive() outgoing { return outgoing{data: []byte(keepAliveComment)} }

// add queues a message. It returns false if the outbox is closed or the client's
// share is used up.
func (o *outbox) add(m outgoing) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.append(m)
}

// offer is add within the bounds of the outbox.
func (o *outbox) offer(m outgoing) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.most > 0 && len(o.waiting) >= o.most || o.size > 0 && o.size+len(m.data) > o.mostBytes {
		return false
	}
	return o.append(m)
}

// addOrWait is add unless more than mostBytes wait. Then it returns a channel
// that is closed when there is space.
func (o *outbox) addOrWait(m outgoing) (space <-chan struct{}) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.size <= o.mostBytes {
		o.append(m)
		return nil
	}
	if o.space == nil {
		o.space = make(chan struct{})
	}
	return o.space
}

// append is called with mu held.
func (o *outbox) append(m outgoing) bool {
	if o.closed || !o.account.take(m.counted) {
		return false
	}
	o.waiting = append(o.waiting, m)
	o.size += len(m.data)
	o.counted += m.counted
	signal(o.wake)
	return true
}

// take removes and returns the waiting messages. Call release when they are
// written.
func (o *outbox) take() []outgoing {
	o.mu.Lock()
	defer o.mu.Unlock()
	batch := o.waiting
	o.taken += o.counted
	o.clear()
	return batch
}

// handOver is take for a caller that keeps the messages, and gives back their
// share of the memory itself.
func (o *outbox) handOver() []outgoing {
	o.mu.Lock()
	defer o.mu.Unlock()
	batch := o.waiting
	o.clear()
	return batch
}

// clear is called with mu held.
func (o *outbox) clear() {
	o.waiting, o.size, o.counted = nil, 0, 0
	if o.space != nil {
		close(o.space)
		o.space = nil
	}
}

// release gives back the memory of the messages that were taken.
func (o *outbox) release() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.account.give(o.taken)
	o.taken = 0
}

// close gives back the memory of all messages. Later messages are refused.
func (o *outbox) close() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.closed = true
	o.account.give(o.counted + o.taken)
	o.taken = 0
	o.clear()
}

// write writes a message as an SSE event, without copying a large one.
func (m outgoing) write(w io.Writer) error {
	if m.written != nil {
		defer close(m.written)
	}
	if m.event == "" {
		_, err := w.Write(m.data)
		return err
	}
	if _, err := io.WriteString(w, "event: "+m.event+"\ndata: "); err != nil {
		return err
	}
	if _, err := w.Write(m.data); err != nil {
		return err
	}
	_, err := io.WriteString(w, "\n\n")
	return err
}
