package execute

import (
	"sync"
	"time"
)

// breaker stops calls to a failing server for a while. After the pause one call
// is sent as a test. If it gets no answer, the next test is sent a pause later,
// without waiting for the first: a call can take minutes.
//
// Calls that fail together count once: a call that was in flight when another
// failed shows nothing new. When the server has restarted, all calls are sent
// again; the first failure opens the breaker again.
type breaker struct {
	// failures in a row open the breaker for pause.
	failures uint32
	pause    time.Duration
	// starts returns how often the source became ready; nil if it does not report
	// that.
	starts func() uint64

	mu       sync.Mutex
	inARow   uint32
	counted  uint64    // failures counted so far
	nextLook time.Time // zero while closed
	opened   uint64    // starts when the breaker opened
}

// ticket is the state of the breaker when an attempt began.
type ticket struct{ counted, starts uint64 }

// allow reports whether a call may be sent.
func (b *breaker) allow() (ticket, bool) {
	starts := b.startsNow()
	b.mu.Lock()
	defer b.mu.Unlock()
	t := ticket{b.counted, starts}
	if b.nextLook.IsZero() {
		return t, true
	}
	if starts != b.opened {
		b.nextLook, b.inARow = time.Time{}, b.failures-1
		return t, true
	}
	now := time.Now()
	if now.Before(b.nextLook) {
		return t, false
	}
	b.nextLook = now.Add(b.pause)
	return t, true
}

func (b *breaker) startsNow() uint64 {
	if b.starts == nil {
		return 0
	}
	return b.starts()
}

// record records the verdict of an attempt.
func (b *breaker) record(v verdict, t ticket) {
	if v == noVerdict {
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	switch {
	case v == healthy:
		b.inARow, b.nextLook = 0, time.Time{}
		return
	case t.counted != b.counted:
		return
	}
	b.counted++
	b.inARow++
	if b.inARow >= b.failures {
		// If the source has started again since, the next call closes the breaker.
		b.nextLook, b.opened = time.Now().Add(b.pause), t.starts
	}
}
