package gateway

import (
	"context"
	"slices"
	"strings"
)

// Session is what genkan knows of a client that has a connection or a legacy
// session. It is immutable: when a client says something new, it gets a new Session.
type Session struct {
	// ID tells sessions apart. It is no secret and opens nothing.
	ID string
	// Identity is the client's.
	Identity Identity
	// Client is the program, as it calls itself; empty if it does not.
	Client string
	// Capabilities is the client's own object, as it came; nil for none.
	Capabilities []byte
	// LogLevel is the lowest level of log messages that the client wants; empty if
	// it did not say.
	LogLevel string
	// Dir is the client's working directory, when it is known; empty otherwise. The
	// client states its roots itself.
	Dir string
	// Roots counts how often the client announced that its roots changed.
	Roots int
	// Peer reaches the client outside of its calls, on any stream that it has open.
	// Notifications wait for the next stream if there is none. Nil if the client
	// cannot be reached.
	Peer Peer
}

// Capabilities are the caller's, as the JSON object that it sent; nil for a
// caller that has none.
func (c *Call) Capabilities() []byte {
	if c.Era == EraModern {
		return c.Params.Get(c.Params.ClientCapabilities)
	}
	if c.Session != nil {
		return c.Session.Capabilities
	}
	return nil
}

// LogLevel is the lowest level of log messages that the caller wants. A modern
// caller that did not ask wants none; a legacy caller leaves it to the server.
func (c *Call) LogLevel() (level string, wanted bool) {
	switch {
	case c.Era == EraModern:
		level = strings.Trim(string(c.Params.Get(c.Params.LogLevel)), `"`)
		return level, level != ""
	case c.Session != nil:
		return c.Session.LogLevel, true
	default:
		return "", false
	}
}

// logLevels are the levels of MCP, from the lowest to the highest.
var logLevels = []string{"debug", "info", "notice", "warning", "error", "critical", "alert", "emergency"}

// Quietness is the rank of a log level, from the lowest level on; -1 for a name that
// is no level.
func Quietness(level string) int { return slices.Index(logLevels, level) }

// Ask sends a server's request to the client and waits for the answer. The call's
// clock stands still meanwhile, because a person may have to answer.
func (c *Call) Ask(ctx context.Context, method string, params []byte) ([]byte, error) {
	if c.Peer == nil {
		return nil, Errorf(CodeInvalid, "the server asks the client for %s, and this caller cannot be asked anything", method)
	}
	defer c.PauseClock()()
	answer, err := c.Peer.Ask(ctx, method, params)
	if err != nil {
		e := *AsError(err)
		e.Answered = true
		return nil, &e
	}
	return answer, nil
}

// PauseClock stops the call's clock until resume is called. It is for a call whose
// server waits for the client outside of this call.
func (c *Call) PauseClock() (resume func()) {
	if pause := c.pause.Load(); pause != nil {
		return (*pause)()
	}
	return func() {}
}

// OnPause sets the function that PauseClock calls.
func (c *Call) OnPause(pause func() (resume func())) { c.pause.Store(&pause) }
