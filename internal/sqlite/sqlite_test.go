package sqlite

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"
	"time"

	driver "modernc.org/sqlite"

	"genkan/internal/gateway"
	"genkan/internal/identity"
	"genkan/internal/upstream"
)

// wantError checks the code, that the message says what was promised, and
// that the cause is kept.
func wantError(t testing.TB, err error, code gateway.Code, says string) {
	t.Helper()
	var e *gateway.Error
	if !errors.As(err, &e) {
		t.Fatalf("error %v is not a gateway.Error", err)
	}
	if e.Code != code || !strings.Contains(e.Text(), says) {
		t.Fatalf("got %v %q, want %v with %q (%v)", e.Code, e.Text(), code, says, err)
	}
	if strings.Contains(e.Text(), string(filepath.Separator)) {
		t.Errorf("the message names a place: %q", e.Text())
	}
}

func wantCause(t testing.TB, err error) {
	t.Helper()
	var failure *driver.Error
	if !errors.As(err, &failure) {
		t.Errorf("SQLite's own error is lost in %v", err)
	}
}

func list(content string) upstream.SavedList {
	return upstream.SavedList{Tools: []byte(content), SavedAt: time.Unix(1, 0)}
}

// raw opens the file as another program would.
func raw(t testing.TB, path string) *sql.DB {
	t.Helper()
	db, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	db.SetMaxOpenConns(1)
	t.Cleanup(func() { _ = db.Close() })
	return db
}

func run(t testing.TB, db *sql.DB, statement string, args ...any) {
	t.Helper()
	if _, err := db.ExecContext(context.Background(), statement, args...); err != nil {
		t.Fatal(err)
	}
}

// made is the path of a database that was opened, used and closed.
func made(t testing.TB) string {
	t.Helper()
	path := migratedPath(t)
	s := openStore(t, path)
	if err := s.SaveList(t.Context(), "server", list("[]")); err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestSettings(t *testing.T) {
	s := openStore(t, made(t))
	for _, db := range []*sql.DB{s.writer, s.reader} {
		want := map[string]string{
			"journal_mode": "wal", "trusted_schema": "0", "mmap_size": "0", "cache_size": "-2000", "busy_timeout": "10",
		}
		if db == s.writer {
			want["synchronous"], want["foreign_keys"] = "2", "1"
		} else {
			want["query_only"] = "1"
		}
		for name, value := range want {
			var got string
			if err := db.QueryRowContext(t.Context(), "PRAGMA "+name).Scan(&got); err != nil {
				t.Fatal(err)
			}
			if got != value {
				t.Errorf("%s is %s, want %s", name, got, value)
			}
		}
	}
	if _, err := s.reader.ExecContext(t.Context(), "DELETE FROM tokens"); err == nil {
		t.Error("the read pool can write")
	}
}

func TestFilesAreForTheirOwner(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("windows has no permission bits")
	}
	path := newPath(t)
	s := openStore(t, path)
	if err := s.SaveList(t.Context(), "server", list("[]")); err != nil {
		t.Fatal(err)
	}
	if info, _ := os.Stat(filepath.Dir(path)); info.Mode().Perm() != 0o700 {
		t.Errorf("the directory has mode %v", info.Mode())
	}
	entries, err := os.ReadDir(filepath.Dir(path))
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, entry := range entries {
		names = append(names, entry.Name())
		if info, _ := entry.Info(); info.Mode().Perm() != 0o600 {
			t.Errorf("%s has mode %v", entry.Name(), info.Mode())
		}
	}
	if got := strings.Join(names, " "); got != "genkan.db genkan.db-migrate genkan.db-shm genkan.db-wal made-genkan.db" {
		t.Errorf("the directory holds %s", got)
	}
}

