package app

import (
	"context"
	"sync"
	"time"

	"golang.org/x/time/rate"

	"genkan/internal/catalog"
	"genkan/internal/config"
	"genkan/internal/gateway"
)

// corridor is the way of every call, whatever edge it came through:
//
//	record → limit → arrive → resolve → hold → typed → learn → compare →
//	inspect → validate → translate tasks → attribute → execute
//
// Record is first, so that it sees what the others refuse. Whoever looks into
// calls (shape, workflows) stands at inspect, sees them whole, and once: retries
// happen behind it.
//
// Compare is before inspect: what a caller's headers must agree with is what it
// sent, not what somebody in the house made of it.
//
// Record and limit are around the steps of this function: a call that a reload
// moves to another house is recorded and counted once.
func (h *house) corridor(p *Process) gateway.Handler {
	steps := []gateway.Middleware{
		h.arrive,
		h.resolve,
		h.hold,
		h.typed,
		h.learn,
		catalog.CompareHeaders,
	}
	steps = append(steps, p.opt.Inspect...)
	steps = append(steps, h.validator.Middleware, h.tasks.translate, h.attribute)
	return gateway.Chain(p.executor, steps...)
}

// Count counts what somebody asks of the house beside calls and that costs as
// much as one, or refuses it.
func (h *house) Count(who gateway.Identity) error { return h.limit.admit(who) }

// limiter allows each caller so many calls in a window of time.
type limiter struct {
	rule config.RateLimit
	mu   sync.Mutex
	// callers' buckets; callers have tokens, so there are few.
	buckets map[string]*rate.Limiter
}

func newLimiter(rule config.RateLimit) *limiter {
	return &limiter{rule: rule, buckets: map[string]*rate.Limiter{}}
}

func (l *limiter) middleware(next gateway.Handler) gateway.Handler {
	if l.rule.Max <= 0 {
		return next
	}
	return gateway.HandlerFunc(func(ctx context.Context, call *gateway.Call) (*gateway.Result, error) {
		if !call.Included {
			if err := l.admit(call.Identity); err != nil {
				return nil, err
			}
		}
		return next.Handle(ctx, call)
	})
}

// admit counts a call of somebody, or refuses it.
func (l *limiter) admit(who gateway.Identity) error {
	if l.rule.Max <= 0 {
		return nil
	}
	wait := l.wait(who.ClientID)
	if wait <= 0 {
		return nil
	}
	return &gateway.Error{
		Code: gateway.CodeLimited, Unsent: true, RetryAfter: wait,
		Message: "client %s made more than %d calls in %s; try again in %s",
		Values:  []any{who.ClientID, l.rule.Max, l.rule.TimeWindow, wait.Round(time.Millisecond)},
	}
}

// wait takes a place in the caller's bucket, or says when there will be one.
func (l *limiter) wait(client string) time.Duration {
	l.mu.Lock()
	bucket := l.buckets[client]
	if bucket == nil {
		bucket = rate.NewLimiter(rate.Every(l.rule.TimeWindow/time.Duration(l.rule.Max)), l.rule.Max)
		l.buckets[client] = bucket
	}
	l.mu.Unlock()
	place := bucket.Reserve()
	wait := place.Delay()
	if wait > 0 {
		place.Cancel()
	}
	return wait
}
