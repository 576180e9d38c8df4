package upstream

import (
	"time"

	"genkan/internal/gateway"
)

// Pinged is what came of a ping.
type Pinged struct {
	// Responded is set if anything came from the server: one that sends something
	// works, even if it has not answered the ping yet.
	Responded bool
	Took      time.Duration
	// Busy is set if calls wait for their answers. A server that works on one request
	// at a time answers nothing meanwhile.
	Busy bool
	// Problem says why the server did not respond.
	Problem gateway.Text
}

// Ping asks a ready server for a sign of life on the connection that its clients
// share, and waits at most for timeout. A connection that turns out to be broken is
// made anew, as after a call.
func (s *Server) Ping(timeout time.Duration) Pinged {
	s.mu.Lock()
	c, state := s.conn, s.state
	s.mu.Unlock()
	if c == nil {
		return Pinged{Problem: gateway.Textf("it is not ready: %s", string(state))}
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
