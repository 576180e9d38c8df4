package api

import (
	"context"
	"encoding/json"
	"iter"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"genkan/internal/api/client"
	"genkan/internal/gateway"
	"genkan/internal/history"
	"genkan/internal/jsonrpc"
	"genkan/internal/lang"
	"genkan/internal/script"
	"genkan/internal/workflow"
)

// Traces are what workflows did to the last calls, without secrets.
type Traces interface {
	Of(call string) []workflow.Trace
	// Effect returns what workflows did to a call, in a word.
	Effect(call string) string
	// Last returns the last traces of a workflow that want wants, the newest first.
	Last(workflow string, most int, want func(*workflow.Trace) bool) []workflow.Trace
}

// consoleText translates a line of a console if Genkan wrote it: a script did not await
// something.
func (a *API) consoleText(line string) string {
	if what, ok := strings.CutSuffix(line, script.NotAwaited); ok {
		return a.language().Sprintf("%s"+script.NotAwaited, what)
	}
	return line
}

// traceOf returns a trace in REST's form. Its errors are kept in English.
func (a *API) traceOf(t workflow.Trace) client.WorkflowTrace {
	out := client.WorkflowTrace{
		Workflow: t.Workflow, Name: t.Name, Version: t.Version, Mode: modeOf(t.Mode), StartedAt: t.Started.UTC(), Outcome: t.Outcome, Effect: t.Effect(),
		Call: t.Call, Client: t.Client, Tool: t.Tool, TookMillis: inMillis(t.Took()), Changed: t.Changed, Sent: t.Sent, Detached: t.Detached, Redacted: t.Masked, Steps: []client.WorkflowStep{},
	}
	for i := range t.Steps {
		s := &t.Steps[i]
		step := client.WorkflowStep{
			Node: s.Node, Label: s.Label, Type: s.Type, Status: s.Status, Handle: s.Handle,
			QueueMillis: inMillis(s.Queue), RunMillis: inMillis(s.Run), WaitMillis: inMillis(s.Wait),
			BytesIn: s.In, BytesOut: s.Out, Error: a.language().Kept(s.Error), Line: s.Line, Column: s.Column,
		}
		if len(s.Patch) > 0 {
			step.Patch = s.PatchJSON()
		}
		for _, line := range s.Console {
			step.Console = append(step.Console, client.ConsoleLine{Level: line.Level, Text: a.consoleText(line.Text)})
		}
		out.Steps = append(out.Steps, step)
	}
	return out
}

const (
	// usualBacktest and mostBacktest are how many calls a backtest looks at.
	usualBacktest, mostBacktest = 1000, 100_000
	backtestTime                = time.Minute
)

// definitionOf returns a draft, or a stored version.
func (a *API) definitionOf(ctx context.Context, id string, draft json.RawMessage, version int) (*workflow.Definition, error) {
	switch {
	case version < 0:
		return nil, refused(outside("version", strconv.Itoa(version), 1, 1<<31-1))
	case len(draft) > 0 && string(draft) != "null":
		if version != 0 {
			return nil, invalid("give either definition or version")
		}
		d, err := parseDefinition(draft)
		if err != nil {
			return nil, err
		}
		if err := checkID(id, d.ID); err != nil {
			return nil, err
		}
		d.ID = id
		return d, nil
	default:
		s, err := a.opt.Workflows.Workflow(ctx, id, version)
		return s.Definition, err
	}
}

// compiled returns the workflow that a replay is about: a draft, or a stored version.
func (a *API) compiled(ctx context.Context, id string, draft json.RawMessage, version int) (*workflow.Workflow, error) {
	d, err := a.definitionOf(ctx, id, draft, version)
	if err != nil {
		return nil, err
	}
	if d.Type == workflow.ToolsList {
		return nil, invalid("workflow %q is for lists of tools, which the call history does not keep, so it cannot be replayed; mode shadow tries it on live lists", id)
	}
	w, problems := a.opt.Workflows.Compile(ctx, d)
	if len(problems) > 0 {
		return nil, workflow.Invalid(id, problems)
	}
	return w, nil
}

