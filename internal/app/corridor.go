package app

import (
	"genkan/internal/attribution"
	"genkan/internal/catalog"
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
	steps = append(steps, h.validator.Middleware, h.tasks.Middleware, attribution.Middleware(h.HasSeveralServers))
	return gateway.Chain(p.executor, steps...)
}

// Count counts what somebody asks of the house beside calls and that costs as
// much as one, or refuses it.
func (h *house) Count(who gateway.Identity) error { return h.limit.Admit(who) }
