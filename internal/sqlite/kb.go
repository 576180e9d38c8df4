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

// Knowledge is the part of the store that holds the knowledge base. Reads and writes use
// statements that stay prepared.
type Knowledge struct {
	store *Store
	reads *statements
	// writes are all prepared before the first write, because a write occupies the only
	// connection for writing.
	writes *statements
	ready  atomic.Bool
	queue  kbQueue

	// statusNames maps ids of statuses to names.
	statusNames atomic.Pointer[map[int64]string]
	// committed, if set by a test, is called with the number of writes of each commit.
	committed func(writes int)
}

// Knowledge returns the part of the store that holds the knowledge base.
func (s *Store) Knowledge() *Knowledge { return s.knowledge }

func newKnowledge(s *Store) *Knowledge {
	return &Knowledge{store: s, reads: newStatements(s.reader), writes: newStatements(s.writer)}
}

// statement is a prepared statement that its user must not close.
type statement interface {
	ExecContext(ctx context.Context, args ...any) (sql.Result, error)
	QueryContext(ctx context.Context, args ...any) (*sql.Rows, error)
	QueryRowContext(ctx context.Context, args ...any) *sql.Row
}

// prepared returns the prepared statement of a text, from the read pool or for a write.
type prepared func(ctx context.Context, text string) (statement, error)

// read runs a query on the read-only connections.
func (k *Knowledge) read(ctx context.Context, what string, query func(ctx context.Context, p prepared) error) error {
	return k.store.read(ctx, what, func(*sql.DB) error { return query(ctx, k.reads.find) })
}

// readPoint is read for queries that take microseconds. They cannot be interrupted,
// because that would cost as much as the query itself.
func (k *Knowledge) readPoint(ctx context.Context, what string, query func(ctx context.Context, p prepared) error) error {
	if err := ctx.Err(); err != nil {
		return k.store.explain(ctx, what, err)
	}
	return k.read(context.WithoutCancel(ctx), what, query)
}

// each runs a query and passes its rows to row.
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
	scan := rows.Scan // one method value for all rows
	for rows.Next() {
		if err := row(scan); err != nil {
			return err
		}
	}
	return rows.Err()
}

// one runs a query for one row. It returns sql.ErrNoRows if there is none.
func one(ctx context.Context, p prepared, text string, args []any, into ...any) error {
	stmt, err := p(ctx, text)
	if err != nil {
		return err
	}
	return stmt.QueryRowContext(ctx, args...).Scan(into...)
}

// do runs a statement that returns no rows.
func do(ctx context.Context, p prepared, text string, args ...any) error {
	stmt, err := p(ctx, text)
	if err != nil {
		return err
	}
	_, err = stmt.ExecContext(ctx, args...)
	return err
}

// idList encodes a set of ids as a JSON array, so that the text of a statement is the
// same for any number of ids.
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

// textsFrom reads a JSON array of texts from a query. SQLite writes it without spaces and
// escapes every quote in a text, so without a backslash it can be split.
func textsFrom(raw string) ([]string, error) {
	if raw == "[]" || raw == "" {
		return nil, nil
	}
	if inner, ok := strings.CutPrefix(raw, `["`); ok && !strings.Contains(raw, `\`) {
		if inner, ok = strings.CutSuffix(inner, `"]`); ok {
			return strings.Split(inner, `","`), nil
		}
	}
	var texts []string
	err := json.Unmarshal([]byte(raw), &texts)
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

// refsFrom reads a JSON array of references from a query, and sorts it without
// repetitions: two items may be related in several ways.
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

// micros returns a time as a column stores it. A zero time is NULL.
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
