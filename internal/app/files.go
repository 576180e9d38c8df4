package app

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"

	"genkan/internal/config"
	"genkan/internal/sqlite"
)

// configFile is the file that is read.
func (o Options) configFile() string {
	if o.ConfigFile != "" {
		return o.ConfigFile
	}
	return filepath.Join(o.DataDir, "genkan.yaml")
}

// checkFiles refuses a configuration that other users can change, and CheckDataDir's
// directories.
func (o Options) checkFiles() error {
	if err := CheckDataDir(o.DataDir); err != nil {
		return err
	}
	return checkPrivate(o.configFile())
}

// CheckDataDir refuses a data directory that other users can change, and one whose
// database was lost. One that is not there yet is fine.
func CheckDataDir(dataDir string) error {
	for _, path := range []string{dataDir, vaultDir(dataDir)} {
		if err := checkPrivate(path); err != nil {
			return err
		}
	}
	// Their modes are corrected when they are opened.
	for _, path := range []string{databaseFile(dataDir), AdminTokenFile(dataDir)} {
		if err := checkOwner(path); err != nil {
			return err
		}
	}
	return sqlite.CheckNotLost(databaseFile(dataDir))
}

// HomeOf tells data directories apart without naming them.
func HomeOf(dataDir string) string {
	sum := sha256.Sum256([]byte(realPath(dataDir)))
	return hex.EncodeToString(sum[:8])
}

// AdminTokenFile is where the admin token of a data directory is.
func AdminTokenFile(dataDir string) string { return filepath.Join(dataDir, "admin-token") }

// configFile is the file that is read, and whether it must be there.
func (p *Process) configFile() (path string, mustExist bool) {
	return p.opt.configFile(), p.opt.ConfigFile != ""
}

// DefaultConfigFile is where the configuration of a data directory is, unless
// another file is named.
func DefaultConfigFile(dataDir string) string { return filepath.Join(dataDir, "genkan.yaml") }

// offerExample puts a commented example where the configuration is looked for,
// so that a newcomer has something to edit. It changes nothing by itself.
func (p *Process) offerExample() {
	if path, mustExist := p.configFile(); !mustExist {
		config.WriteExample(path)
	}
}

// ReadConfig reads the configuration as a process with these options would.
func ReadConfig(opt Options) (*config.Config, error) {
	if opt.LookupEnv == nil {
		opt.LookupEnv = os.LookupEnv
	}
	if err := opt.checkFiles(); err != nil {
		return nil, err
	}
	kept, err := StoredServers(context.Background(), opt.DataDir)
	if err != nil {
		return nil, err
	}
	from := config.Sources{Env: opt.LookupEnv, Secret: secretsOf(context.Background(), OpenVault(opt.DataDir)), Stored: kept}
	return config.Load(opt.configFile(), opt.ConfigFile != "", from, opt.Flags)
}

// ConfigFile is where the configuration is read from.
func (p *Process) ConfigFile() string {
	path, _ := p.configFile()
	return path
}

// databaseFile is where the database of a data directory is.
func databaseFile(dataDir string) string { return filepath.Join(dataDir, "genkan.db") }

// StoredServers are the servers of a data directory that are kept beside its
// configuration file. Where there is no database, none is made.
func StoredServers(ctx context.Context, dataDir string) ([]config.StoredServer, error) {
	if _, err := os.Stat(databaseFile(dataDir)); errors.Is(err, fs.ErrNotExist) {
		return nil, sqlite.CheckNotLost(databaseFile(dataDir))
	}
	store, err := sqlite.Open(ctx, databaseFile(dataDir), slog.New(slog.DiscardHandler))
	if err != nil {
		return nil, err
	}
	kept, err := store.StoredServers(ctx)
	return kept, errors.Join(err, store.Close())
}

// Backup copies the database of a data directory into a file, whoever has it open,
// and returns how large the copy is.
func Backup(ctx context.Context, dataDir, into string, replace bool, progress func(done, total int64)) (int64, error) {
	return sqlite.Backup(ctx, databaseFile(dataDir), into, replace, progress)
}
