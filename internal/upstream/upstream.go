package upstream

import (
	"context"
	"encoding/json"
	"log/slog"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"genkan/internal/gateway"
	"genkan/internal/jsonrpc"
	"genkan/internal/launch"
)

// Settings describe a server. Exactly one of Command and URL is set.
type Settings struct {
	Name string

	Command string
	Args    []string
	Env     map[string]gateway.Secret
	Dir     string

	URL     string
	Headers map[string]gateway.Secret
	// Bearer supplies tokens if the server at URL asks for a sign-in; nil if
	// genkan must not sign in.
	Bearer Bearer
	// Transport is one of the Transport constants; empty to detect it.
	Transport string

	// StartupTimeout is how long the server may take until its tools are listed.
	// A first npx or uvx takes a minute.
	StartupTimeout time.Duration
	// Isolation is one of the Isolation constants: which callers share a
	// connection.
	Isolation string
	// Fingerprint identifies the configuration of the server.
	Fingerprint string
	// Lacking lists secrets and variables that the configuration refers to and
	// that do not exist. The server is not started while there are any.
	Lacking gateway.Texts
}

// Deps are the services that a server uses.
type Deps struct {
	Lists ListStore
	Log   *slog.Logger
	// Publish announces changes. It must not block.
	Publish func(gateway.Event)
	// Rearranged reports that callers may get another connection than before, so
	// that subscriptions must be made again. It must not block; may be nil.
	Rearranged func()
	// StateChanged is called with each new state of the server, in their order. It is
	// called while the server is locked, so it must neither block nor call methods of
	// the server other than Name; may be nil.
	StateChanged func(s *Server, st Status)
	// Folder reports whether servers may work for a caller in a folder that the
	// caller names. It returns the path without symbolic links, or the reason.
	// Nil allows none.
	Folder func(who gateway.Identity, named string) (path string, refused gateway.Text)
	// Launcher starts commands; nil for a launcher of the server's own, without a
	// guard process.
	Launcher *launch.Launcher
	// Transport is used for HTTP; nil for a default one.
	Transport http.RoundTripper
	// PingTimeout is how long a server may take to respond to a ping after a call
	// got no answer; zero for the default.
	PingTimeout time.Duration
	// Version is genkan's version, which servers are sent.
	Version string
	// Instance identifies this process. A genkan that is its own server
	// recognizes itself by it.
	Instance string

	limits limits
}

// State is the state of a server.
type State string

// The states.
const (
	StateStarting State = "starting"
	StateReady    State = "ready"
	StateDown     State = "down"
	// StateNotResponding is the state of a server that was ready, but sends
	// nothing since a call got no answer.
	StateNotResponding State = "not responding"
	StateClosed        State = "closed"
)

// Status describes the state of a server.
type Status struct {
	State State
	Era   gateway.Era
	// Version is the protocol version that was agreed on.
	Version string
	// OtherVersion is the protocol version of the other era while some callers
	// have a connection in it; otherwise empty.
	OtherVersion string
	Tools        int
	PID          int
	// Starts counts the attempts to start or connect.
	Starts int
	Since  time.Time
	// StartTook is how long the last start took until the server was ready; zero
	// if it never was.
	StartTook time.Duration
	// FirstStart is set when that was the first start of the server that is
	// remembered: its command may have been downloaded.
	FirstStart bool
	// Transport is stdio, http or sse.
	Transport string
	// Problem is why the server is not ready, and NextTry when the next attempt
	// begins. Cause is one of the Cause constants while the server is down, or
	// empty.
	Problem gateway.Text
	Cause   string
	NextTry time.Time
	// Lists are the problems with single lists of a server that is ready.
	Lists []ListProblem
	// Output is the end of the server's standard error.
	Output string
	// LastLine is the line of Output that says best what happened. Both may
	// contain anything and are not for everybody.
	LastLine string
	// SignIn is SignInNeeded, SignedIn, or empty if none is needed or known.
	// SignInExpires is when the token expires; zero if not known.
	SignIn        string
	SignInExpires time.Time
}

// Server is one MCP server.
type Server struct {
	set  Settings
	deps Deps
	log  *slog.Logger
	// ownLauncher is set when Close closes the launcher, too.
	ownLauncher bool
	// usesWorkspace is set when the settings name the client's folder. keepsState
	// and sharesState are set for commands that are known for it.
	usesWorkspace, keepsState, sharesState bool
	// signed is the transport of a server that may be signed in to, or nil.
	signed *signedTransport
	// isSSE is set when the server was found to use the old SSE transport.
	isSSE atomic.Bool
	// mayIsolate is set when some calls need a connection of their own.
	mayIsolate atomic.Bool
	// eraFollows is set when the era of a connection follows the caller.
	eraFollows atomic.Bool
	// output holds the end of the server's standard error.
	output *ring

	offered
	usage
	supervisor

	// mu guards condition, checks, logLevel, and the fields of offered that say so.
	mu sync.Mutex
	condition
	// watched are the subscriptions on the shared connection.
	watched watches
	// pool holds the connections for some callers only.
	pool connPool
	// checks are the liveness checks that run, by connection; checking waits for
	// them.
	checks   map[conn]*check
	checking sync.WaitGroup
	// logLevel is the most verbose level that any client wants; empty for the
	// server's default.
	logLevel  string
	sentLevel sentLevel
}

