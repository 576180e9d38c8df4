package execute

import (
	"sync"
	"time"
)

// breaker leaves a failing server alone for a while. After the pause one call
// is let through to see; if that does not answer either, the next one may look
// a pause later, without waiting for the first: a call can take minutes.
//
// Calls that fail together count once: a call that was under way when another
// failed tells nothing new. A server that has started again gets everybody's calls
// at once; the first failure opens the breaker again.
type breaker struct {
	// failures in a row open it for pause.
	failures uint32
	pause    time.Duration
	// starts reports how often the source became ready; nil if it does not say.
	starts func() uint64

	mu       sync.Mutex
	inARow   uint32
	counted  uint64    // failures counted so far
	nextLook time.Time // zero while closed
	opened   uint64    // starts when the breaker opened
}

// ticket is what the breaker knew when an attempt began.
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

// settle takes note of how an attempt went.
func (b *breaker) settle(v verdict, t ticket) {
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
