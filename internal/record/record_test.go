package record

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"testing"

	"github.com/prometheus/client_golang/prometheus"

	"genkan/internal/gateway"
	"genkan/internal/history"
	"genkan/internal/testkit"
)

func TestMain(m *testing.M) { testkit.Main(m) }

type source string

func (s source) Name() string                     { return string(s) }
func (s source) List(gateway.Kind) []gateway.Tool { return nil }
func (s source) Handle(context.Context, *gateway.Call) (*gateway.Result, error) {
	return nil, errors.New("never asked")
}

// recorder is a recorder over a corridor that answers as the test says.
func recorder(answer gateway.HandlerFunc) (r *Recorder, h gateway.Handler, log *bytes.Buffer) {
	log = &bytes.Buffer{}
	r = New(slog.New(slog.NewJSONHandler(log, nil)), redacted)
	return r, r.Middleware(answer), log
}

// redacted masks the secret of a server.
func redacted(server, text string) string {
	return strings.ReplaceAll(text, "secret-of-"+server, "***")
}

// resolved answers as a corridor does that has found the tool.
func resolved(result *gateway.Result, err error) gateway.HandlerFunc {
	return func(_ context.Context, call *gateway.Call) (*gateway.Result, error) {
		call.Tool = &gateway.Tool{Name: "t", Exposed: "srv__t", Source: source("srv")}
		return result, err
	}
}

func line(t *testing.T, log *bytes.Buffer) map[string]any {
	t.Helper()
	var fields map[string]any
	if err := json.Unmarshal(log.Bytes(), &fields); err != nil {
		t.Fatalf("%v: %s", err, log)
	}
	return fields
}

// counted are the calls by "server tool outcome".
func counted(t *testing.T, r *Recorder) map[string]float64 {
	t.Helper()
	families, err := r.Registry().Gather()
	if err != nil {
		t.Fatal(err)
	}
	counts := map[string]float64{}
	for _, f := range families {
		if f.GetName() != "genkan_calls_total" {
			continue
		}
		for _, m := range f.GetMetric() {
			labels := map[string]string{}
			for _, l := range m.GetLabel() {
				labels[l.GetName()] = l.GetValue()
			}
			counts[labels["server"]+" "+labels["tool"]+" "+labels["outcome"]] = m.GetCounter().GetValue()
		}
	}
	return counts
}

func newCall() *gateway.Call {
	return &gateway.Call{
		Method: "tools/call",
		Name:   "name-canary",
		Caller: gateway.Caller{Identity: gateway.Identity{ClientID: "editor"}},
		Params: gateway.Params{Raw: []byte(`{"arguments":"argument-canary"}`)},
	}
}

func TestOutcomes(t *testing.T) {
	ok := &gateway.Result{Raw: []byte(`{"content":"result-canary"}`)}
	for _, test := range []struct {
		name          string
		result        *gateway.Result
		err           error
		outcome, text string
	}{
		{"a result", ok, nil, "ok", ""},
		{
			"a tool's own error", &gateway.Result{Raw: []byte(`{"content":[{"type":"image"},{"type":"text","text":"no such\nfile"},{"type":"text","text":"more"}],"isError":true}`), IsError: true}, nil,
			"tool_error", `no such\nfile`,
		},
		{"a tool's own error without a text", &gateway.Result{Raw: ok.Raw, IsError: true}, nil, "tool_error", "the tool reported an error"},
		{
			"an error that the server answered with", nil,
			&gateway.Error{Code: gateway.CodeUnavailable, Message: "server-canary", RPC: []byte(`{"code":-32001,"message":"it is full"}`)},
			"server_error", "the server answered with error -32001: it is full",
		},
		{
			"a server that is down", nil,
			&gateway.Error{Code: gateway.CodeUnavailable, Message: "server srv is down", Err: errors.New("inner-canary")},
			"unavailable", "server srv is down",
		},
		{"an unknown tool", nil, gateway.Errorf(gateway.CodeNotFound, "Unknown tool: nosuch"), "not_found", "Unknown tool: nosuch"},
		{
			"arguments that do not fit", nil,
			gateway.Errorf(gateway.CodeInvalid, "the arguments do not fit: unknown: a"),
			"invalid", "the arguments do not fit: unknown: a",
		},
		{"a cancellation", nil, context.Canceled, "canceled", "the call was canceled"},
	} {
		t.Run(test.name, func(t *testing.T) {
			r, h, log := recorder(resolved(test.result, test.err))
			result, err := h.Handle(context.Background(), newCall())
			if result != test.result || !errors.Is(err, test.err) {
				t.Errorf("record changed the answer: %v, %v", result, err)
			}
			fields := line(t, log)
			got, _ := fields["error"].(string)
			if got != test.text || fields["success"] != (test.outcome == "ok") {
				t.Errorf("logged %s", log)
			}
			if strings.Contains(log.String(), "canary") {
				t.Errorf("the log has what it must not: %s", log)
			}
			if got := counted(t, r); len(got) != 1 || got["srv srv__t "+test.outcome] != 1 {
				t.Errorf("counted %v, want one %s", got, test.outcome)
			}
		})
	}
}