func TestFileThatOthersCouldRead(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("windows has no permission bits")
	}
	path := made(t)
	if err := os.Chmod(path, 0o644); err != nil { // that is the point
		t.Fatal(err)
	}
	var logged bytes.Buffer
	s, err := Open(t.Context(), path, slog.New(slog.NewTextHandler(&logged, nil)))
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if info, _ := os.Stat(path); info.Mode().Perm() != 0o600 {
		t.Errorf("mode %v, want 0600", info.Mode())
	}
	if !strings.Contains(logged.String(), "level=WARN") {
		t.Errorf("nobody is told: %s", &logged)
	}
}

func TestOddPaths(t *testing.T) {
	for _, name := range []string{"a b per%20cent ha#sh 日本 quo'te a&b=c", "que?stion"} {
		if runtime.GOOS == "windows" && strings.Contains(name, "?") {
			continue
		}
		path := filepath.Join(t.TempDir(), name, name+".db")
		s := openStore(t, path)
		if err := s.SaveList(t.Context(), "server", list("[]")); err != nil {
			t.Fatal(err)
		}
		if _, err := os.Stat(path); err != nil {
			t.Errorf("%q: the file is elsewhere: %v", name, err)
		}
	}
	t.Chdir(t.TempDir())
	openStore(t, filepath.Join("relative", "genkan.db"))
	if _, err := os.Stat(filepath.Join("relative", "genkan.db")); err != nil {
		t.Error(err)
	}
}

func TestCloseLeavesOneFile(t *testing.T) {
	path := made(t)
	for _, suffix := range []string{"-wal", "-shm"} {
		if _, err := os.Stat(path + suffix); err == nil {
			t.Errorf("%s is left", suffix)
		}
	}
	if _, found, err := openStore(t, path).LoadList(t.Context(), "server"); err != nil || !found {
		t.Errorf("after reopening: %v, %v", found, err)
	}
}

func TestUseAfterClose(t *testing.T) {
	s := newStore(t)
	for range 2 {
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	}
	_, err := s.ChangeSequence(t.Context())
	wantError(t, err, gateway.CodeUnavailable, "closing")
	wantError(t, s.SaveList(t.Context(), "server", list("[]")), gateway.CodeUnavailable, "closing")
}

func TestNewerSchemaIsRefused(t *testing.T) {
	path := made(t)
	db := raw(t, path)
	run(t, db, "INSERT INTO schema_version (version_id, is_applied) VALUES (?, 1)", 999)
	run(t, db, "CREATE TABLE of_the_future (id INTEGER)")
	before, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	_, err = Open(t.Context(), path, testLogger(t))
	latest, _ := latestMigration()
	wantError(t, err, gateway.CodeUnavailable, fmt.Sprintf("newer genkan (its schema is 999, this genkan knows %d): update genkan", latest))
	if after, _ := os.ReadFile(path); !bytes.Equal(before, after) {
		t.Error("the newer database was touched")
	}
}

func TestDatabaseOfAnotherProgramIsRefused(t *testing.T) {
	path := filepath.Join(t.TempDir(), "genkan.db")
	db := raw(t, path)
	run(t, db, "CREATE TABLE bookmarks (url TEXT)")
	if err := os.Chmod(path, 0o600); err != nil {
		t.Fatal(err)
	}
	_, err := Open(t.Context(), path, testLogger(t))
	wantError(t, err, gateway.CodeInvalid, "belongs to another program")
	var tables int
	if err := db.QueryRowContext(t.Context(), "SELECT count(*) FROM sqlite_schema").Scan(&tables); err != nil || tables != 1 {
		t.Errorf("it has %d tables now, %v", tables, err)
	}
}