// offered is what a server lists.
type offered struct {
	lists [gateway.KindCount]atomic.Pointer[[]gateway.Tool]
	// fresh are the milliseconds that Fresh returns.
	fresh [gateway.KindCount]atomic.Int64
	// known is what the store or the last connection said. Guarded by mu.
	known SavedList
	// listStates are those of the current connection. Guarded by mu.
	listStates [gateway.KindCount]listState
	// saving is held while known is written to the store.
	saving sync.Mutex
}

// usage counts what the server's users do.
type usage struct {
	gateway.Holds
	// readied counts how often the server became ready.
	readied atomic.Uint64
}

// supervisor belongs to the goroutine that keeps the server connected.
type supervisor struct {
	life context.Context //nolint:containedctx // the server's own, which its connections share
	stop context.CancelFunc
	// done is closed when the goroutine has ended.
	done chan struct{}
	// settled is closed when there is a list, or the first attempt has failed.
	settled    chan struct{}
	settleOnce sync.Once
	// nudge makes the goroutine connect at once instead of waiting.
	nudge chan struct{}
	// cancelRound ends the current connection, or the attempt to get one; the
	// goroutine then starts over. Guarded by mu.
	cancelRound context.CancelCauseFunc
}

// condition is how the server is. It is guarded by Server.mu.
type condition struct {
	state State
	// conn is the connection that callers share; nil unless the server is ready.
	// used is set when a caller has had it.
	// reopened is set while it is opened in the era of its first caller.
	conn           conn
	used, reopened bool
	// otherRefused is set when the server turned out not to speak the other era.
	otherRefused bool
	starts       int
	since        time.Time
	// took is how long the last start took.
	took time.Duration
	// remembered is set when the server has ever been ready; first when its last
	// start was the first that succeeded.
	remembered, first bool
	problem           gateway.Text
	cause             string
	// refused is the error while only a person can help.
	refused *gateway.Error
	nextTry time.Time
	lastTry time.Time
	attempt attempt
	// changed is closed and replaced at every change of state.
	changed chan struct{}
	// told is the state that StateChanged was called with last.
	told toldState
}

// Open starts to supervise a server. It does not wait for the server: the last
// known lists are available at once.
func Open(set Settings, deps Deps) *Server {
	s := &Server{
		set: set, deps: deps,
		log:        deps.Log.With("server", set.Name),
		output:     &ring{},
		supervisor: supervisor{done: make(chan struct{}), settled: make(chan struct{}), nudge: make(chan struct{}, 1)},
		condition:  condition{state: StateStarting, since: time.Now(), changed: make(chan struct{})},
	}
	if deps.Launcher == nil {
		s.deps.Launcher = launch.New(launch.Options{Log: deps.Log})
		s.ownLauncher = true
	}
	s.deps.limits = deps.limits.withDefaults()
	if deps.Transport == nil {
		s.deps.Transport = newTransport()
	}
	if set.Bearer != nil && set.URL != "" {
		s.signed = newSignedTransport(&set, s.deps.Transport)
		s.signed.changed = s.signInChanged
		s.deps.Transport = s.signed
	}
	s.usesWorkspace, s.keepsState, s.sharesState = set.usesWorkspace(), set.runsAny(statefulServers()), set.runsAny(sharedState())
	for kind := range s.lists {
		s.lists[kind].Store(&[]gateway.Tool{})
		s.fresh[kind].Store(-1)
	}
	s.life, s.stop = context.WithCancel(context.Background())
	s.restore(s.life)
	s.arrange()
	go s.supervise(s.life)
	return s
}

// restore loads the last known lists.
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
		s.known, s.remembered = saved, true
		s.known.About = saved.About.bounded()
		s.markSettled()
	}
}

// Settled is closed when List is worth reading: there is a list, saved or new, or
// the first attempt to connect has failed.
func (s *Server) Settled() <-chan struct{} { return s.settled }

func (s *Server) markSettled() { s.settleOnce.Do(func() { close(s.settled) }) }

// Name returns the server's name in the configuration.
func (s *Server) Name() string { return s.set.Name }

// Fingerprint returns the fingerprint of the server's settings.
func (s *Server) Fingerprint() string { return s.set.Fingerprint }

