package registry

import (
	"context"
	"strings"

	"genkan/internal/config"
	"genkan/internal/gateway"
)

// Secrets are the secrets that servers of a configuration can refer to, for people
// who set and remove them.
type Secrets struct {
	vault  SecretVault
	config func() (*config.Config, error)
}

// SecretVault is a Vault that lists names.
type SecretVault interface {
	Vault
	Names(ctx context.Context, prefix string) ([]string, error)
}

// SecretName is a secret without its value.
type SecretName struct {
	Name string
	// Servers refer to it.
	Servers []string
}

// NewSecrets returns the secrets of a vault. config returns the configuration whose
// servers may refer to them.
func NewSecrets(vault SecretVault, config func() (*config.Config, error)) *Secrets {
	return &Secrets{vault, config}
}

// maxSecret bounds a secret, in bytes.
const maxSecret = 64 << 10

// Names lists the secrets with the servers that refer to each. Secrets of a
// configuration that cannot be read have no servers.
func (s *Secrets) Names(ctx context.Context) ([]SecretName, error) {
	names, err := s.vault.Names(ctx, SecretPrefix)
	if err != nil {
		return nil, err
	}
	cfg, err := s.config()
	if err != nil {
		cfg = &config.Config{}
	}
	out := make([]SecretName, len(names))
	for i, name := range names {
		out[i] = SecretName{Name: name, Servers: usersOf(cfg, name)}
	}
	return out, nil
}

// Set keeps a secret in place of the former value.
func (s *Secrets) Set(ctx context.Context, name string, value gateway.Secret) error {
	if err := CheckSecretName(name); err != nil {
		return err
	}
	var wrong *gateway.Error
	switch {
	case value == "":
		wrong = gateway.Errorf(gateway.CodeInvalid, "the secret is empty; nothing was kept")
	case len(value) > maxSecret:
		wrong = gateway.Errorf(gateway.CodeInvalid, "a secret has at most %d bytes", maxSecret)
	}
	if wrong != nil {
		wrong.Field = "value"
		return wrong
	}
	return s.vault.Save(ctx, SecretPrefix+name, value)
}

// Remove forgets a secret.
func (s *Secrets) Remove(ctx context.Context, name string) error {
	if err := CheckSecretName(name); err != nil {
		return err
	}
	_, found, err := s.vault.Load(ctx, SecretPrefix+name)
	if err != nil {
		return err
	}
	if !found {
		return gateway.Errorf(gateway.CodeNotFound, "no secret %s is kept; `genkan secrets list` shows them", name)
	}
	return s.vault.Delete(ctx, SecretPrefix+name)
}

// UsersOf names the servers that refer to a secret.
func (s *Secrets) UsersOf(name string) []string {
	cfg, err := s.config()
	if err != nil {
		return nil
	}
	return usersOf(cfg, name)
}

// usersOf names the servers, n8n instances and models that refer to a secret, also by
// ${NAME}, which finds a secret where there is no variable of that name.
func usersOf(cfg *config.Config, secret string) []string {
	refers := func(written gateway.Secret) bool {
		text := written.Reveal()
		return RefersToSecret(text, secret) || strings.Contains(text, "${"+secret+"}") || strings.Contains(text, "${env:"+secret+"}")
	}
	var users []string
	for _, s := range cfg.Servers {
		if refers(s.Definition) {
			users = append(users, s.Name)
		}
	}
	for _, s := range cfg.Rejected {
		if refers(s.Definition) {
			users = append(users, s.Name)
		}
	}
	for _, i := range cfg.N8N {
		if refers(i.Definition) {
			users = append(users, i.Name)
		}
	}
	if refers(cfg.Embeddings.Definition) {
		users = append(users, embeddings)
	}
	if refers(cfg.Knowledge.Semantic.Definition) {
		users = append(users, config.KnowledgeSource)
	}
	return users
}

// CheckSecretName says what is wrong with the name of a secret.
func CheckSecretName(name string) error {
	if config.LegalSecret(name) {
		return nil
	}
	wrong := gateway.Errorf(gateway.CodeInvalid, "the name of a secret has 1 to %d letters, digits, '.', '_' and '-', and is neither \".\" nor \"..\"", config.MaxSecretName)
	wrong.Field = "name"
	return wrong
}
