package client

import (
	"bufio"
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"strings"
	"time"

	"genkan/internal/gateway"
)

// Event is something that happened.
type Event struct {
	ID     string          `json:"id" doc:"Where to resume: in the header Last-Event-ID, or as after."`
	Topic  string          `json:"topic,omitempty" doc:"calls, servers, tools, config, progress, workflows, approvals or items; empty for dropped."`
	Name   string          `json:"name" doc:"What happened: call.started, call.progress, call.ended, server.state, tools.changed, tool.edited, config.reloaded, config.failed, progress, workflow.run, workflow.stored, workflow.enabled, workflow.disabled, workflow.deleted, workflow.tested, module.stored, module.deleted, workflows.on, workflows.off, approval.opened, approval.closed, items.changed, or dropped."`
	Time   time.Time       `json:"time"`
	Client string          `json:"client,omitempty" doc:"The client whose event it is; empty for everyone's."`
	Data   json.RawMessage `json:"data,omitempty" doc:"What else there is to say; docs/rest.md has its fields for each name."`
}

// The names of events.
const (
	EventCallStarted    = "call.started"
	EventCallProgress   = "call.progress"
	EventCallEnded      = "call.ended"
	EventServerState    = "server.state"
	EventToolsChanged   = "tools.changed"
	EventToolEdited     = "tool.edited"
	EventConfigReloaded = "config.reloaded"
	EventConfigFailed   = "config.failed"
	EventProgress       = "progress"
	EventWorkflowRun    = "workflow.run"
	EventApprovalOpened = "approval.opened"
	EventApprovalClosed = "approval.closed"
	EventItemsChanged   = "items.changed"
	EventDropped        = "dropped"
)

// CallStarted is the data of call.started. Its fields are those of CallEntry.
type CallStarted struct {
	ID        string    `json:"id"`
	Parent    string    `json:"parent,omitempty"`
	StartedAt time.Time `json:"startedAt"`
	Client    string    `json:"client"`
	Program   string    `json:"program,omitempty"`
	Method    string    `json:"method"`
	Server    string    `json:"server,omitempty"`
	Tool      string    `json:"tool,omitempty"`
	Through   string    `json:"through,omitempty"`
	Arguments string    `json:"arguments,omitempty" doc:"In a list of calls only; as there."`
}

// CallProgress is the data of call.progress: how far the server is, as it counts. Total is 0
// if it does not say.
type CallProgress struct {
	ID     string  `json:"id"`
	Server string  `json:"server,omitempty"`
	Tool   string  `json:"tool,omitempty"`
	Done   float64 `json:"done"`
	Total  float64 `json:"total,omitempty"`
}

// CallEnded is the data of call.ended.
type CallEnded struct {
	CallStarted

	TookMillis  float64 `json:"tookMillis"`
	Outcome     string  `json:"outcome"`
	Error       string  `json:"error,omitempty"`
	Attempts    int     `json:"attempts"`
	BytesIn     int     `json:"bytesIn"`
	BytesOut    int     `json:"bytesOut"`
	TokensIn    int     `json:"tokensIn"`
	TokensOut   int     `json:"tokensOut"`
	TokensSaved int     `json:"tokensSaved,omitempty"`
}

// StateRemoved is the state of a server that has left the configuration, in an event.
const StateRemoved = "removed"

// ServerEvent is the data of server.state. Its fields are those of Server.
type ServerEvent struct {
	Name    string `json:"name"`
	State   string `json:"state"`
	Problem string `json:"problem,omitempty"`
	Cause   string `json:"cause,omitempty"`
	SignIn  string `json:"signIn,omitempty"`
	Tools   int    `json:"tools"`
}

// ToolsEvent is the data of tools.changed: a list of a server, and how many of it
// clients see now.
type ToolsEvent struct {
	Server string `json:"server"`
	Kind   string `json:"kind"`
	Count  int    `json:"count"`
}

// ToolEdited is the data of tool.edited: what people say about a tool was changed.
type ToolEdited struct {
	Server string `json:"server"`
	Tool   string `json:"tool"`
}

// ItemsEvent is the data of items.changed: the number of the last write to the knowledge
// base.
type ItemsEvent struct {
	Sequence int64 `json:"sequence"`
}

// ConfigEvent is the data of config.reloaded, which has Servers for administrators, and
// config.failed, which has Error.
type ConfigEvent struct {
	Servers int    `json:"servers,omitempty"`
	Error   string `json:"error,omitempty"`
}

// ProgressEvent is the data of progress.
type ProgressEvent struct {
	// ID tells pieces of work apart that run at the same time.
	ID       int64  `json:"id"`
	Work     string `json:"work"`
	Done     int64  `json:"done"`
	Total    int64  `json:"total"`
	Finished bool   `json:"finished,omitempty"`
	// Error is why the work did not succeed.
	Error string `json:"error,omitempty"`
}

// The events about a change of workflows or hook modules begin with one of these, and end
// with what was done: stored, enabled, disabled, deleted, tested, on or off.
const (
	EventWorkflow  = "workflow."
	EventModule    = "module."
	EventWorkflows = "workflows."
)

// WorkflowRun is the data of workflow.run.
type WorkflowRun struct {
	Workflow   string    `json:"workflow"`
	Version    int       `json:"version"`
	Mode       string    `json:"mode"`
	Call       string    `json:"call,omitempty"`
	StartedAt  time.Time `json:"startedAt"`
	TookMillis float64   `json:"tookMillis"`
	Outcome    string    `json:"outcome"`
	Changed    bool      `json:"changed"`
	Sent       bool      `json:"sent"`
	Detached   bool      `json:"detached,omitempty"`
}

