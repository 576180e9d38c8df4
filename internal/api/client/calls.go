package client

import (
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"strconv"
	"time"
)

// CallEntry holds the facts of a call in the history.
type CallEntry struct {
	ID          string    `json:"id" doc:"As request_id in the log."`
	Parent      string    `json:"parent,omitempty" doc:"The id of the call that made this one."`
	StartedAt   time.Time `json:"startedAt"`
	TookMillis  float64   `json:"tookMillis" doc:"How long the call took in all."`
	Client      string    `json:"client" doc:"Who called: the name of a token, admin, local or local:NAME."`
	Program     string    `json:"program,omitempty" doc:"The program that called, by its own word."`
	Via         string    `json:"via,omitempty" doc:"The way that the call came in: http, sse, stdio, rest or items."`
	View        string    `json:"view,omitempty" doc:"What the caller saw: servers, @profile, ?mode; nothing for all tools."`
	Method      string    `json:"method" doc:"The method of MCP, such as tools/call."`
	Server      string    `json:"server,omitempty" doc:"Nothing if it is unknown for which server the call was."`
	Tool        string    `json:"tool,omitempty" doc:"The name that clients use. For prompts and resources it is the method."`
	Through     string    `json:"through,omitempty" doc:"The tool that made the call for the client, such as call_tool of search mode."`
	Outcome     string    `json:"outcome" doc:"ok, tool_error if the tool reported an error, server_error if the server answered with one, or why genkan did not get an answer: invalid, not_found, denied, unauthenticated, conflict, limited, unavailable, timeout, canceled, internal. A single call that has not ended is running."`
	Error       string    `json:"error,omitempty" doc:"What went wrong, without arguments and secrets."`
	Attempts    int       `json:"attempts" doc:"How often the server was asked."`
	BytesIn     int       `json:"bytesIn"`
	BytesOut    int       `json:"bytesOut"`
	TokensIn    int       `json:"tokensIn" doc:"About how many tokens a model wrote for the call."`
	TokensOut   int       `json:"tokensOut" doc:"About how many tokens a model read for the answer."`
	TokensSaved int       `json:"tokensSaved,omitempty" doc:"About how many tokens the model was spared because the answer was stored and its outline returned. Negative for a call of read_result, which reads some of them after all."`
	Bodies      string    `json:"bodies" doc:"Whether what was sent and received is kept: kept; off, the configuration said no; local, it is kept only for clients without a token; lost, calls came faster than they could be written; unreadable, it cannot be decrypted."`
	Cut         bool      `json:"cut,omitempty" doc:"It is too long, and only the beginning of its bodies is kept."`
	Replayable  bool      `json:"replayable,omitempty" doc:"What the server received and answered is kept whole, so that workflows can be tried on it."`
}

// The values of CallEntry.Bodies.
const (
	BodiesKept       = "kept"
	BodiesOff        = "off"
	BodiesLocal      = "local"
	BodiesLost       = "lost"
	BodiesUnreadable = "unreadable"
)

// OutcomeOK is the outcome of a call that did what was asked, and OutcomeRunning that of
// one that has not ended.
const OutcomeOK, OutcomeRunning = "ok", "running"

// ListedCall is a call in a list.
type ListedCall struct {
	CallEntry

	Arguments string `json:"arguments,omitempty" doc:"The beginning of the arguments, on one line and without secrets, if they are kept."`
	Effect    string `json:"effect,omitempty" doc:"What workflows did, for admins: denied or changed; would_deny or would_change if they only watch."`
}

// CallList is a page of calls, the newest first.
type CallList struct {
	Calls         []ListedCall  `json:"calls" doc:"The one that ended last comes first."`
	Running       []CallStarted `json:"running,omitempty" doc:"The calls that have not ended, whatever the filters; of the first page only."`
	Next          string        `json:"next,omitempty" doc:"The after of the next page, if there is more."`
	Partial       bool          `json:"partial,omitempty" doc:"The search for text ran out of time; next goes on with it."`
	SearchedUntil *time.Time    `json:"searchedUntil,omitempty" doc:"With partial: calls that ended later were searched."`
	History       HistoryState  `json:"history"`
}

