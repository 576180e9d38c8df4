package bridge

import (
	"bytes"
	"io"
	"net"
	"sync"
	"time"
)

// endMark is the last byte that a bridge sends; it still reads after that. No JSON
// message contains this byte. The connection stays open, so that its end always
// means that the other process has gone.
const endMark = 0x04

// retiring is the method that an owner sends to its bridges before it ends. They
// find another owner for new requests. Requests in flight are answered by the
// retiring owner.
const retiring = "genkan/retiring"

// readPatience is how long a bridge may read nothing while its outbox is full.
// Other clients share the servers whose messages it blocks.
const readPatience = 10 * time.Second

// Joined is a joined client as its owner sees it. Its input ends when the client's
// does. Writes to it never block for long.
type Joined struct {
	conn net.Conn
	out  *outbox

	leaving  sync.Once
	gone     chan struct{}
	finished bool // the end mark was read; the reader's own
	watching sync.WaitGroup
}

// NewJoined returns the client of a connection. The caller closes it.
func NewJoined(conn net.Conn) *Joined {
	return &Joined{conn: conn, out: newOutbox(conn), gone: make(chan struct{})}
}

// Read reads the client's messages.
func (j *Joined) Read(p []byte) (int, error) {
	if j.finished {
		return 0, io.EOF
	}
	n, err := j.conn.Read(p)
	if i := bytes.IndexByte(p[:n], endMark); i >= 0 {
		j.finished = true
		j.watching.Go(func() {
			_, _ = io.Copy(io.Discard, j.conn)
			j.leave()
		})
		if i == 0 {
			return 0, io.EOF
		}
		return i, nil
	}
	if err != nil {
		j.leave()
	}
	return n, err
}

func (j *Joined) leave() { j.leaving.Do(func() { close(j.gone) }) }

// Gone returns a channel that is closed when no process can read an answer any
// more.
func (j *Joined) Gone() <-chan struct{} { return j.gone }

// Write queues messages for the client. A client that does not read is
// disconnected.
func (j *Joined) Write(p []byte) (int, error) {
	j.out.put(p)
	before, err := j.out.progress()
	for space := j.out.full(); space != nil && err == nil; {
		timer := time.NewTimer(readPatience)
		select {
		case <-space:
			timer.Stop()
			return len(p), nil
		case <-timer.C:
		}
		var now int64
		if now, err = j.out.progress(); now == before {
			_ = j.conn.Close()
		}
		before = now
	}
	if err != nil {
		return 0, err
	}
	return len(p), nil
}

// Retire tells the bridge to find another owner for new requests.
func (j *Joined) Retire() {
	j.out.putLine([]byte(`{"jsonrpc":"2.0","method":"` + retiring + `"}`))
}

// Close closes the connection after the client has read what was written, or if it
// does not read.
func (j *Joined) Close() {
	j.out.close()
	timer := time.NewTimer(readPatience)
	defer timer.Stop()
	select {
	case <-j.out.done:
	case <-j.gone:
	case <-timer.C:
	}
	_ = j.conn.Close()
	<-j.out.done
	j.watching.Wait()
}
