package sqlite

import (
	"context"
	"database/sql"
	"sync"
)

// statements are those of a pool that are kept prepared: parsing and planning
// one costs more than running most of them. A *sql.Stmt finds its way to
// whichever connection is free. Only texts from a small fixed set belong here.
type statements struct {
	db *sql.DB
	mu sync.RWMutex
	by map[string]*sql.Stmt
}

func newStatements(db *sql.DB) *statements {
	return &statements{db: db, by: map[string]*sql.Stmt{}}
}

// prepare is the kept statement of a text.
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
		return other, stmt.Close() //nolint:sqlclosecheck // another was faster, and theirs is kept
	}
	s.by[text] = stmt
	return stmt, nil
}

// find is prepare for whoever only uses the statement.
func (s *statements) find(ctx context.Context, text string) (statement, error) {
	return s.prepare(ctx, text)
}
