package upstream

import (
	"context"
	"errors"
	"io"
	"sync"
	"sync/atomic"
	"time"

	"genkan/internal/gateway"
)

const (
	// defaultPingTimeout is how long a server may take to answer a ping. It is
	// shorter than the timeout of REST calls, so that a call that arrives
	// meanwhile reaches the restarted server.
	defaultPingTimeout = 15 * time.Second
	// maxBusyPings is how many pings in a row must fail while calls are in
	// flight. A server that processes one request at a time answers nothing
	// meanwhile, and a restart would lose its work.
	maxBusyPings = 20
)

// errNotResponding closes a connection on which nothing arrives.
var errNotResponding = &gateway.Error{
	Code: gateway.CodeUnavailable, Message: "it stopped responding, so genkan restarts it",
}

// check is the liveness check of a connection whose calls got no answer.
type check struct {
	began time.Time
	// silent is set when the server counts as not responding: a call timed out
	// and nothing came meanwhile, or a ping failed. The next failed ping restarts
	// the server.
	silent bool
}

// unanswered starts a check after a call that ended without an answer. received
// is what c.received reported when the call was sent.
//
// Clients often give up before the call's own timeout, so a canceled call starts
// a check, too, but does not count as a silence by itself.
func (s *Server) unanswered(ctx context.Context, c conn, received uint64) {
	quiet := c.received() == received
	timedOut := gateway.AsError(context.Cause(ctx)).Code == gateway.CodeTimeout
	if !quiet && !timedOut {
		return
	}
	silent := quiet && timedOut
	s.update(func() {
		if one := s.checks[c]; one != nil {
			one.silent = one.silent || silent
			return
		}
		if s.life.Err() != nil {
			return
		}
		if s.checks == nil {
			s.checks = map[conn]*check{}
		}
		one := &check{began: time.Now(), silent: silent}
		s.checks[c] = one
		s.checking.Go(func() { s.check(c, one) })
	})
}

// check pings the server until it shows a sign of life or counts as dead.
func (s *Server) check(c conn, one *check) {
	defer s.update(func() { delete(s.checks, c) })
	for unanswered := 0; !s.ping(c, s.pingTimeout()); {
		var before bool
		s.update(func() { before, one.silent = one.silent, true })
		if before {
			unanswered++
		}
		if unanswered >= maxBusyPings || unanswered > 0 && !c.busy() {
			s.log.Warn("server does not respond and is restarted")
			s.update(func() {
				if s.conn == c { // from now on calls wait for the next connection
					s.state, s.conn, s.since, s.problem = StateStarting, nil, time.Now(), problem(errNotResponding)
				}
			})
			c.end(errNotResponding)
			return
		}
		if !before {
			s.log.Warn("server does not respond")
		}
	}
}

// ping asks for a sign of life. It reports false if nothing at all came from the
// server in time: a server that sends anything is busy, not dead.
func (s *Server) ping(c conn, timeout time.Duration) bool {
	before := c.received()
	ctx, cancel := context.WithTimeout(s.life, timeout)
	var asking sync.WaitGroup
	defer asking.Wait()
	defer cancel()
	method := "ping"
	if c.protocol().era == gateway.EraModern {
		method = "server/discover"
	}
	answered := make(chan error, 1)
	ask := func() {
		asking.Go(func() {
			_, err := c.ask(ctx, method, c.protocol().ownParams(""))
			answered <- err
		})
	}
	ask()
	broken := false
	const betweenLooks = 100 * time.Millisecond
	look := time.NewTicker(betweenLooks)
	defer look.Stop()
	for {
		select {
		case err := <-answered:
			switch e := gateway.AsError(err); {
			case e == nil || e.Code != gateway.CodeUnavailable || e.Answered:
			case e.Unsent:
				c.end(err) // it cannot be reached at all
				return true
			default:
				broken = true
			}
		case <-look.C:
			if broken { // the ping was lost with its HTTP connection
				broken = false
				ask()
			}
		case <-c.lost():
			return true // the supervisor takes over
		case <-ctx.Done():
			return c.received() != before || s.life.Err() != nil
		}
		if c.received() != before {
			return true
		}
	}
}

func (s *Server) pingTimeout() time.Duration {
	if s.deps.PingTimeout > 0 {
		return s.deps.PingTimeout
	}
	return defaultPingTimeout
}

// isSilent reports whether a connection counts as not responding. Called with mu
// held.
func (s *Server) isSilent(c conn) bool {
	if len(s.checks) == 0 {
		return false
	}
	one := s.checks[c]
	return one != nil && one.silent
}

// silence returns since when a connection does not respond. Called with mu held.
func (s *Server) silence(now time.Time) (gateway.Text, bool) {
	for c, one := range s.checks {
		switch ago := now.Sub(one.began).Round(time.Second); {
		case !one.silent:
		case c == s.conn:
			return gateway.Textf("a call got no answer, and nothing has come from the server since; it was pinged %s ago, and is restarted if it stays silent", ago), true
		default:
			return gateway.Textf("a call on a connection of one client got no answer, and nothing has come on it since; it was pinged %s ago, and is closed if it stays silent", ago), true
		}
	}
	return gateway.Text{}, false
}

// notResponding is the error of a call whose time ended before the server
// responded again.
func (s *Server) notResponding(ctx context.Context) error {
	return &gateway.Error{
		Code: gateway.AsError(context.Cause(ctx)).Code, Unsent: true, Err: errors.Join(context.Cause(ctx), errNotResponding),
		Message: "server %s does not respond, so the call was not sent; it is restarted if it stays silent. `genkan servers %s` shows how it is",
		Values:  []any{s.set.Name, s.set.Name},
	}
}

// countingReader counts the reads that brought something.
type countingReader struct {
	io.Reader

	reads atomic.Uint64
}

func (r *countingReader) Read(p []byte) (int, error) {
	n, err := r.Reader.Read(p)
	if n > 0 {
		r.reads.Add(1)
	}
	return n, err
}
