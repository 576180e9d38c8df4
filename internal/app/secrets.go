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
	return vault.NewFile(vaultDir(dataDir), vault.SystemKeyring())
}

func vaultDir(dataDir string) string { return filepath.Join(dataDir, "vault") }

// SecretPrefix begins what a secret of the configuration is called in the vault:
// sign-ins are there too.
const SecretPrefix = "secret/"

// secretsOf finds secrets for the configuration, until ctx ends: a person may
// have to unlock the keyring first.
func secretsOf(ctx context.Context, kept *vault.File) func(name string) (gateway.Secret, bool, error) {
	return func(name string) (gateway.Secret, bool, error) {
		return kept.Load(ctx, SecretPrefix+name)
	}
}
