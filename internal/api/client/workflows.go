package client

import (
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"strconv"
	"time"
)

// Workflow is a workflow without its definition.
type Workflow struct {
	ID          string    `json:"id"`
	Name        string    `json:"name"`
	Description string    `json:"description,omitempty"`
	Type        string    `json:"workflowType" doc:"The method of the calls that it is for: tools/call, tools/list, prompts/get or resources/read."`
	Enabled     bool      `json:"enabled" doc:"Whether a version of it runs."`
	State       string    `json:"state" doc:"active or shadow, as mode says, if a version of it runs; stopped, if one ran before; draft, if none ever did."`
	Running     int       `json:"runningVersion,omitempty" doc:"The version that runs."`
	Stopped     int       `json:"stoppedVersion,omitempty" doc:"The version that ran until the workflow was stopped."`
	Newest      int       `json:"newestVersion"`
	Drafted     bool      `json:"drafted,omitempty" doc:"The newest version is a draft: it is not what runs, or ran last."`
	Order       int       `json:"order" doc:"The workflow with the lowest sees a call first and its answer last."`
	Mode        string    `json:"mode" doc:"enforce; or shadow, if it only watches. That of the version that runs, or of the newest if none does."`
	Problems    int       `json:"problemCount" doc:"How many things keep the newest version from being enabled."`
	Source      string    `json:"source" doc:"Where it is kept: database, or file if it can only be changed in its file."`
	UpdatedAt   time.Time `json:"updatedAt" doc:"When the newest version was made."`
	ETag        string    `json:"etag" doc:"Names the newest version and when it was saved, for the header If-Match of a change."`
	Conditional bool      `json:"conditional,omitempty" doc:"It has match.when, so whether it runs depends on the call."`

	LimitOf   string        `json:"limitOf,omitempty" doc:"The token whose limit it carries out. It is changed by PUT /v1/tokens/NAME/limit alone, and runs also while all workflows are turned off."`
	Match     WorkflowMatch `json:"match" doc:"Which calls it is for: that of the version that runs, or of the newest if none does."`
	NoServers []string      `json:"noServers,omitempty" doc:"The patterns of match by which it is for no server that there is now."`
	Runs      *RunStats     `json:"runs,omitempty" doc:"Its runs since it was enabled or genkan started, in its mode; only in lists."`

	Template string `json:"template,omitempty" doc:"The template that it was made from."`
	Set      string `json:"set,omitempty" doc:"Names the workflows that the template has made together, for several types of calls: they have the same."`
	Outdated bool   `json:"outdated,omitempty" doc:"The template has other scripts now than when the newest version was made; POST /v1/workflows/ID/update stores a draft with them."`
}

// WorkflowMatch is what the match of a definition names.
type WorkflowMatch struct {
	Servers []string `json:"servers,omitempty"`
	Tools   []string `json:"tools,omitempty"`
	Clients []string `json:"clients,omitempty"`
}

// WorkflowList lists the workflows.
type WorkflowList struct {
	Workflows []Workflow `json:"workflows" doc:"By order and id."`
	Off       bool       `json:"off,omitempty" doc:"All workflows are turned off: none runs, whatever enabled says."`
}

// WorkflowSwitch says whether workflows run at all.
type WorkflowSwitch struct {
	On        bool      `json:"on"`
	ChangedBy string    `json:"changedBy,omitempty" doc:"Who turned them off or on last."`
	ChangedAt time.Time `json:"changedAt,omitzero"`
}

// SwitchRequest turns all workflows on or off.
type SwitchRequest struct {
	On *bool `json:"on"`
}

// WorkflowMatches says what a definition is for, as the servers are now.
type WorkflowMatches struct {
	Servers     int      `json:"servers" doc:"How many servers have any of it, without the parts of genkan itself."`
	BuiltIn     []string `json:"builtIn,omitempty" doc:"The parts of genkan itself that have any of it, such as kb."`
	Tools       int      `json:"tools" doc:"How many tools, or prompts or resources, as its workflowType says."`
	Names       []string `json:"names" doc:"The first 100 of them, as server__tool by the servers' own names."`
	Conditional bool     `json:"conditional,omitempty" doc:"It has match.when, so whether it runs depends on the call."`
	NoServers   []string `json:"noServers,omitempty" doc:"The patterns of match by which it is for no server that there is now."`
}