// pastOf returns a call of the history as workflows see it.
func (a *API) pastOf(r *history.Recorded) (workflow.Past, error) {
	params, err := jsonrpc.ScanParams(r.Params)
	if err != nil {
		return workflow.Past{}, err
	}
	call := &gateway.Call{
		Method: r.Method, Params: params, Name: jsonrpc.LookupText(r.Params, "name"),
		Caller: gateway.Caller{Identity: gateway.Identity{ClientID: r.Caller}, RequestID: r.ID},
	}
	if r.Method == workflow.ResourcesRead {
		call.Name = jsonrpc.LookupText(r.Params, "uri")
	}
	if r.Era == gateway.EraModern.String() {
		call.Era = gateway.EraModern
	}
	name := call.Name
	if r.Method == workflow.ToolsCall {
		name = r.Tool
	}
	call.Tool = a.pastTool(r.Method, r.Caller, r.Server, name)
	return workflow.Past{Call: call, Answer: &gateway.Result{
		Raw: r.Answered, IsError: string(jsonrpc.Lookup(r.Answered, "isError")) == "true", HasMeta: jsonrpc.Lookup(r.Answered, "_meta") != nil,
	}}, nil
}

// pastTool returns the tool that a call was for, as it is now. One that is gone, a
// prompt and a resource have their name only.
func (a *API) pastTool(method, client, server, name string) *gateway.Tool {
	if method == workflow.ToolsCall {
		if t := a.toolNamed(client, server, name); t != nil {
			return t
		}
	}
	return &gateway.Tool{Source: goneSource(server), Exposed: name, Name: strings.TrimPrefix(name, server+"__")}
}

// goneSource has the name of a server, and nothing else.
type goneSource string

func (s goneSource) Name() string                     { return string(s) }
func (s goneSource) List(gateway.Kind) []gateway.Tool { return nil }

func (s goneSource) Handle(context.Context, *gateway.Call) (*gateway.Result, error) {
	return nil, gateway.Errorf(gateway.CodeUnavailable, "server %s is gone", string(s))
}

// notReplayable is why a call of the history cannot be replayed.
func notReplayable(r *history.Recorded) error {
	id := gateway.Short(r.ID)
	switch {
	case r.Server == "" || r.Attempts == 0:
		return gateway.Errorf(gateway.CodeConflict, "call %s cannot be replayed: it did not reach a server, so there is no answer to replay it with", id)
	case isCut(r):
		return gateway.Errorf(gateway.CodeConflict, "call %s cannot be replayed: it is too long, and only its beginning is kept", id)
	default:
		return gateway.Errorf(gateway.CodeConflict, "call %s cannot be replayed: what was sent and received is not kept. record in the configuration decides whose calls are kept whole, from then on", id)
	}
}

// isCut reports whether only the beginning of a call is kept.
func isCut(r *history.Recorded) bool {
	return r.Has(history.RequestCut) || r.Has(history.ResponseCut)
}

func (a *API) replayWorkflow(w http.ResponseWriter, r *http.Request, id gateway.Identity) {
	unchanged(w)
	var in client.ReplayRequest
	if status, wrong := decodeBody(w, r, &in); wrong != nil {
		a.refuseBody(w, status, wrong)
		return
	}
	if in.Call == "" {
		a.fail(w, refused(gateway.MissingField(nil, "call")))
		return
	}
	out, err := a.replay(r, id, in)
	if err != nil {
		a.fail(w, err)
		return
	}
	encode(w, http.StatusOK, out)
}

func (a *API) replay(r *http.Request, id gateway.Identity, in client.ReplayRequest) (client.ReplayResult, error) {
	ctx := r.Context()
	out := client.ReplayResult{Call: in.Call}
	compiled, err := a.compiled(ctx, r.PathValue("id"), in.Definition, in.Version)
	if err != nil {
		return out, err
	}
	redactor, err := a.opt.Calls.Redactor(ctx)
	if err != nil {
		return out, err
	}
	redact := redacted(redactor)
	recorded, err := a.opt.Calls.Recorded(ctx, id, in.Call)
	if err != nil {
		return out, err
	}
	if !recorded.Whole() {
		return out, notReplayable(&recorded)
	}
	past, err := a.pastOf(&recorded)
	if err != nil {
		return out, err
	}
	done := a.opt.Engine.Rehearse(ctx, compiled, past)
	if out.Matched = done.Matched; !done.Matched {
		return out, nil
	}
	trace := a.traceOf(done.Trace.Redacted(redact))
	out.Trace, out.Incomplete = &trace, done.Trace.Incomplete()
	params, inParams := redactor(recorded.Params)
	answer, inAnswer := redactor(recorded.Answered)
	out.Given = &client.ReplayGiven{Params: params, Answer: answer, Redacted: slices.Compact(slices.Sorted(slices.Values(slices.Concat(inParams, inAnswer))))}
	if done.Err != nil {
		// The words of scripts in it are English texts.
		out.Error = string(redact([]byte(a.language().Kept(lang.English.Error(gateway.AsError(done.Err))))))
	} else {
		out.Result, out.Redacted = redactor(done.Result.Raw)
	}
	return out, nil
}

