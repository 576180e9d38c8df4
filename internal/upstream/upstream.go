// Package upstream is the room of the MCP servers behind the door: one Source
// per server, over stdio, streamable HTTP or the old SSE transport, in either
// era. A server is supervised for as long as it is configured: started, spoken
// to, restarted, and never given up. Its last known tools stay listed whatever
// happens to it, and nothing that it does or fails to do delays anybody else.
package upstream

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"genkan/internal/gateway"
	"genkan/internal/jsonrpc"
)

// Settings say what a server is. Exactly one of Command and URL is set.
type Settings struct {
	Name string

	Command string
	Args    []string
	Env     map[string]gateway.Secret
	Dir     string

	URL     string
	Headers map[string]gateway.Secret
	// Bearer is used where the server at URL asks for sign-in; nil if it must not
	// be signed in to.
	Bearer Bearer
	// Transport is one of the Transport constants; empty to find out.
	Transport string

	// StartupTimeout is how long the server may take until it has listed its
	// tools. A cold npx or uvx takes a minute.
	StartupTimeout time.Duration
	// Isolation is who shares a connection: one of the Isolation constants.
	Isolation string
	// Fingerprint changes when the server is another one.
	Fingerprint string
	// Lacking is what the configuration refers to and nobody has; the server is
	// not started while there is something.
	Lacking gateway.Texts
}

// Deps are what a server needs of the house.
type Deps struct {
	Lists ListStore
	Log   *slog.Logger
	// Publish announces changes. It must not block.
	Publish func(gateway.Event)
	// Rearranged says that callers may have another connection than before: what
	// they watch should be asked for anew. It must not block; nil for nobody.
	Rearranged func()
	// Guard kills children when genkan itself is killed; nil for none.
	Guard *Guard
	// Transport is used for HTTP; nil for a default one.
	Transport http.RoundTripper
	// Version is genkan's own, told to servers.
	Version string
	// Instance and Home tell this process and its data directory from others:
	// servers that turn out to be genkan itself are told by them.
	Instance, Home string
}

// State is what a server is doing.
type State string

// The states.
const (
	StateStarting State = "starting"
	StateReady    State = "ready"
	StateDown     State = "down"
	StateClosed   State = "closed"
)

// Status tells how a server is.
type Status struct {
	State State
	Era   gateway.Era
	// Version is the protocol version that was agreed on.
	Version string
	Tools   int
	PID     int
	// Starts counts how often it was started or connected to.
	Starts int
	Since  time.Time
	// Problem says why it is down, NextTry when it is tried again.
	Problem gateway.Text
	NextTry time.Time
	// Output is the end of what it wrote to its standard error.
	Output string
	// SignIn is SignInNeeded, SignedIn, or empty where none is needed or known;
	// SignInExpires is when its token ends, zero if that is not known.
	SignIn        string
	SignInExpires time.Time
}

// Server is one MCP server behind the door.
type Server struct {
	set   Settings
	deps  Deps
	log   *slog.Logger
	lists [gateway.KindCount]atomic.Pointer[[]gateway.Tool]
	fresh [gateway.KindCount]atomic.Int64
	// inFlight counts calls, so that a server that is leaving can finish them;
	// leaving is set when it takes no more.
	inFlight atomic.Int64
	leaving  atomic.Bool
	// signed is the transport of a server that may be signed in to; nil if not.
	signed *signedTransport
	// isSSE is set when the server was found to speak the old SSE transport.
	isSSE atomic.Bool

	// apart is set when some calls need a connection of their own.
	apart atomic.Bool

	life context.Context //nolint:containedctx // the server's own, which its connections share
	stop context.CancelFunc
	done chan struct{}
	// settled is closed when there is a list, or the first try has failed.
	settled    chan struct{}
	settleOnce sync.Once
	// nudge wakes a supervisor that waits for its next try.
	nudge chan struct{}

	mu      sync.Mutex
	state   State
	conn    conn
	starts  int
	since   time.Time
	problem gateway.Text
	// refused is why it is down when only a person can help.
	refused *gateway.Error
	nextTry time.Time
	lastTry time.Time
	output  *ring
	// changed is closed and replaced at every change of state.
	changed chan struct{}
	// known is what the store or the last connection said.
	known SavedList
	// watched are the resources that somebody wants to hear of.
	watched watches
	// branches are connections for some callers only.
	branches branches
	// logLevel is the loudest that any client wants; empty for the server's own
	// choice.
	logLevel  string
	levelTold levelTold
}

