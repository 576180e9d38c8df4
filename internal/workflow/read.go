package workflow

import (
	"context"

	"genkan/internal/gateway"
)

// Workflows returns the newest version of each workflow.
func (l *Library) Workflows(ctx context.Context) ([]Stored, error) { return l.store.Workflows(ctx) }

// Workflow returns a version of a workflow; 0 is the newest.
func (l *Library) Workflow(ctx context.Context, id string, version int) (Stored, error) {
	s, err := l.store.Workflow(ctx, id, version)
	if !isMissing(err) {
		return s, err
	}
	if newest, err := l.store.Workflow(ctx, id, 0); err == nil {
		return Stored{}, gateway.Errorf(gateway.CodeNotFound, "workflow %q has no version %d; its newest is %d", id, version, newest.Version)
	}
	return Stored{}, gateway.Errorf(gateway.CodeNotFound, "there is no workflow %q; `genkan workflows` lists them", gateway.Short(id))
}

// Versions returns all versions of a workflow, the newest first.
func (l *Library) Versions(ctx context.Context, id string) ([]Version, error) {
	if _, err := l.Workflow(ctx, id, 0); err != nil {
		return nil, err
	}
	return l.store.Versions(ctx, id)
}

// Compile prepares a definition to be run, with the modules that are stored.
func (l *Library) Compile(ctx context.Context, d *Definition) (*Workflow, []Problem) {
	return Compile(d, l.environment(ctx, Module{}))
}

// Modules returns the newest version of each hook module.
func (l *Library) Modules(ctx context.Context) ([]Module, error) { return l.store.Modules(ctx) }

// Module returns a version of a hook module; 0 is the newest.
func (l *Library) Module(ctx context.Context, id string, version int) (Module, error) {
	m, err := l.store.Module(ctx, id, version)
	if !isMissing(err) {
		return m, err
	}
	if newest, err := l.store.Module(ctx, id, 0); err == nil {
		return Module{}, gateway.Errorf(gateway.CodeNotFound, "hook module %q has no version %d; its newest is %d", id, version, newest.Version)
	}
	return Module{}, gateway.Errorf(gateway.CodeNotFound, "there is no hook module %q; GET /v1/hook-modules lists them", gateway.Short(id))
}

// ModuleUsers returns the workflows whose newest or enabled version uses a hook module.
func (l *Library) ModuleUsers(ctx context.Context, id string) ([]string, error) {
	return l.users(ctx, id)
}
