package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"
)

// Verdict describes the damage of the database.
type Verdict struct {
	// Whole is set if indexes were compared with their tables, too.
	Whole bool
	// Damage lists SQLite's messages, at most mostDamage.
	Damage []string
	// Orphans is the number of rows that refer to missing rows.
	Orphans int
	// Wrong is the number of derived values, such as counts, that disagree with their rows.
	Wrong int
}

// Good reports whether nothing is wrong.
func (v Verdict) Good() bool { return len(v.Damage) == 0 && v.Orphans == 0 && v.Wrong == 0 }

const mostDamage = 20

// disagreements are queries that count derived values that disagree with their rows.
var disagreements = []string{
	`SELECT count(*) FROM (SELECT type, status, items FROM kb_counts EXCEPT SELECT type, status, count(*) FROM kb_items GROUP BY type, status)`,
	`SELECT count(*) FROM (SELECT type, status, count(*) FROM kb_items GROUP BY type, status EXCEPT SELECT type, status, items FROM kb_counts)`,
	`SELECT count(*) FROM kb_tags t WHERE t.items <> (SELECT count(*) FROM kb_item_tags x WHERE x.tag = t.id)`,
	`SELECT count(*) FROM kb_item_tags x CROSS JOIN kb_items i ON i.id = x.item WHERE x.updated_at <> i.updated_at`,
	`SELECT count(*) FROM kb_relations r WHERE ` + wrongTypes,
	`SELECT count(*) FROM kb_sequence WHERE value < (SELECT coalesce(max(seq), 0) FROM kb_items)
		OR value < (SELECT coalesce(max(seq), 0) FROM kb_deleted)`,
}

const (
	wrongTypes = `src_type <> (SELECT type FROM kb_items WHERE id = src) OR dst_type <> (SELECT type FROM kb_items WHERE id = dst)`
	lostEnds   = `src NOT IN (SELECT id FROM kb_items) OR dst NOT IN (SELECT id FROM kb_items)`
)

// Verify reads the database and reports damage. It blocks no reader or writer. With
// whole it takes a few seconds for each 100 MB.
func (s *Store) Verify(ctx context.Context, whole bool) (v Verdict, err error) {
	check := "quick_check"
	if whole {
		check = "integrity_check"
	}
	err = s.read(ctx, "check the database", func(db *sql.DB) error {
		v = Verdict{Whole: whole}
		// All queries read one state, because others write meanwhile.
		tx, err := db.BeginTx(ctx, nil)
		if err != nil {
			return err
		}
		defer func() { _ = tx.Rollback() }()
		if v.Damage, err = damageOf(ctx, tx, fmt.Sprintf("PRAGMA %s(%d)", check, mostDamage)); err != nil || len(v.Damage) > 0 {
			return err // further results from a damaged database mean nothing
		}
		if err := tx.QueryRowContext(ctx, "SELECT count(*) FROM pragma_foreign_key_check").Scan(&v.Orphans); err != nil {
			return err
		}
		for _, text := range disagreements {
			var n int
			if err := tx.QueryRowContext(ctx, text).Scan(&n); err != nil {
				return err
			}
			v.Wrong += n
		}
		return nil
	})
	return v, err
}

func damageOf(ctx context.Context, tx *sql.Tx, check string) (damage []string, err error) {
	rows, err := tx.QueryContext(ctx, check)
	if err != nil {
		return nil, err
	}
	defer func() { _ = rows.Close() }()
	for rows.Next() {
		var text string
		if err := rows.Scan(&text); err != nil {
			return nil, err
		}
		for line := range strings.Lines(text) {
			if line = strings.TrimSpace(line); line != "" && line != "ok" && len(damage) < mostDamage {
				damage = append(damage, line)
			}
		}
	}
	// A check may end with an error at a damaged page. What it found before is the
	// answer.
	if err := rows.Err(); err != nil && (len(damage) == 0 || ctx.Err() != nil) {
		return nil, err
	}
	return damage, nil
}

