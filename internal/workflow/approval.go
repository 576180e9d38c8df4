package workflow

import (
	"cmp"
	"context"
	"crypto/rand"
	"crypto/subtle"
	"errors"
	"slices"
	"sync"
	"time"

	"genkan/internal/gateway"
)

// Approval is a call that waits for a person's decision.
type Approval struct {
	ID             string
	Workflow, Node string
	Message        string
	// Call is the RequestID of the call.
	Call, Client, Server, Tool string
	// Hash is that of the call's name and arguments, and Arguments are those without
	// secrets.
	Hash, Arguments  string
	Asked, ExpiresAt time.Time
	// InClient is set if the client asks its own person, who alone can decide.
	InClient bool
	// Code opens the page of this approval to whoever has it. It ends with the approval.
	Code string
	// Told says whether somebody was told of it, and Problem why that failed.
	Told    Told
	Problem gateway.Text
}

// Told is how far telling somebody of an approval has come.
type Told string

// The values of Told. It is empty if nobody is to be told.
const (
	TellingNow Told = "sending"
	ToldWell   Told = "sent"
	ToldFailed Told = "failed"
)

// Desk keeps the approvals that are pending. A decision, a timeout or the end of the
// call ends each. It is safe for concurrent use.
type Desk struct {
	opt DeskOptions

	mu      sync.Mutex
	pending map[string]*asked
}

// DeskOptions configure a Desk. All may be zero.
type DeskOptions struct {
	// Redact takes secrets out of arguments.
	Redact func(arguments []byte) []byte
	// Translate returns a text in the language of forms; nil means English.
	Translate func(gateway.Text) string
	// Most is how many approvals may be pending: 100.
	Most int
	// Opened and Closed are called when an approval begins and ends. They do not block.
	// A nil decision means that nobody decided in time, or, before ExpiresAt, that the
	// call was canceled.
	Opened func(Approval)
	Closed func(Approval, *Decision)
}

type asked struct {
	Approval
	decided chan Decision
}

// mostPending is how many approvals may be pending unless the options say otherwise.
const mostPending = 100

// longestArguments is how much of the arguments a person is shown, in bytes.
const longestArguments = 16 << 10

// NewDesk makes a Desk.
func NewDesk(opt DeskOptions) *Desk {
	opt.Most = cmp.Or(opt.Most, mostPending)
	return &Desk{opt: opt, pending: map[string]*asked{}}
}

// Ask waits until a person decides or ctx ends. A client that can ask its own person does
// so. Otherwise somebody who looks at the pending approvals decides.
func (d *Desk) Ask(ctx context.Context, q Question) (Decision, error) {
	if canAskPerson(q.Call) {
		return d.askClient(ctx, q)
	}
	a := d.newApproval(q)
	d.mu.Lock()
	if len(d.pending) >= d.opt.Most {
		d.mu.Unlock()
		return Decision{}, gateway.Errorf(gateway.CodeLimited, "%d calls wait for a person already; `genkan approvals` lists them", d.opt.Most)
	}
	d.open(a)
	var decision *Decision
	select {
	case made := <-a.decided:
		decision = &made
	case <-ctx.Done():
		if !d.remove(a.ID) { // it was decided at this moment
			made := <-a.decided
			decision = &made
		}
	}
	d.close(ctx, a, decision)
	if decision == nil {
		return Decision{}, context.Cause(ctx)
	}
	return *decision, nil
}

// askClient has the client ask its person. The approval is listed meanwhile, so that
// others see why the call waits.
func (d *Desk) askClient(ctx context.Context, q Question) (Decision, error) {
	a := d.newApproval(q)
	a.InClient = true
	d.mu.Lock()
	d.open(a)
	decision, err := d.askPerson(ctx, q)
	d.remove(a.ID)
	if err != nil {
		d.close(ctx, a, nil)
	} else {
		d.close(ctx, a, &decision)
	}
	return decision, err
}

// open lists an approval. Called with mu held, which it releases.
func (d *Desk) open(a *asked) {
	d.pending[a.ID] = a
	opened := a.Approval
	d.mu.Unlock()
	if d.opt.Opened != nil {
		d.opt.Opened(opened)
	}
}

