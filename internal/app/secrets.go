package app

import (
	"path/filepath"

	"genkan/internal/config"
	"genkan/internal/gateway"
	"genkan/internal/registry"
	"genkan/internal/secrets"
	"genkan/internal/setup"
	"genkan/internal/signin"
	"genkan/internal/vault"
)

// OpenVault opens the vault of a data directory. It accesses no file before the
// first use.
func OpenVault(dataDir string) *vault.File {
	return vault.NewFile(vaultDir(dataDir), vault.SystemKeyring())
}

func vaultDir(dataDir string) string { return filepath.Join(dataDir, "vault") }

// Secrets returns the secrets of a data directory that no running genkan serves.
func Secrets(opt Options) *registry.Secrets {
	return registry.NewSecrets(OpenVault(opt.DataDir), func() (*config.Config, error) { return ReadConfig(opt) })
}

// secrets returns the secrets of a data directory for what takes them out of texts. It
// does not read the vault.
func (o Options) secrets(v *vault.File, admin gateway.Secret, cfg func() *config.Config) *secrets.Secrets {
	return secrets.New(secrets.Options{
		Vault: v, VaultDir: vaultDir(o.DataDir), Prefixes: []string{setup.TokenPrefix, signin.VaultPrefix},
		Admin: admin, Config: cfg, Log: o.Log,
	})
}

// redactJSON takes secrets out of what is stored, or people are shown, of a call.
func (p *Process) redactJSON(raw []byte) []byte { return p.secrets.JSON(p.life, raw) }

// redactKnown takes the secrets that genkan holds out of what people decide about.
func (p *Process) redactKnown(raw []byte) ([]byte, error) {
	out, err := p.secrets.Known(p.life, raw)
	if err != nil {
		p.log.Warn("the arguments of a call cannot be shown to a person, because the vault cannot be read", "error", err)
	}
	return out, err
}

// redactText takes secrets out of an error before it is stored.
func (p *Process) redactText(text string) string { return p.secrets.Text(p.life, text) }

// redactSaid takes secrets out of what scripts say to callers.
func (p *Process) redactSaid(text string) string { return p.secrets.Said(p.life, text) }
