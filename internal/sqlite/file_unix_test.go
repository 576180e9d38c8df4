//go:build unix

package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"genkan/internal/config"
	"genkan/internal/gateway"
	"genkan/internal/kb"
)

// A database that was made and is missing or empty is not replaced by a new one.
func TestALostDatabaseIsNotReplaced(t *testing.T) {
	t.Parallel()
	for name, lose := range map[string]func(path string) error{
		"removed": os.Remove,
		"emptied": func(path string) error { return os.Truncate(path, 0) },
		"removed but for logs": func(path string) error {
			return errors.Join(os.Remove(path), os.WriteFile(path+"-wal", []byte("frames"), 0o600))
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path := migratedPath(t)
			if err := openAndClose(t, path); err != nil {
				t.Fatal(err)
			}
			if err := lose(path); err != nil {
				t.Fatal(err)
			}
			err := openAndClose(t, path)
			e := gateway.AsError(err)
			if err == nil || e.Code != gateway.CodeInvalid {
				t.Fatalf("opening it again: %v", err)
			}
			for _, command := range []string{"cp BACKUP ", "rm -f "} {
				if !strings.Contains(e.Text(), command) {
					t.Errorf("%q does not name the command %q", e.Text(), command)
				}
			}
			if info, err := os.Stat(path); err == nil && info.Size() > 0 {
				t.Error("a new database was made")
			}
			// The command that the message names to begin anew.
			_, command, _ := strings.Cut(e.Text(), "`rm -f \""+MadeFile(path))
			for _, file := range []string{path, path + "-wal", path + "-shm"} {
				if !strings.Contains(command, `"`+file+`"`) {
					t.Errorf("%q does not remove %s", e.Text(), file)
				}
				_ = os.Remove(file)
			}
			if err := os.Remove(MadeFile(path)); err != nil {
				t.Fatal(err)
			}
			if err := openAndClose(t, path); err != nil {
				t.Errorf("beginning anew: %v", err)
			}
		})
	}
}

