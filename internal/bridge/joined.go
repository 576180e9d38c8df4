package bridge

import (
	"bytes"
	"io"
	"net"
	"sync"
	"time"
)

// endMark ends what a bridge has to say, although it still listens. It is no
// byte of any JSON message. The connection itself stays open, so that its end
// always means that nobody is there any more.
const endMark = 0x04

// retiring is what an owner tells its bridges before it goes: find another one
// for what is new. What is under way is answered here.
const retiring = "genkan/retiring"

// readPatience is how long a bridge may read nothing while more than fits
// waits for it. Others share the servers that its messages come from.
const readPatience = 10 * time.Second

// Joined is a client that has joined, as its owner sees it: an input that ends
// when the client's does, and an output that never waits for long.
type Joined struct {
	conn net.Conn
	out  *outbox

	leaving  sync.Once
	gone     chan struct{}
	finished bool // the end mark was read; the reader's own
	watching sync.WaitGroup
}

// NewJoined makes a client of a connection. Close it.
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

// Gone is closed when nobody is there to read an answer.
func (j *Joined) Gone() <-chan struct{} { return j.gone }

// Write takes messages for the client. One that does not read is let go.
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

// Retire tells the bridge to find another owner for what is new.
func (j *Joined) Retire() {
	j.out.putLine([]byte(`{"jsonrpc":"2.0","method":"` + retiring + `"}`))
}

// Close ends the connection, when the client has read what was written or does
// not read it.
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
