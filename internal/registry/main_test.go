package registry

import (
	"context"
	"errors"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"genkan/internal/config"
	"genkan/internal/gateway"
	"genkan/internal/sqlite"
	"genkan/internal/testkit"
	"genkan/internal/vault"
)

func TestMain(m *testing.M) { testkit.Main(m) }

// emptyDatabase returns the file of a new database. Creating it takes most of the
// time of a test.
var emptyDatabase = sync.OnceValue(func() []byte {
	dir, err := os.MkdirTemp("", "registry")
	if err != nil {
		panic(err)
	}
	defer func() { _ = os.RemoveAll(dir) }()
	path := filepath.Join(dir, "genkan.db")
	store, err := sqlite.Open(context.Background(), path, slog.New(slog.DiscardHandler))
	if err != nil {
		panic(err)
	}
	if err := store.Close(); err != nil {
		panic(err)
	}
	content, err := os.ReadFile(path)
	if err != nil {
		panic(err)
	}
	return content
})

// fixture is a registry with a database, a vault and a configuration file, as a
// process has one.
type fixture struct {
	*Registry
	t     testing.TB
	dir   string
	store *sqlite.Store
	vault *vault.File
	log   *testkit.Buffer
	// probe is what tests of servers do.
	probe func(ctx context.Context, s config.Server) Probe

	reloading sync.Mutex
	// config and stored are in force; guarded by mu.
	mu     sync.Mutex
	config *config.Config
	stored []config.StoredServer
}

func newFixture(t testing.TB, file string) *fixture {
	t.Helper()
	return newFixtureIn(t, t.TempDir(), file)
}

// newFixtureIn returns a registry of a data directory that others may use too.
func newFixtureIn(t testing.TB, dir, file string) *fixture {
	t.Helper()
	f := &fixture{t: t, dir: dir, vault: vault.NewFile(filepath.Join(dir, "vault"), nil), log: &testkit.Buffer{}}
	log := slog.New(slog.NewTextHandler(f.log, nil))
	database := filepath.Join(dir, "genkan.db")
	if _, err := os.Stat(database); errors.Is(err, fs.ErrNotExist) {
		if err := os.WriteFile(database, emptyDatabase(), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	var err error
	if f.store, err = sqlite.Open(t.Context(), database, log); err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	f.Registry = New(ctx, Options{
		Store: f.store, Vault: f.vault, Log: log, LookupEnv: func(string) (string, bool) { return "", false },
		ConfigFile: f.file(), Config: f.inForce, InForce: f.storedInForce,
		Reloading: &f.reloading, Apply: f.apply, Reload: f.reload, ParseFile: f.parse,
		Probe: func(ctx context.Context, s config.Server) Probe { return f.probe(ctx, s) },
	})
	t.Cleanup(func() {
		stop()
		f.Close()
		if err := f.store.Close(); err != nil {
			t.Error(err)
		}
	})
	f.write(file)
	if err := f.reload(); err != nil {
		t.Fatal(err)
	}
	return f
}

func (f *fixture) file() string { return filepath.Join(f.dir, "genkan.yaml") }

func (f *fixture) write(file string) {
	f.t.Helper()
	if err := os.WriteFile(f.file(), []byte(file), 0o600); err != nil {
		f.t.Fatal(err)
	}
}

func (f *fixture) inForce() *config.Config {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.config
}

func (f *fixture) storedInForce() []config.StoredServer {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.stored
}

func (f *fixture) apply(registered []config.StoredServer, commit func(*config.Config) error) error {
	cfg, err := config.Load(f.file(), true, config.Sources{Stored: registered, Secret: SecretLookup(f.life, f.vault)}, config.Flags{})
	if err != nil {
		return err
	}
	if err := commit(cfg); err != nil {
		return err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.config, f.stored = cfg, registered
	return nil
}

func (f *fixture) parse(ctx context.Context, contents []byte, registered []config.StoredServer) (*config.Config, error) {
	return config.Parse(contents, f.file(), config.Sources{Stored: registered, Secret: SecretLookup(ctx, f.vault)}, config.Flags{})
}

func (f *fixture) reload() error {
	f.reloading.Lock()
	defer f.reloading.Unlock()
	stored, err := f.store.StoredServers(f.life)
	if err != nil {
		return err
	}
	return f.apply(stored, func(*config.Config) error { return nil })
}

// edit writes a configuration file and puts it into force.
func (f *fixture) edit(file string) {
	f.t.Helper()
	f.write(file)
	if err := f.reload(); err != nil {
		f.t.Fatal(err)
	}
}

func (f *fixture) add(name, definition string) {
	f.t.Helper()
	if err := f.AddServer(f.t.Context(), name, []byte(definition)); err != nil {
		f.t.Fatal(err)
	}
}

func (f *fixture) patch(name, patch string) {
	f.t.Helper()
	if err := f.ChangeServer(f.t.Context(), name, []byte(patch), true); err != nil {
		f.t.Fatal(err)
	}
}

func (f *fixture) remove(name string) {
	f.t.Helper()
	if err := f.RemoveServer(f.t.Context(), name); err != nil {
		f.t.Fatal(err)
	}
}

// server returns a server as it is in force.
func (f *fixture) server(name string) config.Server {
	f.t.Helper()
	for _, s := range f.inForce().Servers {
		if s.Name == name {
			return s
		}
	}
	f.t.Fatalf("no server %s is in force", name)
	return config.Server{}
}

// listed returns the description of a server, and its masked definition.
func (f *fixture) listed(name string) (Server, string) {
	f.t.Helper()
	for _, s := range List(f.inForce()) {
		if s.Name == name {
			return s, string(s.Definition())
		}
	}
	f.t.Fatalf("server %s is not listed", name)
	return Server{}, ""
}

// wantStored compares the stored servers, by name and definition.
func (f *fixture) wantStored(want map[string]string) {
	f.t.Helper()
	stored, err := f.store.StoredServers(f.t.Context())
	if err != nil {
		f.t.Fatal(err)
	}
	got := map[string]string{}
	for _, s := range stored {
		got[s.Name] = string(s.Definition)
	}
	if diff := cmp.Diff(want, got, cmpopts.EquateEmpty()); diff != "" {
		f.t.Errorf("stored (-want +got):\n%s", diff)
	}
}

// wantSecrets compares the secrets of the vault.
func (f *fixture) wantSecrets(want map[string]string) {
	f.t.Helper()
	names, err := f.vault.Names(f.t.Context(), SecretPrefix)
	if err != nil {
		f.t.Fatal(err)
	}
	got := map[string]string{}
	for _, name := range names {
		value, _, err := f.vault.Load(f.t.Context(), SecretPrefix+name)
		if err != nil {
			f.t.Fatal(err)
		}
		got[name] = value.Reveal()
	}
	if diff := cmp.Diff(want, got, cmpopts.EquateEmpty()); diff != "" {
		f.t.Errorf("the vault (-want +got):\n%s", diff)
	}
}

// wantRefused compares the code, the field and the message of an error.
func wantRefused(t testing.TB, err error, code gateway.Code, field, message string) {
	t.Helper()
	e := gateway.AsError(err)
	if e == nil || e.Code != code || e.Field != field || !strings.Contains(e.Error(), message) {
		t.Errorf("got %v, want %v of field %q that says %q", err, code, field, message)
	}
}
