package app

import (
	"context"

	"genkan/internal/api"
	"genkan/internal/gateway"
	"genkan/internal/workflow"
)

// hasLists reports whether workflows give a client lists of its own.
func (p *Process) hasLists(client string) bool {
	return p.workflows.engine.Set().ListsFor(client)
}

// reach returns the sources that the limit of a client allows; nil if it allows all.
func (p *Process) reach(client string) []string {
	return api.Reach(p.workflows.engine.Set(), client)
}

// mayUse reports whether the limit of a client allows a source.
func (p *Process) mayUse(client, source string) bool {
	return api.MayUse(p.workflows.engine.Set(), client, source)
}

// listsOf returns what workflows leave of a source's tools for the audience of a view.
func (p *Process) listsOf(view gateway.View, source gateway.Source, tools []gateway.Tool) ([]gateway.Tool, error) {
	return p.workflows.engine.Tools(p.life, gateway.Identity{ClientID: view.Audience}, view, source, tools)
}

// rewrite puts other workflows into force. The next request of a client that has lists of
// its own gets them from these.
func (p *Process) rewrite(replace func()) {
	p.building.Lock()
	defer p.building.Unlock()
	h := p.house.Load()
	if h == nil { // at the start
		replace()
		return
	}
	h.Rewrite(p.mcp.Views(), replace)
	p.rewritten.Store(true)
	p.listsDropped()
}

// recheck returns an error if the caller of a call may not make it any more: its token was
// revoked or limited, or what it calls is not in its lists.
func (p *Process) recheck(ctx context.Context, call *gateway.Call) error {
	if err := p.tokens.Check(ctx, call.Identity); err != nil {
		return err
	}
	switch call.Method {
	case workflow.ToolsCall, workflow.PromptsGet, workflow.ResourcesRead:
	default:
		return nil
	}
	again := &gateway.Call{Method: call.Method, Params: call.Params, Name: call.Name, Kind: call.Kind, Caller: call.Caller, Terms: call.Terms, Parent: call.Parent}
	if err := p.house.Load().find(again); err != nil {
		return err
	}
	if again.Tool.Source.Name() != call.Tool.Source.Name() || again.Tool.Name != call.Tool.Name || call.ReadOnly && !again.Tool.ReadOnly {
		return gateway.Errorf(gateway.CodeDenied, "%s is something else now; look at it again", call.Name)
	}
	return nil
}

func (p *Process) listsDropped() {
	select {
	case p.dropped <- struct{}{}:
	default:
	}
}

// renewLists notifies clients that have lists of their own when these change, and ends
// approvals of calls and subscriptions that these have no more. It runs beside refresh,
// because it may wait for workflows.
func (p *Process) renewLists(ctx context.Context) {
	for {
		select {
		case <-p.dropped:
		case <-ctx.Done():
			return
		}
		for kind, views := range p.house.Load().Renew(p.mcp.Views()) {
			for _, view := range views {
				p.mcp.Changed(view, kind)
			}
		}
		if p.rewritten.Swap(false) {
			p.mcp.Resubscribe()
		}
		p.workflows.desk.Recheck(func(call *gateway.Call) error { return p.recheck(ctx, call) })
	}
}
