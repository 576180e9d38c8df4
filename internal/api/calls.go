package api

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"iter"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"syscall"
	"time"

	"genkan/internal/api/client"
	"genkan/internal/config"
	"genkan/internal/gateway"
	"genkan/internal/history"
	"genkan/internal/identity"
	"genkan/internal/lang"
	"genkan/internal/workflow"
)

// Calls is the call history: everybody sees their own calls, administrators all, and
// nobody a secret.
type Calls interface {
	List(ctx context.Context, who gateway.Identity, q history.Query) (history.Listing, error)
	// Unended returns the calls that have not ended, and Show any call.
	Unended(ctx context.Context, who gateway.Identity) ([]history.Listed, error)
	Show(ctx context.Context, who gateway.Identity, id string) (history.Shown, error)
	// Cancel ends a call that has not ended.
	Cancel(ctx context.Context, who gateway.Identity, id string) error
	Stats(ctx context.Context, who gateway.Identity, q history.Query) (history.Stats, error)
	Series(ctx context.Context, who gateway.Identity, q history.Query, spacing history.Spacing) (history.Series, error)
	Status() history.Status
	// Recorded and EachRecorded return calls as they were, and Redactor what takes
	// secrets out of what is shown of them.
	Recorded(ctx context.Context, who gateway.Identity, id string) (history.Recorded, error)
	EachRecorded(ctx context.Context, who gateway.Identity, q history.Query) iter.Seq2[history.Recorded, error]
	Redactor(ctx context.Context) (func([]byte) ([]byte, []string), error)
}

// CallHistory answers questions about the call history in the API's form. The command
// line uses it for a data directory that no running genkan serves.
type CallHistory struct {
	Calls Calls
	// Record returns what the configuration keeps.
	Record func() config.Record
	// Language returns the language of sentences; nil means English.
	Language func() lang.Language
}

const (
	// usualCalls is the number of calls on a page unless another one is asked for.
	usualCalls = 50
	// mostSlowerMillis is a day.
	mostSlowerMillis = 24 * 60 * 60 * 1000
	// usualSteps is the number of steps of a series unless another one is asked for,
	// and mostStepSeconds is ten years.
	usualSteps      = 60
	mostStepSeconds = 10 * 366 * 24 * 60 * 60
	// usualGroups and mostGroups are how many servers or tools a series shows.
	usualGroups = 10
	mostGroups  = 50
)

func (a *API) callRoutes() []route {
	badInput := restErrorOf(gateway.CodeInvalid)
	return []route{
		{
			method: "GET", path: "/v1/calls", who: forCallers, id: "listCalls", summary: "List calls of the history, the newest first",
			about: "Everybody sees their own calls, admins all. Filters go together.",
			query: append(callQuery(),
				query{name: "text", kind: "string", about: "Only calls whose arguments, answer or error contain this text, in any case and width."},
				query{name: "parent", kind: "string", about: "Only calls that the call with this id made."},
				query{name: "limit", kind: "integer", about: "Calls on a page.", least: 1, most: history.MaxLimit, otherwise: usualCalls},
				query{name: "after", kind: "string", about: "The next of the page before."},
			),
			answer: client.CallList{}, failures: []restError{badInput}, serve: a.listCalls,
		},
		{
			method: "GET", path: "/v1/calls/stats", who: forCallers, id: "callStats", summary: "Sum up calls of the history",
			about: "The sums of the caller's own calls; for admins, of all. Filters go together.",
			query: callQuery(), answer: client.CallStats{}, failures: []restError{badInput}, serve: a.callStats,
		},
		{
			method: "GET", path: "/v1/calls/series", who: forCallers, id: "callSeries", summary: "Show how calls of the history went over time",
			about: "As the sums, in equal steps of time from since, or the first call, until until, or now.",
			query: append(callQuery(),
				query{name: "step", kind: "integer", about: "Seconds of a step. There may be 1,000 steps.", least: 1, most: mostStepSeconds},
				query{name: "steps", kind: "integer", about: "Without step: at most so many steps, of a length that people read easily.", least: 1, most: history.MaxSteps, otherwise: usualSteps},
				query{name: "by", kind: "string", about: "server or tool: also the course of each of those with the most calls."},
				query{name: "groups", kind: "integer", about: "With by: at most so many of them.", least: 1, most: mostGroups, otherwise: usualGroups},
			),
			answer: client.CallSeries{}, failures: []restError{badInput}, serve: a.callSeries,
		},
		{
			method: "GET", path: "/v1/calls/{id}", who: forCallers, id: "getCall", summary: "Show a call with what was sent and received",
			about:  "A call that has not ended has the outcome running, and neither a response nor a timing. Secrets are taken out. The log notes when an admin reads what another client sent and received.",
			answer: client.CallDetails{}, failures: []restError{restErrorOf(gateway.CodeNotFound)}, serve: a.getCall,
		},
		{
			method: "POST", path: "/v1/calls/{id}/cancel", who: forCallers, id: "cancelCall", summary: "Cancel a call that has not ended",
			about:  "The server is told to stop, and the call's client gets an error with the code canceled. Calls that the call made end with it. The server may have carried the call out already.",
			answer: client.Done{}, failures: []restError{restErrorOf(gateway.CodeNotFound), restErrorOf(gateway.CodeConflict)}, serve: a.cancelCall,
		},
	}
}

