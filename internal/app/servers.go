package app

import (
	"context"

	"genkan/internal/catalog"
	"genkan/internal/config"
	"genkan/internal/registry"
	"genkan/internal/upstream"
)

// newRegistry returns the registry of the servers in the database.
func (p *Process) newRegistry() *registry.Registry {
	return registry.New(p.life, registry.Options{
		Store: p.store, Vault: p.vault, Log: p.log, LookupEnv: p.opt.LookupEnv,
		ConfigFile: p.ConfigFile(), Config: p.Config, InForce: p.keptInForce, Reloading: &p.reloading, Apply: p.renew, Reload: p.Reload,
		Probe: p.probe, Restarted: p.executor.Forget,
	})
}

// keptInForce returns the servers of the database that the configuration in force
// was read with.
func (p *Process) keptInForce() []config.StoredServer {
	p.reloading.Lock()
	defer p.reloading.Unlock()
	return p.kept
}

// probe starts a server once, for a test.
func (p *Process) probe(ctx context.Context, s config.Server) registry.Probe {
	deps := p.upstreamDeps()
	deps.Log = p.serverLog.With("test", true)
	source, status := upstream.Probe(ctx, p.settings(s), deps)
	listed := catalog.New([]catalog.Mount{mountOf(source, s, nil)}, 0, deps.Log)
	return registry.Probe{Server: source, Status: status, Findings: listed.Snapshot().Findings()}
}
