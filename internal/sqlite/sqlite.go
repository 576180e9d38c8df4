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
)

var (
	_ catalog.OverrideStore = (*Store)(nil)
	_ config.ServerStore    = (*Store)(nil)
	_ embed.Store           = (*Store)(nil)
	_ identity.Store        = (*Store)(nil)
	_ learn.Store           = (*Store)(nil)
	_ upstream.ListStore    = (*Store)(nil)
)

const (
	// patience is how long a read or write waits for other processes.
	patience = 5 * time.Second
	// busyTimeout is how long SQLite itself waits for a lock: not long, for two
	// reasons. It is deaf to a context meanwhile, and it soon looks only ten
	// times a second, which under steady writing by another process means to
	// wait forever. So the long wait is made of short ones.
	busyTimeout = 10 * time.Millisecond
	// retryPause is the longest pause between two of these.
	retryPause = 5 * time.Millisecond

	// A small cache: the tables are small, and lists are read once.
	cacheKiB = 2000
	// maxReaders and idleReaders bound what the read pool costs; a connection
	// is opened when the first query needs it.
	maxReaders  = 4
	idleReaders = 4
	// maxIdle gives an idle process back the memory of its connections.
	maxIdle = time.Minute
	// walLimit is what is left of the write-ahead log file after a checkpoint.
	walLimit = 4 << 20
)

// Store is an open database. It is safe for concurrent use.
type Store struct {
	path string
	// file identifies the file that is open.
	file     fs.FileInfo
	log      *slog.Logger
	patience time.Duration
	// SQLite has one writer at a time. Having one connection for it makes the
	// goroutines of this process queue in Go, where waiting is cheap and can
	// be canceled, instead of polling for a lock.
	writer *sql.DB
	reader *sql.DB
	closed atomic.Bool

	knowledge *Knowledge
	// through is OpenThrough's.
	through func(Connection) sqldriver.Connector
}

// Open opens the database at path, which it creates or brings up to date as
// needed. Other processes may do the same at the same time.
func Open(ctx context.Context, path string, logger *slog.Logger) (*Store, error) {
	return open(ctx, path, logger, patience)
}

// Connection is how a store connects to its database.
type Connection struct {
	// Writer tells the one for writes from those for reads.
	Writer bool
	// DSN has the settings, as parameters of a URL.
	DSN string
	sqldriver.Connector
}

// OpenThrough is Open for whoever measures: the store's connections are made by
// what through returns, so that what SQLite is asked can be written down and be
// asked through another driver.
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

// Close moves what the write-ahead log holds into the database and closes it.
func (s *Store) Close() error {
	if s.closed.Swap(true) {
		return nil
	}
	// The writer goes last: the last connection to close removes the log.
	err := s.reader.Close()
	if s.writer.Stats().OpenConnections > 0 {
		// Other processes may be reading; then this does what it can.
		_, checkpoint := s.writer.ExecContext(context.Background(), "PRAGMA wal_checkpoint(PASSIVE)")
		err = errors.Join(err, checkpoint)
	}
	if err = errors.Join(err, s.writer.Close()); err != nil {
		return explain("close the database", err)
	}
	return nil
}

// ChangeSequence grows with every committed change, whoever made it.
func (s *Store) ChangeSequence(ctx context.Context) (int64, error) {
	var value int64
	err := s.read(ctx, "read the change sequence", func(db *sql.DB) error {
		return db.QueryRowContext(ctx, "SELECT value FROM change_sequence").Scan(&value)
	})
	return value, err
}

// write runs change in a transaction and moves the change sequence with it.
// Every write that a cache could care about goes through here, so that none
// can be missed.
func (s *Store) write(ctx context.Context, what string, change func(*sql.Tx) error) error {
	return s.transact(ctx, what, func(tx *sql.Tx) error {
		if err := change(tx); err != nil {
			return err
		}
		_, err := tx.ExecContext(ctx, "UPDATE change_sequence SET value = value + 1")
		return err
	})
}

// transact runs change in a transaction. What change returns ends it without
// effect.
func (s *Store) transact(ctx context.Context, what string, change func(*sql.Tx) error) error {
	if err := s.checkWritable(); err != nil {
		return err
	}
	var tx *sql.Tx
	err := retry(ctx, s.patience, func() (err error) {
		tx, err = s.writer.BeginTx(ctx, nil) // BEGIN IMMEDIATE: has the lock or fails
		return err
	})
	if err != nil {
		return s.explain(ctx, what, err)
	}
	defer func() { _ = tx.Rollback() }() // after Commit it does nothing
	if err := change(tx); err != nil {
		return s.explain(ctx, what, err)
	}
	if err := tx.Commit(); err != nil {
		return s.explain(ctx, what, err)
	}
	// What was written into a file that nobody can find is not saved.
	return s.Check()
}

// read runs a query on the read-only connections.
func (s *Store) read(ctx context.Context, what string, query func(*sql.DB) error) error {
	if err := retry(ctx, s.patience, func() error { return query(s.reader) }); err != nil {
		return s.explain(ctx, what, err)
	}
	return nil
}

// retry repeats do while another process holds a lock that it needs, within
// reason.
func retry(ctx context.Context, patience time.Duration, do func() error) error {
	deadline := time.Now().Add(patience)
	for {
		err := do()
		if !isBusy(err) || time.Now().After(deadline) {
			return err
		}
		// A random pause, or processes in step would meet again and again.
		pause := rand.N(retryPause) //nolint:gosec // nothing secret about it
		select {
		case <-ctx.Done():
			return err
		case <-time.After(pause):
		}
	}
}

// connect prepares one of the store's own pools.
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

// connect prepares a pool of connections; none is opened yet.
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
	// What the file says runs without the trust that our own SQL has.
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

// writerDSN does not set the journal mode: changing it needs the whole
// database, which is ensureSchema's business.
func writerDSN(v url.Values) {
	v.Set("mode", "rw")
	v.Set("_txlock", "immediate")
	// FULL, because a write that was acknowledged must survive a power cut;
	// NORMAL would only keep the file consistent.
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

// lockDSN is for the file whose only purpose is to be locked.
func lockDSN(v url.Values) {
	v.Set("mode", "rw")
	v.Set("_txlock", "exclusive")
}