// close tells how an approval ended that is not listed any more.
func (d *Desk) close(ctx context.Context, a *asked, decision *Decision) {
	if errors.Is(ctx.Err(), context.DeadlineExceeded) { // its clock began a moment earlier
		a.ExpiresAt = time.Now()
	}
	if d.opt.Closed != nil {
		d.opt.Closed(a.Approval, decision)
	}
}

// newApproval returns what is shown of a question.
func (d *Desk) newApproval(q Question) *asked {
	now := time.Now()
	a := &asked{decided: make(chan Decision, 1), Approval: Approval{
		ID: rand.Text(), Code: rand.Text(), Workflow: q.Workflow, Node: q.Node, Message: q.Message, Hash: q.Hash,
		Call: q.Call.RequestID, Client: q.Call.Identity.ClientID, Asked: now, ExpiresAt: now.Add(q.Timeout),
	}}
	if t := q.Call.Tool; t != nil {
		a.Server, a.Tool = t.Source.Name(), t.Exposed
	}
	a.Arguments = d.shownArguments(q, longestArguments)
	return a
}

// shownArguments returns the arguments of a call without secrets, at most so many bytes.
func (d *Desk) shownArguments(q Question, most int) string {
	arguments := q.Arguments
	if d.opt.Redact != nil {
		arguments = d.opt.Redact(arguments)
	}
	text, cut := gateway.Cut(string(arguments), most)
	if cut > 0 {
		text += "…"
	}
	return text
}

// remove reports whether the approval was still pending.
func (d *Desk) remove(id string) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	_, found := d.pending[id]
	delete(d.pending, id)
	return found
}

// List returns the pending approvals, the oldest first.
func (d *Desk) List() []Approval {
	d.mu.Lock()
	defer d.mu.Unlock()
	all := []Approval{}
	for _, a := range d.pending {
		all = append(all, a.Approval)
	}
	slices.SortFunc(all, func(a, b Approval) int { return cmp.Or(a.Asked.Compare(b.Asked), cmp.Compare(a.ID, b.ID)) })
	return all
}

// Tell notes whether somebody was told of a pending approval. One that has ended is
// ignored.
func (d *Desk) Tell(id string, told Told, problem gateway.Text) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if a, found := d.pending[id]; found {
		a.Told, a.Problem = told, problem
	}
}

// Find returns the pending approval that a code opens.
func (d *Desk) Find(code string) (Approval, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, a := range d.pending {
		if subtle.ConstantTimeCompare([]byte(a.Code), []byte(code)) == 1 && !a.InClient {
			return a.Approval, nil
		}
	}
	return Approval{}, gateway.Errorf(gateway.CodeNotFound, "this call does not wait for a decision any more: it was decided, it expired, or it was canceled")
}

// DecideByCode decides the approval that a code opens. hash is that of the call that the
// person has seen.
func (d *Desk) DecideByCode(ctx context.Context, code, hash, who string, approve bool) error {
	a, err := d.Find(code)
	switch {
	case err != nil:
		return err
	case a.Hash != hash:
		return gateway.Errorf(gateway.CodeConflict, "this decision is about another call than the one that waits; open the link again")
	}
	return d.Decide(ctx, a.ID, who, approve)
}

// Decide decides a pending approval.
func (d *Desk) Decide(_ context.Context, id, who string, approve bool) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	a, found := d.pending[id]
	if !found {
		return gateway.Errorf(gateway.CodeNotFound, "no approval %q is pending: it was decided, it expired, or its call was canceled. `genkan approvals` lists those that are", gateway.Short(id))
	}
	if a.InClient {
		return gateway.Errorf(gateway.CodeConflict, "client %s asks its own person about this call, who alone can decide; look at the client", a.Client)
	}
	delete(d.pending, id)
	a.decided <- Decision{Granted: approve, By: who}
	return nil
}

// DeciderFunc is a function that is a Decider.
type DeciderFunc func(ctx context.Context, q Question) (Decision, error)

// Decide calls the function.
func (f DeciderFunc) Decide(ctx context.Context, q Question) (Decision, error) { return f(ctx, q) }
