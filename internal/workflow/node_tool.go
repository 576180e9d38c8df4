package workflow

import (
	"context"

	"genkan/internal/jsonrpc"
)

// toolNode calls another tool with the rights of the caller, and keeps its result in a
// variable.
type toolNode struct{}

func (toolNode) Compile(b *Builder, _ *Node) Action {
	var data struct {
		Tool      string
		Arguments map[string]*setting
		Into      string
		OnError   string
	}
	b.Data(&data)
	b.settingsOf(data.Arguments)
	if data.Tool == "" {
		b.Problem("it names no tool")
	}
	return Action{OnError: data.OnError, Run: func(ctx context.Context, r *Run) (string, error) {
		values, err := evaluate(ctx, r, data.Arguments)
		if err != nil {
			return "", err
		}
		arguments, err := encode(values)
		if err != nil {
			return "", err
		}
		if r.dry {
			return "", errSkipped
		}
		result, err := r.call(ctx, data.Tool, arguments)
		if err != nil {
			return "", err
		}
		if string(jsonrpc.Lookup(result, "isError")) == "true" {
			return "", failure("tool %s failed", data.Tool)
		}
		if data.Into != "" {
			r.vars[data.Into] = result
		}
		return "", nil
	}}
}
