package kb_test

import (
	"context"
	"log/slog"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"genkan/internal/sqlite"
	"genkan/internal/testkit"
)

func TestMain(m *testing.M) { testkit.Main(m) }

// emptyDatabase returns the content of an empty, migrated database. Migrating one takes
// longer than most tests.
var emptyDatabase = sync.OnceValues(func() ([]byte, error) {
	dir, err := os.MkdirTemp("", "genkan-kb-")
	if err != nil {
		return nil, err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	path := filepath.Join(dir, "genkan.db")
	s, err := sqlite.Open(context.Background(), path, slog.New(slog.DiscardHandler))
	if err != nil {
		return nil, err
	}
	if err := s.Close(); err != nil {
		return nil, err
	}
	return os.ReadFile(path)
})

// openDatabase opens the database at path. A new one begins as a copy of
// emptyDatabase.
func openDatabase(t testing.TB, path string) *sqlite.Store {
	t.Helper()
	if _, err := os.Stat(path); err != nil {
		content, err := emptyDatabase()
		if err == nil {
			err = os.WriteFile(path, content, 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	s, err := sqlite.Open(context.Background(), path, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	return s
}
