package api

import (
	"bytes"
	"cmp"
	"encoding/json"
	"math"
	"net/http"
	"slices"
	"strconv"

	"genkan/internal/api/client"
	"genkan/internal/gateway"
	"genkan/internal/jsonrpc"
	"genkan/internal/workflow"
	"genkan/internal/workflow/template"
)

// anyObject is a body or answer that is a JSON object of any form.
type anyObject = map[string]json.RawMessage

func (a *API) workflowRoutes() []route {
	var (
		badInput    = restErrorOf(gateway.CodeInvalid)
		noSuchThing = restErrorOf(gateway.CodeNotFound)
		inTheWay    = restErrorOf(gateway.CodeConflict)
		version     = query{name: "version", kind: "integer", about: "The newest unless said.", least: 1, most: math.MaxInt32}
		base        = query{name: "base", kind: "integer", about: "The version that the change was made to. The header If-Match, with the ETag of an answer, says it more exactly.", least: 1, most: math.MaxInt32}
	)
	list := []route{
		{
			method: "GET", path: "/v1/workflows", id: "listWorkflows", summary: "List the workflows",
			about: "With tool or client, only those that run around its calls or make its list, in the order in which they see a call; with drafts, also those that do not run.",
			query: []query{
				{name: "tool", kind: "string", about: "Only workflows that apply to this tool: its name, or server__tool by the server's own names."},
				{name: "client", kind: "string", about: "Only workflows that apply to this client."},
				{name: "drafts", kind: "boolean", about: "With tool: the workflows that would apply to it if their newest version ran, whichever the client is."},
			},
			answer: client.WorkflowList{}, failures: []restError{noSuchThing}, serve: a.listWorkflows,
		},
		{
			method: "GET", path: "/v1/workflows/{id}", id: "getWorkflow", summary: "Show a workflow with its definition",
			about: "The ETag names the newest version and when it was saved, for If-Match.",
			query: []query{version}, answer: client.WorkflowDetails{}, failures: []restError{noSuchThing}, serve: a.getWorkflow,
		},
		{
			method: "PUT", path: "/v1/workflows/{id}", id: "putWorkflow", summary: "Store the next version of a workflow, as a draft",
			about: "The body is a definition. Tests in it replace those with the same ids; others stay. The version that runs stays until another is enabled. A workflow that exists is changed only if the version that the change was made to is its newest: base, or If-Match, or version and updatedAt in the definition. base alone does not notice that a draft was saved again under its number.",
			query: []query{
				base,
				{name: "draft", kind: "string", about: "A name for a series of changes, such as those of an editor that saves while somebody draws. The version takes the place of base, under its number, if base has the same name and client, and was never enabled."},
			},
			body: anyObject{}, answer: client.WorkflowDetails{}, failures: []restError{noSuchThing, inTheWay}, serve: a.putWorkflow,
		},
		{
			method: "DELETE", path: "/v1/workflows/{id}", id: "deleteWorkflow", summary: "Delete a workflow with all its versions",
			answer: client.Done{}, failures: []restError{noSuchThing, inTheWay}, serve: a.deleteWorkflow,
		},
		{
			method: "POST", path: "/v1/workflows/validate", id: "validateWorkflow", summary: "Check whether a definition can be enabled",
			about: "Nothing is stored. A definition with problems is an answer with valid false. matches tells which tools it is for, as the servers are now. The body may also be what useWorkflowTemplate takes.",
			body:  anyObject{}, answer: client.WorkflowCheck{}, serve: a.validateWorkflow,
		},
		{
			method: "POST", path: "/v1/workflows/{id}/enable", id: "enableWorkflow", summary: "Make a version of a workflow run",
			about: "Calls that are under way end with the version that they began with. A version with problems is refused, and without force one that fails a test. mode turns shadow mode on and off. With If-Match, what is enabled must be what has this ETag.",
			body:  client.EnableRequest{}, answer: client.Workflow{}, failures: []restError{noSuchThing, inTheWay}, serve: a.enableWorkflow,
		},
		{
			method: "POST", path: "/v1/workflows/{id}/disable", id: "disableWorkflow", summary: "Stop a workflow",
			answer: client.Workflow{}, failures: []restError{noSuchThing, inTheWay}, serve: a.disableWorkflow,
		},
		{
			method: "GET", path: "/v1/workflows/{id}/versions", id: "listWorkflowVersions", summary: "List the versions of a workflow",
			answer: client.WorkflowVersions{}, failures: []restError{noSuchThing}, serve: a.listVersions,
		},
		{
			method: "POST", path: "/v1/workflows/{id}/rollback", id: "rollbackWorkflow", summary: "Make an old version the newest again",
			about: "It becomes a new version, which runs if the workflow is enabled. If it cannot run, it is refused and nothing is stored.",
			body:  client.RollbackRequest{}, answer: client.Workflow{}, failures: []restError{noSuchThing, inTheWay}, serve: a.rollbackWorkflow,
		},
		{
			method: "GET", path: "/v1/workflows/{id}/export", id: "exportWorkflow", summary: "Get the definition of a workflow with its tests",
			query: []query{version}, answer: anyObject{}, failures: []restError{noSuchThing}, serve: a.exportWorkflow,
		},
		{
			method: "GET", path: "/v1/workflows/export", id: "exportWorkflows", summary: "Get all workflows and hook modules",
			answer: client.WorkflowExport{}, serve: a.exportWorkflows,
		},
		{
			method: "POST", path: "/v1/workflows/import", id: "importWorkflows", summary: "Store workflows and hook modules",
			about: "The body is a definition, or what exportWorkflows answers. A workflow that exists gets a new version, and its tests are replaced by those with the same ids; others stay. All are drafts: what runs stays.",
			body:  anyObject{}, answer: client.WorkflowImport{}, failures: []restError{inTheWay}, serve: a.importWorkflows,
		},
		{
			method: "GET", path: "/v1/workflows/{id}/tests", id: "listWorkflowTests", summary: "List the tests of a workflow",
			answer: client.WorkflowTests{}, failures: []restError{noSuchThing}, serve: a.listWorkflowTests,
		},
		{
			method: "POST", path: "/v1/workflows/{id}/tests", id: "runWorkflowTests", summary: "Run the tests of a workflow",
			about: "Nothing is sent. A test that fails is an answer with passed false. A draft and tests that are not kept can be tried, too.",
			body:  client.RunTestsRequest{}, answer: client.WorkflowTestResults{}, failures: []restError{noSuchThing, restErrorOf(gateway.CodeTimeout)}, serve: a.runWorkflowTests,
		},
		{
			method: "PUT", path: "/v1/workflows/{id}/tests/{test}", id: "putWorkflowTest", summary: "Keep a call with a workflow, and what the workflow must make of it",
			about: "A test that fails keeps the workflow from being enabled.",
			body:  client.NewWorkflowTest{}, answer: client.WorkflowTests{}, failures: []restError{noSuchThing, inTheWay}, serve: a.putWorkflowTest,
		},
		{
			method: "DELETE", path: "/v1/workflows/{id}/tests/{test}", id: "deleteWorkflowTest", summary: "Delete a test of a workflow",
			answer: client.Done{}, failures: []restError{noSuchThing, inTheWay}, serve: a.deleteWorkflowTest,
		},
		{
			method: "GET", path: "/v1/workflows/switch", id: "getWorkflowSwitch", summary: "Show whether workflows run at all",
			answer: client.WorkflowSwitch{}, serve: a.getSwitch,
		},
		{
			method: "PUT", path: "/v1/workflows/switch", id: "switchWorkflows", summary: "Turn all workflows off, or on again",
			about: "While they are off, calls pass as if there were none, and tools that workflows hide are there. Runs that have begun go on. It is kept across restarts, and logged with who did it.",
			body:  client.SwitchRequest{}, answer: client.WorkflowSwitch{}, serve: a.putSwitch,
		},
		{
			method: "GET", path: "/v1/workflow-nodes", id: "listNodeTypes", summary: "Describe the types of nodes, and the settings of workflows",
			about: "With JSON Schemas, to make forms of.", answer: client.NodeTypes{}, serve: a.listNodeTypes,
		},
		{
			method: "GET", path: "/v1/workflow-nodes/genkan.d.ts", id: "scriptTypes", summary: "The TypeScript declarations of what scripts see",
			answer: "", media: "text/plain", serve: a.scriptTypes,
		},
		{
			method: "GET", path: "/v1/workflows/{id}/runs", id: "listWorkflowRuns", summary: "List the last runs of a workflow, with what each node did",
			about: "Of the last 2,000 calls around which workflows ran, and the last 100 lists that they made.",
			query: []query{
				{name: "limit", kind: "integer", about: "How many.", least: 1, most: mostRuns, otherwise: usualRuns},
				{name: "outcome", kind: "string", about: "Only runs with this outcome: ok, denied, failed, passed, call_failed or dropped; or changed."},
			},
			answer: client.WorkflowRuns{}, failures: []restError{noSuchThing}, serve: a.listRuns,
		},
		{
			method: "GET", path: "/v1/workflows/{id}/stats", id: "workflowStats", summary: "Show how often a workflow and its nodes ran, and how long they took",
			answer: client.WorkflowStats{}, failures: []restError{noSuchThing}, serve: a.workflowStats,
		},
		{
			method: "POST", path: "/v1/workflows/{id}/replay", id: "replayWorkflow", summary: "Try a workflow on a call of the history",
			about: "The server's answer is the one that it gave then. Nothing is sent, asked, fetched or kept.",
			body:  client.ReplayRequest{}, answer: client.ReplayResult{}, failures: []restError{noSuchThing, inTheWay}, serve: a.replayWorkflow,
		},
		{
			method: "POST", path: "/v1/workflows/{id}/backtest", id: "backtestWorkflow", summary: "Try a workflow on the last calls of the history",
			about: "As replay, on many calls. It takes a minute at most.",
			body:  client.BacktestRequest{}, answer: client.BacktestResult{}, failures: []restError{noSuchThing, inTheWay}, serve: a.backtestWorkflow,
		},
		{
			method: "GET", path: "/v1/hook-modules", id: "listHookModules", summary: "List the scripts that hooks of several workflows use",
			answer: client.HookModuleList{}, serve: a.listModules,
		},
		{
			method: "GET", path: "/v1/hook-modules/{id}", id: "getHookModule", summary: "Show a hook module with its script",
			query: []query{version}, answer: client.HookModule{}, failures: []restError{noSuchThing}, serve: a.getModule,
		},
		{
			method: "PUT", path: "/v1/hook-modules/{id}", id: "putHookModule", summary: "Store the next version of a hook module",
			about: "Workflows that refer to it without a version run it at once. It is refused if one of them could not.",
			query: []query{base}, body: client.NewHookModule{}, answer: client.HookModule{}, failures: []restError{noSuchThing, inTheWay}, serve: a.putModule,
		},
		{
			method: "DELETE", path: "/v1/hook-modules/{id}", id: "deleteHookModule", summary: "Delete a hook module that no workflow uses",
			answer: client.Done{}, failures: []restError{noSuchThing, inTheWay}, serve: a.deleteModule,
		},
	}
	list = append(list, a.templateRoutes()...)
	for i := range list {
		list[i].who, list[i].largest = forAdmins, maxWorkflows
		list[i].failures = append(list[i].failures, badInput, restErrorOf(gateway.CodeUnavailable))
		if slices.Contains([]string{"putWorkflow", "deleteWorkflow", "enableWorkflow", "disableWorkflow", "rollbackWorkflow", "updateWorkflow"}, list[i].id) {
			list[i].serve = a.exceptLimits(list[i].serve)
		}
		list[i].serve = a.withWorkflows(list[i].serve)
	}
	return list
}

