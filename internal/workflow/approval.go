package workflow

import (
	"cmp"
	"context"
	"crypto/rand"
	"crypto/subtle"
	"errors"
	"maps"
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
	// Hash is the hash of the call's name and arguments.
	Hash string
	// Arguments are those of the call without the secrets that genkan holds, with long
	// strings cut; of resources/read, an object with the URI. NotShown is how many bytes
	// they lack, and Masked is set if they lack secrets.
	Arguments        string
	NotShown         int
	Masked           bool
	Asked, ExpiresAt time.Time
	// InClient is set if the client asks its own person, too. The first answer counts.
	InClient bool
	// Left is set if the caller has disconnected and its call goes on all the same.
	Left bool
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
	opt    DeskOptions
	shares *gateway.Shares

	mu      sync.Mutex
	pending map[string]*asked
}

// DeskOptions configure a Desk. All may be zero.
type DeskOptions struct {
	// Redact takes the secrets that genkan holds out of arguments. What only looks like a
	// secret must stay, or a call could hide from the person what it does. A call is refused
	// if it returns an error.
	Redact func(arguments []byte) ([]byte, error)
	// Translate returns a text in the language of forms; nil means English.
	Translate func(gateway.Text) string
	// Most is how many approvals may be pending: 100. Clients share them.
	Most int
	// Opened and Closed are called when an approval begins and ends. They do not block.
	// Opened is called again, without InClient, if the client could not ask its person.
	// A nil decision means that nobody decided in time, or, before ExpiresAt, that the
	// call was canceled.
	Opened func(Approval)
	Closed func(Approval, *Decision)
}

type asked struct {
	Approval
	arguments []byte // the whole
	// call is a copy of the call that waits, peer the way back to its client, and refused
	// gets the error that ends it.
	call    *gateway.Call
	peer    gateway.Peer
	refused chan error
	decided chan Decision
}

// left reports whether the caller has disconnected. Called without mu.
func (a *asked) left() bool {
	peer, ok := a.peer.(gateway.Leaver)
	return ok && peer.Left()
}

// mostPending is how many approvals may be pending unless the options say otherwise.
const mostPending = 100

// waitForPeople is how long a client waits when its approval quota is full.
const waitForPeople = time.Minute

// NewDesk makes a Desk.
func NewDesk(opt DeskOptions) *Desk {
	opt.Most = cmp.Or(opt.Most, mostPending)
	return &Desk{opt: opt, shares: gateway.NewShares(int64(opt.Most)), pending: map[string]*asked{}}
}

// Ask waits until a person decides or ctx ends. Whoever looks at the pending approvals
// can decide. A client that may ask its own person does so, too, and the first answer
// counts. If it cannot, the others still can.
func (d *Desk) Ask(ctx context.Context, q Question) (Decision, error) {
	a, err := d.newApproval(q)
	if err != nil {
		return Decision{}, err
	}
	form := d.form(q, &a.Approval)
	a.InClient = form != nil
	if !d.shares.Take(a.Client, 1) {
		return Decision{}, &denial{
			reason: gateway.Textf("too many calls of this client wait for a person already; tell the user, and try again when somebody has decided about them"), again: waitForPeople,
		}
	}
	defer d.shares.Give(a.Client, 1)
	d.open(a)
	answered, stop := askClient(ctx, q.Call, form)
	defer stop()
	var end ending
	for {
		select {
		case end.Decision = <-a.decided:
			d.close(ctx, a, &end.Decision)
			return end.Decision, nil
		case end.err = <-a.refused:
			d.close(ctx, a, nil)
			return Decision{}, end.err
		case decision, asked := <-answered:
			if !asked {
				answered = nil
				d.leaveToAdmins(a)
				continue
			}
			end.Decision = decision
		case <-ctx.Done():
			end.err = context.Cause(ctx)
		}
		break
	}
	if !d.remove(a.ID) { // it was decided or refused at this moment
		end = ending{}
		select {
		case end.Decision = <-a.decided:
		case end.err = <-a.refused:
		}
	}
	if end.err != nil {
		d.close(ctx, a, nil)
		return Decision{}, end.err
	}
	d.close(ctx, a, &end.Decision)
	return end.Decision, nil
}

