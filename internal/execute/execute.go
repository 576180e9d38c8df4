// Package execute is the last stretch of the corridor: it hands a call to its
// source under a deadline, behind the source's queue and breaker, and sends
// again what is safe to send again. Every source has a lane of its own, so
// that one that hangs takes nobody with it.
package execute

import (
	"cmp"
	"context"
	"errors"
	"sync"
	"time"

	"github.com/cenkalti/backoff/v5"

	"genkan/internal/gateway"
)

// Limits are what holds for every source unless a tool or a caller says
// otherwise.
type Limits struct {
	// Timeout is how long a call may go without a sign of life.
	Timeout time.Duration
	// Total is how long a call may take with any number of them.
	Total time.Duration
	// Concurrency is how many calls a source works on at once, Queue how many
	// more may wait for a place.
	Concurrency, Queue int
	// Retries is how often a call that did no harm is sent again.
	Retries int
	// RetryDelay is the wait before the first of them; it doubles.
	RetryDelay time.Duration
	// BreakerFailures in a row open a source's breaker for BreakerPause.
	BreakerFailures uint32
	BreakerPause    time.Duration
}

// DefaultLimits fit servers behind MCP. Ten minutes without progress: a fixed
// half minute kills real work.
func DefaultLimits() Limits {
	return Limits{
		Timeout: 10 * time.Minute, Total: 6 * time.Hour,
		Concurrency: 128, Queue: 1024,
		Retries: 2, RetryDelay: 200 * time.Millisecond,
		BreakerFailures: 5, BreakerPause: 5 * time.Second,
	}
}

// Ceilings of what a caller may ask for.
const (
	maxTimeout    = 10 * time.Minute
	maxRetries    = 10
	maxRetryDelay = time.Minute
)

// mostResent is how often a call is sent again after its connection was lost: a
// call that loses two in a row probably ends the server.
const mostResent = 1

// Executor runs calls. It belongs to the process, not to a configuration: a
// reload does not forget which server is failing.
type Executor struct {
	limits Limits
	lanes  sync.Map // gateway.Source → *lane
}

// New makes an executor.
func New(limits Limits) *Executor { return &Executor{limits: limits} }

func (e *Executor) lane(source gateway.Source) *lane {
	if l, ok := e.lanes.Load(source); ok {
		return l.(*lane) //nolint:forcetypeassert // only lanes are stored
	}
	l, _ := e.lanes.LoadOrStore(source, newLane(source, e.limits))
	return l.(*lane) //nolint:forcetypeassert // only lanes are stored
}

// Forget drops the lane of a source that is gone.
func (e *Executor) Forget(source gateway.Source) { e.lanes.Delete(source) }

// Handle runs the call in its source's lane. Its answer counts against the
// caller's share of the memory, whatever source made it.
func (e *Executor) Handle(ctx context.Context, call *gateway.Call) (*gateway.Result, error) {
	result, err := e.handle(ctx, call)
	if err == nil && result != nil {
		err = call.ReserveAnswer(len(result.Raw))
	}
	if err != nil {
		return nil, err
	}
	return result, nil
}

func (e *Executor) handle(ctx context.Context, call *gateway.Call) (*gateway.Result, error) {
	if gateway.IsForwarder(call.Tool.Source) {
		call.Attempts++
		return call.Tool.Source.Handle(ctx, call)
	}
	l := e.lane(call.Tool.Source)
	p, err := e.enter(ctx, l, call)
	if err != nil {
		return nil, err
	}
	defer p.leave()

	retries := e.retries(call)
	waits := backoff.ExponentialBackOff{
		InitialInterval: e.retryDelay(call), Multiplier: 2, RandomizationFactor: 0.2, MaxInterval: maxRetryDelay,
	}
	lost := 0
	for {
		call.Attempts++
		result, err := e.attempt(ctx, l, p, call)
		if isLost(err) {
			lost++
		}
		if err == nil || call.Attempts > retries || lost > mostResent || !worthRetrying(err, call.Tool) || ctx.Err() != nil {
			return result, err
		}
		if call.Attempts == 1 {
			waits.Reset()
		}
		timer := time.NewTimer(waits.NextBackOff())
		select {
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
			return nil, err
		}
	}
}

// retries is how often the call may be sent again, by the first who says it: its
// caller, the configuration of its tool, what is usual.
func (e *Executor) retries(call *gateway.Call) int {
	wish := cmp.Or(call.Options.Retries, call.Tool.Options.Retries, call.Usual.Retries, e.limits.Retries)
	if wish == gateway.NoRetries {
		return 0
	}
	return min(wish, maxRetries)
}

func (e *Executor) retryDelay(call *gateway.Call) time.Duration {
	return min(cmp.Or(call.Options.RetryDelay, call.Tool.Options.RetryDelay, call.Usual.RetryDelay, e.limits.RetryDelay), maxRetryDelay)
}

