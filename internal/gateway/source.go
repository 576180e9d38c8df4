package gateway

import (
	"context"
	"iter"
	"sync/atomic"
	"time"
)

// Source has tools, prompts and resources: an MCP server, or a part of genkan
// itself. Every call ends in one.
//
// What a source can do beyond this it says by implementing the interfaces of this
// file. Only the functions of this file ask a source for them; each says what
// holds for a source without one.
type Source interface {
	// Name is unique among the sources of a configuration.
	Name() string
	// List is the last known list of a kind. It never blocks and never fails: a
	// server that is down keeps its tools listed.
	List(kind Kind) []Tool
	Handler
}

// External is implemented by sources whose answers others write: MCP servers.
// Their results come in the caller's era, their ids of tasks are their own, and
// what they say to people is attributed to them.
type External interface {
	External()
}

// IsExternal reports whether others write the answers of a source.
func IsExternal(s Source) bool {
	_, ok := s.(External)
	return ok
}

// Forwarder is implemented by sources whose calls become calls of other sources.
// Such a call has no queue, deadline or retries of its own: the call that it
// becomes has them.
type Forwarder interface {
	Forwards()
}

// IsForwarder reports whether the calls of a source become calls of others.
func IsForwarder(s Source) bool {
	_, ok := s.(Forwarder)
	return ok
}

// Retirer is implemented by sources that can leave while calls are under way.
type Retirer interface {
	// Hold keeps the source from ending until Release. It reports false when the
	// source is leaving.
	Hold() bool
	Release()
	// Retire waits until nobody holds the source or ctx ends, and then ends it.
	Retire(ctx context.Context)
}

// Hold keeps a source from ending until Release. It reports false when the source
// is leaving; one that is no Retirer never leaves.
func Hold(s Source) bool {
	r, ok := s.(Retirer)
	return !ok || r.Hold()
}

// Release ends a Hold that reported true.
func Release(s Source) {
	if r, ok := s.(Retirer); ok {
		r.Release()
	}
}

// Retire ends a source when its calls are done or ctx ends.
func Retire(ctx context.Context, s Source) {
	if r, ok := s.(Retirer); ok {
		r.Retire(ctx)
	}
}

// Holds counts the calls that hold a source. The zero value is ready for use.
type Holds struct {
	count   atomic.Int64
	leaving atomic.Bool
}

// Hold counts a call. It reports false once Wait has returned.
func (h *Holds) Hold() bool {
	h.count.Add(1)
	if h.leaving.Load() {
		h.count.Add(-1)
		return false
	}
	return true
}

// Release ends a Hold.
func (h *Holds) Release() { h.count.Add(-1) }

// Len is how many calls hold the source.
func (h *Holds) Len() int64 { return h.count.Load() }

// Wait waits until no call holds the source, or until ctx ends. No call can hold
// it afterwards.
func (h *Holds) Wait(ctx context.Context) {
	poll := time.NewTicker(20 * time.Millisecond)
	defer poll.Stop()
	for {
		// The second look finds calls that came between the first and the swap.
		if h.count.Load() == 0 && h.leaving.Swap(true) && h.count.Load() == 0 {
			return
		}
		select {
		case <-poll.C:
		case <-ctx.Done():
			h.leaving.Store(true)
			return
		}
	}
}

// Health says whether a source can be called.
type Health struct {
	Down bool
	// Problem says what is wrong.
	Problem Text
}

// HealthReporter is implemented by sources that can be down.
type HealthReporter interface {
	Health() Health
}

// Refresher is implemented by sources that know their health only from requests.
type Refresher interface {
	// Refresh brings the health up to date. It takes some seconds at most.
	Refresh(ctx context.Context)
}

// HealthOf returns the health of a source. One that does not report it is well.
func HealthOf(s Source) Health {
	if r, ok := s.(HealthReporter); ok {
		return r.Health()
	}
	return Health{}
}

// About is what a source says of itself.
type About struct {
	Title, Description string
	// Instructions are for agents that use the source.
	Instructions string
	// Info and Capabilities are the JSON objects of an MCP server, as they came;
	// nil for other sources.
	Info, Capabilities []byte
}

// Describer is implemented by sources that describe themselves.
type Describer interface {
	About() About
}

// AboutOf returns what a source says of itself, which may be nothing.
func AboutOf(s Source) About {
	if d, ok := s.(Describer); ok {
		return d.About()
	}
	return About{}
}

// Checker is implemented by sources that check the arguments of their tools themselves.
type Checker interface {
	// Check checks the arguments of a call without carrying it out. It returns what
	// Handle would return if they do not fit, and nil if they do.
	Check(ctx context.Context, call *Call) (*Result, error)
}

