package sqlite

import (
	"context"
	"database/sql"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"time"

	"github.com/pressly/goose/v3"

	"genkan/internal/gateway"
)

// The schema is the sum of the files in migrations, applied in order. A file
// that was released never changes; a change to the schema is a new file. There
// is no way back down: an older genkan refuses a newer database, and a backup
// is the way back.
//
//go:embed migrations/*.sql
var migrations embed.FS

const (
	versionTable = "schema_version"
	// migrationPatience is how long one process waits while another one
	// migrates.
	migrationPatience = time.Minute
)

// schema is what is known about the database before it is used.
type schema struct {
	version int64 // of the last migration; 0 when there was none
	wal     bool
	foreign bool // has tables, and none of ours
}

// ensureSchema brings the database up to date. The usual case, that it is
// already, takes a few reads and does not involve the migration tool, since
// every start waits for it.
func (s *Store) ensureSchema(ctx context.Context) error {
	target, err := latestMigration()
	if err != nil {
		return explain("read the migrations", err)
	}
	var now schema
	err = s.read(ctx, "read the schema version", func(db *sql.DB) (err error) {
		now, err = readSchema(ctx, db)
		return err
	})
	switch {
	case isHalfMade(err):
		// Whoever migrates has a connection that can put it right.
	case err != nil:
		return err
	default:
		if done, err := now.upToDate(target); done || err != nil {
			return err
		}
	}

	if err := s.checkWritable(); err != nil {
		return err
	}
	unlock, err := s.lockMigration(ctx)
	if err != nil {
		return s.explain(ctx, "wait for another process to migrate the database", err)
	}
	defer unlock()
	return s.migrate(ctx, target)
}

// migrate runs while no other process migrates.
func (s *Store) migrate(ctx context.Context, target int64) error {
	// goose does not try again when another process is writing, so SQLite does
	// the waiting here.
	db, err := connect(s.path, s.patience, writerDSN)
	if err != nil {
		return explain("open the database", err)
	}
	defer func() { _ = db.Close() }()
	db.SetMaxOpenConns(1)
	// Another process may have done everything while this one waited.
	now, err := readSchema(ctx, db)
	if err != nil {
		return s.explain(ctx, "read the schema version", err)
	}
	if done, err := now.upToDate(target); done || err != nil {
		return err
	}
	if now.foreign {
		return gateway.Errorf(gateway.CodeInvalid,
			"the database belongs to another program: move it away, or use another data directory")
	}
	if !now.wal {
		err := retry(ctx, s.patience, func() error { // SQLite does not wait for this
			_, err := db.ExecContext(ctx, "PRAGMA journal_mode = WAL")
			return err
		})
		if err != nil {
			return s.explain(ctx, "switch the database to WAL mode", err)
		}
	}
	files, err := fs.Sub(migrations, "migrations")
	if err != nil {
		return explain("read the migrations", err)
	}
	provider, err := goose.NewProvider(goose.DialectSQLite3, db, files,
		goose.WithTableName(versionTable), goose.WithDisableGlobalRegistry(true))
	if err != nil {
		return explain("read the migrations", err)
	}
	applied, err := provider.Up(ctx)
	if err != nil {
		return s.explain(ctx, "migrate the database", err)
	}
	if len(applied) > 0 {
		s.log.InfoContext(ctx, "database migrated", slog.Int64("from", now.version), slog.Int64("to", target))
	}
	return nil
}

func (c schema) upToDate(target int64) (bool, error) {
	if c.version > target {
		return false, gateway.Errorf(gateway.CodeUnavailable,
			"the database was written by a newer genkan (its schema is %d, this genkan knows %d): "+
				"update genkan, or use another data directory", c.version, target)
	}
	return c.version == target && c.wal, nil
}

func readSchema(ctx context.Context, db *sql.DB) (schema, error) {
	var c schema
	var versions, others int
	err := db.QueryRowContext(ctx, `
		SELECT count(*) FILTER (WHERE name = ?1), count(*) FILTER (WHERE name <> ?1)
		FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite\_%' ESCAPE '\'`, versionTable).
		Scan(&versions, &others)
	if err != nil {
		return c, err
	}
	// Asked after a read: a connection learns only by reading that another one
	// changed the mode.
	var mode string
	if err := db.QueryRowContext(ctx, "PRAGMA journal_mode").Scan(&mode); err != nil {
		return c, err
	}
	c.wal = mode == "wal"
	if versions == 0 {
		c.foreign = others > 0
		return c, nil
	}
	err = db.QueryRowContext(ctx, "SELECT coalesce(max(version_id), 0) FROM "+versionTable).Scan(&c.version)
	return c, err
}

// latestMigration is the version that this genkan brings a database to.
func latestMigration() (int64, error) {
	entries, err := fs.ReadDir(migrations, "migrations")
	if err != nil {
		return 0, err
	}
	if len(entries) == 0 {
		return 0, errors.New("there are none")
	}
	// ReadDir sorts by name, and the names begin with numbers of equal length.
	return goose.NumericComponent(entries[len(entries)-1].Name())
}

// lockMigration keeps other processes from migrating until unlock is called,
// or this process dies.
//
// goose decides what to apply before it begins a transaction, so two of them
// could apply the same file twice. The lock is an exclusive transaction on an
// empty database beside ours: a lock that works wherever SQLite does. It
// cannot be taken on the database itself, which must be free to be written.
func (s *Store) lockMigration(ctx context.Context) (unlock func(), err error) {
	path := s.path + "-migrate"
	if err := createPrivate(path); err != nil {
		return nil, err
	}
	db, err := connect(path, busyTimeout, lockDSN)
	if err != nil {
		return nil, err
	}
	var tx *sql.Tx
	err = retry(ctx, migrationPatience, func() (err error) {
		// Not with ctx, whose end would let the lock go in the middle of a migration.
		tx, err = db.BeginTx(context.WithoutCancel(ctx), nil)
		return err
	})
	if err != nil {
		return nil, errors.Join(fmt.Errorf("lock %s: %w", path, err), db.Close())
	}
	return func() {
		_ = tx.Rollback()
		_ = db.Close()
	}, nil
}