// attempt sends the call once.
func (e *Executor) attempt(ctx context.Context, l *lane, p *place, call *gateway.Call) (*gateway.Result, error) {
	ticket, ok := l.breaker.allow()
	if !ok {
		return nil, &gateway.Error{
			Code: gateway.CodeUnavailable, Unsent: true, RetryAfter: e.limits.BreakerPause,
			Message: "server %s failed %d times in a row and is left alone for %s; `genkan servers %s` shows how it is",
			Values:  []any{call.Tool.Source.Name(), e.limits.BreakerFailures, e.limits.BreakerPause, call.Tool.Source.Name()},
		}
	}
	ctx, deadline := e.deadline(ctx, p, call)
	result, err := call.Tool.Source.Handle(ctx, call)
	// Asked before the clock is stopped, which ends ctx too.
	ended := ctx.Err() != nil
	deadline.stop()
	if err != nil && ended && !gateway.AsError(err).Unsent {
		err = e.endedBy(context.Cause(ctx), call)
	}
	l.breaker.settle(e.verdict(err, call), ticket)
	return result, err
}

// verdict is what an attempt says about its server.
type verdict uint8

const (
	noVerdict verdict = iota
	healthy
	failing
)

// verdict is breakerVerdict, except for a call that timed out earlier than the
// configuration says: its caller gave the server too little time. Whether such a
// server still lives, the source finds out itself.
func (e *Executor) verdict(err error, call *gateway.Call) verdict {
	v := breakerVerdict(err)
	if v == failing && gateway.AsError(err).Code == gateway.CodeTimeout && e.timeout(call) < e.configuredTimeout(call) {
		return noVerdict
	}
	return v
}

// breakerVerdict decides what a failing server is: one that was sent a call
// and does not answer. An answer shows that it lives, also one that says no.
// A caller that went away shows nothing, nor does a restart that was wanted. Nor does what never left: a server
// that is down refuses at once by itself and says why, and once it is back
// nobody should have to wait for a breaker. A lost connection shows nothing,
// either: the source restarts the server, and the others should not wait because
// one caller's call ended it.
func breakerVerdict(err error) verdict {
	if err == nil {
		return healthy
	}
	var e *gateway.Error
	switch {
	case !errors.As(err, &e) || e.RPC != nil || e.Answered:
		return healthy
	case e.Unsent || e.Lost || e.Code == gateway.CodeCanceled || errors.Is(err, gateway.ErrWanted):
		return noVerdict
	case e.Code == gateway.CodeUnavailable || e.Code == gateway.CodeTimeout:
		return failing
	default:
		return healthy
	}
}

func isLost(err error) bool {
	var e *gateway.Error
	return errors.As(err, &e) && e.Lost
}

// worthRetrying: what never left, or what does no harm twice. What the server
// answered stands.
func worthRetrying(err error, tool *gateway.Tool) bool {
	var e *gateway.Error
	if !errors.As(err, &e) || e.RPC != nil || e.Answered || e.Code != gateway.CodeUnavailable {
		return false
	}
	return e.Unsent || tool.RetrySafe()
}

// enter takes a place in the lane, or waits for one in the bounded queue, for
// no longer than the call may go without a sign of life.
func (e *Executor) enter(ctx context.Context, l *lane, call *gateway.Call) (*place, error) {
	l.mu.Lock()
	p := &place{lane: l, client: l.enter(call.Identity.ClientID)}
	if p.held = l.run(p.client); p.held {
		l.mu.Unlock()
		return p, nil
	}
	turn, ok := l.enqueue(p.client)
	running, queued := p.client.running, len(p.client.queue)
	if !ok {
		l.leave(p.client)
	}
	l.mu.Unlock()
	if !ok {
		return nil, &gateway.Error{
			Code: gateway.CodeLimited, Unsent: true, RetryAfter: time.Second,
			Message: "server %s takes no more calls of this client now: %d are under way and %d wait; try again later",
			Values:  []any{call.Tool.Source.Name(), running, queued},
		}
	}
	patience := time.NewTimer(e.timeout(call))
	defer patience.Stop()
	var err *gateway.Error
	select {
	case <-turn:
		p.held = true
		return p, nil
	case <-patience.C:
		err = &gateway.Error{
			Code: gateway.CodeTimeout, Unsent: true,
			Message: "server %s had no place for the call within %s: %d calls of this client were under way; the call was not sent",
			Values:  []any{call.Tool.Source.Name(), e.timeout(call), running},
		}
	case <-ctx.Done():
		err = &gateway.Error{
			Code: gateway.CodeCanceled, Unsent: true, Err: context.Cause(ctx),
			Message: "the call was canceled while it waited for its turn",
		}
	}
	p.abandon(turn)
	return nil, err
}
