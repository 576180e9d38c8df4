package catalog

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"genkan/internal/gateway"
	"genkan/internal/jsonrpc"
)

// Validator checks arguments against the tools' input schemas. A schema is
// compiled at its first use.
type Validator struct {
	mu       sync.Mutex
	compiled map[*gateway.Tool]*compiledSchema
	// outputs stand for the output schemas of tools.
	outputs map[*gateway.Tool]*gateway.Tool
}

// keptSchemas bounds the memory of schemas whose tools are long gone; the ones
// in use come back at their next call.
const keptSchemas = 4096

type compiledSchema struct {
	once   sync.Once
	schema *jsonschema.Schema
	err    error
}

// Middleware refuses calls whose arguments do not fit, for tools and callers
// that ask for it. Everything else passes unread, also the calls of tools that check
// their arguments themselves.
func (v *Validator) Middleware(next gateway.Handler) gateway.Handler {
	return gateway.HandlerFunc(func(ctx context.Context, call *gateway.Call) (*gateway.Result, error) {
		if err := v.Validate(ctx, call); err != nil {
			return nil, err
		}
		return next.Handle(ctx, call)
	})
}

// Validate returns why Middleware refuses a call; nil if it does not.
func (v *Validator) Validate(ctx context.Context, call *gateway.Call) error {
	check := v.Check
	switch {
	case call.Tool.ChecksArguments:
		return nil
	case call.Complete && call.Kind == gateway.KindTool:
		check = v.Complete
	case !call.Tool.Validate:
		return nil
	}
	done, err := prepare(ctx, call)
	if err != nil {
		return err
	}
	defer done()
	return check(call)
}

const (
	// largeArguments are not checked by any number of calls at once, in bytes.
	largeArguments = 64 << 10
	// findingSize is what the validator may remember of each value, in bytes.
	findingSize = 200
)

// largeChecks has a place for each check of large arguments that may run.
var largeChecks = make(chan struct{}, runtime.GOMAXPROCS(0)) //nolint:gochecknoglobals // processors are the process's

// prepare waits until a call's arguments may be checked, and counts what that
// takes against the caller's share, until done is called.
func prepare(ctx context.Context, call *gateway.Call) (done func(), err error) {
	raw := call.Params.Get(call.Params.Arguments)
	if len(raw) <= gateway.SmallArguments {
		return func() {}, nil
	}
	values, size, err := gateway.DecodedSize(raw)
	if err != nil {
		return nil, err
	}
	leave := func() {}
	if len(raw) > largeArguments {
		select {
		case largeChecks <- struct{}{}:
			leave = func() { <-largeChecks }
		case <-ctx.Done():
			return nil, &gateway.Error{
				Code: gateway.CodeCanceled, Unsent: true, Err: context.Cause(ctx),
				Message: "the call was canceled while it waited for its turn",
			}
		}
	}
	giveBack, err := call.Borrow(size + values*findingSize)
	if err != nil {
		leave()
		return nil, err
	}
	return func() { giveBack(); leave() }, nil
}

// Check validates a call's arguments and names the fields that are wrong.
func (v *Validator) Check(call *gateway.Call) error { return v.check(call.Tool, argumentsOf(call)) }

// Complete validates a call's arguments after it has filled in the defaults of
// the schema. A tool whose schema cannot be used is left to its server, unless
// the server's setting asks for more.
func (v *Validator) Complete(call *gateway.Call) error {
	if _, err := v.schema(call.Tool); err != nil && !call.Tool.Validate {
		return nil
	}
	raw := argumentsOf(call)
	if err := unique(raw); err != nil {
		return err
	}
	filled := withDefaults(call.Tool.InputSchema, raw, 0)
	if err := v.check(call.Tool, filled); err != nil {
		// Some schemas break their own rules with a default. What the caller sent
		// counts then.
		if len(filled) != len(raw) && v.check(call.Tool, raw) == nil {
			return nil
		}
		return err
	}
	if len(filled) != len(raw) {
		call.SetRawArguments(filled)
	}
	return nil
}

func argumentsOf(call *gateway.Call) []byte {
	if raw := call.Params.Get(call.Params.Arguments); raw != nil {
		return raw
	}
	return []byte("{}")
}

// unique makes sure that the server reads what was checked: of a key that
// stands twice it may take the other one.
func unique(raw []byte) error {
	if err := jsonrpc.CheckUnique(raw); err != nil {
		return &gateway.Error{Code: gateway.CodeInvalid, Message: "the arguments cannot be checked: %s", Values: []any{err}}
	}
	return nil
}

