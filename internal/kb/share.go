package kb

import (
	"context"
	"strconv"
	"sync"
)

// sharing lets those who ask the same at the same time have one answer. Nobody gets
// an answer whose reading began before they asked, unless the key says that nothing
// was written in between: so what was acknowledged before a question is in its
// answer.
//
// Whoever comes first reads for all; there is no goroutine for it, which would cost
// as much as a list. When they give up, they read on for those who still wait; only
// when all have, the reading is given up, too.
//
// Answers are for several: nobody may change one.
type sharing[T any] struct {
	mu  sync.Mutex
	now map[string]*reading[T]
}

// reading is something that is read for everybody who waits for it.
type reading[T any] struct {
	ctx    context.Context //nolint:containedctx // ends when nobody waits any more
	cancel context.CancelFunc
	done   chan struct{}
	// wanted is by how many; under the lock of all.
	wanted int

	answer   T
	err      error
	panicked any
}

// do answers what the key stands for. Current says that the key names the state of
// the store, by a sequence that was read when the question came: then a reading
// that is under way will do. Otherwise only one that begins later does, which
// everybody shares who comes meanwhile.
func (s *sharing[T]) do(ctx context.Context, key string, current bool, read func(ctx context.Context) (T, error)) (T, error) {
	var none T
	r, how := s.join(ctx, key, current)
	if how == waits {
		select {
		case <-r.done:
		case <-ctx.Done():
			return none, ctx.Err()
		}
		// Whatever is read now, it began after the question.
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

// What one who asks has to do with a reading.
const (
	leads  = iota // carry it out
	shares        // take its answer
	waits         // let it end first, for it is too old
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

// lead reads, on behalf of all.
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
		return r.answer, ctx.Err() // or it would say that nobody waited
	}
	return r.answer, r.err
}

// leave does not want it any more.
func (s *sharing[T]) leave(key string, r *reading[T]) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if r.wanted--; r.wanted > 0 {
		return
	}
	r.cancel()
	if s.now[key] == r {
		delete(s.now, key) // nobody may join what is given up
	}
}

// question makes keys: the same for the same question only.
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
