package app

import (
	"path/filepath"

	"genkan/internal/config"
	"genkan/internal/registry"
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