// ending is how an approval ended: with a decision, or with an error.
type ending struct {
	Decision
	err error
}

// open lists an approval.
func (d *Desk) open(a *asked) {
	d.mu.Lock()
	d.pending[a.ID] = a
	opened := a.Approval
	d.mu.Unlock()
	if d.opt.Opened != nil {
		d.opt.Opened(opened)
	}
}

// leaveToAdmins notes that the client could not ask its person.
func (d *Desk) leaveToAdmins(a *asked) {
	d.mu.Lock()
	_, pending := d.pending[a.ID]
	a.InClient = false
	left := a.Approval
	d.mu.Unlock()
	if pending && d.opt.Opened != nil {
		d.opt.Opened(left)
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

// newApproval returns what is shown of a question. It returns an error if the arguments
// cannot be shown to a person.
func (d *Desk) newApproval(q Question) (*asked, error) {
	now := time.Now()
	arguments := q.shown()
	a := &asked{decided: make(chan Decision, 1), refused: make(chan error, 1), arguments: arguments, call: callCopy(q.Call), peer: q.Call.Peer, Approval: Approval{
		ID: rand.Text(), Code: rand.Text(), Workflow: q.Workflow, Node: q.Node, Message: q.Message, Hash: q.Hash,
		Call: q.Call.RequestID, Client: q.Call.Identity.ClientID, Asked: now, ExpiresAt: now.Add(q.Timeout),
	}}
	a.call.Parent = q.Call.Parent
	if t := q.Call.Tool; t != nil {
		a.Server, a.Tool = t.Source.Name(), t.Exposed
	}
	if err := d.show(&a.Approval, arguments); err != nil {
		return nil, err
	}
	return a, nil
}

// Get returns a pending approval with its whole arguments, without the secrets that genkan
// holds.
func (d *Desk) Get(id string) (Approval, error) {
	d.mu.Lock()
	found := d.pending[id]
	if found == nil {
		d.mu.Unlock()
		return Approval{}, notPending(id)
	}
	a := found.Approval
	d.mu.Unlock()
	redacted, err := d.redact(found.arguments)
	if err != nil {
		return Approval{}, &gateway.Error{Code: gateway.CodeUnavailable, Message: cannotRedact, Err: err}
	}
	a.Arguments, a.NotShown, a.Left = string(redacted), 0, found.left()
	return a, nil
}

func notPending(id string) error {
	return gateway.Errorf(gateway.CodeNotFound, "no approval %q is pending: it was decided, it expired, or its call was canceled. `genkan approvals` lists those that are", gateway.Short(id))
}

// remove reports whether the approval was still pending.
func (d *Desk) remove(id string) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	_, found := d.pending[id]
	delete(d.pending, id)
	return found
}

// Recheck ends the pending approvals whose calls may not be made any more. recheck returns
// why; it may block.
func (d *Desk) Recheck(recheck func(call *gateway.Call) error) {
	d.mu.Lock()
	all := slices.Collect(maps.Values(d.pending))
	d.mu.Unlock()
	for _, a := range all {
		if err := recheck(a.call); err != nil && d.remove(a.ID) {
			a.refused <- &denial{reason: gateway.Textf("its caller may not make it any more: %s", gateway.AsError(err))}
		}
	}
}

// List returns the pending approvals, the oldest first.
func (d *Desk) List() []Approval {
	d.mu.Lock()
	pending := slices.Collect(maps.Values(d.pending))
	all := make([]Approval, len(pending))
	for i, a := range pending {
		all[i] = a.Approval
	}
	d.mu.Unlock()
	for i, a := range pending {
		all[i].Left = a.left()
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
	return d.Decide(ctx, a.ID, Decision{Granted: approve, By: who})
}

// Decide decides a pending approval.
func (d *Desk) Decide(_ context.Context, id string, decision Decision) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	a, found := d.pending[id]
	if !found {
		return notPending(id)
	}
	delete(d.pending, id)
	a.decided <- decision
	return nil
}

// DeciderFunc is a function that is a Decider.
type DeciderFunc func(ctx context.Context, q Question) (Decision, error)

// Decide calls the function.
func (f DeciderFunc) Decide(ctx context.Context, q Question) (Decision, error) { return f(ctx, q) }
