package app

import (
	"path/filepath"

	"genkan/internal/registry"
	"genkan/internal/vault"
)

// OpenVault opens the secrets of a data directory. It reads and writes nothing
// before the first use.
func OpenVault(dataDir string) *vault.File {
	return vault.NewFile(vaultDir(dataDir), vault.SystemKeyring())
}

func vaultDir(dataDir string) string { return filepath.Join(dataDir, "vault") }

// SecretPrefix is the registry's, for commands that work without a running genkan.
const SecretPrefix = registry.SecretPrefix
