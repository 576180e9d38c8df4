package workflow

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"iter"
	"regexp"
	"regexp/syntax"
	"slices"
	"strings"
	"sync"

	"cel.dev/cel-go/cel"
	"cel.dev/cel-go/common/types"
	"cel.dev/cel-go/common/types/ref"
	"cel.dev/cel-go/common/types/traits"

	"genkan/internal/gateway"
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

// noConditions are the types that are never true or false.
var noConditions = []types.Kind{
	types.BytesKind, types.DoubleKind, types.DurationKind, types.IntKind, types.ListKind, types.MapKind,
	types.NullTypeKind, types.StringKind, types.TimestampKind, types.TypeKind, types.UintKind,
}

// compileExpression compiles a CEL expression, which is a condition if it must be true or
// false.
func (b *Builder) compileExpression(source string, condition bool) *expression {
	env, err := environment()
	if err != nil {
		b.Problem("%s", err.Error())
		return nil
	}
	ast, issues := env.Compile(source)
	if issues.Err() != nil {
		for _, e := range issues.Errors() {
			text := celText(e.Message)
			b.problemAt(e.Location.Line(), e.Location.Column()+1, "%s", text)
			if strings.HasPrefix(text.Format, "syntax error") {
				break // others come of it
			}
		}
		return nil
	}
	if kind := ast.OutputType().Kind(); condition && !b.env.running() && slices.Contains(noConditions, kind) {
		b.problemAt(1, 1, "the expression gives a value of type %s and must give true or false", ast.OutputType().String())
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
		return false, gateway.Errorf(gateway.CodeInvalid, "the expression gives a value of type %s and must give true or false", value.Type().TypeName())
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
	if err != nil {
		return nil, gateway.Errorf(gateway.CodeInvalid, "%s", celText(err.Error()))
	}
	return value, nil
}

// The messages of CEL that people meet most.
var (
	celUndeclared = regexp.MustCompile(`^undeclared reference to '(.+)' \(in container '.*'\)$`)
	celOverload   = regexp.MustCompile(`^found no matching overload for '(.+)' applied to '(.+)'$`)
	celType       = regexp.MustCompile(`^expected type '(.+)' but found '(.+)'$`)
	celUnexpected = regexp.MustCompile(`^Syntax error: (?:mismatched input|extraneous input|token recognition error at:) '(.*?)\s*'(?: expecting .*)?$`)
	celMissing    = regexp.MustCompile(`^Syntax error: missing '(.+)' at '.*'$`)
	celConversion = regexp.MustCompile(`^type conversion error from '(.+)' to '(.+)'$`)
	celRegexp     = regexp.MustCompile("^error parsing regexp: (.+): `(.*)`$")
	celNoKey      = regexp.MustCompile(`^no such key: (.+)$`)
)

// words are the names that expressions may call, without operators.
func words(env *cel.Env) iter.Seq[string] {
	return func(yield func(string) bool) {
		for name := range env.Functions() {
			if !strings.ContainsAny(name, "_@!-") && !yield(name) {
				return
			}
		}
		for _, macro := range env.Macros() {
			if !yield(macro.Function()) {
				return
			}
		}
	}
}

// celText returns a message of CEL as a text that can be translated. Those of a run keep
// their words, which tests of workflows may expect. Rare ones stay as they are.
func celText(message string) gateway.Text {
	of := func(r *regexp.Regexp) []string { return r.FindStringSubmatch(message) }
	if m := of(celUndeclared); m != nil {
		if env, err := environment(); err == nil {
			if near := gateway.Nearest(m[1], words(env)); near != "" {
				return gateway.Textf("there is no variable or function %s; did you mean %s?", m[1], near)
			}
		}
		return gateway.Textf("there is no variable or function %s; an expression sees request, response, metadata, vars and args", m[1])
	}
	if m := of(celOverload); m != nil {
		return gateway.Textf("%s cannot be used with values of the types %s", strings.Trim(m[1], "_@"), strings.TrimSuffix(strings.TrimPrefix(m[2], "("), ")"))
	}
	if m := of(celType); m != nil {
		return gateway.Textf("a value of type %s is needed here, and this is of type %s", m[1], m[2])
	}
	if m := of(celUnexpected); m != nil {
		if m[1] == "<EOF>" {
			return gateway.Textf("syntax error: the expression ends too early")
		}
		if m[1] == "=" {
			return gateway.Textf("syntax error: = is not expected here; == compares")
		}
		return gateway.Textf("syntax error: %s is not expected here", m[1])
	}
	if m := of(celMissing); m != nil {
		return gateway.Textf("syntax error: %s is missing", m[1])
	}
	if m := of(celConversion); m != nil {
		return gateway.Textf("type conversion error from '%s' to '%s'", m[1], m[2])
	}
	if m := of(celRegexp); m != nil {
		return gateway.Textf("error parsing regexp: %s: `%s`", regexpText(m[1]), m[2])
	}
	if m := of(celNoKey); m != nil {
		return gateway.Textf("no such key: %s", m[1])
	}
	if message == "no such overload" {
		return gateway.Textf("no such overload")
	}
	if rest, ok := strings.CutPrefix(message, "Syntax error: "); ok {
		return gateway.Textf("syntax error: %s", rest)
	}
	return gateway.Textf("%s", message)
}

// regexpText is what package regexp says is wrong with an expression.
func regexpText(said string) gateway.Text {
	switch syntax.ErrorCode(said) {
	case syntax.ErrMissingBracket:
		return gateway.Textf("missing closing ]")
	case syntax.ErrMissingParen:
		return gateway.Textf("missing closing )")
	case syntax.ErrUnexpectedParen:
		return gateway.Textf("unexpected )")
	case syntax.ErrMissingRepeatArgument:
		return gateway.Textf("missing argument to repetition operator")
	case syntax.ErrInvalidPerlOp:
		return gateway.Textf("invalid or unsupported Perl syntax")
	default:
		return gateway.Textf("%s", said)
	}
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