// A process that was killed between the steps of the first start leaves a
// database that the next one completes.
func TestHalfMadeDatabaseIsCompleted(t *testing.T) {
	for name, statements := range map[string][]string{
		"empty file":    {},
		"WAL only":      {"PRAGMA journal_mode = WAL"},
		"version table": {"PRAGMA journal_mode = WAL", "CREATE TABLE schema_version (id INTEGER PRIMARY KEY AUTOINCREMENT, version_id INTEGER NOT NULL, is_applied INTEGER NOT NULL, tstamp TIMESTAMP DEFAULT (datetime('now')))", "INSERT INTO schema_version (version_id, is_applied) VALUES (0, 1)"},
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "genkan.db")
			if err := os.WriteFile(path, nil, 0o600); err != nil {
				t.Fatal(err)
			}
			db := raw(t, path)
			for _, statement := range statements {
				run(t, db, statement)
			}
			s := openStore(t, path)
			if err := s.SaveList(t.Context(), "server", list("[]")); err != nil {
				t.Fatal(err)
			}
		})
	}
}

// A backup made with VACUUM INTO comes back without WAL mode.
func TestRestoredBackupIsSwitchedToWAL(t *testing.T) {
	path := made(t)
	db := raw(t, path)
	run(t, db, "PRAGMA journal_mode = DELETE")
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	s := openStore(t, path)
	state, err := readSchema(t.Context(), s.reader)
	if err != nil || !state.wal {
		t.Errorf("not in WAL mode: %v", err)
	}
	if _, found, err := s.LoadList(t.Context(), "server"); err != nil || !found {
		t.Errorf("the content is gone: %v", err)
	}
}

func TestMigrationNames(t *testing.T) {
	entries, err := migrations.ReadDir("migrations")
	if err != nil {
		t.Fatal(err)
	}
	// Numbers rise and are never used twice; one that was given up may be missing.
	last := int64(0)
	for _, entry := range entries {
		var number int64
		if _, err := fmt.Sscanf(entry.Name(), "%05d_", &number); err != nil || number <= last || !regexp.MustCompile(`^\d{5}_[a-z0-9_]+\.sql$`).MatchString(entry.Name()) {
			t.Errorf("%s has not the next number, and a name, behind %d (%v)", entry.Name(), last, err)
		}
		last = number
	}
	if latest, err := latestMigration(); err != nil || latest != last {
		t.Errorf("the latest migration is %d, not %d: %v", latest, last, err)
	}
}

func TestDamagedDatabase(t *testing.T) {
	t.Run("no database", func(t *testing.T) {
		path := filepath.Join(t.TempDir(), "genkan.db")
		if err := os.WriteFile(path, bytes.Repeat([]byte("not a database "), 1000), 0o600); err != nil {
			t.Fatal(err)
		}
		_, err := Open(t.Context(), path, testLogger(t))
		wantError(t, err, gateway.CodeUnavailable, "restore the file from a backup")
		wantCause(t, err)
	})
	t.Run("overwritten pages", func(t *testing.T) {
		path := made(t)
		content, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for i := 4096; i < len(content); i++ {
			content[i] = 0xff
		}
		if err := os.WriteFile(path, content, 0o600); err != nil {
			t.Fatal(err)
		}
		_, err = Open(t.Context(), path, testLogger(t))
		wantError(t, err, gateway.CodeUnavailable, "restore the file from a backup")
		wantCause(t, err)
	})
	t.Run("directory", func(t *testing.T) {
		_, err := Open(t.Context(), t.TempDir(), testLogger(t))
		wantError(t, err, gateway.CodeInvalid, "not a regular file")
	})
}

func TestLockedByAnotherProgram(t *testing.T) {
	path := made(t)
	s, err := open(t.Context(), path, testLogger(t), 50*time.Millisecond)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	other := raw(t, path)
	run(t, other, "BEGIN IMMEDIATE")
	err = s.SaveList(t.Context(), "server", list("[1]"))
	wantError(t, err, gateway.CodeUnavailable, "locked by another program")
	wantCause(t, err)
	if gateway.AsError(err).RetryAfter == 0 {
		t.Error("it does not say when to try again")
	}
	if _, _, err := s.LoadList(t.Context(), "server"); err != nil {
		t.Errorf("reads do not go on: %v", err)
	}
	run(t, other, "ROLLBACK")
	if err := s.SaveList(t.Context(), "server", list("[1]")); err != nil {
		t.Errorf("after the lock is gone: %v", err)
	}
}

