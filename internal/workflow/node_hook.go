package workflow

import (
	"context"
	"encoding/json"
	"errors"
	"math"
	"slices"
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
			Script, Module, Template string
			Blocking                 bool
			OnError                  string
			Params                   json.RawMessage
			// Partial is set if the script may leave out members of structuredContent
			// that the tool's outputSchema requires. A tools/list workflow beside this
			// one tells clients so.
			Partial bool
		}
	}
	b.Data(&data)
	if data.Hook == nil {
		b.Problem("it has no hook: data.hook needs a script, a module or a template")
		return Action{}
	}
	source, params := data.Hook.Script, data.Hook.Params
	var found TemplateHook
	if id := data.Hook.Template; id != "" {
		err := error(gateway.Errorf(gateway.CodeNotFound, "there is no template %q", gateway.Short(id)))
		if b.env.Template != nil {
			found, err = b.env.Template(id, params)
		}
		if err != nil {
			b.wrong(gateway.AsError(err))
		}
		if found.Blocking && !data.Hook.Blocking {
			b.Problem("its template %q changes or refuses calls, so the call must wait for it: blocking must be true", gateway.Short(id))
		}
		source, params = found.Script, found.Params
	}
	if ref := data.Hook.Module; ref != "" {
		var module Module
		ok := false
		if b.env.Module != nil {
			module, ok = b.env.Module(ref)
		}
		if !ok {
			b.Problem("there is no hook module %q", gateway.Short(ref))
		}
		source = module.Script
		b.params(module.Params, params)
	}
	h := &hook{node: n.ID, program: b.Script(source), params: params, hosts: found.Hosts, state: found.State, partial: data.Hook.Partial}
	if !data.Hook.Blocking {
		return Action{Role: RoleDetached, Run: h.run, Side: found.Side}
	}
	return Action{Run: h.run, OnError: data.Hook.OnError, Side: found.Side}
}

// params reports what is wrong with the params of a hook by the schema of its module.
func (b *Builder) params(schema, params json.RawMessage) {
	if b.env.running() || b.env.Params == nil || len(schema) == 0 {
		return
	}
	if len(params) == 0 || string(params) == "null" {
		params = json.RawMessage("{}")
	}
	if err := b.env.Params(schema, params); err != nil {
		e := gateway.AsError(err)
		for i := range e.Problems {
			e.Problems[i].Text = inParams(&e.Problems[i])
		}
		b.wrong(e)
	}
}

// inParams returns the text of a problem with params. before its field.
func inParams(p *gateway.Problem) gateway.Text {
	text := gateway.Text{Format: p.Text.Format, Values: slices.Clone(p.Text.Values)}
	for i, value := range text.Values {
		switch {
		case p.Field == "" && value == "arguments":
			text.Values[i] = "params"
		case p.Field != "" && value == p.Field:
			text.Values[i] = "params." + p.Field
		default:
			continue
		}
		break
	}
	return text
}

// wrong reports an error, field by field where it says more than one.
func (b *Builder) wrong(err *gateway.Error) {
	for _, p := range err.Problems {
		b.Problem("%s", p.Text)
	}
	if len(err.Problems) == 0 {
		b.Problem("%s", err)
	}
}

type hook struct {
	node    string
	program *script.Program
	params  json.RawMessage
	// hosts may be reached besides limits.fetchHosts.
	hosts []string
	// state says where values are kept if the workflow does not.
	state   State
	partial bool
}

func (h *hook) run(ctx context.Context, r *Run) (string, error) {
	before := r.context(h.node)
	r.entry.In = len(before)
	limits := &r.workflow.Limits
	if len(before) > r.workflow.payload() {
		return "", failure("the call and its answer have %d KB, and a hook of this workflow takes at most %d KB; raise %s", len(before)/kilobyte, r.workflow.payload()/kilobyte, settingName("limits.payloadKB"))
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
		Host: host{r, h},
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
	r.partial = h.partial
	defer func() { r.partial = false }()
	return "", r.take(result)
}

// longestWait is the largest retryAfter, in seconds: a year.
const longestWait = 365 * 24 * 3600

// take does what a script wants.
func (r *Run) take(result script.Result) error {
	said := members4(result.Returned, "action", "request", "response", "reason")
	left := members4(result.Context, "", "request", "response", "")
	request, response := said[1], said[2]
	text := func(raw []byte) string { text, _ := jsonrpc.Unquote(raw); return string(text) }
	action := text(said[0])
	if returned := result.Returned; len(returned) > 0 && string(returned) != "null" {
		if returned[0] != '{' {
			return failure("the script returned %s; it may return nothing, the context, or an object with action: \"continue\", \"respond\" or \"deny\"", gateway.Short(string(returned)))
		}
		if action == "" && request == nil && response == nil {
			return failure("the script returned an object without action; it may return nothing, the context, or an object with action: \"continue\", \"respond\" or \"deny\"")
		}
	}
	if request == nil {
		request = left[1]
	}
	if response == nil {
		response = left[2]
	}
	switch action {
	case "deny":
		var again float64
		if raw := jsonrpc.Lookup(result.Returned, "retryAfter"); raw != nil && json.Unmarshal(raw, &again) != nil {
			return failure("the script returned retryAfter %s, and it must be a number of seconds", gateway.Short(string(raw)))
		}
		return deny(or(text(said[3]), jsonrpc.LookupText(result.Returned, "message")), time.Duration(math.Ceil(min(max(again, 0), longestWait)))*time.Second)
	case "", "continue":
		if err := r.changeRequest(request); err != nil {
			return err
		}
		return r.changeResponse(response)
	case "respond":
		if response == nil {
			return failure("the script returned action \"respond\" without a response")
		}
		r.finished = true
		return r.changeResponse(response)
	default:
		return failure("the script returned the unknown action %q; the actions are continue, respond and deny", gateway.Short(action))
	}
}

// members4 reads an object once for the values of up to four keys; nil for those that it
// does not have, and for all if it is no object.
func members4(object []byte, keys ...string) (values [4][]byte) {
	err := jsonrpc.Members(object, func(key, value []byte) bool {
		for i := range keys {
			if keys[i] != "" && string(key) == keys[i] {
				values[i] = value
			}
		}
		return true
	})
	if err != nil {
		return [4][]byte{}
	}
	return values
}