// HistoryState says what the call history keeps.
type HistoryState struct {
	On           bool       `json:"on" doc:"Whether calls are kept; record in the configuration."`
	Bodies       string     `json:"bodies" doc:"Whose bodies are kept: local, of clients without a token; all; or off."`
	Days         int        `json:"days" doc:"How long calls are kept."`
	Problem      string     `json:"problem,omitempty" doc:"Why not everything is kept now."`
	ProblemSince *time.Time `json:"problemSince,omitempty"`
	Stopped      bool       `json:"stopped,omitempty" doc:"The problem concerns whole calls, not only their bodies."`
	Dropped      int64      `json:"dropped" doc:"Calls that were lost since genkan started."`
	LostBodies   int64      `json:"lostBodies" doc:"Further calls whose bodies were lost since genkan started."`
}

// CallDetails is a call with what was sent and received.
type CallDetails struct {
	CallEntry

	OwnName  string     `json:"ownName,omitempty" doc:"For admins: the server's own name of the tool. Workflows match the tool as server__ownName."`
	Timing   CallTiming `json:"timing"`
	Note     string     `json:"note,omitempty" doc:"Why there is no request and no response."`
	Request  *CallBody  `json:"request,omitempty" doc:"The params of the request."`
	Response *CallBody  `json:"response,omitempty" doc:"The result, or the error that the server answered with."`
	Redacted []string   `json:"redacted" doc:"The rules by which secrets were taken out of request and response."`

	Workflows []WorkflowTrace `json:"workflows,omitempty" doc:"For admins: what workflows did to the call, if that is kept."`
}

// CallTiming says where the time of a call went.
type CallTiming struct {
	ServerMillis float64 `json:"serverMillis" doc:"In the server."`
	QueueMillis  float64 `json:"queueMillis" doc:"Waiting for the server's other calls."`
	HooksMillis  float64 `json:"hooksMillis" doc:"In workflows."`
	AskedMillis  float64 `json:"askedMillis" doc:"Waiting for a person's or a model's answer to a question of the server or of a workflow."`
	GenkanMillis float64 `json:"genkanMillis" doc:"The rest."`
}

// CallBody is what was sent or received, without secrets.
type CallBody struct {
	JSON json.RawMessage `json:"json,omitempty" doc:"The whole, unless it is cut."`
	Text string          `json:"text,omitempty" doc:"The beginning, if it is cut."`
	Cut  bool            `json:"cut" doc:"Only the beginning is kept."`
}

// CallStats are the sums of calls.
type CallStats struct {
	Seconds float64      `json:"seconds,omitempty" doc:"With since: the length of the time from since to until, or to now if that is earlier. Missing if since is in the future."`
	Total   CallSum      `json:"total"`
	Servers []CallSum    `json:"servers" doc:"One for each server; the one with the most calls comes first."`
	Tools   []CallSum    `json:"tools" doc:"One for each server and tool; the one with the most calls comes first."`
	History HistoryState `json:"history"`
}

// CallSum is what calls add up to.
type CallSum struct {
	Server      string  `json:"server,omitempty"`
	Tool        string  `json:"tool,omitempty"`
	Calls       int     `json:"calls"`
	Errors      int     `json:"errors" doc:"Calls whose outcome is not ok."`
	P50Millis   float64 `json:"p50Millis" doc:"Half of the calls took no longer."`
	P95Millis   float64 `json:"p95Millis" doc:"Of 100 calls, 95 took no longer, not counting the time in which people were asked."`
	TokensIn    int64   `json:"tokensIn"`
	TokensOut   int64   `json:"tokensOut"`
	TokensSaved int64   `json:"tokensSaved,omitempty" doc:"About how many tokens models were spared by outlines of large answers, less what they read with read_result."`
}

