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

// Limits apply to every source unless a tool or a caller states others.
type Limits struct {
	// Timeout is how long a call may take without progress.
	Timeout time.Duration
	// Total is how long a call may take with progress, unless its caller states a
	// timeout.
	Total time.Duration
	// Concurrency is how many calls a source processes at once, Queue how many
	// more may wait.
	Concurrency, Queue int
	// Retries is how often a call that is safe to repeat is sent again.
	Retries int
	// RetryDelay is the wait before the first retry; it doubles with each.
	RetryDelay time.Duration
	// BreakerFailures in a row open a source's breaker for BreakerPause.
	BreakerFailures uint32
	BreakerPause    time.Duration
}

// DefaultLimits returns limits for MCP servers. A call may take ten minutes
// without progress, because a fixed half minute ends real work.
func DefaultLimits() Limits {
	return Limits{
		Timeout: 10 * time.Minute, Total: 6 * time.Hour,
		Concurrency: 128, Queue: 1024,
		Retries: 2, RetryDelay: 200 * time.Millisecond,
		BreakerFailures: 5, BreakerPause: 5 * time.Second,
	}
}

// The limits of what callers may ask for.
const (
	maxTimeout    = 10 * time.Minute
	maxRetries    = 10
	maxRetryDelay = time.Minute
)

// maxResent is how often a call is sent again after its connection was lost: a
// call that loses two connections in a row probably crashes the server.
const maxResent = 1

// Executor sends calls to their sources. It belongs to the process, so that a
// reload keeps the state of breakers and queues.
type Executor struct {
	limits Limits
	lanes  sync.Map // gateway.Source → *lane
}

// New returns an executor.
func New(limits Limits) *Executor { return &Executor{limits: limits} }

func (e *Executor) lane(source gateway.Source) *lane {
	if l, ok := e.lanes.Load(source); ok {
		return l.(*lane) //nolint:forcetypeassert // only lanes are stored
	}
	l, _ := e.lanes.LoadOrStore(source, newLane(source, e.limits))
	return l.(*lane) //nolint:forcetypeassert // only lanes are stored
}

// Forget removes the lane of a source that is closed.
func (e *Executor) Forget(source gateway.Source) { e.lanes.Delete(source) }

// Handle sends the call in the lane of its source. The answer counts against the
// caller's share of the memory.
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
	came := time.Now()
	p, err := e.enter(ctx, l, call)
	call.Timing.Queue = time.Since(came)
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
		if err == nil || call.Attempts > retries || lost > maxResent || ctx.Err() != nil || !mayRetry(err) {
			return result, err
		}
		if !isSafe(err, call.Tool) {
			return nil, notRetried(err, call)
		}
		if call.Attempts == 1 {
			waits.Reset()
		}
		wait := waits.NextBackOff()
		if !p.latest.IsZero() && time.Until(p.latest) <= wait {
			return nil, err
		}
		timer := time.NewTimer(wait)
		select {
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
			return nil, err
		}
	}
}

// retries returns how often the call may be sent again, as the first of these
// states it: the caller, the configuration of the tool, the limits.
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
func (e *Executor) attempt(ctx context.Context, l *lane, p *slot, call *gateway.Call) (*gateway.Result, error) {
	ticket, ok := l.breaker.allow()
	if !ok {
		return nil, &gateway.Error{
			Code: gateway.CodeUnavailable, Unsent: true, RetryAfter: e.limits.BreakerPause,
			Message: "server %s failed %d times in a row and is left alone for %s; `genkan servers %s` shows how it is",
			Values:  []any{call.Tool.Source.Name(), e.limits.BreakerFailures, e.limits.BreakerPause, call.Tool.Source.Name()},
		}
	}
	ctx, deadline := e.deadline(ctx, p, call)
	sent := time.Now()
	result, err := call.Tool.Source.Handle(ctx, call)
	// Read before the deadline is stopped, which ends ctx, too.
	ended := ctx.Err() != nil
	asked := deadline.stop()
	call.Timing.Asked += asked
	call.Timing.Server += time.Since(sent) - asked
	call.Sent = call.Params.Raw
	if result != nil {
		call.Answered = result.Raw
	}
	if err != nil && ended && !gateway.AsError(err).Unsent {
		err = e.endedBy(context.Cause(ctx), call)
	}
	l.breaker.record(e.verdict(err, call), ticket)
	return result, err
}

// verdict is what an attempt says about the health of a server.
type verdict uint8

const (
	noVerdict verdict = iota
	healthy
	failing
)

// verdict returns the verdict of an attempt. A call that timed out earlier than
// the configuration allows is neutral: its caller gave the server too little
// time, and the source checks by itself whether the server still responds. So is a
// call that was still at work.
func (e *Executor) verdict(err error, call *gateway.Call) verdict {
	v := breakerVerdict(err)
	if v == failing && gateway.AsError(err).Code == gateway.CodeTimeout &&
		(e.timeout(call) < e.configuredTimeout(call) || errors.Is(err, errTooLong)) {
		return noVerdict
	}
	return v
}

// breakerVerdict returns the verdict of an error. Only a server that was sent a
// call and does not answer fails. An answer, also an error, shows that the server
// works. Neutral are a caller that went away, a requested restart, a call that
// was not sent (a server that is down refuses at once, and needs no breaker when
// it is back), and a lost connection (the source restarts the server, and the
// call of one caller must not block the others).
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

// mayRetry reports whether sending a call again could help. A call that the server
// answered is never sent again.
func mayRetry(err error) bool {
	var e *gateway.Error
	return errors.As(err, &e) && e.RPC == nil && !e.Answered && e.Code == gateway.CodeUnavailable
}

// isSafe reports whether a call does no harm if it is sent again: it was not sent,
// or its tool is read-only or idempotent.
func isSafe(err error, tool *gateway.Tool) bool {
	return tool.RetrySafe() || gateway.AsError(err).Unsent
}

// notRetried adds to the error of a call why it was not sent again, if its caller or
// the configuration of the tool asks for retries.
func notRetried(err error, call *gateway.Call) error {
	if cmp.Or(call.Options.Retries, call.Tool.Options.Retries) <= 0 {
		return err
	}
	said := *gateway.AsError(err)
	text := gateway.Textf("%s; not retried: the tool is not known to be safe to repeat", gateway.Text{Format: said.Message, Values: said.Values})
	said.Message, said.Values = text.Format, text.Values
	return &said
}

// enter takes a slot in the lane, or waits for one in the queue, no longer than
// the timeout of the call.
func (e *Executor) enter(ctx context.Context, l *lane, call *gateway.Call) (*slot, error) {
	l.mu.Lock()
	p := &slot{lane: l, client: l.enter(call.Identity.ClientID)}
	if call.Options.Timeout > 0 {
		p.latest = time.Now().Add(e.timeout(call))
	}
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
			Message: "Execution timeout after %dms: server %s had no place for the call, because %d calls of this client were under way; the call was not sent",
			Values:  []any{e.timeout(call).Milliseconds(), call.Tool.Source.Name(), running},
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
