package mcpserver

import (
	"net/http"
	"strconv"
	"sync"
	"time"

	"genkan/internal/gateway"
	"genkan/internal/jsonrpc"
)

// reply writes the answer to one HTTP request. It is a plain JSON body, unless
// something has to be said before the answer is there: then it becomes a
// stream of events.
type reply struct {
	w http.ResponseWriter
	// maySteam is whether the client accepts a stream.
	mayStream bool

	mu        sync.Mutex
	streaming bool
	done      bool
	timer     *time.Timer
}

// keepAliveEvery is how long a stream is silent at most. Clients and proxies
// give up on a response that shows nothing for long.
const keepAliveEvery = 15 * time.Second

func newReply(w http.ResponseWriter, r *http.Request) *reply {
	return &reply{w: w, mayStream: acceptsStream(r.Header)}
}

// keepAlive makes sure that the client sees something while the call runs.
func (p *reply) keepAlive() {
	if !p.mayStream {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.timer = time.AfterFunc(keepAliveEvery, func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		if p.done {
			return
		}
		p.event([]byte(": keep-alive\n\n"))
		p.timer.Reset(keepAliveEvery)
	})
}

// Notify sends a notification that belongs to the call.
func (p *reply) Notify(method string, params []byte) {
	if !p.mayStream {
		return
	}
	message := jsonrpc.AppendNotification(nil, method, params)
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.done {
		p.event(jsonrpc.AppendSSE(nil, message))
	}
}

// event writes to the stream, opening it first. Called with mu held.
func (p *reply) event(encoded []byte) {
	if !p.streaming {
		p.streaming = true
		startStream(p.w)
	}
	_, _ = p.w.Write(encoded) // a client that went away is noticed elsewhere
	_ = http.NewResponseController(p.w).Flush()
}

// finish sends the last message.
func (p *reply) finish(status int, message []byte) {
	p.finishParts(status, message, nil, nil)
}

// result sends a result without copying a large one.
func (p *reply) result(id, result []byte) {
	head := jsonrpc.AppendResultHead(make([]byte, 0, 64+len(id)+smallResult), id)
	if len(result) <= smallResult {
		p.finishParts(http.StatusOK, append(append(head, result...), '}'), nil, nil)
		return
	}
	p.finishParts(http.StatusOK, head, result, []byte{'}'})
}

// smallResult is what is cheaper to copy than to write separately.
const smallResult = 1536

func (p *reply) finishParts(status int, head, body, tail []byte) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.done = true
	if p.timer != nil {
		p.timer.Stop()
	}
	if p.streaming {
		whole := append(append(append([]byte(nil), head...), body...), tail...)
		_, _ = p.w.Write(jsonrpc.AppendSSE(nil, whole))
		return
	}
	h := p.w.Header()
	h["Content-Type"] = jsonType
	h["Content-Length"] = []string{strconv.Itoa(len(head) + len(body) + len(tail))}
	p.w.WriteHeader(status)
	_, _ = p.w.Write(head)
	if body != nil {
		_, _ = p.w.Write(body)
		_, _ = p.w.Write(tail)
	}
}

var jsonType = []string{"application/json"}

// fail sends an error.
func (p *reply) fail(id []byte, err error) {
	message, status, e := errorMessage(id, err)
	p.failWith(status, message, e)
}

func (p *reply) failWith(status int, message []byte, e *gateway.Error) {
	if e.RetryAfter > 0 && status >= 400 {
		p.w.Header()["Retry-After"] = []string{strconv.Itoa(int((e.RetryAfter + time.Second - 1) / time.Second))}
	}
	p.finish(status, message)
}

// startStream sends the headers of a stream of events.
func startStream(w http.ResponseWriter) {
	h := w.Header()
	h["Content-Type"] = []string{"text/event-stream"}
	h["Cache-Control"] = []string{"no-cache, no-transform"}
	h["X-Accel-Buffering"] = []string{"no"}
	w.WriteHeader(http.StatusOK)
}
