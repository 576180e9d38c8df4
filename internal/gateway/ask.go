package gateway

import (
	"context"
	"slices"
	"strings"
)

// Session is what the house knows of a client that keeps a connection or a
// legacy session. It never changes; a client that says something new gets a
// new one.
type Session struct {
	// ID tells sessions apart. It is no secret and opens nothing.
	ID string
	// Identity is the client's.
	Identity Identity
	// Capabilities is the client's own object, as it came; nil for none.
	Capabilities []byte
	// LogLevel is how loud servers may be; empty when the client did not say.
	LogLevel string
	// Dir is where the client works, when it is known; empty otherwise.
	Dir string
	// Roots counts how often the client said that its roots are others.
	Roots int
	// Peer reaches the client beside its calls, on whatever stream it has open:
	// what it is told without one waits for the next, and it can be asked until
	// the session is over. Nil when there is no such way.
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

// LogLevel is how loud the servers may be towards the caller. A modern caller
// that did not ask wants no log messages; a legacy one leaves it to the server.
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

// logLevels are those of MCP, from the one that lets most through.
var logLevels = []string{"debug", "info", "notice", "warning", "error", "critical", "alert", "emergency"}

// Quietness is a log level's place among the others: the higher, the less is
// said. It is -1 for what is no level.
func Quietness(level string) int { return slices.Index(logLevels, level) }

// Ask sends a request of the server's to the client and waits for the answer.
// The call's deadline stands still meanwhile: people take their time. That they
// do not answer says nothing about the server, which has shown that it lives.
func (c *Call) Ask(ctx context.Context, method string, params []byte) ([]byte, error) {
	if c.Peer == nil {
		return nil, Errorf(CodeInvalid, "the server asks the client for %s, and this caller cannot be asked anything", method)
	}
	defer c.Hold()()
	answer, err := c.Peer.Ask(ctx, method, params)
	if err != nil {
		e := *AsError(err)
		e.Answered = true
		return nil, &e
	}
	return answer, nil
}

// Hold stops the call's clock, until resume is called, for one whose server
// waits for the client without asking it in this call.
func (c *Call) Hold() (resume func()) {
	if hold := c.hold.Load(); hold != nil {
		return (*hold)()
	}
	return func() {}
}

// OnAsk sets what stops the call's clock while its client is asked; it returns
// what starts it again.
func (c *Call) OnAsk(hold func() (resume func())) { c.hold.Store(&hold) }
