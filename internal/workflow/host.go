package workflow

import (
	"context"
	"encoding/json"
	"net/url"
	"slices"
	"time"

	"genkan/internal/gateway"
	"genkan/internal/jsonrpc"
	"genkan/internal/script"
)

// host does what the script of a hook asks for.
type host struct {
	run  *Run
	hook *hook
}

// depthKey is that of how many workflows made calls before this one.
type depthKey struct{}

func depth(ctx context.Context) int {
	n, _ := ctx.Value(depthKey{}).(int)
	return n
}

func withDepth(ctx context.Context, n int) context.Context {
	return context.WithValue(ctx, depthKey{}, n)
}

// Call calls a tool with the rights of the caller.
func (h host) Call(ctx context.Context, tool string, arguments json.RawMessage) (json.RawMessage, error) {
	if h.run.dry {
		return nil, errSkipped
	}
	return h.run.call(ctx, tool, arguments)
}

// call calls a tool by the name that the caller sees, with the caller's rights.
func (r *Run) call(ctx context.Context, tool string, arguments json.RawMessage) (json.RawMessage, error) {
	most := r.workflow.Limits.Depth
	if most == 0 {
		most = defaultDepth
	}
	d := depth(r.ctx)
	switch {
	case r.engine.opt.Call == nil:
		return nil, failure("this workflow can call no tools")
	case d >= most:
		return nil, failure("calls that workflows make are nested %d deep here, which is the most that workflow %q allows (limits.depth)", d, r.workflow.title())
	case len(arguments) == 0:
		arguments = []byte("{}")
	}
	raw := append(jsonrpc.AppendQuoted([]byte(`{"name":`), tool), `,"arguments":`...)
	params, err := jsonrpc.ScanParams(append(append(raw, arguments...), '}'))
	if err != nil || arguments[0] != '{' {
		return nil, failure("the arguments for %s are not a JSON object", gateway.Short(tool))
	}
	inner := &gateway.Call{
		Method: ToolsCall, Params: params, Name: tool, Kind: gateway.KindTool, Caller: r.calling.Caller, Parent: r.calling,
		Terms: gateway.Terms{ReadOnly: r.calling.ReadOnly, Complete: true},
	}
	inner.View = inner.View.Unsearched()
	if inner.Peer != nil { // what its server says beside its answer is not for the caller
		inner.Peer = quietPeer{inner.Peer}
	}
	inner.OnSignOfLife(r.calling.SignOfLife)
	result, err := r.engine.opt.Call.Handle(context.WithValue(withDepth(ctx, d+1), chainKey{}, r.chain), inner)
	if err != nil {
		return nil, err
	}
	return result.Raw, nil
}

// Fetch makes an HTTP request to one of the hosts that the workflow may reach.
func (h host) Fetch(ctx context.Context, request script.Request) (script.Response, error) {
	u, err := url.Parse(request.URL)
	hosts := patterns(slices.Concat(h.run.workflow.Limits.FetchHosts, h.hook.hosts))
	switch {
	case h.run.dry:
		return script.Response{}, errSkipped
	case h.run.engine.opt.Fetch == nil:
		return script.Response{}, failure("this workflow can fetch nothing")
	case err != nil || u.Hostname() == "" || u.Scheme != "https" && u.Scheme != "http":
		return script.Response{}, failure("fetch needs an http or https URL")
	case len(hosts) == 0 || !hosts.match(u.Hostname()):
		return script.Response{}, failure("the host %s is not among limits.fetchHosts of workflow %q", gateway.Short(u.Hostname()), h.run.workflow.title())
	}
	return h.run.engine.opt.Fetch(ctx, request)
}

// GetState returns a value of the workflow's state.
func (h host) GetState(_ context.Context, key string) (json.RawMessage, error) {
	s, of, _ := h.state()
	return s.get(of, key), nil
}

// SetState keeps a value, or deletes it.
func (h host) SetState(_ context.Context, key string, value json.RawMessage, ttl time.Duration) error {
	s, of, options := h.state()
	return s.set(of, options, key, value, ttl)
}

// AddState adds to a number.
func (h host) AddState(_ context.Context, key string, by float64, ttl time.Duration) (float64, error) {
	s, of, options := h.state()
	return s.add(of, options, key, by, ttl)
}