// NodeTypes describe what workflows are made of.
type NodeTypes struct {
	Nodes    []NodeType      `json:"nodes"`
	Kinds    []NodeKind      `json:"kinds" doc:"What people know nodes as. A node is of the first kind that fits it. Those that are added most come first."`
	Settings json.RawMessage `json:"settings" doc:"A JSON Schema of what a definition has beside nodes and edges: match, limits, mode and others."`
}

// NodeType is a type of nodes.
type NodeType struct {
	Type        string          `json:"type"`
	Title       string          `json:"title"`
	Description string          `json:"description"`
	Data        json.RawMessage `json:"data" doc:"A JSON Schema of the node's data."`
}

// NodeKind is what people know a node as: a hook is a script that the call waits for, or one
// beside the path.
type NodeKind struct {
	Type         string         `json:"type" doc:"The type of the nodes."`
	WorkflowType string         `json:"workflowType,omitempty" doc:"The type of the workflows that have it; all unless said."`
	Title        string         `json:"title"`
	Description  string         `json:"description"`
	When         map[string]any `json:"when,omitempty" doc:"What a node of this kind has in its data; nothing unless said."`
	Handles      []string       `json:"handles" doc:"The ways out, for sourceHandle, with error if it can fail."`
	HandlesIn    string         `json:"handlesIn,omitempty" doc:"The key of data whose members have further handles, which come first: the cases of a condition."`
	Beside       bool           `json:"beside,omitempty" doc:"Nobody waits for it, so it runs beside the path."`
	New          map[string]any `json:"new,omitzero" doc:"The data of a node that is added. Nobody adds a kind without."`
}

// WorkflowRuns lists runs of a workflow.
type WorkflowRuns struct {
	Runs []WorkflowTrace `json:"runs" doc:"The newest comes first."`
}

// WorkflowDetails is a version of a workflow.
type WorkflowDetails struct {
	Workflow
	Version    int               `json:"version" doc:"The version of definition and problems."`
	Definition json.RawMessage   `json:"definition"`
	Found      []WorkflowProblem `json:"problems" doc:"What keeps this version from being enabled."`
}

// WorkflowProblem is something that is wrong with a definition.
type WorkflowProblem struct {
	Node   string `json:"node,omitempty" doc:"The id of the node that has it; nothing for the whole workflow."`
	Label  string `json:"label,omitempty" doc:"The node's label, if it has one: what people who draw know it by."`
	Case   string `json:"case,omitempty" doc:"The handle of the case of a condition that has it."`
	Reason string `json:"reason"`
	Line   int    `json:"line,omitempty" doc:"In the script or expression, from 1."`
	Column int    `json:"column,omitempty"`
}

// WorkflowCheck says whether a definition can be enabled.
type WorkflowCheck struct {
	Valid    bool              `json:"valid"`
	Problems []WorkflowProblem `json:"problems"`
	Matches  WorkflowMatches   `json:"matches"`
}

// EnableRequest asks for a version to run.
type EnableRequest struct {
	Version int  `json:"version,omitempty" doc:"The newest unless said."`
	Force   bool `json:"force,omitempty" doc:"Enable it though its tests fail. The log notes it."`

	Mode string `json:"mode,omitempty" doc:"enforce, or shadow, which only records what it would have done. A version in the other mode is stored as a new one. As the definition says unless said."`
}

// RollbackRequest asks for an old version to become the newest.
type RollbackRequest struct {
	Version int `json:"version"`
}

