// Package setup brings genkan and the MCP clients of a machine together. It plans
// and does imports, which add the servers in clients' files to genkan's
// configuration; it connects clients, so that their entries lead to genkan; and it
// undoes both. The REST API and the command line use it.
//
// Plans and results are safe to show: they have the names of variables, headers
// and secrets, and never their values.
package setup

import (
	"context"
	"crypto/rand"
	"os"
	"path/filepath"
	"slices"
	"sync"

	"genkan/internal/clients"
	"genkan/internal/config"
	"genkan/internal/gateway"
	"genkan/internal/identity"
)

// AllClients selects every client that has a file on this machine.
const AllClients = "all"

// Options are what a Setup works with.
type Options struct {
	// DataDir holds the list of imported entries and the records of changed files.
	DataDir string
	// ConfigFile is genkan's configuration, which imports add servers to.
	// ConfigRequired says that it must exist; otherwise the commented example is
	// written there before the first import.
	ConfigFile     string
	ConfigRequired bool
	Flags          config.Flags
	// Sources returns what the configuration refers to, and the servers beside the
	// file. It fails if files of the data directory cannot be trusted.
	Sources func(ctx context.Context) (config.Sources, error)
	// SaveSecret keeps a secret that the configuration refers to.
	SaveSecret func(ctx context.Context, name string, value gateway.Secret) error
	// Vault keeps backups and the tokens of clients.
	Vault clients.Vault
	// Tokens calls use with the registry of tokens.
	Tokens func(ctx context.Context, use func(*identity.Tokens) error) error
	// Environment says where clients keep their files.
	Environment func() (clients.Environment, error)
	// Command starts genkan in the entries of clients; empty is the plain name.
	Command []string
	// Listening returns the URL that genkan listens on; empty if it does not.
	Listening func(ctx context.Context) string
}

// Setup imports servers and connects clients.
type Setup struct {
	opt Options
	// key makes revisions that tell nothing about the secrets in the files.
	key []byte
	// changing serializes changes.
	changing sync.Mutex
}

// New returns a Setup.
func New(opt Options) *Setup {
	key := make([]byte, 32)
	_, _ = rand.Read(key) // never fails
	return &Setup{opt: opt, key: key}
}

// Backups keeps the former contents of the files that a Setup changes.
func (s *Setup) Backups() clients.Backups {
	return clients.Backups{Dir: filepath.Join(s.opt.DataDir, "backups"), Vault: s.opt.Vault}
}

// ImportsFile is the path of the list of imported entries in a data directory.
func ImportsFile(dataDir string) string { return filepath.Join(dataDir, "imports.json") }

func (s *Setup) imports() (clients.Imports, error) {
	return clients.LoadImports(ImportsFile(s.opt.DataDir))
}

// environment returns where clients keep their files, with the files of the
// project in folder. An empty folder is no project.
func (s *Setup) environment(folder string) (clients.Environment, error) {
	env, err := s.opt.Environment()
	if err != nil {
		return env, err
	}
	if folder != "" && !filepath.IsAbs(folder) {
		e := gateway.Errorf(gateway.CodeInvalid, "folder must be an absolute path")
		e.Field = "folder"
		return env, e
	}
	if info, err := os.Stat(folder); folder != "" && (err != nil || !info.IsDir()) {
		e := gateway.Errorf(gateway.CodeInvalid, "folder %s does not exist, or is no folder", folder)
		e.Field = "folder"
		return env, e
	}
	env.WorkDir = ""
	if folder != "" {
		env.WorkDir = filepath.Clean(folder)
	}
	return env, nil
}

// readConfig reads genkan's configuration.
func (s *Setup) readConfig(from config.Sources) (*config.Config, error) {
	return config.Load(s.opt.ConfigFile, s.opt.ConfigRequired, from, s.opt.Flags)
}

// makeDataDir creates the data directory if it does not exist.
func (s *Setup) makeDataDir() error {
	if err := os.MkdirAll(s.opt.DataDir, 0o700); err != nil {
		return &gateway.Error{
			Code: gateway.CodeInvalid, Err: err,
			Message: "the data directory %s cannot be made; choose another with --data",
			Values:  []any{s.opt.DataDir},
		}
	}
	return nil
}

// ClientNames lists the names of all known clients, for messages.
func ClientNames() gateway.Texts { return gateway.Names(clientNames()) }

func clientNames() (names []string) {
	for _, c := range clients.All() {
		names = append(names, c.Name)
	}
	return names
}

// UnknownClient returns the error for a name that no client has.
func UnknownClient(name string) error {
	shown := gateway.Short(name)
	if near := nearestClient(name); near != "" {
		return gateway.Errorf(gateway.CodeInvalid, "%q is no client that genkan knows; did you mean %s?", shown, near)
	}
	return gateway.Errorf(gateway.CodeInvalid, "%q is no client that genkan knows; give one of these names: %s", shown, ClientNames())
}

// UnknownClientOrFile returns the error for a name that is neither a client nor a
// file.
func UnknownClientOrFile(name string) error {
	shown := gateway.Short(name)
	if near := nearestClient(name); near != "" {
		return gateway.Errorf(gateway.CodeInvalid, "%q is neither a client that genkan knows nor a file; did you mean %s?", shown, near)
	}
	return gateway.Errorf(gateway.CodeInvalid, "%q is neither a client that genkan knows nor a file; the clients are %s", shown, ClientNames())
}

func nearestClient(name string) string {
	return gateway.Nearest(name, slices.Values(clientNames()))
}

func lookup(name string) (clients.Client, error) {
	known, ok := clients.Lookup(name)
	if !ok {
		return known, UnknownClient(name)
	}
	return known, nil
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}
