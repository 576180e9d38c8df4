package app

import (
	"genkan/internal/attribution"
	"genkan/internal/catalog"
	"genkan/internal/gateway"
)

// corridor returns the chain of middlewares that every call of every edge passes:
//
//	record → limit → arrive → resolve → hold → begin → typed → learn → compare →
//	shape → workflows → inspect → validate → translate tasks → attribute → execute
//
// Record is first, so that it also sees the calls that later steps refuse.
// Workflows and the middlewares at inspect see each call whole and once, because retries
// happen behind them. Shape is before them, because it makes outlines of what they
// answer.
//
// Compare is before inspect, because a caller's headers must agree with the request
// that the caller sent, not with one that a middleware has changed.
//
// Record, meant and limit wrap the steps of this function, so that a call that a reload
// moves to another house is recorded and counted once.
func (h *house) corridor(p *Process) gateway.Handler {
	steps := []gateway.Middleware{
		h.arrive,
		h.resolve,
		h.hold,
		p.recorder.Begin,
		h.typed,
		h.learn,
		catalog.CompareHeaders,
		h.shape,
		p.workflows.engine.Middleware,
	}
	steps = append(steps, p.opt.Inspect...)
	steps = append(steps, h.validator.Middleware, h.tasks.Middleware, attribution.Middleware(h.HasSeveralServers))
	return gateway.Chain(p.executor, steps...)
}

// Count counts a request that is not a call against the caller's rate limit. It
// returns an error if the limit is reached.
func (h *house) Count(who gateway.Identity) error { return h.limit.Admit(who) }
