package sqlite

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"slices"

	"genkan/internal/kb"
)

const (
	selectIDs       = `SELECT id FROM kb_items ORDER BY id`
	selectRelations = `SELECT src, dst FROM kb_relations ORDER BY src, dst`
	selectIndexFile = `SELECT seq, token FROM kb_index WHERE id = 1`
	setIndexFile    = `INSERT OR REPLACE INTO kb_index (id, seq, token) VALUES (1, ?, ?)`
)

// Items are all items in the order of their ids, without their neighbours.
func (k *Knowledge) Items(ctx context.Context, after int64, limit int) (all []kb.Item, err error) {
	err = k.read(ctx, "read all items", func(ctx context.Context, p prepared) error {
		all = nil // a second try begins anew
		return each(ctx, p, selectItems, []any{after, limit}, func(scan func(into ...any) error) error {
			var item kb.Item
			err := scanItem(scan, &item)
			all = append(all, item)
			return err
		})
	})
	return all, err
}

// Relations are all ids and relations in one state.
func (k *Knowledge) Relations(ctx context.Context) (all kb.Relations, err error) {
	err = k.store.read(ctx, "read all relations", func(db *sql.DB) error {
		all = kb.Relations{}
		tx, err := db.BeginTx(ctx, nil) // one state for all three
		if err != nil {
			return err
		}
		defer func() { _ = tx.Rollback() }()
		// Prepared for this once: the pool's statements might wait for a connection.
		p := func(ctx context.Context, text string) (statement, error) { return tx.PrepareContext(ctx, text) }
		if err := one(ctx, p, selectSequence, nil, &all.Seq); err != nil {
			return err
		}
		var a, b any // without conversion: these may be millions
		err = each(ctx, p, selectIDs, nil, func(scan func(into ...any) error) error {
			err := scan(&a)
			all.IDs = append(all.IDs, number(a))
			return err
		})
		if err != nil {
			return err
		}
		return each(ctx, p, selectRelations, nil, func(scan func(into ...any) error) error {
			err := scan(&a, &b)
			all.Edges = append(all.Edges, kb.Edge{A: min(number(a), number(b)), B: max(number(a), number(b))})
			return err
		})
	})
	// They come in order, but for kinds of relations that have a direction.
	inOrder := func(a, b kb.Edge) int { return cmp.Or(cmp.Compare(a.A, b.A), cmp.Compare(a.B, b.B)) }
	if !slices.IsSortedFunc(all.Edges, inOrder) {
		slices.SortFunc(all.Edges, inOrder)
	}
	all.Edges = slices.Compact(all.Edges)
	return all, err
}

// IndexFile is which file holds the text index of this database.
func (k *Knowledge) IndexFile(ctx context.Context) (f kb.IndexFile, err error) {
	err = k.readPoint(ctx, "read which file the text index is in", func(ctx context.Context, p prepared) error {
		err := one(ctx, p, selectIndexFile, nil, &f.Seq, &f.Token)
		if errors.Is(err, sql.ErrNoRows) {
			f, err = kb.IndexFile{}, nil
		}
		return err
	})
	return f, err
}

// SetIndexFile says which file that is.
func (k *Knowledge) SetIndexFile(ctx context.Context, f kb.IndexFile) error {
	return k.store.transact(ctx, "write which file the text index is in", func(tx *sql.Tx) error {
		_, err := tx.ExecContext(ctx, setIndexFile, f.Seq, f.Token)
		return err
	})
}
