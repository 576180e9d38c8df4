package app

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"sync"
	"time"

	"genkan/internal/clients"
	"genkan/internal/config"
	"genkan/internal/gateway"
	"genkan/internal/identity"
	"genkan/internal/registry"
	"genkan/internal/setup"
	"genkan/internal/sqlite"
	"genkan/internal/vault"
)

// setupOptions returns the options that do not depend on whether a process runs.
func (o Options) setupOptions(v *vault.File) setup.Options {
	out := setup.Options{
		DataDir: o.DataDir, ConfigFile: o.configFile(), ConfigRequired: o.ConfigFile != "", Flags: o.Flags,
		Vault: v, Environment: o.Clients, Command: o.Command,
		SaveSecret: func(ctx context.Context, name string, value gateway.Secret) error {
			return v.Save(ctx, registry.SecretPrefix+name, value)
		},
	}
	if out.Environment == nil {
		out.Environment = clients.Here
	}
	return out
}

// newSetup returns the Setup that imports servers and connects clients while this
// process runs.
func (p *Process) newSetup() *setup.Setup {
	out := p.opt.setupOptions(p.vault)
	out.Sources = func(ctx context.Context) (config.Sources, error) {
		if err := p.opt.checkFiles(); err != nil {
			return config.Sources{}, err
		}
		from := config.Sources{Env: p.opt.LookupEnv, Secret: registry.SecretLookup(ctx, p.vault)}
		var err error
		from.Stored, err = p.store.StoredServers(ctx)
		return from, err
	}
	// Open the tokens separately: the process's own notice only after a second that
	// another process has revoked a token.
	out.Tokens = func(_ context.Context, use func(*identity.Tokens) error) error {
		return use(identity.NewTokens(p.store, "", time.Now))
	}
	out.Listening = func(context.Context) string { return p.servedAt() }
	return setup.New(out)
}

// NewSetup returns the Setup for a data directory that this process does not serve.
// listening returns the URL of a running genkan that serves it; empty if there is
// none.
func NewSetup(opt Options, listening func(ctx context.Context) string) *setup.Setup {
	if opt.LookupEnv == nil {
		opt.LookupEnv = os.LookupEnv
	}
	kept := OpenVault(opt.DataDir)
	out := opt.setupOptions(kept)
	save := out.SaveSecret
	out.SaveSecret = func(ctx context.Context, name string, value gateway.Secret) error {
		err := save(ctx, name, value)
		if err == nil {
			NoteChange(opt.DataDir, "secrets set", name)
		}
		return err
	}
	beside := sync.OnceValues(func() ([]config.StoredServer, error) { return StoredServers(context.Background(), opt.DataDir) })
	out.Sources = func(ctx context.Context) (config.Sources, error) {
		from := config.Sources{Env: opt.LookupEnv, Secret: registry.SecretLookup(ctx, kept)}
		if err := opt.checkFiles(); err != nil {
			return from, err
		}
		var err error
		from.Stored, err = beside()
		return from, err
	}
	out.Tokens = opt.WithTokens
	out.Listening = listening
	return setup.New(out)
}

// WithTokens opens the tokens of the data directory without a running genkan.
func (o Options) WithTokens(ctx context.Context, use func(*identity.Tokens) error) error {
	if err := os.MkdirAll(o.DataDir, 0o700); err != nil {
		return &gateway.Error{
			Code: gateway.CodeInvalid, Err: err,
			Message: "the data directory %s cannot be made; choose another with --data",
			Values:  []any{o.DataDir},
		}
	}
	if err := CheckDataDir(o.DataDir); err != nil {
		return err
	}
	log := o.Log
	if log == nil {
		log = slog.New(slog.DiscardHandler)
	}
	store, err := sqlite.Open(ctx, databaseFile(o.DataDir), log)
	if err != nil {
		return err
	}
	k := identity.NewTokens(store, "", time.Now)
	k.Changed = func(operation, name string) { NoteChange(o.DataDir, operation, name) }
	return errors.Join(use(k), store.Close())
}
