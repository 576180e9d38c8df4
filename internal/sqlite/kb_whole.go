package sqlite

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"slices"

	"genkan/internal/kb"
)

// There may be millions of ids and relations, and returning a row for each costs several
// times as much as finding it. So these queries return long lists of numbers. The ids
// are read from an index, which is a hundredth of the size of the items. The relations
// are read in parts, because there may be many more of them.
const (
	countWhole      = `SELECT (SELECT count(*) FROM kb_items), (SELECT count(*) FROM kb_relations), (SELECT coalesce(max(id), 0) FROM kb_items)`
	selectIDs       = `SELECT group_concat(id) FROM kb_items INDEXED BY kb_items_by_seq`
	selectRelations = `SELECT group_concat(src), group_concat(dst) FROM kb_relations WHERE src BETWEEN ? AND ?`
	selectIndexFile = `SELECT seq, token FROM kb_index WHERE id = 1`
	setIndexFile    = `INSERT OR REPLACE INTO kb_index (id, seq, token) VALUES (1, ?, ?)`
)

// Items returns items in the order of their ids, without their neighbours.
func (k *Knowledge) Items(ctx context.Context, after int64, limit int) (all []kb.Item, err error) {
	err = k.read(ctx, "read all items", func(ctx context.Context, p prepared) error {
		all = nil // a retry starts from an empty list
		return each(ctx, p, selectItems, []any{after, limit}, func(scan func(into ...any) error) error {
			var item kb.Item
			err := scanItem(scan, &item)
			all = append(all, item)
			return err
		})
	})
	return all, err
}

// Relations returns all ids and relations of one state.
func (k *Knowledge) Relations(ctx context.Context) (all kb.Relations, err error) {
	err = k.store.read(ctx, "read all relations", func(db *sql.DB) error {
		all = kb.Relations{}
		tx, err := db.BeginTx(ctx, nil) // all three queries read one state
		if err != nil {
			return err
		}
		defer func() { _ = tx.Rollback() }()
		// The statements are prepared for this transaction only: those of the pool might wait
		// for another connection.
		p := func(ctx context.Context, text string) (statement, error) { return tx.PrepareContext(ctx, text) }
		if err := one(ctx, p, selectSequence, nil, &all.Seq); err != nil {
			return err
		}
		return readWhole(ctx, p, &all)
	})
	slices.Sort(all.IDs)
	// The relations are usually in order, except for kinds of relations with a direction.
	inOrder := func(a, b kb.Edge) int { return cmp.Or(cmp.Compare(a.A, b.A), cmp.Compare(a.B, b.B)) }
	if !slices.IsSortedFunc(all.Edges, inOrder) {
		slices.SortFunc(all.Edges, inOrder)
	}
	all.Edges = slices.Compact(all.Edges)
	return all, err
}

func readWhole(ctx context.Context, p prepared, all *kb.Relations) error {
	var items, edges int
	var last int64
	if err := one(ctx, p, countWhole, nil, &items, &edges, &last); err != nil || items == 0 {
		return err
	}
	all.IDs, all.Edges = make([]int64, 0, items), make([]kb.Edge, 0, edges)
	var ids, src, dst sql.NullString
	if err := one(ctx, p, selectIDs, nil, &ids); err != nil {
		return err
	}
	for ids.String != "" {
		all.IDs = append(all.IDs, nextNumber(&ids.String))
	}
	relations, err := p(ctx, selectRelations)
	if err != nil {
		return err
	}
	for first := int64(1); first <= last; first += wholeRange {
		if err := relations.QueryRowContext(ctx, first, first+wholeRange-1).Scan(&src, &dst); err != nil {
			return err
		}
		for src.String != "" {
			a, b := nextNumber(&src.String), nextNumber(&dst.String)
			all.Edges = append(all.Edges, kb.Edge{A: min(a, b), B: max(a, b)})
		}
	}
	return nil
}

// wholeRange is the number of items whose relations are read at once.
const wholeRange = 10_000

// nextNumber removes the first number from a list of digits and commas that SQL has
// built.
func nextNumber(list *string) int64 {
	text := *list
	var n int64
	for i := range len(text) {
		if text[i] == ',' {
			*list = text[i+1:]
			return n
		}
		n = 10*n + int64(text[i]-'0')
	}
	*list = ""
	return n
}

// IndexFile returns the file that holds the text index of this database.
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

// SetIndexFile stores the name of that file.
func (k *Knowledge) SetIndexFile(ctx context.Context, f kb.IndexFile) error {
	return k.store.transact(ctx, "write which file the text index is in", func(tx *sql.Tx) error {
		_, err := tx.ExecContext(ctx, setIndexFile, f.Seq, f.Token)
		return err
	})
}
