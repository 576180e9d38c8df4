package app

import (
	"context"
	"os"
	"strings"
	"time"

	"genkan/internal/config"
	"genkan/internal/gateway"
	"genkan/internal/logs"
	"genkan/internal/upstream"
)

// reading is a configuration that is not in force yet.
type reading struct {
	*config.Config
	used variables
	kept []config.StoredServer
	// unread is why secrets that it refers to could not be read, which is another
	// thing than not being there.
	unread error
}

// read reads the configuration, with servers that are kept beside its file.
func (p *Process) read(ctx context.Context, kept []config.StoredServer) (*reading, error) {
	path, mustExist := p.configFile()
	if err := checkPrivate(path); err != nil {
		return nil, err
	}
	found := &reading{used: variables{}, kept: kept}
	secret := secretsOf(ctx, p.vault)
	from := config.Sources{Stored: kept, Env: found.used.lookup(p.opt.LookupEnv), Secret: func(name string) (gateway.Secret, bool, error) {
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

// accept is done before a configuration comes into force.
func (p *Process) accept(r *reading) {
	p.variables.Store(&r.used)
	p.kept = r.kept
	if p.opt.Level != nil {
		p.opt.Level.Set(logs.Level(r.LogLevel))
	}
}

// stops is a server that runs and could not with the new configuration, because
// its secrets cannot be read just now; empty for none.
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

// Reload reads the configuration again. A bad one leaves everything as it is.
func (p *Process) Reload() error {
	p.reloading.Lock()
	defer p.reloading.Unlock()
	kept, err := p.store.StoredServers(p.life)
	if err != nil {
		return err
	}
	return p.renew(kept, func(*config.Config) error { return nil })
}

// renew puts the file, with servers that are kept beside it, into force. What
// must be done before that, when it is known that it can be, is commit. It is
// called with reloading held.
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
	// Another process may have changed what is said about tools.
	if err := p.overrides.Load(p.life); err != nil {
		p.log.Warn("what is said about tools could not be read again", "error", err)
	}
	p.accept(found)
	if needed := config.Diff(old.config, cfg).RestartNeeded; len(needed) > 0 {
		p.log.Warn("a changed setting needs a restart and is not in force yet", "settings", strings.Join(needed, ", "))
	}
	p.furnishing.Lock()
	fresh := p.build(cfg, old)
	p.lock.Set(rules(cfg))
	p.house.Store(fresh)
	p.furnishing.Unlock()
	p.setStatuses(p.life, fresh)
	p.retire(old, fresh)
	p.tellOfReload(old, fresh)
	for _, aside := range cfg.Rejected {
		p.log.Warn("a server of the database is not used", "server", aside.Name, "reason", aside.Reason.String())
	}
	p.log.Info("configuration reloaded", "servers", len(fresh.servers))
	return nil
}

// tellOfReload tells the clients whose view looks different now.
func (p *Process) tellOfReload(old, fresh *house) {
	for _, view := range append(p.mcp.Views(), gateway.View{}) {
		before, ok := old.view(view)
		after, still := fresh.view(view)
		for _, kind := range gateway.Kinds() {
			if !ok || !still || !before.SameList(after, kind) {
				p.mcp.Changed(view, kind)
			}
		}
	}
	p.mcp.Resubscribe()
}

// fileIsThere refuses to take a file that is gone or empty for a wish to have
// no servers: editors move a file away before they write the new one, and a
// shell empties it first.
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

// retirement is how long calls may go on on a server that left the
// configuration.
const retirement = 30 * time.Second

// retire ends the servers that the new house did not take over, when their
// calls are done.
func (p *Process) retire(old, fresh *house) {
	p.retireKnowledge()
	kept, named := map[*upstream.Server]bool{}, map[string]bool{}
	for _, s := range fresh.servers {
		kept[s], named[s.Name()] = true, true
	}
	for _, s := range old.servers {
		if kept[s] {
			continue
		}
		// Calls that wait for people wait on a server that was replaced as long
		// as others may; on one that was removed, not at all.
		if !named[s.Name()] {
			p.mcp.Forsake(s)
		}
		p.retired.Go(func() {
			ctx, cancel := context.WithTimeout(context.Background(), retirement)
			defer cancel()
			stop := context.AfterFunc(ctx, func() { p.mcp.Forsake(s) })
			defer stop()
			s.Retire(ctx)
			p.executor.Forget(s)
		})
	}
}
