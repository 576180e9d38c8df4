package upstream

import (
	"time"

	"genkan/internal/gateway"
)

// Pinged is the result of a ping.
type Pinged struct {
	// Responded is set if anything came from the server, even if it was not the
	// answer to the ping.
	Responded bool
	Took      time.Duration
	// Busy is set if calls are in flight. A server that processes one request at
	// a time answers nothing meanwhile.
	Busy bool
	// Problem says why the server did not respond.
	Problem gateway.Text
}

// text is the state in words.
func (s State) text() gateway.Text {
	switch s {
	case StateStarting:
		return gateway.Textf("starting")
	case StateDown:
		return gateway.Textf("down")
	case StateNotResponding:
		return gateway.Textf("not responding")
	case StateReady, StateClosed:
	}
	return gateway.Textf("%s", string(s))
}

// Ping pings a ready server on the shared connection and waits at most for
// timeout. It ends a broken connection, so that the supervisor reconnects.
func (s *Server) Ping(timeout time.Duration) Pinged {
	s.mu.Lock()
	c, state := s.conn, s.state
	s.mu.Unlock()
	if c == nil {
		return Pinged{Problem: gateway.Textf("it is not ready: %s", state.text())}
	}
	began := time.Now()
	alive := s.ping(c, timeout)
	p := Pinged{Responded: alive, Took: time.Since(began), Busy: c.busy()}
	select {
	case <-c.lost(): // which ends a ping, too
		p.Responded, p.Problem = false, gateway.Textf("its connection broke: %s", problem(c.cause()))
	default:
		if !alive {
			p.Problem = gateway.Textf("nothing came from it within %s", timeout)
		}
	}
	return p
}
