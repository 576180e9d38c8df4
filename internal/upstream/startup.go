package upstream

import (
	"time"

	"genkan/internal/gateway"
)

// attempt is an attempt to connect. It can take minutes, and Status shows it.
type attempt struct {
	// began is zero when no attempt is running.
	began time.Time
	// greeted is set when the handshake has succeeded.
	greeted bool
}

func (s *Server) attempted(change func(*attempt)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	change(&s.attempt)
}

// problemNow returns why the server is not ready: the last problem, and what the
// current attempt waits for. Called with mu held.
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

// awaited returns the list that the start waits for. Called with mu held.
func (s *Server) awaited() gateway.Kind {
	for _, kind := range gateway.Kinds() {
		if !s.listStates[kind].asked.IsZero() {
			return kind
		}
	}
	return gateway.KindTool
}

// startTimeout is the cause of a start that took too long.
func (s *Server) startTimeout() error {
	return gateway.Errorf(gateway.CodeTimeout, "it did not finish starting within %s (startupTimeout)", s.set.StartupTimeout)
}

// startTimeoutDetail is the error of a start that took too long, with the step
// that it did not finish.
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
