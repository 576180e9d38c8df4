package client

import (
	"context"
	"net/http"
	"net/url"
	"time"
)

// Approval is a call that waits for a person's decision.
type Approval struct {
	ID        string    `json:"id"`
	Workflow  string    `json:"workflow"`
	Node      string    `json:"node"`
	Message   string    `json:"message,omitempty" doc:"What the workflow asks."`
	Call      string    `json:"call,omitempty" doc:"The id of the call."`
	Client    string    `json:"client"`
	Server    string    `json:"server,omitempty"`
	Tool      string    `json:"tool,omitempty"`
	Arguments string    `json:"arguments" doc:"Without the secrets that Genkan holds. In the list and in the request of the webhook, long strings are cut."`
	NotShown  int       `json:"notShown,omitempty" doc:"How many bytes of the arguments are missing because strings are cut. GET /v1/approvals/{id} has all of them."`
	Masked    bool      `json:"masked,omitempty" doc:"Parts of the arguments are hidden, because Genkan keeps them secret."`
	Hash      string    `json:"hash" doc:"Of the tool's name and the arguments. A call whose arguments change after the decision is refused."`
	AskedAt   time.Time `json:"askedAt"`
	ExpiresAt time.Time `json:"expiresAt" doc:"When the call is denied unless somebody decides."`
	InClient  bool      `json:"inClient,omitempty" doc:"The client asks its own person, too. The first answer counts."`
	Left      bool      `json:"left,omitempty" doc:"The caller has disconnected. Its protocol keeps the call, and it may come back for the answer."`

	Webhook        string `json:"webhook,omitempty" doc:"Whether the webhook of the configuration was told: sending, sent or failed."`
	WebhookProblem string `json:"webhookProblem,omitempty" doc:"Why that failed."`
}

// ApprovalList lists the pending approvals.
type ApprovalList struct {
	Approvals []Approval `json:"approvals" doc:"The oldest comes first."`
}

// ApprovalDecision decides an approval.
type ApprovalDecision struct {
	Decision string `json:"decision" doc:"approve or deny."`
	Reason   string `json:"reason,omitempty" doc:"With deny: why, for whoever made the call, in at most 300 characters."`
}

// The decisions.
const (
	Approve = "approve"
	Deny    = "deny"
)

// Approvals lists the pending approvals.
func (c *Client) Approvals(ctx context.Context) (ApprovalList, error) {
	var out ApprovalList
	return out, c.do(ctx, http.MethodGet, "/v1/approvals", nil, &out)
}

// Approval returns a pending approval with its whole arguments.
func (c *Client) Approval(ctx context.Context, id string) (Approval, error) {
	var out Approval
	return out, c.do(ctx, http.MethodGet, "/v1/approvals/"+url.PathEscape(id), nil, &out)
}

// Decide decides a pending approval.
func (c *Client) Decide(ctx context.Context, id string, decision ApprovalDecision) error {
	var out Done
	return c.do(ctx, http.MethodPost, "/v1/approvals/"+url.PathEscape(id), decision, &out)
}
