package workflow

import (
	"context"
	"strings"
	"time"
)

// startNode is where a run begins.
type startNode struct{}

func (startNode) Compile(*Builder, *Node) Action { return Action{Role: RoleStart} }

// endNode is where a run ends.
type endNode struct{}

func (endNode) Compile(b *Builder, _ *Node) Action {
	var data struct{ Outcome, Message string }
	b.Data(&data)
	b.OneOf("outcome", data.Outcome, "ok", "deny", "error")
	return Action{Role: RoleEnd, Run: func(_ context.Context, r *Run) (string, error) {
		switch data.Outcome {
		case "deny":
			return "", Deny(r.because(data.Message))
		case "error":
			if data.Message != "" {
				return "", failure("%s", data.Message)
			}
			return "", failure("the path ends with an error")
		default:
			return "", r.complete()
		}
	}}
}

// because returns a message with the reason of a person who has denied the call.
func (r *Run) because(message string) string {
	if r.reason == "" {
		return message
	}
	return strings.TrimSpace(message + " " + r.reason)
}

// callNode sends the call on: to the next workflow, or to the server.
type callNode struct{}

func (callNode) Compile(b *Builder, _ *Node) Action {
	var data struct {
		TimeoutMs int
		OnError   string
	}
	b.Data(&data)
	if data.TimeoutMs < 0 {
		b.Problem("%s is negative", "timeoutMs")
	}
	return Action{Role: RoleCall, OnError: data.OnError, Run: func(ctx context.Context, r *Run) (string, error) {
		return "", r.send(ctx, time.Duration(data.TimeoutMs)*time.Millisecond)
	}}
}

func or(text, otherwise string) string {
	if text == "" {
		return otherwise
	}
	return text
}
