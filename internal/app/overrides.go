package app

import (
	"context"

	"genkan/internal/catalog"
	"genkan/internal/gateway"
)

// ChangeTool changes what is said about a tool. When it returns, everybody sees
// the change, and the clients whose list it changed have been told.
func (p *Process) ChangeTool(ctx context.Context, key catalog.ToolKey, change func(*catalog.Override) error) error {
	if _, err := p.overrides.Change(ctx, key, change); err != nil {
		return err
	}
	p.publish(gateway.Event{Source: key.Server, Kind: gateway.KindTool})
	p.catchUp()
	return nil
}