// List returns the last known list of a kind.
func (s *Server) List(kind gateway.Kind) []gateway.Tool { return *s.lists[kind].Load() }

// External says that others write the server's answers.
func (s *Server) External() {}

// ListTTL returns how long a list may be cached, in milliseconds, as the server
// says; -1 if it does not say.
func (s *Server) ListTTL(kind gateway.Kind) int64 { return s.fresh[kind].Load() }

// Offers reports whether the server has anything of a kind, listed or not.
func (s *Server) Offers(kind gateway.Kind) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	var p protocol
	p.offer(s.known.About.Capabilities)
	return p.offers[kind]
}

// Tasks reports whether the server makes tasks, and the era of its protocol.
func (s *Server) Tasks() (gateway.Era, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	var p protocol
	p.offer(s.known.About.Capabilities)
	return s.known.Era, p.tasks
}

// ListsTasks reports whether the server lists its tasks, which only legacy
// servers can.
func (s *Server) ListsTasks() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.known.Era == gateway.EraLegacy &&
		jsonrpc.Lookup(jsonrpc.Lookup(s.known.About.Capabilities, "tasks"), "list") != nil
}

// About returns the server's description of itself, current or saved.
func (s *Server) About() gateway.About {
	s.mu.Lock()
	known := s.known.About
	s.mu.Unlock()
	var info struct {
		Title       string `json:"title"`
		Description string `json:"description"`
	}
	_ = json.Unmarshal(known.Info, &info) // both are optional
	return gateway.About{
		Title: info.Title, Description: info.Description, Instructions: known.Instructions,
		Info: known.Info, Capabilities: known.Capabilities,
	}
}

// Handle sends a call to the server. Callers that must not lose the call to
// Retire call Hold first.
func (s *Server) Handle(ctx context.Context, call *gateway.Call) (*gateway.Result, error) {
	c, err := s.acquire(ctx, call, forCall)
	if err != nil {
		return nil, err
	}
	defer c.release()
	if c.taskTable().ownedByAnother(call) {
		return nil, noTask(call)
	}
	s.raiseLogLevel(ctx, c.conn, call)
	received := c.received()
	result, err := s.withInput(ctx, c.conn, call)
	switch {
	case err == nil:
		c.taskTable().note(call, result)
		result.Notice = c.notice
	case ctx.Err() != nil:
		s.unanswered(ctx, c.conn, received)
	}
	return result, err
}

// ReadyCount returns how often the server became ready.
func (s *Server) ReadyCount() uint64 { return s.readied.Load() }

// Status returns the state of the server.
func (s *Server) Status() Status {
	all := s.conns()
	s.mu.Lock()
	defer s.mu.Unlock()
	st := s.status()
	st.Output = s.output.String()
	for _, c := range all {
		if p := c.protocol(); p.era != st.Era {
			st.OtherVersion = p.version
		}
	}
	return st
}

// Log returns what the server has printed lately, with a line of Genkan's own at each start,
// as say says it.
func (s *Server) Log(say func(gateway.Text) string) string { return s.output.log(say) }

// status returns the state of the server without Output and OtherVersion. Called with
// mu held.
func (s *Server) status() Status {
	st := Status{
		State: s.state, Era: s.known.Era, Version: s.known.Version,
		Tools: len(s.List(gateway.KindTool)), Starts: s.starts, Since: s.since,
		StartTook: s.took, FirstStart: s.first, Transport: s.transport(),
		Problem: s.problemNow(time.Now()), NextTry: s.nextTry, LastLine: s.output.lastLine(),
	}
	if s.state == StateDown {
		st.Cause = s.cause
	}
	if s.state == StateReady {
		st.Lists = s.listProblems(time.Now())
		if why, silent := s.silence(time.Now()); silent {
			st.State, st.Problem = StateNotResponding, why
		}
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

// transport returns the transport in use, or the one that is tried first.
func (s *Server) transport() string {
	switch {
	case s.set.Command != "":
		return "stdio"
	case s.set.Transport == TransportSSE || s.isSSE.Load():
		return TransportSSE
	default:
		return TransportHTTP
	}
}

// Health reports whether the server is down, and why.
func (s *Server) Health() gateway.Health {
	s.mu.Lock()
	defer s.mu.Unlock()
	return gateway.Health{Down: s.state == StateDown, Problem: s.problem}
}

// Close ends the server and waits until its processes and goroutines have ended.
func (s *Server) Close() {
	s.stop()
	s.pool.close()
	<-s.done
	s.mu.Lock()   // no check begins after this
	s.mu.Unlock() //nolint:staticcheck // it waits for the others
	s.checking.Wait()
	if s.ownLauncher {
		s.deps.Launcher.Close()
	}
}