// WorkflowVersion is one version of a workflow.
type WorkflowVersion struct {
	Version   int       `json:"version"`
	Name      string    `json:"name"`
	UpdatedAt time.Time `json:"updatedAt"`
	Running   bool      `json:"running"`
	Mode      string    `json:"mode" doc:"enforce, or shadow."`

	EnabledAt *time.Time `json:"enabledAt,omitempty" doc:"When it was enabled last; nothing if it never was, or if nobody knows it."`
}

// WorkflowVersions lists the versions of a workflow.
type WorkflowVersions struct {
	Versions []WorkflowVersion `json:"versions" doc:"The newest comes first."`
}

// WorkflowExport has workflows and the hook modules that they may refer to.
type WorkflowExport struct {
	Workflows   []json.RawMessage `json:"workflows" doc:"Definitions."`
	HookModules []NewHookModule   `json:"hookModules,omitempty"`
}

// WorkflowImport says what an import did.
type WorkflowImport struct {
	Workflows   []ImportedWorkflow `json:"workflows"`
	HookModules []ImportedWorkflow `json:"hookModules"`
}

// ImportedWorkflow is a workflow or hook module that was imported.
type ImportedWorkflow struct {
	ID       string `json:"id"`
	Version  int    `json:"version"`
	Status   string `json:"status" doc:"added, changed or unchanged. A workflow of which only tests have changed has no new version."`
	Problems int    `json:"problemCount" doc:"How many things keep it from being enabled."`
}

// WorkflowStats are figures about the nodes of a workflow since genkan started.
type WorkflowStats struct {
	Enforce *RunStats   `json:"enforce,omitempty" doc:"Its runs in this mode."`
	Shadow  *RunStats   `json:"shadow,omitempty"`
	Nodes   []NodeStats `json:"nodes" doc:"Those that have run, in the order of the definition that runs."`
}

// RunStats are figures about runs.
type RunStats struct {
	Runs       int64   `json:"runs"`
	Changed    int64   `json:"changed" doc:"The call, its answer or both."`
	Denied     int64   `json:"denied"`
	Failed     int64   `json:"failed" doc:"It failed, and the call was refused."`
	Passed     int64   `json:"passed" doc:"It failed, and the call passed."`
	CallFailed int64   `json:"callFailed" doc:"The call itself failed or was canceled."`
	Dropped    int64   `json:"dropped" doc:"Runs beside calls that did not take place, because too many waited."`
	P50Millis  float64 `json:"p50Millis" doc:"Half of the last runs took no longer, without the call and without people."`
	P95Millis  float64 `json:"p95Millis"`
}

// NodeStats are figures about a node.
type NodeStats struct {
	Node      string  `json:"node"`
	Runs      int64   `json:"runs"`
	Errors    int64   `json:"errors"`
	Killed    int64   `json:"killed" doc:"Errors of scripts that took too long or too much memory, or crashed."`
	P50Millis float64 `json:"p50Millis" doc:"Half of the last runs took no longer."`
	P95Millis float64 `json:"p95Millis" doc:"Of 100 of the last runs, 95 took no longer."`
}

// ReplayRequest asks what a workflow makes of a call of the history.
type ReplayRequest struct {
	Call       string          `json:"call" doc:"The id of the call."`
	Definition json.RawMessage `json:"definition,omitempty" doc:"A draft to try in place of what is stored."`
	Version    int             `json:"version,omitempty" doc:"The newest unless said."`
}

// ReplayResult is what a workflow makes of a call of the history.
type ReplayResult struct {
	Call    string          `json:"call"`
	Matched bool            `json:"matched" doc:"Whether the workflow is for the call. It was not run if not."`
	Trace   *WorkflowTrace  `json:"trace,omitempty"`
	Result  json.RawMessage `json:"result,omitempty" doc:"What the caller would get, without secrets."`
	// Redacted names rules of the call history; what a workflow replaces is not among them.
	Redacted []string `json:"redacted,omitempty" doc:"The rules that took secrets out of result. The caller would get them."`
	Error    string   `json:"error,omitempty" doc:"The error that the caller would get."`
	// Whoever may replay a call sees what was sent and answered anyway, in the result of a
	// workflow that changes nothing.
	Given      *ReplayGiven `json:"given,omitempty" doc:"What the workflow was run on."`
	Incomplete bool         `json:"incomplete,omitempty" doc:"A script failed because it needed what a replay does not do: it called a tool, or fetched something. What becomes of such a call is not known."`
}

