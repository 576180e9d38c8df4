package execute

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"genkan/internal/gateway"
)

// sleeper is a source that takes a second for each call but those of "other",
// which it answers at once.
func sleeper() *source {
	return &source{name: "sleeper", handle: func(ctx context.Context, call *gateway.Call) (*gateway.Result, error) {
		if call.Identity.ClientID == "other" {
			return done, nil
		}
		select {
		case <-time.After(time.Second):
			return done, nil
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	}}
}

func greedy(int) string { return "greedy" }

// A client that fills its share of the places and of the queue delays nobody
// else.
func TestSleepingCallsOfOneClientDelayNobodyElse(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e, s := New(DefaultLimits()), hangs()
		s.handle = func(ctx context.Context, call *gateway.Call) (*gateway.Result, error) {
			if call.Identity.ClientID == "other" {
				return done, nil
			}
			<-ctx.Done()
			return nil, context.Cause(ctx)
		}
		defer crowdOf(t, e, s, 128+1024, greedy)()
		if s.seen() != 96 {
			t.Errorf("%d calls of the greedy client run, want 3/4 of 128", s.seen())
		}
		began := time.Now()
		for range 1000 {
			if _, err := e.Handle(t.Context(), of("other", s)); err != nil {
				t.Fatal(err)
			}
		}
		if took := time.Since(began); took != 0 {
			t.Errorf("the other client's calls took %v", took)
		}
		// What is beyond the share is refused at once, and says so.
		_, err := e.Handle(t.Context(), of("greedy", s))
		if refused := wantCode(t, err, gateway.CodeLimited); !refused.Unsent || refused.RetryAfter <= 0 {
			t.Errorf("got %+v", refused)
		}
	})
}

// A place that becomes free goes to the client with the fewest running calls,
// not to who has waited longest.
func TestAFreePlaceGoesToTheClientWithTheFewestCalls(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		limits := limits()
		limits.Concurrency, limits.Queue = 8, 100
		e, s := New(limits), sleeper()
		var order []string
		var mu sync.Mutex
		inner := s.handle
		s.handle = func(ctx context.Context, call *gateway.Call) (*gateway.Result, error) {
			mu.Lock()
			order = append(order, call.Identity.ClientID)
			mu.Unlock()
			return inner(ctx, call)
		}
		// Two greedy clients leave one of eight places free; it is taken, too.
		defer crowdOf(t, e, s, 20, greedy)()
		defer crowdOf(t, e, s, 20, func(int) string { return "second" })()
		defer crowdOf(t, e, s, 1, func(int) string { return "third" })()
		defer crowdOf(t, e, s, 3, func(i int) string { return fmt.Sprint("late", i) })()
		mu.Lock()
		before := len(order)
		mu.Unlock()
		if before > 8 {
			t.Fatalf("%d calls run on 8 places: %v", before, order)
		}
		time.Sleep(1500 * time.Millisecond)
		synctest.Wait()
		mu.Lock()
		defer mu.Unlock()
		next := map[string]bool{}
		// All places become free at one moment, in any order; each is given away once.
		for _, client := range order[:min(before+limits.Concurrency, len(order))] {
			next[client] = true
		}
		for i := range 3 {
			if !next[fmt.Sprint("late", i)] {
				t.Errorf("late%d still waits; in order of their turns: %v", i, order)
			}
		}
	})
}

// A greedy client is not slower than before when it is alone, but for the places
// that are kept free: nothing of its queue is lost.
func TestTheQueueOfAGreedyClientMovesOn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		limits := limits()
		limits.Concurrency, limits.Queue = 4, 100
		e, s := New(limits), sleeper()
		began := time.Now()
		var calls sync.WaitGroup
		for range 30 {
			calls.Go(func() {
				if _, err := e.Handle(t.Context(), of("greedy", s)); err != nil {
					t.Error(err)
				}
			})
		}
		calls.Wait()
		if took := time.Since(began); took != 10*time.Second {
			t.Errorf("30 calls of a second on 3 of 4 places took %v", took)
		}
	})
}

// Calls that have asked their client take no place of another's share when they
// go on.
func TestAnsweredQuestionsTakeNoPlaceOfOthers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e, s := New(limits()), curious(1, time.Minute/2)
		ended := make(chan error, 20)
		for range cap(ended) {
			go func() {
				call := asks(s, person{thinks: time.Hour})
				call.Identity.ClientID, call.Options.Timeout = "greedy", 10*time.Minute
				_, err := e.Handle(t.Context(), call)
				ended <- err
			}()
			synctest.Wait()
			time.Sleep(31 * time.Second) // until it asks
		}
		time.Sleep(time.Hour) // they are being answered, one after the other
		for range 20 {
			began := time.Now()
			call := asks(s, person{})
			call.Identity.ClientID = "other"
			if _, err := e.Handle(t.Context(), call); err != nil || time.Since(began) != time.Minute {
				t.Fatalf("another client's call: %v after %v", err, time.Since(began))
			}
		}
		for range cap(ended) {
			if err := <-ended; err != nil {
				t.Error(err)
			}
		}
		l := e.lane(s)
		if l.free != limits().Concurrency || len(l.waiting) != 0 {
			t.Errorf("%d places are free, %d clients wait", l.free, len(l.waiting))
		}
	})
}

// A turn that comes at the moment of a cancellation is not lost, and clients
// without calls are forgotten.
func TestPlacesAreNeverLost(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		limits := limits()
		limits.Queue = 100
		e, s := New(limits), sleeper()
		var calls sync.WaitGroup
		for i := range 300 {
			calls.Go(func() {
				ctx, cancel := context.WithTimeout(t.Context(), time.Duration(i%7)*time.Second/2)
				defer cancel()
				_, _ = e.Handle(ctx, of(fmt.Sprint("client", i%100), s))
			})
		}
		calls.Wait()
		l := e.lane(s)
		if l.free != limits.Concurrency || l.freeEntries != limits.Queue || len(l.waiting) != 0 || len(l.clients) > idleClients {
			t.Errorf("%d places and %d in the queue are free, %d clients wait, %d are kept", l.free, l.freeEntries, len(l.waiting), len(l.clients))
		}
	})
}

// An answer that a source makes itself counts as well.
func TestAnswersOfEverySourceCount(t *testing.T) {
	large := &source{name: "large", handle: func(context.Context, *gateway.Call) (*gateway.Result, error) {
		return &gateway.Result{Raw: make([]byte, 100_000)}, nil
	}}
	budget := gateway.NewShares(200_000)
	one := of("one", large)
	one.Budget = budget
	e := New(DefaultLimits())
	if _, err := e.Handle(t.Context(), one); err != nil {
		t.Fatal(err)
	}
	if budget.Held("one") != 100_000 {
		t.Errorf("%d bytes are counted", budget.Held("one"))
	}
	two := of("one", large)
	two.Budget = budget
	_, err := e.Handle(t.Context(), two)
	wantCode(t, err, gateway.CodeLimited)
	one.Release()
	if _, err := e.Handle(t.Context(), two); err != nil {
		t.Error(err)
	}
}
