package api

import (
	"encoding/json"
	"net/http"

	"genkan/internal/api/client"
	"genkan/internal/gateway"
	"genkan/internal/lang"
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
			about: "They are stored as drafts. Some templates make several.",
			body:  client.UseTemplate{}, answer: client.WorkflowList{}, failures: []restError{restErrorOf(gateway.CodeNotFound), restErrorOf(gateway.CodeConflict)}, serve: a.useTemplate,
		},
	}
}

func (a *API) listTemplates(w http.ResponseWriter, _ *http.Request, _ gateway.Identity) {
	out := client.TemplateList{Templates: []client.Template{}}
	for _, t := range template.All() {
		if a.language() == lang.Japanese {
			t = t.Japanese()
		}
		out.Templates = append(out.Templates, client.Template{ID: t.ID, Title: t.Title, Description: t.Description, Params: t.Params, NeedsMatch: t.NeedsMatch})
	}
	encode(w, http.StatusOK, out)
}

func (a *API) useTemplate(w http.ResponseWriter, r *http.Request, _ gateway.Identity) {
	var in client.UseTemplate
	if status, wrong := decodeBody(w, r, &in); wrong != nil {
		a.refuseBody(w, status, wrong)
		return
	}
	options := template.Options{ID: in.ID, Name: in.Name}
	if len(in.Match) > 0 {
		if err := json.Unmarshal(in.Match, &options.Match); err != nil {
			a.fail(w, refused(breaks("match", "type", map[string]any{"type": "object"}, gateway.Textf("match cannot be read: %s", err.Error()))))
			return
		}
	}
	made, err := template.Use(in.Template, in.Params, options)
	if err != nil {
		a.fail(w, err)
		return
	}
	// All are new, or none is stored.
	for _, d := range made {
		if err := a.checkBase(r, d.ID, 0); err != nil {
			a.fail(w, err)
			return
		}
	}
	out := client.WorkflowList{Workflows: []client.Workflow{}}
	for _, d := range made {
		saved, err := a.opt.Workflows.Save(r.Context(), d, 0)
		if err != nil {
			a.fail(w, err)
			return
		}
		out.Workflows = append(out.Workflows, a.workflowOf(r, saved))
	}
	encode(w, http.StatusOK, out)
}
