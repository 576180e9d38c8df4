package app

import (
	"time"

	"genkan/internal/api/client"
	"genkan/internal/events"
	"genkan/internal/gateway"
	"genkan/internal/workflow"
)

// runSink takes the traces of workflows.
type runSink struct{ p *Process }

// Trace keeps what a run of a workflow did, and publishes that it has ended. Publishing
// costs no allocation as long as nobody follows events.
func (s runSink) Trace(t workflow.Trace) {
	p := s.p
	kept := t
	if who := (gateway.Identity{ClientID: t.Client, Admin: t.Client == gateway.AdminClient}); t.Call != "" && !keepsBodies(p.Config().Record, who) {
		kept = t.WithoutBodies()
	}
	p.workflows.traces.Trace(kept)
	if !p.live.Followed() {
		p.live.Skip(events.Workflows)
		return
	}
	run := client.WorkflowRun{
		Workflow: t.Workflow, Version: t.Version, Mode: modeOf(t.Mode), Call: t.Call, StartedAt: t.Started.UTC(),
		TookMillis: millis(t.Took()), Outcome: t.Outcome, Changed: t.Changed, Sent: t.Sent, Detached: t.Detached,
	}
	p.live.Publish(events.Event{Topic: events.Workflows, Name: client.EventWorkflowRun, Client: t.Client, Data: events.ForAdmins(run)})
}

func modeOf(mode string) string {
	if mode == "" {
		return "enforce"
	}
	return mode
}

func millis(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }

// workflowChanged publishes a change of workflows or hook modules.
func (p *Process) workflowChanged(c workflow.Change) {
	data := client.WorkflowChange{ID: c.Workflow, Version: c.Version, By: c.By}
	about := client.EventWorkflow
	switch {
	case c.Module != "":
		about, data.ID = client.EventModule, c.Module
	case c.Workflow == "":
		about = client.EventWorkflows
	case c.What == workflow.ChangeDeleted:
		p.workflows.traces.Gone(c.Workflow)
	}
	p.live.Publish(events.Event{Topic: events.Workflows, Name: about + c.What, Data: events.ForAdmins(data)})
}

func approvalEvent(a workflow.Approval) client.ApprovalEvent {
	return client.ApprovalEvent{
		ID: a.ID, Workflow: a.Workflow, Node: a.Node, Call: a.Call, Client: a.Client, Server: a.Server, Tool: a.Tool,
		AskedAt: a.Asked.UTC(), ExpiresAt: a.ExpiresAt.UTC(), InClient: a.InClient,
	}
}

// approvalOpened publishes that a call waits for a person. It tells the webhook unless the
// client of the call asks its own person.
func (p *Process) approvalOpened(a workflow.Approval) {
	if !a.InClient {
		told := a
		// A chat keeps what it is told. The page of the link shows what people decide about.
		told.Tool, told.Arguments = string(p.redactJSON([]byte(a.Tool))), string(p.redactJSON([]byte(a.Arguments)))
		p.workflows.webhook.Opened(told)
	}
	p.live.Publish(events.Event{Topic: events.Approvals, Name: client.EventApprovalOpened, Client: a.Client, Data: events.ForAdmins(approvalEvent(a))})
}

// approvalClosed publishes how that ended.
func (p *Process) approvalClosed(a workflow.Approval, decision *workflow.Decision) {
	p.workflows.webhook.Closed(a.ID)
	data := approvalEvent(a)
	switch {
	case decision == nil && time.Now().Before(a.ExpiresAt):
		data.Decision = "canceled"
	case decision == nil:
		data.Decision = "expired"
	case decision.Granted:
		data.Decision, data.By = "approved", decision.By
	default:
		data.Decision, data.By = "denied", decision.By
	}
	p.live.Publish(events.Event{Topic: events.Approvals, Name: client.EventApprovalClosed, Client: a.Client, Data: events.ForAdmins(data)})
}
