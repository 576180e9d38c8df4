package upstream

import (
	"time"

	"github.com/cenkalti/backoff/v5"
)

// restartBackoff is how long to wait before a server that went down is started
// again. The wait grows with each failure up to a limit.
type restartBackoff struct{ backoff backoff.ExponentialBackOff }

// healthyAfter is how long a server must have been ready for the backoff to start
// over.
const healthyAfter = time.Minute

func newRestartBackoff() *restartBackoff {
	p := &restartBackoff{backoff.ExponentialBackOff{
		// The first restart must begin within 250 ms of the crash.
		InitialInterval: 160 * time.Millisecond, RandomizationFactor: 0.2,
		Multiplier: 2, MaxInterval: 30 * time.Second,
	}}
	p.backoff.Reset()
	return p
}

// next returns the wait after a server was ready for the given time, zero if it
// never was.
func (p *restartBackoff) next(ready time.Duration) time.Duration {
	if ready > healthyAfter {
		p.backoff.Reset()
	}
	return p.backoff.NextBackOff()
}
