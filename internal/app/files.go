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
	"runtime"

	"genkan/internal/config"
	"genkan/internal/privatedir"
	"genkan/internal/registry"
	"genkan/internal/sqlite"
)

// DefaultDataDir returns the default data directory. It follows the XDG base
// directories, and the conventions of other systems.
func DefaultDataDir() string {
	if dir := os.Getenv("XDG_DATA_HOME"); filepath.IsAbs(dir) {
		return filepath.Join(dir, "genkan")
	}
	if runtime.GOOS == "windows" || runtime.GOOS == "darwin" {
		if dir, err := os.UserConfigDir(); err == nil {
			return filepath.Join(dir, "genkan")
		}
	}
	home, err := os.UserHomeDir()
	if err != nil {
		return "genkan-data"
	}
	return filepath.Join(home, ".local", "share", "genkan")
}

// configFile returns the path of the configuration file.
func (o Options) configFile() string {
	if o.ConfigFile != "" {
		return o.ConfigFile
	}
	return DefaultConfigFile(o.DataDir)
}

// checkFiles refuses a configuration file that other users can change. It also does
// the checks of CheckDataDir.
func (o Options) checkFiles() error {
	if err := CheckDataDir(o.DataDir); err != nil {
		return err
	}
	return privatedir.CheckWriters(o.configFile())
}

// CheckDataDir refuses a data directory that other users can change, and one whose
// database was lost. A directory that does not exist yet is accepted.
func CheckDataDir(dataDir string) error {
	for _, path := range []string{dataDir, vaultDir(dataDir)} {
		if err := privatedir.CheckWriters(path); err != nil {
			return err
		}
	}
	// The modes of these files are corrected when they are opened.
	for _, path := range []string{databaseFile(dataDir), AdminTokenFile(dataDir)} {
		if err := privatedir.CheckOwner(path); err != nil {
			return err
		}
	}
	return sqlite.CheckNotLost(databaseFile(dataDir))
}

// HomeOf returns an identifier of a data directory that does not reveal its path.
func HomeOf(dataDir string) string {
	sum := sha256.Sum256([]byte(realPath(dataDir)))
	return hex.EncodeToString(sum[:8])
}

// realPath returns an absolute path and resolves the symbolic links in the part of
// it that exists.
func realPath(path string) string {
	path, err := filepath.Abs(path)
	if err != nil {
		return path
	}
	if resolved, err := filepath.EvalSymlinks(path); err == nil {
		return resolved
	}
	if dir, err := filepath.EvalSymlinks(filepath.Dir(path)); err == nil {
		return filepath.Join(dir, filepath.Base(path))
	}
	return path
}

// AdminTokenFile returns the path of a data directory's admin token.
func AdminTokenFile(dataDir string) string { return filepath.Join(dataDir, "admin-token") }

// configFile returns the path of the configuration file, and whether the file must
// exist.
func (p *Process) configFile() (path string, mustExist bool) {
	return p.opt.configFile(), p.opt.ConfigFile != ""
}

// DefaultConfigFile returns the path of a data directory's configuration file,
// which is used unless another file is named.
func DefaultConfigFile(dataDir string) string { return filepath.Join(dataDir, "genkan.yaml") }

// offerExample writes a commented example to the default configuration file if that
// does not exist, so that a new user has something to edit. The example changes no
// setting.
func (p *Process) offerExample() {
	if path, mustExist := p.configFile(); !mustExist {
		config.WriteExample(path)
	}
}

// ReadConfig reads the configuration as a process with these options does.
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
	from := config.Sources{Env: opt.LookupEnv, Secret: registry.SecretLookup(context.Background(), OpenVault(opt.DataDir)), Stored: kept}
	return config.Load(opt.configFile(), opt.ConfigFile != "", from, opt.Flags)
}

// ConfigFile returns the path of the configuration file.
func (p *Process) ConfigFile() string {
	path, _ := p.configFile()
	return path
}

// databaseFile returns the path of a data directory's database.
func databaseFile(dataDir string) string { return filepath.Join(dataDir, "genkan.db") }

// StoredServers returns the servers in the database of a data directory, which are
// configured in addition to the configuration file. It does not create a missing
// database.
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
