package workflow

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"sync/atomic"
	"time"

	"genkan/internal/gateway"
	"genkan/internal/jsonrpc"
	"genkan/internal/script"
)

// Runner runs scripts. A *script.Pool is one.
type Runner interface {
	Run(ctx context.Context, job script.Job) (script.Result, error)
}

// Options are what an Engine works with. Only Runner is needed.
type Options struct {
	// Runner runs the hooks that calls wait for, and DetachedRunner the others, so
	// that they cannot take each other's workers. Nil is Runner.
	Runner, DetachedRunner Runner
	// Call carries out a call that a workflow makes.
	Call gateway.Handler
	// Fetch makes the HTTP requests of scripts. Hosts are checked before; it must not
	// follow redirects to others.
	Fetch func(ctx context.Context, r script.Request) (script.Response, error)
	// Decider asks people.
	Decider Decider
	// Recheck returns an error if the caller of a call may not make it any more. It is asked
	// before a call is sent on that has waited for a person; nil is for always.
	Recheck func(ctx context.Context, call *gateway.Call) error
	// CheckOutput checks structuredContent against a tool's outputSchema.
	CheckOutput func(tool *gateway.Tool, structured []byte) error
	// Redact takes secrets out of what scripts say to callers; nil takes out none. It
	// must not block. Secrets among the variables of a workflow are taken out anyway.
	Redact func(text string) string
	// Sink keeps traces.
	Sink Sink
	Log  *slog.Logger
	// Replacing is called when other workflows are put into force, which replace does;
	// nil just calls replace. It is the time to look at the lists of clients.
	Replacing func(replace func())
}

// Engine runs the workflows of a Set around calls. It is safe for concurrent use.
type Engine struct {
	opt      Options
	set      atomic.Pointer[Set]
	stats    statistics
	runs     runStatistics
	state    states
	detached queue
	lists    lists
}

// NewEngine makes an Engine without workflows.
func NewEngine(opt Options) *Engine {
	if opt.DetachedRunner == nil {
		opt.DetachedRunner = opt.Runner
	}
	if opt.Log == nil {
		opt.Log = slog.New(slog.DiscardHandler)
	}
	e := &Engine{opt: opt}
	e.detached.open()
	e.set.Store(NewSet(nil))
	return e
}

// Use replaces the workflows. Runs that have begun keep theirs.
func (e *Engine) Use(set *Set) {
	if replace := func() { e.set.Store(set) }; e.opt.Replacing != nil {
		e.opt.Replacing(replace)
	} else {
		replace()
	}
	e.stats.keep(set.has)
	e.runs.keep(set.has)
	e.state.keep(set.has)
}

// Set returns the workflows in use.
func (e *Engine) Set() *Set { return e.set.Load() }

// chain is what the workflows of one call share.
type chain struct {
	// approved are the hashes of the call that people agreed to.
	approved []string
	// waited is set if the call, or one that a workflow made meanwhile, has waited for a
	// person.
	waited atomic.Bool
	// outer belongs to the call whose workflow made this one; nil if none did.
	outer *chain
}

// chainKey is the context key of the chain whose workflow made a call.
type chainKey struct{}

// newChain returns the chain of a call that ctx belongs to.
func newChain(ctx context.Context) *chain {
	outer, _ := ctx.Value(chainKey{}).(*chain)
	return &chain{outer: outer}
}

// wait notes that a person is asked, also for the calls around this one.
func (c *chain) wait() {
	for ; c != nil; c = c.outer {
		c.waited.Store(true)
	}
}

// Middleware runs the workflows that match a call around it: the nodes before the call
// by (order, id), and those behind it in reverse. What the web UI's own pages ask for
// passes without them.
func (e *Engine) Middleware(next gateway.Handler) gateway.Handler {
	return gateway.HandlerFunc(func(ctx context.Context, call *gateway.Call) (*gateway.Result, error) {
		if call.OfPage() {
			return next.Handle(ctx, call)
		}
		candidates := e.set.Load().candidates(call)
		if len(candidates) == 0 {
			return next.Handle(ctx, call)
		}
		return e.layer(ctx, call, candidates, next, nil)
	})
}