// withWorkflows refuses requests if there are no workflows, and names the subject of
// changes.
func (a *API) withWorkflows(serve handler) handler {
	return func(w http.ResponseWriter, r *http.Request, id gateway.Identity) {
		if a.opt.Workflows == nil || a.opt.Engine == nil {
			a.fail(w, gateway.Errorf(gateway.CodeUnavailable, "this genkan runs no workflows"))
			return
		}
		concerns(w, r.PathValue("id"))
		serve(w, r, id)
	}
}

// workflowOf describes a workflow.
func (a *API) workflowOf(r *http.Request, s workflow.Stored) client.Workflow {
	source := client.SourceDatabase
	if s.File != "" {
		source = client.SourceFile
	}
	_, outdated := template.Newer(*s.Definition)
	mode, match := s.Mode, &s.Match
	enabled := cmp.Or(s.Running, s.Ran)
	drafted := enabled != s.Version
	if drafted && enabled != 0 {
		if other, err := a.opt.Workflows.Workflow(r.Context(), s.ID, enabled); err == nil {
			drafted = !s.Same(other.Definition)
			if s.Running != 0 { // a draft may have others
				mode, match = other.Mode, &other.Match
			}
		}
	}
	stopped := 0
	if s.Running == 0 {
		stopped = s.Ran
	}
	return client.Workflow{
		Template: s.MadeFrom.Template, Set: template.Set(s.Definition), Outdated: outdated, LimitOf: limitOf(s.ID),
		ID: s.ID, Name: cmp.Or(s.Name, s.ID), Description: s.Description, Type: s.Type, Enabled: s.Running != 0, Running: s.Running, Newest: s.Version, Drafted: drafted,
		State: string(s.Phase(mode)), Stopped: stopped,
		Order: s.Order, Mode: modeOf(mode), Problems: len(a.opt.Workflows.Validate(r.Context(), s.Definition)),
		Source: source, UpdatedAt: s.UpdatedAt.Time().UTC(), ETag: tagOf(&s), Conditional: s.Match.When != "",
		Match: client.WorkflowMatch{Servers: match.Servers, Tools: match.Tools, Clients: match.Clients}, NoServers: match.NoServers(a.serverNames()),
	}
}

