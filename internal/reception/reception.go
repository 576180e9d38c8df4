// Package reception serves the other genkan processes of a data directory. One
// process owns the directory's socket: a `genkan serve`, or a background process
// that a `genkan stdio` has started. The others join it over that socket, and the
// owner serves their MCP clients and the REST requests of the command line.
//
// The package decides which joining processes are served, keeps track of them, and
// hands them over to the next owner. Package bridge has the socket and its
// protocol. Package app supplies the services through Options.
//
// Claim waits until this process is the owner; Serve then serves until ctx ends,
// another process takes over, or a background process has been idle for
// Options.IdleTimeout. When it ends, it tells the bridges to find another owner,
// waits a few seconds for them, and still answers the calls in flight.
//
// Options.Check compares a joining process with the owner: same build, same
// configuration file and language, same values of the environment variables that
// the configuration uses, a known view and an acceptable name. The owner serves a
// process only if it serves it exactly as that process would serve itself;
// otherwise the process serves its client alone. A joined client is `local`, or
// `local:NAME` if it names itself. It is never the token of that name.
package reception

import (
	"context"
	"io"
	"log/slog"
	"net/http"
	"sync"
	"time"

	"genkan/internal/bridge"
	"genkan/internal/gateway"
)

const (
	// handOverTimeout is how long joined processes may take to find another owner.
	// After that, they are no longer served.
	handOverTimeout = 5 * time.Second
	// successorTimeout is how long a process that takes over may take until it
	// serves.
	successorTimeout = 10 * time.Second
)

// Options say what an owner serves.
type Options struct {
	// Welcome answers the hello of a joining process. Its Version is the BuildID of
	// this process.
	Welcome bridge.Welcome
	// IdleTimeout is how long a background process goes on without connections. A
	// background process also gives the socket up to a process that serves HTTP.
	// Zero is for a process that serves HTTP, which does neither.
	IdleTimeout time.Duration
	// Busy reports whether a background process goes on although it has no
	// connections; nil means never.
	Busy func() bool
	// Settings returns the settings in force. A process with other settings is
	// refused. So is a client whose name or view is refused by CheckName or
	// CheckView.
	Settings  func() Settings
	CheckName func(name string) error
	CheckView func(gateway.View) error
	// ServeClient serves the client of a joined process until it leaves or ctx ends.
	ServeClient func(ctx context.Context, conn *bridge.Joined, client Client) error
	// REST serves the connections of the command line. Shutdown closes it, after
	// the requests under way.
	REST     *http.Server
	Shutdown func(*http.Server)
	// HandedOver is called when all clients have left for another owner, or have had
	// the time for it. It may be nil.
	HandedOver func()
	Log        *slog.Logger
}

// Serve serves the processes that connect to the socket of the owner, which
// listens already. It returns when ctx has ended, the process has been idle for
// too long, or another process has taken over, and all connections are closed. The
// socket is free then.
func Serve(ctx context.Context, owner *bridge.Owner, opt Options) {
	newServer(owner, opt).serve(ctx)
}

// server is the state of Serve.
type server struct {
	opt             Options
	owner           *bridge.Owner
	rest            *Listener
	handOverTimeout time.Duration

	mu          sync.Mutex
	connections int
	clients     map[*bridge.Joined]struct{}
	closing     bool        // no more connections are accepted
	idle        *time.Timer // nil without an idle timeout

	// stopped is closed when the server ends by itself.
	stopped  chan struct{}
	stopOnce sync.Once
	// left has an element after a client has left.
	left chan struct{}
}

func newServer(owner *bridge.Owner, opt Options) *server {
	return &server{
		opt: opt, owner: owner, rest: NewListener(), handOverTimeout: handOverTimeout,
		clients: map[*bridge.Joined]struct{}{},
		stopped: make(chan struct{}), left: make(chan struct{}, 1),
	}
}

func (s *server) serve(ctx context.Context) {
	// Clients are served until the hand-over is complete.
	clients, endClients := context.WithCancel(context.WithoutCancel(ctx))
	defer endClients()
	var serving sync.WaitGroup
	serving.Go(func() { _ = s.opt.REST.Serve(s.rest) })
	serving.Go(func() {
		s.owner.Serve(s.opt.Welcome, func(in *bridge.Incoming) { s.handle(clients, in) })
	})
	s.startIdleTimer()
	defer s.stopIdleTimer()
	select {
	case <-ctx.Done():
	case <-s.stopped:
	}
	s.handOver()
	if s.opt.HandedOver != nil {
		s.opt.HandedOver()
	}
	endClients()
	s.opt.Shutdown(s.opt.REST)
	_ = s.rest.Close()
	serving.Wait()
}