func TestWaitForALockCanBeCanceled(t *testing.T) {
	path := made(t)
	s := openStore(t, path)
	other := raw(t, path)
	run(t, other, "BEGIN IMMEDIATE")
	defer run(t, other, "ROLLBACK")
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	begun := time.Now()
	wantError(t, s.SaveList(ctx, "server", list("[1]")), gateway.CodeTimeout, "")
	if took := time.Since(begun); took > patience/2 {
		t.Errorf("it took %v", took)
	}
}

func TestDiskFull(t *testing.T) {
	s := newStore(t)
	if err := s.SaveList(t.Context(), "small", list("[]")); err != nil {
		t.Fatal(err)
	}
	// The one writer connection has a limit of its own; SQLite reports it as it
	// does a full disk.
	run(t, s.writer, "PRAGMA max_page_count = 20")
	err := s.SaveList(t.Context(), "big", list(strings.Repeat("x", 1<<20)))
	wantError(t, err, gateway.CodeUnavailable, "the disk is full")
	wantCause(t, err)
	if _, found, err := s.LoadList(t.Context(), "small"); err != nil || !found {
		t.Errorf("reads do not go on: %v, %v", found, err)
	}
	if _, found, err := s.LoadList(t.Context(), "big"); err != nil || found {
		t.Errorf("half a write is there: %v, %v", found, err)
	}
	run(t, s.writer, "PRAGMA max_page_count = 100000")
	if err := s.SaveList(t.Context(), "big", list(strings.Repeat("x", 1<<20))); err != nil {
		t.Errorf("no recovery without a restart: %v", err)
	}
}

func TestPanicInAWriteLetsOthersWrite(t *testing.T) {
	s := newStore(t)
	func() {
		defer func() { _ = recover() }()
		_ = s.write(t.Context(), "panic", func(*sql.Tx) error { panic("boom") })
	}()
	if err := s.SaveList(t.Context(), "server", list("[]")); err != nil {
		t.Fatal(err)
	}
}

func BenchmarkOpen(b *testing.B) {
	path := made(b)
	logger := slog.New(slog.DiscardHandler)
	b.Run("up to date", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			s, err := Open(b.Context(), path, logger)
			if err != nil {
				b.Fatal(err)
			}
			b.StopTimer()
			if err := s.Close(); err != nil {
				b.Fatal(err)
			}
			b.StartTimer()
		}
	})
	b.Run("up to date and first list", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			s, err := Open(b.Context(), path, logger)
			if err == nil {
				_, _, err = s.LoadList(b.Context(), "server")
			}
			if err != nil {
				b.Fatal(err)
			}
			b.StopTimer()
			if err := s.Close(); err != nil {
				b.Fatal(err)
			}
			b.StartTimer()
		}
	})
	b.Run("fresh directory", func(b *testing.B) {
		dir, n := b.TempDir(), 0
		for b.Loop() {
			n++
			s, err := Open(b.Context(), filepath.Join(dir, fmt.Sprint(n), "genkan.db"), logger)
			if err != nil {
				b.Fatal(err)
			}
			b.StopTimer()
			if err := s.Close(); err != nil {
				b.Fatal(err)
			}
			b.StartTimer()
		}
	})
}

func BenchmarkStore(b *testing.B) {
	s := openStore(b, newPath(b))
	token, _, err := identity.NewToken("editor", false, time.Now())
	if err != nil {
		b.Fatal(err)
	}
	if err := s.AddToken(b.Context(), token); err != nil {
		b.Fatal(err)
	}
	tools := list(strings.Repeat("x", 64<<10))
	b.Run("ChangeSequence", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if _, err := s.ChangeSequence(b.Context()); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("SaveList 64 KiB", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if err := s.SaveList(b.Context(), "server", tools); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("LoadList 64 KiB", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if _, _, err := s.LoadList(b.Context(), "server"); err != nil {
				b.Fatal(err)
			}
		}
	})
}