// withDefaults adds what is missing in an object and has a default in the
// schema, also in the objects within it. A default of null says that there is
// none. What is added makes it longer; otherwise it keeps its bytes.
func withDefaults(schema, object []byte, depth int) []byte {
	properties, ok := parseFields(jsonrpc.Lookup(schema, "properties"))
	if !ok || depth > deepest || len(object) == 0 || object[0] != '{' {
		return object
	}
	value, ok := parseFields(object)
	if !ok {
		return object
	}
	changed := false
	for _, property := range properties.list {
		if value.has(property.key) {
			before := value.get(property.key)
			if after := withDefaults(property.value, before, depth+1); len(after) != len(before) {
				value.set(property.key, after)
				changed = true
			}
			continue
		}
		if preset := jsonrpc.Lookup(property.value, "default"); preset != nil && string(preset) != "null" {
			value.set(property.key, preset)
			changed = true
		}
	}
	if !changed {
		return object
	}
	return value.encode()
}

// check validates arguments against a tool's schema.
func (v *Validator) check(tool *gateway.Tool, raw []byte) error {
	schema, err := v.schema(tool)
	if err != nil {
		return &gateway.Error{
			Code:    gateway.CodeInvalid,
			Message: "the input schema of %s cannot be used, so its arguments cannot be checked; set validate: false for its server, or ask its author to mend the schema",
			Values:  []any{tool.Exposed},
			Err:     err,
		}
	}
	if schema == nil {
		return nil
	}
	if err := unique(raw); err != nil {
		return err
	}
	arguments, err := jsonschema.UnmarshalJSON(bytes.NewReader(raw))
	if err != nil {
		return &gateway.Error{Code: gateway.CodeInvalid, Message: "the arguments are not JSON", Err: err}
	}
	if !countable(arguments) {
		return gateway.Errorf(gateway.CodeInvalid, "the arguments of %s hold a number that is too large or too precise to be checked", tool.Exposed)
	}
	err = schema.Validate(arguments)
	var wrong *jsonschema.ValidationError
	if errors.As(err, &wrong) {
		return refusal(schema, arguments, wrong)
	}
	return err
}

// CheckOutput checks the structured content of a result against the output schema of its
// tool, if the tool has one that can be used.
func (v *Validator) CheckOutput(tool *gateway.Tool, structured []byte) error {
	raw := jsonrpc.Lookup(tool.Definition, "outputSchema")
	if raw == nil {
		return nil
	}
	v.mu.Lock()
	output := v.outputs[tool]
	if output == nil {
		if v.outputs == nil || len(v.outputs) >= keptSchemas {
			v.outputs = map[*gateway.Tool]*gateway.Tool{}
		}
		output = &gateway.Tool{Exposed: tool.Exposed, InputSchema: raw}
		v.outputs[tool] = output
	}
	v.mu.Unlock()
	if _, err := v.schema(output); err != nil {
		return nil //nolint:nilerr // a server's own mistake is not the caller's
	}
	return v.check(output, structured)
}

func (v *Validator) schema(tool *gateway.Tool) (*jsonschema.Schema, error) {
	v.mu.Lock()
	c := v.compiled[tool]
	if c == nil {
		if v.compiled == nil || len(v.compiled) >= keptSchemas {
			v.compiled = map[*gateway.Tool]*compiledSchema{}
		}
		c = &compiledSchema{}
		v.compiled[tool] = c
	}
	v.mu.Unlock()
	c.once.Do(func() {
		raw := tool.InputSchema
		if raw == nil {
			return
		}
		document, err := jsonschema.UnmarshalJSON(bytes.NewReader(raw))
		if err != nil {
			c.err = err
			return
		}
		if !countable(document) {
			c.err = errors.New("the schema holds a number that is too large or too precise")
			return
		}
		compiler := jsonschema.NewCompiler()
		compiler.DefaultDraft(jsonschema.Draft2020)
		// A schema must not make us fetch anything: only what it holds itself.
		compiler.UseLoader(noLoader{})
		if c.err = compiler.AddResource("input.json", document); c.err == nil {
			c.schema, c.err = compiler.Compile("input.json")
		}
	})
	return c.schema, c.err
}

// Limits of the numbers that are checked. The library works with exact
// fractions: 1e999999 takes a tenth of a second each time it is looked at, and
// above that it panics. No tool counts so far.
const (
	longestNumber   = 1000 // characters
	largestExponent = 1000
)

// countable reports whether all numbers in a decoded value are within the
// limits.
func countable(value any) bool {
	switch v := value.(type) {
	case json.Number:
		digits, exponent, found := strings.Cut(strings.ToLower(string(v)), "e")
		if !found {
			return len(digits) <= longestNumber
		}
		n, err := strconv.Atoi(exponent)
		return err == nil && n <= largestExponent && n >= -largestExponent && len(digits) <= longestNumber
	case []any:
		return !slices.ContainsFunc(v, func(item any) bool { return !countable(item) })
	case map[string]any:
		for _, item := range v {
			if !countable(item) {
				return false
			}
		}
	}
	return true
}

type noLoader struct{}

func (noLoader) Load(url string) (any, error) {
	return nil, fmt.Errorf("the schema refers to %s, which genkan does not fetch", url)
}
