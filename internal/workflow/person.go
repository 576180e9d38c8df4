package workflow

import (
	"context"
	"encoding/json"

	"genkan/internal/gateway"
	"genkan/internal/jsonrpc"
)

// canAskPerson reports whether the client of a call shows forms to a person.
func canAskPerson(call *gateway.Call) bool {
	if call.Peer == nil {
		return false
	}
	elicitation := jsonrpc.Lookup(call.Capabilities(), "elicitation")
	// Older clients say nothing about forms, because there was nothing else.
	return elicitation != nil && (jsonrpc.Lookup(elicitation, "form") != nil || jsonrpc.Lookup(elicitation, "url") == nil)
}

// maxFormArguments is how much of a call's arguments a form shows, in bytes.
const maxFormArguments = 2000

// askPerson asks the person at the client whether a call may be made.
func (d *Desk) askPerson(ctx context.Context, q Question) (Decision, error) {
	message := q.Message
	if message == "" {
		message = d.say(gateway.Textf("The workflow %q asks before %s is called.", q.Workflow, q.Call.Tool.Exposed))
	}
	params, err := json.Marshal(map[string]any{
		"message": message + "\n" + q.Call.Tool.Exposed + " " + d.shownArguments(q, maxFormArguments),
		"requestedSchema": map[string]any{
			"type": "object", "required": []string{"allow"},
			"properties": map[string]any{"allow": map[string]any{"type": "boolean", "title": d.say(gateway.Textf("Allow this call"))}},
		},
	})
	if err != nil {
		return Decision{}, err
	}
	raw, err := q.Call.Ask(ctx, "elicitation/create", params)
	if err != nil {
		return Decision{}, err
	}
	granted := jsonrpc.LookupText(raw, "action") == "accept" && string(jsonrpc.Lookup(jsonrpc.Lookup(raw, "content"), "allow")) == "true"
	return Decision{Granted: granted, By: q.Call.Identity.ClientID}, nil
}

// say returns a text in the language of the options.
func (d *Desk) say(t gateway.Text) string {
	if d.opt.Translate == nil {
		return t.String()
	}
	return d.opt.Translate(t)
}
