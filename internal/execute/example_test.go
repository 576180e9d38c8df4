package execute_test

import (
	"context"
	"fmt"
	"time"

	"genkan/internal/execute"
	"genkan/internal/gateway"
)

// flaky is a source that is not reachable at the first attempt.
type flaky struct{ attempts int }

func (*flaky) Name() string                     { return "flaky" }
func (*flaky) List(gateway.Kind) []gateway.Tool { return nil }

func (f *flaky) Handle(context.Context, *gateway.Call) (*gateway.Result, error) {
	if f.attempts++; f.attempts == 1 {
		return nil, &gateway.Error{Code: gateway.CodeUnavailable, Message: "not reachable", Unsent: true}
	}
	return &gateway.Result{Raw: []byte(`{"content":[]}`)}, nil
}

// A call that was not sent is sent again.
func Example() {
	limits := execute.DefaultLimits()
	limits.RetryDelay = time.Millisecond
	executor := execute.New(limits)

	source := &flaky{}
	call := &gateway.Call{Method: "tools/call", Tool: &gateway.Tool{Name: "read", Source: source}}
	result, err := executor.Handle(context.Background(), call)
	fmt.Println(string(result.Raw), err, source.attempts)
	// Output: {"content":[]} <nil> 2
}
