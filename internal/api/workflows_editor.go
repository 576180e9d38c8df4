package api

import (
	"cmp"
	"io"
	"net/http"
	"slices"

	"genkan/internal/api/client"
	"genkan/internal/gateway"
	"genkan/internal/lang"
	"genkan/internal/script"
	"genkan/internal/workflow"
)

// The modes of workflows.
const modeEnforce, modeShadow = "enforce", "shadow"

const (
	// usualRuns and mostRuns are how many runs of a workflow are listed.
	usualRuns, mostRuns = 50, 500
	// mostNames is how many tools that a definition matches are named.
	mostNames = 100
)

// toolNamed finds a tool by a name that the client sees, or by the server's own name.
// An empty client sees all tools, and an empty server is any. It returns nil if there is
// none.
func (a *API) toolNamed(client, server, name string) *gateway.Tool {
	house := a.opt.House()
	fits := func(t *gateway.Tool) bool { return server == "" || t.Source.Name() == server }
	views := []gateway.View{{}}
	if client != "" { // a workflow may have renamed it for the client
		views = []gateway.View{{Audience: client}, {}}
		if server != "" {
			views = append(views, gateway.View{Audience: client, Servers: gateway.NewServerSet(server)})
		}
	}
	for _, view := range views {
		if t, ok := house.SnapshotOf(view).Tool(name); ok && fits(t) {
			return t
		}
	}
	for _, t := range house.Snapshot().Tools() {
		if fits(t) && (t.Source.Name()+"__"+t.Name == name || server != "" && t.Name == name) {
			return t
		}
	}
	return nil
}

// applying leaves the workflows that apply to the tool and the client of a query; all if
// it has neither.
func (a *API) applying(r *http.Request, all []workflow.Stored) ([]workflow.Stored, error) {
	asked := r.URL.Query()
	if !asked.Has("tool") && !asked.Has("client") {
		return all, nil
	}
	var tool *gateway.Tool
	if name := asked.Get("tool"); name != "" {
		if tool = a.toolNamed(asked.Get("client"), "", name); tool == nil {
			return nil, gateway.Errorf(gateway.CodeNotFound, "there is no tool %q; `genkan tools` lists them", gateway.Short(name))
		}
	}
	if tool != nil && asked.Get("drafts") == "true" {
		return slices.DeleteFunc(all, func(s workflow.Stored) bool { return !s.Matches(tool) }), nil
	}
	apply := a.opt.Engine.Set().Applying(tool, asked.Get("client"))
	return slices.DeleteFunc(all, func(s workflow.Stored) bool {
		return !slices.ContainsFunc(apply, func(w *workflow.Workflow) bool { return w.ID == s.ID })
	}), nil
}

// matchesOf counts what a definition is for. Tools that no list of tools has, such as
// read_result, count only if match names servers or tools: otherwise there would be more
// tools than GET /v1/tools has.
func (a *API) matchesOf(d *workflow.Definition) client.WorkflowMatches {
	out := client.WorkflowMatches{Names: []string{}, Conditional: d.Match.When != "", NoServers: d.Match.NoServers(a.serverNames())}
	sources := map[gateway.Source]bool{}
	snapshot := a.opt.House().Snapshot()
	named := len(d.Match.Servers)+len(d.Match.Tools) > 0
	for _, kind := range gateway.Kinds() {
		for _, t := range snapshot.List(kind) {
			if !d.Matches(t) {
				continue
			}
			if _, listed := snapshot.Entry(t.Exposed); kind == gateway.KindTool && !listed && !named {
				continue
			}
			sources[t.Source] = true
			if out.Tools++; out.Tools <= mostNames {
				out.Names = append(out.Names, t.Source.Name()+"__"+t.Name)
			}
		}
	}
	builtIn := a.opt.House().BuiltIn()
	for s := range sources {
		if gateway.IsExternal(s) && !slices.Contains(builtIn, s) {
			out.Servers++
		} else {
			out.BuiltIn = append(out.BuiltIn, s.Name())
		}
	}
	slices.Sort(out.BuiltIn)
	return out
}

// serverNames returns the names of all servers and parts of genkan.
func (a *API) serverNames() (names []string) {
	for _, s := range a.opt.House().Declared() {
		names = append(names, s.Name)
	}
	for _, s := range a.opt.House().BuiltIn() {
		names = append(names, s.Name())
	}
	return names
}

// inMode stores a version in another mode, as the newest.
func (a *API) inMode(r *http.Request, s workflow.Stored, mode string) (workflow.Stored, error) {
	if mode != modeEnforce && mode != modeShadow {
		return s, refused(breaks("mode", "enum", map[string]any{"allowedValues": []string{modeEnforce, modeShadow}},
			gateway.Textf("mode must be enforce or shadow, is %q", gateway.Short(mode))))
	}
	newest, err := a.opt.Workflows.Workflow(r.Context(), s.ID, 0)
	if err != nil {
		return s, err
	}
	if problems := a.opt.Workflows.Validate(r.Context(), s.Definition); len(problems) > 0 {
		return s, workflow.Invalid(s.ID, problems)
	}
	d := *s.Definition
	d.Mode = mode
	return a.opt.Workflows.SaveDraft(r.Context(), d, newest.Base(), "")
}

