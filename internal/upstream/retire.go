package upstream

import (
	"context"
	"time"
)

// Hold keeps the server from being retired until Release. It reports false when
// the server is leaving: the call is for its successor.
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

// Retire waits until no call is in flight, or until ctx ends, and closes the
// server. It is used for servers that leave the configuration.
func (s *Server) Retire(ctx context.Context) {
	defer s.Close()
	poll := time.NewTicker(20 * time.Millisecond)
	defer poll.Stop()
	for {
		// Check twice: a call may Hold between the first check and leaving.
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