// layer runs the first workflow of several around the others.
func (e *Engine) layer(ctx context.Context, call *gateway.Call, candidates []*Workflow, next gateway.Handler, c *chain) (*gateway.Result, error) {
	if len(candidates) == 0 {
		if err := c.check(call); err != nil {
			return nil, err
		}
		if recheck := e.opt.Recheck; recheck != nil && c != nil && c.waited.Load() {
			if err := recheck(ctx, call); err != nil {
				return nil, gateway.Errorf(gateway.CodeDenied, "this call waited for a person, and its caller may not make it any more: %s. It was not sent", gateway.AsError(err))
			}
		}
		return next.Handle(ctx, call)
	}
	w, inner := candidates[0], candidates[1:]
	if c == nil {
		c = newChain(ctx)
	}
	r := e.newRun(ctx, w, call, c)
	applies, err := w.match.applies(ctx, r)
	switch {
	case err != nil && w.Mode != shadow:
		r.trace.Steps = append(r.trace.Steps, Step{Node: matchWhen})
		r.trace.Steps[0].finish("", time.Since(r.began), err)
	case !applies:
		return e.layer(ctx, call, inner, next, c)
	}
	onward := func(ctx context.Context) (*gateway.Result, error) { return e.layer(ctx, call, inner, next, c) }
	if w.Mode == shadow {
		return e.shadow(r, onward)
	}
	r.forward = func(ctx context.Context, r *Run) (*gateway.Result, error) { return r.pass(ctx, onward) }
	if err == nil {
		// A script sees the last of two values with one key, and the server may take
		// the first.
		if err := jsonrpc.CheckUnique(r.arguments()); err != nil {
			return nil, gateway.Errorf(gateway.CodeInvalid, "the arguments cannot be checked: %s", err)
		}
		err = r.walk()
	}
	result, err := e.outcome(r, err, onward)
	r.report()
	return result, err
}

// pass sends the call on as the run has changed it.
func (r *Run) pass(ctx context.Context, onward func(ctx context.Context) (*gateway.Result, error)) (*gateway.Result, error) {
	call, w := r.calling, r.workflow
	if r.changed {
		call.SetRawArguments(r.arguments())
	}
	if w.behind {
		if call.Params.Task.Present() {
			return nil, w.noTask(call.Tool)
		}
		call.Whole = true
		if call.Peer != nil && w.Notifications != pass {
			defer func(peer gateway.Peer) { call.Peer = peer }(call.Peer)
			call.Peer = quietPeer{call.Peer}
		}
	}
	if stated := call.Options.Timeout; stated > 0 {
		call.Options.Timeout = max(stated-(time.Since(r.began)-r.asked), time.Millisecond)
		defer func() { call.Options.Timeout = stated }()
	}
	result, err := onward(ctx)
	if err != nil || !w.behind {
		return result, err
	}
	if !result.Type.Final() {
		return nil, gateway.Errorf(gateway.CodeDenied, "workflow %q has to see the answer of this call, and the server answered that it will come later, in a way that cannot be followed here; the call may be under way, so do not repeat it", w.title())
	}
	// As above: what the client reads must be what the nodes saw.
	if jsonrpc.CheckUnique(result.Raw) != nil {
		result = &gateway.Result{Raw: withoutDoubles(result.Raw), Type: result.Type, IsError: result.IsError, HasMeta: result.HasMeta, Notice: result.Notice}
	}
	return result, nil
}

// noTask is the error for a call that is to become a task, whose answer would come when no
// node waits for it.
func (w *Workflow) noTask(t *gateway.Tool) error {
	if jsonrpc.LookupText(jsonrpc.Lookup(t.Definition, "execution"), "taskSupport") == "required" {
		return gateway.Errorf(gateway.CodeDenied, "%s works as a task only, and workflow %q has to see its answer, which a task gives later, so it was not called. Tell the user: the workflow must not match this tool, or must have no nodes behind the call", t.Exposed, w.title())
	}
	return gateway.Errorf(gateway.CodeInvalid, "workflow %q has to see the answer of this call, so it cannot be made a task; send it again without task, and wait for the answer", w.title())
}