// callQuery returns the parameters that select calls.
func callQuery() []query {
	return []query{
		{name: "client", kind: "string", about: "Only calls of this client, or of the program that calls itself so."},
		{name: "server", kind: "string", about: "Only calls of this server."},
		{name: "tool", kind: "string", about: "Only calls of the tool that clients know by this name."},
		{name: "outcome", kind: "string", about: "Only calls with this outcome; error for all but ok and canceled."},
		{name: "slowerMillis", kind: "integer", about: "Only calls that took at least so long, not counting the time in which people were asked.", least: 1, most: mostSlowerMillis},
		{name: "since", kind: "string", about: "Only calls that ended at this time of RFC 3339 or later, or in the last 10m, 2h or 7d."},
		{name: "until", kind: "string", about: "Only calls that ended at this time or earlier; as since."},
		{name: "notClient", kind: "string", about: "Without the calls of this client or program; may be repeated.", repeats: true},
		{name: "notServer", kind: "string", about: "Without the calls of this server; may be repeated.", repeats: true},
		{name: "notTool", kind: "string", about: "Without the calls of this tool; may be repeated.", repeats: true},
		{name: "notOutcome", kind: "string", about: "Without the calls with this outcome; may be repeated.", repeats: true},
	}
}

func (a *API) listCalls(w http.ResponseWriter, r *http.Request, id gateway.Identity) {
	list, err := a.calls.List(r.Context(), id, r.URL.Query())
	if err != nil {
		a.fail(w, err)
		return
	}
	if id.Admin && a.opt.Traces != nil {
		for i := range list.Calls { // a workflow beside the path may have ended after the call was written
			list.Calls[i].Effect = cmp.Or(a.opt.Traces.Effect(list.Calls[i].ID), list.Calls[i].Effect)
		}
	}
	encode(w, http.StatusOK, list)
}

func (a *API) callStats(w http.ResponseWriter, r *http.Request, id gateway.Identity) {
	stats, err := a.calls.Stats(r.Context(), id, r.URL.Query())
	if err != nil {
		a.fail(w, err)
		return
	}
	encode(w, http.StatusOK, stats)
}

func (a *API) callSeries(w http.ResponseWriter, r *http.Request, id gateway.Identity) {
	series, err := a.calls.Series(r.Context(), id, r.URL.Query())
	if err != nil {
		a.fail(w, err)
		return
	}
	encode(w, http.StatusOK, series)
}

