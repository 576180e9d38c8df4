package mcpserver

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"strconv"
	"sync"
	"time"

	"genkan/internal/gateway"
	"genkan/internal/jsonrpc"
)

// reply writes the answer to one HTTP request. The answer is a plain JSON body. It
// becomes a stream of events if something has to be sent before the answer is
// ready.
type reply struct {
	server *Server
	w      http.ResponseWriter
	r      *http.Request
	// sess is the legacy session of the request; nil for none. cancel cancels its
	// call. gone is closed when the client has disconnected.
	sess   *session
	cancel context.CancelCauseFunc
	gone   <-chan struct{}
	// quota is the part of the client's memory that the request holds.
	quota quota
	// batch is the array that contained the request; nil for none.
	batch *batch

	mu    sync.Mutex
	timer *time.Timer
	// journal is the stream of a session's call; nil while there is none.
	journal *journal
	// queue is the stream of any other call; nil while there is none. A goroutine
	// writes it. writing is set while the goroutine runs, and idle is signaled when
	// it ends.
	queue *outbox
	idle  sync.Cond

	streaming, writing, done bool
	// mayStream reports whether the client accepts a stream.
	mayStream bool
}

// keepAliveEvery is the longest silence of a stream. Clients and proxies give up on
// a response that is silent for long.
const keepAliveEvery = 15 * time.Second

// writeTime is how long a client may take to read a large answer.
const writeTime = 2 * time.Minute

// maxBacklog bounds the bytes that wait for a slow client.
const maxBacklog = 256 << 10

func (s *Server) newReply(w http.ResponseWriter, r *http.Request) *reply {
	p := &reply{server: s, w: w, r: r, mayStream: acceptsStream(r.Header), gone: r.Context().Done()}
	p.idle.L = &p.mu
	return p
}

// keepAlive makes sure that the client receives something while the call runs, and
// that it can resume the stream if its version allows that.
func (p *reply) keepAlive() {
	if !p.mayStream {
		return
	}
	first := keepAliveEvery
	if p.sess != nil && p.sess.primes() {
		first = openAfter
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.timer = time.AfterFunc(first, func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		switch {
		case p.done:
		case p.sess != nil:
			p.stream() // the journal has its own keep-alive
		default:
			p.enqueue(keepAlive())
			p.timer.Reset(keepAliveEvery)
		}
	})
}

// stream returns the stream of a session's call and opens it if necessary. It
// returns nil if there is none and none can be opened. Called with mu held.
func (p *reply) stream() *journal {
	if p.journal == nil && p.mayStream && !p.done && !p.left() {
		j, me := p.sess.newJournal(p.server, p.cancel)
		p.journal = j
		go func() {
			defer close(j.posted)
			delivered := j.follow(p.w, p.gone, me, 0, func() bool { return p.server.recognizes(p.r) })
			j.leave(me, delivered)
		}()
	}
	return p.journal
}

// Prolong opens the stream of a call that will take long, so that the client can
// resume it.
func (p *reply) Prolong() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.sess != nil && p.sess.primes() {
		p.stream()
	}
}

// left reports whether the client has disconnected.
func (p *reply) left() bool {
	select {
	case <-p.gone:
		return true
	default:
		return false
	}
}

// Left reports whether nobody reads what the call sends.
func (p *reply) Left() bool {
	p.mu.Lock()
	j := p.journal
	p.mu.Unlock()
	if j == nil {
		return p.left()
	}
	j.sess.mu.Lock()
	defer j.sess.mu.Unlock()
	return j.reader == nil
}

// Notify sends a notification that belongs to the call. Its caller reads from a
// server that other clients share, so Notify never waits for this client.
// Notifications that exceed a slow client's backlog are dropped.
func (p *reply) Notify(method string, params []byte) {
	if !p.mayStream {
		return
	}
	message := jsonrpc.AppendNotification(nil, method, params)
	p.mu.Lock()
	defer p.mu.Unlock()
	switch {
	case p.done:
	case p.sess == nil:
		p.enqueue(outgoing{event: "message", data: message, counted: len(message)})
	default:
		if j := p.stream(); j != nil {
			j.add(message, false)
		}
	}
}

