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

// Backup writes a copy of the database at path into another file: all that was
// committed when it began, what is still in the write-ahead log among it, whichever
// processes write meanwhile. The copy is checked before it gets its name, is for its
// owner alone, and stands in for the database as it is. A file that is there is
// replaced only if that is wanted. Progress is told in bytes, about.
func Backup(ctx context.Context, path, into string, replace bool, progress func(done, total int64)) (size int64, err error) {
	for _, name := range []*string{&path, &into} { // as addresses, they must be whole
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
	// SQLite writes into an empty file, and leaves its permissions (0600) alone.
	temp, err := os.CreateTemp(filepath.Dir(into), ".backup-*")
	if err != nil {
		return 0, noBackup(into, err)
	}
	defer func() { _ = os.Remove(temp.Name()) }() // when it has its name, there is none
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

// isBackup reports whether a file beside the database may become a backup: it is not
// there, is empty, or is a database. The others are the configuration and the tokens.
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

// isDatabase reports whether a file is a part of the database.
func isDatabase(path, file string) bool {
	folder, err := filepath.EvalSymlinks(filepath.Dir(file))
	if err != nil {
		return false // which writing will tell
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

// backupPace is how often the copy's size is looked at.
const backupPace = 100 * time.Millisecond

// copyInto copies a database within one read transaction, which keeps nobody from
// writing.
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

// check reads all of a copy.
func check(ctx context.Context, path string) error {
	db, err := connect(path, patience, func(v url.Values) {
		v.Set("mode", "ro")
		v.Set("immutable", "1") // nobody else has it, and no file may be left beside it
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

// keep gives a copy its name once it is on the disk.
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
			err = nil // not every system syncs folders
		}
		if err = errors.Join(err, f.Close()); err != nil {
			return err
		}
	}
	return nil
}