func (a *API) getCall(w http.ResponseWriter, r *http.Request, id gateway.Identity) {
	details, err := a.calls.Show(r.Context(), id, r.PathValue("id"))
	if err != nil {
		a.fail(w, err)
		return
	}
	if id.Admin && details.Method == workflow.ToolsCall && details.Server != "" {
		details.OwnName = a.pastTool(details.Method, details.Client, details.Server, details.Tool).Name
	}
	if id.Admin && a.opt.Traces != nil { // a trace may show what a workflow hides
		for _, t := range a.opt.Traces.Of(details.ID) {
			details.Workflows = append(details.Workflows, a.traceOf(t))
		}
	}
	encode(w, http.StatusOK, details)
}

func (a *API) cancelCall(w http.ResponseWriter, r *http.Request, id gateway.Identity) {
	concerns(w, r.PathValue("id"))
	if err := a.calls.Calls.Cancel(r.Context(), id, r.PathValue("id")); err != nil {
		a.fail(w, err)
		return
	}
	encode(w, http.StatusOK, client.Done{Success: true})
}

// List returns the page of calls that the query of a URL selects.
func (h *CallHistory) List(ctx context.Context, who gateway.Identity, values url.Values) (client.CallList, error) {
	out := client.CallList{Calls: []client.ListedCall{}}
	q, err := callsWanted(values, time.Now())
	if err != nil {
		return out, err
	}
	q.Told = func(e *history.Entry) string { return h.errorOf(e, who) }
	var list history.Listing
	if !h.Record().Off {
		if list, err = h.Calls.List(ctx, who, q); err != nil {
			return out, err
		}
	}
	out.History = h.state(who) // after the list, which waits for calls that are being written
	for i := range list.Calls {
		c := &list.Calls[i]
		listed := client.ListedCall{CallEntry: h.entryOf(&c.Entry, who), Arguments: c.Arguments}
		if who.Admin {
			listed.Effect = c.Effect
		}
		out.Calls = append(out.Calls, listed)
	}
	if q.After == "" {
		running, err := h.Calls.Unended(ctx, who)
		if err != nil {
			return out, err
		}
		for i := range running {
			started := CallStarted(&running[i].Entry)
			started.Arguments = running[i].Arguments
			out.Running = append(out.Running, started)
		}
	}
	out.Next, out.Partial = list.Next, list.Partial
	if list.Partial {
		until := list.SearchedUntil.UTC()
		out.SearchedUntil = &until
	}
	return out, nil
}

// Stats returns the sums of the calls that the query of a URL selects.
func (h *CallHistory) Stats(ctx context.Context, who gateway.Identity, values url.Values) (client.CallStats, error) {
	out := client.CallStats{Servers: []client.CallSum{}, Tools: []client.CallSum{}}
	now := time.Now()
	q, err := callsWanted(values, now)
	if err != nil {
		return out, err
	}
	if !q.Since.IsZero() {
		until := now
		if !q.Until.IsZero() && q.Until.Before(now) {
			until = q.Until
		}
		out.Seconds = max(0, until.Sub(q.Since).Seconds())
	}
	var stats history.Stats
	if !h.Record().Off {
		if stats, err = h.Calls.Stats(ctx, who, q); err != nil {
			return out, err
		}
	}
	out.Total, out.History = sumOf(stats.Total), h.state(who)
	for _, one := range stats.Servers {
		out.Servers = append(out.Servers, sumOf(one))
	}
	for _, one := range stats.Tools {
		out.Tools = append(out.Tools, sumOf(one))
	}
	return out, nil
}