// outcome turns the end of a run into the answer to the call.
func (e *Engine) outcome(r *Run, err error, onward func(ctx context.Context) (*gateway.Result, error)) (*gateway.Result, error) {
	var result *gateway.Result
	if err == nil {
		result, err = r.result()
	}
	w := r.workflow
	r.trace.Outcome, r.trace.Sent, r.trace.Changed = OutcomeOK, r.called, r.changed && r.called
	switch {
	case err == nil:
		r.trace.Changed = r.changed || result != r.answer
		return result, nil
	case r.callErr != nil && errors.Is(err, r.callErr):
		r.trace.Outcome = OutcomeCall
		return nil, err
	case r.ctx.Err() != nil:
		r.trace.Outcome = OutcomeCall
		return nil, gateway.AsError(context.Cause(r.ctx))
	case isDenial(err):
		r.trace.Outcome = OutcomeDenied
		return nil, r.refusal(err)
	case w.FailMode == open && r.called:
		r.trace.Outcome = OutcomePassed
		return r.answer, r.callErr
	case w.FailMode == open:
		r.trace.Outcome = OutcomePassed
		return onward(r.ctx)
	default:
		r.trace.Outcome = OutcomeFailed
		return nil, r.failed(err)
	}
}

// refusal is the error for a call that a workflow refuses.
func (r *Run) refusal(err error) error {
	// Not with err as a cause: a workflow outside this one has not refused the call.
	w := r.workflow
	reason := w.reason(r.engine, err)
	if r.called {
		return gateway.Errorf(gateway.CodeDenied, "workflow %q withholds the answer to this call: %s. The call was carried out, so do not repeat it: tell the user, who can have the workflow changed", w.title(), reason)
	}
	if d := (*denial)(nil); errors.As(err, &d) && d.again > 0 {
		e := gateway.Errorf(gateway.CodeDenied, "workflow %q refused this call: %s. It was not sent. Wait %d s, then call it again", w.title(), reason, int(d.again.Seconds()))
		e.RetryAfter = d.again
		return e
	}
	switch p := (personDenial{}); {
	case !errors.As(err, &p):
	case !p.reasoned:
		return gateway.Errorf(gateway.CodeDenied, "a person whom workflow %q asked refused this call. It was not sent. Do not repeat it, and do not reach the same by another way: ask the user what to do instead", w.title())
	default:
		return gateway.Errorf(gateway.CodeDenied, "a person whom workflow %q asked refused this call: %s. It was not sent. Do not repeat it, and do not reach the same by another way: ask the user what to do instead", w.title(), reason)
	}
	return gateway.Errorf(gateway.CodeDenied, "workflow %q refused this call: %s. It was not sent. Do not send it again unchanged: tell the user, who can have the workflow changed", w.title(), reason)
}

// failed is the error for a call whose workflow failed closed. What a script says after
// the call may hold what it was to hide.
func (r *Run) failed(err error) error {
	if r.at == nil {
		return r.hiding(gateway.Errorf(gateway.CodeDenied, "workflow %q failed at its condition (match.when), so this call was refused and not sent: %s. Tell the user, who can have the workflow mended", r.workflow.title(), r.workflow.reason(r.engine, err)), err)
	}
	node := r.at.place
	e := gateway.Errorf(gateway.CodeDenied, "workflow %q failed at its node %q, so this call was refused and not sent: %s. Tell the user, who can have the workflow mended", r.workflow.title(), node, r.workflow.reason(r.engine, err))
	if r.called {
		e = gateway.Errorf(gateway.CodeDenied, "workflow %q failed at its node %q, so the answer to this call is withheld. The call was carried out, so do not repeat it. Tell the user, who can have the workflow mended", r.workflow.title(), node)
	}
	return r.hiding(e, err)
}

// hiding is an error with its cause, without secrets.
func (r *Run) hiding(e *gateway.Error, cause error) error {
	e.Err = cause
	if shown := r.workflow.redact(r.engine, cause.Error()); shown != cause.Error() {
		e.Err = errors.New(shown)
	}
	return e
}

// reason is what is shown of an error of a node, without secrets.
func (w *Workflow) reason(engine *Engine, err error) any {
	var d *denial
	var e *gateway.Error
	var thrown *script.Error
	shown := gateway.Textf("%s", err.Error())
	switch {
	case errors.As(err, &d):
		shown = d.reason
	case errors.As(err, &thrown):
		shown = thrown.Text()
	case errors.As(err, &e):
		shown = gateway.Text{Format: e.Message, Values: e.Values} // without what is for the log
	}
	text := w.redact(engine, shown.String())
	if text == shown.String() && len(text) <= longestReason {
		return shown
	}
	return shortReason(text)
}

