package sqlite

import (
	"context"
	"log/slog"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"genkan/internal/storetest"
	"genkan/internal/testkit"
)

// TestMain also plays the other process in the tests that need one.
func TestMain(m *testing.M) {
	if role := os.Getenv(roleVariable); role != "" {
		os.Exit(play(role, os.Getenv(pathVariable)))
	}
	testkit.Main(m)
}

func testLogger(t testing.TB) *slog.Logger {
	return slog.New(slog.NewTextHandler(t.Output(), nil))
}

func newPath(t testing.TB) string { return filepath.Join(t.TempDir(), "data", "genkan.db") }

// emptyDatabase is the content of a database that is up to date and empty. Most
// tests begin with a copy of it, because a migration takes longer than their own
// work.
var emptyDatabase = sync.OnceValues(func() ([]byte, error) {
	dir, err := os.MkdirTemp("", "genkan-sqlite-")
	if err != nil {
		return nil, err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	path := filepath.Join(dir, "genkan.db")
	s, err := Open(context.Background(), path, slog.New(slog.DiscardHandler))
	if err != nil {
		return nil, err
	}
	if err := s.Close(); err != nil {
		return nil, err
	}
	return os.ReadFile(path)
})

// migratedPath is newPath with an empty database that is up to date.
func migratedPath(t testing.TB) string {
	t.Helper()
	content, err := emptyDatabase()
	if err != nil {
		t.Fatal(err)
	}
	path := newPath(t)
	writeDatabase(t, path, content)
	return path
}

// writeDatabase writes the content of a database, which nobody has open, to path.
func writeDatabase(t testing.TB, path string, content []byte) {
	t.Helper()
	err := os.MkdirAll(filepath.Dir(path), 0o700)
	if err == nil {
		err = os.WriteFile(path, content, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// newStore opens a database that is up to date and empty.
func newStore(t testing.TB) *Store {
	t.Helper()
	return openStore(t, migratedPath(t))
}

func openStore(t testing.TB, path string) *Store {
	t.Helper()
	return openPatient(t, path, patience)
}

func openPatient(t testing.TB, path string, patience time.Duration) *Store {
	t.Helper()
	s, err := open(context.Background(), path, testLogger(t), patience)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

func TestStore(t *testing.T) {
	storetest.Run(t, func(t *testing.T) storetest.Stores { return handle(t, migratedPath(t)) })
}

func handle(t *testing.T, path string) storetest.Stores {
	// The suite asks what is kept and not how long it takes on a busy machine.
	s := openPatient(t, path, time.Minute)
	return storetest.Stores{
		Identity: s, Sessions: s, Lists: s, Overrides: s, Servers: s, Lessons: s, Vectors: s, Knowledge: s.Knowledge(),
		ItemVectors: s.Knowledge(), PluginValues: s.Knowledge(), Workflows: s,
		Another: func(t *testing.T) storetest.Stores { return handle(t, path) },
	}
}
