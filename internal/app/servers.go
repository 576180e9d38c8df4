package app

import (
	"bytes"
	"context"
	"slices"
	"strconv"
	"time"

	"genkan/internal/clients"
	"genkan/internal/config"
	"genkan/internal/gateway"
)

// AddServer takes a server into the house and keeps it in the database. Like
// changing and removing one, it has happened when it returns, for everybody.
func (p *Process) AddServer(ctx context.Context, name string, raw []byte) error {
	given, err := readDefinition(raw)
	if err != nil {
		return err
	}
	return p.changeServers(ctx, name, func(was *config.StoredServer) (definition, error) {
		if was != nil {
			return nil, gateway.Errorf(gateway.CodeConflict, "there is a server %s already; give this one another name, or remove that one first (`genkan servers remove %s`), or change it with PUT /v1/servers/%s", name, name, name)
		}
		return given, given.unmask(name, nil, true)
	})
}

// ChangeServer puts another definition in the place of that of a server, or
// changes it by a patch. A mask that was shown and is given back stands for what
// it was shown for.
func (p *Process) ChangeServer(ctx context.Context, name string, raw []byte, patch bool) error {
	given, err := readDefinition(raw)
	if err != nil {
		return err
	}
	return p.changeServers(ctx, name, func(was *config.StoredServer) (definition, error) {
		if was == nil {
			return nil, noServer(name)
		}
		before, err := readDefinition(was.Definition)
		if err != nil {
			return nil, err
		}
		if !patch {
			return given, given.unmask(name, before, true)
		}
		if err := given.unmask(name, before, true); err != nil {
			return nil, err
		}
		before.merge(given)
		return before, nil
	})
}

// RemoveServer takes a server out of the house and the database.
func (p *Process) RemoveServer(ctx context.Context, name string) error {
	return p.changeServers(ctx, name, func(was *config.StoredServer) (definition, error) {
		if was == nil {
			return nil, noServer(name)
		}
		for _, profile := range p.Config().Profiles {
			if slices.Contains(profile.Servers, name) {
				return nil, gateway.Errorf(gateway.CodeConflict, "the profile %s in %s names server %s; take it out there first", profile.Name, p.ConfigFile(), name)
			}
		}
		return nil, nil //nolint:nilnil // nothing is to be there
	})
}

func noServer(name string) error {
	return gateway.Errorf(gateway.CodeNotFound, "there is no server %q; `genkan servers` lists them", gateway.Short(name))
}

// changeServers has one server added, changed or removed: decide gets what is
// kept of it, and says what is to be. What can be refused is refused before
// anything is written.
func (p *Process) changeServers(ctx context.Context, name string, decide func(was *config.StoredServer) (definition, error)) error {
	// Processes that have one data directory take turns: the names of new secrets
	// must stay free until the row is written. Waiting for that keeps no reload.
	unlock, err := p.vault.Lock(ctx, keptLock)
	if err != nil {
		return err
	}
	defer unlock()
	p.reloading.Lock()
	defer p.reloading.Unlock()
	for _, s := range p.Config().Servers {
		if s.Name == name && !s.Stored {
			return p.declaredInFile(name)
		}
	}
	kept, err := p.store.StoredServers(ctx)
	if err != nil {
		return err
	}
	var was *config.StoredServer
	at := slices.IndexFunc(kept, func(k config.StoredServer) bool { return k.Name == name })
	if at >= 0 {
		was = &kept[at]
	}
	want, err := decide(was)
	if err != nil {
		return err
	}
	var now *config.StoredServer
	saved := []string{}
	if want != nil {
		if now, saved, err = p.keepable(ctx, name, was, want); err != nil {
			p.forgetSecrets(saved)
			return err
		}
	}
	if err := p.putInForce(name, replaced(kept, at, now), was, now); err != nil {
		p.forgetSecrets(saved)
		return err
	}
	if len(saved) > 0 {
		p.log.Info("secrets of a server are kept", "server", name, "secrets", saved)
	}
	if was != nil {
		unused := slices.DeleteFunc(slices.Clone(was.Secrets), p.needsSecret)
		p.forgetSecrets(unused)
		if len(unused) > 0 {
			p.log.Info("secrets of a server are forgotten", "server", name, "secrets", unused)
		}
	}
	return nil
}

// keptLock is the name of the vault's lock that is held while a server is added,
// changed or removed.
const keptLock = "servers"

// needsSecret reports whether a server refers to a secret, also one that is not
// used just now.
func (p *Process) needsSecret(secret string) bool {
	cfg := p.Config()
	return slices.ContainsFunc(cfg.Servers, func(s config.Server) bool { return usesSecret(s.Definition.Reveal(), secret) }) ||
		slices.ContainsFunc(cfg.Rejected, func(s config.RejectedServer) bool { return usesSecret(s.Definition.Reveal(), secret) })
}

func (p *Process) declaredInFile(name string) error {
	return gateway.Errorf(gateway.CodeConflict, "server %s is declared in %s, so it can only be changed there", name, p.ConfigFile())
}

