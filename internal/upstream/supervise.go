package upstream

import (
	"context"
	"errors"
	"sync"
	"time"

	"genkan/internal/gateway"
)

// supervise keeps the server connected until ctx ends.
func (s *Server) supervise(ctx context.Context) {
	defer close(s.done)
	restartBackoff := newRestartBackoff()
	var down outage
	for {
		if ctx.Err() != nil { // closed while it was down
			s.markSettled()
			s.update(func() { s.state, s.conn = StateClosed, nil })
			return
		}
		select {
		case <-s.nudge: // this round answers it
		default:
		}
		round, cancelRound := context.WithCancelCause(ctx)
		s.mu.Lock()
		s.cancelRound = cancelRound
		s.mu.Unlock()
		ready, err := s.serve(round)
		wanted := errors.Is(context.Cause(round), errRestarted)
		eraChanged := errors.Is(context.Cause(round), errEraChanged)
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
		if eraChanged {
			s.log.Info("the server is started again in the era of its first client")
			continue
		}
		if wanted {
			s.log.Info("the server is restarted, as somebody wanted")
			restartBackoff = newRestartBackoff()
			continue
		}
		if s.reopenFailed(err) {
			continue
		}
		wait := restartBackoff.next(ready)
		var refused *gateway.Error
		if needsPerson(err) {
			wait, refused = signInRetry, gateway.AsError(err)
		}
		if ready > 0 {
			down = outage{}
		}
		if line := down.failed(err, time.Now()); line != "" {
			s.log.Warn(line, "error", err, "failures", down.failures, "next_try_ms", wait.Milliseconds())
		}
		s.update(func() {
			s.state, s.conn, s.since, s.refused = StateDown, nil, down.since, refused
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

// signInRetry is the time between attempts to reach a server that wants a sign-in.
// A sign-in calls Try, so the next attempt need not come soon.
const signInRetry = 5 * time.Minute

// errSignInChanged closes a connection whose session belongs to a former sign-in.
var errSignInChanged = errors.New("the sign-in is another one")

// waitForReplacement waits until the server is closed: a configuration in which
// nothing is missing opens another Server.
func (s *Server) waitForReplacement(ctx context.Context, err error) {
	s.log.Warn("server is not started", "error", err)
	s.update(func() { s.state, s.since, s.problem = StateDown, time.Now(), problem(err) })
	<-ctx.Done()
	s.update(func() { s.state = StateClosed })
}

// serve connects once and returns when the connection is lost. It returns how long
// the server was ready.
func (s *Server) serve(ctx context.Context) (ready time.Duration, err error) {
	if len(s.set.Lacking.Each) > 0 {
		return 0, gateway.Errorf(gateway.CodeUnavailable, "%s", gateway.Private{
			Full:   gateway.Textf("it lacks something: %s", s.set.Lacking),
			Public: gateway.Textf("it lacks a secret or a variable; ask whoever runs this genkan to set it"),
		})
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
	if set.usesWorkspace() { // this connection is used for lists only
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
		// Only the tools are required: a server that cannot list its prompts still
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
		s.used, s.reopened = s.reopened, false
		s.otherRefused = s.otherRefused && s.set.Command != ""
		s.arrange()
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
				// It may have become ready after Restart was called.
				s.update(func() { s.state, s.conn = StateStarting, nil })
				c.end(errRestarted)
				s.pool.endAll()
			}
			return time.Since(began), ctx.Err()
		case <-c.lost():
			// Closing can take seconds, so the state changes first: no call must
			// be sent to the lost connection.
			err := c.cause()
			state := StateDown
			if errors.Is(err, errNotResponding) {
				state = StateStarting // calls wait for the restart
			}
			s.update(func() {
				s.state, s.conn, s.since = state, nil, time.Now()
				s.problem, s.cause, s.nextTry = problem(err), causeOf(err), time.Now() // as soon as it is closed
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
	return s.dial(ctx, set, us, s.eraToOpen(&known), e, []byte(noRoots))
}

// dial opens a connection. set are the server's settings, or those for a client's
// workspace.
func (s *Server) dial(ctx context.Context, set Settings, us self, era gateway.Era, e listeners, roots []byte) (conn, error) {
	if roots == nil {
		roots = []byte(noRoots)
	}
	if set.Command != "" {
		return connectStdio(ctx, s, &set, us, era, e, roots)
	}
	return connectURL(ctx, s, us, era, e, roots)
}
