package registry

import (
	"context"
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	"genkan/internal/clients"
	"genkan/internal/config"
	"genkan/internal/gateway"
)

// SecretPrefix begins the vault's name of each secret that definitions can refer
// to. The vault also holds other values, such as sign-ins.
const SecretPrefix = "secret/"

// SecretLookup returns a function that finds the secrets of definitions in a
// vault. ctx bounds each lookup: a person may have to unlock the keyring first.
func SecretLookup(ctx context.Context, vault Vault) func(name string) (gateway.Secret, bool, error) {
	return func(name string) (gateway.Secret, bool, error) {
		return vault.Load(ctx, SecretPrefix+name)
	}
}

// Variable returns the value of a variable, as JSON. A text ${secret:NAME} stands for a
// secret; other values are returned as they are.
func Variable(ctx context.Context, vault Vault, value json.RawMessage) (json.RawMessage, error) {
	var text string
	if json.Unmarshal(value, &text) != nil {
		return value, nil
	}
	name, isSecret := strings.CutPrefix(text, "${secret:")
	name, ends := strings.CutSuffix(name, "}")
	if !isSecret || !ends {
		return value, nil
	}
	secret, found, err := vault.Load(ctx, SecretPrefix+name)
	switch {
	case err != nil:
		return nil, err
	case !found:
		return nil, gateway.Errorf(gateway.CodeNotFound, "there is no secret %s; `genkan secrets set %s` keeps one", gateway.Short(name), gateway.Short(name))
	}
	return json.Marshal(secret.Reveal())
}

// sources are what a definition can refer to.
func (r *Registry) sources(ctx context.Context) config.Sources {
	return config.Sources{Env: r.opt.LookupEnv, Secret: SecretLookup(ctx, r.opt.Vault), Taken: r.isTaken}
}

// isTaken reports whether a name is that of a server, or of a source of genkan itself.
func (r *Registry) isTaken(name string) bool {
	cfg := r.opt.Config()
	return cfg.IsBuiltIn(name) || slices.ContainsFunc(cfg.Servers, func(s config.Server) bool { return s.Name == name })
}

// saveSecrets moves the literal secrets of a definition into the vault, and leaves
// references in their place. Those that written has too stay as they are. It returns
// the names of the saved secrets also with an error.
func (r *Registry) saveSecrets(ctx context.Context, server string, d, written definition) (saved []string, err error) {
	there := map[gateway.Secret]bool{}
	_ = written.clone().replaceSecrets(server, func(l clients.Literal) (string, error) {
		there[l.Value] = true
		return l.Value.Reveal(), nil
	})
	err = d.replaceSecrets(server, func(l clients.Literal) (string, error) {
		if there[l.Value] {
			return l.Value.Reveal(), nil
		}
		name, err := r.freeSecretName(ctx, l.Variable)
		if err != nil {
			return "", err
		}
		if err := r.opt.Vault.Save(ctx, SecretPrefix+name, l.Value); err != nil {
			return "", err
		}
		saved = append(saved, name)
		return "${secret:" + name + "}", nil
	})
	return saved, err
}

// freeSecretName returns the name, or the name with a number, that the vault does
// not have yet. A new value never overwrites another one, which is in use until
// the change is stored.
func (r *Registry) freeSecretName(ctx context.Context, name string) (string, error) {
	free := name
	for i := 2; ; i++ {
		_, found, err := r.opt.Vault.Load(ctx, SecretPrefix+free)
		if err != nil || !found {
			return free, err
		}
		free = name + "-" + strconv.Itoa(i)
	}
}

// secretInUse reports whether a configured server refers to a secret. Servers that
// were rejected count.
func (r *Registry) secretInUse(secret string) bool {
	cfg := r.opt.Config()
	return slices.ContainsFunc(cfg.Servers, func(s config.Server) bool { return RefersToSecret(s.Definition.Reveal(), secret) }) ||
		slices.ContainsFunc(cfg.Rejected, func(s config.RejectedServer) bool { return RefersToSecret(s.Definition.Reveal(), secret) })
}

// deleteSecrets deletes secrets that no server refers to from the vault.
func (r *Registry) deleteSecrets(names []string) {
	for _, name := range names {
		if err := r.opt.Vault.Delete(r.life, SecretPrefix+name); err != nil {
			r.opt.Log.Warn("a secret that is not needed any more stays in the vault", "secret", name, "error", err)
		}
	}
}
