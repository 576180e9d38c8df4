package upstream

import (
	"cmp"
	"context"
	"errors"
	"strings"

	"genkan/internal/gateway"
)

// The ways to share a server.
const (
	// IsolationAuto is IsolationRoot for servers that work in their client's
	// folder, IsolationSession for those known to keep state, and otherwise
	// IsolationShared.
	IsolationAuto = "auto"
	// IsolationShared is one connection for everybody, whatever it asks.
	IsolationShared = "shared"
	// IsolationSession is one for each client's session, and for each caller
	// ownerOf requests stand alone.
	IsolationSession = "session"
	// IsolationRoot is one for each folder that clients work in.
	IsolationRoot = "root"
)

// lease is where a call sits: a connection, and what is watched on it.
type lease struct {
	conn
	watched *watches
	// pooledConn is that of the connection; nil for the trunk.
	pooled *pooledConn
	// release is called when the call is done.
	release func()
	// notice is what the caller is told about the place.
	notice gateway.Text
}

// sharedLease is the seat on the connection that everybody shares.
func (s *Server) sharedLease(ctx context.Context) (lease, error) {
	c, err := s.ready(ctx)
	return lease{conn: c, watched: &s.watched, release: func() {}}, err
}

// purpose is what a seat is for.
type purpose bool

const (
	forCall purpose = false
	// forWatch leaves the connection to the calls, and keeps it open.
	forWatch purpose = true
)

// acquire finds the connection for a call, or for what its caller watches. If the
// caller named a folder that is not used, and the server would have used it, the
// lease says so.
func (s *Server) acquire(ctx context.Context, call *gateway.Call, why purpose) (lease, error) {
	if !s.mayIsolate.Load() {
		return s.sharedLease(ctx)
	}
	s.mu.Lock()
	habits, era, refused := s.known.Habits, s.known.Era, s.refused != nil
	s.mu.Unlock()
	if s.set.URL != "" && era == gateway.EraModern { // every request stands alone there anyway
		return s.sharedLease(ctx)
	}
	mode := s.isolation(habits)
	var where workspace
	if mode == IsolationRoot || mode == IsolationSession {
		where = s.workspaceOf(ctx, call)
	}
	if s.set.usesWorkspace() && where.dir == "" && where.named != "" {
		return lease{}, &gateway.Error{
			Code: gateway.CodeInvalid, Unsent: true,
			Message: "server %s works in the client's folder, and %s. Work in another folder, or write one into the server's configuration",
			Values:  []any{s.set.Name, where.notice()},
		}
	}
	if s.set.usesWorkspace() && where.dir == "" {
		return lease{}, &gateway.Error{
			Code: gateway.CodeInvalid, Unsent: true,
			Message: "server %s works in the client's folder, and this client did not say which: use a client that announces its roots (REST: options.folder), or write the folder into the configuration",
			Values:  []any{s.set.Name},
		}
	}
	// A server with a connection for each session starts in the folder, too, but
	// need not read anything there.
	var notice gateway.Text
	if mode == IsolationRoot || habits.Roots {
		notice = where.notice()
	}
	// One that asks its client during calls must know whom, unless it was said
	// to be one for all. A session has one child, which remembers what it did;
	// of calls that stand alone each needs its own while it lasts.
	asks := habits.Asks && s.set.Isolation != IsolationShared && era != gateway.EraModern && s.sharesOneWire() && answersQuestions(call.Capabilities())
	want := poolKey{exclusive: asks && call.Era == gateway.EraModern}
	if mode == IsolationRoot {
		want.root = where.key()
	}
	if mode == IsolationSession || asks {
		want.session = sessionKey(call)
	}
	want.guest = want.session == "" && !call.Identity.IsLocal() // a session is one caller's
	if want.root == "" && want.session == "" {
		at, err := s.sharedLease(ctx)
		at.notice = notice
		return at, err
	}
	if refused { // one that wants a sign-in is not asked by each caller anew
		if _, err := s.ready(ctx); err != nil {
			return lease{}, err
		}
	}
	found, err := s.acquirePooled(ctx, call.Identity.ClientID, want, why, func(ctx context.Context, one *pooledConn) (conn, error) {
		return s.openPooled(ctx, call, mode, where, one)
	})
	if errors.Is(err, errPoolFull) && mode == IsolationShared {
		return s.sharedLease(ctx) // its questions may go unheard there, but it is served
	}
	found.notice = notice
	if err == nil && mode == IsolationSession {
		s.pool.move(found.pooled, where)
	}
	return found, err
}

// sharesOneWire reports whether nothing tells the server's messages for one
// call from those for another.
func (s *Server) sharesOneWire() bool {
	return s.set.URL == "" || s.set.Transport == TransportSSE || s.isSSE.Load()
}

// sessionKey tells callers apart that must not share a connection.
func sessionKey(call *gateway.Call) string {
	if call.Session != nil {
		return call.Session.ID
	}
	return "of " + call.Identity.ClientID
}

// isolation is the mode that holds for the server.
func (s *Server) isolation(habits Habits) string {
	switch mode := cmp.Or(s.set.Isolation, IsolationAuto); {
	case mode != IsolationAuto:
		return mode
	case s.set.usesWorkspace() || habits.Roots && s.sharesOneWire():
		return IsolationRoot
	case s.set.keepsState():
		return IsolationSession
	default:
		return IsolationShared
	}
}

// needsIsolation reports whether a call may need a connection of its own.
func (s *Server) needsIsolation(habits Habits) bool {
	return s.set.Isolation != IsolationShared && (habits != Habits{} || s.isolation(habits) != IsolationShared)
}

// keepsState knows servers that hold one browser, say, for whoever calls.
func (s *Settings) keepsState() bool {
	line := strings.Join(append([]string{s.Command}, s.Args...), " ")
	for _, word := range []string{"playwright", "puppeteer", "chrome-devtools-mcp"} {
		if strings.Contains(line, word) {
			return true
		}
	}
	return false
}
