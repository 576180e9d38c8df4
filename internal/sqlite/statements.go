package sqlite

import (
	"context"
	"database/sql"
	"sync"
)

// statements holds the prepared statements of a pool, because parsing and planning costs
// more than running most of them. A *sql.Stmt works on any free connection. Only texts
// from a small fixed set belong here.
type statements struct {
	db *sql.DB
	mu sync.RWMutex
	by map[string]*sql.Stmt
}

func newStatements(db *sql.DB) *statements {
	return &statements{db: db, by: map[string]*sql.Stmt{}}
}

// prepare returns the prepared statement of a text. It prepares it on first use.
func (s *statements) prepare(ctx context.Context, text string) (*sql.Stmt, error) {
	s.mu.RLock()
	stmt := s.by[text]
	s.mu.RUnlock()
	if stmt != nil {
		return stmt, nil
	}
	stmt, err := s.db.PrepareContext(ctx, text)
	if err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if other := s.by[text]; other != nil {
		return other, stmt.Close() //nolint:sqlclosecheck // another goroutine was faster, and its statement is used
	}
	s.by[text] = stmt
	return stmt, nil
}

// find is prepare for callers that must not close the statement.
func (s *statements) find(ctx context.Context, text string) (statement, error) {
	return s.prepare(ctx, text)
}