// ReplayGiven is a call of the history as its client made it, and what its server answered,
// without secrets.
type ReplayGiven struct {
	Params   json.RawMessage `json:"params"`
	Answer   json.RawMessage `json:"answer"`
	Redacted []string        `json:"redacted,omitempty" doc:"The rules that took secrets out."`
}

// BacktestRequest asks what a workflow makes of the last calls of the history.
type BacktestRequest struct {
	Last       int             `json:"last,omitempty" doc:"How many calls, from 1 to 100,000; 1,000 unless said."`
	Since      string          `json:"since,omitempty" doc:"Only calls that ended at this time of RFC 3339 or later, or in the last 10m, 2h or 7d."`
	Definition json.RawMessage `json:"definition,omitempty" doc:"A draft to try in place of what is stored."`
	Version    int             `json:"version,omitempty" doc:"The newest unless said."`
}

// BacktestResult counts what a workflow makes of calls.
type BacktestResult struct {
	Calls        int               `json:"calls" doc:"Calls that the workflow was run on: denied, changed, failed, incomplete and unchanged."`
	Denied       int               `json:"denied"`
	Changed      int               `json:"changed" doc:"The call, its answer or both."`
	Failed       int               `json:"failed" doc:"The workflow failed."`
	Incomplete   int               `json:"incomplete" doc:"A script called a tool or fetched something, which a backtest does not do, so what becomes of the call is not known."`
	Unchanged    int               `json:"unchanged"`
	Asked        int               `json:"asked" doc:"For how many a person would have been asked. They count as if the person had agreed."`
	Unmatched    int               `json:"unmatched" doc:"Calls that the workflow is not for."`
	Skipped      int               `json:"skipped" doc:"Calls that cannot be replayed: they are too long to be kept whole, nothing of them is kept, or they did not reach a server."`
	Cut          int               `json:"cut" doc:"Those of skipped that were too long."`
	TooLarge     int               `json:"tooLarge" doc:"Those of cut that the workflow is for and that limits.payloadKB is too low for: it would fail on them."`
	Partial      bool              `json:"partial,omitempty" doc:"It ran out of time, and older calls were not tried."`
	P50Millis    float64           `json:"p50Millis" doc:"What the workflow adds to half of the calls at most."`
	P95Millis    float64           `json:"p95Millis" doc:"What it adds to 95 of 100 calls at most."`
	BytesBefore  int64             `json:"bytesBefore" doc:"The size of the answers as the servers gave them, without those of refused calls."`
	BytesAfter   int64             `json:"bytesAfter" doc:"Their size as callers would get them."`
	TokensBefore int64             `json:"tokensBefore" doc:"About how many tokens a model would have read for these answers."`
	TokensAfter  int64             `json:"tokensAfter" doc:"About how many it would read with the workflow."`
	Examples     []BacktestExample `json:"examples" doc:"Some of the calls that were denied, changed or failed."`
	Matched      []string          `json:"matched" doc:"The ids of the newest 200 calls at most that the workflow was run on."`
}

// BacktestExample is a call that a workflow does something about.
type BacktestExample struct {
	Call    string `json:"call"`
	Outcome string `json:"outcome" doc:"denied, failed or changed."`
}