func (a *API) listWorkflows(w http.ResponseWriter, r *http.Request, _ gateway.Identity) {
	all, err := a.opt.Workflows.Workflows(r.Context())
	if err != nil {
		a.fail(w, err)
		return
	}
	slices.SortFunc(all, func(a, b workflow.Stored) int { return cmp.Or(cmp.Compare(a.Order, b.Order), cmp.Compare(a.ID, b.ID)) })
	if all, err = a.applying(r, all); err != nil {
		a.fail(w, err)
		return
	}
	out := client.WorkflowList{Workflows: []client.Workflow{}, Off: a.opt.Engine.Set().Off()}
	runs := a.opt.Engine.Runs()
	for _, s := range all {
		one := a.workflowOf(r, s)
		if one.Enabled {
			one.Runs = runStatsOf(runs, workflow.WorkflowAndMode{Workflow: s.ID, Shadow: one.Mode == modeShadow})
		}
		out.Workflows = append(out.Workflows, one)
	}
	encode(w, http.StatusOK, out)
}

// sendWorkflow answers with the newest version of a workflow, without its definition.
func (a *API) sendWorkflow(w http.ResponseWriter, r *http.Request) {
	s, err := a.opt.Workflows.Workflow(r.Context(), r.PathValue("id"), 0)
	if err != nil {
		a.fail(w, err)
		return
	}
	encode(w, http.StatusOK, a.workflowOf(r, s))
}

