package api

import (
	"cmp"
	"encoding/json"
	"math"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"genkan/internal/api/client"
	"genkan/internal/gateway"
	"genkan/internal/lang"
	"genkan/internal/workflow"
	"genkan/internal/workflow/template"
)

func (a *API) templateRoutes() []route {
	return []route{
		{
			method: "GET", path: "/v1/workflow-templates", id: "listWorkflowTemplates", summary: "List the templates of workflows",
			about: "params is a JSON Schema of what useWorkflowTemplate takes, to make a form of.", answer: client.TemplateList{}, serve: a.listTemplates,
		},
		{
			method: "POST", path: "/v1/workflow-templates", id: "useWorkflowTemplate", summary: "Make workflows of a template",
			about: "They are stored as drafts. Some templates make several. Without base all are new: those with an id that is taken are refused, and without id a free one is found.",
			query: []query{{name: "base", kind: "integer", about: "The version of the first workflow that this changes, if it exists.", least: 1, most: math.MaxInt32}},
			body:  client.UseTemplate{}, answer: client.MadeWorkflows{}, failures: []restError{restErrorOf(gateway.CodeNotFound), restErrorOf(gateway.CodeConflict)}, serve: a.useTemplate,
		},
		{
			method: "POST", path: "/v1/workflows/{id}/update", id: "updateWorkflow", summary: "Take over the scripts that the template of a workflow has now",
			about:  "They become the next version, a draft. All else stays. It is refused if the template has not changed since the newest version was made.",
			answer: client.WorkflowDetails{}, failures: []restError{restErrorOf(gateway.CodeNotFound), restErrorOf(gateway.CodeConflict)}, serve: a.updateWorkflow,
		},
	}
}

func (a *API) listTemplates(w http.ResponseWriter, _ *http.Request, _ gateway.Identity) {
	out := client.TemplateList{Templates: []client.Template{}}
	for _, t := range template.All() {
		if a.language() == lang.Japanese {
			t = t.Japanese()
		}
		made := client.Template{ID: t.ID, Title: t.Title, Description: t.Description, Params: t.Params, NeedsMatch: t.NeedsMatch, Makes: t.Types()}
		if h := t.Hook; h != nil {
			settings, _ := json.Marshal(h.Settings)
			made.Hook = &client.TemplateHook{
				Label: h.Label, Types: h.Types, Blocking: h.Blocking, Partial: h.Partial, Behind: h.Behind,
				CallOnError: h.CallOnError, Settings: settings, Script: h.Script,
			}
		}
		out.Templates = append(out.Templates, made)
	}
	encode(w, http.StatusOK, out)
}

// madeOf makes the workflows that a request asks for.
func (a *API) madeOf(in client.UseTemplate) ([]workflow.Definition, error) {
	options := template.Options{ID: in.ID, Name: in.Name, Japanese: a.language() == lang.Japanese}
	if len(in.Match) > 0 {
		if err := json.Unmarshal(in.Match, &options.Match); err != nil {
			return nil, refused(breaks("match", "type", map[string]any{"type": "object"}, gateway.Textf("match cannot be read: %s", err.Error())))
		}
	}
	a.completeTools(options.Match.Tools)
	return template.Use(in.Template, in.Params, options)
}

// completeTools puts the server before the name of a tool that only one server has.
func (a *API) completeTools(patterns []string) {
	for i, pattern := range patterns {
		name := strings.TrimPrefix(pattern, "!")
		if strings.Contains(name, "__") {
			continue
		}
		full, found := "", 0
		for _, t := range a.opt.House().Snapshot().List(gateway.KindTool) {
			if t.Name == name {
				full = t.Source.Name() + "__" + name
				found++
			}
		}
		if found == 1 {
			patterns[i] = strings.TrimSuffix(pattern, name) + full
		}
	}
}

