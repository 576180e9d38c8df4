package execute

import (
	"sync"
	"time"
)

// breaker leaves a failing server alone for a while. After the pause one call
// is let through to see; if that does not answer either, the next one may look
// a pause later, without waiting for the first: a call can take minutes.
type breaker struct {
	// failures in a row open it for pause.
	failures uint32
	pause    time.Duration

	mu       sync.Mutex
	inARow   uint32
	nextLook time.Time // zero while closed
}

// allow reports whether a call may be sent.
func (b *breaker) allow() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.nextLook.IsZero() {
		return true
	}
	now := time.Now()
	if now.Before(b.nextLook) {
		return false
	}
	b.nextLook = now.Add(b.pause)
	return true
}

// settle takes note of how an attempt went.
func (b *breaker) settle(v verdict) {
	if v == noVerdict {
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if v == healthy {
		b.inARow, b.nextLook = 0, time.Time{}
		return
	}
	b.inARow++
	if b.inARow >= b.failures {
		b.nextLook = time.Now().Add(b.pause)
	}
}
