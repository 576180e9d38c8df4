package app

import (
	"context"
	"net"
	"os"
	"path/filepath"

	"genkan/internal/api/client"
	"genkan/internal/checkup"
	"genkan/internal/clients"
	"genkan/internal/config"
	"genkan/internal/doctor"
	"genkan/internal/gateway"
	"genkan/internal/reception"
	"genkan/internal/registry"
	"genkan/internal/setup"
)

// Checkup returns what a checkup of a data directory looks at. Who runs one adds
// how to join the genkan that runs.
func Checkup(opt Options) checkup.Options {
	if full, err := filepath.Abs(opt.DataDir); err == nil {
		opt.DataDir = full
	}
	if opt.LookupEnv == nil {
		opt.LookupEnv = os.LookupEnv
	}
	vault := OpenVault(opt.DataDir)
	return checkup.Options{
		Version: opt.Version, DataDir: opt.DataDir, UsualDataDir: DefaultDataDir(),
		ConfigFile: opt.configFile(), ConfigNamed: opt.ConfigFile != "",
		LoadConfig: func(ctx context.Context) (*config.Config, error) {
			kept, err := StoredServers(ctx, opt.DataDir)
			if err != nil {
				kept = nil // the look at the database says what is wrong with it
			}
			from := config.Sources{Stored: kept, Env: opt.LookupEnv, Secret: registry.SecretLookup(ctx, vault)}
			return config.Load(opt.configFile(), opt.ConfigFile != "", from, opt.Flags)
		},
		AdminTokenFile: AdminTokenFile(opt.DataDir), Database: databaseFile(opt.DataDir), IndexDir: KnowledgeIndex(opt.DataDir),
		ImportsFile: filepath.Join(opt.DataDir, "imports.json"),
		Backups:     clients.Backups{Dir: filepath.Join(opt.DataDir, "backups"), Vault: vault},
		Vault:       vault, Private: []string{clients.BackupPrefix, setup.TokenPrefix},
	}
}

// doctor finds out what is wrong with this process and around it.
func (p *Process) doctor(ctx context.Context, servers []string) ([]doctor.Finding, error) {
	select {
	case p.examining <- struct{}{}:
		defer func() { <-p.examining }()
	case <-ctx.Done():
		return nil, gateway.AsError(ctx.Err())
	}
	remote, hangUp := p.dialSelf()
	defer hangUp()
	opt := Checkup(p.opt)
	opt.Only = servers
	opt.Join = func(context.Context, bool) checkup.Joined {
		running := doctor.Running{How: "background", Version: p.opt.Version, PID: os.Getpid(), Listen: p.listening()}
		if running.Listen != "" {
			running.How = "serve"
		}
		return checkup.Joined{Remote: remote, Running: running}
	}
	found, err := checkup.Gather(ctx, opt)
	if err != nil {
		return nil, err
	}
	all := doctor.Examine(found.Facts)
	if len(servers) > 0 {
		all = doctor.Only(all, servers)
	}
	return all, nil
}

// listening is where this process serves HTTP; empty if it does not.
func (p *Process) listening() string {
	address, _ := p.address.Load().(string)
	return address
}

// configPath is the configuration's whole path.
func (p *Process) configPath() string {
	path, err := filepath.Abs(p.ConfigFile())
	if err != nil {
		return p.ConfigFile()
	}
	return path
}

// dialSelf is a client of this process's own REST API, within memory.
func (p *Process) dialSelf() (remote *client.Client, hangUp func()) {
	listener, server := reception.NewListener(), p.httpServer()
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = server.Serve(listener)
	}()
	remote = client.NewOver(func(context.Context) (net.Conn, error) {
		ours, theirs := net.Pipe()
		go listener.Pass(theirs)
		return ours, nil
	}, p.admin)
	return remote, func() {
		remote.Close()
		_ = server.Close()
		_ = listener.Close()
		<-done
	}
}
