// Package record writes one line in the log and updates the metrics for each call.
// It is the first step of the corridor, so it also sees calls that later steps
// refuse. It never sees arguments.
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
	"genkan/internal/jsonrpc"
)

// Recorder records calls.
type Recorder struct {
	log      *slog.Logger
	pid      int
	run      string
	calls    atomic.Uint64
	registry *prometheus.Registry
	duration *prometheus.HistogramVec
	count    *prometheus.CounterVec
	refusals *Refusals
}

// New returns a Recorder with its own metrics.
func New(log *slog.Logger) *Recorder {
	r := &Recorder{
		log: log, pid: os.Getpid(), run: rand.Text()[:6],
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
		if call.RequestID == "" {
			call.RequestID = r.run + "-" + strconv.FormatUint(r.calls.Add(1), 10)
		}
		result, err := r.guarded(ctx, call, next)
		r.write(ctx, call, result, err, time.Since(began))
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
	outcome, text := verdict(result, err)
	// The name of an unknown tool is the caller's text. Callers could fill the
	// metrics and the log with it.
	server, tool := "", ""
	if call.Tool != nil {
		server, tool = call.Tool.Source.Name(), call.Tool.Exposed
		if call.Tool.Kind != gateway.KindTool {
			// URIs are unbounded in number, and can contain secrets.
			tool = call.Method
		}
	}
	if e := gateway.AsError(err); e != nil && e.Code == gateway.CodeInternal && e.Err != nil {
		// The error that the caller got refers to this line.
		r.log.ErrorContext(ctx, "a call failed inside", "request_id", call.RequestID, "error", e.Err)
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
	attrs := append(make([]slog.Attr, 0, 12),
		slog.String("operation", call.Method),
		slog.String("request_id", call.RequestID),
		slog.String("tool_name", tool),
		slog.Float64("response_time_ms", float64(took.Microseconds())/1000),
		slog.Bool("success", outcome == "ok"),
		slog.Int("process_id", r.pid),
		slog.String("client", call.Identity.ClientID),
		slog.String("server", server),
	)
	if text != "" {
		attrs = append(attrs, slog.String("error", text))
	}
	if call.Attempts > 1 {
		attrs = append(attrs, slog.Int("attempts", call.Attempts))
	}
	r.log.LogAttrs(ctx, slog.LevelInfo, "call", attrs...)
}

// verdict returns the outcome, and the part of the error that may be logged. A
// server's error can repeat arguments, so only its code is logged.
func verdict(result *gateway.Result, err error) (outcome, text string) {
	if err == nil {
		if result.IsError {
			return "tool_error", "the tool reported an error"
		}
		return "ok", ""
	}
	e := gateway.AsError(err)
	switch {
	case e.RPC != nil:
		return "server_error", fmt.Sprintf("the server answered with error %s", jsonrpc.Lookup(e.RPC, "code"))
	// The messages of these two codes repeat the caller's text: the name of the
	// tool, the names of its arguments.
	case e.Code == gateway.CodeNotFound:
		return e.Code.String(), "unknown tool"
	case e.Code == gateway.CodeInvalid:
		return e.Code.String(), "the call is not valid"
	default:
		return e.Code.String(), e.Text()
	}
}
