package app

import (
	"context"
	"path/filepath"

	"genkan/internal/gateway"
	"genkan/internal/vault"
)

// OpenVault opens the secrets of a data directory. Nothing is touched before
// one is kept or found.
func OpenVault(dataDir string) *vault.File {
	return vault.NewFile(filepath.Join(dataDir, "vault"), vault.SystemKeyring())
}

// SecretPrefix begins what a secret of the configuration is called in the vault:
// sign-ins are there too.
const SecretPrefix = "secret/"

// secret finds a secret for the configuration.
func (p *Process) secret(name string) (gateway.Secret, bool, error) {
	return p.vault.Load(context.Background(), SecretPrefix+name)
}
