package workflow

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"

	"cel.dev/cel-go/cel"
	"cel.dev/cel-go/common/types"
	"cel.dev/cel-go/common/types/ref"
	"cel.dev/cel-go/common/types/traits"
)

// Bounds of one expression. Regular expressions of CEL take linear time.
const (
	longestExpression = 4 << 10
	costLimit         = 1_000_000
	checkEvery        = 100
)

// expression is a CEL expression. It sees request, response, metadata, vars, and args,
// which are the arguments of the call.
type expression struct{ program cel.Program }

// environment is what every expression sees. It takes a millisecond to make.
var environment = sync.OnceValues(func() (*cel.Env, error) { //nolint:gochecknoglobals // constant
	return cel.NewEnv(
		cel.Variable("request", cel.DynType), cel.Variable("response", cel.DynType), cel.Variable("metadata", cel.DynType),
		cel.Variable("vars", cel.DynType), cel.Variable("args", cel.DynType),
		cel.ParserExpressionSizeLimit(longestExpression), cel.ParserRecursionLimit(100),
	)
})

// compileExpression compiles a CEL expression.
func (b *Builder) compileExpression(source string) *expression {
	env, err := environment()
	if err != nil {
		b.Problem("%s", err.Error())
		return nil
	}
	ast, issues := env.Compile(source)
	if issues.Err() != nil {
		for _, e := range issues.Errors() {
			b.problemAt(e.Location.Line(), e.Location.Column()+1, "%s", e.Message)
		}
		return nil
	}
	program, err := env.Program(ast, cel.CostLimit(costLimit), cel.InterruptCheckFrequency(checkEvery))
	if err != nil {
		b.Problem("%s", err.Error())
		return nil
	}
	return &expression{program}
}

// holds evaluates an expression that must be true or false.
func (e *expression) holds(ctx context.Context, r *Run) (bool, error) {
	value, err := e.eval(ctx, r)
	if err != nil {
		return false, err
	}
	is, ok := value.(types.Bool)
	if !ok {
		return false, fmt.Errorf("the expression gives a %s and must give true or false", value.Type().TypeName())
	}
	return bool(is), nil
}

// json evaluates an expression and encodes its value.
func (e *expression) json(ctx context.Context, r *Run) (json.RawMessage, error) {
	value, err := e.eval(ctx, r)
	if err != nil {
		return nil, err
	}
	plain, err := fromCEL(value)
	if err != nil {
		return nil, err
	}
	return encode(plain)
}

func (e *expression) eval(ctx context.Context, r *Run) (ref.Val, error) {
	value, _, err := e.program.ContextEval(ctx, map[string]any{
		"request":  func() any { return toCEL(r.request()) },
		"response": func() any { return toCEL(r.response) },
		"metadata": func() any { return toCEL(r.metadata("")) },
		"vars":     func() any { return toCEL(r.variables()) },
		"args":     func() any { return toCEL(r.arguments()) },
	})
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	return value, err
}

// toCEL decodes JSON. Whole numbers stay exact.
func toCEL(raw []byte) any {
	if raw == nil {
		return nil
	}
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	var value any
	if d.Decode(&value) != nil {
		return nil
	}
	return numbers(value)
}

func numbers(value any) any {
	switch v := value.(type) {
	case json.Number:
		if n, err := v.Int64(); err == nil {
			return n
		}
		f, _ := v.Float64()
		return f
	case []any:
		for i := range v {
			v[i] = numbers(v[i])
		}
	case map[string]any:
		for key := range v {
			v[key] = numbers(v[key])
		}
	}
	return value
}

var errNoJSON = errors.New("the value of the expression cannot be written as JSON")

// fromCEL turns a value into one that encoding/json knows.
func fromCEL(value ref.Val) (any, error) {
	switch v := value.(type) {
	case types.Null:
		return nil, nil //nolint:nilnil // null
	case types.Bool, types.Int, types.Uint, types.Double, types.String:
		return v.Value(), nil
	case traits.Lister:
		list := []any{}
		for it := v.Iterator(); it.HasNext() == types.True; {
			item, err := fromCEL(it.Next())
			if err != nil {
				return nil, err
			}
			list = append(list, item)
		}
		return list, nil
	case traits.Mapper:
		object := map[string]any{}
		for it := v.Iterator(); it.HasNext() == types.True; {
			key := it.Next()
			name, ok := key.(types.String)
			if !ok {
				return nil, errNoJSON
			}
			item, err := fromCEL(v.Get(key))
			if err != nil {
				return nil, err
			}
			object[string(name)] = item
		}
		return object, nil
	default:
		return nil, errNoJSON
	}
}
