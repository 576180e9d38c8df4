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
	// AskClient lets a client with a token ask its own person. Local clients may in any
	// case.
	AskClient bool
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
		AskClient bool
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
		decision, err := r.ask(id, data.Message, data.AskClient, timeout)
		switch {
		case err == nil && decision.Granted:
			return "", nil
		case err != nil && !isDenial(err):
			return "", err
		case r.at.next[handleDenied] != nil:
			r.reason = decision.Reason
			return handleDenied, nil
		case err != nil:
			return "", err
		}
		if decision.Reason != "" {
			return "", personDenial{deny(decision.Reason, 0), true}
		}
		return "", personDenial{&denial{reason: gateway.Textf("the person who was asked said no")}, false}
	}}
}

// personDenial is the denial of a person who was asked, with or without a reason.
type personDenial struct {
	error
	reasoned bool
}

func (d personDenial) Unwrap() error { return d.error }

// ask asks a person about the call as it is now. The clocks of the call stand still.
func (r *Run) ask(node, message string, askClient bool, timeout time.Duration) (Decision, error) {
	if r.engine.opt.Decider == nil {
		return Decision{}, failure("nobody can be asked")
	}
	r.chain.wait()
	began := time.Now()
	defer func() {
		waited := time.Since(began)
		r.asked += waited
		r.calling.Timing.Asked += waited
	}()
	defer r.calling.PauseClock()()
	late := &denial{reason: gateway.Textf("nobody answered in time whether this call may be made")}
	ctx, cancel := context.WithTimeoutCause(r.ctx, timeout, late)
	defer cancel()
	hash := r.hash()
	decision, err := r.engine.opt.Decider.Decide(ctx, Question{
		Call: r.calling, Workflow: r.workflow.ID, Node: node, Message: message,
		Arguments: r.arguments(), Hash: hash, AskClient: askClient, Timeout: timeout,
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