// Ask sends a question to a legacy client on the stream of its call, and waits for
// the answer. If that stream is broken and the client cannot resume it, the
// question goes to the session's own stream.
func (p *reply) Ask(ctx context.Context, method string, params []byte) ([]byte, error) {
	if p.sess == nil {
		return nil, gateway.Errorf(gateway.CodeInvalid, "this client cannot be asked anything during a call")
	}
	gone := p.gone
	if resumable := p.resumable(); resumable || p.left() {
		gone = nil
	}
	var asked *journal
	var number int
	send := func(message []byte) bool {
		if gone != nil && p.left() {
			return p.sess.push(message)
		}
		j, n, ok := p.send(message)
		if ok && asked == nil {
			asked, number = j, n
		}
		return ok || p.sess.push(message)
	}
	defer func() {
		if asked != nil {
			asked.closeQuestion(number)
		}
	}()
	return p.sess.askVia(ctx, method, params, send, gone)
}

// resumable reports whether the client has an event id to resume the stream with if
// the connection breaks.
func (p *reply) resumable() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.journal == nil {
		return p.mayStream && !p.left() && p.sess.primes()
	}
	return p.sess.primes() || p.journal.hasEvents()
}

// send puts a message that must not be dropped into the stream. It reports false if
// there is no stream.
func (p *reply) send(message []byte) (j *journal, number int, ok bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.done {
		return nil, 0, false
	}
	if j = p.stream(); j != nil {
		number, ok = j.add(message, true)
	}
	return j, number, ok
}

// enqueue puts a message into the stream, or drops it if the client is slow.
// Called with mu held.
func (p *reply) enqueue(m outgoing) {
	if p.queue == nil {
		p.queue = &outbox{account: p.quota.account, mostBytes: maxBacklog}
	}
	if p.queue.offer(m) && !p.writing {
		p.writing = true
		go p.write()
	}
}

// write writes the queue until it is empty, opening the stream first.
func (p *reply) write() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for batch := p.queue.take(); len(batch) > 0; batch = p.queue.take() {
		opened := p.streaming
		p.streaming = true
		p.mu.Unlock()
		if !opened {
			startStream(p.w)
		}
		for _, m := range batch {
			_ = m.write(p.w) // a disconnected client is noticed elsewhere
		}
		_ = http.NewResponseController(p.w).Flush()
		p.queue.release()
		p.mu.Lock()
	}
	p.writing = false
	p.idle.Broadcast()
}

// close ends the writing of the stream. After it only the caller writes the
// response, and nothing is added to the stream. Called with mu held.
func (p *reply) close() {
	p.done = true
	if p.timer != nil {
		p.timer.Stop()
	}
	for p.writing {
		p.idle.Wait()
	}
}

// abandon ends the reply without an answer, because the response must not be
// written to after its handler has returned.
func (p *reply) abandon() {
	p.mu.Lock()
	p.close()
	j := p.journal
	p.mu.Unlock()
	if j != nil {
		j.abandon()
		<-j.posted
	}
}

// finish sends the last message.
func (p *reply) finish(status int, message []byte) {
	p.finishParts(status, 0, message, nil, nil)
}

// result sends a result without copying a large one.
func (p *reply) result(id, result []byte) {
	size := 64 + len(id)
	if len(result) <= smallResult {
		size += len(result)
	}
	head := jsonrpc.AppendResultHead(make([]byte, 0, size), id)
	if len(result) <= smallResult {
		p.finishParts(http.StatusOK, 0, append(append(head, result...), '}'), nil, nil)
		return
	}
	p.finishParts(http.StatusOK, 0, head, result, []byte{'}'})
}

// answer sends the result of a request that is not a call. Clients that accept
// streams get a list as the only event of a stream, because the servers of most
// SDKs send a list that way, and clients need not tell genkan from them. The list
// is complete, so its length is known and the connection does not stay open.
//
// Lists are the catalog's bytes, which all clients share. Any other result is made
// for this request and counts against its client's share.
func (p *reply) answer(msg *jsonrpc.Message, result []byte) {
	_, list := gateway.KindOfList(msg.Method)
	if !list && !p.quota.take(len(result)) {
		p.fail(msg.ID, gateway.ErrShareUsedUp)
		return
	}
	if !list || !wantsStream(p.r.Header) || p.batch != nil {
		p.result(msg.ID, result)
		return
	}
	const frame = "event: message\ndata: "
	head := jsonrpc.AppendResultHead(append(make([]byte, 0, len(frame)+64+len(msg.ID)), frame...), msg.ID)
	h := p.w.Header()
	h["Content-Type"] = eventStream
	h["Cache-Control"] = noTransform
	p.writeWhole(http.StatusOK, head, result, []byte("}\n\n"))
}

// smallResult is the size up to which copying is cheaper than a separate write, in
// bytes.
const smallResult = 1536

