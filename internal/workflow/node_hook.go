package workflow

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"genkan/internal/gateway"
	"genkan/internal/jsonrpc"
	"genkan/internal/script"
)

// hookNode runs a script. A blocking one may change the call and its answer.
type hookNode struct{}

func (hookNode) Compile(b *Builder, n *Node) Action {
	var data struct {
		Hook *struct {
			Script, Module string
			Blocking       bool
			OnError        string
			Params         json.RawMessage
		}
	}
	b.Data(&data)
	if data.Hook == nil {
		b.Problem("it has no hook: data.hook needs a script, or a module")
		return Action{}
	}
	source := data.Hook.Script
	if ref := data.Hook.Module; ref != "" {
		var ok bool
		if source, ok = b.module(ref); !ok {
			b.Problem("there is no hook module %q", gateway.Short(ref))
		}
	}
	h := &hook{node: n.ID, program: b.Script(source), params: data.Hook.Params}
	if !data.Hook.Blocking {
		return Action{Role: RoleDetached, Run: h.run}
	}
	return Action{Run: h.run, OnError: data.Hook.OnError}
}

// module returns the script of a hook module, and remembers that it is used.
func (b *Builder) module(ref string) (source string, ok bool) {
	b.modules = append(b.modules, ref)
	if b.env.Module == nil {
		return "", false
	}
	return b.env.Module(ref)
}

type hook struct {
	node    string
	program *script.Program
	params  json.RawMessage
}

func (h *hook) run(ctx context.Context, r *Run) (string, error) {
	before := r.context(h.node)
	r.entry.In = len(before)
	limits := &r.workflow.Limits
	if len(before) > r.workflow.payload() {
		return "", failure("the call and its answer have %d KB, and a hook of this workflow takes at most %d KB; raise limits.payloadKB", len(before)/kilobyte, r.workflow.payload()/kilobyte)
	}
	runner := r.engine.opt.Runner
	if r.detached {
		runner = r.engine.opt.DetachedRunner
	}
	result, err := runner.Run(ctx, script.Job{
		Program: h.program, Context: before, Vars: r.variables(), Params: h.params,
		Limits: script.Limits{
			Time:   time.Duration(limits.HookMs) * time.Millisecond,
			Memory: limits.HookMemMB * megabyte, Payload: limits.PayloadKB * kilobyte, Log: limits.LogKB * kilobyte,
		},
		Host: host{r},
	})
	stats := result.Stats
	if e := (*script.Error)(nil); errors.As(err, &e) {
		stats = e.Stats
	}
	r.entry.Console, r.entry.Queue, r.entry.Wait = stats.Console, stats.Queue, stats.Wait
	if err != nil || r.detached {
		return "", err
	}
	r.entry.Out = len(result.Context) + len(result.Returned)
	return "", r.take(before, result)
}

// take does what a script wants.
func (r *Run) take(before []byte, result script.Result) error {
	after, returned := result.Context, result.Returned
	action := ""
	if len(returned) > 0 && string(returned) != "null" {
		if returned[0] != '{' {
			return failure("the script returned %s; it may return nothing, the context, or an object with action: \"continue\", \"respond\" or \"deny\"", gateway.Short(string(returned)))
		}
		action = jsonrpc.LookupText(returned, "action")
		if action == "" && jsonrpc.Lookup(returned, "request") == nil && jsonrpc.Lookup(returned, "response") == nil {
			return failure("the script returned an object without action; it may return nothing, the context, or an object with action: \"continue\", \"respond\" or \"deny\"")
		}
	}
	pick := func(key string) []byte {
		if value := jsonrpc.Lookup(returned, key); value != nil {
			return value
		}
		return jsonrpc.Lookup(after, key)
	}
	switch action {
	case "deny":
		return Deny(or(jsonrpc.LookupText(returned, "reason"), jsonrpc.LookupText(returned, "message")))
	case "", "continue":
		if err := r.changeRequest(jsonrpc.Lookup(before, "request"), pick("request")); err != nil {
			return err
		}
		return r.changeResponse(pick("response"))
	case "respond":
		response := pick("response")
		if response == nil {
			return failure("the script returned action \"respond\" without a response")
		}
		r.finished = true
		return r.changeResponse(response)
	default:
		return failure("the script returned the unknown action %q; the actions are continue, respond and deny", gateway.Short(action))
	}
}
