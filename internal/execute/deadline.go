package execute

import (
	"cmp"
	"context"
	"errors"
	"sync"
	"time"

	"genkan/internal/gateway"
)

// deadline ends a call without progress. Progress extends it, up to the total
// time of the call. A timeout that the caller states is the total time.
type deadline struct {
	mu      sync.Mutex
	timer   *time.Timer
	idle    time.Duration
	latest  time.Time
	stopped bool
	// alive is set once there was a sign of life.
	alive bool
	// asking counts questions to the client, during which the deadline is
	// suspended; asked is when the first of them began.
	asking int
	asked  time.Time
	// took is how long the questions took that were answered.
	took   time.Duration
	slot   *slot
	cancel context.CancelCauseFunc
}

// The causes of the end of a call's context. Sources tell a timeout from a
// cancellation by the code.
var (
	errNoSignOfLife = &gateway.Error{Code: gateway.CodeTimeout, Err: errors.New("no sign of life within the timeout")}
	errTooLong      = &gateway.Error{Code: gateway.CodeTimeout, Err: errors.New("signs of life, but no answer within the longest time")}
)

// deadline starts the deadline of an attempt.
func (e *Executor) deadline(ctx context.Context, p *slot, call *gateway.Call) (context.Context, *deadline) {
	ctx, cancel := context.WithCancelCause(ctx)
	d := &deadline{idle: e.timeout(call), slot: p, cancel: cancel}
	if d.latest = p.latest; d.latest.IsZero() {
		d.latest = time.Now().Add(max(e.limits.Total, d.idle))
	} else {
		d.idle = time.Until(d.latest)
	}
	d.timer = time.AfterFunc(d.idle, d.expire)
	call.OnSignOfLife(d.extend)
	call.OnPause(d.suspend)
	return ctx, d
}

func (e *Executor) timeout(call *gateway.Call) time.Duration {
	// The ceiling applies to callers, not to the configuration.
	return cmp.Or(min(call.Options.Timeout, maxTimeout), e.configuredTimeout(call))
}

// configuredTimeout returns the timeout of a call whose caller states none.
func (e *Executor) configuredTimeout(call *gateway.Call) time.Duration {
	return cmp.Or(call.Tool.Options.Timeout, call.Usual.Timeout, call.Tool.Timeout, e.limits.Timeout)
}

func (d *deadline) extend() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.alive = true
	if !d.stopped && d.asking == 0 {
		d.timer.Reset(max(min(d.idle, time.Until(d.latest)), 0))
	}
}

// suspend stops the deadline while the client is asked, and returns the function
// that resumes it. Neither the timeout nor the total includes the time that
// people take.
func (d *deadline) suspend() (resume func()) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.asking == 0 {
		d.timer.Stop()
		d.asked = time.Now()
		d.slot.give()
	}
	d.asking++
	return sync.OnceFunc(func() {
		d.mu.Lock()
		defer d.mu.Unlock()
		if d.asking--; d.asking == 0 {
			took := time.Since(d.asked)
			d.took += took
			d.latest = d.latest.Add(took)
			if !d.stopped {
				d.slot.take()
				d.timer.Reset(max(min(d.idle, time.Until(d.latest)), 0))
			}
		}
	})
}

func (d *deadline) expire() {
	d.mu.Lock()
	held, silent := d.asking > 0, !d.alive || d.latest.After(time.Now())
	d.mu.Unlock()
	switch {
	case held: // it fired at the moment that the clock was stopped
	case silent:
		d.cancel(errNoSignOfLife)
	default:
		d.cancel(errTooLong)
	}
}

// stop ends the deadline. It returns how long the client was asked something.
func (d *deadline) stop() (asked time.Duration) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.stopped = true
	asked = d.took
	var unanswered time.Duration
	if d.asking > 0 {
		unanswered = time.Since(d.asked)
	}
	if !d.slot.latest.IsZero() {
		d.slot.latest = d.latest.Add(unanswered)
	}
	d.timer.Stop()
	d.cancel(nil)
	return asked + unanswered
}

// endedBy returns why a call's context ended.
func (e *Executor) endedBy(cause error, call *gateway.Call) error {
	if errors.Is(cause, errNoSignOfLife) {
		return &gateway.Error{
			Code: gateway.CodeTimeout, Err: cause,
			Message: "Execution timeout after %dms: %s gave no answer and no progress; the server was told to stop, but the call may have been carried out. If it needs longer, raise timeout in the configuration, for the tool or its server; a call over REST or with `genkan call` can state its own",
			Values:  []any{e.timeout(call).Milliseconds(), call.Tool.Exposed},
		}
	}
	if errors.Is(cause, errTooLong) && call.Options.Timeout > 0 {
		return &gateway.Error{
			Code: gateway.CodeTimeout, Err: cause,
			Message: "Execution timeout after %dms: %s was still at work; the server was told to stop, but the call may have been carried out. Raise timeout in the call's options, or leave it out: then a call may go on while it makes progress",
			Values:  []any{e.timeout(call).Milliseconds(), call.Tool.Exposed},
		}
	}
	if errors.Is(cause, errTooLong) {
		return &gateway.Error{
			Code: gateway.CodeTimeout, Err: cause,
			Message: "Execution timeout after %dms: %s was still at work, and this is the longest that a call may take; the server was told to stop, but the call may have been carried out",
			Values:  []any{e.limits.Total.Milliseconds(), call.Tool.Exposed},
		}
	}
	return gateway.AsError(cause)
}
