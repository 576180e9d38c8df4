// Package ratelimit bounds how many requests each client makes in a window of time.
package ratelimit

import (
	"context"
	"sync"
	"time"

	"golang.org/x/time/rate"

	"genkan/internal/gateway"
)

// Limiter allows each client a number of requests in a window of time.
type Limiter struct {
	most   int
	window time.Duration
	mu     sync.Mutex
	// buckets are one for each client. Clients have tokens, so there are few.
	buckets map[string]*rate.Limiter
}

// New makes a Limiter that allows most requests in a window; zero allows all.
func New(most int, window time.Duration) *Limiter {
	return &Limiter{most: most, window: window, buckets: map[string]*rate.Limiter{}}
}

// Middleware counts calls, except those that count as a part of their parents.
func (l *Limiter) Middleware(next gateway.Handler) gateway.Handler {
	if l.most <= 0 {
		return next
	}
	return gateway.HandlerFunc(func(ctx context.Context, call *gateway.Call) (*gateway.Result, error) {
		if !call.Included {
			if err := l.Admit(call.Identity); err != nil {
				return nil, err
			}
		}
		return next.Handle(ctx, call)
	})
}

// Admit counts a request of a client, or refuses it.
func (l *Limiter) Admit(who gateway.Identity) error {
	if l.most <= 0 {
		return nil
	}
	wait := l.wait(who.ClientID)
	if wait <= 0 {
		return nil
	}
	again := wait.Round(time.Millisecond)
	e := gateway.Errorf(gateway.CodeLimited, "client %s made more than %d requests in %v; try again in %v", who.ClientID, l.most, l.window, again)
	if l.most == 1 {
		e = gateway.Errorf(gateway.CodeLimited, "client %s made more than one request in %v; try again in %v", who.ClientID, l.window, again)
	}
	e.Unsent, e.RetryAfter = true, wait
	return e
}

// wait counts a call, or returns how long it must wait to be counted.
func (l *Limiter) wait(client string) time.Duration {
	l.mu.Lock()
	bucket := l.buckets[client]
	if bucket == nil {
		bucket = rate.NewLimiter(rate.Every(l.window/time.Duration(l.most)), l.most)
		l.buckets[client] = bucket
	}
	l.mu.Unlock()
	reserved := bucket.Reserve()
	wait := reserved.Delay()
	if wait > 0 {
		reserved.Cancel()
	}
	return wait
}
