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

// migrations holds the files whose sum is the schema, applied in order. A released file
// never changes; a change of the schema is a new file. There are no down migrations: an
// older genkan refuses a newer database, and a backup is the way back.
//
//go:embed migrations/*.sql
var migrations embed.FS

const (
	versionTable = "schema_version"
	// migrationPatience is how long a process waits while another one migrates.
	migrationPatience = time.Minute
)

// schema describes the state of the database before it is used.
type schema struct {
	version int64 // of the last migration; 0 if there was none
	wal     bool
	foreign bool // has tables, but none of genkan's
}

// ensureSchema brings the database up to date. Usually it is up to date already; then
// this takes a few reads and does not involve the migration tool, because every start
// waits for it.
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
		// The connection of the migration can repair it.
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

// migrate applies migrations while no other process does.
func (s *Store) migrate(ctx context.Context, target int64) error {
	// goose does not retry when another process is writing, so SQLite does the waiting here.
	db, err := connect(s.path, s.patience, writerDSN)
	if err != nil {
		return explain("open the database", err)
	}
	defer func() { _ = db.Close() }()
	db.SetMaxOpenConns(1)
	// Another process may have migrated while this one waited.
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
	// The mode is read after another read, because a connection notices a mode that another
	// one changed only by reading.
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

// latestMigration returns the version to which this genkan migrates a database.
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

// lockMigration keeps other processes from migrating until unlock is called or this
// process dies.
//
// goose decides what to apply before it begins a transaction, so two processes could
// apply the same file twice. The lock is an exclusive transaction on an empty database
// beside the store's: a lock that works wherever SQLite does. It cannot be taken on the
// database itself, which the migration must be able to write.
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
		// This does not use ctx, whose end would release the lock in the middle of a migration.
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
