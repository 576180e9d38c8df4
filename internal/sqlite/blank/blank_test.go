package blank_test

import (
	"bytes"
	"context"
	"log/slog"
	"os"
	"path/filepath"
	"testing"

	"genkan/internal/sqlite"
	"genkan/internal/sqlite/blank"
	"genkan/internal/testkit"
)

func TestMain(m *testing.M) { testkit.Main(m) }

// A store opens a blank database without changing its schema.
func TestABlankDatabaseHasTheSchema(t *testing.T) {
	path := filepath.Join(t.TempDir(), "data", "genkan.db")
	if err := blank.Write(path); err != nil {
		t.Fatal(err)
	}
	before, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	ctx := context.Background()
	store, err := sqlite.Open(ctx, path, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	tokens, err := store.Tokens(ctx)
	if err != nil || len(tokens) != 0 {
		t.Errorf("%d tokens, %v", len(tokens), err)
	}
	if err := store.Close(); err != nil {
		t.Fatal(err)
	}
	if after, err := os.ReadFile(path); err != nil || !bytes.Equal(before, after) {
		t.Errorf("opening changed the database (%v)", err)
	}
}

func TestAnExistingDatabaseStays(t *testing.T) {
	path := filepath.Join(t.TempDir(), "genkan.db")
	if err := os.WriteFile(path, []byte("mine"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := blank.Write(path); err != nil {
		t.Fatal(err)
	}
	if content, err := os.ReadFile(path); err != nil || string(content) != "mine" {
		t.Errorf("%q, %v", content, err)
	}
}
