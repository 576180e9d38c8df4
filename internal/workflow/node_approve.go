package workflow

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"time"

	"genkan/internal/gateway"
)

// Decider asks a person whether a call may be made.
type Decider interface {
	// Decide waits for the person until ctx ends.
	Decide(ctx context.Context, q Question) (Decision, error)
}

// Question is what a person is asked.
type Question struct {
	Call           *gateway.Call
	Workflow, Node string
	Message        string
	// Arguments are those that the call has now, and Hash is that of the call's name
	// and arguments. A call whose arguments are different when it is sent is refused.
	Arguments []byte
	Hash      string
	// Timeout is how long the person has.
	Timeout time.Duration
}

// Decision is what the person decided.
type Decision struct {
	Granted bool
	// By is who decided, and Reason why; empty if they did not say.
	By, Reason string
}

// approveNode asks a person. It leaves by out if the person agrees, and else by denied,
// if an edge leaves there, or refuses the call.
type approveNode struct{}

func (approveNode) Compile(b *Builder, n *Node) Action {
	var data struct {
		Message   string
		TimeoutMs int
		OnError   string
	}
	b.Data(&data)
	timeout := time.Duration(data.TimeoutMs) * time.Millisecond
	if timeout < 0 {
		b.Problem("%s is negative", "timeoutMs")
	} else if timeout == 0 {
		timeout = defaultApproval
	}
	id := n.ID
	return Action{OnError: data.OnError, Optional: []string{handleDenied}, Run: func(_ context.Context, r *Run) (string, error) {
		if r.called {
			return "", failure("the call was made already, so nobody can be asked whether it may be made")
		}
		if r.dry {
			return "", errSkipped
		}
		decision, err := r.ask(id, data.Message, timeout)
		switch {
		case err == nil && decision.Granted:
			return "", nil
		case err != nil && !isDenial(err):
			return "", err
		case r.at.next[handleDenied] != nil:
			return handleDenied, nil
		case err != nil:
			return "", err
		}
		if decision.Reason != "" {
			return "", Deny(decision.Reason)
		}
		return "", &denial{gateway.Textf("the person who was asked said no")}
	}}
}

// ask asks a person about the call as it is now. The clocks of the call stand still.
func (r *Run) ask(node, message string, timeout time.Duration) (Decision, error) {
	if r.engine.opt.Decider == nil {
		return Decision{}, failure("nobody can be asked")
	}
	began := time.Now()
	defer func() {
		waited := time.Since(began)
		r.asked += waited
		r.calling.Timing.Asked += waited
	}()
	defer r.calling.PauseClock()()
	late := &denial{gateway.Textf("nobody answered in time; `genkan approvals` lists the calls that wait")}
	ctx, cancel := context.WithTimeoutCause(r.ctx, timeout, late)
	defer cancel()
	hash := r.hash()
	decision, err := r.engine.opt.Decider.Decide(ctx, Question{
		Call: r.calling, Workflow: r.workflow.ID, Node: node, Message: message,
		Arguments: r.arguments(), Hash: hash, Timeout: timeout,
	})
	if err != nil && errors.Is(context.Cause(ctx), late) {
		return Decision{}, late
	}
	if err == nil && decision.Granted {
		r.chain.approved = append(r.chain.approved, hash)
	}
	return decision, err
}

// hash identifies the call with its arguments.
func (r *Run) hash() string { return callHash(r.calling.Name, r.arguments()) }

func callHash(name string, arguments []byte) string {
	sum := sha256.Sum256(append(append([]byte(name), 0), arguments...))
	return hex.EncodeToString(sum[:])
}