// sendDetails answers with a version of a workflow.
func (a *API) sendDetails(w http.ResponseWriter, r *http.Request, version int) {
	newest, err := a.opt.Workflows.Workflow(r.Context(), r.PathValue("id"), 0)
	shown := newest
	if err == nil && version != 0 {
		shown, err = a.opt.Workflows.Workflow(r.Context(), r.PathValue("id"), version)
	}
	if err != nil {
		a.fail(w, err)
		return
	}
	out := client.WorkflowDetails{
		Workflow: a.workflowOf(r, newest), Version: shown.Version,
		Found: a.problemsOf(a.opt.Workflows.Validate(r.Context(), shown.Definition)),
	}
	if out.Definition, err = definitionWith(shown, nil); err != nil {
		a.fail(w, err)
		return
	}
	w.Header().Set("ETag", tagOf(&newest))
	encode(w, http.StatusOK, out)
}

// definitionWith is the definition of a version that says whether it is enabled, with these
// tests.
func definitionWith(s workflow.Stored, tests []workflow.Test) (json.RawMessage, error) {
	d, err := s.WithTests(tests)
	if err != nil {
		return nil, err
	}
	d.Enabled = s.Running == d.Version
	return json.Marshal(d)
}

func (a *API) problemsOf(problems []workflow.Problem) []client.WorkflowProblem {
	out := []client.WorkflowProblem{}
	for _, p := range problems {
		one := client.WorkflowProblem{Node: p.Node, Case: p.Case, Reason: a.language().Text(p.Reason), Line: p.Line, Column: p.Column}
		if p.Name != p.Node {
			one.Label = p.Name
		}
		out = append(out, one)
	}
	return out
}

func (a *API) getWorkflow(w http.ResponseWriter, r *http.Request, _ gateway.Identity) {
	a.sendDetails(w, r, numberIn(r.URL.Query(), "version", 0))
}

