package app

import (
	"context"

	"genkan/internal/gateway"
)

// hasLists reports whether workflows give a client lists of its own.
func (p *Process) hasLists(client string) bool {
	return p.workflows.engine.Set().ListsFor(client)
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
	p.listsDropped()
}

func (p *Process) listsDropped() {
	select {
	case p.dropped <- struct{}{}:
	default:
	}
}

// renewLists notifies clients that have lists of their own when these change. It runs
// beside refresh, because it may wait for workflows.
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
	}
}
