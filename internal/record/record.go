// Package record writes one line in the log, updates the metrics and adds an entry to
// the call history for each call. It is the first step of the corridor, so it also
// sees calls that later steps refuse. It never logs arguments.
//
// The registry of metrics is here, too. Workflows count their runs themselves;
// MeasureWorkflows makes metrics of that.
package record

import (
	"context"
	"crypto/rand"
	"fmt"
	"log/slog"
	"os"
	"runtime/debug"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"

	"genkan/internal/gateway"
)

// Recorder records calls.
type Recorder struct {
	log      *slog.Logger
	redact   func(server, text string) string
	pid      int
	run      string
	calls    atomic.Uint64
	registry *prometheus.Registry
	duration *prometheus.HistogramVec
	count    *prometheus.CounterVec
	refusals *Refusals
	keeper   keeper
	running  running
}

// New returns a Recorder with its own metrics. redact masks what may be secret in a
// text that a server has sent.
func New(log *slog.Logger, redact func(server, text string) string) *Recorder {
	r := &Recorder{
		log: log, redact: redact, pid: os.Getpid(), run: rand.Text()[:6],
		registry: prometheus.NewRegistry(),
		refusals: newRefusals(log),
		duration: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name:    "genkan_call_duration_seconds",
			Help:    "How long calls took, from the door to the answer.",
			Buckets: []float64{.001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10, 30, 60, 300, 600},
		}, []string{"server"}),
		count: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "genkan_calls_total",
			Help: "Calls by tool and outcome: ok, tool_error, or the code of the failure.",
		}, []string{"server", "tool", "outcome"}),
	}
	r.registry.MustRegister(r.duration, r.count, r.refusals.count,
		collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	return r
}

// Registry returns the registry to which other packages add their metrics.
func (r *Recorder) Registry() *prometheus.Registry { return r.registry }

// Refusals returns the record of requests that are refused before they become
// calls.
func (r *Recorder) Refusals() *Refusals { return r.refusals }

// Middleware records every call that passes.
func (r *Recorder) Middleware(next gateway.Handler) gateway.Handler {
	return gateway.HandlerFunc(func(ctx context.Context, call *gateway.Call) (*gateway.Result, error) {
		began := time.Now()
		// A call that a workflow or a script makes has an ID of its own. One that is the
		// rest of its parent does not.
		if call.RequestID == "" || call.Parent != nil && !call.Included {
			call.RequestID = r.run + "-" + strconv.FormatUint(r.calls.Add(1), 10)
		}
		asked := call.Params.Raw
		result, err := r.guarded(ctx, call, next)
		took := time.Since(began)
		r.keep(call, asked, result, err, began, took)
		r.write(ctx, call, result, err, took)
		return result, err
	})
}

// guarded turns a panic in a later step into the failure of this call.
func (r *Recorder) guarded(ctx context.Context, call *gateway.Call, next gateway.Handler) (result *gateway.Result, err error) {
	defer func() {
		if cause := recover(); cause != nil {
			r.log.Error("a call panicked", "request_id", call.RequestID, "error", fmt.Sprint(cause), "stack", string(debug.Stack()))
			result, err = nil, &gateway.Error{
				Code:    gateway.CodeInternal,
				Message: "something went wrong inside genkan; its log has the details under %s",
				Values:  []any{call.RequestID},
			}
		}
	}()
	return next.Handle(ctx, call)
}

func (r *Recorder) write(ctx context.Context, call *gateway.Call, result *gateway.Result, err error, took time.Duration) {
	outcome := outcomeOf(result, err)
	server, tool := target(call, err)
	if outcome == gateway.CodeInternal.String() && gateway.AsError(err).Err != nil {
		// The error that the caller got refers to this line.
		r.log.ErrorContext(ctx, "a call failed inside", "request_id", call.RequestID, "error", gateway.AsError(err).Err)
	}
	if call.Tool == nil && outcome == gateway.CodeNotFound.String() {
		// The line below records it.
		r.refusals.count.WithLabelValues("unknown_tool").Inc()
	}
	r.duration.WithLabelValues(server).Observe(took.Seconds())
	r.count.WithLabelValues(server, tool, outcome).Inc()
	if !r.log.Enabled(ctx, slog.LevelInfo) {
		return
	}
	if tool == "" && call.Kind == gateway.KindTool {
		// The name of an unknown tool is the caller's text. It is in the log only, because
		// callers could fill the metrics with it.
		tool = r.clean(server, gateway.Short(call.Name))
	}
	attrs := append(make([]slog.Attr, 0, 13),
		slog.String("operation", call.Method),
		slog.String("request_id", call.RequestID),
		slog.String("tool_name", tool),
		slog.Float64("response_time_ms", float64(took.Microseconds())/1000),
		slog.Bool("success", outcome == "ok"),
		slog.Int("process_id", r.pid),
		slog.String("client", call.Identity.ClientID),
		slog.String("server", server),
	)
	if outcome != "ok" {
		attrs = append(attrs, slog.String("error", r.reason(call, server, result, err)))
	}
	if isHidden(err) {
		attrs = append(attrs, slog.Bool("hidden_from_client", true))
	}
	if call.Attempts > 1 {
		attrs = append(attrs, slog.Int("attempts", call.Attempts))
	}
	r.log.LogAttrs(ctx, slog.LevelInfo, "call", attrs...)
}

// target returns the server and the tool of a call, also of one that failed before they were
// resolved. A name that no server lists is left out: callers make up such names. For
// prompts and resources the tool is the method: URIs are unbounded in number, and can
// contain secrets.
func target(call *gateway.Call, err error) (server, tool string) {
	t := call.Tool
	if e := gateway.AsError(err); t == nil && e != nil {
		t = e.Meant
	}
	switch {
	case t == nil:
		return "", ""
	case t.Kind != gateway.KindTool:
		return t.Source.Name(), call.Method
	}
	return t.Source.Name(), t.Exposed
}

// isHidden reports whether a call failed because its tool is hidden from the caller.
func isHidden(err error) bool {
	e := gateway.AsError(err)
	return e != nil && e.Hidden
}

// outcomeOf returns the outcome of a call.
func outcomeOf(result *gateway.Result, err error) string {
	switch {
	case err == nil && result.IsError:
		return "tool_error"
	case err == nil:
		return "ok"
	}
	e := gateway.AsError(err)
	if e.RPC != nil {
		return "server_error"
	}
	return e.Code.String()
}