// Series returns the course of the calls that the query of a URL selects.
func (h *CallHistory) Series(ctx context.Context, who gateway.Identity, values url.Values) (client.CallSeries, error) {
	out := client.CallSeries{Total: []client.CallStep{}, Groups: []client.CallCourse{}}
	now := time.Now()
	q, err := callsWanted(values, now)
	if err != nil {
		return out, err
	}
	spacing := history.Spacing{
		Step: time.Duration(numberIn(values, "step", 0)) * time.Second, Steps: numberIn(values, "steps", usualSteps),
		Groups: numberIn(values, "groups", usualGroups),
	}
	switch by := values.Get("by"); by {
	case "":
	case client.ByServer:
		spacing.By = history.ByServer
	case client.ByTool:
		spacing.By = history.ByTool
	default:
		return out, refused(breaks("by", "enum", map[string]any{"allowedValues": []string{client.ByServer, client.ByTool}},
			gateway.Textf("by must be server or tool, is %q", gateway.Short(by))))
	}
	if h.Record().Off {
		out.From, out.StepSeconds, out.History = now.UTC(), 1, h.state(who)
		return out, nil
	}
	series, err := h.Calls.Series(ctx, who, q, spacing)
	if err != nil {
		return out, err
	}
	out.From, out.StepSeconds, out.Total = series.From.UTC(), int64(series.Step/time.Second), stepsOf(series.Total)
	out.History = h.state(who)
	for _, g := range series.Groups {
		out.Groups = append(out.Groups, client.CallCourse{Server: g.Server, Tool: g.Tool, Calls: g.Calls, Steps: stepsOf(g.Steps)})
	}
	return out, nil
}

func stepsOf(stats []history.Stat) []client.CallStep {
	out := make([]client.CallStep, len(stats))
	for i, s := range stats {
		out[i] = client.CallStep{
			Calls: s.Calls, Errors: s.Errors, P50Millis: inMillis(s.P50), P95Millis: inMillis(s.P95),
			TokensIn: s.TokensIn, TokensOut: s.TokensOut, TokensSaved: s.TokensSaved,
		}
	}
	return out
}

// Show returns a call.
func (h *CallHistory) Show(ctx context.Context, who gateway.Identity, id string) (client.CallDetails, error) {
	if h.Record().Off {
		return client.CallDetails{}, gateway.Errorf(gateway.CodeNotFound,
			"there is no call %s: the call history is off (record in the configuration)", gateway.Short(id))
	}
	shown, err := h.Calls.Show(ctx, who, id)
	if err != nil {
		return client.CallDetails{}, err
	}
	e := &shown.Entry
	t := e.Timing
	out := client.CallDetails{CallEntry: h.entryOf(e, who), Redacted: []string{}}
	if e.Outcome != history.OutcomeRunning {
		out.Timing = client.CallTiming{
			ServerMillis: inMillis(t.Server), QueueMillis: inMillis(t.Queue), HooksMillis: inMillis(t.Hooks), AskedMillis: inMillis(t.Asked),
			GenkanMillis: inMillis(max(e.Took-t.Server-t.Queue-t.Hooks-t.Asked, 0)),
		}
	}
	slices.Sort(shown.Redacted)
	out.Redacted = append(out.Redacted, slices.Compact(shown.Redacted)...)
	if shown.Unreadable != nil {
		out.Bodies = client.BodiesUnreadable
	} else {
		out.Request = bodyOf(shown.Request, e.Has(history.RequestCut))
		out.Response = bodyOf(shown.Response, e.Has(history.ResponseCut))
	}
	out.Note = h.note(out.Bodies)
	return out, nil
}

// note returns why a call has no bodies; empty if it has them.
func (h *CallHistory) note(bodies string) string {
	switch bodies {
	case client.BodiesOff:
		return h.language().Sprintf("What was sent and received is not kept: the configuration said so when the call was made (record: {bodies: off}).")
	case client.BodiesLocal:
		return h.language().Sprintf("What was sent and received is kept only for clients of this machine's user, and this one has a token. record: {bodies: all} in the configuration keeps it for every client, from then on.")
	case client.BodiesLost:
		return h.language().Sprintf("What was sent and received is lost: calls came faster than they could be written.")
	case client.BodiesUnreadable:
		return h.language().Sprintf("What was sent and received cannot be read: it is damaged, or it was encrypted with a key that the vault does not have any more.")
	default:
		return ""
	}
}

func (h *CallHistory) language() lang.Language {
	if h.Language == nil {
		return lang.English
	}
	return h.Language()
}

