package execute

import (
	"cmp"
	"context"
	"errors"
	"sync"
	"time"

	"genkan/internal/gateway"
)

// deadline ends a call that shows no sign of life. Each sign pushes it out, up
// to the total that no call may exceed.
type deadline struct {
	mu      sync.Mutex
	timer   *time.Timer
	idle    time.Duration
	latest  time.Time
	stopped bool
	// asking counts questions to the client, during which the clock stands;
	// asked is since when.
	asking int
	asked  time.Time
	place  *place
	cancel context.CancelCauseFunc
}

// The causes of a call's end. Sources tell a timeout from a cancellation by their
// code.
var (
	errNoSignOfLife = &gateway.Error{Code: gateway.CodeTimeout, Err: errors.New("no sign of life within the timeout")}
	errTooLong      = &gateway.Error{Code: gateway.CodeTimeout, Err: errors.New("signs of life, but no answer within the longest time")}
)

// deadline starts the clock of one attempt.
func (e *Executor) deadline(ctx context.Context, p *place, call *gateway.Call) (context.Context, *deadline) {
	ctx, cancel := context.WithCancelCause(ctx)
	d := &deadline{idle: e.timeout(call), place: p, cancel: cancel}
	d.latest = time.Now().Add(max(e.limits.Total, d.idle))
	d.timer = time.AfterFunc(d.idle, d.expire)
	call.OnSignOfLife(d.extend)
	call.OnPause(d.hold)
	return ctx, d
}

func (e *Executor) timeout(call *gateway.Call) time.Duration {
	// The ceiling is for callers; whoever writes the configuration knows.
	return cmp.Or(min(call.Options.Timeout, maxTimeout), e.configuredTimeout(call))
}

// configuredTimeout is the timeout of a call whose caller does not choose one.
func (e *Executor) configuredTimeout(call *gateway.Call) time.Duration {
	return cmp.Or(call.Tool.Options.Timeout, call.Usual.Timeout, call.Tool.Timeout, e.limits.Timeout)
}

func (d *deadline) extend() {
	d.mu.Lock()
	defer d.mu.Unlock()
	if !d.stopped && d.asking == 0 {
		d.timer.Reset(max(min(d.idle, time.Until(d.latest)), 0))
	}
}

// hold stops the clock while the client is asked, and returns what starts it
// again: neither the time without a sign nor the total runs for people.
func (d *deadline) hold() (resume func()) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.asking == 0 {
		d.timer.Stop()
		d.asked = time.Now()
		d.place.give()
	}
	d.asking++
	return sync.OnceFunc(func() {
		d.mu.Lock()
		defer d.mu.Unlock()
		if d.asking--; d.asking == 0 {
			d.latest = d.latest.Add(time.Since(d.asked))
			if !d.stopped {
				d.place.take()
				d.timer.Reset(max(min(d.idle, time.Until(d.latest)), 0))
			}
		}
	})
}

func (d *deadline) expire() {
	d.mu.Lock()
	held, inTime := d.asking > 0, d.latest.After(time.Now())
	d.mu.Unlock()
	switch {
	case held: // it fired at the moment that the clock was stopped
	case inTime:
		d.cancel(errNoSignOfLife)
	default:
		d.cancel(errTooLong)
	}
}

func (d *deadline) stop() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.stopped = true
	d.timer.Stop()
	d.cancel(nil)
}

// endedBy says why a call's context ended.
func (e *Executor) endedBy(cause error, call *gateway.Call) error {
	if errors.Is(cause, errNoSignOfLife) {
		return &gateway.Error{
			Code: gateway.CodeTimeout, Err: cause,
			Message: "%s gave no answer and no progress for %s; the server was told to stop, but the call may have been carried out. If it needs longer, raise timeout: in the call's options, or in the configuration for the tool or its server",
			Values:  []any{call.Tool.Exposed, e.timeout(call)},
		}
	}
	if errors.Is(cause, errTooLong) {
		return &gateway.Error{
			Code: gateway.CodeTimeout, Err: cause,
			Message: "%s was still at work after %s, which is the longest that a call may take; the server was told to stop, but the call may have been carried out",
			Values:  []any{call.Tool.Exposed, e.limits.Total},
		}
	}
	return gateway.AsError(cause)
}
