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
	"genkan/internal/jsonrpc"
	"genkan/internal/reception"
	"genkan/internal/registry"
	"genkan/internal/signin"
)

// Checkup returns the options of a checkup of a data directory. The caller adds how
// to join a running genkan.
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
				kept = nil // the check of the database reports why
			}
			from := config.Sources{Stored: kept, Env: opt.LookupEnv, Secret: registry.SecretLookup(ctx, vault)}
			return config.Load(opt.configFile(), opt.ConfigFile != "", from, opt.Flags)
		},
		CheckN8N:       checkN8N,
		AdminTokenFile: AdminTokenFile(opt.DataDir), Database: databaseFile(opt.DataDir), IndexDir: KnowledgeIndex(opt.DataDir),
		ImportsFile: filepath.Join(opt.DataDir, "imports.json"),
		Backups:     clients.Backups{Dir: filepath.Join(opt.DataDir, "backups"), Vault: vault},
		Vault:       vault, SecretPrefix: registry.SecretPrefix, SignInPrefix: signin.VaultPrefix,
	}
}

// doctor examines this process and its surroundings, and returns the findings.
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
	opt.Tools = func() (all []client.Tool, _ error) {
		for _, e := range p.house.Load().Snapshot().Entries() {
			if !e.Override.Disabled {
				all = append(all, client.Tool{
					Name: e.Tool.Exposed, Server: e.Tool.Source.Name(), Replaces: e.Replaces,
					Description: jsonrpc.LookupText(e.Tool.Definition, "description"),
				})
			}
		}
		return all, nil
	}
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

// listening returns the address that this process serves HTTP on; empty if it
// serves none.
func (p *Process) listening() string {
	address, _ := p.address.Load().(string)
	return address
}

// servedAt returns the URL that this process serves HTTP at; empty if it serves none.
func (p *Process) servedAt() string {
	address := p.listening()
	switch {
	case address == "":
		return ""
	case p.Config().TLS.CertFile != "":
		return "https://" + address
	default:
		return "http://" + address
	}
}

// configPath returns the absolute path of the configuration file.
func (p *Process) configPath() string {
	path, err := filepath.Abs(p.ConfigFile())
	if err != nil {
		return p.ConfigFile()
	}
	return path
}

// dialSelf returns an in-memory client of this process's own REST API.
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
