package mcpserver

import (
	"io"
	"net/http"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"genkan/internal/gateway"
	"genkan/internal/jsonrpc"
)

// Only version 2025-03-26 lets a client send several messages in one array. Each
// message is served as if it had come alone, and the answers go back in one array.

// splitBatch splits a client's array into its messages.
func splitBatch(body []byte) ([][]byte, error) {
	messages, err := jsonrpc.SplitBatch(body)
	switch {
	case err != nil:
		return nil, invalidRequest("the batch is not valid JSON")
	case len(messages) == 0:
		return nil, invalidRequest("the batch is empty")
	case len(messages) > jsonrpc.MaxBatch:
		return nil, invalidRequest("a batch may hold %d messages", jsonrpc.MaxBatch)
	}
	return messages, nil
}

// hasBatches reports whether the client's version lets it send arrays.
func (s *session) hasBatches() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.version == jsonrpc.BatchVersion
}

// batchConcurrency is how many requests of an array are served at once.
const batchConcurrency = 32

// errBatchFull answers the remaining requests of an array when the client has used
// up its memory.
var errBatchFull = &gateway.Error{
	Code: gateway.CodeLimited, Unsent: true, RetryAfter: time.Second,
	Message: "not carried out: the answers to other messages of the batch use up the memory that this client may have; send this one again, in a smaller batch",
}

// errInitializeInBatch refuses initialize in an array, which the specification does
// not allow.
func errInitializeInBatch() error {
	return invalidRequest("initialize must not be part of a batch: send it by itself")
}

// batch is an array of messages that is being served.
type batch struct {
	answers []batchAnswer
	// full is set when an answer did not fit into the client's share of the
	// memory.
	full atomic.Bool

	mu       sync.Mutex
	releases []func()
}

// afterwards calls release when the answers have been sent, because their bytes are
// kept until then.
func (b *batch) afterwards(release func()) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.releases = append(b.releases, release)
}

func (b *batch) release() {
	for _, release := range b.releases {
		release()
	}
}

// postBatch serves an array of messages of a session whose version allows arrays.
func (s *Server) postBatch(p *reply, r *http.Request, body []byte, id visitor) {
	sess, ok := s.session(p, r, nil, id)
	if !ok {
		return
	}
	if !sess.hasBatches() {
		p.refuse(http.StatusBadRequest, nil, invalidRequest("batches are not supported: send each message by itself"))
		return
	}
	if !p.quota.take(len(body)) { // each message is a copy
		p.fail(nil, gateway.ErrShareUsedUp)
		return
	}
	messages, err := splitBatch(body)
	if err != nil {
		p.refuse(http.StatusBadRequest, nil, err)
		return
	}
	b := &batch{answers: make([]batchAnswer, len(messages))}
	defer b.release()
	slots := make(chan struct{}, batchConcurrency)
	var serving sync.WaitGroup
	for i, message := range messages {
		msg, err := jsonrpc.Scan(message)
		one := s.newReply(&b.answers[i], r)
		one.mayStream = false // notifications go to the session's stream
		one.batch, one.quota.account = b, p.quota.account
		b.afterwards(one.quota.release)
		switch {
		case err != nil:
			one.refuse(http.StatusOK, msg.ID, unreadable(err))
		case msg.Kind != jsonrpc.Request:
			s.postLegacy(one, r, &msg, id)
		case msg.Method == "initialize":
			one.refuse(http.StatusOK, msg.ID, errInitializeInBatch())
		default:
			slots <- struct{}{}
			serving.Go(func() {
				defer func() { <-slots }()
				if b.full.Load() {
					one.fail(msg.ID, errBatchFull)
					return
				}
				s.postLegacy(one, r, &msg, id)
			})
		}
	}
	serving.Wait()
	p.finishBatch(b)
}

// finishBatch sends the answers. It writes them without copying, so that a list
// that several answers contain is in memory only once.
func (p *reply) finishBatch(b *batch) {
	size := len("]")
	for i := range b.answers {
		if n := b.answers[i].size(); n > 0 {
			size += len(",") + n
		}
	}
	if size == len("]") { // the array had only notifications and responses
		p.w.WriteHeader(http.StatusAccepted)
		return
	}
	h := p.w.Header()
	h["Content-Type"], h["X-Content-Type-Options"] = jsonType, noSniff
	h["Content-Length"] = []string{strconv.Itoa(size)}
	p.w.WriteHeader(http.StatusOK)
	control := http.NewResponseController(p.w)
	_ = control.SetWriteDeadline(time.Now().Add(writeTime))
	defer func() { _ = control.SetWriteDeadline(time.Time{}) }()
	before := "["
	for i := range b.answers {
		if b.answers[i].size() == 0 {
			continue
		}
		_, _ = io.WriteString(p.w, before)
		before = ","
		for _, part := range b.answers[i].parts {
			if _, err := p.w.Write(part); err != nil {
				return // the client is gone
			}
		}
	}
	_, _ = io.WriteString(p.w, "]")
}

// batchAnswer is the answer to one message of a batch. It keeps the slices that are
// written to it without copying. They do not change afterwards: results are
// immutable, and everything else is made for one answer.
type batchAnswer struct {
	header http.Header
	parts  [][]byte
}

func (w *batchAnswer) Header() http.Header {
	if w.header == nil {
		w.header = http.Header{}
	}
	return w.header
}

func (w *batchAnswer) WriteHeader(int) {}

func (w *batchAnswer) Write(b []byte) (int, error) {
	w.parts = append(w.parts, b)
	return len(b), nil
}

func (w *batchAnswer) size() (n int) {
	for _, part := range w.parts {
		n += len(part)
	}
	return n
}
