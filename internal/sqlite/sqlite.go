package sqlite

import (
	"context"
	"database/sql"
	sqldriver "database/sql/driver"
	"errors"
	"io/fs"
	"log/slog"
	"math/rand/v2"
	"net/url"
	"path/filepath"
	"runtime"
	"strconv"
	"sync/atomic"
	"time"

	driver "modernc.org/sqlite"

	"genkan/internal/catalog"
	"genkan/internal/config"
	"genkan/internal/embed"
	"genkan/internal/identity"
	"genkan/internal/learn"
	"genkan/internal/upstream"
	"genkan/internal/workflow"
)

var (
	_ catalog.OverrideStore = (*Store)(nil)
	_ config.ServerStore    = (*Store)(nil)
	_ embed.Store           = (*Store)(nil)
	_ identity.Store        = (*Store)(nil)
	_ learn.Store           = (*Store)(nil)
	_ upstream.ListStore    = (*Store)(nil)
	_ workflow.Store        = (*Store)(nil)
)

const (
	// patience is how long a read or write waits for other processes.
	patience = 5 * time.Second
	// busyTimeout is how long SQLite itself waits for a lock. It is short for two reasons.
	// SQLite ignores the context while it waits, and it soon polls only ten times a second,
	// which can mean to wait forever while another process writes steadily. So the long wait
	// is made of short ones.
	busyTimeout = 10 * time.Millisecond
	// retryPause is the longest pause between two short waits.
	retryPause = 5 * time.Millisecond

	// cacheKiB is small, because the tables are small and lists are read once.
	cacheKiB = 2000
	// maxReaders and idleReaders limit the cost of the read pool. A connection is opened
	// when a query first needs it.
	maxReaders  = 4
	idleReaders = 4
	// maxIdle is the time after which idle connections are closed to free their memory.
	maxIdle = time.Minute
	// walLimit is the size to which a checkpoint truncates the write-ahead log.
	walLimit = 4 << 20
)

// Store is an open database. It is safe for concurrent use.
type Store struct {
	path string
	// file identifies the open file.
	file     fs.FileInfo
	log      *slog.Logger
	patience time.Duration
	// SQLite has one writer at a time. With one connection for writing, the goroutines of
	// this process queue in Go, where waiting is cheap and can be canceled, instead of
	// polling for a lock.
	writer *sql.DB
	reader *sql.DB
	closed atomic.Bool

	knowledge *Knowledge
	// through is the argument of OpenThrough.
	through func(Connection) sqldriver.Connector
}

// Open opens the database at path. It creates the database or brings its schema up to
// date if needed. Other processes may do the same at the same time.
func Open(ctx context.Context, path string, logger *slog.Logger) (*Store, error) {
	return open(ctx, path, logger, patience)
}

// Connection describes a connection of a store to its database.
type Connection struct {
	// Writer is set for the connection for writing.
	Writer bool
	// DSN holds the settings as URL parameters.
	DSN string
	sqldriver.Connector
}

// OpenThrough is Open for measurements. The store connects through the connectors that
// through returns, which can record the statements or use another driver.
func OpenThrough(ctx context.Context, path string, logger *slog.Logger, through func(Connection) sqldriver.Connector) (*Store, error) {
	return openThrough(ctx, path, logger, patience, through)
}

func open(ctx context.Context, path string, logger *slog.Logger, patience time.Duration) (*Store, error) {
	return openThrough(ctx, path, logger, patience, nil)
}

func openThrough(ctx context.Context, path string, logger *slog.Logger, patience time.Duration, through func(Connection) sqldriver.Connector) (*Store, error) {
	path, err := filepath.Abs(path)
	if err != nil {
		return nil, explain("find the database", err)
	}
	s := &Store{path: path, log: logger, patience: patience, through: through}
	if err := s.prepareFile(); err != nil {
		return nil, explain("create the database", err)
	}
	if s.writer, err = s.connect(true, writerDSN); err != nil {
		return nil, explain("open the database", err)
	}
	if s.reader, err = s.connect(false, readerDSN); err != nil {
		return nil, explain("open the database", errors.Join(err, s.writer.Close()))
	}
	s.knowledge = newKnowledge(s)
	s.writer.SetMaxOpenConns(1)
	s.reader.SetMaxOpenConns(maxReaders)
	s.reader.SetMaxIdleConns(idleReaders)
	for _, db := range []*sql.DB{s.writer, s.reader} {
		db.SetConnMaxIdleTime(maxIdle)
	}
	if err := s.ensureSchema(ctx); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	s.markMade()
	return s, nil
}

// Close moves the contents of the write-ahead log into the database and closes it.
func (s *Store) Close() error {
	if s.closed.Swap(true) {
		return nil
	}
	// The writer is closed last: the last connection to close removes the log.
	err := s.reader.Close()
	if s.writer.Stats().OpenConnections > 0 {
		// Other processes may be reading; the checkpoint is then partial.
		_, checkpoint := s.writer.ExecContext(context.Background(), "PRAGMA wal_checkpoint(PASSIVE)")
		err = errors.Join(err, checkpoint)
	}
	if err = errors.Join(err, s.writer.Close()); err != nil {
		return explain("close the database", err)
	}
	return nil
}

