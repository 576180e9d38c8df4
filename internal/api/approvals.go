package api

import (
	"context"
	"net/http"
	"strings"
	"unicode/utf8"

	"genkan/internal/api/client"
	"genkan/internal/gateway"
	"genkan/internal/workflow"
)

// Approvals are the calls that wait for a person.
type Approvals interface {
	List() []workflow.Approval
	// Get returns one with its whole arguments.
	Get(id string) (workflow.Approval, error)
	// Decide decides one.
	Decide(ctx context.Context, id string, decision workflow.Decision) error
	// Find and DecideByCode are for whoever has the code of one.
	Find(code string) (workflow.Approval, error)
	DecideByCode(ctx context.Context, code, hash, who string, approve bool) error
}

func (a *API) approvalRoutes() []route {
	return []route{
		{
			method: "GET", path: "/v1/approvals", who: forAdmins, id: "listApprovals", summary: "List the calls that wait for a person's decision",
			answer: client.ApprovalList{}, serve: a.listApprovals,
		},
		{
			method: "GET", path: "/v1/approvals/{id}", who: forAdmins, id: "getApproval", summary: "Show a call that waits for a person's decision",
			about:  "It has the whole arguments, of which the list cuts long strings.",
			answer: client.Approval{}, failures: []restError{restErrorOf(gateway.CodeNotFound), restErrorOf(gateway.CodeUnavailable)}, serve: a.getApproval,
		},
		{
			method: "POST", path: "/v1/approvals/{id}", who: forAdmins, id: "decideApproval", summary: "Decide whether a call may be made",
			about: "The call goes on, or is refused, at once. A decision holds for the arguments that were shown. Whoever made the call reads the reason.",
			body:  client.ApprovalDecision{}, answer: client.Done{},
			failures: []restError{restErrorOf(gateway.CodeNotFound), restErrorOf(gateway.CodeConflict), restErrorOf(gateway.CodeUnavailable)}, serve: a.decideApproval,
		},
	}
}

// approvalOf returns an approval in REST's form, without its code.
func (a *API) approvalOf(p workflow.Approval) client.Approval {
	out := client.Approval{
		ID: p.ID, Workflow: p.Workflow, Node: p.Node, Message: p.Message, Call: p.Call, Client: p.Client, Server: p.Server, Tool: p.Tool,
		Arguments: p.Arguments, NotShown: p.NotShown, Masked: p.Masked, Hash: p.Hash, AskedAt: p.Asked.UTC(), ExpiresAt: p.ExpiresAt.UTC(),
		InClient: p.InClient, Left: p.Left, Webhook: string(p.Told),
	}
	if p.Told == workflow.ToldFailed {
		out.WebhookProblem = a.language().Text(p.Problem)
	}
	return out
}

func (a *API) listApprovals(w http.ResponseWriter, _ *http.Request, _ gateway.Identity) {
	out := client.ApprovalList{Approvals: []client.Approval{}}
	if a.opt.Approvals != nil {
		for _, p := range a.opt.Approvals.List() {
			out.Approvals = append(out.Approvals, a.approvalOf(p))
		}
	}
	encode(w, http.StatusOK, out)
}

func (a *API) getApproval(w http.ResponseWriter, r *http.Request, _ gateway.Identity) {
	if a.opt.Approvals == nil {
		a.fail(w, gateway.Errorf(gateway.CodeUnavailable, "this genkan runs no workflows"))
		return
	}
	p, err := a.opt.Approvals.Get(r.PathValue("id"))
	if err != nil {
		a.fail(w, err)
		return
	}
	encode(w, http.StatusOK, a.approvalOf(p))
}

// longestReason is how many characters the reason of a decision may have.
const longestReason = 300

func (a *API) decideApproval(w http.ResponseWriter, r *http.Request, id gateway.Identity) {
	var in client.ApprovalDecision
	if status, wrong := decodeBody(w, r, &in); wrong != nil {
		a.refuseBody(w, status, wrong)
		return
	}
	if in.Decision != client.Approve && in.Decision != client.Deny {
		a.fail(w, refused(breaks("decision", "enum", map[string]any{"allowedValues": []string{client.Approve, client.Deny}},
			gateway.Textf("decision must be approve or deny, is %q", gateway.Short(in.Decision)))))
		return
	}
	if n := utf8.RuneCountInString(in.Reason); n > longestReason {
		a.fail(w, refused(breaks("reason", "maxLength", map[string]any{"limit": longestReason},
			gateway.Textf("%s must have at most %d characters, has %d", "reason", longestReason, n))))
		return
	}
	if in.Reason != "" && in.Decision == client.Approve {
		a.fail(w, refused(breaks("reason", "not", nil, gateway.Textf("reason goes with deny: nobody reads why a call was approved"))))
		return
	}
	if a.opt.Approvals == nil {
		a.fail(w, gateway.Errorf(gateway.CodeUnavailable, "this genkan runs no workflows"))
		return
	}
	concerns(w, r.PathValue("id"))
	decision := workflow.Decision{Granted: in.Decision == client.Approve, By: id.ClientID, Reason: gateway.Printable(strings.Join(strings.Fields(in.Reason), " "))}
	if err := a.opt.Approvals.Decide(r.Context(), r.PathValue("id"), decision); err != nil {
		a.fail(w, err)
		return
	}
	encode(w, http.StatusOK, client.Done{Success: true})
}