// conn is one connection to a server, over whatever wire.
type conn interface {
	// call sends a call and waits for its answer. When ctx ends, the server is
	// told that nobody waits any more.
	// The params are the call's own, or those with more input.
	call(ctx context.Context, call *gateway.Call, in *gateway.Params) (*gateway.Result, error)
	// list asks for all of a kind.
	list(ctx context.Context, kind gateway.Kind) (listed, error)
	// ask sends a request of our own.
	ask(ctx context.Context, method string, params []byte) (jsonrpc.Message, error)
	// watch asks to be told when a resource changes, until stop is called.
	watch(ctx context.Context, uri string) (stop func(), err error)
	protocol() protocol
	pid() int
	// lost is closed when the connection is of no more use; cause says why.
	lost() <-chan struct{}
	cause() error
	// close ends the connection and whatever was started for it.
	close()
}

// Open makes a server and begins to supervise it. It does not wait for it: the
// tools of the last time are listed at once.
func Open(set Settings, deps Deps) *Server {
	s := &Server{
		set: set, deps: deps,
		log:  deps.Log.With("server", set.Name),
		done: make(chan struct{}), settled: make(chan struct{}),
		nudge: make(chan struct{}, 1),
		state: StateStarting, since: time.Now(),
		output:  &ring{},
		changed: make(chan struct{}),
	}
	if deps.Transport == nil {
		s.deps.Transport = newTransport()
	}
	if set.Bearer != nil && set.URL != "" {
		s.signed = newSignedTransport(&set, s.deps.Transport)
		s.deps.Transport = s.signed
	}
	for kind := range s.lists {
		s.lists[kind].Store(&[]gateway.Tool{})
		s.fresh[kind].Store(-1)
	}
	s.life, s.stop = context.WithCancel(context.Background())
	s.restore(s.life)
	s.apart.Store(s.mayBeApart(s.known.Habits))
	go s.supervise(s.life)
	return s
}

// restore takes over the list of the last time.
func (s *Server) restore(ctx context.Context) {
	saved, ok, err := s.deps.Lists.LoadList(ctx, s.set.Name)
	switch {
	case err != nil:
		s.log.Warn("the last known tool list could not be read", "error", err)
	case ok && saved.Fingerprint == s.set.Fingerprint:
		for _, kind := range gateway.Kinds() {
			list, err := s.parse(*saved.list(kind), kind, saved.Era)
			if err != nil {
				s.log.Warn("the last known list is damaged", "kind", kind.String(), "error", err)
				return
			}
			s.lists[kind].Store(&list)
		}
		s.known = saved
		s.settle()
	}
}

// Settled is closed when List is worth asking: there is a list, of the last
// time or of now, or the first try to get one has failed.
func (s *Server) Settled() <-chan struct{} { return s.settled }

func (s *Server) settle() { s.settleOnce.Do(func() { close(s.settled) }) }

// Name is the server's name in the configuration.
func (s *Server) Name() string { return s.set.Name }

// Fingerprint tells whether the server is still the configured one.
func (s *Server) Fingerprint() string { return s.set.Fingerprint }

// List is the last known list of a kind.
func (s *Server) List(kind gateway.Kind) []gateway.Tool { return *s.lists[kind].Load() }

// Fresh is how long the server says that a list may be kept, in milliseconds;
// -1 when it does not say.
func (s *Server) Fresh(kind gateway.Kind) int64 { return s.fresh[kind].Load() }

// Offers reports whether the server has anything of a kind, listed or not.
func (s *Server) Offers(kind gateway.Kind) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	var p protocol
	p.offer(s.known.About.Capabilities)
	return p.offers[kind]
}

