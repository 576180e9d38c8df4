package sqlite

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"runtime"
	"syscall"
	"time"

	"genkan/internal/gateway"
)

// ErrGone reports that the store's open file is no longer at its path: it was removed,
// moved or replaced, perhaps with its directory.
var ErrGone = errors.New("the database file is not at its path any more")

// ownerWrites is the permission bit without which a database is read-only on
// purpose. It is checked explicitly, because root may write regardless.
const ownerWrites = 0o200

// prepareFile creates the directory and an empty file that only its owner can read, so
// that SQLite never creates one that others can read. The files beside it (-wal, -shm)
// inherit its permissions.
func (s *Store) prepareFile() error {
	if err := CheckNotLost(s.path); err != nil {
		return err
	}
	info, err := os.Stat(s.path)
	if errors.Is(err, fs.ErrNotExist) {
		if err := os.MkdirAll(filepath.Dir(s.path), 0o700); err != nil {
			return err
		}
		if err := createPrivate(s.path); err != nil {
			return err
		}
		info, err = os.Stat(s.path)
	}
	if err != nil {
		return err
	}
	if !info.Mode().IsRegular() {
		return gateway.Errorf(gateway.CodeInvalid, "the database is not a regular file: use another data directory")
	}
	s.file = info
	if err := s.openLogs(info.Mode()); err != nil {
		return err
	}
	if mode := info.Mode().Perm(); runtime.GOOS != "windows" && mode&0o077 != 0 {
		if mode&ownerWrites == 0 {
			s.log.Warn("the database can be read by other users; it is read-only, so its mode stays as it is", slog.String("mode", mode.String()))
			return nil
		}
		s.log.Warn("the database could be read by other users and is now closed to them", slog.String("mode", mode.String()))
		return os.Chmod(s.path, 0o600)
	}
	return nil
}

// openLogs makes the files beside a writable database writable. SQLite creates them
// with the permissions of the database, which may have been read-only at that time.
func (s *Store) openLogs(mode fs.FileMode) error {
	if mode&ownerWrites == 0 {
		return nil
	}
	for _, path := range []string{s.path + "-wal", s.path + "-shm"} {
		info, err := os.Lstat(path)
		if err == nil && info.Mode().IsRegular() && info.Mode()&ownerWrites == 0 {
			if err := os.Chmod(path, 0o600); err != nil {
				return err
			}
		}
	}
	return nil
}

// Check reports whether the store's open file is still the one at its path. The error
// wraps ErrGone.
func (s *Store) Check() error {
	_, err := s.checkFile()
	return err
}

// goneInterval is how often WaitGone checks the path. Writes check it themselves.
const goneInterval = 500 * time.Millisecond

// WaitGone returns the error of Check as soon as the file is no longer at its path, or
// nil when ctx ends first.
func (s *Store) WaitGone(ctx context.Context) error {
	ticks := time.NewTicker(goneInterval)
	defer ticks.Stop()
	for {
		select {
		case <-ticks.C:
		case <-ctx.Done():
			return nil
		}
		if err := s.Check(); errors.Is(err, ErrGone) {
			return err
		}
	}
}

// checkFile is Check and also returns the mode of the file, 0 if it is unknown. It costs
// one stat.
func (s *Store) checkFile() (fs.FileMode, error) {
	info, err := os.Stat(s.path) //nolint:gosec // the path is genkan's own
	switch {
	case err == nil && os.SameFile(info, s.file):
		return info.Mode(), nil
	case err == nil, errors.Is(err, fs.ErrNotExist), errors.Is(err, syscall.ENOTDIR):
		return 0, &gateway.Error{
			Code: gateway.CodeUnavailable, Err: errors.Join(fmt.Errorf("%s: %w", s.path, ErrGone), err),
			Message: "the database was removed, moved or replaced while genkan was running, and nothing was saved: genkan stops; " +
				"put the data directory back, and start genkan again",
		}
	default:
		return 0, nil // SQLite reports the error
	}
}

// checkWritable refuses a write to a file that is gone or deliberately read-only.
func (s *Store) checkWritable() error {
	mode, err := s.checkFile()
	if err == nil && mode != 0 && mode&ownerWrites == 0 {
		err = &gateway.Error{
			Code: gateway.CodeDenied, Err: gateway.ErrReadOnly,
			Message: "the database is read-only, and nothing was saved: to let genkan write, run `chmod u+w genkan.db` in the data directory, and start genkan again",
		}
	}
	return err
}

// MadeFile returns the path of the file that records that a database was created. Its
// name does not begin with the database's name, because files with that prefix are
// moved away together.
func MadeFile(path string) string {
	return filepath.Join(filepath.Dir(path), "made-"+filepath.Base(path))
}

// CheckNotLost refuses a path whose database was created before and is missing or empty
// now. A new database in its place would hide the loss.
func CheckNotLost(path string) error {
	// The mark is checked first: another process may be creating both, and creates the
	// database first.
	if !isFilled(MadeFile(path)) && !isFilled(path+"-wal") || isFilled(path) {
		return nil
	}
	return gateway.Errorf(gateway.CodeInvalid,
		"the database %s is missing or empty, but there was one: genkan does not begin a new one by itself. "+
			"To restore a backup, run `rm -f \"%s\" \"%s\"; cp BACKUP \"%s\"`. "+
			"To begin anew and give up what it held, run `rm -f \"%s\" \"%s\" \"%s\" \"%s\"`",
		path, path+"-wal", path+"-shm", path, MadeFile(path), path, path+"-wal", path+"-shm")
}

// isFilled reports whether a file exists and is not empty. A file that cannot be
// examined counts as filled, because opening it reports the error.
func isFilled(path string) bool {
	info, err := os.Stat(path)
	if err != nil {
		return !errors.Is(err, fs.ErrNotExist)
	}
	return info.Size() > 0
}

// markMade writes the file that records that the database was created. It skips a
// directory that is not writable.
func (s *Store) markMade() {
	path := MadeFile(s.path)
	if isFilled(path) {
		return
	}
	text := fmt.Sprintf("%s was made here. While this file is here, genkan refuses to start without it.\n", filepath.Base(s.path))
	temp, err := os.CreateTemp(filepath.Dir(path), ".new-*") // O_EXCL, 0600
	if err == nil {
		_, err = temp.WriteString(text)
		if err = errors.Join(err, temp.Close()); err == nil {
			err = os.Rename(temp.Name(), path)
		}
		if err != nil {
			_ = os.Remove(temp.Name())
		}
	}
	if err != nil {
		s.log.Debug("that the database was made could not be written down", slog.Any("error", err))
	}
}

// createPrivate creates an empty file at path unless one exists.
//
// The file is created under another name and closed before it appears at path.
// Closing any descriptor of a file drops every POSIX lock that the process has on it,
// and SQLite in this process may have locked it already.
func createPrivate(path string) error {
	temp, err := os.CreateTemp(filepath.Dir(path), ".new-*") // O_EXCL, 0600
	if err != nil {
		return err
	}
	defer func() { _ = os.Remove(temp.Name()) }()
	if err := temp.Close(); err != nil {
		return err
	}
	err = os.Link(temp.Name(), path)
	if err == nil || errors.Is(err, fs.ErrExist) {
		return nil
	}
	// Some file systems (FAT, some network shares) have no hard links.
	direct, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if errors.Is(err, fs.ErrExist) {
		return nil
	}
	if err != nil {
		return err
	}
	return direct.Close()
}
