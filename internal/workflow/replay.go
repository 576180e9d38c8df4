package workflow

import (
	"context"
	"iter"
	"slices"
	"time"

	"genkan/internal/gateway"
	"genkan/internal/tokens"
)

// Past is a call that was made before, with the answer that its server gave.
type Past struct {
	Call   *gateway.Call
	Answer *gateway.Result
}

// Replayed is what a workflow makes of a past call.
type Replayed struct {
	// Matched is not set if the workflow is not for the call. It was not run then.
	Matched bool
	Trace   Trace
	// Result and Err are what the caller would get.
	Result *gateway.Result
	Err    error
	// Took is how long the workflow took.
	Took time.Duration
}

// IsFor reports whether the workflow is for a call, before match.when is evaluated.
func (w *Workflow) IsFor(call *gateway.Call) bool {
	return call.Method == w.Type && call.Tool != nil && w.match.clients.match(call.Identity.ClientID) && w.match.tool(call.Tool)
}

// Refuses reports whether a call with an answer of this size together, in bytes, is more
// than limits.payloadKB allows the hooks of the workflow to take.
func (w *Workflow) Refuses(size int) bool {
	return size > w.payload() && slices.ContainsFunc(w.Nodes, func(n Node) bool { return n.Type == hookType })
}

// Rehearse runs a workflow on a past call with its answer pinned, if the workflow is for
// the call. Nothing is sent, asked, fetched or kept.
func (e *Engine) Rehearse(ctx context.Context, w *Workflow, past Past) (out Replayed) {
	call := past.Call
	if !w.IsFor(call) {
		return out
	}
	began := time.Now()
	defer func() { out.Took = time.Since(began) }()
	r := e.newRun(ctx, w, callCopy(call), &chain{})
	applies, err := w.match.applies(ctx, r)
	switch {
	case err != nil:
		r.trace.Steps = []Step{{Node: matchWhen}}
		r.trace.Steps[0].finish("", time.Since(began), err)
		answer := func(context.Context) (*gateway.Result, error) { return past.Answer, nil }
		out.Result, out.Err = e.outcome(r, err, answer)
		out.Trace = r.trace
	case !applies:
		return out
	default:
		out.Result, out.Trace, out.Err = e.Replay(ctx, w, call, past.Answer)
	}
	out.Matched = true
	return out
}

// Backtest counts what a workflow makes of past calls.
type Backtest struct {
	// Calls is how many calls were looked at. Each of them is one of the following.
	Calls int
	// Unmatched are calls that the workflow is not for.
	Unmatched                          int
	Denied, Changed, Failed, Unchanged int
	// Incomplete are calls on which a script needed what a replay does not do: it called
	// a tool, or fetched something.
	Incomplete int
	// Asked is for how many calls a person would have been asked. They are counted as
	// if the person had agreed.
	Asked int
	// BytesBefore and BytesAfter are the sizes of the answers to calls that were not
	// refused.
	BytesBefore, BytesAfter int64
	// TokensBefore and TokensAfter are about how many tokens these answers have.
	TokensBefore, TokensAfter int64
	// P50 and P95 are how long the workflow took.
	P50, P95 time.Duration
	// Examples are the ids of some calls by what became of them.
	Examples map[string][]string
	// Matched are the ids of the calls that the workflow is for: of the newest, because past
	// calls come newest first.
	Matched []string
}

// mostMatched is how many calls that a workflow is for are named.
const mostMatched = 200

// mostExamples is how many calls of a kind are named.
const mostExamples = 5

// The kinds of examples.
const (
	KindDenied  = "denied"
	KindChanged = "changed"
	KindFailed  = "failed"
)

// Backtest runs a workflow on past calls. It returns what it counted until ctx ended.
func (e *Engine) Backtest(ctx context.Context, w *Workflow, calls iter.Seq2[Past, error]) (Backtest, error) {
	b := Backtest{Examples: map[string][]string{}}
	var took []time.Duration
	for past, err := range calls {
		var one Replayed
		if err == nil {
			one = e.Rehearse(ctx, w, past)
		}
		if ctx.Err() != nil { // what was interrupted does not count
			break
		}
		if err != nil {
			return b, err
		}
		b.add(one, past)
		if one.Matched {
			took = append(took, one.Took)
		}
	}
	slices.Sort(took)
	if n := len(took); n > 0 {
		b.P50, b.P95 = took[n*50/100], took[n*95/100]
	}
	return b, nil
}

func (b *Backtest) add(one Replayed, past Past) {
	b.Calls++
	if !one.Matched {
		b.Unmatched++
		return
	}
	if len(b.Matched) < mostMatched {
		b.Matched = append(b.Matched, past.Call.RequestID)
	}
	kind := ""
	switch t := &one.Trace; {
	case t.Incomplete():
		b.Incomplete++
	case t.Outcome == OutcomeDenied:
		kind = KindDenied
		b.Denied++
	case t.Outcome == OutcomeFailed || t.Outcome == OutcomePassed:
		kind = KindFailed
		b.Failed++
	case t.Changed:
		kind = KindChanged
		b.Changed++
	default:
		b.Unchanged++
	}
	if kind != "" && len(b.Examples[kind]) < mostExamples {
		b.Examples[kind] = append(b.Examples[kind], past.Call.RequestID)
	}
	if slices.ContainsFunc(one.Trace.Steps, func(s Step) bool { return s.Type == approveType && s.Status == StatusSkipped }) {
		b.Asked++
	}
	if one.Err == nil && one.Result != nil {
		b.BytesBefore += int64(len(past.Answer.Raw))
		b.BytesAfter += int64(len(one.Result.Raw))
		b.TokensBefore += int64(tokens.Estimate(past.Answer.Raw))
		b.TokensAfter += int64(tokens.Estimate(one.Result.Raw))
	}
}

// The types of nodes whose time is not the workflow's: they ask a person, and send the
// call on.
const approveType, callType, hookType = "approve", "mcp-call", "hook"
