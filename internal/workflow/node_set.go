package workflow

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
)

// setNode sets variables, and arguments of the call.
type setNode struct{}

// setting is a value: a constant, or the value of an expression.
type setting struct {
	Value json.RawMessage
	CEL   string

	expression *expression
}

func (setNode) Compile(b *Builder, _ *Node) Action {
	var data struct {
		Vars, Arguments map[string]*setting
		OnError         string
	}
	b.Data(&data)
	b.settingsOf(data.Vars)
	b.settingsOf(data.Arguments)
	if len(data.Vars)+len(data.Arguments) == 0 {
		b.Problem("it sets nothing; vars or arguments must name something")
	}
	return Action{OnError: data.OnError, Run: func(ctx context.Context, r *Run) (string, error) {
		vars, err := evaluate(ctx, r, data.Vars)
		if err != nil {
			return "", err
		}
		maps.Copy(r.vars, vars)
		arguments, err := evaluate(ctx, r, data.Arguments)
		if err != nil || len(arguments) == 0 {
			return "", err
		}
		return "", r.setArguments(arguments)
	}}
}

func (b *Builder) settingsOf(settings map[string]*setting) {
	for _, name := range slices.Sorted(maps.Keys(settings)) {
		s := settings[name]
		switch {
		case s == nil || (s.Value == nil) == (s.CEL == ""):
			b.Problem("%q needs either value or cel", name)
		case s.CEL != "":
			s.expression = b.compileExpression(s.CEL, false)
		}
	}
}

// evaluate returns the values of settings.
func evaluate(ctx context.Context, r *Run, settings map[string]*setting) (map[string]json.RawMessage, error) {
	values := make(map[string]json.RawMessage, len(settings))
	for name, s := range settings {
		values[name] = s.Value
		if s.expression != nil {
			value, err := s.expression.json(ctx, r)
			if err != nil {
				return nil, fmt.Errorf("%q: %w", name, err)
			}
			values[name] = value
		}
	}
	return values, nil
}