// definitionIn reads a body that is a definition.
func (a *API) definitionIn(w http.ResponseWriter, r *http.Request) (*workflow.Definition, bool) {
	body, status, wrong := readBody(w, r)
	if wrong != nil {
		a.refuseBody(w, status, wrong)
		return nil, false
	}
	d, err := parseDefinition(body)
	if err != nil {
		a.fail(w, err)
		return nil, false
	}
	return d, true
}

// definitionsIn reads a definition, or those that a template makes.
func (a *API) definitionsIn(body []byte) ([]workflow.Definition, error) {
	if json.Valid(body) && jsonrpc.Lookup(body, "template") != nil {
		var in client.UseTemplate
		if _, wrong := decode(body, &in); wrong != nil {
			return nil, wrong
		}
		return a.madeOf(in)
	}
	d, err := parseDefinition(body)
	if err != nil {
		return nil, err
	}
	return []workflow.Definition{*d}, nil
}

// parseDefinition reads a definition in which no key stands twice.
func parseDefinition(raw []byte) (*workflow.Definition, error) {
	d, err := workflow.Parse(raw)
	if err != nil {
		return nil, err
	}
	if jsonrpc.TypeOf(bytes.TrimSpace(raw)) != "object" {
		return nil, invalid("the body is not what was expected: %s", gateway.Textf("it must be an object"))
	}
	if err := jsonrpc.CheckUnique(raw); err != nil {
		return nil, invalid("the body is not what was expected: %s", err)
	}
	return d, nil
}

// checkID makes sure that the body and the path are about the same.
func checkID(path, body string) error {
	if body == "" || body == path {
		return nil
	}
	return refused(breaks("id", "const", map[string]any{"allowedValue": path},
		gateway.Textf("the body is about %q, but the path about %q; an id stays what it is", gateway.Short(body), gateway.Short(path))))
}

func (a *API) putWorkflow(w http.ResponseWriter, r *http.Request, who gateway.Identity) {
	d, ok := a.definitionIn(w, r)
	if !ok {
		return
	}
	id := r.PathValue("id")
	base, wrong := baseOf(r)
	if wrong != nil {
		a.fail(w, wrong)
		return
	}
	if err := cmp.Or(checkID(id, d.ID), checkFree(id), a.checkThere(r, id, base.Version)); err != nil {
		a.fail(w, err)
		return
	}
	d.ID = id
	base = cmp.Or(base, workflow.Base{Version: d.Version, At: d.UpdatedAt})
	if err := a.checkBase(r, id, base.Version); err != nil {
		a.fail(w, err)
		return
	}
	draft := r.URL.Query().Get("draft")
	if draft != "" {
		draft = who.ClientID + " " + draft
	}
	if _, err := a.opt.Workflows.SaveDraft(r.Context(), *d, base, draft); err != nil {
		a.fail(w, err)
		return
	}
	a.sendDetails(w, r, 0)
}

func (a *API) deleteWorkflow(w http.ResponseWriter, r *http.Request, _ gateway.Identity) {
	id := r.PathValue("id")
	_, err := a.opt.Workflows.Workflow(r.Context(), id, 0)
	if err == nil {
		err = a.opt.Workflows.Delete(r.Context(), id)
	}
	if err != nil {
		a.fail(w, err)
		return
	}
	encode(w, http.StatusOK, client.Done{Success: true})
}

func (a *API) validateWorkflow(w http.ResponseWriter, r *http.Request, _ gateway.Identity) {
	unchanged(w)
	body, status, wrong := readBody(w, r)
	if wrong != nil {
		a.refuseBody(w, status, wrong)
		return
	}
	all, err := a.definitionsIn(body)
	if err != nil {
		a.fail(w, err)
		return
	}
	out := client.WorkflowCheck{Problems: []client.WorkflowProblem{}, Matches: a.matchesOf(&all[0])}
	for i := range all {
		out.Problems = append(out.Problems, a.problemsOf(a.opt.Workflows.Validate(r.Context(), &all[i]))...)
	}
	out.Valid = len(out.Problems) == 0
	encode(w, http.StatusOK, out)
}

func (a *API) enableWorkflow(w http.ResponseWriter, r *http.Request, _ gateway.Identity) {
	var in client.EnableRequest
	if status, wrong := decodeBody(w, r, &in); wrong != nil {
		a.refuseBody(w, status, wrong)
		return
	}
	if err := a.enable(r, in); err != nil {
		a.fail(w, err)
		return
	}
	a.sendWorkflow(w, r)
}

