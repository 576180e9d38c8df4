package app

import (
	"context"

	"genkan/internal/api/client"
	"genkan/internal/catalog"
	"genkan/internal/events"
	"genkan/internal/gateway"
)

// ChangeTool changes the override of a tool. When it returns, the change is visible
// to all clients, and those whose list changed have been notified.
func (p *Process) ChangeTool(ctx context.Context, key catalog.ToolKey, change func(*catalog.Override) error) error {
	if _, err := p.overrides.Change(ctx, key, change); err != nil {
		return err
	}
	p.publish(gateway.Event{Source: key.Server, Kind: gateway.KindTool})
	p.catchUp()
	p.live.Publish(events.Event{
		Topic: events.Tools, Name: client.EventToolEdited, Server: key.Server,
		Data: events.ForAdmins(client.ToolEdited{Server: key.Server, Tool: key.Name}),
	})
	return nil
}