// state returns what the history keeps.
func (h *CallHistory) state(who gateway.Identity) client.HistoryState {
	r, status := h.Record(), h.Calls.Status()
	out := client.HistoryState{
		On: !r.Off, Bodies: r.Bodies, Days: r.Days,
		Dropped: int64(status.Dropped), LostBodies: int64(status.Bodies), //nolint:gosec // they are counted one by one
	}
	if p := status.Problem; p != nil && !r.Off {
		since := p.Since.UTC()
		out.Problem, out.ProblemSince, out.Stopped = h.problem(p, who), &since, !p.Bodies
	}
	return out
}

// problem returns why not everything is kept. Causes can contain paths, which are for
// administrators.
func (h *CallHistory) problem(p *history.Problem, who gateway.Identity) string {
	l := h.language()
	switch {
	case errors.Is(p.Err, syscall.ENOSPC):
		return l.Sprintf("calls are not kept: the disk is full")
	case !who.Admin && p.Bodies:
		return l.Sprintf("what is sent and received is not kept")
	case !who.Admin:
		return l.Sprintf("calls are not kept")
	}
	why := p.Err.Error()
	var known *gateway.Error
	if errors.As(p.Err, &known) {
		why = l.Error(known)
	}
	if p.Bodies {
		return l.Sprintf("what is sent and received is not kept: the key of the vault cannot be had: %s", why)
	}
	return l.Sprintf("calls are not kept: %s", why)
}

// CallStarted returns the data of the event of a call that has begun.
func CallStarted(e *history.Entry) client.CallStarted {
	return client.CallStarted{
		ID: e.ID, Parent: e.Parent, StartedAt: e.Started.UTC(), Client: e.Caller, Program: e.Client, Method: e.Method,
		Server: e.Server, Tool: e.Tool, Through: e.Through,
	}
}

// CallEnded returns the data of the event of a call that has ended.
func CallEnded(e *history.Entry) client.CallEnded {
	return client.CallEnded{
		CallStarted: CallStarted(e), TookMillis: inMillis(e.Took), Outcome: e.Outcome, Error: e.Error, Attempts: e.Attempts,
		BytesIn: e.BytesIn, BytesOut: e.BytesOut, TokensIn: e.TokensIn, TokensOut: e.TokensOut, TokensSaved: e.TokensSaved,
	}
}

func (h *CallHistory) entryOf(e *history.Entry, who gateway.Identity) client.CallEntry {
	out := client.CallEntry{
		ID: e.ID, Parent: e.Parent, StartedAt: e.Started.UTC(), TookMillis: inMillis(e.Took),
		Client: e.Caller, Program: e.Client, Via: e.Edge, View: e.View, Method: e.Method,
		Server: e.Server, Tool: e.Tool, Through: e.Through, Outcome: e.Outcome, Error: h.errorOf(e, who), Attempts: e.Attempts,
		BytesIn: e.BytesIn, BytesOut: e.BytesOut, TokensIn: e.TokensIn, TokensOut: e.TokensOut, TokensSaved: e.TokensSaved, Bodies: h.bodiesOf(e), Cut: e.Has(history.RequestCut) || e.Has(history.ResponseCut), Replayable: e.CanReplay(),
	}
	return out
}

// errorOf returns the error of a call as its reader sees it.
func (h *CallHistory) errorOf(e *history.Entry, who gateway.Identity) string {
	text := CallError(h.language(), e.Outcome, e.Error)
	if who.Admin && e.Has(history.Hidden) {
		return h.language().Sprintf("%s. It exists, but the limit of the client's token or a workflow hides it from this client; the client was not told so", strings.TrimRight(text, ".。"))
	}
	return text
}

// CallError returns the error of a call, which is kept in English, in a language. What a
// tool says stays as it is.
func CallError(l lang.Language, outcome, text string) string {
	if outcome == "tool_error" {
		return l.Translator()(text) // Genkan says that it reported one without a text
	}
	return l.Kept(text)
}

