package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"io"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"time"

	"genkan/internal/gateway"
)

// Backup copies the database at path to another file. The copy contains everything that
// was committed when the backup began, including the write-ahead log, while other
// processes go on writing. The copy is checked before it gets its name, only its owner
// can read it, and it can be used as the database without changes. An existing file is
// replaced only if replace is set. Progress is approximate, in bytes.
func Backup(ctx context.Context, path, into string, replace bool, progress func(done, total int64)) (size int64, err error) {
	for _, name := range []*string{&path, &into} { // they become URLs, which need absolute paths
		if *name, err = filepath.Abs(*name); err != nil {
			return 0, noBackup(into, err)
		}
	}
	if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
		return 0, gateway.Errorf(gateway.CodeNotFound, "there is no database at %s, so there is nothing to copy; name another data directory with --data", path)
	}
	if isDatabase(path, into) {
		return 0, gateway.Errorf(gateway.CodeInvalid, "%s is the database itself; choose another file for the backup", into)
	}
	there, err := os.Lstat(into)
	if err == nil && !there.Mode().IsRegular() {
		return 0, gateway.Errorf(gateway.CodeConflict, "%s is there already and is no regular file, so it is not replaced; choose another name", into)
	}
	if err == nil && !replace {
		return 0, gateway.Errorf(gateway.CodeConflict, "%s is there already; choose another name, or replace it with --force", into)
	}
	if isBeside(path, into) && !isBackup(into) {
		return 0, gateway.Errorf(gateway.CodeInvalid, "%s is a file of genkan's own; choose another file for the backup", into)
	}
	// SQLite writes into the empty file and keeps its permissions (0600).
	temp, err := os.CreateTemp(filepath.Dir(into), ".backup-*")
	if err != nil {
		return 0, noBackup(into, err)
	}
	defer func() { _ = os.Remove(temp.Name()) }() // has no effect after the rename
	if err := temp.Close(); err != nil {
		return 0, noBackup(into, err)
	}
	if err := copyInto(ctx, path, temp.Name(), progress); err != nil {
		return 0, err
	}
	if err := check(ctx, temp.Name()); err != nil {
		return 0, err
	}
	info, err := os.Stat(temp.Name())
	if err != nil {
		return 0, noBackup(into, err)
	}
	if err := keep(temp.Name(), into); err != nil {
		return 0, noBackup(into, err)
	}
	return info.Size(), nil
}

func noBackup(into string, err error) error {
	e := &gateway.Error{
		Code: gateway.CodeInvalid, Err: err,
		Message: "%s cannot be written; choose a folder that exists, has space and can be written", Values: []any{into},
	}
	if primaryCode(err) != 0 {
		return errors.Join(e, explain("write the backup", err))
	}
	return e
}

// isBeside reports whether a file is in the database's folder.
func isBeside(path, file string) bool {
	own, errOwn := os.Stat(filepath.Dir(path))
	other, errOther := os.Stat(filepath.Dir(file))
	return errOwn == nil && errOther == nil && os.SameFile(own, other)
}

// isBackup reports whether a file beside the database may become a backup: it does not
// exist, is empty, or is a database. The other files are the configuration and the
// tokens.
func isBackup(file string) bool {
	f, err := os.Open(file)
	if err != nil {
		return errors.Is(err, fs.ErrNotExist)
	}
	defer func() { _ = f.Close() }()
	const magic = "SQLite format 3\x00"
	begin, err := io.ReadAll(io.LimitReader(f, int64(len(magic))))
	return err == nil && (len(begin) == 0 || string(begin) == magic)
}

// isDatabase reports whether a file is one of the database's own files.
func isDatabase(path, file string) bool {
	folder, err := filepath.EvalSymlinks(filepath.Dir(file))
	if err != nil {
		return false // the later write will report the error
	}
	own, err := filepath.EvalSymlinks(path)
	if err != nil {
		return false
	}
	file = filepath.Join(folder, filepath.Base(file))
	for _, part := range []string{"", "-wal", "-shm", "-journal"} {
		if strings.EqualFold(file, own+part) {
			return true
		}
	}
	a, errA := os.Stat(file)
	b, errB := os.Stat(own)
	return errA == nil && errB == nil && os.SameFile(a, b)
}

// backupPace is the interval between two looks at the size of the copy.
const backupPace = 100 * time.Millisecond

// copyInto copies a database within one read transaction, which does not block writers.
func copyInto(ctx context.Context, path, into string, progress func(done, total int64)) error {
	db, err := connect(path, patience, func(v url.Values) { v.Set("mode", "ro") })
	if err != nil {
		return explain("open the database", err)
	}
	defer func() { _ = db.Close() }()
	var pages, size int64
	if err := db.QueryRowContext(ctx, "SELECT page_count, page_size FROM pragma_page_count, pragma_page_size").Scan(&pages, &size); err != nil {
		return explainBackup(ctx, "read the database", err)
	}
	done := make(chan error, 1)
	go func() {
		_, err := db.ExecContext(ctx, "VACUUM INTO ?", into)
		done <- err
	}()
	ticker := time.NewTicker(backupPace)
	defer ticker.Stop()
	for {
		select {
		case err := <-done:
			if err != nil {
				return explainBackup(ctx, "copy the database", err)
			}
			return nil
		case <-ticker.C:
			if info, err := os.Stat(into); err == nil && progress != nil {
				progress(min(info.Size(), pages*size), pages*size)
			}
		}
	}
}

func explainBackup(ctx context.Context, what string, err error) error {
	if ctx.Err() != nil {
		e := *gateway.AsError(ctx.Err())
		e.Err = err
		return &e
	}
	return explain(what, err)
}

// check reads and verifies a whole copy.
func check(ctx context.Context, path string) error {
	db, err := connect(path, patience, func(v url.Values) {
		v.Set("mode", "ro")
		v.Set("immutable", "1") // no other process has it open, and no file may be left beside it
	})
	if err != nil {
		return explain("open the copy", err)
	}
	defer func() { _ = db.Close() }()
	var verdict string
	if err := db.QueryRowContext(ctx, "PRAGMA integrity_check(1)").Scan(&verdict); err != nil {
		return explainBackup(ctx, "check the copy", err)
	}
	var orphan any
	err = db.QueryRowContext(ctx, "SELECT 1 FROM pragma_foreign_key_check LIMIT 1").Scan(&orphan)
	if verdict == "ok" && errors.Is(err, sql.ErrNoRows) {
		return nil
	}
	if err != nil && !errors.Is(err, sql.ErrNoRows) {
		return explainBackup(ctx, "check the copy", err)
	}
	return gateway.Errorf(gateway.CodeUnavailable,
		"the copy is damaged, and was not kept: %s. Check the disk, and the database with `genkan doctor`", verdict)
}

// keep renames a copy after it is synced to disk.
func keep(temp, into string) error {
	for _, path := range []string{temp, filepath.Dir(into)} {
		if path != temp {
			if err := os.Rename(temp, into); err != nil {
				return err
			}
		}
		f, err := os.OpenFile(path, os.O_RDONLY, 0)
		if err != nil {
			return err
		}
		err = f.Sync()
		if path != temp {
			err = nil // not every system can sync folders
		}
		if err = errors.Join(err, f.Close()); err != nil {
			return err
		}
	}
	return nil
}
