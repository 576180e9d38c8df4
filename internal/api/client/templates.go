package client

import (
	"context"
	"encoding/json"
	"net/http"
)

// Template makes workflows for a common need.
type Template struct {
	ID          string          `json:"id"`
	Title       string          `json:"title"`
	Description string          `json:"description"`
	Params      json.RawMessage `json:"params" doc:"The JSON Schema of its parameters."`
	NeedsMatch  bool            `json:"needsMatch,omitempty" doc:"It is not meant for all calls, so match must be said."`
	Makes       []string        `json:"makes" doc:"The types of the workflows that it makes, one for each."`

	Hook *TemplateHook `json:"hook,omitempty" doc:"Set if the template can be a single node: a hook with template and params."`
}

// TemplateHook is a template as a single node of a workflow.
type TemplateHook struct {
	Label       string          `json:"label" doc:"A name for the node."`
	Types       []string        `json:"workflowTypes" doc:"The types of workflows that it is for."`
	Blocking    bool            `json:"blocking" doc:"What blocking of the hook should be."`
	Partial     bool            `json:"partial,omitempty" doc:"What partial of the hook should be."`
	Behind      bool            `json:"behind,omitempty" doc:"It needs the answer, so it stands behind the call. Another one that blocks stands before it."`
	CallOnError string          `json:"callOnError,omitempty" doc:"What onError of that call should be, so that the hook sees errors."`
	Settings    json.RawMessage `json:"settings" doc:"What the workflow should have, unless it has its own: limits."`
	Script      string          `json:"script" doc:"What it runs."`
}

// TemplateList lists the templates.
type TemplateList struct {
	Templates []Template `json:"templates"`
}

// UseTemplate asks for the workflows of a template.
type UseTemplate struct {
	Template string          `json:"template" doc:"The id of the template."`
	ID       string          `json:"id,omitempty" doc:"The id of the workflow. Unless said, it is the template's; with a number if that is taken and base is not said."`
	Name     string          `json:"name,omitempty" doc:"Shown to people and agents; the template's title unless said."`
	Match    json.RawMessage `json:"match,omitempty" doc:"Which calls it is for."`
	Params   json.RawMessage `json:"params,omitempty" doc:"The parameters of the template, an object."`
}

// MadeWorkflows are the workflows that a template has made.
type MadeWorkflows struct {
	Workflows []Workflow `json:"workflows"`
	Warnings  []string   `json:"warnings,omitempty" doc:"Patterns of match.servers and match.tools that match no server and no tool now."`
}

// Templates lists the templates of workflows.
func (c *Client) Templates(ctx context.Context) (TemplateList, error) {
	var out TemplateList
	return out, c.do(ctx, http.MethodGet, "/v1/workflow-templates", nil, &out)
}

// UseTemplate makes workflows of a template, as drafts. base is the version of the first
// that is changed; 0 if all are new.
func (c *Client) UseTemplate(ctx context.Context, in json.RawMessage, base int) (MadeWorkflows, error) {
	var out MadeWorkflows
	return out, c.do(ctx, http.MethodPost, "/v1/workflow-templates"+versionQuery("base", base), in, &out)
}
