package registry

import (
	"bytes"
	"context"
	"log/slog"
	"slices"
	"sync"

	"genkan/internal/config"
	"genkan/internal/gateway"
)

// Store holds the registered servers.
type Store interface {
	config.ServerStore
	// ChangeSequence grows with every change of the database by any process.
	ChangeSequence(ctx context.Context) (int64, error)
}

// Vault holds the secrets of registered servers.
type Vault interface {
	Load(ctx context.Context, name string) (value gateway.Secret, found bool, err error)
	Save(ctx context.Context, name string, value gateway.Secret) error
	Delete(ctx context.Context, name string) error
	// Lock excludes other processes with the same data directory.
	Lock(ctx context.Context, name string) (unlock func(), err error)
}

// Options are what a registry works with. All fields are required.
type Options struct {
	Store Store
	Vault Vault
	Log   *slog.Logger
	// LookupEnv finds the environment variables that definitions refer to.
	LookupEnv func(string) (string, bool)
	// ConfigFile is the path of the configuration file.
	ConfigFile string
	// ForeignFile says that the configuration file is not genkan's own to change.
	ForeignFile bool
	// ParseFile reads contents of the configuration file with these registered
	// servers, without putting them into force.
	ParseFile func(ctx context.Context, contents []byte, registered []config.StoredServer) (*config.Config, error)
	// Config returns the configuration in force.
	Config func() *config.Config
	// InForce returns the registered servers that Config was read with.
	InForce func() []config.StoredServer
	// Reloading is locked while a configuration is replaced. A change holds it from
	// its first check until it is in force.
	Reloading sync.Locker
	// Apply reads the configuration file with these registered servers and puts the
	// result into force. It calls commit when nothing else can fail; an error of
	// commit leaves the former configuration in force. It is called with Reloading
	// locked.
	Apply func(registered []config.StoredServer, commit func(*config.Config) error) error
	// Reload reads the configuration file and the registered servers again.
	Reload func() error
	// Probe starts a server once, and stops it when it is ready or has failed.
	Probe func(ctx context.Context, s config.Server) Probe
	// Restarted is called for each server that was restarted: the failures of its
	// former connection no longer count.
	Restarted func(source gateway.Source)
}

// Registry manages the registered servers.
type Registry struct {
	opt Options
	// life ends with the process: a change that has begun does not end with its
	// request.
	life context.Context //nolint:containedctx // see above

	// testSlots bounds the tests that run at once; testing ends them.
	testSlots chan struct{}
	testing   context.Context //nolint:containedctx // tests end before life does
	endTests  context.CancelFunc
}

// New returns a registry that works until ctx ends.
func New(ctx context.Context, opt Options) *Registry {
	r := &Registry{opt: opt, life: ctx, testSlots: make(chan struct{}, maxTests)}
	r.testing, r.endTests = context.WithCancel(ctx)
	return r
}

// AddServer registers a server. When it returns, the server is stored and in
// force for all clients; the same holds for ChangeServer and RemoveServer.
func (r *Registry) AddServer(ctx context.Context, name string, raw []byte) error {
	given, err := parseDefinition(raw)
	if err != nil {
		return err
	}
	return r.change(ctx, name, func(before *config.StoredServer, _ bool) (definition, error) {
		if before != nil {
			return nil, gateway.Errorf(gateway.CodeConflict, "there is a server %s already; give this one another name, or change or remove that one first", name)
		}
		if r.opt.Config().IsBuiltIn(name) {
			e := gateway.Errorf(gateway.CodeInvalid, "genkan itself has tools under the name %s, which a server of that name would hide; give the server another name", name)
			e.Field = "name"
			return nil, e
		}
		return given, given.restoreMasked(name, nil, true)
	})
}

// ChangeServer replaces the definition of a server, or applies a patch to it. Masked
// values stand for the values that they were shown for.
func (r *Registry) ChangeServer(ctx context.Context, name string, raw []byte, patch bool) error {
	given, err := parseDefinition(raw)
	if err != nil {
		return err
	}
	return r.change(ctx, name, func(before *config.StoredServer, registered bool) (definition, error) {
		if before == nil {
			return nil, errNoServer(name)
		}
		current, err := parseDefinition(before.Definition)
		if err != nil {
			return nil, err
		}
		if err := given.restoreMasked(name, current, registered); err != nil {
			return nil, err
		}
		if !patch {
			return given, nil
		}
		current.merge(given)
		return current, nil
	})
}

// RemoveServer removes a server. The secrets that only it uses go with it, unless the
// configuration file declares it: those may have been kept by a person.
func (r *Registry) RemoveServer(ctx context.Context, name string) error {
	return r.change(ctx, name, func(before *config.StoredServer, _ bool) (definition, error) {
		if before == nil {
			return nil, errNoServer(name)
		}
		for _, profile := range r.opt.Config().Profiles {
			if slices.Contains(profile.Servers, name) {
				return nil, gateway.Errorf(gateway.CodeConflict, "the profile %s in %s names server %s; take it out there first", profile.Name, r.opt.ConfigFile, name)
			}
		}
		return nil, nil //nolint:nilnil // no definition removes the server
	})
}

func errNoServer(name string) error {
	return gateway.Errorf(gateway.CodeNotFound, "there is no server %q; `genkan servers` lists them", gateway.Short(name))
}

// changeLock is the name of the vault's lock that a change holds.
const changeLock = "servers"