// WorkflowTrace is what a run of a workflow did. Secrets are taken out.
type WorkflowTrace struct {
	Workflow   string         `json:"workflow"`
	Name       string         `json:"name,omitempty" doc:"What it was called when it ran. It may have been deleted since, and another may have its id."`
	Version    int            `json:"version"`
	Mode       string         `json:"mode"`
	Call       string         `json:"call,omitempty" doc:"The id of the call; nothing for a list that was made for a client."`
	Client     string         `json:"client,omitempty"`
	Tool       string         `json:"tool,omitempty" doc:"The name that clients use, if the call is one of a tool."`
	StartedAt  time.Time      `json:"startedAt"`
	Outcome    string         `json:"outcome" doc:"ok, denied, failed, passed (it failed and let the call pass), call_failed (the call itself failed) or dropped (it did not run, because too much waited)."`
	Changed    bool           `json:"changed" doc:"Whether the call or its answer was changed."`
	Sent       bool           `json:"sent" doc:"Whether the call was sent on."`
	Effect     string         `json:"effect,omitempty" doc:"What it did to the call: denied or changed; would_deny or would_change if it only watches (mode shadow), so that the call went on as it was."`
	Detached   bool           `json:"detached,omitempty" doc:"It is that of a hook that nobody waited for."`
	TookMillis float64        `json:"tookMillis" doc:"What its nodes took, without the call and without people."`
	Redacted   []string       `json:"redacted,omitempty" doc:"The rules by which secrets were taken out of what is shown here. Other marks are the workflow's."`
	Steps      []WorkflowStep `json:"steps"`
}

// WorkflowStep is what one node did.
type WorkflowStep struct {
	Node        string          `json:"node"`
	Label       string          `json:"label,omitempty" doc:"What people called the node when it ran; empty if they had not named it."`
	Type        string          `json:"type,omitempty"`
	Status      string          `json:"status" doc:"ok, error, timeout, oom, crashed, skipped, denied or dropped."`
	Handle      string          `json:"handle,omitempty" doc:"The way out that it took."`
	QueueMillis float64         `json:"queueMillis" doc:"Waiting for a worker."`
	RunMillis   float64         `json:"runMillis"`
	WaitMillis  float64         `json:"waitMillis" doc:"The part of runMillis in which a script waited for what it had asked for."`
	BytesIn     int             `json:"bytesIn,omitempty"`
	BytesOut    int             `json:"bytesOut,omitempty"`
	Patch       json.RawMessage `json:"patch,omitempty" doc:"What it changed, as a JSON Patch of {request, response}."`
	Console     []ConsoleLine   `json:"console,omitempty"`
	Error       string          `json:"error,omitempty"`
	Line        int             `json:"line,omitempty" doc:"Of the error, in the script."`
	Column      int             `json:"column,omitempty"`
}

// ConsoleLine is what a script printed.
type ConsoleLine struct {
	Level string `json:"level"`
	Text  string `json:"text"`
}

// WorkflowTest is a call that is kept with a workflow, and what the workflow must make of
// it.
type WorkflowTest struct {
	ID     string          `json:"id,omitempty" doc:"As in the path."`
	Name   string          `json:"name,omitempty"`
	Call   TestedCall      `json:"call"`
	Answer json.RawMessage `json:"answer,omitempty" doc:"The result that the server gives; an empty one unless said."`
	Expect ExpectedOutcome `json:"expect"`
}

// TestedCall is the call of a test.
type TestedCall struct {
	Params      json.RawMessage `json:"params" doc:"Those of the request, as in MCP: {name, arguments}."`
	Server      string          `json:"server,omitempty" doc:"The server's own name. Without it, the name in params is server__tool."`
	Tool        string          `json:"tool,omitempty"`
	Annotations json.RawMessage `json:"annotations,omitempty" doc:"Those of the tool."`
	Client      string          `json:"client,omitempty" doc:"Who calls."`
}

// ExpectedOutcome says what a workflow must make of a call. What is not said is not
// checked.
type ExpectedOutcome struct {
	Outcome   string          `json:"outcome,omitempty" doc:"ok, denied, failed, passed or unmatched."`
	Changed   *bool           `json:"changed,omitempty" doc:"Whether the call or its answer is changed."`
	Reason    string          `json:"reasonContains,omitempty" doc:"A part of the reason why the call is refused."`
	Arguments json.RawMessage `json:"arguments,omitempty" doc:"What the server receives."`
	Contains  string          `json:"responseContains,omitempty" doc:"A part of a text in the response."`
	Response  json.RawMessage `json:"response,omitempty" doc:"The whole response."`
}

