package kb_test

import (
	"context"
	"log/slog"
	"testing"

	"genkan/internal/sqlite"
	"genkan/internal/sqlite/blank"
	"genkan/internal/testkit"
)

func TestMain(m *testing.M) { testkit.Main(m) }

// openDatabase opens the database at path, which is made if it is not there.
func openDatabase(t testing.TB, path string) *sqlite.Store {
	t.Helper()
	if err := blank.Write(path); err != nil {
		t.Fatal(err)
	}
	s, err := sqlite.Open(context.Background(), path, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	return s
}