// Tasks reports whether the server makes tasks, and of which era they are.
func (s *Server) Tasks() (gateway.Era, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	var p protocol
	p.offer(s.known.About.Capabilities)
	return s.known.Era, p.tasks
}

// About is what the server said of itself, now or the last time.
func (s *Server) About() About {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.known.About
}

// Handle sends a call to the server.
func (s *Server) Handle(ctx context.Context, call *gateway.Call) (*gateway.Result, error) {
	s.inFlight.Add(1)
	defer s.inFlight.Add(-1)
	c, err := s.place(ctx, call, toCall)
	if err != nil {
		return nil, err
	}
	defer c.release()
	s.hearken(ctx, c.conn, call)
	return withInput(ctx, c.conn, call)
}

// Status tells how the server is.
func (s *Server) Status() Status {
	s.mu.Lock()
	defer s.mu.Unlock()
	st := Status{
		State: s.state, Era: s.known.Era, Version: s.known.Version,
		Tools: len(s.List(gateway.KindTool)), Starts: s.starts, Since: s.since,
		Problem: s.problem, NextTry: s.nextTry, Output: s.output.String(),
	}
	if s.conn != nil {
		st.PID = s.conn.pid()
		st.Era, st.Version = s.conn.protocol().era, s.conn.protocol().version
	}
	if s.signed != nil {
		signedIn, expires := s.set.Bearer.Known()
		switch {
		case s.signed.needed.Load():
			st.SignIn = SignInNeeded
		case signedIn:
			st.SignIn, st.SignInExpires = SignedIn, expires
		}
	}
	return st
}

// Close ends the server and waits until nothing of it is left.
func (s *Server) Close() {
	s.stop()
	s.branches.close()
	<-s.done
}

// ready returns the connection. A server that is starting for the first time
// is waited for; one that is down answers at once, so that nobody hangs on it.
func (s *Server) ready(ctx context.Context) (conn, error) {
	nudged := false
	for {
		s.mu.Lock()
		state, c, changed := s.state, s.conn, s.changed
		var down error
		if state == StateDown {
			down = s.downError()
		}
		s.mu.Unlock()
		switch state {
		case StateReady:
			return c, nil
		case StateClosed:
			return nil, s.removed()
		case StateDown:
			if nudged || !s.nudgeAllowed(ctx) {
				return nil, down
			}
			nudged = true
		case StateStarting:
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return nil, s.notStarted(ctx)
		}
	}
}

// removed is said of a server that left the configuration.
func (s *Server) removed() error {
	return &gateway.Error{
		Code: gateway.CodeUnavailable, Unsent: true,
		Message: "server %s was removed from the configuration",
		Values:  []any{s.set.Name},
	}
}

// notStarted is said to a call whose time ended before the server was there.
func (s *Server) notStarted(ctx context.Context) error {
	return &gateway.Error{
		Code: gateway.AsError(context.Cause(ctx)).Code, Unsent: true, Err: context.Cause(ctx),
		Message: "server %s has not started yet; `genkan servers` shows what it is doing",
		Values:  []any{s.set.Name},
	}
}

// tooSlow is why a start is given up.
func (s *Server) tooSlow() error {
	return &gateway.Error{
		Code:    gateway.CodeTimeout,
		Message: "it did not finish starting within %s (startupTimeout)",
		Values:  []any{s.set.StartupTimeout},
	}
}

// betweenNudges is shorter than a call's retries take together, so that one of
// them reaches a server that has just come back.
const betweenNudges = 250 * time.Millisecond