func (a *API) sendSwitch(w http.ResponseWriter, r *http.Request) {
	now, err := a.opt.Workflows.Switch(r.Context())
	if err != nil {
		a.fail(w, err)
		return
	}
	out := client.WorkflowSwitch{On: !now.Off, ChangedBy: now.By}
	if now.At != 0 {
		out.ChangedAt = now.At.Time().UTC()
	}
	encode(w, http.StatusOK, out)
}

func (a *API) getSwitch(w http.ResponseWriter, r *http.Request, _ gateway.Identity) {
	a.sendSwitch(w, r)
}

func (a *API) putSwitch(w http.ResponseWriter, r *http.Request, id gateway.Identity) {
	var in client.SwitchRequest
	if status, wrong := decodeBody(w, r, &in); wrong != nil {
		a.refuseBody(w, status, wrong)
		return
	}
	if in.On == nil {
		a.fail(w, refused(gateway.MissingField(nil, "on")))
		return
	}
	turn := a.opt.Workflows.TurnOff
	if *in.On {
		turn = a.opt.Workflows.TurnOn
	}
	if err := turn(r.Context(), id.ClientID); err != nil {
		a.fail(w, err)
		return
	}
	a.sendSwitch(w, r)
}

func (a *API) listNodeTypes(w http.ResponseWriter, _ *http.Request, _ gateway.Identity) {
	nodes, settings := workflow.Descriptions(a.language() == lang.Japanese)
	out := client.NodeTypes{Nodes: []client.NodeType{}, Kinds: []client.NodeKind{}, Settings: settings}
	for _, n := range nodes {
		out.Nodes = append(out.Nodes, client.NodeType(n))
	}
	for _, k := range workflow.Kinds() {
		out.Kinds = append(out.Kinds, client.NodeKind{
			Type: k.Type, WorkflowType: k.Workflow, Title: a.language().Text(k.Title), Description: a.language().Text(k.Description),
			When: k.When, Handles: append([]string{}, k.Handles...), HandlesIn: k.HandlesIn, Beside: k.Beside, New: k.New,
		})
	}
	encode(w, http.StatusOK, out)
}

func (a *API) scriptTypes(w http.ResponseWriter, _ *http.Request, _ gateway.Identity) {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.Header().Set("X-Content-Type-Options", "nosniff")
	_, _ = io.WriteString(w, script.Declarations(a.language() == lang.Japanese))
}

func (a *API) listRuns(w http.ResponseWriter, r *http.Request, _ gateway.Identity) {
	s, err := a.opt.Workflows.Workflow(r.Context(), r.PathValue("id"), 0)
	if err != nil {
		a.fail(w, err)
		return
	}
	outcome := r.URL.Query().Get("outcome")
	outcomes := []string{
		"", workflow.OutcomeOK, workflow.OutcomeDenied, workflow.OutcomeFailed, workflow.OutcomePassed, workflow.OutcomeCall,
		workflow.StatusDropped, workflow.KindChanged,
	}
	if !slices.Contains(outcomes, outcome) {
		a.fail(w, refused(breaks("outcome", "enum", map[string]any{"allowedValues": outcomes[1:]},
			gateway.Textf("%s is %q and must be one of %v", "outcome", gateway.Short(outcome), outcomes[1:]))))
		return
	}
	out := client.WorkflowRuns{Runs: []client.WorkflowTrace{}}
	if a.opt.Traces != nil {
		wanted := func(t *workflow.Trace) bool {
			return outcome == "" || t.Outcome == outcome || outcome == workflow.KindChanged && t.Changed
		}
		for _, t := range a.opt.Traces.Last(s.ID, numberIn(r.URL.Query(), "limit", usualRuns), wanted) {
			out.Runs = append(out.Runs, a.traceOf(t))
		}
	}
	encode(w, http.StatusOK, out)
}

// runStatsOf returns the figures about the runs of a workflow in a mode; nil if there are
// none.
func runStatsOf(all map[workflow.WorkflowAndMode]workflow.RunStats, key workflow.WorkflowAndMode) *client.RunStats {
	s, ok := all[key]
	if !ok {
		return nil
	}
	return &client.RunStats{
		Runs: s.Runs, Changed: s.Changed, Denied: s.Denied, Failed: s.Failed, Passed: s.Passed, CallFailed: s.CallFailed, Dropped: s.Dropped,
		P50Millis: inMillis(s.P50), P95Millis: inMillis(s.P95),
	}
}

// modeOf is the mode of a workflow that may not say it.
func modeOf(mode string) string { return cmp.Or(mode, modeEnforce) }
