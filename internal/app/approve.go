package app

import (
	"context"
	"encoding/json"

	"genkan/internal/gateway"
	"genkan/internal/jsonrpc"
	"genkan/internal/workflow"
)

// decide asks the person behind a client that can ask, and else waits for somebody who
// looks at the pending approvals.
func (p *Process) decide(ctx context.Context, q workflow.Question) (workflow.Decision, error) {
	if canAskPerson(q.Call) {
		return p.askPerson(ctx, q)
	}
	return p.workflows.desk.Ask(ctx, q)
}

// canAskPerson reports whether the client of a call shows forms to a person.
func canAskPerson(call *gateway.Call) bool {
	if call.Peer == nil {
		return false
	}
	elicitation := jsonrpc.Lookup(call.Capabilities(), "elicitation")
	// Older clients say nothing about forms, because there was nothing else.
	return elicitation != nil && (jsonrpc.Lookup(elicitation, "form") != nil || jsonrpc.Lookup(elicitation, "url") == nil)
}

// mostShown is how much of a call's arguments a person is shown, in bytes.
const mostShown = 2000

// askPerson asks whether a call may be made.
func (p *Process) askPerson(ctx context.Context, q workflow.Question) (workflow.Decision, error) {
	language := p.language()
	message := q.Message
	if message == "" {
		message = language.Sprintf("The workflow %q asks before %s is called.", q.Workflow, q.Call.Tool.Exposed)
	}
	arguments, cut := gateway.Cut(string(p.redactJSON(q.Arguments)), mostShown)
	if cut > 0 {
		arguments += "…"
	}
	params, err := json.Marshal(map[string]any{
		"message": message + "\n" + q.Call.Tool.Exposed + " " + arguments,
		"requestedSchema": map[string]any{
			"type": "object", "required": []string{"allow"},
			"properties": map[string]any{"allow": map[string]any{"type": "boolean", "title": language.Sprintf("Allow this call")}},
		},
	})
	if err != nil {
		return workflow.Decision{}, err
	}
	raw, err := q.Call.Ask(ctx, "elicitation/create", params)
	if err != nil {
		return workflow.Decision{}, err
	}
	granted := jsonrpc.LookupText(raw, "action") == "accept" && string(jsonrpc.Lookup(jsonrpc.Lookup(raw, "content"), "allow")) == "true"
	return workflow.Decision{Granted: granted, By: q.Call.Identity.ClientID}, nil
}
