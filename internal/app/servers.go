package app

import (
	"context"
	"path/filepath"

	"genkan/internal/catalog"
	"genkan/internal/config"
	"genkan/internal/registry"
	"genkan/internal/upstream"
)

// newRegistry returns the registry of the servers in the database and in the
// configuration file.
func (p *Process) newRegistry() *registry.Registry {
	return registry.New(p.life, registry.Options{
		Store: p.store, Vault: p.vault, Log: p.log, LookupEnv: p.opt.LookupEnv,
		ConfigFile: p.ConfigFile(), ForeignFile: p.foreignFile(), ParseFile: p.parseFile, Config: p.Config, InForce: p.keptInForce, Reloading: &p.reloading, Apply: p.renew, Reload: p.Reload,
		Probe: p.probe, Restarted: p.executor.Forget,
	})
}

// foreignFile reports whether the configuration file was given by a person and is not
// in the data directory: it may be shared, or kept in a repository.
func (p *Process) foreignFile() bool {
	path, given := p.configFile()
	return given && filepath.Dir(realPath(path)) != realPath(p.opt.DataDir)
}

// parseFile reads contents of the configuration file with servers of the database.
func (p *Process) parseFile(ctx context.Context, contents []byte, kept []config.StoredServer) (*config.Config, error) {
	from := config.Sources{Stored: kept, Env: p.opt.LookupEnv, Secret: registry.SecretLookup(ctx, p.vault)}
	return config.Parse(contents, p.ConfigFile(), from, p.opt.Flags)
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
