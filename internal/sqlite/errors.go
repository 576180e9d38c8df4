package sqlite

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"syscall"
	"time"

	driver "modernc.org/sqlite"
	codes "modernc.org/sqlite/lib"

	"genkan/internal/gateway"
)

// explain turns err into a gateway.Error, knowing that the call may have been
// canceled or the store closed.
func (s *Store) explain(ctx context.Context, what string, err error) error {
	var e *gateway.Error
	switch {
	case errors.As(err, &e):
		return err
	case ctx.Err() != nil:
		// Whatever SQLite says then (interrupted, most of the time), this is why.
		e := *gateway.AsError(ctx.Err())
		e.Err = fmt.Errorf("%s: %w: %w", what, ctx.Err(), err)
		return &e
	case s.closed.Load():
		return &gateway.Error{
			Code: gateway.CodeUnavailable, Message: "genkan is closing its database",
			Err: fmt.Errorf("%s: %w", what, err),
		}
	}
	return explain(what, err)
}

// explain turns err into a gateway.Error that says what to do about it. What
// was being done is for the log, with the cause.
func explain(what string, err error) error {
	var e *gateway.Error
	if errors.As(err, &e) {
		return err
	}
	e = &gateway.Error{Code: gateway.CodeUnavailable, Err: fmt.Errorf("%s: %w", what, err)}
	switch primaryCode(err) {
	case codes.SQLITE_FULL:
		e.Err = fmt.Errorf("%w: %w", gateway.ErrNoSpace, e.Err)
		e.Message = "the disk is full, and nothing was saved: free some space, and genkan goes on by itself"
	case codes.SQLITE_READONLY, codes.SQLITE_CANTOPEN, codes.SQLITE_PERM, codes.SQLITE_AUTH:
		e.Message = "the data directory cannot be written: make it and the files in it writable for the user " +
			"that runs genkan, or use another data directory"
	case codes.SQLITE_BUSY, codes.SQLITE_LOCKED, codes.SQLITE_PROTOCOL:
		e.Message = "the database is locked by another program: try again, and if it lasts, end the program that holds it open"
		e.RetryAfter = time.Second
	case codes.SQLITE_CORRUPT, codes.SQLITE_NOTADB:
		e.Message = "the database is damaged: stop genkan, restore the file from a backup or move it away, and start again"
	case codes.SQLITE_IOERR:
		e.Message = "the disk failed to read or write the database: check that it is healthy and has free space, and see genkan's log"
	default:
		e.Code = gateway.CodeInternal
		e.Message = "the database failed in a way that genkan does not know; its log has the details"
	}
	return e
}

// primaryCode is SQLite's result code for err, also when the file system
// refused before SQLite could; 0 if unknown.
func primaryCode(err error) int {
	var failure *driver.Error
	switch {
	case errors.As(err, &failure):
		if failure.Code() == codes.SQLITE_IOERR_SHMSIZE {
			// The log's index is made when the first process opens the database, and
			// this is SQLite's word for that there is no space for it.
			return codes.SQLITE_FULL
		}
		return failure.Code() & 0xff // the rest are details
	case errors.Is(err, errDamaged):
		return codes.SQLITE_CORRUPT
	case errors.Is(err, syscall.ENOSPC):
		return codes.SQLITE_FULL
	case errors.Is(err, fs.ErrPermission), errors.Is(err, syscall.EROFS), errors.Is(err, syscall.ENOTDIR):
		return codes.SQLITE_READONLY
	}
	return 0
}

func isBusy(err error) bool {
	if err == nil {
		return false
	}
	code := primaryCode(err)
	return code == codes.SQLITE_BUSY || code == codes.SQLITE_LOCKED
}

// isHalfMade reports whether a process was killed while it made the database,
// before that was in WAL mode: what it has begun must be rolled back, which a
// read-only connection cannot do.
func isHalfMade(err error) bool {
	var failure *driver.Error
	return errors.As(err, &failure) && failure.Code() == codes.SQLITE_READONLY_ROLLBACK
}
