package script

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"sync"
	"testing"
	"time"

	"genkan/internal/testkit"
)

func TestMain(m *testing.M) {
	Main()
	if len(os.Args) == 2 {
		switch os.Args[1] {
		case "script-probe":
			probe()
			os.Exit(0)
		case "script-echo":
			echo()
			os.Exit(0)
		case "script-parent":
			parent()
			os.Exit(0)
		}
	}
	testkit.Main(m)
}

// long is a time that no test reaches on a machine that works at all.
const long = 5 * time.Minute

// patient are limits for scripts that are not to blame if the machine is busy.
var patient = Limits{Time: long}

func newPool(tb testing.TB, opts Options) *Pool {
	if opts.QueueTime == 0 {
		opts.QueueTime = long
	}
	p := NewPool(opts)
	tb.Cleanup(p.Close)
	return p
}

func compile(tb testing.TB, p *Pool, source string) *Program {
	tb.Helper()
	program, err := p.Compile(context.Background(), "test", source)
	if err != nil {
		tb.Fatal(err)
	}
	return program
}

// run runs a source with a context.
func run1(tb testing.TB, p *Pool, source, input string, host Host) (Result, *Error) {
	tb.Helper()
	r, err := p.Run(context.Background(), Job{Program: compile(tb, p, source), Context: json.RawMessage(input), Limits: patient, Host: host})
	return r, failureOf(tb, err)
}

func failureOf(tb testing.TB, err error) *Error {
	tb.Helper()
	if err == nil {
		return nil
	}
	var failure *Error
	if !errors.As(err, &failure) {
		tb.Fatalf("%T is not an *Error: %v", err, err)
	}
	return failure
}

// fakeHost answers what the tests ask for.
type fakeHost struct {
	mu    sync.Mutex
	state map[string]json.RawMessage
	call  func(ctx context.Context, tool string, arguments json.RawMessage) (json.RawMessage, error)
	fetch func(ctx context.Context, r Request) (Response, error)
}

func (h *fakeHost) Call(ctx context.Context, tool string, arguments json.RawMessage) (json.RawMessage, error) {
	return h.call(ctx, tool, arguments)
}

func (h *fakeHost) Fetch(ctx context.Context, r Request) (Response, error) { return h.fetch(ctx, r) }

func (h *fakeHost) GetState(_ context.Context, key string) (json.RawMessage, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.state[key], nil
}

func (h *fakeHost) AddState(ctx context.Context, key string, by float64, ttl time.Duration) (float64, error) {
	raw, _ := h.GetState(ctx, key)
	var sum float64
	_ = json.Unmarshal(raw, &sum)
	sum += by
	raw, err := json.Marshal(sum)
	return sum, errors.Join(err, h.SetState(ctx, key, raw, ttl))
}

func (h *fakeHost) SetState(_ context.Context, key string, value json.RawMessage, _ time.Duration) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.state == nil {
		h.state = map[string]json.RawMessage{}
	}
	if h.state[key] = value; value == nil {
		delete(h.state, key)
	}
	return nil
}
