package upstream

import (
	"context"
	"errors"
	"sync"
	"time"

	"genkan/internal/gateway"
)

// ready returns the connection. A server that is starting is waited for, and so
// is one that is tried again in a moment, once. Any other that is down answers at
// once, so that nobody hangs on it.
func (s *Server) ready(ctx context.Context) (conn, error) {
	const moment = 500 * time.Millisecond
	waited, startsBefore := false, 0
	for {
		s.mu.Lock()
		state, c, changed := s.state, s.conn, s.changed
		soon, starts := s.triedIn(moment), s.starts
		silent := state == StateReady && s.isSilent(c)
		var down error
		if state == StateDown {
			down = s.downError()
		}
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
				return nil, down // it was tried once more, in vain
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

// triedIn reports whether a server that is down is started again within a
// moment: it was up, and has just been lost. Called with mu held.
func (s *Server) triedIn(moment time.Duration) bool {
	return s.set.URL == "" && s.refused == nil && len(s.set.Lacking.Each) == 0 && time.Until(s.nextTry) < moment
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

// nudgeInterval is shorter than a call's retries take together, so that one of
// them reaches a server that has just come back.
const nudgeInterval = 250 * time.Millisecond

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

// errRestarted ends a connection that somebody wants another one for.
var errRestarted = &gateway.Error{Code: gateway.CodeUnavailable, Message: "it was restarted", Err: gateway.ErrWanted}

// Restart ends the server's connection, or its process, and begins anew. Calls
// that are under way in it are told so; those that come meanwhile wait.
func (s *Server) Restart() {
	if len(s.set.Lacking.Each) > 0 {
		return // a start would change nothing
	}
	var cancelRound context.CancelCauseFunc
	s.update(func() {
		if s.state != StateClosed {
			// From now on calls wait for what comes.
			s.state, s.conn, s.since, s.problem, s.refused = StateStarting, nil, time.Now(), gateway.Text{}, nil
		}
		cancelRound = s.cancelRound
	})
	if cancelRound != nil {
		cancelRound(errRestarted)
	}
	s.Try() // it may be waiting for its next try
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
	restartBackoff := newRestartBackoff()
	for {
		if ctx.Err() != nil { // closed while it was down: nothing is started any more
			s.markSettled()
			s.update(func() { s.state, s.conn = StateClosed, nil })
			return
		}
		select {
		case <-s.nudge: // what comes now
		default:
		}
		round, cancelRound := context.WithCancelCause(ctx)
		s.mu.Lock()
		s.cancelRound = cancelRound
		s.mu.Unlock()
		ready, err := s.serve(round)
		wanted := errors.Is(context.Cause(round), errRestarted)
		cancelRound(nil)
		s.markSettled()
		if ctx.Err() != nil {
			s.update(func() { s.state, s.conn = StateClosed, nil })
			return
		}
		if len(s.set.Lacking.Each) > 0 {
			s.waitForReplacement(ctx, err)
			return
		}
		if errors.Is(err, errSignInChanged) {
			s.log.Info("the sign-in is another one; connecting anew")
			continue
		}
		if errors.Is(err, errNotResponding) {
			continue
		}
		if wanted {
			s.log.Info("the server is restarted, as somebody wanted")
			restartBackoff = newRestartBackoff()
			continue
		}
		wait := restartBackoff.next(ready)
		var refused *gateway.Error
		if needsPerson(err) {
			wait, refused = signInRetry, gateway.AsError(err)
		}
		s.log.Warn("server is down", "error", err, "next_try_ms", wait.Milliseconds())
		s.update(func() {
			s.state, s.conn, s.since, s.refused = StateDown, nil, time.Now(), refused
			s.problem, s.cause, s.nextTry = problem(err), causeOf(err), time.Now().Add(wait)
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

// signInRetry is how long a server is left alone that wants a sign-in: whoever
// signs in says so.
const signInRetry = 5 * time.Minute

// errSignInChanged ends a connection that was begun with another sign-in: its
// session is somebody else's.
var errSignInChanged = errors.New("the sign-in is another one")

// waitForReplacement waits for a configuration that has everything, which will be another
// server's.
func (s *Server) waitForReplacement(ctx context.Context, err error) {
	s.log.Warn("server is not started", "error", err)
	s.update(func() { s.state, s.since, s.problem = StateDown, time.Now(), problem(err) })
	<-ctx.Done()
	s.update(func() { s.state = StateClosed })
}

// serve connects once and returns when the connection is lost, with how long
// the server was ready.
func (s *Server) serve(ctx context.Context) (ready time.Duration, err error) {
	if len(s.set.Lacking.Each) > 0 {
		return 0, gateway.Errorf(gateway.CodeUnavailable, "it lacks something: %s", s.set.Lacking)
	}
	tried := time.Now()
	s.mu.Lock()
	s.starts++
	s.lastTry = tried
	s.attempt = attempt{began: s.lastTry}
	s.listStates = [gateway.KindCount]listState{}
	known := s.known
	s.mu.Unlock()
	defer s.attempted(func(a *attempt) { *a = attempt{} })

	startup, cancel := context.WithTimeoutCause(ctx, s.set.StartupTimeout, s.startTimeout())
	defer cancel()
	set := s.set
	if set.usesWorkspace() { // this connection is there for the lists only
		dir, remove, err := s.deps.Launcher.EmptyDir(set.Name)
		if err != nil {
			return 0, err
		}
		defer remove()
		set = set.in(dir)
	}
	groups := newListGroups()
	c, err := s.connect(startup, set, known, listeners{
		changed: groups.add, updated: s.watched.updated, progressed: s.watched.progressed, asked: s.asked, renewed: func() { go s.renewed(ctx) },
	})
	if err == nil {
		defer c.close()
		s.attempted(func(a *attempt) { a.greeted = true })
		// Only the tools must be there: a server that fails over its prompts still
		// has its tools.
		err = s.refresh(startup, c, gateway.KindTool, suspected)
		if dead := c.cause(); err != nil && dead != nil {
			err = dead // what happened to the server, not to our question
		}
	}
	if err != nil {
		if ctx.Err() == nil && startup.Err() != nil {
			err = s.startTimeoutDetail()
		}
		return 0, err
	}
	lists, stopLists := context.WithCancel(ctx)
	var keeping sync.WaitGroup
	defer keeping.Wait()
	defer stopLists()
	for _, g := range groups {
		keeping.Go(func() { s.refreshLoop(lists, c, g) })
	}
	for _, kind := range gateway.Kinds()[1:] {
		groups.add(kind, suspected)
	}
	awaitLists(startup, c, groups[1:])
	s.markSettled()
	if ctx.Err() != nil {
		return 0, context.Cause(ctx)
	}
	if dead := c.cause(); dead != nil {
		return 0, dead
	}
	cancel()
	began := time.Now()
	s.readied.Add(1)
	s.update(func() {
		s.state, s.conn, s.since, s.problem, s.nextTry = StateReady, c, began, gateway.Text{}, time.Time{}
		s.took, s.first, s.remembered = began.Sub(tried), !s.remembered, true
		s.attempt, s.refused = attempt{}, nil
	})
	s.log.Info("server is ready", "era", c.protocol().era.String(), "tools", len(s.List(gateway.KindTool)))
	s.setUp(ctx, c)
	recheck := s.recheck(c.protocol())
	defer recheck.Stop()
	for {
		select {
		case <-ctx.Done():
			if errors.Is(context.Cause(ctx), errRestarted) {
				// It may have been ready only just now; calls under way are told.
				s.update(func() { s.state, s.conn = StateStarting, nil })
				c.end(errRestarted)
				s.pool.endAll()
			}
			return time.Since(began), ctx.Err()
		case <-c.lost():
			// Said before the connection is closed, which can take seconds:
			// nobody should be sent to it meanwhile.
			err := c.cause()
			state := StateDown
			if errors.Is(err, errNotResponding) {
				state = StateStarting // calls wait for the restart
			}
			s.update(func() {
				s.state, s.conn, s.since = state, nil, time.Now()
				s.problem, s.cause, s.nextTry = problem(err), causeOf(err), time.Now() // when it is closed, really
			})
			return time.Since(began), err
		case <-s.nudge:
			if s.signed.signInChanged(ctx) {
				s.update(func() { s.state, s.conn, s.since = StateStarting, nil, time.Now() })
				s.pool.endAll()
				return time.Since(began), errSignInChanged
			}
			groups.suspect()
		case <-recheck.C:
			groups.suspect()
		}
	}
}

func (s *Server) connect(ctx context.Context, set Settings, known SavedList, e listeners) (conn, error) {
	us := self{version: s.deps.Version, capabilities: allCapabilities}
	return s.dial(ctx, set, us, known.Era, e, []byte(noRoots))
}

// dial makes a connection, with settings that are the server's or those for
// some of its clients.
func (s *Server) dial(ctx context.Context, set Settings, us self, era gateway.Era, e listeners, roots []byte) (conn, error) {
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
