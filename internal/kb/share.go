package kb

import (
	"context"
	"strconv"
	"sync"
)

// sharing lets those who ask the same at the same time have one answer. Nobody gets
// an answer whose reading began before they asked, unless the key says that nothing
// was written in between: so what was acknowledged before a question is in its
// answer. Whoever gives up leaves the others alone; only when all have, the reading
// is given up, too.
//
// Answers are for several: nobody may change one.
type sharing[T any] struct {
	mu  sync.Mutex
	now map[string]*reading[T]
}

// reading is something that is read for everybody who waits for it.
type reading[T any] struct {
	done   chan struct{}
	cancel context.CancelFunc
	// waiting is how many want it; under the lock of all.
	waiting int

	answer   T
	err      error
	panicked any
}

// do answers what the key stands for. Current says that the key names the state of
// the store, by a sequence that was read when the question came: then a reading
// that is under way will do. Otherwise only one that begins later does, which
// everybody shares who comes meanwhile.
func (s *sharing[T]) do(ctx context.Context, key string, current bool, read func(ctx context.Context) (T, error)) (T, error) {
	r, older := s.join(ctx, key, current, read)
	if older != nil {
		select {
		case <-older.done:
		case <-ctx.Done():
			var none T
			return none, ctx.Err()
		}
		// Whatever is read now, it began after the question.
		r, _ = s.join(ctx, key, true, read)
	}
	select {
	case <-r.done:
		if r.panicked != nil {
			panic(r.panicked)
		}
		return r.answer, r.err
	case <-ctx.Done():
		s.leave(key, r)
		var none T
		return none, ctx.Err()
	}
}

// join is the reading to wait for, or one that is too old and must end first.
func (s *sharing[T]) join(ctx context.Context, key string, current bool, read func(ctx context.Context) (T, error)) (r, older *reading[T]) {
	s.mu.Lock()
	defer s.mu.Unlock()
	r = s.now[key]
	switch {
	case r == nil:
		r = s.begin(ctx, key, read)
	case !current:
		return nil, r
	}
	r.waiting++
	return r, nil
}

// begin reads, on behalf of all.
func (s *sharing[T]) begin(ctx context.Context, key string, read func(ctx context.Context) (T, error)) *reading[T] {
	ctx, cancel := context.WithCancel(context.WithoutCancel(ctx))
	r := &reading[T]{done: make(chan struct{}), cancel: cancel}
	if s.now == nil {
		s.now = map[string]*reading[T]{}
	}
	s.now[key] = r
	go func() {
		defer cancel()
		defer close(r.done)
		defer s.forget(key, r)
		defer func() { r.panicked = recover() }()
		r.answer, r.err = read(ctx)
	}()
	return r
}

// forget makes the next one who asks read anew.
func (s *sharing[T]) forget(key string, r *reading[T]) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.now[key] == r {
		delete(s.now, key)
	}
}

// leave gives up waiting.
func (s *sharing[T]) leave(key string, r *reading[T]) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if r.waiting--; r.waiting > 0 {
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