func (a *API) useTemplate(w http.ResponseWriter, r *http.Request, _ gateway.Identity) {
	var in client.UseTemplate
	if status, wrong := decodeBody(w, r, &in); wrong != nil {
		a.refuseBody(w, status, wrong)
		return
	}
	made, err := a.madeOf(in)
	if err != nil {
		a.fail(w, err)
		return
	}
	base := numberIn(r.URL.Query(), "base", 0)
	if in.ID == "" && base == 0 {
		template := made[0].ID
		for n := 2; a.anyExists(r, made); n++ {
			in.ID = template + "-" + strconv.Itoa(n)
			if made, err = a.madeOf(in); err != nil {
				a.fail(w, err)
				return
			}
		}
	}
	bases := make([]int, len(made))
	// All can be stored, or none is.
	for i, d := range made {
		if err := cmp.Or(checkFree(d.ID), a.checkBase(r, d.ID, base)); err != nil {
			a.fail(w, err)
			return
		}
		if newest, err := a.opt.Workflows.Workflow(r.Context(), d.ID, 0); err == nil {
			bases[i] = newest.Version // the others belong to the first
		}
	}
	if bases[0] != 0 {
		bases[0] = base
	}
	out := client.MadeWorkflows{Workflows: []client.Workflow{}, Warnings: a.unmatched(&made[0].Match)}
	for i, d := range made {
		saved, err := a.opt.Workflows.Save(r.Context(), d, bases[i])
		if err != nil {
			a.fail(w, err)
			return
		}
		out.Workflows = append(out.Workflows, a.workflowOf(r, saved))
	}
	encode(w, http.StatusOK, out)
}

// anyExists reports whether the id of one of the workflows is taken.
func (a *API) anyExists(r *http.Request, made []workflow.Definition) bool {
	return slices.ContainsFunc(made, func(d workflow.Definition) bool {
		_, err := a.opt.Workflows.Workflow(r.Context(), d.ID, 0)
		return err == nil
	})
}

// unmatched says which patterns of servers and tools match none that there is now.
func (a *API) unmatched(m *workflow.Match) (warnings []string) {
	var names []string
	snapshot := a.opt.House().Snapshot()
	for _, kind := range gateway.Kinds() {
		for _, t := range snapshot.List(kind) {
			names = append(names, t.Source.Name()+"__"+t.Name)
		}
	}
	servers := a.serverNames()
	for _, pattern := range (&workflow.Match{Servers: m.Servers}).NoServers(servers) {
		text := gateway.Textf("No server is called %s now", gateway.Short(pattern))
		if near := gateway.Nearest(pattern, slices.Values(servers)); near != "" {
			text = gateway.Textf("No server is called %s now; did you mean %s?", gateway.Short(pattern), near)
		}
		warnings = append(warnings, a.language().Text(text))
	}
	for _, pattern := range m.UnmatchedTools(names) {
		text := gateway.Textf("No tool matches %s now", gateway.Short(pattern))
		if near := gateway.Nearest(pattern, slices.Values(names)); near != "" {
			text = gateway.Textf("No tool matches %s now; did you mean %s?", gateway.Short(pattern), near)
		}
		warnings = append(warnings, a.language().Text(text))
	}
	return warnings
}

func (a *API) updateWorkflow(w http.ResponseWriter, r *http.Request, _ gateway.Identity) {
	s, err := a.opt.Workflows.Workflow(r.Context(), r.PathValue("id"), 0)
	if err != nil {
		a.fail(w, err)
		return
	}
	next, newer := template.Newer(*s.Definition)
	switch {
	case s.MadeFrom.Template == "":
		err = gateway.Errorf(gateway.CodeConflict, "workflow %q was not made from a template, so there is nothing to take over", s.ID)
	case !newer:
		err = gateway.Errorf(gateway.CodeConflict, "workflow %q has the scripts that the template %s has now", s.ID, s.MadeFrom.Template)
	default:
		_, err = a.opt.Workflows.SaveDraft(r.Context(), next, s.Base(), "")
	}
	if err != nil {
		a.fail(w, err)
		return
	}
	a.sendDetails(w, r, 0)
}
