package upstream

import (
	"context"
	"time"

	"genkan/internal/gateway"
)

// ready returns the shared connection. It waits while the server starts, and once
// for a restart that is due within a moment. For any other server that is down it
// returns the error at once. If the caller wants an era, a command that nobody has
// used yet is restarted in it.
func (s *Server) ready(ctx context.Context, wanted gateway.Era) (conn, error) {
	const moment = 500 * time.Millisecond
	waited, startsBefore := false, 0
	for {
		s.mu.Lock()
		s.reopen(wanted)
		state, c, changed := s.state, s.conn, s.changed
		soon, starts := s.triedIn(moment), s.starts
		silent := state == StateReady && s.isSilent(c)
		var down error
		if state == StateDown {
			down = s.downError()
		}
		s.used = s.used || state == StateReady && !silent
		s.mu.Unlock()
		switch state {
		case StateReady:
			if !silent {
				return c, nil
			}
		case StateClosed:
			return nil, s.removed()
		case StateDown:
			switch {
			case waited && (starts > startsBefore || !soon):
				return nil, down // the awaited restart failed
			case waited:
			case !soon && !s.nudgeAllowed(ctx):
				return nil, down
			default:
				waited, startsBefore = true, starts
			}
		case StateStarting, StateNotResponding:
		}
		select {
		case <-changed:
		case <-ctx.Done():
			if silent {
				return nil, s.notResponding(ctx)
			}
			return nil, s.notStarted(ctx)
		}
	}
}

// triedIn reports whether a command that is down is restarted within moment.
// Called with mu held.
func (s *Server) triedIn(moment time.Duration) bool {
	return s.set.URL == "" && s.refused == nil && len(s.set.Lacking.Each) == 0 && time.Until(s.nextTry) < moment
}

// removed is the error of calls to a server that left the configuration.
func (s *Server) removed() error {
	return &gateway.Error{
		Code: gateway.CodeUnavailable, Unsent: true,
		Message: "server %s was removed from the configuration",
		Values:  []any{s.set.Name},
	}
}

// notStarted is the error of a call whose context ended before the server was
// ready.
func (s *Server) notStarted(ctx context.Context) error {
	return &gateway.Error{
		Code: gateway.AsError(context.Cause(ctx)).Code, Unsent: true, Err: context.Cause(ctx),
		Message: "server %s has not started yet; `genkan servers` shows what it is doing",
		Values:  []any{s.set.Name},
	}
}

// nudgeInterval is the shortest time between attempts that calls cause. It is
// shorter than a call's retries take together, so that one of them reaches a
// server that has just come back.
const nudgeInterval = 250 * time.Millisecond

// nudgeAllowed asks the supervisor to connect at once and reports whether that is
// allowed. A call may do that for an HTTP server, to which connecting is cheap. A
// command is restarted by the supervisor's backoff only: otherwise every call
// would start a crashing one.
func (s *Server) nudgeAllowed(ctx context.Context) bool {
	if s.set.URL == "" || len(s.set.Lacking.Each) > 0 {
		return false
	}
	s.mu.Lock()
	refused := s.refused != nil
	s.mu.Unlock()
	signedIn := false
	if refused { // do not ask a server again that wants a sign-in and has none
		if _, err := s.set.Bearer.Token(ctx); err != nil {
			return false
		}
		signedIn = true
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if time.Since(s.lastTry) < nudgeInterval && !signedIn {
		return false
	}
	s.lastTry = time.Now()
	select {
	case s.nudge <- struct{}{}:
	default:
	}
	return true
}

// Try connects at once to a server that is down. It reads the lists of a server
// that is ready, and reconnects if its sign-in changed.
func (s *Server) Try() {
	if s.signed != nil {
		s.set.Bearer.Doubt()
	}
	select {
	case s.nudge <- struct{}{}:
	default:
	}
}

// errRestarted closes a connection because a restart was requested.
var errRestarted = &gateway.Error{Code: gateway.CodeUnavailable, Message: "it was restarted", Err: gateway.ErrWanted}

// Restart closes the server's connections, ends its processes and starts it again.
// Calls in flight fail; new calls wait for the restart.
func (s *Server) Restart() {
	if len(s.set.Lacking.Each) > 0 {
		return // it cannot start
	}
	var cancelRound context.CancelCauseFunc
	s.update(func() {
		if s.state != StateClosed {
			// From now on calls wait for the new connection.
			s.state, s.conn, s.since, s.problem, s.refused = StateStarting, nil, time.Now(), gateway.Text{}, nil
			s.otherRefused = false
		}
		cancelRound = s.cancelRound
	})
	if cancelRound != nil {
		cancelRound(errRestarted)
	}
	s.Try() // it may be waiting for its next try
}

// downError returns the error of calls to a server that is down: the reason and
// the time of the next attempt. Called with mu held.
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

// update changes the server's condition and wakes those who wait for a change.
func (s *Server) update(change func()) {
	s.mu.Lock()
	change()
	close(s.changed)
	s.changed = make(chan struct{})
	s.tellState()
	s.mu.Unlock()
}