// NewWorkflowTest is a test that is to be kept.
type NewWorkflowTest struct {
	ID     string             `json:"id,omitempty" doc:"As in the path."`
	Name   string             `json:"name,omitempty"`
	From   string             `json:"from,omitempty" doc:"The id of a call of the history, whose call and answer are taken, without secrets. Without expect, the newest version must go on to do what it does now."`
	Call   NewTestedCall      `json:"call,omitzero"`
	Answer json.RawMessage    `json:"answer,omitempty" doc:"The result that the server gives; an empty one unless said."`
	Expect NewExpectedOutcome `json:"expect,omitzero"`
}

// NewTestedCall and NewExpectedOutcome are the parts of a NewWorkflowTest.
type (
	NewTestedCall      TestedCall
	NewExpectedOutcome ExpectedOutcome
)

// WorkflowTests lists the tests of a workflow.
type WorkflowTests struct {
	Tests []WorkflowTest `json:"tests"`
}

// RunTestsRequest asks for the tests of a workflow to be run.
type RunTestsRequest struct {
	Version    int               `json:"version,omitempty" doc:"The newest unless said."`
	Definition json.RawMessage   `json:"definition,omitempty" doc:"A draft to try in place of what is stored."`
	Tests      []NewWorkflowTest `json:"tests,omitempty" doc:"Tests to run in place of those that are kept. Each needs an id."`
}

// WorkflowTestResults are the results of a workflow's tests.
type WorkflowTestResults struct {
	Passed int                  `json:"passed" doc:"How many tests passed."`
	Failed int                  `json:"failed"`
	Tests  []WorkflowTestResult `json:"tests"`
}

// WorkflowTestResult is the result of a test.
type WorkflowTestResult struct {
	ID         string         `json:"id"`
	Name       string         `json:"name,omitempty"`
	Passed     bool           `json:"passed"`
	Outcome    string         `json:"outcome"`
	Reason     string         `json:"reason,omitempty"`
	Mismatches []TestMismatch `json:"mismatches,omitempty" doc:"What is not as expected."`
	Trace      *WorkflowTrace `json:"trace,omitempty" doc:"Of a test that failed."`
}

// TestMismatch is something that is not as a test expects it.
type TestMismatch struct {
	What string          `json:"what" doc:"outcome, changed, reason, arguments or response."`
	Want json.RawMessage `json:"want"`
	Got  json.RawMessage `json:"got"`
}

// HookModule is a script that several hooks use.
type HookModule struct {
	ID          string    `json:"id"`
	Description string    `json:"description,omitempty"`
	Version     int       `json:"version"`
	UpdatedAt   time.Time `json:"updatedAt"`
	Workflows   []string  `json:"workflows" doc:"The workflows whose newest or running version uses it."`
	Script      string    `json:"script,omitempty" doc:"Not in lists."`

	Params json.RawMessage `json:"params,omitempty" doc:"A JSON Schema of the params that hooks give it, to make a form of."`
}

// HookModuleList lists the hook modules.
type HookModuleList struct {
	HookModules []HookModule `json:"hookModules"`
}

// NewHookModule is the next version of a hook module.
type NewHookModule struct {
	ID          string `json:"id,omitempty" doc:"As in the path."`
	Description string `json:"description,omitempty"`
	Script      string `json:"script"`

	Params json.RawMessage `json:"params,omitempty" doc:"A JSON Schema of the params that hooks give it, to make a form of."`
}

func workflowPath(id, rest string) string { return "/v1/workflows/" + url.PathEscape(id) + rest }

// versionQuery is the query for a version; 0 is the newest.
func versionQuery(name string, version int) string {
	if version == 0 {
		return ""
	}
	return "?" + name + "=" + strconv.Itoa(version)
}

