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
}

// TemplateList lists the templates.
type TemplateList struct {
	Templates []Template `json:"templates"`
}

// UseTemplate asks for the workflows of a template.
type UseTemplate struct {
	Template string          `json:"template" doc:"The id of the template."`
	ID       string          `json:"id,omitempty" doc:"The id of the workflow; the template's unless said."`
	Name     string          `json:"name,omitempty" doc:"Shown to people and agents; the template's title unless said."`
	Match    json.RawMessage `json:"match,omitempty" doc:"Which calls it is for."`
	Params   json.RawMessage `json:"params,omitempty" doc:"The parameters of the template, an object."`
}

// Templates lists the templates of workflows.
func (c *Client) Templates(ctx context.Context) (TemplateList, error) {
	var out TemplateList
	return out, c.do(ctx, http.MethodGet, "/v1/workflow-templates", nil, &out)
}

// UseTemplate makes workflows of a template, as drafts.
func (c *Client) UseTemplate(ctx context.Context, in json.RawMessage) (WorkflowList, error) {
	var out WorkflowList
	return out, c.do(ctx, http.MethodPost, "/v1/workflow-templates", in, &out)
}
