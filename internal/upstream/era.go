package upstream

import (
	"errors"
	"slices"
	"strings"
	"time"

	"genkan/internal/gateway"
)

// Many servers speak both eras. A tool of such a server may ask its client during
// a call, which works in the legacy era only, so the era of a connection follows
// its callers. A dual-era process is bound to the era in which it was opened
// first: the Go SDK refuses initialize after server/discover. So the other era
// needs another process, or a restart.

// eraFor returns the era in which a server of both eras is spoken to for a call,
// or EraNone if that does not matter. It matters to callers that can be asked,
// and costs nothing for those that have a connection of their own.
func (s *Server) eraFor(call *gateway.Call, mode string) gateway.Era {
	own := mode == IsolationSession && s.set.Command != ""
	switch {
	case own && call.Session == nil:
		return gateway.EraModern // REST and modern calls of a client share a connection
	case own || answersQuestions(call.Capabilities()):
		return call.Era
	default:
		return gateway.EraNone
	}
}

// oneEra reports whether all callers must be served in one era, because a second
// process would do harm. It is the legacy era: modern callers can be asked through
// it, too.
func (s *Server) oneEra(habits Habits) bool {
	return s.set.Command != "" && (s.set.Isolation == IsolationShared || s.sharesState ||
		s.keepsState && s.isolation(habits) != IsolationSession)
}

// eraToOpen returns the era that a new connection tries first.
func (s *Server) eraToOpen(known *SavedList) gateway.Era {
	if s.oneEra(known.Habits) {
		return gateway.EraLegacy
	}
	return known.Era
}

// arrange decides which calls may need another connection than the shared one, by
// what is known of the server. Called with mu held.
func (s *Server) arrange() {
	s.mayIsolate.Store(s.needsIsolation(s.known.Habits))
	s.eraFollows.Store(s.known.BothEras && !s.otherRefused && !s.oneEra(s.known.Habits))
}

// errEraChanged closes a connection that is to be opened in the other era.
var errEraChanged = errors.New("the first caller is of the other era")

// reopen restarts a command in the wanted era if it speaks both and no caller has
// used it yet: it was needed for its lists only. Called with mu held.
func (s *Server) reopen(wanted gateway.Era) {
	if wanted == gateway.EraNone || s.state != StateReady || s.used || s.set.Command == "" ||
		!s.eraFollows.Load() || s.conn.protocol().era == wanted {
		return
	}
	s.known.Era, s.reopened = wanted, true
	s.state, s.conn, s.since = StateStarting, nil, time.Now()
	s.cancelRound(errEraChanged)
	close(s.changed)
	s.changed = make(chan struct{})
	s.tellState()
}

// reopenFailed reports whether the server has failed to start in the era of its
// first caller. The next start detects the era.
func (s *Server) reopenFailed(why error) bool {
	s.mu.Lock()
	failed := s.reopened
	if failed {
		s.reopened, s.known.Era = false, gateway.EraNone
	}
	s.mu.Unlock()
	if failed {
		s.refuseEra(why)
	}
	return failed
}

// errEraRefused means that a server cannot be spoken to in the other era.
var errEraRefused = errors.New("the server does not speak the other era")

// checkEra returns errEraRefused if a connection is not of the wanted era, or cannot
// carry questions in it: over HTTP the answers need a session.
func (s *Server) checkEra(c conn, wanted gateway.Era) error {
	web, ok := c.(*httpConn)
	if c.protocol().era == wanted && (!ok || wanted != gateway.EraLegacy || web.hasSession()) {
		return nil
	}
	s.refuseEra(errEraRefused)
	return errEraRefused
}

// refuseEra serves all callers in one era, because the other has failed. A restart
// tries it again, and so does a new connection to a URL, which is cheap.
func (s *Server) refuseEra(why error) {
	s.log.Warn("the server does not work in the other era; all clients are served in one", "error", why)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.otherRefused = true
	s.arrange()
}

// sharedState are parts of the command lines of servers that keep what all callers
// share, in the process or in a file. Two processes of such a server would not see
// each other's changes, or overwrite them.
func sharedState() []string {
	return []string{
		"memory", // @modelcontextprotocol/server-memory, basic-memory, mcp-memory-service
		"sqlite", // mcp-server-sqlite
		"duckdb", // mcp-server-motherduck: locks its file
		"chroma", // chroma-mcp
		"qdrant", // mcp-server-qdrant: locks its folder
	}
}

// runsAny reports whether the command line contains one of the names.
func (s *Settings) runsAny(names []string) bool {
	line := strings.Join(append([]string{s.Command}, s.Args...), " ")
	return slices.ContainsFunc(names, func(name string) bool { return strings.Contains(line, name) })
}
