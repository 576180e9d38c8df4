package kb

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
)

// asked is a caller with its answer.
type asked struct {
	answer int
	err    error
	leave  context.CancelFunc
}

// ask asks in the background, within a bubble.
func ask(s *sharing[int], current bool, read func(ctx context.Context) (int, error)) *asked {
	ctx, cancel := context.WithCancel(context.Background())
	a := &asked{leave: cancel, err: errStillWaiting}
	go func() { a.answer, a.err = s.do(ctx, "key", current, read) }()
	synctest.Wait()
	return a
}

var errStillWaiting = errors.New("still waiting")

// slow is a reading that lasts until it is released. It counts its runs.
type slow struct {
	begun int
	ended []error // of their contexts
	let   chan struct{}
}

func (s *slow) read(ctx context.Context) (int, error) {
	s.begun++
	n := s.begun
	select {
	case <-s.let:
	case <-ctx.Done():
	}
	s.ended = append(s.ended, ctx.Err())
	return n, ctx.Err()
}

func TestSharing(t *testing.T) {
	for name, c := range map[string]struct {
		current bool
		want    []int // what three get of whom two come while the first reads
	}{
		"a key that names a state": {true, []int{1, 1, 1}},
		"any other":                {false, []int{1, 2, 2}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s, r := &sharing[int]{}, &slow{let: make(chan struct{})}
				all := []*asked{ask(s, c.current, r.read), ask(s, c.current, r.read), ask(s, c.current, r.read)}
				if r.begun != 1 {
					t.Errorf("%d read at once", r.begun)
				}
				r.let <- struct{}{}
				synctest.Wait()
				if !c.current {
					if all[1].err == nil || r.begun != 2 {
						t.Errorf("they got %d, %v of %d", all[1].answer, all[1].err, r.begun)
					}
					r.let <- struct{}{}
					synctest.Wait()
				}
				for i, a := range all {
					if a.answer != c.want[i] || a.err != nil {
						t.Errorf("%d got %d, %v", i, a.answer, a.err)
					}
					a.leave()
				}
				if len(s.now) != 0 {
					t.Errorf("%d are kept", len(s.now))
				}
			})
		})
	}
}

func TestSharingWhenSomebodyLeaves(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, r := &sharing[int]{}, &slow{let: make(chan struct{})}
		first, second, later := ask(s, true, r.read), ask(s, true, r.read), ask(s, false, r.read)
		first.leave()
		later.leave()
		synctest.Wait()
		// The first caller reads on for the second.
		if !errors.Is(later.err, context.Canceled) || !errors.Is(second.err, errStillWaiting) || len(r.ended) > 0 {
			t.Fatalf("%v, %v, %v", later.err, second.err, r.ended)
		}
		r.let <- struct{}{}
		synctest.Wait()
		if second.answer != 1 || second.err != nil || r.begun != 1 {
			t.Fatalf("%d, %v of %d", second.answer, second.err, r.begun)
		}

		// A caller that shares a reading may leave at any time.
		leader, sharer := ask(s, true, r.read), ask(s, true, r.read)
		sharer.leave()
		synctest.Wait()
		if !errors.Is(sharer.err, context.Canceled) || !errors.Is(leader.err, errStillWaiting) {
			t.Fatalf("%v, %v", sharer.err, leader.err)
		}

		// When all callers have left, the reading is canceled, and the next caller starts a new
		// one.
		leader.leave()
		synctest.Wait()
		if len(r.ended) != 2 || !errors.Is(r.ended[1], context.Canceled) || !errors.Is(leader.err, context.Canceled) {
			t.Fatalf("%v, %v", r.ended, leader.err)
		}
		next := ask(s, true, r.read)
		r.let <- struct{}{}
		synctest.Wait()
		if next.answer != 3 || next.err != nil {
			t.Fatalf("%d, %v", next.answer, next.err)
		}
		next.leave()
		second.leave()
	})
}

func TestSharingOfPanics(t *testing.T) {
	var s sharing[int]
	defer func() {
		if got := recover(); got != "broken" {
			t.Errorf("%v", got)
		}
		if _, err := s.do(t.Context(), "key", true, func(context.Context) (int, error) { return 1, nil }); err != nil {
			t.Error(err)
		}
	}()
	_, _ = s.do(t.Context(), "key", true, func(context.Context) (int, error) { panic("broken") })
}

// A shared answer includes everything that was written before the question.
func TestSharingIsNeverStale(t *testing.T) {
	var s sharing[int64]
	var store atomic.Int64
	read := func(context.Context) (int64, error) { return store.Load(), nil }
	var all sync.WaitGroup
	for i := range 8 {
		all.Go(func() {
			for range 2000 {
				mine := store.Add(1)
				key, current := "", i%2 == 0
				if current {
					key = string(question{}.number(store.Load()))
				}
				if got, err := s.do(t.Context(), key, current, read); err != nil || got < mine {
					t.Errorf("%d after %d was written, %v", got, mine, err)
					return
				}
			}
		})
	}
	all.Wait()
}

func TestQuestions(t *testing.T) {
	seen := map[string]int{}
	for i, q := range []question{
		question{}.texts([]string{"a", "b"}), question{}.texts([]string{"ab"}), question{}.texts([]string{"a"}).text("b"),
		question{}.texts(nil).text("a").text("b"), question{}.text("1 a"), question{}.number(1).text("a"),
		question{}.number(11), question{}.number(1).number(1), question{}.flag(true), question{}.flag(false),
	} {
		if other, ok := seen[string(q)]; ok {
			t.Errorf("%d and %d are both %q", other, i, q)
		}
		seen[string(q)] = i
	}
}