// WorkflowChange is the data of the events about changes. Version is that of what was
// stored, enabled or disabled, and By who turned all workflows on or off.
type WorkflowChange struct {
	ID      string `json:"id,omitempty"`
	Version int    `json:"version,omitempty"`
	By      string `json:"by,omitempty"`
}

// ApprovalEvent is the data of approval.opened and approval.closed. Its fields are those
// of Approval.
type ApprovalEvent struct {
	ID        string    `json:"id"`
	Workflow  string    `json:"workflow"`
	Node      string    `json:"node"`
	Call      string    `json:"call,omitempty"`
	Client    string    `json:"client"`
	Server    string    `json:"server,omitempty"`
	Tool      string    `json:"tool,omitempty"`
	AskedAt   time.Time `json:"askedAt"`
	ExpiresAt time.Time `json:"expiresAt"`
	InClient  bool      `json:"inClient,omitempty"`
	// Decision is how it ended: approved, denied, expired, or canceled with its call. By
	// is who decided.
	Decision string `json:"decision,omitempty"`
	By       string `json:"by,omitempty"`
}

// DroppedEvent is the data of dropped. Missed is at most how many events the reader
// has missed; -1 if that is not known.
type DroppedEvent struct {
	Missed int64 `json:"missed"`
}

const (
	// eventSilence is how long a stream may be silent. Genkan sends something every 15
	// seconds.
	eventSilence = 45 * time.Second
	// longestEvent bounds an event, in bytes.
	longestEvent = 4 << 20
	// A stream that broke is opened again after firstReconnect. The time doubles up to
	// lastReconnect while that fails.
	firstReconnect, lastReconnect = time.Second, 15 * time.Second
)

// Events calls receive with each event of some topics, or of all if there are none,
// that follows the one with the id after, until ctx ends or receive fails. It
// reconnects when the connection breaks, and resumes. It returns the errors of the
// first attempt to connect, and those that another attempt would not mend.
func (c *Client) Events(ctx context.Context, topics []string, after string, receive func(Event) error) error {
	wait := firstReconnect
	for connected := false; ; {
		s := eventStream{after: after, receive: receive, again: connected}
		err := c.follow(ctx, topics, &s)
		after = s.after
		switch {
		case s.failed != nil:
			return s.failed
		case ctx.Err() != nil:
			return &gateway.Error{Code: gateway.CodeCanceled, Err: ctx.Err(), Message: "canceled"}
		case !s.opened && (!connected || !mayPass(err)):
			return err
		case s.opened:
			connected, wait = true, firstReconnect
			c.tellConnection(err)
		}
		pause := time.NewTimer(max(wait, gateway.AsError(err).RetryAfter))
		wait = min(2*wait, lastReconnect)
		select {
		case <-pause.C:
		case <-ctx.Done():
		}
		pause.Stop()
	}
}

func (c *Client) tellConnection(err error) {
	if c.Connection != nil {
		c.Connection(err)
	}
}

// mayPass reports whether a failure to connect may not happen again.
func mayPass(err error) bool {
	switch gateway.AsError(err).Code {
	case gateway.CodeUnavailable, gateway.CodeLimited, gateway.CodeTimeout, gateway.CodeInternal:
		return true
	default:
		return false
	}
}

// eventStream is one connection of Events.
type eventStream struct {
	after   string
	receive func(Event) error
	// again is set if an earlier connection broke.
	again bool
	// opened is set when genkan has answered with a stream.
	opened bool
	// failed is the error of receive.
	failed error
}

// follow opens a stream and reads it to its end. It returns why that ended.
func (c *Client) follow(ctx context.Context, topics []string, s *eventStream) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	q := url.Values{}
	if len(topics) > 0 {
		q.Set("topics", strings.Join(topics, ","))
	}
	if s.after != "" {
		q.Set("after", s.after)
	}
	resp, err := c.send(ctx, http.MethodGet, "/v1/events?"+q.Encode(), nil)
	if err != nil {
		return err
	}
	defer func() { _ = resp.Body.Close() }()
	if resp.StatusCode != http.StatusOK {
		return c.read(resp, &struct{}{})
	}
	s.opened = true
	if s.again {
		c.tellConnection(nil)
	}
	silence := time.AfterFunc(eventSilence, cancel)
	defer silence.Stop()
	lines := bufio.NewScanner(resp.Body)
	lines.Buffer(nil, longestEvent)
	id, data := s.after, ""
	for lines.Scan() {
		silence.Reset(eventSilence)
		field, value, _ := strings.Cut(lines.Text(), ":")
		value = strings.TrimPrefix(value, " ")
		switch {
		case field == "id":
			id = value
		case field == "data":
			data = value // genkan writes an event on one line
		case lines.Text() == "":
			if data != "" && !s.deliver(data) {
				return nil
			}
			s.after, data = id, ""
		}
	}
	return &gateway.Error{Code: gateway.CodeUnavailable, Err: lines.Err(), Message: "the connection to genkan broke; look into its log, and try again"}
}

// deliver passes an event on. It reports false if the receiver failed.
func (s *eventStream) deliver(data string) bool {
	var e Event
	if json.Unmarshal([]byte(data), &e) != nil {
		return true // of a later version
	}
	s.failed = s.receive(e)
	return s.failed == nil
}
