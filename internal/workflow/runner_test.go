package workflow

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"time"

	"genkan/internal/script"
	"github.com/dop251/goja"
)

// testEnvironment compiles definitions for the runner of the tests.
var testEnvironment = &Environment{
	Compile: func(name, source string) (*script.Program, error) {
		if _, err := goja.Compile(name, wrap(source), true); err != nil {
			e := &script.SyntaxError{Message: err.Error()}
			if at := regexp.MustCompile(`Line (\d+):(\d+)`).FindStringSubmatch(err.Error()); at != nil {
				e.Line, _ = strconv.Atoi(at[1])
				e.Column, _ = strconv.Atoi(at[2])
			}
			return nil, e
		}
		return &script.Program{ID: source, Name: name, Code: []byte(source)}, nil
	},
	Module: func(ref string) (Module, bool) {
		source, ok := map[string]string{"shared": "context.request.params.arguments.by = params.by", "shared@2": ""}[ref]
		return Module{Script: source}, ok
	},
}

func wrap(source string) string { return "(async function(){" + source + "\n})()" }

// inProcess runs scripts in this process. It has none of the bounds of the real one.
type inProcess struct{}

func (inProcess) Run(ctx context.Context, job script.Job) (script.Result, error) {
	vm := goja.New()
	follow := func() (stop func() bool) { return context.AfterFunc(ctx, func() { vm.Interrupt("stopped") }) }
	var result script.Result
	parse := func(raw json.RawMessage) goja.Value {
		if raw == nil {
			raw = []byte("{}")
		}
		v, err := vm.RunString("(" + string(raw) + ")")
		if err != nil {
			panic(err)
		}
		return v
	}
	must := func(err error) {
		if err != nil {
			panic(vm.NewGoError(err))
		}
	}
	context := parse(job.Context)
	set := func(name string, value any) { must(vm.Set(name, value)) }
	set("context", context)
	set("ctx", context)
	set("vars", parse(job.Vars))
	set("params", parse(job.Params))
	console := func(level string) func(goja.FunctionCall) goja.Value {
		return func(c goja.FunctionCall) goja.Value {
			var words []string
			for _, a := range c.Arguments {
				words = append(words, a.String())
			}
			result.Console = append(result.Console, script.Line{Level: level, Text: strings.Join(words, " ")})
			return goja.Undefined()
		}
	}
	set("console", map[string]any{"log": console("log")})
	encoded := func(v goja.Value) json.RawMessage {
		raw, err := v.ToObject(vm).MarshalJSON()
		must(err)
		return raw
	}
	set("call", func(name string, args goja.Value) goja.Value {
		raw, err := job.Host.Call(ctx, name, encoded(args))
		must(err)
		return parse(raw)
	})
	set("fetch", func(url string) goja.Value {
		r, err := job.Host.Fetch(ctx, script.Request{Method: "GET", URL: url})
		must(err)
		return vm.ToValue(r.Body)
	})
	set("state", map[string]any{
		"get": func(key string) goja.Value {
			raw, err := job.Host.GetState(ctx, key)
			must(err)
			if raw == nil {
				return goja.Undefined()
			}
			return parse(raw)
		},
		"set": func(key string, value goja.Value) {
			raw, err := json.Marshal(value.Export())
			must(err)
			must(job.Host.SetState(ctx, key, raw, 0))
		},
	})
	failed := func(kind script.Kind, message string) (script.Result, error) {
		return script.Result{}, &script.Error{Kind: kind, Message: message, Line: 1, Column: 1, Killed: kind == script.Timeout && ctx.Err() == nil, Stats: result.Stats}
	}
	// Its time begins here: what was prepared above does not expect to be interrupted.
	defer follow()()
	if job.Limits.Time > 0 {
		defer time.AfterFunc(job.Limits.Time, func() { vm.Interrupt("stopped") }).Stop()
	}
	returned, err := vm.RunString(wrap(string(job.Program.Code)))
	var stopped *goja.InterruptedError
	if errors.As(err, &stopped) {
		return failed(script.Timeout, "it ran longer than it may")
	}
	if err != nil {
		return failed(script.Threw, err.Error())
	}
	promise := returned.Export().(*goja.Promise)
	switch promise.State() {
	case goja.PromiseStateRejected:
		return failed(script.Threw, fmt.Sprint(promise.Result()))
	case goja.PromiseStatePending:
		return failed(script.Timeout, "its promise never settles")
	case goja.PromiseStateFulfilled:
	}
	stringify, _ := goja.AssertFunction(vm.Get("JSON").ToObject(vm).Get("stringify"))
	text := func(v goja.Value) json.RawMessage {
		s, err := stringify(goja.Undefined(), v)
		must(err)
		if goja.IsUndefined(s) {
			return nil
		}
		return json.RawMessage(s.String())
	}
	result.Context, result.Returned = text(context), text(promise.Result())
	return result, nil
}