// Check asks the source of a call's tool to check the arguments. Those of a source that
// is no Checker fit.
func Check(ctx context.Context, call *Call) (*Result, error) {
	if c, ok := call.Tool.Source.(Checker); ok {
		return c.Check(ctx, call)
	}
	return nil, nil //nolint:nilnil // they fit
}

// Offerer is implemented by sources that can have things that they do not list.
type Offerer interface {
	// Offers reports whether the source has anything of a kind, listed or not.
	Offers(kind Kind) bool
}

// Offers reports whether a source has anything of a kind. One that is no Offerer
// has what it lists.
func Offers(s Source, kind Kind) bool {
	if o, ok := s.(Offerer); ok {
		return o.Offers(kind)
	}
	return len(s.List(kind)) > 0
}

// Expirer is implemented by sources whose lists may only be kept for some time.
type Expirer interface {
	// ListTTL is how long a list may be kept, in milliseconds; negative if the
	// source does not say.
	ListTTL(kind Kind) int64
}

// ListTTL is how long a list of a source may be kept, in milliseconds, and at most
// the limit given. An empty list of a source whose first lists are still to come
// may not be kept.
func ListTTL(s Source, kind Kind, most int64) int64 {
	if settled := Settled(s); settled != nil && len(s.List(kind)) == 0 {
		select {
		case <-settled:
		default:
			return 0
		}
	}
	if e, ok := s.(Expirer); ok {
		if ttl := e.ListTTL(kind); ttl >= 0 {
			return min(ttl, most)
		}
	}
	return most
}

// Starter is implemented by sources that can be lost and come back.
type Starter interface {
	// ReadyCount counts how often the source became ready.
	ReadyCount() uint64
}

// ReadyCount counts how often a source became ready. One that is no Starter is
// always ready.
func ReadyCount(s Source) uint64 {
	if r, ok := s.(Starter); ok {
		return r.ReadyCount()
	}
	return 0
}

// TaskMaker is implemented by sources that make tasks of calls.
type TaskMaker interface {
	// Tasks returns the era whose tasks the source makes, and whether it makes
	// any.
	Tasks() (Era, bool)
	// ListsTasks reports whether it lists those of the legacy era.
	ListsTasks() bool
}

// TasksOf returns the era whose tasks a source makes, whether it makes any, and
// whether it lists them.
func TasksOf(s Source) (era Era, makes, lists bool) {
	maker, ok := s.(TaskMaker)
	if !ok {
		return EraNone, false, false
	}
	era, makes = maker.Tasks()
	return era, makes, makes && maker.ListsTasks()
}

// Subscriber is implemented by sources whose resources and tasks can be watched.
type Subscriber interface {
	// Subscribe asks to be told when the resource or task that a call names
	// changes: the URI of what changed, or the task's state, a JSON object. The
	// source renews it for as long as stop has not been called, whatever happens
	// to its connection; told must not block.
	Subscribe(ctx context.Context, call *Call, told func(what string)) (stop func(), err error)
}

// Subscribe subscribes to the source of a call's tool.
func Subscribe(ctx context.Context, call *Call, told func(what string)) (stop func(), err error) {
	s, ok := call.Tool.Source.(Subscriber)
	if !ok {
		return nil, Errorf(CodeNotFound,
			"server %s does not tell when its resources change, so %s cannot be subscribed to", call.Tool.Source.Name(), Short(call.Name))
	}
	return s.Subscribe(ctx, call, told)
}

// SessionListener is implemented by sources that keep something for a client's
// session.
type SessionListener interface {
	// ClientNotified takes a notification of a client. It does not wait.
	ClientNotified(session *Session, method string, params []byte)
	// Forget ends what is kept for a session that is over.
	Forget(session string)
	// SetLogLevel passes on the lowest level that any client wants to read.
	SetLogLevel(ctx context.Context, level string)
}

// Listeners returns those of the sources that keep something for sessions.
func Listeners(sources []Source) iter.Seq[SessionListener] {
	return func(yield func(SessionListener) bool) {
		for _, s := range sources {
			if l, ok := s.(SessionListener); ok && !yield(l) {
				return
			}
		}
	}
}

// Settler is implemented by sources whose first lists take time.
type Settler interface {
	// Settled is closed when the first lists are there, or will not come soon.
	Settled() <-chan struct{}
}

// Settled returns a channel that is closed when the first lists of a source are
// there, or will not come soon; nil for a source that always has them.
func Settled(s Source) <-chan struct{} {
	if settler, ok := s.(Settler); ok {
		return settler.Settled()
	}
	return nil
}
