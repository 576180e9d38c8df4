//go:build unix

package app

import (
	"context"
	"errors"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"genkan/internal/gateway"
	"genkan/internal/logs"
	"genkan/internal/registry"
	"genkan/internal/sqlite"
	"genkan/internal/sqlite/blank"
	"genkan/internal/testkit"
)

// openIn opens a process in a directory, and closes it at once.
func openIn(t *testing.T, dir string) error {
	t.Helper()
	sink := logs.NewSink(t.Output())
	defer sink.Close()
	p, err := Open(t.Context(), Options{
		DataDir: dir, Version: "test", Log: logs.New(sink, logs.Level("error"), true),
		LookupEnv: func(string) (string, bool) { return "", false },
	})
	if err != nil {
		return err
	}
	return p.Close()
}

// A data directory, or a configuration, that other users can change is refused
// with the command that closes it to them.
func TestFilesThatOthersCanChangeAreRefused(t *testing.T) {
	t.Parallel()
	const nobody = 65534
	asRoot := os.Geteuid() == 0
	for name, test := range map[string]struct {
		open func(dir string) error
		mend string
	}{
		"directory of the group":     {func(dir string) error { return os.Chmod(dir, 0o770) }, "chmod go-w"},
		"directory of everybody":     {func(dir string) error { return os.Chmod(dir, 0o777|os.ModeSticky) }, "chmod go-w"},
		"configuration of everybody": {func(dir string) error { return os.Chmod(filepath.Join(dir, "genkan.yaml"), 0o606) }, "chmod go-w"},
		"secrets of the group": {func(dir string) error {
			return errors.Join(os.Mkdir(dir+"/vault", 0o700), os.Chmod(dir+"/vault", 0o770))
		}, "chmod go-w"},
		"directory of another":        {func(dir string) error { return os.Chown(dir, nobody, nobody) }, "chown"},
		"configuration of another":    {func(dir string) error { return os.Chown(filepath.Join(dir, "genkan.yaml"), nobody, nobody) }, "chown"},
		"database of another":         {func(dir string) error { return os.Chown(databaseFile(dir), nobody, nobody) }, "chown"},
		"others may look, not change": {func(dir string) error { return os.Chmod(dir, 0o755) }, ""},
	} {
		t.Run(name, func(t *testing.T) {
			if test.mend == "chown" && !asRoot {
				t.Skip("only root can give files away")
			}
			dir := filepath.Join(t.TempDir(), "data")
			if err := errors.Join(blank.Write(databaseFile(dir)), openIn(t, dir)); err != nil {
				t.Fatal(err)
			}
			if err := test.open(dir); err != nil {
				t.Fatal(err)
			}
			err := openIn(t, dir)
			if test.mend == "" {
				if err != nil {
					t.Error(err)
				}
				return
			}
			e := gateway.AsError(err)
			if err == nil || e.Code != gateway.CodeDenied || !strings.Contains(e.Text(), test.mend) || !strings.Contains(e.Text(), dir) {
				t.Errorf("opening: %v", err)
			}
			if _, err := ReadConfig(Options{DataDir: dir}); gateway.AsError(err) == nil || gateway.AsError(err).Code != gateway.CodeDenied {
				t.Errorf("reading the configuration: %v", err)
			}
		})
	}
}

// A configuration that becomes open to others is not taken into force.
func TestAConfigurationThatOthersCanChangeIsNotReloaded(t *testing.T) {
	t.Parallel()
	h := openHouse(t, servers(conf{}))
	if err := os.Chmod(h.file(), 0o666); err != nil {
		t.Fatal(err)
	}
	if err := h.Reload(); err == nil || gateway.AsError(err).Code != gateway.CodeDenied {
		t.Errorf("reloading: %v", err)
	}
}

// A first start needs nothing, and what people prepare before it is no sign of a
// database that was lost.
func TestAFirstStartAsksNothing(t *testing.T) {
	t.Parallel()
	for name, prepare := range map[string]func(dir string) error{
		"no directory":    os.Remove,
		"empty directory": func(string) error { return nil },
		"only a configuration": func(dir string) error {
			return os.WriteFile(filepath.Join(dir, "genkan.yaml"), []byte("mcpServers: {}\n"), 0o600)
		},
		"secrets and a token": func(dir string) error {
			return errors.Join(
				OpenVault(dir).Save(context.Background(), registry.SecretPrefix+"key", "value"),
				os.WriteFile(AdminTokenFile(dir), []byte(strings.Repeat("t", 40)+"\n"), 0o600))
		},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			if err := prepare(dir); err != nil {
				t.Fatal(err)
			}
			if err := openIn(t, dir); err != nil {
				t.Error(err)
			}
		})
	}
}

// A used data directory without its database is refused, and nothing is put in
// its place.
func TestAUsedDirectoryWithoutItsDatabase(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := openIn(t, dir); err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(databaseFile(dir)); err != nil {
		t.Fatal(err)
	}
	if err := openIn(t, dir); err == nil || !strings.Contains(gateway.AsError(err).Text(), "cp BACKUP") {
		t.Errorf("opening: %v", err)
	}
	if _, err := StoredServers(t.Context(), dir); err == nil {
		t.Error("its servers are said to be none")
	}
	if _, err := os.Stat(databaseFile(dir)); err == nil {
		t.Error("a new database was made")
	}
}

// When the data directory goes, writes are refused, health says why, and the
// process ends with an error.
func TestADataDirectoryThatGoes(t *testing.T) {
	t.Parallel()
	for name, take := range map[string]func(dir string) error{
		"removed": func(dir string) error {
			testkit.Eventually(t, func() bool { return os.RemoveAll(dir) == nil }, "it is removed, although files are written in it")
			return nil
		},
		"replaced": func(dir string) error { return errors.Join(os.Rename(dir, dir+"-old"), os.Mkdir(dir, 0o700)) },
	} {
		t.Run(name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "data")
			if err := os.Mkdir(dir, 0o700); err != nil {
				t.Fatal(err)
			}
			h := openHouseIn(t, dir, conf{"mcpServers": conf{}}, func(o *Options) { o.Joinable = true })
			if status, text := h.request(http.MethodPost, "/v1/items", `{"type":"docs","title":"kept"}`, nil); status != http.StatusCreated {
				t.Fatal(status, text)
			}
			if err := take(dir); err != nil {
				t.Fatal(err)
			}
			status, text := h.request(http.MethodPost, "/v1/items", `{"type":"docs","title":"lost"}`, nil)
			if status < 500 || !strings.Contains(text, "nothing was saved") {
				t.Errorf("a write: %d %s", status, text)
			}
			testkit.Eventually(t, func() bool {
				status, text, err := h.tryRequest(http.MethodGet, "/health", "", nil)
				return err == nil && status == http.StatusServiceUnavailable && strings.Contains(text, "removed, moved or replaced") && !strings.Contains(text, dir)
			}, "health says why")
			if err := <-h.ended; !errors.Is(err, sqlite.ErrGone) {
				t.Errorf("serving ended with %v", err)
			}
			h.ended <- nil // for the cleanup
		})
	}
}
