package sqlite

import (
	"cmp"
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"genkan/internal/kb"
)

var _ kb.Store = (*Knowledge)(nil)

// Knowledge is the store's part that the knowledge base is kept in. Reading and
// writing use statements that are kept prepared.
type Knowledge struct {
	store *Store
	reads *statements
	// writes are all prepared before the first write: within one its connection,
	// the only one, is taken.
	writes *statements
	ready  atomic.Bool
	queue  kbQueue

	// statusNames are the names of statuses by their ids.
	statusNames atomic.Pointer[map[int64]string]
	// committed is for tests: how many writes went together.
	committed func(writes int)
}

// Knowledge is where the knowledge base is kept.
func (s *Store) Knowledge() *Knowledge { return s.knowledge }

func newKnowledge(s *Store) *Knowledge {
	return &Knowledge{store: s, reads: newStatements(s.reader), writes: newStatements(s.writer)}
}

// statement is one that somebody else keeps and closes.
type statement interface {
	ExecContext(ctx context.Context, args ...any) (sql.Result, error)
	QueryContext(ctx context.Context, args ...any) (*sql.Rows, error)
	QueryRowContext(ctx context.Context, args ...any) *sql.Row
}

// prepared finds the statement of a text: one of the read pool, or of a write.
type prepared func(ctx context.Context, text string) (statement, error)

// read runs a query on the read-only connections.
func (k *Knowledge) read(ctx context.Context, what string, query func(ctx context.Context, p prepared) error) error {
	return k.store.read(ctx, what, func(*sql.DB) error { return query(ctx, k.reads.find) })
}

// readPoint is read for what takes microseconds. To be able to interrupt it
// would cost as much as the query itself.
func (k *Knowledge) readPoint(ctx context.Context, what string, query func(ctx context.Context, p prepared) error) error {
	if err := ctx.Err(); err != nil {
		return k.store.explain(ctx, what, err)
	}
	return k.read(context.WithoutCancel(ctx), what, query)
}

// each runs a query and passes its rows.
func each(ctx context.Context, p prepared, text string, args []any, row func(scan func(into ...any) error) error) error {
	stmt, err := p(ctx, text)
	if err != nil {
		return err
	}
	rows, err := stmt.QueryContext(ctx, args...)
	if err != nil {
		return err
	}
	defer func() { _ = rows.Close() }()
	for rows.Next() {
		if err := row(rows.Scan); err != nil {
			return err
		}
	}
	return rows.Err()
}

// one runs a query for one row; sql.ErrNoRows if there is none.
func one(ctx context.Context, p prepared, text string, args []any, into ...any) error {
	stmt, err := p(ctx, text)
	if err != nil {
		return err
	}
	return stmt.QueryRowContext(ctx, args...).Scan(into...)
}

// do runs a statement that returns nothing.
func do(ctx context.Context, p prepared, text string, args ...any) error {
	stmt, err := p(ctx, text)
	if err != nil {
		return err
	}
	_, err = stmt.ExecContext(ctx, args...)
	return err
}

// idList is how a set of ids goes into a statement: as a JSON array, so that the
// statement is the same for any number.
func idList(ids []int64) string {
	b := make([]byte, 0, 2+8*len(ids))
	b = append(b, '[')
	for i, id := range ids {
		if i > 0 {
			b = append(b, ',')
		}
		b = strconv.AppendInt(b, id, 10)
	}
	return string(append(b, ']'))
}

func textList(texts []string) (string, error) {
	if len(texts) == 0 {
		return "[]", nil
	}
	raw, err := json.Marshal(texts)
	return string(raw), err
}

func textsFrom(raw string) (texts []string, err error) {
	if raw == "[]" || raw == "" {
		return nil, nil
	}
	err = json.Unmarshal([]byte(raw), &texts)
	return texts, err
}

func idsFrom(raw string) (ids []int64, err error) {
	if raw == "[]" || raw == "" {
		return nil, nil
	}
	err = json.Unmarshal([]byte(raw), &ids)
	slices.Sort(ids)
	return slices.Compact(ids), err
}

// refsFrom reads an array of references that SQL has put together, and puts it in
// order; two items may be related in several ways.
func refsFrom(raw string) ([]kb.Ref, error) {
	texts, err := textsFrom(raw)
	if err != nil || len(texts) == 0 {
		return nil, err
	}
	refs := make([]kb.Ref, len(texts))
	for i, text := range texts {
		at := strings.LastIndexByte(text, '-')
		id, err := strconv.ParseInt(text[at+1:], 10, 64)
		if err != nil {
			return nil, fmt.Errorf("reference %q: %w", text, err)
		}
		refs[i] = kb.Ref{Type: text[:at], ID: id}
	}
	slices.SortFunc(refs, func(a, b kb.Ref) int { return cmp.Compare(a.ID, b.ID) })
	return slices.Compact(refs), nil
}

// micros is a time as a column keeps it; NULL is none.
func micros(t time.Time) any {
	if t.IsZero() {
		return nil
	}
	return t.UnixMicro()
}

func fromMicros(at sql.NullInt64) time.Time {
	if !at.Valid {
		return time.Time{}
	}
	return time.UnixMicro(at.Int64).UTC()
}