// mending lists the statements that repair what Verify counts, in order. They delete
// rows that refer to missing rows, and compute derived values again. Their parameter is
// the number of the write.
var mending = []string{
	`UPDATE kb_tags SET items = (SELECT count(*) FROM kb_item_tags x WHERE x.tag = kb_tags.id)
		WHERE items <> (SELECT count(*) FROM kb_item_tags x WHERE x.tag = kb_tags.id)`,
	// A new number makes data that is derived from relations catch up.
	`UPDATE kb_items SET seq = ?1 WHERE id IN (SELECT src FROM kb_relations WHERE ` + lostEnds + `
		UNION SELECT dst FROM kb_relations WHERE ` + lostEnds + `)`,
	`DELETE FROM kb_relations WHERE ` + lostEnds,
	`UPDATE kb_relations SET src_type = (SELECT type FROM kb_items WHERE id = src), dst_type = (SELECT type FROM kb_items WHERE id = dst)
		WHERE ` + wrongTypes,
	`DELETE FROM kb_item_tags WHERE item NOT IN (SELECT id FROM kb_items) OR tag NOT IN (SELECT id FROM kb_tags)`,
	`UPDATE kb_item_tags SET updated_at = (SELECT updated_at FROM kb_items WHERE id = item)
		WHERE updated_at <> (SELECT updated_at FROM kb_items WHERE id = item)`,
	`DELETE FROM kb_moved WHERE item NOT IN (SELECT id FROM kb_items)`,
	`DELETE FROM kb_state_items WHERE item NOT IN (SELECT id FROM kb_items)`,
	`DELETE FROM kb_vectors WHERE item NOT IN (SELECT id FROM kb_items)`,
	`UPDATE kb_items SET seq = ?1, (status, closed) =
			(SELECT id, closed FROM kb_statuses WHERE closed = 0 AND retired = 0 ORDER BY position LIMIT 1)
		WHERE status NOT IN (SELECT id FROM kb_statuses)`,
	`UPDATE kb_items SET seq = ?1, closed = (SELECT closed FROM kb_statuses s WHERE s.id = status)
		WHERE closed <> (SELECT closed FROM kb_statuses s WHERE s.id = status)`,
	`DELETE FROM kb_counts WHERE (type, status, items) NOT IN (SELECT type, status, count(*) FROM kb_items GROUP BY type, status)`,
	`INSERT INTO kb_counts (type, status, items) SELECT type, status, count(*) FROM kb_items WHERE true GROUP BY type, status
		ON CONFLICT (type, status) DO NOTHING`,
}

// errDamaged says that SQLite's check finds damaged rows.
var errDamaged = errors.New("rows are damaged")

// Mend repairs what Verify found, as far as the rows allow, in one write. It builds
// damaged indexes of tables and derived values again, and deletes rows that refer to
// missing rows. It does not repair unreadable pages of tables: then it fails and changes
// nothing.
func (s *Store) Mend(ctx context.Context, found Verdict) error {
	if found.Good() {
		return nil
	}
	return s.transact(ctx, "mend the database", func(tx *sql.Tx) error {
		if len(found.Damage) > 0 {
			if _, err := tx.ExecContext(ctx, "REINDEX"); err != nil {
				return err
			}
			// Any remaining damage is in rows. Unreadable rows would look like missing ones, and the
			// rows that belong to them would be deleted.
			left, err := damageOf(ctx, tx, "PRAGMA integrity_check(1)")
			if err != nil {
				return err
			}
			if len(left) > 0 {
				return fmt.Errorf("%w: %s", errDamaged, left[0])
			}
		}
		var seq int64
		err := tx.QueryRowContext(ctx, `UPDATE kb_sequence SET value = 1 + max(value,
			(SELECT coalesce(max(seq), 0) FROM kb_items), (SELECT coalesce(max(seq), 0) FROM kb_deleted)) RETURNING value`).Scan(&seq)
		if err != nil {
			return err
		}
		for _, text := range mending {
			var args []any
			if strings.Contains(text, "?1") {
				args = append(args, seq)
			}
			if _, err := tx.ExecContext(ctx, text, args...); err != nil {
				return err
			}
		}
		return nil
	})
}