func (p *reply) finishParts(status int, retryAfter time.Duration, head, body, tail []byte) {
	p.mu.Lock()
	p.close()
	j := p.journal
	p.mu.Unlock()
	if j != nil || p.streaming {
		whole := slices.Concat(head, body, tail)
		if j == nil {
			_, _ = p.w.Write(jsonrpc.AppendSSE(nil, whole))
			return
		}
		if j.end(whole) {
			<-j.stored // until then the answer counts with this call, whichever connection reads it
		}
		<-j.posted
		return
	}
	h := p.w.Header()
	h["Content-Type"] = jsonType
	if retryAfter > 0 && status >= http.StatusBadRequest {
		h["Retry-After"] = []string{strconv.Itoa(int((retryAfter + time.Second - 1) / time.Second))}
	}
	p.writeWhole(status, head, body, tail)
}

// writeWhole sends a complete answer.
func (p *reply) writeWhole(status int, head, body, tail []byte) {
	h := p.w.Header()
	h["X-Content-Type-Options"] = noSniff
	h["Content-Length"] = []string{strconv.Itoa(len(head) + len(body) + len(tail))}
	p.w.WriteHeader(status)
	if body != nil {
		// A client that does not read its answer must not keep it in memory for ever.
		control := http.NewResponseController(p.w)
		_ = control.SetWriteDeadline(time.Now().Add(writeTime))
		defer func() { _ = control.SetWriteDeadline(time.Time{}) }()
	}
	_, _ = p.w.Write(head)
	if body != nil {
		_, _ = p.w.Write(body)
		_, _ = p.w.Write(tail)
	}
}

var (
	jsonType    = []string{"application/json"}
	eventStream = []string{"text/event-stream"}
	noTransform = []string{"no-cache, no-transform"}
	noSniff     = []string{"nosniff"}
)

// fail sends an error.
func (p *reply) fail(id []byte, err error) {
	p.noteLimit(err)
	message, status, e := p.server.errorMessage(id, err)
	p.noteFailure(status, e)
	p.failWith(status, message, e)
}

// refuse sends an error with the given status.
func (p *reply) refuse(status int, id []byte, err error) {
	message, _, _ := p.server.errorMessage(id, err)
	if reason := refusalReasons[status]; reason != "" {
		p.note(status, reason)
	}
	p.finish(status, message)
}

// refusalReasons names the statuses of refused requests. Other statuses are not
// refusals.
var refusalReasons = map[int]string{
	http.StatusOK:                    "bad_request", // one of a batch
	http.StatusBadRequest:            "bad_request",
	http.StatusNotFound:              "not_found",
	http.StatusMethodNotAllowed:      "wrong_method",
	http.StatusNotAcceptable:         "not_acceptable",
	http.StatusRequestTimeout:        "too_slow",
	http.StatusRequestEntityTooLarge: "too_large",
	http.StatusUnsupportedMediaType:  "wrong_content_type",
	http.StatusLoopDetected:          "loop",
}

// noteFailure records a request that failed because of its content. Calls are
// recorded in the corridor.
func (p *reply) noteFailure(status int, e *gateway.Error) {
	switch e.Code { //nolint:exhaustive // the others are no refusals
	case gateway.CodeInvalid, gateway.CodeNotFound, gateway.CodeDenied, gateway.CodeConflict, gateway.CodeLimited:
		p.note(status, e.Code.String())
	}
}

func (p *reply) note(status int, reason string) {
	if p.server.opt.Refused != nil && p.r != nil {
		p.server.opt.Refused(p.r, status, reason)
	}
}

func (p *reply) failWith(status int, message []byte, e *gateway.Error) {
	p.finishParts(status, e.RetryAfter, message, nil, nil)
}

// sent calls release when the answer has been sent. The answers of a batch are
// sent together.
func (p *reply) sent(release func()) {
	if p.batch != nil {
		p.batch.afterwards(release)
		return
	}
	release()
}

// noteLimit tells the batch, if there is one, that its client's share of the
// memory is used up.
func (p *reply) noteLimit(err error) {
	if p.batch != nil && errors.Is(err, gateway.ErrShareUsedUp) {
		p.batch.full.Store(true)
	}
}

// startStream sends the headers of a stream of events.
func startStream(w http.ResponseWriter) {
	h := w.Header()
	h["Content-Type"] = eventStream
	h["Cache-Control"] = noTransform
	h["X-Accel-Buffering"] = []string{"no"}
	h["X-Content-Type-Options"] = noSniff
	w.WriteHeader(http.StatusOK)
}
