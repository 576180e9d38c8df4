package upstream

import (
	"time"

	"genkan/internal/gateway"
)

// attempt is a try to get a server ready, which can take minutes and is looked
// at meanwhile.
type attempt struct {
	// began is zero when no try is under way.
	began time.Time
	// greeted is set when the server has said what it is.
	greeted bool
}

func (s *Server) attempted(change func(*attempt)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	change(&s.attempt)
}

// problemNow says why the server is not ready: what was wrong the last time,
// and what is waited for now. Called with mu held.
func (s *Server) problemNow(now time.Time) gateway.Text {
	if s.state == StateReady || s.state == StateClosed || s.attempt.began.IsZero() {
		return s.problem
	}
	ago := now.Sub(s.attempt.began).Round(time.Second)
	var waiting gateway.Text
	switch {
	case s.attempt.greeted && s.awaited() != gateway.KindTool:
		waiting = gateway.Textf("started %s ago, has not listed its %s yet", ago, s.awaited().String())
	case s.attempt.greeted:
		waiting = gateway.Textf("started %s ago, has not listed its tools yet", ago)
	case s.set.Command != "":
		waiting = gateway.Textf("started %s ago, has not answered `initialize` yet", ago)
	default:
		waiting = gateway.Textf("called %s ago, has not answered `initialize` yet", ago)
	}
	if s.state == StateDown {
		return gateway.Textf("%s; tried again: %s", s.problem, waiting)
	}
	return waiting
}

// awaited is the list that a start waits for. Called with mu held.
func (s *Server) awaited() gateway.Kind {
	for _, kind := range gateway.Kinds() {
		if !s.listStates[kind].asked.IsZero() {
			return kind
		}
	}
	return gateway.KindTool
}

// startTimeout is why a start is given up.
func (s *Server) startTimeout() error {
	return gateway.Errorf(gateway.CodeTimeout, "it did not finish starting within %s (startupTimeout)", s.set.StartupTimeout)
}

// startTimeoutDetail is why this start was given up.
func (s *Server) startTimeoutDetail() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.attempt.greeted {
		return gateway.Errorf(gateway.CodeTimeout,
			"it did not finish starting within %s (startupTimeout): it has not listed its tools", s.set.StartupTimeout)
	}
	return gateway.Errorf(gateway.CodeTimeout,
		"it did not finish starting within %s (startupTimeout): it has not answered `initialize`; is it an MCP server?", s.set.StartupTimeout)
}
