package sqlite

import (
	"context"
	"database/sql"
	"errors"

	"genkan/internal/kb"
	"genkan/internal/kb/plugin"
	"genkan/internal/kb/semantic"
)

var (
	_ semantic.Store = (*Knowledge)(nil)
	_ plugin.Storage = (*Knowledge)(nil)
)

const (
	selectVectorsDone = `SELECT model, seq, item FROM kb_vectors_done WHERE id = 1`
	beginVectors      = `INSERT INTO kb_vectors_done (id, model, seq, item) VALUES (1, ?, 0, 0)
		ON CONFLICT (id) DO UPDATE SET model = excluded.model, seq = 0, item = 0`
	// moveVectors never moves back, because another process may be ahead.
	moveVectors = `UPDATE kb_vectors_done SET seq = ?2, item = ?3 WHERE id = 1 AND model = ?1 AND (seq, item) < (?2, ?3)`
	saveVectors = `INSERT INTO kb_vectors (item, seq, model, text, chunks, vectors)
		SELECT ?1, ?2, ?3, ?4, ?5, ?6 WHERE EXISTS (SELECT 1 FROM kb_items WHERE id = ?1)
		ON CONFLICT (item) DO UPDATE SET seq = excluded.seq, model = excluded.model, text = excluded.text,
			chunks = excluded.chunks, vectors = excluded.vectors
		WHERE excluded.seq >= kb_vectors.seq OR excluded.model <> kb_vectors.model`
	deleteVectors = `DELETE FROM kb_vectors WHERE model = ?`

	vectorColumns   = `v.item, v.seq, i.type, v.text, v.chunks, v.vectors`
	selectVectorsOf = `SELECT ` + vectorColumns + `
		FROM json_each(?2) w CROSS JOIN kb_vectors v ON v.item = w.value CROSS JOIN kb_items i ON i.id = v.item WHERE v.model = ?1`
	selectVectorsAfter = `SELECT ` + vectorColumns + `
		FROM kb_vectors v CROSS JOIN kb_items i ON i.id = v.item WHERE v.item > ?2 AND v.model = ?1 ORDER BY v.item LIMIT +?3`
	countItemsAfter = `SELECT count(*) FROM kb_items WHERE (seq, id) > (?, ?)`

	selectPluginValue = `SELECT value FROM kb_plugin_values WHERE plugin = ? AND key = ?`
	selectPluginKeys  = `SELECT key FROM kb_plugin_values WHERE plugin = ? ORDER BY key`
	savePluginValue   = `INSERT INTO kb_plugin_values (plugin, key, value) VALUES (?, ?, ?)
		ON CONFLICT (plugin, key) DO UPDATE SET value = excluded.value`
	deletePluginValue = `DELETE FROM kb_plugin_values WHERE plugin = ? AND key = ?`
)

// BeginVectors returns the position up to which a model's vectors are complete.
func (k *Knowledge) BeginVectors(ctx context.Context, model semantic.Hash) (at kb.Position, err error) {
	var last []byte
	err = k.readPoint(ctx, "read how far vectors have been made", func(ctx context.Context, p prepared) error {
		err := one(ctx, p, selectVectorsDone, nil, &last, &at.Seq, &at.ID)
		if errors.Is(err, sql.ErrNoRows) {
			return nil // no process has started
		}
		return err
	})
	if err != nil || string(last) == string(model[:]) {
		return at, err
	}
	return kb.Position{}, k.store.transact(ctx, "begin to make vectors", func(tx *sql.Tx) error {
		_, err := tx.ExecContext(ctx, beginVectors, model[:])
		return err
	})
}

// SaveVectors stores the vectors of items that still exist.
func (k *Knowledge) SaveVectors(ctx context.Context, model semantic.Hash, rows []semantic.Row, done kb.Position) error {
	return k.store.transact(ctx, "keep vectors of items", func(tx *sql.Tx) error {
		for _, row := range rows {
			if _, err := tx.ExecContext(ctx, saveVectors,
				row.Item, row.Seq, model[:], row.Text[:], row.Chunks, append([]byte{}, row.Vectors...)); err != nil {
				return err
			}
		}
		_, err := tx.ExecContext(ctx, moveVectors, model[:], done.Seq, done.ID)
		return err
	})
}

// ForgetVectors deletes the vectors of a model.
func (k *Knowledge) ForgetVectors(ctx context.Context, model semantic.Hash) error {
	return k.store.transact(ctx, "forget vectors of items", func(tx *sql.Tx) error {
		if _, err := tx.ExecContext(ctx, deleteVectors, model[:]); err != nil {
			return err
		}
		_, err := tx.ExecContext(ctx, beginVectors, model[:])
		return err
	})
}

// VectorsOf returns the vectors of the given items.
func (k *Knowledge) VectorsOf(ctx context.Context, model semantic.Hash, items []int64) ([]semantic.Row, error) {
	return k.vectors(ctx, selectVectorsOf, model[:], idList(items))
}

// VectorsAfter returns the vectors of the items after an id.
func (k *Knowledge) VectorsAfter(ctx context.Context, model semantic.Hash, item int64, limit int) ([]semantic.Row, error) {
	return k.vectors(ctx, selectVectorsAfter, model[:], item, limit)
}

func (k *Knowledge) vectors(ctx context.Context, text string, args ...any) (rows []semantic.Row, err error) {
	err = k.read(ctx, "read vectors of items", func(ctx context.Context, p prepared) error {
		rows = nil // a retry starts from an empty list
		return each(ctx, p, text, args, func(scan func(into ...any) error) error {
			var row semantic.Row
			var hash []byte
			err := scan(&row.Item, &row.Seq, &row.Type, &hash, &row.Chunks, &row.Vectors)
			copy(row.Text[:], hash)
			rows = append(rows, row)
			return err
		})
	})
	return rows, err
}

// ItemsAfter counts the items that have changed after a position.
func (k *Knowledge) ItemsAfter(ctx context.Context, after kb.Position) (n int, err error) {
	err = k.read(ctx, "count changed items", func(ctx context.Context, p prepared) error {
		return one(ctx, p, countItemsAfter, []any{after.Seq, after.ID}, &n)
	})
	return n, err
}

// PluginValue returns a value that a plugin has stored.
func (k *Knowledge) PluginValue(ctx context.Context, plugin, key string) (value []byte, ok bool, err error) {
	err = k.readPoint(ctx, "read a value of a plugin", func(ctx context.Context, p prepared) error {
		err := one(ctx, p, selectPluginValue, []any{plugin, key}, &value)
		ok = err == nil
		if errors.Is(err, sql.ErrNoRows) {
			return nil
		}
		return err
	})
	return value, ok, err
}

// SavePluginValue replaces a value. Nil removes it.
func (k *Knowledge) SavePluginValue(ctx context.Context, plugin, key string, value []byte) error {
	return k.store.transact(ctx, "keep a value of a plugin", func(tx *sql.Tx) error {
		if value == nil {
			_, err := tx.ExecContext(ctx, deletePluginValue, plugin, key)
			return err
		}
		_, err := tx.ExecContext(ctx, savePluginValue, plugin, key, value)
		return err
	})
}

// PluginKeys returns the keys that have values.
func (k *Knowledge) PluginKeys(ctx context.Context, plugin string) (keys []string, err error) {
	err = k.read(ctx, "list the values of a plugin", func(ctx context.Context, p prepared) error {
		keys = nil
		return each(ctx, p, selectPluginKeys, []any{plugin}, func(scan func(into ...any) error) error {
			var key string
			err := scan(&key)
			keys = append(keys, key)
			return err
		})
	})
	return keys, err
}
