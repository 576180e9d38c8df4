package sqlite

import (
	"context"
	"log/slog"
	"os"
	"path/filepath"
	"testing"

	"go.uber.org/goleak"

	"genkan/internal/storetest"
)

// TestMain also plays the other process in the tests that need one.
func TestMain(m *testing.M) {
	if role := os.Getenv(roleVariable); role != "" {
		os.Exit(play(role, os.Getenv(pathVariable)))
	}
	goleak.VerifyTestMain(m)
}

func testLogger(t testing.TB) *slog.Logger {
	return slog.New(slog.NewTextHandler(t.Output(), nil))
}

func newPath(t testing.TB) string { return filepath.Join(t.TempDir(), "data", "genkan.db") }

func openStore(t testing.TB, path string) *Store {
	t.Helper()
	s, err := Open(context.Background(), path, testLogger(t))
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
	storetest.Run(t, func(t *testing.T) storetest.Stores { return handle(t, newPath(t)) })
}

func handle(t *testing.T, path string) storetest.Stores {
	s := openStore(t, path)
	return storetest.Stores{
		Identity: s, Lists: s, Overrides: s, Servers: s, Lessons: s, Vectors: s, Knowledge: s.Knowledge(),
		ItemVectors: s.Knowledge(), PluginValues: s.Knowledge(),
		Another: func(t *testing.T) storetest.Stores { return handle(t, path) },
	}
}