// ChangeSequence returns a number that grows with every committed change of any process.
func (s *Store) ChangeSequence(ctx context.Context) (int64, error) {
	var value int64
	err := s.read(ctx, "read the change sequence", func(db *sql.DB) error {
		return db.QueryRowContext(ctx, "SELECT value FROM change_sequence").Scan(&value)
	})
	return value, err
}

// write runs change in a transaction and advances the change sequence in it. Every write
// that a cache may depend on uses write, so that caches miss none.
func (s *Store) write(ctx context.Context, what string, change func(*sql.Tx) error) error {
	return s.transact(ctx, what, func(tx *sql.Tx) error {
		if err := change(tx); err != nil {
			return err
		}
		_, err := tx.ExecContext(ctx, "UPDATE change_sequence SET value = value + 1")
		return err
	})
}

// transact runs change in a transaction. An error of change rolls it back.
func (s *Store) transact(ctx context.Context, what string, change func(*sql.Tx) error) error {
	if err := s.checkWritable(); err != nil {
		return err
	}
	var tx *sql.Tx
	err := retry(ctx, s.patience, func() (err error) {
		tx, err = s.writer.BeginTx(ctx, nil) // BEGIN IMMEDIATE takes the lock or fails
		return err
	})
	if err != nil {
		return s.explain(ctx, what, err)
	}
	defer func() { _ = tx.Rollback() }() // has no effect after Commit
	if err := change(tx); err != nil {
		return s.explain(ctx, what, err)
	}
	if err := tx.Commit(); err != nil {
		return s.explain(ctx, what, err)
	}
	// A write into a file that is no longer at its path is not saved.
	return s.Check()
}

// read runs a query on the read-only connections.
func (s *Store) read(ctx context.Context, what string, query func(*sql.DB) error) error {
	if err := retry(ctx, s.patience, func() error { return query(s.reader) }); err != nil {
		return s.explain(ctx, what, err)
	}
	return nil
}

// retry repeats do while another process holds a lock that it needs, for at most
// patience.
func retry(ctx context.Context, patience time.Duration, do func() error) error {
	deadline := time.Now().Add(patience)
	for {
		err := do()
		if !isBusy(err) || time.Now().After(deadline) {
			return err
		}
		// The pause is random; otherwise processes in step would collide again and again.
		pause := rand.N(retryPause) //nolint:gosec // nothing secret about it
		select {
		case <-ctx.Done():
			return err
		case <-time.After(pause):
		}
	}
}

// connect prepares one of the store's pools.
func (s *Store) connect(writer bool, parameters func(url.Values)) (*sql.DB, error) {
	if s.through == nil {
		return connect(s.path, busyTimeout, parameters)
	}
	dsn := dsn(s.path, busyTimeout, parameters)
	connector, err := driver.NewConnector(dsn)
	if err != nil {
		return nil, err
	}
	return sql.OpenDB(s.through(Connection{writer, dsn, connector})), nil
}

// connect prepares a pool of connections. It opens none yet.
func connect(path string, busy time.Duration, parameters func(url.Values)) (*sql.DB, error) {
	connector, err := driver.NewConnector(dsn(path, busy, parameters))
	if err != nil {
		return nil, err
	}
	return sql.OpenDB(connector), nil
}

func dsn(path string, busy time.Duration, parameters func(url.Values)) string {
	v := url.Values{}
	v.Set("_busy_timeout", strconv.FormatInt(busy.Milliseconds(), 10))
	v.Set("_defensive", "1")
	v.Set("_dqs", "0")
	v.Set("_error_rc", "1")
	// SQL from the file's schema runs with less trust than the store's own SQL.
	v.Add("_pragma", "trusted_schema(0)")
	v.Add("_pragma", "mmap_size(0)")
	parameters(v)
	file := filepath.ToSlash(path)
	if runtime.GOOS == "windows" {
		file = "/" + file // file:///C:/...
	}
	u := url.URL{Scheme: "file", Path: file, RawQuery: v.Encode()}
	return u.String()
}

// writerDSN does not set the journal mode: changing it needs exclusive access to the
// database, and ensureSchema does it.
func writerDSN(v url.Values) {
	v.Set("mode", "rw")
	v.Set("_txlock", "immediate")
	// FULL, because an acknowledged write must survive a power cut; NORMAL would only keep
	// the file consistent.
	v.Set("_synchronous", "FULL")
	v.Set("_foreign_keys", "1")
	v.Add("_pragma", "cache_size(-"+strconv.Itoa(cacheKiB)+")")
	v.Add("_pragma", "journal_size_limit("+strconv.Itoa(walLimit)+")")
}

func readerDSN(v url.Values) {
	v.Set("mode", "ro")
	v.Set("_query_only", "1")
	v.Add("_pragma", "cache_size(-"+strconv.Itoa(cacheKiB)+")")
}

// lockDSN is for the file that serves only as a lock.
func lockDSN(v url.Values) {
	v.Set("mode", "rw")
	v.Set("_txlock", "exclusive")
}