// decision gets the present server, nil for none, and returns the wanted definition,
// nil to remove the server. registered is false for a server of the configuration
// file.
type decision func(before *config.StoredServer, registered bool) (definition, error)

// change adds, changes or removes a server, in the database or in the configuration
// file, wherever it is. Everything that can be refused is refused before anything
// changes.
func (r *Registry) change(ctx context.Context, name string, decide decision) error {
	return r.alone(ctx, func(stored []config.StoredServer) error { return r.changeAmong(ctx, stored, name, decide) })
}

// alone calls change with the registered servers while nothing else changes the
// configuration.
func (r *Registry) alone(ctx context.Context, change func(stored []config.StoredServer) error) error {
	// Processes with the same data directory take turns: the names chosen for new
	// secrets must stay free until the server is stored. Waiting for this lock does
	// not delay reloads.
	unlock, err := r.opt.Vault.Lock(ctx, changeLock)
	if err != nil {
		return err
	}
	defer unlock()
	r.opt.Reloading.Lock()
	defer r.opt.Reloading.Unlock()
	stored, err := r.opt.Store.StoredServers(ctx)
	if err != nil {
		return err
	}
	return change(stored)
}

func (r *Registry) changeAmong(ctx context.Context, stored []config.StoredServer, name string, decide decision) error {
	for _, s := range r.opt.Config().Servers {
		if s.Name == name && !s.Stored {
			return r.changeInFile(ctx, s, stored, decide)
		}
	}
	var before, after *config.StoredServer
	at := slices.IndexFunc(stored, func(s config.StoredServer) bool { return s.Name == name })
	if at >= 0 {
		before = &stored[at]
	}
	want, err := decide(before, true)
	if err != nil {
		return err
	}
	saved := []string{}
	if want != nil {
		if after, saved, err = r.prepare(ctx, name, before, want); err != nil {
			r.deleteSecrets(saved)
			return err
		}
	}
	if err := r.apply(name, replaceAt(stored, at, after), before, after); err != nil {
		r.deleteSecrets(saved)
		return err
	}
	if len(saved) > 0 {
		r.opt.Log.Info("secrets of a server are kept", "server", name, "secrets", saved)
	}
	if before != nil {
		unused := slices.DeleteFunc(slices.Clone(before.Secrets), r.secretInUse)
		r.deleteSecrets(unused)
		if len(unused) > 0 {
			r.opt.Log.Info("secrets of a server are forgotten", "server", name, "secrets", unused)
		}
	}
	return nil
}

// prepare checks a definition by the rules of the configuration file, and moves
// its literal secrets into the vault. It returns the names of the saved secrets
// also with an error.
func (r *Registry) prepare(ctx context.Context, name string, before *config.StoredServer, want definition) (after *config.StoredServer, saved []string, err error) {
	want.moveUserToHeader()
	if _, err := config.CheckServer(name, want.json(), r.sources(ctx)); err != nil {
		return nil, nil, err
	}
	saved, err = r.saveSecrets(ctx, name, want, nil)
	if err != nil {
		return nil, saved, err
	}
	after = &config.StoredServer{Name: name, Definition: want.json(), Secrets: slices.Clone(saved)}
	if before != nil {
		for _, secret := range before.Secrets {
			if RefersToSecret(string(after.Definition), secret) {
				after.Secrets = append(after.Secrets, secret)
			}
		}
	}
	slices.Sort(after.Secrets)
	return after, saved, nil
}

// replaceAt returns a copy of stored with the server at an index replaced, or
// removed if after is nil. A negative index adds the server.
func replaceAt(stored []config.StoredServer, at int, after *config.StoredServer) []config.StoredServer {
	stored = slices.Clone(stored)
	switch {
	case after == nil && at >= 0:
		return slices.Delete(stored, at, at+1)
	case at >= 0:
		stored[at] = *after
	case after != nil:
		stored = append(stored, *after)
	}
	return stored
}

// apply puts the configuration with the changed servers into force, and stores the
// change just before.
func (r *Registry) apply(name string, servers []config.StoredServer, before, after *config.StoredServer) error {
	err := r.opt.Apply(servers, func(cfg *config.Config) error {
		for _, unused := range cfg.Rejected {
			if after == nil || unused.Name != name {
				continue
			}
			for _, s := range cfg.Servers {
				if s.Name == name { // the file has been edited since the first check
					return gateway.Errorf(gateway.CodeConflict, "server %s was declared in %s at the same time; look at it, and try again", name, r.opt.ConfigFile)
				}
			}
			e := gateway.Errorf(gateway.CodeConflict, "server %s cannot be used beside the others: %s", name, unused.Reason)
			e.Field = "prefix"
			return e
		}
		return r.opt.Store.ChangeStoredServer(r.life, name, func(stored *config.StoredServer) (*config.StoredServer, error) {
			if (stored == nil) != (before == nil) || stored != nil && !bytes.Equal(stored.Definition, before.Definition) {
				return nil, gateway.Errorf(gateway.CodeConflict, "server %s was changed by somebody else at the same time; look at it, and try again", name)
			}
			return after, nil
		})
	})
	return notInOrder(err)
}

// notInOrder returns the error of a change for an error of the configuration file.
func notInOrder(err error) error {
	if e := gateway.AsError(err); e != nil && e.Code == gateway.CodeInvalid {
		return &gateway.Error{
			Code: gateway.CodeConflict, Err: e.Err,
			Message: "nothing was changed, because the configuration file is not in order: %s", Values: []any{e},
		}
	}
	return err
}