// A caller who is told to look into the log finds the cause there, under the
// id of the call; a panic is the failure of one call, not of the process.
func TestInnerErrorsAreInTheLog(t *testing.T) {
	for name, h := range map[string]gateway.HandlerFunc{
		"an error": func(context.Context, *gateway.Call) (*gateway.Result, error) { return nil, errors.New("the cause") },
		"a panic":  func(context.Context, *gateway.Call) (*gateway.Result, error) { panic("the cause") },
	} {
		t.Run(name, func(t *testing.T) {
			_, recorded, log := recorder(h)
			call := newCall()
			_, err := recorded.Handle(context.Background(), call)
			if e := gateway.AsError(err); e.Code != gateway.CodeInternal || strings.Contains(e.Text(), "the cause") {
				t.Errorf("the caller was told %v", err)
			}
			if text := log.String(); !strings.Contains(text, "the cause") || strings.Count(text, call.RequestID) < 2 {
				t.Errorf("logged %s", text)
			}
		})
	}
}

// Names that callers invent are in the log and no labels, because callers could fill
// the metrics.
func TestUnknownNamesAreNotLabels(t *testing.T) {
	r, h, log := recorder(func(_ context.Context, call *gateway.Call) (*gateway.Result, error) {
		return nil, gateway.Errorf(gateway.CodeNotFound, "Unknown tool: %s", call.Name)
	})
	for i := range 1000 {
		call := newCall()
		call.Name = fmt.Sprintf("name-canary-%d", i)
		if _, err := h.Handle(context.Background(), call); err == nil {
			t.Fatal("it must fail")
		}
	}
	if got := counted(t, r); len(got) != 1 || got["  not_found"] != 1000 {
		t.Errorf("counted %v", got)
	}
	if !strings.Contains(log.String(), `"tool_name":"name-canary-7"`) {
		t.Error("the log lacks the names")
	}
}

// What servers and callers write is short in the log, on one line, and without
// secrets and arguments.
func TestForeignTextInTheLog(t *testing.T) {
	long := strings.Repeat("long argument ", 50)
	failed := func(text string) *gateway.Result {
		raw, _ := json.Marshal(map[string]any{"content": []any{map[string]any{"type": "text", "text": text}}, "isError": true})
		return &gateway.Result{Raw: raw, IsError: true}
	}
	for name, c := range map[string]struct {
		arguments, text, want string
	}{
		"a secret of the server":  {`{}`, "bad key secret-of-srv", "bad key ***"},
		"an argument":             {`{"path":"/srv/example/diary"}`, "open '/srv/example/diary': no such file", "open '***': no such file"},
		"a nested argument":       {`{"a":[{"b":"hunter2"}]}`, "hunter2 hunter2!", "*** ***!"},
		"names stay":              {`{"path":"x","mode":7}`, "path or mode is wrong", "path or mode is wrong"},
		"short ones stay":         {`{"a":"of"}`, "out of order", "out of order"},
		"a part of a long one":    {`{"a":"` + long + `"}`, "bad: " + long[:40] + "...", "bad: ***..."},
		"an escaped one":          {`{"a":"caf\u00e9 \"x\""}`, `no café "x"`, "no ***"},
		"long text":               {`{}`, strings.Repeat("é", 1000), strings.Repeat("é", 150) + "…"},
		"control characters":      {`{}`, "red \x1b[31m", `red \x1b[31m`},
		"arguments that are huge": {`{"a":"` + strings.Repeat("x", 100_000) + `"}`, "xxxx", "the tool reported an error"},
		"arguments that are deep": {strings.Repeat(`{"a":`, 100) + `"hidden"` + strings.Repeat(`}`, 100), "hidden", "the tool reported an error"},
	} {
		t.Run(name, func(t *testing.T) {
			_, h, log := recorder(resolved(failed(c.text), nil))
			call := newCall()
			call.Params = gateway.Params{Raw: []byte(c.arguments), Arguments: gateway.Span{End: uint32(len(c.arguments))}}
			if _, err := h.Handle(context.Background(), call); err != nil {
				t.Fatal(err)
			}
			if got := line(t, log)["error"]; got != c.want {
				t.Errorf("logged %q, want %q", got, c.want)
			}
		})
	}
	_, h, log := recorder(func(_ context.Context, call *gateway.Call) (*gateway.Result, error) {
		return nil, gateway.Errorf(gateway.CodeNotFound, "Resource not found: %s", call.Name)
	})
	call := newCall()
	call.Method, call.Kind, call.Name = "resources/read", gateway.KindResource, "https://example.com/?key=canary"
	if _, err := h.Handle(context.Background(), call); err == nil || strings.Contains(log.String(), "canary") || line(t, log)["error"] != "not found" {
		t.Errorf("the address of a resource is logged: %s", log)
	}
	_, h, log = recorder(func(context.Context, *gateway.Call) (*gateway.Result, error) {
		return nil, gateway.InvalidInput([]gateway.Problem{
			{Field: "mode", Keyword: "enum", Text: gateway.Textf("mode must be one of a, b, is canary")},
			{Field: "canary", Keyword: "additionalProperties", Text: gateway.Textf("canary is unknown")},
		}, 2)
	})
	if _, err := h.Handle(context.Background(), newCall()); err == nil || line(t, log)["error"] != "the input is not valid: mode is none of the allowed values; there is an unknown field" {
		t.Errorf("the values of arguments are logged: %s", log)
	}
	_, h, log = recorder(func(_ context.Context, call *gateway.Call) (*gateway.Result, error) {
		return nil, gateway.Errorf(gateway.CodeNotFound, "Unknown tool")
	})
	call = newCall()
	call.Name = strings.Repeat("n\n", 10_000)
	if _, err := h.Handle(context.Background(), call); err == nil || log.Len() > 1000 {
		t.Errorf("a long name is a line of %d bytes", log.Len())
	}
}