// WorkflowSwitch says whether workflows run at all.
func (c *Client) WorkflowSwitch(ctx context.Context) (WorkflowSwitch, error) {
	var out WorkflowSwitch
	return out, c.do(ctx, http.MethodGet, "/v1/workflows/switch", nil, &out)
}

// SwitchWorkflows turns all workflows on or off.
func (c *Client) SwitchWorkflows(ctx context.Context, on bool) (WorkflowSwitch, error) {
	var out WorkflowSwitch
	return out, c.do(ctx, http.MethodPut, "/v1/workflows/switch", SwitchRequest{&on}, &out)
}

// WorkflowTests lists the tests of a workflow.
func (c *Client) WorkflowTests(ctx context.Context, id string) (WorkflowTests, error) {
	var out WorkflowTests
	return out, c.do(ctx, http.MethodGet, workflowPath(id, "/tests"), nil, &out)
}

// PutWorkflowTest keeps a test with a workflow.
func (c *Client) PutWorkflowTest(ctx context.Context, id, test string, in NewWorkflowTest) (WorkflowTests, error) {
	var out WorkflowTests
	return out, c.do(ctx, http.MethodPut, workflowPath(id, "/tests/"+url.PathEscape(test)), in, &out)
}

// DeleteWorkflowTest deletes a test of a workflow.
func (c *Client) DeleteWorkflowTest(ctx context.Context, id, test string) error {
	var out Done
	return c.do(ctx, http.MethodDelete, workflowPath(id, "/tests/"+url.PathEscape(test)), nil, &out)
}

// HookModules lists the hook modules.
func (c *Client) HookModules(ctx context.Context) (HookModuleList, error) {
	var out HookModuleList
	return out, c.do(ctx, http.MethodGet, "/v1/hook-modules", nil, &out)
}

// HookModule shows a version of a hook module; 0 is the newest.
func (c *Client) HookModule(ctx context.Context, id string, version int) (HookModule, error) {
	var out HookModule
	return out, c.do(ctx, http.MethodGet, "/v1/hook-modules/"+url.PathEscape(id)+versionQuery("version", version), nil, &out)
}

// PutHookModule stores the next version of a hook module. base is the version that it was
// made of; 0 for a new one.
func (c *Client) PutHookModule(ctx context.Context, id string, in NewHookModule, base int) (HookModule, error) {
	var out HookModule
	return out, c.do(ctx, http.MethodPut, "/v1/hook-modules/"+url.PathEscape(id)+versionQuery("base", base), in, &out)
}

// DeleteHookModule deletes a hook module that no workflow uses.
func (c *Client) DeleteHookModule(ctx context.Context, id string) error {
	var out Done
	return c.do(ctx, http.MethodDelete, "/v1/hook-modules/"+url.PathEscape(id), nil, &out)
}

// Workflows lists the workflows.
func (c *Client) Workflows(ctx context.Context) (WorkflowList, error) {
	var out WorkflowList
	return out, c.do(ctx, http.MethodGet, "/v1/workflows", nil, &out)
}

// Workflow shows a version of a workflow; 0 is the newest.
func (c *Client) Workflow(ctx context.Context, id string, version int) (WorkflowDetails, error) {
	var out WorkflowDetails
	return out, c.do(ctx, http.MethodGet, workflowPath(id, versionQuery("version", version)), nil, &out)
}

// PutWorkflow stores a definition as the next version, as a draft. base is the version
// that it was made of; 0 takes that of the definition.
func (c *Client) PutWorkflow(ctx context.Context, id string, definition json.RawMessage, base int) (WorkflowDetails, error) {
	var out WorkflowDetails
	return out, c.do(ctx, http.MethodPut, workflowPath(id, versionQuery("base", base)), definition, &out)
}

// DeleteWorkflow deletes a workflow with all its versions.
func (c *Client) DeleteWorkflow(ctx context.Context, id string) error {
	var out Done
	return c.do(ctx, http.MethodDelete, workflowPath(id, ""), nil, &out)
}