// nudgeAllowed asks the supervisor to try at once. Connecting over HTTP costs
// little, so a call may do that now and then; a child is restarted at the
// supervisor's own pace, or a crashing one would be started for every call.
func (s *Server) nudgeAllowed(ctx context.Context) bool {
	if s.set.URL == "" || len(s.set.Lacking.Each) > 0 {
		return false
	}
	s.mu.Lock()
	refused := s.refused != nil
	s.mu.Unlock()
	signedIn := false
	if refused { // a server that wants a sign-in is not asked again without one
		if _, err := s.set.Bearer.Token(ctx); err != nil {
			return false
		}
		signedIn = true
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if time.Since(s.lastTry) < betweenNudges && !signedIn {
		return false
	}
	s.lastTry = time.Now()
	select {
	case s.nudge <- struct{}{}:
	default:
	}
	return true
}

// Try has a server that is down tried at once, whatever its pace. One that is
// up is asked for its lists, and connected to anew if it was signed in to or
// out of meanwhile.
func (s *Server) Try() {
	if s.signed != nil {
		s.set.Bearer.Doubt()
	}
	select {
	case s.nudge <- struct{}{}:
	default:
	}
}

// downError says what is wrong and when the next try is. Called with mu held.
func (s *Server) downError() error {
	if len(s.set.Lacking.Each) > 0 {
		return &gateway.Error{
			Code: gateway.CodeUnavailable, Unsent: true,
			Message: "server %s cannot be used: %s", Values: []any{s.set.Name, s.problem},
		}
	}
	if s.refused != nil {
		e := *s.refused
		e.Unsent, e.Answered = true, false
		return &e
	}
	wait := max(time.Until(s.nextTry), 0).Round(10 * time.Millisecond)
	return &gateway.Error{
		Code: gateway.CodeUnavailable, Unsent: true, RetryAfter: wait,
		Message: "server %s is down: %s; next try in %s. `genkan servers %s` shows its last output",
		Values:  []any{s.set.Name, s.problem, wait, s.set.Name},
	}
}

func (s *Server) update(change func()) {
	s.mu.Lock()
	change()
	close(s.changed)
	s.changed = make(chan struct{})
	s.mu.Unlock()
}

// supervise keeps the server connected until ctx ends.
func (s *Server) supervise(ctx context.Context) {
	defer close(s.done)
	pace := newPace()
	for {
		select {
		case <-s.nudge: // what comes now
		default:
		}
		ready, err := s.serve(ctx)
		s.settle()
		if ctx.Err() != nil {
			s.update(func() { s.state, s.conn = StateClosed, nil })
			return
		}
		if len(s.set.Lacking.Each) > 0 {
			s.lack(ctx, err)
			return
		}
		if errors.Is(err, errOtherSignIn) {
			s.log.Info("the sign-in is another one; connecting anew")
			continue
		}
		wait := pace.next(ready)
		var refused *gateway.Error
		if onlyAPersonHelps(err) {
			wait, refused = personPause, gateway.AsError(err)
		}
		s.log.Warn("server is down", "error", err, "next_try_ms", wait.Milliseconds())
		s.update(func() {
			s.state, s.conn, s.since, s.refused = StateDown, nil, time.Now(), refused
			s.problem, s.nextTry = problem(err), time.Now().Add(wait)
		})
		timer := time.NewTimer(wait)
		select {
		case <-timer.C:
		case <-s.nudge:
		case <-ctx.Done():
		}
		timer.Stop()
	}
}

// personPause is how long a server is left alone that wants a sign-in: whoever
// signs in says so.
const personPause = 5 * time.Minute

// errOtherSignIn ends a connection that was begun with another sign-in: its
// session is somebody else's.
var errOtherSignIn = errors.New("the sign-in is another one")

// lack waits for a configuration that has everything, which will be another
// server's.
func (s *Server) lack(ctx context.Context, err error) {
	s.log.Warn("server is not started", "error", err)
	s.update(func() { s.state, s.since, s.problem = StateDown, time.Now(), problem(err) })
	<-ctx.Done()
	s.update(func() { s.state = StateClosed })
}

// problem is the part of an error that may be shown to callers.
func problem(err error) gateway.Text {
	var e *gateway.Error
	if errors.As(err, &e) {
		return gateway.Textf("%s", e)
	}
	return gateway.Textf("it cannot be reached")
}

// serve connects once and returns when the connection is lost, with how long
// the server was ready.
func (s *Server) serve(ctx context.Context) (ready time.Duration, err error) {
	if len(s.set.Lacking.Each) > 0 {
		return 0, gateway.Errorf(gateway.CodeUnavailable, "it lacks something: %s", s.set.Lacking)
	}
	s.mu.Lock()
	s.starts++
	s.lastTry = time.Now()
	known := s.known
	s.mu.Unlock()

	startup, cancel := context.WithTimeoutCause(ctx, s.set.StartupTimeout, s.tooSlow())
	defer cancel()
	news := newNews()
	c, err := s.connect(startup, known, ears{
		changed: news.add, updated: s.watched.updated, asked: s.asked, renewed: func() { go s.renewed(ctx) },
	})
	if err == nil {
		defer c.close()
		err = s.refreshAll(startup, c)
		if dead := c.cause(); err != nil && dead != nil {
			err = dead // what happened to the server, not to our question
		}
	}
	if err != nil {
		if ctx.Err() == nil && startup.Err() != nil {
			err = context.Cause(startup)
		}
		return 0, err
	}
	cancel()
	began := time.Now()
	s.update(func() {
		s.state, s.conn, s.since, s.problem, s.nextTry = StateReady, c, time.Now(), gateway.Text{}, time.Time{}
		s.refused = nil
	})
	s.log.Info("server is ready", "era", c.protocol().era.String(), "tools", len(s.List(gateway.KindTool)))
	s.setUp(ctx, c)
	recheck := s.recheck(c.protocol())
	defer recheck.Stop()
	for {
		select {
		case <-ctx.Done():
			return time.Since(began), ctx.Err()
		case <-c.lost():
			// Said before the connection is closed, which can take seconds:
			// nobody should be sent to it meanwhile.
			err := c.cause()
			s.update(func() {
				s.state, s.conn, s.since = StateDown, nil, time.Now()
				s.problem, s.nextTry = problem(err), time.Now() // when it is closed, really
			})
			return time.Since(began), err
		case <-s.nudge:
			if s.signed.isAnother(ctx) {
				s.update(func() { s.state, s.conn, s.since = StateStarting, nil, time.Now() })
				s.branches.endAll()
				return time.Since(began), errOtherSignIn
			}
			for _, kind := range gateway.Kinds() {
				s.refreshLater(ctx, c, kind, suspected)
			}
		case <-news.there:
			s.refreshHeard(ctx, c, news.take())
		case <-recheck.C:
			for _, kind := range gateway.Kinds() {
				s.refreshLater(ctx, c, kind, suspected)
			}
		}
	}
}

func (s *Server) connect(ctx context.Context, known SavedList, e ears) (conn, error) {
	us := self{version: s.deps.Version, capabilities: allCapabilities}
	set := s.set
	if set.usesWorkspace() {
		set = set.in(nowhere())
	}
	return s.dial(ctx, set, us, known.Era, e, []byte(noRoots))
}

// dial makes a connection, with settings that are the server's or those for
// some of its clients.
func (s *Server) dial(ctx context.Context, set Settings, us self, era gateway.Era, e ears, roots []byte) (conn, error) {
	if roots == nil {
		roots = []byte(noRoots)
	}
	if set.Command != "" {
		return connectStdio(ctx, s, &set, us, era, e, roots)
	}
	return connectURL(ctx, s, us, era, e, roots)
}

// Hold keeps the server from being retired until Release. It reports false
// when the server is leaving: the call belongs to its successor.
func (s *Server) Hold() bool {
	s.inFlight.Add(1)
	if s.leaving.Load() {
		s.inFlight.Add(-1)
		return false
	}
	return true
}

// Release ends a Hold.
func (s *Server) Release() { s.inFlight.Add(-1) }

// Retire waits until no call is under way any more, or ctx ends, and closes
// the server. It is for one that left the configuration.
func (s *Server) Retire(ctx context.Context) {
	defer s.Close()
	poll := time.NewTicker(20 * time.Millisecond)
	defer poll.Stop()
	for {
		// Twice: whoever held it before the door was shut is waited for too.
		if s.inFlight.Load() == 0 && s.leaving.Swap(true) && s.inFlight.Load() == 0 {
			return
		}
		select {
		case <-poll.C:
		case <-ctx.Done():
			s.leaving.Store(true)
			return
		}
	}
}
