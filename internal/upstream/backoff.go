package upstream

import (
	"time"

	"github.com/cenkalti/backoff/v5"
)

// restartBackoff says how long to wait before a server that went down is started again:
// longer each time, and never for ever.
type restartBackoff struct{ backoff backoff.ExponentialBackOff }

// healthyAfter is how long a server must have been ready for its next failure
// to be a first one.
const healthyAfter = time.Minute

func newRestartBackoff() *restartBackoff {
	p := &restartBackoff{backoff.ExponentialBackOff{
		// The first restart is to be under way within 250 ms of the crash.
		InitialInterval: 160 * time.Millisecond, RandomizationFactor: 0.2,
		Multiplier: 2, MaxInterval: 30 * time.Second,
	}}
	p.backoff.Reset()
	return p
}

// next is the wait after a server that was ready for this long, zero if it
// never was.
func (p *restartBackoff) next(ready time.Duration) time.Duration {
	if ready > healthyAfter {
		p.backoff.Reset()
	}
	return p.backoff.NextBackOff()
}
