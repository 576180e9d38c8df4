package app

import (
	"context"
	"os"
	"strings"
	"time"

	"genkan/internal/config"
	"genkan/internal/gateway"
	"genkan/internal/logs"
	"genkan/internal/privatedir"
	"genkan/internal/reception"
	"genkan/internal/registry"
)

// reading is a configuration that is not in force yet.
type reading struct {
	*config.Config
	used reception.Variables
	kept []config.StoredServer
	// unread is why secrets that the configuration refers to could not be read. It
	// does not count secrets that are missing.
	unread error
}

// read reads the configuration file, and adds the given servers of the database.
func (p *Process) read(ctx context.Context, kept []config.StoredServer) (*reading, error) {
	path, mustExist := p.configFile()
	if err := privatedir.CheckWriters(path); err != nil {
		return nil, err
	}
	found := &reading{used: reception.Variables{}, kept: kept}
	secret := registry.SecretLookup(ctx, p.vault)
	from := config.Sources{Stored: kept, Env: found.used.Record(p.opt.LookupEnv), Secret: func(name string) (gateway.Secret, bool, error) {
		value, ok, err := secret(name)
		if err != nil {
			found.unread = err
		}
		return value, ok, err
	}}
	cfg, err := config.Load(path, mustExist, from, p.opt.Flags)
	if err != nil {
		return nil, err
	}
	found.Config = cfg
	return found, cfg.CheckExposure()
}

// accept is called before a configuration comes into force.
func (p *Process) accept(r *reading) {
	p.variables.Store(&r.used)
	p.kept = r.kept
	if p.opt.Level != nil {
		p.opt.Level.Set(logs.Level(r.LogLevel))
	}
}

// stops returns the name of a running server that the new configuration would stop
// because its secrets cannot be read at the moment; empty for none.
func (r *reading) stops(now *config.Config) string {
	if r.unread == nil {
		return ""
	}
	runs := map[string]bool{}
	for _, s := range now.Servers {
		runs[s.Name] = !s.Disabled && len(s.Unresolved.Each) == 0
	}
	for _, s := range r.Servers {
		if runs[s.Name] && !s.Disabled && len(s.Unresolved.Each) > 0 {
			return s.Name
		}
	}
	return ""
}

// Reload reads the configuration again. An invalid one changes nothing.
func (p *Process) Reload() (err error) {
	p.reloading.Lock()
	defer p.reloading.Unlock()
	defer func() {
		if err != nil {
			p.publishReload(err)
		}
	}()
	kept, err := p.store.StoredServers(p.life)
	if err != nil {
		return err
	}
	return p.renew(kept, func(*config.Config) error { return nil })
}

// fileChanged reloads because the configuration file was changed.
func (p *Process) fileChanged() {
	if err := p.Reload(); err != nil {
		p.log.Error("the changed configuration is not used; the former one stays in force", "error", err)
	}
}

// renew puts the configuration file and the given servers of the database into
// force. It calls commit once the configuration is known to be valid, before it
// takes effect. reloading must be held.
func (p *Process) renew(kept []config.StoredServer, commit func(*config.Config) error) error {
	if err := p.fileIsThere(); err != nil {
		return err
	}
	found, err := p.read(p.life, kept)
	if err != nil {
		return err
	}
	cfg, old := found.Config, p.house.Load()
	if name := found.stops(old.config); name != "" {
		return &gateway.Error{
			Code: gateway.CodeUnavailable, Err: found.unread,
			Message: "the secrets of server %s cannot be read now, and without them it would stop: %s", Values: []any{name, gateway.AsError(found.unread)},
		}
	}
	if err := commit(cfg); err != nil {
		return err
	}
	// Another process may have changed the overrides.
	if err := p.overrides.Load(p.life); err != nil {
		p.log.Warn("what is said about tools could not be read again", "error", err)
	}
	p.accept(found)
	if needed := config.Diff(old.config, cfg).RestartNeeded; len(needed) > 0 {
		p.log.Warn("a changed setting needs a restart and is not in force yet", "settings", strings.Join(needed, ", "))
	}
	p.building.Lock()
	fresh := p.build(cfg, old)
	p.lock.Set(rules(cfg))
	p.house.Store(fresh)
	p.building.Unlock()
	p.followWorkflows(cfg)
	p.setStatuses(p.life, fresh)
	p.retire(old, fresh)
	p.tellOfReload(old, fresh)
	p.publishServers(old, fresh)
	p.publishLists()
	p.publishReload(nil)
	p.secrets.Reloaded(p.life)
	for _, aside := range cfg.Rejected {
		p.log.Warn("a server of the database is not used", "server", aside.Name, "reason", aside.Reason.String())
	}
	p.log.Info("configuration reloaded", "servers", len(fresh.servers))
	return nil
}

// tellOfReload notifies the clients whose view has changed.
func (p *Process) tellOfReload(old, fresh *house) {
	for _, view := range append(p.mcp.Views(), gateway.View{}) {
		before, ok := old.Catalog(view)
		after, still := fresh.Catalog(view)
		for _, kind := range gateway.Kinds() {
			if !ok || !still || !before.SameList(after, kind) {
				p.mcp.Changed(view, kind)
			}
		}
	}
	p.mcp.Resubscribe()
}

// fileIsThere refuses a configuration file that is missing or empty. That does not
// mean that the user wants no servers: editors move a file away before they write
// the new one, and a shell empties it first.
func (p *Process) fileIsThere() error {
	info, err := os.Stat(p.ConfigFile())
	switch {
	case err != nil:
		return &gateway.Error{
			Code: gateway.CodeInvalid, Err: err,
			Message: "the configuration file is gone; to have no servers, leave it with \"mcpServers: {}\"",
		}
	case info.Size() == 0:
		return gateway.Errorf(gateway.CodeInvalid,
			"the configuration file is empty; to have no servers, write \"mcpServers: {}\"")
	}
	return nil
}

// retirement is how long calls may run on a server that was removed from the
// configuration.
const retirement = 30 * time.Second

// retire closes the sources that the new house did not take over, after their calls
// are done.
func (p *Process) retire(old, fresh *house) {
	kept, named := map[gateway.Source]bool{}, map[string]bool{}
	for _, s := range fresh.sources() {
		kept[s], named[s.Name()] = true, true
	}
	for _, s := range old.sources() {
		if kept[s] {
			continue
		}
		// Calls that wait for people may wait as long as others on a server that was
		// replaced. On a server that was removed they end at once.
		if !named[s.Name()] {
			p.mcp.EndParked(s)
		}
		p.retired.Go(func() {
			ctx, cancel := context.WithTimeout(context.Background(), retirement)
			defer cancel()
			stop := context.AfterFunc(ctx, func() { p.mcp.EndParked(s) })
			defer stop()
			gateway.Retire(ctx, s)
			p.executor.Forget(s)
		})
	}
}