// redacted returns a redactor without the names of its rules.
func redacted(redact func([]byte) ([]byte, []string)) func([]byte) []byte {
	return func(body []byte) []byte { body, _ = redact(body); return body }
}

func (a *API) backtestWorkflow(w http.ResponseWriter, r *http.Request, id gateway.Identity) {
	unchanged(w)
	var in client.BacktestRequest
	if status, wrong := decodeBody(w, r, &in); wrong != nil {
		a.refuseBody(w, status, wrong)
		return
	}
	out, err := a.backtest(r, id, in)
	if err != nil {
		a.fail(w, err)
		return
	}
	encode(w, http.StatusOK, out)
}

func (a *API) backtest(r *http.Request, id gateway.Identity, in client.BacktestRequest) (client.BacktestResult, error) {
	out := client.BacktestResult{Examples: []client.BacktestExample{}, Matched: []string{}}
	q := history.Query{Limit: usualBacktest}
	if in.Last != 0 {
		if q.Limit = in.Last; in.Last < 1 || in.Last > mostBacktest {
			return out, refused(outside("last", strconv.Itoa(in.Last), 1, mostBacktest))
		}
	}
	if in.Since != "" {
		var ok bool
		if q.Since, ok = history.ParseTime(in.Since, time.Now()); !ok {
			return out, refused(breaks("since", "format", map[string]any{"format": "date-time"},
				gateway.Textf("%s must be a time such as 2026-11-15T14:00:00Z, or an age such as 10m, 2h or 7d, is %q", "since", gateway.Short(in.Since))))
		}
	}
	compiled, err := a.compiled(r.Context(), r.PathValue("id"), in.Definition, in.Version)
	if err != nil {
		return out, err
	}
	ctx, cancel := context.WithTimeout(r.Context(), backtestTime)
	defer cancel()
	done, err := a.opt.Engine.Backtest(ctx, compiled, a.pastCalls(ctx, id, q, compiled, &out))
	switch {
	case r.Context().Err() != nil:
		return out, gateway.AsError(r.Context().Err())
	case ctx.Err() != nil:
		out.Partial = true
	case err != nil:
		return out, err
	}
	out.Calls, out.Unmatched = done.Calls-done.Unmatched, done.Unmatched
	out.Denied, out.Changed, out.Failed, out.Unchanged, out.Asked = done.Denied, done.Changed, done.Failed, done.Unchanged, done.Asked
	out.Incomplete = done.Incomplete
	out.Matched = append(out.Matched, done.Matched...)
	out.BytesBefore, out.BytesAfter = done.BytesBefore, done.BytesAfter
	out.TokensBefore, out.TokensAfter = done.TokensBefore, done.TokensAfter
	out.P50Millis, out.P95Millis = inMillis(done.P50), inMillis(done.P95)
	for _, kind := range []string{workflow.KindDenied, workflow.KindFailed, workflow.KindChanged} {
		for _, call := range done.Examples[kind] {
			out.Examples = append(out.Examples, client.BacktestExample{Call: call, Outcome: kind})
		}
	}
	return out, nil
}

// pastCalls returns the calls of the history that can be replayed, and counts the
// others.
func (a *API) pastCalls(ctx context.Context, id gateway.Identity, q history.Query, w *workflow.Workflow, out *client.BacktestResult) iter.Seq2[workflow.Past, error] {
	return func(yield func(workflow.Past, error) bool) {
		for r, err := range a.opt.Calls.EachRecorded(ctx, id, q) {
			if err != nil {
				yield(workflow.Past{}, err)
				return
			}
			past, broken := workflow.Past{}, error(nil)
			if r.Whole() {
				past, broken = a.pastOf(&r)
			}
			if !r.Whole() || broken != nil {
				out.Skipped++
				if isCut(&r) {
					out.Cut++
					call := &gateway.Call{Method: r.Method, Caller: gateway.Caller{Identity: gateway.Identity{ClientID: r.Caller}}, Tool: a.pastTool(r.Method, r.Caller, r.Server, r.Tool)}
					if w.IsFor(call) && w.Refuses(r.BytesIn+r.BytesOut) {
						out.TooLarge++
					}
				}
				continue
			}
			if !yield(past, nil) {
				return
			}
		}
	}
}

// unchanged marks a request that changes nothing.
func unchanged(w http.ResponseWriter) {
	if one, ok := w.(*response); ok {
		one.unchanged = true
	}
}
