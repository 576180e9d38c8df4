package execute

import (
	"context"
	"encoding/json"
	"errors"
	"sync"
	"testing"

	"genkan/internal/gateway"
	"genkan/internal/testkit"
)

func TestMain(m *testing.M) { testkit.Main(m) }

// source is a room that answers as the test says. Each call is one attempt.
type source struct {
	name   string
	handle func(ctx context.Context, call *gateway.Call) (*gateway.Result, error)

	mu       sync.Mutex
	attempts int
}

func (s *source) Name() string                     { return s.name }
func (s *source) List(gateway.Kind) []gateway.Tool { return nil }

func (s *source) Handle(ctx context.Context, call *gateway.Call) (*gateway.Result, error) {
	s.mu.Lock()
	s.attempts++
	s.mu.Unlock()
	return s.handle(ctx, call)
}

func (s *source) seen() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.attempts
}

// fails is a source that always fails with a copy of the error.
func fails(e gateway.Error) *source {
	return &source{name: "ill", handle: func(context.Context, *gateway.Call) (*gateway.Result, error) {
		again := e
		return nil, &again
	}}
}

var done = &gateway.Result{Raw: []byte(`{"content":[]}`)}

func answers() *source {
	return &source{name: "well", handle: func(context.Context, *gateway.Call) (*gateway.Result, error) { return done, nil }}
}

// hangs is a source that answers nothing until nobody waits any more.
func hangs() *source {
	return &source{name: "hung", handle: func(ctx context.Context, _ *gateway.Call) (*gateway.Result, error) {
		<-ctx.Done()
		return nil, context.Cause(ctx)
	}}
}

// write is a call whose second sending could do harm; read is one that may be
// sent again.
func write(s gateway.Source) *gateway.Call {
	return &gateway.Call{Method: "tools/call", Tool: &gateway.Tool{Name: "write", Exposed: "ill__write", Source: s}}
}

func read(s gateway.Source) *gateway.Call {
	call := write(s)
	call.Tool.ReadOnly = true
	return call
}

// wantCode checks an error's code. It returns a copy, which is no error to be
// checked.
func wantCode(t *testing.T, err error, code gateway.Code) gateway.Error {
	t.Helper()
	var e *gateway.Error
	if !errors.As(err, &e) {
		t.Fatalf("got %v, want a *gateway.Error", err)
	}
	if e.Code != code {
		t.Fatalf("got %s (%v), want %s", e.Code, err, code)
	}
	return *e
}

var rpcError = json.RawMessage(`{"code":-32000,"message":"no"}`)
