package kb

import (
	"context"
	"strconv"
	"sync"
)

// sharing lets callers that ask the same question at the same time share one answer.
// No caller gets an answer whose reading began before its question, unless the key
// proves that nothing was written in between. So an answer includes every write that
// was acknowledged before the question.
//
// The first caller reads for all. There is no goroutine for it, because that would
// cost as much as a list. When the first caller gives up, it reads on for those that
// still wait. The reading is cancelled when all callers have given up.
//
// Answers are shared: callers must not modify them.
type sharing[T any] struct {
	mu  sync.Mutex
	now map[string]*reading[T]
}

// reading is one reading in progress, shared by all callers that wait for it.
type reading[T any] struct {
	ctx    context.Context //nolint:containedctx // ends when no caller waits any more
	cancel context.CancelFunc
	done   chan struct{}
	// wanted is the number of waiting callers. The lock of sharing protects it.
	wanted int

	answer   T
	err      error
	panicked any
}

// do answers the question that the key identifies. Current says that the key includes
// the store's sequence, read when the question came: then a reading in progress can
// answer it. Otherwise only a reading that begins later can, and all callers that
// arrive meanwhile share that one.
func (s *sharing[T]) do(ctx context.Context, key string, current bool, read func(ctx context.Context) (T, error)) (T, error) {
	var none T
	r, how := s.join(ctx, key, current)
	if how == waits {
		select {
		case <-r.done:
		case <-ctx.Done():
			return none, ctx.Err()
		}
		// Any reading that runs now began after the question.
		r, how = s.join(ctx, key, true)
	}
	if how == leads {
		return s.lead(ctx, key, r, read)
	}
	select {
	case <-r.done:
		if r.panicked != nil {
			panic(r.panicked)
		}
		return r.answer, r.err
	case <-ctx.Done():
		s.leave(key, r)
		return none, ctx.Err()
	}
}

// These are the roles of a caller of a reading.
const (
	leads  = iota // carry out the reading
	shares        // take its answer
	waits         // wait for its end first, because it began too early
)

func (s *sharing[T]) join(ctx context.Context, key string, current bool) (r *reading[T], how int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	r = s.now[key]
	switch {
	case r == nil:
		r = &reading[T]{done: make(chan struct{}), wanted: 1}
		r.ctx, r.cancel = context.WithCancel(context.WithoutCancel(ctx)) //nolint:gosec // lead calls it
		if s.now == nil {
			s.now = map[string]*reading[T]{}
		}
		s.now[key] = r
		return r, leads
	case !current:
		return r, waits
	}
	r.wanted++
	return r, shares
}

// lead reads on behalf of all callers.
func (s *sharing[T]) lead(ctx context.Context, key string, r *reading[T], read func(ctx context.Context) (T, error)) (T, error) {
	defer context.AfterFunc(ctx, func() { s.leave(key, r) })()
	defer r.cancel()
	func() {
		defer func() { r.panicked = recover() }()
		r.answer, r.err = read(r.ctx)
	}()
	s.mu.Lock()
	if s.now[key] == r {
		delete(s.now, key)
	}
	s.mu.Unlock()
	close(r.done)
	if r.panicked != nil {
		panic(r.panicked)
	}
	if r.err != nil && ctx.Err() != nil {
		return r.answer, ctx.Err() // otherwise the error would be that nobody waited
	}
	return r.answer, r.err
}

// leave removes a caller from the reading.
func (s *sharing[T]) leave(key string, r *reading[T]) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if r.wanted--; r.wanted > 0 {
		return
	}
	r.cancel()
	if s.now[key] == r {
		delete(s.now, key) // no caller may join a cancelled reading
	}
}

// question builds keys. Different questions have different keys.
type question []byte

func (q question) number(n int64) question { return append(strconv.AppendInt(q, n, 10), ' ') }

func (q question) text(text string) question {
	return append(q.number(int64(len(text))), text...)
}

func (q question) texts(texts []string) question {
	q = q.number(int64(len(texts)))
	for _, text := range texts {
		q = q.text(text)
	}
	return q
}

func (q question) flag(yes bool) question {
	if yes {
		return q.number(1)
	}
	return q.number(0)
}
