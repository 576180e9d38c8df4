package upstream

import (
	"cmp"
	"context"
	"errors"

	"genkan/internal/gateway"
)

// The isolation modes: which callers share a connection to a server.
const (
	// IsolationAuto is IsolationRoot for servers that work in their client's
	// folder, IsolationSession for those known to keep state, and otherwise
	// IsolationShared.
	IsolationAuto = "auto"
	// IsolationShared is one connection for all callers, even if the server asks
	// its clients questions.
	IsolationShared = "shared"
	// IsolationSession is one connection for each session, and for each caller
	// without a session.
	IsolationSession = "session"
	// IsolationRoot is one connection for each folder that clients work in.
	IsolationRoot = "root"
)

// lease is the use of a connection by one call or subscription.
type lease struct {
	conn
	watched *watches
	// pooled is nil for the shared connection.
	pooled *pooledConn
	// release ends the lease.
	release func()
	// notice tells the caller that the server was not told of its folder.
	notice gateway.Text
}

// sharedLease returns a lease on the shared connection, which need not be of the
// wanted era.
func (s *Server) sharedLease(ctx context.Context, wanted gateway.Era) (lease, error) {
	c, err := s.ready(ctx, wanted)
	return lease{conn: c, watched: &s.watched, release: func() {}}, err
}

// purpose is what a lease is used for.
type purpose bool

const (
	forCall purpose = false
	// forWatch keeps the connection open, but does not occupy an exclusive one.
	forWatch purpose = true
)

// acquire returns the connection for a call or a subscription. If the caller
// named a folder that the server would have used and may not, the lease has a
// notice.
func (s *Server) acquire(ctx context.Context, call *gateway.Call, why purpose) (lease, error) {
	if !s.mayIsolate.Load() && !s.eraFollows.Load() {
		return s.sharedLease(ctx, gateway.EraNone)
	}
	s.mu.Lock()
	habits, era, refused := s.known.Habits, s.known.Era, s.refused != nil
	s.mu.Unlock()
	mode := s.isolation(habits)
	follows, wanted := s.eraFollows.Load(), gateway.EraNone
	if follows {
		wanted = s.eraFor(call, mode)
		era = cmp.Or(wanted, era)
	}
	if s.set.URL != "" && era == gateway.EraModern { // its requests share no state
		mode = IsolationShared
	}
	var where workspace
	if mode == IsolationRoot || mode == IsolationSession {
		where = s.workspaceOf(ctx, call)
	}
	if s.usesWorkspace && where.dir == "" && where.named != "" {
		return lease{}, &gateway.Error{
			Code: gateway.CodeInvalid, Unsent: true,
			Message: "server %s works in the client's folder, and may not work in %q: %s. Work in another folder, or write one into the server's configuration",
			Values:  []any{s.set.Name, where.named, where.refused},
		}
	}
	if s.usesWorkspace && where.dir == "" {
		return lease{}, &gateway.Error{
			Code: gateway.CodeInvalid, Unsent: true,
			Message: "server %s works in the client's folder, and this client did not say which: use a client that announces its roots (REST: options.folder), or write the folder into the configuration",
			Values:  []any{s.set.Name},
		}
	}
	// With IsolationSession the server starts in the folder, too, but the folder
	// matters only to a server that asks for roots.
	var notice gateway.Text
	if mode == IsolationRoot || habits.Roots {
		notice = where.notice()
	}
	// A server that asks its client during calls must have one client only,
	// unless it is configured as shared. Calls of a session use one connection;
	// modern calls, which have no session, use an exclusive one each.
	asks := habits.Asks && s.set.Isolation != IsolationShared && !s.sharesState && era != gateway.EraModern && s.sharesOneWire() && answersQuestions(call.Capabilities())
	want := poolKey{exclusive: asks && call.Era == gateway.EraModern}
	if mode == IsolationRoot {
		want.root = where.key()
	}
	if mode == IsolationSession || asks {
		want.session = sessionKey(call)
	}
	want.guest = want.root != "" && want.session == "" && !call.Identity.IsLocal() // a session is one caller's
	if follows {
		want.era = era
	}
	if want.root == "" && want.session == "" {
		at, err := s.sharedLease(ctx, wanted)
		at.notice = notice
		if err != nil || wanted == gateway.EraNone || !s.eraFollows.Load() || at.protocol().era == wanted {
			return at, err
		}
	}
	if refused { // do not ask a server that wants a sign-in for each caller
		if _, err := s.ready(ctx, gateway.EraNone); err != nil {
			return lease{}, err
		}
	}
	found, err := s.acquirePooled(ctx, call.Identity.ClientID, want, why, s.opener(call, mode, where))
	switch {
	case errors.Is(err, errEraRefused):
		return s.acquire(ctx, call, why)
	case errors.Is(err, errPoolFull) && mode == IsolationShared:
		return s.sharedLease(ctx, gateway.EraNone) // the server's questions may be refused there, but the call is served
	}
	found.notice = notice
	if err == nil && mode == IsolationSession {
		s.pool.move(found.pooled, where)
	}
	return found, err
}

// sharesOneWire reports whether the server's requests and notifications do not
// say which call they belong to.
func (s *Server) sharesOneWire() bool {
	return s.set.URL == "" || s.set.Transport == TransportSSE || s.isSSE.Load()
}

// sessionKey identifies a session, or a caller without one.
func sessionKey(call *gateway.Call) string {
	if call.Session != nil {
		return call.Session.ID
	}
	return "of " + call.Identity.ClientID
}

// isolation returns the mode of the server, with IsolationAuto resolved.
func (s *Server) isolation(habits Habits) string {
	switch mode := cmp.Or(s.set.Isolation, IsolationAuto); {
	case mode != IsolationAuto:
		return mode
	case s.usesWorkspace || habits.Roots && s.sharesOneWire():
		return IsolationRoot
	case s.keepsState:
		return IsolationSession
	default:
		return IsolationShared
	}
}

// needsIsolation reports whether some calls may need a connection of their own.
func (s *Server) needsIsolation(habits Habits) bool {
	return s.set.Isolation != IsolationShared && (habits != Habits{} || s.isolation(habits) != IsolationShared)
}

// statefulServers are parts of the command lines of servers that keep one browser
// for all requests of a connection. Callers who share such a server would see and
// change each other's pages, so IsolationAuto gives each session its own.
func statefulServers() []string {
	return []string{
		"playwright",          // @playwright/mcp
		"puppeteer",           // @modelcontextprotocol/server-puppeteer
		"chrome-devtools-mcp", // Chrome DevTools
	}
}