// CallSeries is how calls went over time.
type CallSeries struct {
	From        time.Time    `json:"from" doc:"When the first step begins."`
	StepSeconds int64        `json:"stepSeconds" doc:"How long a step is."`
	Total       []CallStep   `json:"total" doc:"All calls: one for each step, the oldest first, also where there was no call."`
	Groups      []CallCourse `json:"groups" doc:"With by: the servers or tools with the most calls."`
	History     HistoryState `json:"history"`
}

// CallCourse is how the calls of one server or tool went over time.
type CallCourse struct {
	Server string     `json:"server,omitempty"`
	Tool   string     `json:"tool,omitempty"`
	Calls  int        `json:"calls" doc:"Of all steps."`
	Steps  []CallStep `json:"steps" doc:"As total."`
}

// CallStep is what the calls that ended in a step add up to.
type CallStep struct {
	Calls       int     `json:"calls"`
	Errors      int     `json:"errors" doc:"Calls whose outcome is not ok."`
	P50Millis   float64 `json:"p50Millis" doc:"Half of the calls took no longer. 0 without calls."`
	P95Millis   float64 `json:"p95Millis" doc:"Of 100 calls, 95 took no longer. 0 without calls."`
	TokensIn    int64   `json:"tokensIn"`
	TokensOut   int64   `json:"tokensOut"`
	TokensSaved int64   `json:"tokensSaved" doc:"About how many tokens models were spared by outlines of large answers."`
}

// The groups of a CallSeries.
const (
	ByServer = "server"
	ByTool   = "tool"
)

// CallFilter selects calls. Zero values select all.
type CallFilter struct {
	Client, Server, Tool, Outcome string
	// SlowerMillis selects calls that took at least so long.
	SlowerMillis int64
	// Since and Until are times of RFC 3339, or ages such as 2h.
	Since, Until string
	// Text, Limit and After have no effect on CallStats.
	Text  string
	Limit int
	After string
}

// Values returns the filter as the query of a URL.
func (f CallFilter) Values() url.Values {
	q := url.Values{}
	for key, value := range map[string]string{
		"client": f.Client, "server": f.Server, "tool": f.Tool, "outcome": f.Outcome,
		"since": f.Since, "until": f.Until, "text": f.Text, "after": f.After,
	} {
		if value != "" {
			q.Set(key, value)
		}
	}
	if f.SlowerMillis > 0 {
		q.Set("slowerMillis", strconv.FormatInt(f.SlowerMillis, 10))
	}
	if f.Limit > 0 {
		q.Set("limit", strconv.Itoa(f.Limit))
	}
	return q
}

// Calls returns a page of the call history.
func (c *Client) Calls(ctx context.Context, f CallFilter) (CallList, error) {
	var out CallList
	return out, c.do(ctx, http.MethodGet, "/v1/calls?"+f.Values().Encode(), nil, &out)
}

// CallDetails returns a call of the history.
func (c *Client) CallDetails(ctx context.Context, id string) (CallDetails, error) {
	var out CallDetails
	return out, c.do(ctx, http.MethodGet, "/v1/calls/"+url.PathEscape(id), nil, &out)
}

// CancelCall ends a call that has not ended.
func (c *Client) CancelCall(ctx context.Context, id string) error {
	var out Done
	return c.do(ctx, http.MethodPost, "/v1/calls/"+url.PathEscape(id)+"/cancel", nil, &out)
}

// CallStats returns the sums of the calls that a filter selects.
func (c *Client) CallStats(ctx context.Context, f CallFilter) (CallStats, error) {
	f.Text, f.Limit, f.After = "", 0, ""
	var out CallStats
	return out, c.do(ctx, http.MethodGet, "/v1/calls/stats?"+f.Values().Encode(), nil, &out)
}
