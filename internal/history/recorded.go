package history

import (
	"context"
	"iter"
	"maps"
	"slices"
	"strings"

	"genkan/internal/gateway"
)

// Recorded is a call with what its client sent and its server answered, as they were.
// It is for running something on the call again. Whoever shows a part of it takes
// secrets out first.
type Recorded struct {
	Entry
	// Params are those of the request, and Answered is the result. They are nil if they
	// are not kept whole.
	Params, Answered []byte
}

// Whole reports whether everything is there that a replay needs.
func (r *Recorded) Whole() bool { return r.Params != nil && r.Answered != nil }

// Recorded returns a call that the reader may see.
func (a *Archive) Recorded(ctx context.Context, who gateway.Identity, id string) (Recorded, error) {
	a.flush(ctx)
	q, err := a.limited(ctx, Query{}, who)
	if err != nil {
		return Recorded{}, err
	}
	e, s, err := a.Reader.get(id, q.Caller)
	if err == nil && e.Started.Add(e.Took).Before(q.Since) {
		err = errForgotten(id)
	}
	if err != nil {
		return Recorded{}, err
	}
	if e.CanReplay() && isAnothers(e.Caller, who) {
		a.Log.Info("an administrator replayed what another client sent and received", "request_id", e.ID, "client", e.Caller, "reader", who.ClientID)
	}
	return a.recorded(ctx, e, s)
}

// CanReplay reports whether everything is kept that a replay needs.
func (e *Entry) CanReplay() bool { return e.Has(HasBodies|Replayable) && !e.Has(RequestCut) }

func (a *Archive) recorded(ctx context.Context, e Entry, s *sealed) (Recorded, error) {
	r := Recorded{Entry: e}
	if !e.CanReplay() {
		return r, nil
	}
	b, err := a.Reader.open(ctx, s)
	r.Params, r.Answered = b.Request, b.Answered
	return r, err
}

// recordedPage is how many calls are in memory at once.
const recordedPage = 200

// EachRecorded returns the calls that the reader may see and a query selects, the newest
// first, at most as many as its limit. Calls whose bodies cannot be read are not whole.
func (a *Archive) EachRecorded(ctx context.Context, who gateway.Identity, q Query) iter.Seq2[Recorded, error] {
	return func(yield func(Recorded, error) bool) {
		a.flush(ctx)
		q, err := a.limited(ctx, q, who)
		others := map[string]bool{}
		defer func() {
			if len(others) > 0 {
				clients := strings.Join(slices.Sorted(maps.Keys(others)), ", ")
				a.Log.Info("an administrator replayed what other clients sent and received", "clients", clients, "reader", who.ClientID)
			}
		}()
		for left := q.Limit; err == nil && left > 0; left -= q.Limit {
			q.Limit = min(left, recordedPage)
			var page Page
			if page, err = a.Reader.List(ctx, q, nil); err != nil {
				break
			}
			for i, e := range page.Calls {
				r, unreadable := a.recorded(ctx, e, page.sealed[i])
				if unreadable != nil {
					r = Recorded{Entry: e}
				}
				if r.Whole() && isAnothers(e.Caller, who) {
					others[e.Caller] = true
				}
				if !yield(r, nil) {
					return
				}
			}
			if q.After = page.Next; q.After == "" {
				return
			}
		}
		if err != nil {
			yield(Recorded{}, err)
		}
	}
}

// Redactor returns what takes the secrets of today out of JSON, and tells by which rules.
func (a *Archive) Redactor(ctx context.Context) (func([]byte) ([]byte, []string), error) {
	return a.Redact(ctx)
}
