package fault

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"net"
	"net/http"
	"sync"
)

// exchange is the response to one HTTP request, as an outlet. Whether it is a
// JSON body or a stream of events is decided by its first message: whatever
// comes before an answer needs a stream.
type exchange struct {
	w       http.ResponseWriter
	control *http.ResponseController
	// stream asks for events even where JSON would do.
	stream bool

	mu         sync.Mutex
	started    bool
	events     bool
	closed     bool
	compressed *gzip.Writer
}

func newExchange(w http.ResponseWriter, stream bool) *exchange {
	return &exchange{w: w, control: http.NewResponseController(w), stream: stream}
}

func (x *exchange) setSession(id string) {
	if id != "" {
		x.w.Header().Set("Mcp-Session-Id", id)
	}
}

// compress sends everything that follows as gzip, wanted or not.
func (x *exchange) compress() {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.started {
		return
	}
	x.w.Header().Set("Content-Encoding", "gzip")
	x.compressed = gzip.NewWriter(x.w)
}

func (x *exchange) begin(status int) (messageWriter, error) {
	x.mu.Lock()
	if x.closed || (x.started && !x.events) {
		x.mu.Unlock()
		return nil, errGone
	}
	x.start(status)
	w := &exchangeWriter{x: x, to: x.w}
	if x.compressed != nil {
		w.to = x.compressed
	}
	if x.events {
		if _, err := io.WriteString(w.to, "event: message\ndata: "); err != nil {
			x.mu.Unlock()
			return nil, err
		}
	}
	return w, nil
}

// start writes the headers, once. The caller holds the lock.
func (x *exchange) start(status int) {
	if x.started {
		return
	}
	x.started = true
	x.events = status == aside || (x.stream && status == http.StatusOK)
	header := x.w.Header()
	if !x.events {
		header.Set("Content-Type", "application/json")
		x.w.WriteHeader(status)
		return
	}
	header.Set("Content-Type", "text/event-stream")
	header.Set("Cache-Control", "no-cache")
	header.Set("X-Accel-Buffering", "no")
	x.w.WriteHeader(http.StatusOK)
	if x.compressed == nil {
		// A comment, as servers send to keep a connection alive. Clients must
		// ignore it.
		_, _ = io.WriteString(x.w, ": fault\n\n")
		_ = x.control.Flush()
	}
}

// open starts an event stream that may stay empty for long.
func (x *exchange) open() {
	x.mu.Lock()
	defer x.mu.Unlock()
	if !x.closed {
		x.start(aside)
	}
}

// finish ends the exchange; later messages find nobody. A request that was
// cancelled gets an empty stream.
func (x *exchange) finish() {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.closed {
		return
	}
	x.start(aside)
	if x.compressed != nil {
		_ = x.compressed.Close()
	}
	x.closed = true
}

// reset sends half of msg and then breaks the connection, so that the client
// sees neither an end nor an error in the body.
func (x *exchange) reset(msg []byte) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.closed {
		return
	}
	x.closed = true
	conn, buffered, err := x.control.Hijack()
	if err != nil {
		return
	}
	half := msg[:len(msg)/2]
	switch {
	case x.started: // as an event stream, which is chunked
		event := fmt.Sprintf("event: message\ndata: %s", half)
		_, _ = fmt.Fprintf(buffered, "%x\r\n%s\r\n", len(event), event)
	case x.stream:
		_, _ = fmt.Fprintf(buffered, "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\nevent: message\ndata: %s", half)
	default:
		_, _ = fmt.Fprintf(buffered, "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s", len(msg), half)
	}
	_ = buffered.Flush()
	if tcp, ok := conn.(*net.TCPConn); ok {
		// Without lingering, closing sends a reset instead of a regular end,
		// which a stream of unknown length could be mistaken for.
		_ = tcp.SetLinger(0)
	}
	_ = conn.Close()
}

// exchangeWriter holds the exchange until its message has ended.
type exchangeWriter struct {
	x  *exchange
	to io.Writer
}

func (w *exchangeWriter) Write(b []byte) (int, error) {
	if !w.x.events || !bytes.ContainsRune(b, '\n') {
		return w.to.Write(b)
	}
	// A line break would end the event's data line.
	if _, err := w.to.Write(bytes.ReplaceAll(b, []byte("\n"), []byte("\ndata: "))); err != nil {
		return 0, err
	}
	return len(b), nil
}

func (w *exchangeWriter) Flush() {
	if w.x.compressed != nil {
		_ = w.x.compressed.Flush()
	}
	_ = w.x.control.Flush()
}

func (w *exchangeWriter) Close() error {
	defer w.x.mu.Unlock()
	if !w.x.events {
		return nil
	}
	_, err := io.WriteString(w.to, "\n\n")
	w.Flush()
	return err
}