// stop ends the server.
func (s *server) stop() { s.stopOnce.Do(func() { close(s.stopped) }) }

// handle serves one connection.
func (s *server) handle(ctx context.Context, in *bridge.Incoming) {
	if !s.addConnection() {
		in.Refuse(bridge.RefusedGoingDown, "it is going down")
		return
	}
	defer s.removeConnection()
	switch in.Hello.Purpose {
	case bridge.PurposeMCP:
		s.handleClient(ctx, in)
	case bridge.PurposeREST:
		if conn, err := in.Accept(); err == nil {
			s.rest.Pass(conn)
		}
	case bridge.PurposeRetire:
		s.handleSuccessor(in)
	default:
		in.Refuse(bridge.RefusedPurpose, "it does not know what the other one comes for")
	}
}

// handleClient serves the MCP client of a joining process.
func (s *server) handleClient(ctx context.Context, in *bridge.Incoming) {
	if refusal, reason := s.opt.Check(&in.Hello); refusal != "" {
		s.opt.Log.Info("a genkan that wanted to join serves by itself", "process_id", in.Hello.PID, "reason", reason)
		in.Refuse(refusal, reason)
		return
	}
	conn, err := in.Accept()
	if err != nil {
		return
	}
	client := clientOf(&in.Hello)
	joined := bridge.NewJoined(conn)
	s.addClient(joined)
	id := gateway.LocalIdentity(client.Name).ClientID
	s.opt.Log.Info("a client has joined", "client", id, "process_id", in.Hello.PID, "dir", client.Dir)
	err = s.opt.ServeClient(ctx, joined, client)
	joined.Close()
	s.removeClient(joined)
	s.opt.Log.Info("a client has left", "client", id, "process_id", in.Hello.PID, "error", err)
}

// handleSuccessor gives the socket up to another process, and stops when that
// process serves or has failed to.
func (s *server) handleSuccessor(in *bridge.Incoming) {
	if s.opt.IdleTimeout == 0 {
		in.Refuse(bridge.RefusedPurpose, "it is no background process")
		return
	}
	s.opt.Log.Info("another genkan takes over", "process_id", in.Hello.PID)
	s.owner.Release()
	if conn, err := in.Accept(); err == nil {
		_ = conn.SetReadDeadline(time.Now().Add(successorTimeout))
		_, _ = io.Copy(io.Discard, conn) // the successor closes it when it serves
	}
	s.stop()
}

// handOver sends the joined clients to the next owner. This process still answers
// their calls under way.
func (s *server) handOver() {
	// The socket is released first, so that another owner can be found.
	s.owner.Release()
	s.mu.Lock()
	s.closing = true
	for client := range s.clients {
		client.Retire()
	}
	s.mu.Unlock()
	timeout := time.NewTimer(s.handOverTimeout)
	defer timeout.Stop()
	for s.hasClients() {
		select {
		case <-s.left:
		case <-timeout.C:
			return
		}
	}
}

func (s *server) hasClients() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.clients) > 0
}

func (s *server) addClient(c *bridge.Joined) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.clients[c] = struct{}{}
	if s.closing { // since the connection was added
		c.Retire()
	}
}

func (s *server) removeClient(c *bridge.Joined) {
	s.mu.Lock()
	delete(s.clients, c)
	s.mu.Unlock()
	select {
	case s.left <- struct{}{}:
	default:
	}
}

// addConnection counts a connection. It reports false if the server is closing.
func (s *server) addConnection() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closing {
		return false
	}
	s.connections++
	if s.idle != nil {
		s.idle.Stop()
	}
	return true
}

func (s *server) removeConnection() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.connections--
	if s.connections == 0 && s.idle != nil {
		s.idle.Reset(s.opt.IdleTimeout)
	}
}

func (s *server) startIdleTimer() {
	if s.opt.IdleTimeout == 0 {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.idle = time.AfterFunc(s.opt.IdleTimeout, s.stopIfIdle)
}

func (s *server) stopIdleTimer() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.idle != nil {
		s.idle.Stop()
	}
}

func (s *server) stopIfIdle() {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.connections > 0:
	case s.opt.Busy != nil && s.opt.Busy():
		s.idle.Reset(s.opt.IdleTimeout)
	default:
		s.closing = true
		s.opt.Log.Info("nobody has been connected for a while: going", "seconds", s.opt.IdleTimeout.Seconds())
		s.stop()
	}
}
