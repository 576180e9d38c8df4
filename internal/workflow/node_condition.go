package workflow

import (
	"context"
	"slices"

	"genkan/internal/gateway"
)

// conditionNode leaves by the handle of the first case that holds, or by else.
type conditionNode struct{}

func (conditionNode) Compile(b *Builder, _ *Node) Action {
	var data struct {
		Cases   []struct{ Handle, When string }
		OnError string
	}
	b.Data(&data)
	if len(data.Cases) == 0 {
		b.Problem("it has no cases")
	}
	var handles []string
	whens := make([]*expression, len(data.Cases))
	for i, c := range data.Cases {
		switch {
		case c.Handle == "" || c.Handle == handleElse || c.Handle == handleError:
			b.Problem("case %d needs a handle of its own; else and error are taken", i+1)
		case slices.Contains(handles, c.Handle):
			b.Problem("two cases have the handle %q", c.Handle)
		}
		handles = append(handles, c.Handle)
		known := len(b.problems)
		whens[i] = b.compileExpression(c.When, true)
		for p := range b.problems[known:] {
			b.problems[known+p].Case = c.Handle
		}
	}
	return Action{OnError: data.OnError, Handles: append(handles, handleElse), Run: func(ctx context.Context, r *Run) (string, error) {
		for i, when := range whens {
			holds, err := when.holds(ctx, r)
			if err != nil {
				return "", &gateway.Error{Code: gateway.CodeInvalid, Message: "case %q: %s", Values: []any{handles[i], err}}
			}
			if holds {
				return handles[i], nil
			}
		}
		return handleElse, nil
	}}
}