// bodiesOf says whether a call's bodies are kept. An entry does not say why they are
// not, so the configuration of today answers for that of the call.
func (h *CallHistory) bodiesOf(e *history.Entry) string {
	switch {
	case e.Has(history.HasBodies):
		return client.BodiesKept
	case e.Has(history.BodiesLost):
		return client.BodiesLost
	case h.Record().Bodies == config.BodiesLocal && !(gateway.Identity{ClientID: e.Caller}).IsLocal() && e.Caller != identity.AdminClient:
		return client.BodiesLocal
	default:
		return client.BodiesOff
	}
}

// bodyOf returns a body in the API's form; nil for none.
func bodyOf(body []byte, cut bool) *client.CallBody {
	switch {
	case body == nil:
		return nil
	case !cut && json.Valid(body):
		return &client.CallBody{JSON: body}
	default:
		return &client.CallBody{Text: strings.ToValidUTF8(string(body), "\ufffd"), Cut: cut}
	}
}

func sumOf(s history.Stat) client.CallSum {
	return client.CallSum{
		Server: s.Server, Tool: s.Tool, Calls: s.Calls, Errors: s.Errors, P50Millis: inMillis(s.P50), P95Millis: inMillis(s.P95),
		TokensIn: s.TokensIn, TokensOut: s.TokensOut, TokensSaved: s.TokensSaved,
	}
}

// inMillis returns a duration in milliseconds, to the hundredth.
func inMillis(d time.Duration) float64 {
	return float64(d.Round(10*time.Microsecond).Microseconds()) / 1000
}

// callsWanted reads the query of a URL, whose numbers were checked.
func callsWanted(values url.Values, now time.Time) (history.Query, error) {
	q := history.Query{
		Client: values.Get("client"), Server: values.Get("server"), Tool: values.Get("tool"), Outcome: values.Get("outcome"),
		Slower: time.Duration(numberIn(values, "slowerMillis", 0)) * time.Millisecond,
		Text:   values.Get("text"), Parent: values.Get("parent"), After: values.Get("after"), Limit: numberIn(values, "limit", usualCalls),
	}
	var problems gateway.Problems
	outcome := func(field, value string) {
		if value != "" && !slices.Contains(outcomes(), value) {
			problems.Add(breaks(field, "enum", map[string]any{"allowedValues": outcomes()},
				gateway.Textf("%s must be one of %s, is %q", field, gateway.Names(outcomes()), gateway.Short(value))))
		}
	}
	outcome("outcome", q.Outcome)
	for name, into := range map[string]*[]string{
		"notClient": &q.Not.Clients, "notServer": &q.Not.Servers, "notTool": &q.Not.Tools, "notOutcome": &q.Not.Outcomes,
	} {
		*into = slices.DeleteFunc(slices.Clone(values[name]), func(value string) bool { return value == "" })
	}
	for _, value := range q.Not.Outcomes {
		outcome("notOutcome", value)
	}
	for _, moment := range []struct {
		name string
		into *time.Time
	}{{"since", &q.Since}, {"until", &q.Until}} {
		text := values.Get(moment.name)
		if text == "" {
			continue
		}
		at, ok := history.ParseTime(text, now)
		if !ok {
			problems.Add(breaks(moment.name, "format", map[string]any{"format": "date-time"},
				gateway.Textf("%s must be a time such as 2026-11-15T14:00:00Z, or an age such as 10m, 2h or 7d, is %q", moment.name, gateway.Short(text))))
		}
		*moment.into = at
	}
	wrong := problems.Err()
	if wrong == nil && !q.Since.IsZero() && !q.Until.IsZero() && q.Until.Before(q.Since) {
		problems.Add(breaks("until", "not", nil, gateway.Textf("until is earlier than since, so no call can be between them")))
		wrong = problems.Err()
	}
	if wrong != nil {
		return q, wrong
	}
	return q, nil
}

// outcomes returns the outcomes that calls can be selected by.
func outcomes() []string {
	all := []string{client.OutcomeOK, history.OutcomeError, "tool_error", "server_error"}
	for _, code := range gateway.Codes() {
		all = append(all, code.String())
	}
	return all
}
