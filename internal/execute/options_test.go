package execute

import (
	"testing"
	"testing/synctest"
	"time"

	"genkan/internal/gateway"
)

// Who says first how a call is carried out: its caller, the configuration of its
// tool, what is usual at its edge, and then what holds for all.
func TestWhoSaysHowACallIsCarriedOut(t *testing.T) {
	type options = gateway.ExecuteOptions
	all := func(timeout time.Duration, retries int, delay time.Duration) options {
		return options{Timeout: timeout, Retries: retries, RetryDelay: delay}
	}
	caller := options{Timeout: 5 * time.Second, Retries: 1, RetryDelay: time.Second}
	tool := options{Timeout: 20 * time.Minute, Retries: 3, RetryDelay: 2 * time.Second}
	usual := options{Timeout: 30 * time.Second, Retries: gateway.NoRetries, RetryDelay: 4 * time.Second}
	for name, c := range map[string]struct {
		caller, tool, usual options
		want                options
	}{
		"nobody":                       {want: all(time.Minute, 2, 200*time.Millisecond)},
		"what is usual":                {usual: usual, want: all(30*time.Second, 0, 4*time.Second)},
		"the tool":                     {tool: tool, usual: usual, want: tool},
		"the caller":                   {caller: caller, tool: tool, usual: usual, want: caller},
		"the caller, with one thing":   {caller: options{Retries: gateway.NoRetries}, tool: tool, usual: usual, want: all(20*time.Minute, 0, 2*time.Second)},
		"the caller, within ceilings":  {caller: all(time.Hour, 99, time.Hour), want: all(10*time.Minute, 10, time.Minute)},
		"the tool has no longest time": {tool: options{Timeout: 3 * time.Hour}, want: all(3*time.Hour, 2, 200*time.Millisecond)},
	} {
		t.Run(name, func(t *testing.T) {
			call := write(answers())
			call.Options, call.Tool.Options, call.Usual = c.caller, c.tool, c.usual
			e := New(limits())
			if got := all(e.timeout(call), e.retries(call), e.retryDelay(call)); got != c.want {
				t.Errorf("got %+v, want %+v", got, c.want)
			}
		})
	}
}

// A tool's own retries are subject to the same care: a write whose fate is
// unknown is sent once, whatever the configuration says.
func TestAToolsRetriesAreSafeToo(t *testing.T) {
	for name, c := range map[string]struct {
		err      gateway.Error
		readOnly bool
		sent     int
	}{
		"a write that may have arrived": {gateway.Error{Code: gateway.CodeUnavailable}, false, 1},
		"a write that never left":       {gateway.Error{Code: gateway.CodeUnavailable, Unsent: true}, false, 5},
		"a read":                        {gateway.Error{Code: gateway.CodeUnavailable}, true, 5},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ill := fails(c.err)
				call := write(ill)
				call.Tool.ReadOnly, call.Tool.Options.Retries = c.readOnly, 4
				_, err := New(limits()).Handle(t.Context(), call)
				wantCode(t, err, gateway.CodeUnavailable)
				if ill.seen() != c.sent {
					t.Errorf("sent %d times, want %d", ill.seen(), c.sent)
				}
			})
		})
	}
}
