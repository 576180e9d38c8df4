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

// mayAskPerson reports whether the client of a call may be asked instead of an
// administrator. The program that asks its person is often the agent that made the call,
// and nothing proves that a person answers. So clients with tokens are not asked, unless
// the workflow says so.
func mayAskPerson(q Question) bool {
	return canAskPerson(q.Call) && (q.AskClient || gateway.IsLocalClient(q.Call.Identity.ClientID))
}

// maxFormArguments is how long the arguments in a form may be, in bytes.
const maxFormArguments = 2000

// form returns the params with which a client asks its person whether a call may be made;
// nil if it is not asked. A form cannot be scrolled or opened, so it shows all of the
// arguments, or an administrator decides.
func (d *Desk) form(q Question, a *Approval) []byte {
	tool, arguments := gateway.Printable(a.Tool), gateway.Printable(a.Arguments)
	if !mayAskPerson(q) || a.NotShown > 0 || len(arguments) > maxFormArguments {
		return nil
	}
	message := q.Message
	if message == "" {
		message = d.say(gateway.Textf("The workflow %q asks before %s is called.", q.Workflow, tool))
	}
	message += "\n" + tool + " " + arguments
	if a.Masked {
		message += "\n" + d.say(gateway.Textf("Parts of the arguments are hidden, because Genkan keeps them secret."))
	}
	params, err := json.Marshal(map[string]any{
		"message": message,
		"requestedSchema": map[string]any{
			"type": "object", "required": []string{"allow"},
			"properties": map[string]any{"allow": map[string]any{"type": "boolean", "title": d.say(gateway.Textf("Allow this call"))}},
		},
	})
	if err != nil {
		return nil
	}
	return params
}

// askClient has a client ask its person with a form; nil asks nobody. answered is closed if
// the client could not ask. Call stop, which withdraws the question.
func askClient(ctx context.Context, call *gateway.Call, form []byte) (answered <-chan Decision, stop func()) {
	if form == nil {
		return nil, func() {}
	}
	ctx, cancel := context.WithCancel(ctx)
	answer, done := make(chan Decision, 1), make(chan struct{})
	go func() {
		defer close(done)
		raw, err := call.Ask(ctx, "elicitation/create", form)
		switch {
		case ctx.Err() != nil: // nobody waits for the answer
		case err != nil: // not a failure: the client could have such a call pass with failMode open
			close(answer)
		default:
			granted := jsonrpc.LookupText(raw, "action") == "accept" && string(jsonrpc.Lookup(jsonrpc.Lookup(raw, "content"), "allow")) == "true"
			answer <- Decision{Granted: granted, By: call.Identity.ClientID}
		}
	}()
	return answer, func() { cancel(); <-done }
}

// say returns a text in the language of the options.
func (d *Desk) say(t gateway.Text) string {
	if d.opt.Translate == nil {
		return t.String()
	}
	return d.opt.Translate(t)
}