// CheckWorkflow says whether a definition can be enabled.
func (c *Client) CheckWorkflow(ctx context.Context, definition json.RawMessage) (WorkflowCheck, error) {
	var out WorkflowCheck
	return out, c.do(ctx, http.MethodPost, "/v1/workflows/validate", definition, &out)
}

// EnableWorkflow makes a version of a workflow run.
func (c *Client) EnableWorkflow(ctx context.Context, id string, in EnableRequest) (Workflow, error) {
	var out Workflow
	return out, c.do(ctx, http.MethodPost, workflowPath(id, "/enable"), in, &out)
}

// UpdateWorkflow stores a draft with the scripts that the workflow's template has now.
func (c *Client) UpdateWorkflow(ctx context.Context, id string) (WorkflowDetails, error) {
	var out WorkflowDetails
	return out, c.do(ctx, http.MethodPost, workflowPath(id, "/update"), nil, &out)
}

// DisableWorkflow stops a workflow.
func (c *Client) DisableWorkflow(ctx context.Context, id string) (Workflow, error) {
	var out Workflow
	return out, c.do(ctx, http.MethodPost, workflowPath(id, "/disable"), nil, &out)
}

// WorkflowVersions lists the versions of a workflow.
func (c *Client) WorkflowVersions(ctx context.Context, id string) (WorkflowVersions, error) {
	var out WorkflowVersions
	return out, c.do(ctx, http.MethodGet, workflowPath(id, "/versions"), nil, &out)
}

// RollbackWorkflow makes an old version the newest.
func (c *Client) RollbackWorkflow(ctx context.Context, id string, version int) (Workflow, error) {
	var out Workflow
	return out, c.do(ctx, http.MethodPost, workflowPath(id, "/rollback"), RollbackRequest{version}, &out)
}

// ExportWorkflow returns the definition of a version of a workflow; 0 is the newest.
func (c *Client) ExportWorkflow(ctx context.Context, id string, version int) (json.RawMessage, error) {
	var out json.RawMessage
	return out, c.do(ctx, http.MethodGet, workflowPath(id, "/export"+versionQuery("version", version)), nil, &out)
}

// ExportWorkflows returns all workflows and hook modules.
func (c *Client) ExportWorkflows(ctx context.Context) (WorkflowExport, error) {
	var out WorkflowExport
	return out, c.do(ctx, http.MethodGet, "/v1/workflows/export", nil, &out)
}

// ImportWorkflows stores a definition, or all that an export has, as drafts.
func (c *Client) ImportWorkflows(ctx context.Context, in json.RawMessage) (WorkflowImport, error) {
	var out WorkflowImport
	return out, c.do(ctx, http.MethodPost, "/v1/workflows/import", in, &out)
}

// WorkflowStats returns figures about the nodes of a workflow.
func (c *Client) WorkflowStats(ctx context.Context, id string) (WorkflowStats, error) {
	var out WorkflowStats
	return out, c.do(ctx, http.MethodGet, workflowPath(id, "/stats"), nil, &out)
}

// ReplayWorkflow runs a workflow on a call of the history.
func (c *Client) ReplayWorkflow(ctx context.Context, id string, in ReplayRequest) (ReplayResult, error) {
	var out ReplayResult
	return out, c.do(ctx, http.MethodPost, workflowPath(id, "/replay"), in, &out)
}

// BacktestWorkflow runs a workflow on the last calls of the history.
func (c *Client) BacktestWorkflow(ctx context.Context, id string, in BacktestRequest) (BacktestResult, error) {
	var out BacktestResult
	return out, c.do(ctx, http.MethodPost, workflowPath(id, "/backtest"), in, &out)
}

// RunWorkflowTests runs the tests of a workflow with one of its versions; 0 is the
// newest.
func (c *Client) RunWorkflowTests(ctx context.Context, id string, version int) (WorkflowTestResults, error) {
	var out WorkflowTestResults
	return out, c.do(ctx, http.MethodPost, workflowPath(id, "/tests"), RunTestsRequest{Version: version}, &out)
}
