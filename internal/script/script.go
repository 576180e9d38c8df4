// Package script runs JavaScript that people and agents wrote, in worker processes
// that can be killed. No engine in this process would do: a script, or an answer of a
// server that a script reads, can exhaust the stack or the memory of the process that
// runs it, or spend minutes in one native call.
package script

import (
	"cmp"
	"context"
	"encoding/json"
	"time"

	"genkan/internal/gateway"
)

// Job is one run of a script.
type Job struct {
	Program *Program
	// Context is the JSON value that the script sees as context and ctx, and may
	// change. Vars and Params are those it sees as vars and params, frozen. A nil
	// value is an empty object.
	Context, Vars, Params json.RawMessage
	Limits                Limits
	// Host does what a script asks for; nil for a script that may ask for nothing.
	Host Host
}

// Limits bound a run. Zero means the default.
type Limits struct {
	// Time is how long the script may run, without the time in which it waits for
	// its host.
	Time time.Duration
	// Memory is how much the worker may grow, Payload how large each JSON value may
	// be that goes in or comes out, and Log what console may print, in bytes.
	Memory, Payload, Log int
	// Depth is how deep JSON values may be nested.
	Depth int
}

// The default limits.
const (
	DefaultTime    = time.Second
	DefaultMemory  = 64 << 20
	DefaultPayload = 1 << 20
	DefaultLog     = 64 << 10
	DefaultDepth   = 200
)

func (l Limits) orDefaults() Limits {
	return Limits{
		Time:    cmp.Or(l.Time, DefaultTime),
		Memory:  cmp.Or(l.Memory, DefaultMemory),
		Payload: cmp.Or(l.Payload, DefaultPayload),
		Log:     cmp.Or(l.Log, DefaultLog),
		Depth:   cmp.Or(l.Depth, DefaultDepth),
	}
}

// Host does for a script what the script cannot do itself. Its methods are called by
// several goroutines if the script does not await one before it begins the next. They
// must return when their context ends: a run waits for them.
type Host interface {
	// Call calls a tool and returns its result object.
	Call(ctx context.Context, tool string, arguments json.RawMessage) (json.RawMessage, error)
	// Fetch makes an HTTP request.
	Fetch(ctx context.Context, r Request) (Response, error)
	// GetState and SetState read and write a value that outlives the run. Setting
	// nil deletes it. After ttl it is deleted; 0 is no ttl.
	GetState(ctx context.Context, key string) (json.RawMessage, error)
	SetState(ctx context.Context, key string, value json.RawMessage, ttl time.Duration) error
	// AddState adds to a number in one step and returns the sum. A number that is new
	// is 0 before, and deleted after ttl.
	AddState(ctx context.Context, key string, by float64, ttl time.Duration) (float64, error)
}

// Request is what a script passes to fetch.
type Request struct {
	Method string            `json:"method"`
	URL    string            `json:"url"`
	Header map[string]string `json:"headers,omitempty"`
	Body   string            `json:"body,omitempty"`
}

// Response is what fetch gives to a script.
type Response struct {
	Status int               `json:"status"`
	Header map[string]string `json:"headers"`
	Body   string            `json:"body"`
}

// Result is what a run leaves.
type Result struct {
	// Returned is what the script returned; nil for nothing.
	Returned json.RawMessage
	// Context is the context as the script left it. Numbers are those of JavaScript.
	Context json.RawMessage
	Stats
}

// Stats describe a run, also one that failed.
type Stats struct {
	Console []Line
	// Queue is how long the run waited for a worker, Run how long the script ran, and
	// Wait how long it waited for its host.
	Queue, Run, Wait time.Duration
}

// Line is one line of a script's console.
type Line struct {
	Level string `json:"level"`
	Text  string `json:"text"`
}

// Kind tells why a run failed.
type Kind string

// The kinds.
const (
	Threw   Kind = "error"   // the script threw, or its promise was rejected
	Timeout Kind = "timeout" // it ran longer than it may
	Memory  Kind = "oom"     // it needed more memory than it may
	Crashed Kind = "crashed" // its worker ended
	Busy    Kind = "busy"    // no worker was free in time
	Tripped Kind = "tripped" // it was killed too often lately
	Refused Kind = "refused" // what goes in or comes out is too large or too deep

	Canceled Kind = "canceled" // the caller's context ended, or the pool was closed
)

// Error is why a run failed.
type Error struct {
	Kind    Kind
	Message string
	// Line and Column are places in the script as it was written, from 1; 0 if
	// unknown.
	Line, Column int
	// Killed is set if the script ran and was stopped, because it took too long or too much
	// memory, or crashed its worker.
	Killed bool
	// Err is the cause: that of the caller's context if it ended.
	Err error
	Stats
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

func (e *Error) Error() string { return e.Text().String() }

// Text is what the error says. What the engine throws is in English.
func (e *Error) Text() gateway.Text {
	if e.Line > 0 {
		return gateway.Textf("line %d, column %d: %s", e.Line, e.Column, gateway.Text{Format: e.Message})
	}
	return gateway.Text{Format: e.Message}
}