// A process that was killed before the database was made leaves an empty file,
// which the next one uses.
func TestAnEmptyFileBecomesADatabase(t *testing.T) {
	path := newPath(t)
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	for _, file := range []string{path, path + "-migrate"} {
		if err := os.WriteFile(file, nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := openAndClose(t, path); err != nil {
		t.Error(err)
	}
}

// A database of before the mark gets one.
func TestADatabaseIsMarked(t *testing.T) {
	path := migratedPath(t)
	if err := openAndClose(t, path); err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(MadeFile(path)); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if err := openAndClose(t, path); err != nil {
			t.Fatal(err)
		}
		if _, err := os.Stat(MadeFile(path)); err != nil {
			t.Error(err)
		}
	}
}

// A database that nobody may write keeps its mode. It is read, and writes are
// refused with the seed's code, until it may be written again at a later start.
func TestAReadOnlyDatabase(t *testing.T) {
	t.Parallel()
	path := migratedPath(t)
	s := openStore(t, path)
	base := kb.New(s.Knowledge(), kb.Options{})
	item, err := base.Create(t.Context(), "docs", kb.Patch{Title: new("kept")})
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	for _, mode := range []os.FileMode{0o400, 0o444} {
		if err := os.Chmod(path, mode); err != nil {
			t.Fatal(err)
		}
		s := openStore(t, path)
		base := kb.New(s.Knowledge(), kb.Options{})
		if got, err := base.Get(t.Context(), item.Ref()); err != nil || got.Item.Title != "kept" {
			t.Errorf("reading: %v, %v", got, err)
		}
		_, err := base.Create(t.Context(), "docs", kb.Patch{Title: new("refused")})
		var own *kb.Error
		if !errors.As(err, &own) || own.Code != kb.CodePermissionDenied || !strings.Contains(own.Details.Hint.String(), "chmod u+w") {
			t.Errorf("writing: %v", err)
		}
		err = s.ChangeStoredServer(t.Context(), "one", func(*config.StoredServer) (*config.StoredServer, error) {
			return &config.StoredServer{Name: "one"}, nil
		})
		if gateway.AsError(err).Code != gateway.CodeDenied {
			t.Errorf("writing beside the knowledge base: %v", err)
		}
		if info, err := os.Stat(path); err != nil || info.Mode().Perm() != mode {
			t.Errorf("the mode is %v (%v), was %v", info.Mode(), err, mode)
		}
		if err := errors.Join(s.Close(), os.Chmod(path, 0o600)); err != nil {
			t.Fatal(err)
		}
		s = openStore(t, path)
		if _, err := kb.New(s.Knowledge(), kb.Options{}).Create(t.Context(), "docs", kb.Patch{Title: new("made")}); err != nil {
			t.Errorf("writing when it may be written again: %v", err)
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}
}

// A database that becomes read-only while it is open is not written, and is again
// when it may be.
func TestADatabaseBecomesReadOnly(t *testing.T) {
	path := newPath(t)
	base := kb.New(openStore(t, path).Knowledge(), kb.Options{})
	for _, mode := range []os.FileMode{0o600, 0o400, 0o600} {
		if err := os.Chmod(path, mode); err != nil {
			t.Fatal(err)
		}
		_, err := base.Create(t.Context(), "docs", kb.Patch{Title: new("one")})
		var own *kb.Error
		if refused := errors.As(err, &own) && own.Code == kb.CodePermissionDenied; refused != (mode == 0o400) || !refused && err != nil {
			t.Errorf("mode %v: %v", mode, err)
		}
	}
}

// A write is not acknowledged when its file is not the one at the database's
// path any more: nobody would find it there.
func TestADatabaseThatIsTakenAway(t *testing.T) {
	for name, take := range map[string]func(path string) error{
		"the file is removed":      os.Remove,
		"the directory is removed": func(path string) error { return os.RemoveAll(filepath.Dir(path)) },
		"the directory is moved":   func(path string) error { return os.Rename(filepath.Dir(path), filepath.Dir(path)+"-moved") },
		"the file is replaced": func(path string) error {
			return errors.Join(os.Rename(path, path+".old"), os.WriteFile(path, []byte("another"), 0o600))
		},
		"the directory is replaced": func(path string) error {
			dir := filepath.Dir(path)
			return errors.Join(os.RemoveAll(dir), os.Mkdir(dir, 0o700), os.WriteFile(path, nil, 0o600))
		},
	} {
		t.Run(name, func(t *testing.T) {
			path := newPath(t)
			s, err := Open(t.Context(), path, testLogger(t))
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = s.Close() }()
			base := kb.New(s.Knowledge(), kb.Options{})
			if _, err := base.Create(t.Context(), "docs", kb.Patch{Title: new("kept")}); err != nil {
				t.Fatal(err)
			}
			if err := s.Check(); err != nil {
				t.Fatal(err)
			}
			if err := take(path); err != nil {
				t.Fatal(err)
			}
			_, err = base.Create(t.Context(), "docs", kb.Patch{Title: new("lost")})
			if !errors.Is(err, ErrGone) || !strings.Contains(err.Error(), "nothing was saved") {
				t.Errorf("writing: %v", err)
			}
			if err := s.Check(); !errors.Is(err, ErrGone) {
				t.Errorf("checking: %v", err)
			}
		})
	}
}

// WaitGone waits for the file to be taken away, or for the end of its context.
func TestWaitGone(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		path := filepath.Join(t.TempDir(), "genkan.db")
		if err := os.WriteFile(path, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		info, err := os.Stat(path)
		if err != nil {
			t.Fatal(err)
		}
		s := &Store{path: path, file: info}
		ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
		defer cancel()
		if err := s.WaitGone(ctx); err != nil || ctx.Err() == nil {
			t.Errorf("while the file is there: %v", err)
		}
		if err := os.Remove(path); err != nil {
			t.Fatal(err)
		}
		if err := s.WaitGone(t.Context()); !errors.Is(err, ErrGone) {
			t.Errorf("after the file was removed: %v", err)
		}
	})
}

// A write during which the database is taken away is not acknowledged.
func TestADatabaseThatIsTakenAwayDuringAWrite(t *testing.T) {
	path := newPath(t)
	s, err := Open(t.Context(), path, testLogger(t))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = s.Close() }()
	err = s.transact(t.Context(), "take it away", func(*sql.Tx) error { return os.RemoveAll(filepath.Dir(path)) })
	if !errors.Is(err, ErrGone) {
		t.Errorf("the write: %v", err)
	}
}

// Closing a store whose directory was replaced leaves the other database and its
// log alone.
func TestClosingLeavesTheReplacementAlone(t *testing.T) {
	path := newPath(t)
	old, err := Open(t.Context(), path, testLogger(t))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := kb.New(old.Knowledge(), kb.Options{}).Create(t.Context(), "docs", kb.Patch{Title: new("old")}); err != nil {
		t.Fatal(err)
	}
	if err := os.RemoveAll(filepath.Dir(path)); err != nil {
		t.Fatal(err)
	}
	fresh := openStore(t, path)
	base := kb.New(fresh.Knowledge(), kb.Options{})
	item, err := base.Create(t.Context(), "docs", kb.Patch{Title: new("new")})
	if err != nil {
		t.Fatal(err)
	}
	before, err := os.Stat(path + "-wal")
	if err != nil {
		t.Fatal(err)
	}
	if err := old.Close(); err != nil {
		t.Error(err)
	}
	after, err := os.Stat(path + "-wal")
	if err != nil || !os.SameFile(before, after) {
		t.Errorf("the log of the new database is gone: %v", err)
	}
	if _, err := base.Get(t.Context(), item.Ref()); err != nil {
		t.Error(err)
	}
}
