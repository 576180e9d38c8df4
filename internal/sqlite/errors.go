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

// explain converts err to a gateway.Error. It takes into account that the call may have
// been canceled or the store closed.
func (s *Store) explain(ctx context.Context, what string, err error) error {
	var e *gateway.Error
	switch {
	case errors.As(err, &e):
		return err
	case ctx.Err() != nil:
		// The cancellation is the reason for any error of SQLite here, which is mostly
		// "interrupted".
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

// explain converts err to a gateway.Error that says what to do about it. What names the
// operation for the log, next to the cause.
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

// primaryCode returns SQLite's result code for err, or 0 if it is unknown. It also
// covers errors of the file system from before SQLite was called.
func primaryCode(err error) int {
	var failure *driver.Error
	switch {
	case errors.As(err, &failure):
		if failure.Code() == codes.SQLITE_IOERR_SHMSIZE {
			// The first process that opens the database creates the index of the log. SQLite
			// returns this code if there is no space for it.
			return codes.SQLITE_FULL
		}
		return failure.Code() & 0xff // the other bits are details
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

// isHalfMade reports whether a process was killed while it created the database, before
// it switched to WAL mode. The unfinished work must be rolled back, and a read-only
// connection cannot do that.
func isHalfMade(err error) bool {
	var failure *driver.Error
	return errors.As(err, &failure) && failure.Code() == codes.SQLITE_READONLY_ROLLBACK
}