// redact takes secrets out of a text that a script may have made.
func (w *Workflow) redact(engine *Engine, text string) string {
	for _, secret := range w.secrets {
		text = strings.ReplaceAll(text, secret, "[redacted]")
	}
	if engine.opt.Redact != nil {
		text = engine.opt.Redact(text)
	}
	return text
}

// longestReason is how much of what a script or a person says is shown to callers, in bytes.
const longestReason = 1200

// shortReason returns text as callers are shown it.
func shortReason(text string) string {
	text, cut := gateway.Cut(text, longestReason)
	if cut > 0 {
		text += "…"
	}
	return text
}

// check makes sure that the call is the one that people agreed to.
func (c *chain) check(call *gateway.Call) error {
	if c == nil || len(c.approved) == 0 {
		return nil
	}
	arguments := call.Params.Get(call.Params.Arguments)
	if arguments == nil {
		arguments = []byte("{}")
	}
	hash := callHash(call.Name, arguments)
	for _, approved := range c.approved {
		if approved != hash {
			return gateway.Errorf(gateway.CodeDenied, "the arguments were changed after a person had agreed to them, so the call was not sent. Tell the user: the workflow that asks must come after those that change arguments")
		}
	}
	return nil
}

// shadow lets the call pass, and then runs the workflow with the answer that came, beside
// the path. Nothing that the run does has an effect.
func (e *Engine) shadow(r *Run, onward func(ctx context.Context) (*gateway.Result, error)) (*gateway.Result, error) {
	call := r.calling
	r.calling = callCopy(call)
	result, err := onward(r.ctx)
	switch {
	case err != nil:
	case !result.Type.Final() || len(result.Raw) > r.workflow.payload():
		r.dropped()
	default:
		e.detached.add(r.workflow, func(ctx context.Context) {
			r.ctx = ctx
			_, _ = r.replay(result)
			r.report()
		}, r.dropped)
	}
	return result, err
}

// Replay runs a workflow on a call that was made before, with the answer that it had
// then. It returns what the caller would get, and the trace. Nothing is sent or changed.
func (e *Engine) Replay(ctx context.Context, w *Workflow, call *gateway.Call, answer *gateway.Result) (*gateway.Result, Trace, error) {
	r := e.newRun(ctx, w, callCopy(call), &chain{})
	r.rehearsed = true
	result, err := r.replay(answer)
	return result, r.trace, err
}

func (r *Run) replay(answer *gateway.Result) (*gateway.Result, error) {
	r.dry = true
	r.began = time.Now()
	r.forward = func(context.Context, *Run) (*gateway.Result, error) { return answer, nil }
	return r.engine.outcome(r, r.walk(), func(context.Context) (*gateway.Result, error) { return answer, nil })
}

// report counts the run and hands its trace on.
func (r *Run) report() {
	r.engine.runs.add(&r.trace)
	if sink := r.engine.opt.Sink; sink != nil {
		sink.Trace(r.trace)
	}
}

// callCopy returns a call that says what another one says, for what goes on after that
// one has been answered. Nobody can be asked anything by it. Release it.
func callCopy(call *gateway.Call) *gateway.Call {
	c := &gateway.Call{
		Method: call.Method, Params: call.Params, Name: call.Name, Kind: call.Kind, Tool: call.Tool,
		Caller: call.Caller, Terms: call.Terms,
	}
	c.Peer = nil
	return c
}

// quietPeer withholds what a server says beside its answer, which a node behind the call
// might have changed: log messages, and the texts of progress.
type quietPeer struct{ gateway.Peer }

func (p quietPeer) Notify(method string, params []byte) {
	switch method {
	case "notifications/message":
		return
	case "notifications/progress":
		params = jsonrpc.Without(params, "message")
	}
	p.Peer.Notify(method, params)
}

// Left passes on whether the client has disconnected.
func (p quietPeer) Left() bool {
	peer, ok := p.Peer.(gateway.Leaver)
	return ok && peer.Left()
}

// Prolong passes on that the answer will take its time.
func (p quietPeer) Prolong() {
	if peer, ok := p.Peer.(gateway.Prolonger); ok {
		peer.Prolong()
	}
}
