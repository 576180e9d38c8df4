package main

import (
	"bytes"
	"context"
	"database/sql"
	"fmt"
	"strings"
	"testing"

	"genkan/internal/kb"
)

// TestTrace: what a create asks of SQLite, asked again as another driver would
// be, makes another item of the same kind.
func TestTrace(t *testing.T) {
	k, err := openKnowledge(t.Context(), t.TempDir(), 30, true)
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := k.close(); err != nil {
			t.Error(err)
		}
	}()
	if err := k.fill(func(string) {}); err != nil {
		t.Fatal(err)
	}
	a, err := k.record(kbJob{Name: opStoreNew, Count: 2, Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	for _, op := range a.Ops {
		if len(op) < 3 || op[0].Kind != "begin" || op[len(op)-1].Kind != "commit" {
			t.Fatalf("a create is no transaction: %+v", op)
		}
	}
	before, err := k.base.Get(t.Context(), refOf(t, k, 33)) // 30 and three recorded ones
	if err != nil {
		t.Fatal(err)
	}
	db := sql.OpenDB(k.tracer.writer.Connector)
	defer func() { _ = db.Close() }()
	replay(t.Context(), t, db, a.Ops[1])
	after, err := k.base.Get(t.Context(), refOf(t, k, 34))
	if err != nil {
		t.Fatal(err)
	}
	if after.Item.Title != before.Item.Title || len(after.Item.Related) != len(before.Item.Related) || len(after.Item.Related) == 0 {
		t.Errorf("the statements made %+v, and the store %+v", after.Item, before.Item)
	}
	health, err := k.indexes.Check(t.Context())
	if err != nil || health.Items != 34 || !health.Good() {
		t.Errorf("%+v, %v", health, err)
	}
}

// refOf is the reference of an item.
func refOf(t *testing.T, k *knowledge, id int64) kb.Ref {
	t.Helper()
	found, ok, err := k.store.Knowledge().Item(t.Context(), id)
	if err != nil || !ok {
		t.Fatalf("item %d: %v", id, err)
	}
	return found.Item.Ref()
}

// replay asks statements again.
func replay(ctx context.Context, t *testing.T, db *sql.DB, op []statement) {
	t.Helper()
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		t.Fatal(err)
	}
	results := make([][]any, len(op))
	for i, s := range op {
		var args []any
		for _, a := range s.Args {
			switch {
			case a.From != nil:
				args = append(args, results[a.From.Statement][a.From.Column])
			case a.Int != nil:
				args = append(args, *a.Int)
			case a.Text != nil:
				args = append(args, *a.Text)
			default:
				args = append(args, nil)
			}
		}
		switch s.Kind {
		case "begin":
		case "commit":
			if err := tx.Commit(); err != nil {
				t.Fatal(err)
			}
		case "exec":
			if _, err := tx.ExecContext(ctx, s.Text, args...); err != nil {
				t.Fatal(err)
			}
		default:
			results[i] = first(ctx, t, tx, s.Text, args)
		}
	}
}

// first is the first row; the others are read, too.
func first(ctx context.Context, t *testing.T, tx *sql.Tx, text string, args []any) (row []any) {
	t.Helper()
	rows, err := tx.QueryContext(ctx, text, args...)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = rows.Close() }()
	columns, err := rows.Columns()
	if err != nil {
		t.Fatal(err)
	}
	for rows.Next() {
		values, into := make([]any, len(columns)), make([]any, len(columns))
		for i := range values {
			into[i] = &values[i]
		}
		if err := rows.Scan(into...); err != nil {
			t.Fatal(err)
		}
		if row == nil {
			row = values
		}
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	return row
}

func TestGrowth(t *testing.T) {
	r := &report{Figures: []figure{{"get, p99", "µs", 100_000, 50}, {"size", "MB", 100_000, 7.5}, {"get, p99", "µs", 10_000, 40}}}
	got, ok := r.growth()
	if want := [][]string{{"get, p99", "µs", "40", "50"}, {"size", "MB", "", "7.50"}}; !ok || fmt.Sprint(got.Rows) != fmt.Sprint(want) {
		t.Errorf("%v", got.Rows)
	}
	if want := "figure unit 10,000 items 100,000 items"; strings.Join(got.Head, " ") != want {
		t.Errorf("%v", got.Head)
	}
	var printed bytes.Buffer
	r.print(&printed)
	if !strings.Contains(printed.String(), "GROWTH OF THE KNOWLEDGE BASE") {
		t.Error(printed.String())
	}
	r.Figures = r.Figures[:2]
	if _, ok := r.growth(); ok {
		t.Error("one size grows")
	}
}

func TestItemsFlag(t *testing.T) {
	for _, items := range []string{"many", "100", "10000,"} {
		var said bytes.Buffer
		if code := run(t.Context(), []string{"-items", items}, &said, &said); code != 2 || !strings.Contains(said.String(), "-items takes numbers") {
			t.Errorf("%q: %d, %s", items, code, said.String())
		}
	}
}