// replaced is a list with one server added, changed or taken out.
func replaced(kept []config.StoredServer, at int, now *config.StoredServer) []config.StoredServer {
	kept = slices.Clone(kept)
	switch {
	case now == nil && at >= 0:
		return slices.Delete(kept, at, at+1)
	case at >= 0:
		kept[at] = *now
	case now != nil:
		kept = append(kept, *now)
	}
	return kept
}

// putInForce writes a change down and builds the house with it.
func (p *Process) putInForce(name string, kept []config.StoredServer, was, now *config.StoredServer) error {
	err := p.renew(kept, func(cfg *config.Config) error {
		for _, aside := range cfg.Rejected {
			if now == nil || aside.Name != name {
				continue
			}
			for _, s := range cfg.Servers {
				if s.Name == name { // the file has it by now
					return p.declaredInFile(name)
				}
			}
			e := gateway.Errorf(gateway.CodeConflict, "server %s cannot be used beside the others: %s", name, aside.Reason)
			e.Field = "prefix"
			return e
		}
		return p.store.ChangeStoredServer(p.life, name, func(there *config.StoredServer) (*config.StoredServer, error) {
			if (there == nil) != (was == nil) || there != nil && !bytes.Equal(there.Definition, was.Definition) {
				return nil, gateway.Errorf(gateway.CodeConflict, "server %s was changed by somebody else at the same time; look at it, and try again", name)
			}
			return now, nil
		})
	})
	if e := gateway.AsError(err); e != nil && e.Code == gateway.CodeInvalid {
		return &gateway.Error{
			Code: gateway.CodeConflict, Err: e.Err,
			Message: "nothing was changed, because the configuration file is not in order: %s", Values: []any{e},
		}
	}
	return err
}

// keepable checks a definition as the file's are checked, and puts its literal
// secrets into the vault. The names of those that are new there are returned also
// with an error.
func (p *Process) keepable(ctx context.Context, name string, was *config.StoredServer, want definition) (now *config.StoredServer, saved []string, err error) {
	want.takeUser()
	if _, err := config.CheckServer(name, want.json(), p.sources(ctx)); err != nil {
		return nil, nil, err
	}
	err = want.refer(name, func(l clients.Literal) (string, error) {
		free, err := p.freeSecret(ctx, l.Variable)
		if err != nil {
			return "", err
		}
		if err := p.vault.Save(ctx, SecretPrefix+free, l.Value); err != nil {
			return "", err
		}
		saved = append(saved, free)
		return "${secret:" + free + "}", nil
	})
	if err != nil {
		return nil, saved, err
	}
	now = &config.StoredServer{Name: name, Definition: want.json(), Secrets: slices.Clone(saved)}
	if was != nil {
		for _, secret := range was.Secrets {
			if want.uses(secret) {
				now.Secrets = append(now.Secrets, secret)
			}
		}
	}
	slices.Sort(now.Secrets)
	return now, saved, nil
}

// freeSecret is a name like this that the vault does not have. A new value never
// takes the place of another: until the change is written down, that one holds.
func (p *Process) freeSecret(ctx context.Context, name string) (string, error) {
	free := name
	for i := 2; ; i++ {
		_, found, err := p.vault.Load(ctx, SecretPrefix+free)
		if err != nil || !found {
			return free, err
		}
		free = name + "-" + strconv.Itoa(i)
	}
}

// sources are what a definition can refer to.
func (p *Process) sources(ctx context.Context) config.Sources {
	return config.Sources{Env: p.opt.LookupEnv, Secret: secretsOf(ctx, p.vault)}
}

// forgetSecrets takes secrets out of the vault that nobody refers to any more.
func (p *Process) forgetSecrets(names []string) {
	for _, name := range names {
		if err := p.vault.Delete(p.life, SecretPrefix+name); err != nil {
			p.log.Warn("a secret that is not needed any more stays in the vault", "secret", name, "error", err)
		}
	}
}

// keptPace is how soon a change that another process has made is noticed.
const keptPace = time.Second

// watchKept takes over the servers that another process has added, changed or
// removed.
func (p *Process) watchKept(ctx context.Context) {
	ticks := time.NewTicker(keptPace)
	defer ticks.Stop()
	seen := int64(-1)
	for {
		select {
		case <-ticks.C:
		case <-ctx.Done():
			return
		}
		sequence, err := p.store.ChangeSequence(ctx)
		if err != nil || sequence == seen {
			continue // who needs the store now says what is wrong with it
		}
		seen = sequence
		kept, err := p.store.StoredServers(ctx)
		if err != nil {
			seen = -1
			continue
		}
		p.reloading.Lock()
		same := slices.EqualFunc(kept, p.kept, func(a, b config.StoredServer) bool {
			return a.Name == b.Name && bytes.Equal(a.Definition, b.Definition)
		})
		p.reloading.Unlock()
		if same {
			continue
		}
		if err := p.Reload(); err != nil {
			p.log.Error("servers that another process has changed are not taken over; the former ones stay in force", "error", err)
		}
	}
}
