package sqlite

import (
	"bytes"
	"context"
	"database/sql"
	"encoding/binary"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"genkan/internal/gateway"
	"genkan/internal/kb"
)

// filledDatabase is the content of a good database of 200 items.
var filledDatabase = sync.OnceValues(func() ([]byte, error) {
	dir, err := os.MkdirTemp("", "genkan-sqlite-")
	if err != nil {
		return nil, err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	path, ctx := filepath.Join(dir, "genkan.db"), context.Background()
	s, err := Open(ctx, path, slog.New(slog.DiscardHandler))
	if err != nil {
		return nil, err
	}
	defer func() { _ = s.Close() }()
	base := kb.New(s.Knowledge(), kb.Options{})
	for i := range 200 {
		fields := kb.Patch{Title: new(fmt.Sprintf("item %d", i)), Content: new(strings.Repeat("text ", 200)), Tags: &[]string{"even", "odd"}}
		if i > 0 {
			fields.Related = &[]kb.Ref{{Type: "docs", ID: int64(i)}}
		}
		if _, err := base.Create(ctx, "docs", fields); err != nil {
			return nil, err
		}
	}
	if v, err := s.Verify(ctx, true); err != nil || !v.Good() {
		return nil, fmt.Errorf("%+v, %w", v, err)
	}
	if err := s.Close(); err != nil {
		return nil, err
	}
	return os.ReadFile(path)
})

// damagedStore is a copy of filledDatabase that was damaged while nobody had it
// open.
func damagedStore(t *testing.T, damage func(t *testing.T, path string, db *sql.DB)) *Store {
	t.Helper()
	content, err := filledDatabase()
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "genkan.db")
	writeDatabase(t, path, content)
	db, err := sql.Open("sqlite", path) // without foreign keys
	if err != nil {
		t.Fatal(err)
	}
	db.SetMaxOpenConns(1)
	damage(t, path, db)
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	s, err := Open(t.Context(), path, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return s
}

func rewritten(statements ...string) func(t *testing.T, path string, db *sql.DB) {
	return func(t *testing.T, _ string, db *sql.DB) {
		t.Helper()
		for _, text := range statements {
			if _, err := db.ExecContext(t.Context(), text); err != nil {
				t.Fatalf("%s: %v", text, err)
			}
		}
	}
}

// scribble changes bytes in the last page of a table or an index.
func scribble(table string, change func(page []byte)) func(t *testing.T, path string, db *sql.DB) {
	return func(t *testing.T, path string, db *sql.DB) {
		t.Helper()
		var root, size int64
		err := db.QueryRowContext(t.Context(), "SELECT rootpage, page_size FROM sqlite_schema, pragma_page_size WHERE name = ?", table).Scan(&root, &size)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := db.ExecContext(t.Context(), "PRAGMA wal_checkpoint(TRUNCATE)"); err != nil {
			t.Fatal(err)
		}
		if err := db.Close(); err != nil {
			t.Fatal(err)
		}
		content, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		page := content[(root-1)*size : root*size]
		for page[0] == 2 || page[0] == 5 { // an inner page: on to its rightmost child
			child := int64(binary.BigEndian.Uint32(page[8:12]))
			page = content[(child-1)*size : child*size]
		}
		change(page)
		if err := os.WriteFile(path, content, 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// TestVerify: what is wrong is found, and what can be mended is.
func TestVerify(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		damage func(t *testing.T, path string, db *sql.DB)
		want   func(v Verdict) bool
		// quick says that the quick check finds it as well.
		quick bool
	}{
		"an item is gone": {
			rewritten("DELETE FROM kb_items WHERE id = 100"),
			func(v Verdict) bool { return v.Orphans == 4 && v.Wrong == 0 }, true, // two relations, two tags
		},
		"a relation leads to nothing": {
			rewritten("INSERT INTO kb_relations VALUES (7, 999, 'related', 'docs', 'docs')"),
			func(v Verdict) bool { return v.Orphans == 1 && v.Wrong == 0 }, true,
		},
		"a relation has a wrong type": {
			rewritten("UPDATE kb_relations SET dst_type = 'notes' WHERE src = 7"),
			func(v Verdict) bool { return v.Orphans == 0 && v.Wrong == 1 }, true,
		},
		"an item has no status": {
			rewritten("PRAGMA ignore_check_constraints = 1", "UPDATE kb_items SET status = 77 WHERE id = 5"),
			func(v Verdict) bool { return v.Orphans > 0 }, true,
		},
		"an item is closed, and its status is not": {
			rewritten("UPDATE kb_items SET closed = 1 WHERE id = 5"),
			func(v Verdict) bool { return v.Orphans == 1 }, true,
		},
		"counts are wrong": {
			rewritten("UPDATE kb_counts SET items = 7", "UPDATE kb_tags SET items = 1 WHERE name = 'odd'"),
			func(v Verdict) bool { return v.Wrong == 3 }, true,
		},
		"a count is missing": {
			rewritten("DELETE FROM kb_counts"), func(v Verdict) bool { return v.Wrong == 1 }, true,
		},
		"the sequence has gone back": {
			rewritten("UPDATE kb_sequence SET value = 3"), func(v Verdict) bool { return v.Wrong == 1 }, true,
		},
		"former references and the state lead to nothing": {
			rewritten("INSERT INTO kb_moved VALUES (900, 'notes', 901)", "INSERT INTO kb_state_items VALUES (902)"),
			func(v Verdict) bool { return v.Orphans == 2 }, true,
		},
		"an index says something else than its table": {
			scribble("kb_items_by_type", func(page []byte) {
				at := bytes.LastIndex(page, []byte("docs"))
				copy(page[at:], "dogs")
			}),
			func(v Verdict) bool { return len(v.Damage) > 0 && strings.Contains(v.Damage[0], "kb_items_by_type") }, false,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := damagedStore(t, c.damage)
			if v, err := s.Verify(t.Context(), true); err != nil || !c.want(v) {
				t.Errorf("the whole: %+v, %v", v, err)
			}
			quick, err := s.Verify(t.Context(), false)
			if err != nil || quick.Good() == c.quick {
				t.Errorf("quickly: %+v, %v", quick, err)
			}
			before, err := s.Knowledge().Sequence(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			found, _ := s.Verify(t.Context(), true)
			if err := s.Mend(t.Context(), found); err != nil {
				t.Fatal(err)
			}
			if v, err := s.Verify(t.Context(), true); err != nil || !v.Good() {
				t.Errorf("mended: %+v, %v", v, err)
			}
			after, err := s.Knowledge().Sequence(t.Context())
			if err != nil || after <= before {
				t.Errorf("the sequence was %d and is %d, %v", before, after, err)
			}
			page, err := s.Knowledge().List(t.Context(), kb.Filter{Closed: true, Limit: 1})
			if err != nil || page.Total < 199 {
				t.Errorf("%d items are left, %v", page.Total, err)
			}
		})
	}
}

// TestVerifyTable: what is damaged in a table cannot be mended from it, and is left
// as it is.
func TestVerifyTable(t *testing.T) {
	t.Parallel()
	s := damagedStore(t, scribble("kb_items", func(page []byte) {
		for i := 8; i < 200; i++ {
			page[i] = 0xff
		}
	}))
	v, err := s.Verify(t.Context(), true)
	if err != nil || len(v.Damage) == 0 {
		t.Fatalf("%+v, %v", v, err)
	}
	if err := s.Mend(t.Context(), v); gateway.AsError(err).Code != gateway.CodeUnavailable || !strings.Contains(err.Error(), "restore the file from a backup") {
		t.Errorf("%v", err)
	}
	if again, err := s.Verify(t.Context(), true); err != nil || len(again.Damage) == 0 {
		t.Errorf("%+v, %v", again, err)
	}
}