func TestMetrics(t *testing.T) {
	r, h, _ := recorder(resolved(&gateway.Result{}, nil))
	for range 3 {
		if _, err := h.Handle(context.Background(), newCall()); err != nil {
			t.Fatal(err)
		}
	}
	if got := counted(t, r); len(got) != 1 || got["srv srv__t ok"] != 3 {
		t.Errorf("counted %v", got)
	}
	families, err := r.Registry().Gather()
	if err != nil {
		t.Fatal(err)
	}
	var timed uint64
	for _, f := range families {
		if f.GetName() == "genkan_call_duration_seconds" {
			timed = f.GetMetric()[0].GetHistogram().GetSampleCount()
		}
	}
	if timed != 3 {
		t.Errorf("%d calls were timed", timed)
	}
	// Other packages may add their own metrics.
	if err := r.Registry().Register(prometheus.NewGauge(prometheus.GaugeOpts{Name: "genkan_other"})); err != nil {
		t.Error(err)
	}
}

// Every call has an id of its own, unless it came with one.
func TestRequestIDs(t *testing.T) {
	_, h, _ := recorder(resolved(&gateway.Result{}, nil))
	h = &locked{h: h}
	var mu sync.Mutex
	seen := map[string]bool{}
	var calls sync.WaitGroup
	for range 100 {
		calls.Go(func() {
			call := newCall()
			_, _ = h.Handle(context.Background(), call)
			mu.Lock()
			defer mu.Unlock()
			if call.RequestID == "" || seen[call.RequestID] {
				t.Errorf("request id %q", call.RequestID)
			}
			seen[call.RequestID] = true
		})
	}
	calls.Wait()
	call := newCall()
	call.RequestID = "mine"
	if _, err := h.Handle(context.Background(), call); err != nil || call.RequestID != "mine" {
		t.Errorf("request id %q, %v", call.RequestID, err)
	}
}

// locked keeps the test's log, which is no sink, to one writer. Only the log
// needs that.
type locked struct {
	mu sync.Mutex
	h  gateway.Handler
}

func (l *locked) Handle(ctx context.Context, call *gateway.Call) (*gateway.Result, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.h.Handle(ctx, call)
}

func TestAttemptsAreToldWhenThereWereSeveral(t *testing.T) {
	for attempts, want := range map[int]any{0: nil, 1: nil, 3: 3.0} {
		_, h, log := recorder(func(ctx context.Context, call *gateway.Call) (*gateway.Result, error) {
			call.Attempts = attempts
			return resolved(&gateway.Result{}, nil)(ctx, call)
		})
		if _, err := h.Handle(context.Background(), newCall()); err != nil {
			t.Fatal(err)
		}
		if got := line(t, log)["attempts"]; got != want {
			t.Errorf("%d attempts are logged as %v", attempts, got)
		}
	}
}

// BenchmarkMiddleware is what recording costs every call.
func BenchmarkMiddleware(b *testing.B) {
	tool := &gateway.Tool{Exposed: "srv__t", Source: source("srv")}
	result := &gateway.Result{}
	r := New(slog.New(slog.DiscardHandler), redacted)
	h := r.Middleware(gateway.HandlerFunc(func(_ context.Context, call *gateway.Call) (*gateway.Result, error) {
		call.Tool = tool
		return result, nil
	}))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := h.Handle(b.Context(), &gateway.Call{Method: "tools/call"}); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkRunning is what it costs a call that others can follow and cancel it.
func BenchmarkRunning(b *testing.B) {
	tool := &gateway.Tool{Exposed: "srv__t", Source: source("srv")}
	result := &gateway.Result{}
	r := New(slog.New(slog.DiscardHandler), redacted)
	r.Keep(func() Keeping { return Keeping{} }, func(history.Entry) {}, func(history.Entry) {})
	r.Follow(func(history.Entry, float64, float64) {})
	begin := r.Begin(gateway.HandlerFunc(func(context.Context, *gateway.Call) (*gateway.Result, error) { return result, nil }))
	h := r.Middleware(gateway.HandlerFunc(func(ctx context.Context, call *gateway.Call) (*gateway.Result, error) {
		call.Tool = tool
		return begin.Handle(ctx, call)
	}))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := h.Handle(b.Context(), &gateway.Call{Method: "tools/call"}); err != nil {
			b.Fatal(err)
		}
	}
}
