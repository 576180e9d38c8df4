package api

import (
	"context"
	"net/http"

	"genkan/internal/api/client"
	"genkan/internal/gateway"
	"genkan/internal/workflow"
)

// Approvals are the calls that wait for a person.
type Approvals interface {
	List() []workflow.Approval
	// Decide decides one. who is the client that decides.
	Decide(ctx context.Context, id, who string, approve bool) error
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
			method: "POST", path: "/v1/approvals/{id}", who: forAdmins, id: "decideApproval", summary: "Decide whether a call may be made",
			about: "The call goes on, or is refused, at once. A decision holds for the arguments that were shown.",
			body:  client.ApprovalDecision{}, answer: client.Done{},
			failures: []restError{restErrorOf(gateway.CodeNotFound), restErrorOf(gateway.CodeConflict), restErrorOf(gateway.CodeUnavailable)}, serve: a.decideApproval,
		},
	}
}

// approvalOf returns an approval in REST's form, without its code.
func (a *API) approvalOf(p workflow.Approval) client.Approval {
	out := client.Approval{
		ID: p.ID, Workflow: p.Workflow, Node: p.Node, Message: p.Message, Call: p.Call, Client: p.Client, Server: p.Server, Tool: p.Tool,
		Arguments: p.Arguments, Hash: p.Hash, AskedAt: p.Asked.UTC(), ExpiresAt: p.ExpiresAt.UTC(),
		InClient: p.InClient, Webhook: string(p.Told),
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
	if a.opt.Approvals == nil {
		a.fail(w, gateway.Errorf(gateway.CodeUnavailable, "this genkan runs no workflows"))
		return
	}
	concerns(w, r.PathValue("id"))
	if err := a.opt.Approvals.Decide(r.Context(), r.PathValue("id"), id.ClientID, in.Decision == client.Approve); err != nil {
		a.fail(w, err)
		return
	}
	encode(w, http.StatusOK, client.Done{Success: true})
}
