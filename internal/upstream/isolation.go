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
	// whose requests stand alone.
	IsolationSession = "session"
	// IsolationRoot is one for each folder that clients work in.
	IsolationRoot = "root"
)

// seat is where a call sits: a connection, and what is watched on it.
type seat struct {
	conn
	watched *watches
	// branch is that of the connection; nil for the trunk.
	branch *branch
	// release is called when the call is done.
	release func()
	// notice is what the caller is told about the place.
	notice gateway.Text
}

// trunk is the seat on the connection that everybody shares.
func (s *Server) trunk(ctx context.Context) (seat, error) {
	c, err := s.ready(ctx)
	return seat{conn: c, watched: &s.watched, release: func() {}}, err
}

// purpose is what a seat is for.
type purpose bool

const (
	toCall purpose = false
	// toWatch leaves the connection to the calls, and keeps it open.
	toWatch purpose = true
)

// place finds the connection for a call, or for what its caller watches. If the
// caller named a folder that is not used, and the server would have used it, the
// seat says so.
func (s *Server) place(ctx context.Context, call *gateway.Call, why purpose) (seat, error) {
	if !s.apart.Load() {
		return s.trunk(ctx)
	}
	s.mu.Lock()
	habits, era, refused := s.known.Habits, s.known.Era, s.refused != nil
	s.mu.Unlock()
	if s.set.URL != "" && era == gateway.EraModern { // every request stands alone there anyway
		return s.trunk(ctx)
	}
	mode := s.isolation(habits)
	var where home
	if mode == IsolationRoot || mode == IsolationSession {
		where = s.homeOf(ctx, call)
	}
	if s.set.usesWorkspace() && where.dir == "" && where.named != "" {
		return seat{}, &gateway.Error{
			Code: gateway.CodeInvalid, Unsent: true,
			Message: "server %s works in the client's folder, and %s. Work in another folder, or write one into the server's configuration",
			Values:  []any{s.set.Name, where.notice()},
		}
	}
	if s.set.usesWorkspace() && where.dir == "" {
		return seat{}, &gateway.Error{
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
	asks := habits.Asks && s.set.Isolation != IsolationShared && era != gateway.EraModern && s.sharesOneWire() && asksPeople(call.Capabilities())
	want := branchKey{alone: asks && call.Era == gateway.EraModern}
	if mode == IsolationRoot {
		want.root = where.key()
	}
	if mode == IsolationSession || asks {
		want.session = sessionKey(call)
	}
	want.guest = want.session == "" && !call.Identity.IsLocal() // a session is one caller's
	if want.root == "" && want.session == "" {
		at, err := s.trunk(ctx)
		at.notice = notice
		return at, err
	}
	if refused { // one that wants a sign-in is not asked by each caller anew
		if _, err := s.ready(ctx); err != nil {
			return seat{}, err
		}
	}
	found, err := s.branch(ctx, call.Identity.ClientID, want, why, func(ctx context.Context, one *branch) (conn, error) {
		return s.grow(ctx, call, mode, where, one)
	})
	if errors.Is(err, errNoBranch) && mode == IsolationShared {
		return s.trunk(ctx) // its questions may go unheard there, but it is served
	}
	found.notice = notice
	if err == nil && mode == IsolationSession {
		s.branches.move(found.branch, where)
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

// mayBeApart reports whether a call may need a connection of its own.
func (s *Server) mayBeApart(habits Habits) bool {
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