func (a *API) enable(r *http.Request, in client.EnableRequest) error {
	if in.Version < 0 {
		return refused(outside("version", strconv.Itoa(in.Version), 1, math.MaxInt32))
	}
	s, err := a.opt.Workflows.Workflow(r.Context(), r.PathValue("id"), in.Version)
	if err != nil {
		return err
	}
	if base, wrong := baseOf(r); wrong != nil {
		return wrong
	} else if base.Version != 0 && !base.Is(&s) {
		return workflow.SavedAgain(s.ID, s.Version)
	}
	if in.Mode != "" && in.Mode != modeOf(s.Mode) {
		if s, err = a.inMode(r, s, in.Mode); err != nil {
			return err
		}
	}
	if in.Force {
		return a.opt.Workflows.ForceEnable(r.Context(), s.ID, s.Version)
	}
	return a.opt.Workflows.Enable(r.Context(), s.ID, s.Version)
}

func (a *API) disableWorkflow(w http.ResponseWriter, r *http.Request, _ gateway.Identity) {
	s, err := a.opt.Workflows.Workflow(r.Context(), r.PathValue("id"), 0)
	if err == nil && s.Running != 0 {
		err = a.opt.Workflows.Disable(r.Context(), s.ID)
	}
	if err != nil {
		a.fail(w, err)
		return
	}
	a.sendWorkflow(w, r)
}

func (a *API) listVersions(w http.ResponseWriter, r *http.Request, _ gateway.Identity) {
	all, err := a.opt.Workflows.Versions(r.Context(), r.PathValue("id"))
	if err != nil {
		a.fail(w, err)
		return
	}
	newest, err := a.opt.Workflows.Workflow(r.Context(), r.PathValue("id"), 0)
	if err != nil {
		a.fail(w, err)
		return
	}
	out := client.WorkflowVersions{Versions: []client.WorkflowVersion{}}
	for _, d := range all {
		version := client.WorkflowVersion{
			Version: d.Version, Name: d.Name, UpdatedAt: d.UpdatedAt.Time().UTC(), Running: d.Version == newest.Running, Mode: modeOf(d.Mode),
		}
		if d.EnabledAt != 0 {
			at := d.EnabledAt.Time().UTC()
			version.EnabledAt = &at
		}
		out.Versions = append(out.Versions, version)
	}
	encode(w, http.StatusOK, out)
}

func (a *API) rollbackWorkflow(w http.ResponseWriter, r *http.Request, _ gateway.Identity) {
	var in client.RollbackRequest
	if status, wrong := decodeBody(w, r, &in); wrong != nil {
		a.refuseBody(w, status, wrong)
		return
	}
	if in.Version < 1 {
		a.fail(w, refused(outside("version", strconv.Itoa(in.Version), 1, math.MaxInt32)))
		return
	}
	s, err := a.opt.Workflows.Workflow(r.Context(), r.PathValue("id"), in.Version)
	if err == nil {
		_, err = a.opt.Workflows.Rollback(r.Context(), s.ID, in.Version)
	}
	if err != nil {
		a.fail(w, err)
		return
	}
	a.sendWorkflow(w, r)
}

func (a *API) workflowStats(w http.ResponseWriter, r *http.Request, _ gateway.Identity) {
	s, err := a.opt.Workflows.Workflow(r.Context(), r.PathValue("id"), 0)
	if err == nil && s.Running != 0 {
		s, err = a.opt.Workflows.Workflow(r.Context(), s.ID, s.Running)
	}
	if err != nil {
		a.fail(w, err)
		return
	}
	figures := a.opt.Engine.Stats(s.ID)
	runs := a.opt.Engine.Runs()
	out := client.WorkflowStats{
		Enforce: runStatsOf(runs, workflow.WorkflowAndMode{Workflow: s.ID}), Shadow: runStatsOf(runs, workflow.WorkflowAndMode{Workflow: s.ID, Shadow: true}),
		Nodes: []client.NodeStats{},
	}
	for _, n := range s.Nodes {
		f, ok := figures[n.ID]
		if !ok {
			continue
		}
		out.Nodes = append(out.Nodes, client.NodeStats{
			Node: n.ID, Runs: f.Runs, Errors: f.Errors, Killed: f.Killed, P50Millis: inMillis(f.P50), P95Millis: inMillis(f.P95),
		})
	}
	encode(w, http.StatusOK, out)
}
