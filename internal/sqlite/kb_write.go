package sqlite

import (
	"context"
	"database/sql"
	"errors"

	"genkan/internal/kb"
)

// These are the statements of writes. Sets are passed as JSON arrays, so that a write
// takes few statements for any number of tags and relations.
const (
	nextSequence = `UPDATE kb_sequence SET value = value + 1 WHERE id = 1 RETURNING value`

	// namedStatus selects the status with a name, or the first open one if the name is
	// empty. statusNamed also refuses a retired status, unless the item ?2 already has it;
	// ?2 is the item itself or the one that it replaces.
	namedStatus = `s.name = CASE ?4 WHEN '' THEN
		(SELECT name FROM kb_statuses WHERE closed = 0 AND retired = 0 ORDER BY position LIMIT 1) ELSE ?4 END`
	statusNamed = namedStatus + ` AND (s.retired = 0 OR s.id = (SELECT status FROM kb_items WHERE id = ?2))`
	insertItem  = `INSERT INTO kb_items (seq, type, status, closed, priority, created_at, updated_at, start_at, end_at,
			title, category, version, description, content)
		SELECT ?1, ?3, s.id, s.closed, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14
		FROM kb_statuses s WHERE ` + statusNamed + `
		RETURNING id, (SELECT name FROM kb_statuses WHERE id = status)`
	// restoreItem keeps the item's id if it is higher than any assigned before.
	restoreItem = `INSERT INTO kb_items (id, seq, type, status, closed, priority, created_at, updated_at, start_at, end_at,
			title, category, version, description, content)
		SELECT iif(?2 BETWEEN 1 + coalesce((SELECT seq FROM sqlite_sequence WHERE name = 'kb_items'), 0) AND ?15, ?2, NULL),
			?1, ?3, s.id, s.closed, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14
		FROM kb_statuses s WHERE ` + namedStatus + `
		RETURNING id, (SELECT name FROM kb_statuses WHERE id = status)`
	insertFormer = `INSERT INTO kb_moved (id, type, item) SELECT ?1, ?2, ?3 WHERE ?1 < ?3
			AND NOT EXISTS (SELECT 1 FROM kb_items WHERE id = ?1)
			AND NOT EXISTS (SELECT 1 FROM kb_deleted WHERE id = ?1)
			AND NOT EXISTS (SELECT 1 FROM kb_moved WHERE id = ?1) RETURNING id`
	updateItem = `UPDATE kb_items SET seq = ?1, status = s.id, closed = s.closed, priority = ?5, created_at = ?6, updated_at = ?7,
			start_at = ?8, end_at = ?9, title = ?10, category = ?11, version = ?12, description = ?13, content = ?14
		FROM kb_statuses s WHERE kb_items.id = ?2 AND ?3 IS NOT NULL AND ` + statusNamed + `
		RETURNING id, (SELECT name FROM kb_statuses WHERE id = status)`

	insertTags     = `INSERT INTO kb_tags (name, items) SELECT value, 0 FROM json_each(?) WHERE true ON CONFLICT (name) DO NOTHING`
	insertItemTags = `INSERT INTO kb_item_tags (item, position, tag, updated_at)
		SELECT ?1, v.key, t.id, ?2 FROM json_each(?3) v CROSS JOIN kb_tags t ON t.name = v.value WHERE true ON CONFLICT DO NOTHING`
	updateItemTags = `UPDATE kb_item_tags SET updated_at = ?2 WHERE item = ?1`
	deleteItemTags = `DELETE FROM kb_item_tags WHERE item = ?`

	insertRelations = `INSERT INTO kb_relations (src, src_type, dst, dst_type, kind)
		SELECT iif(i.id < ?1, i.id, ?1), iif(i.id < ?1, i.type, ?2), iif(i.id < ?1, ?1, i.id), iif(i.id < ?1, ?2, i.type), 'related'
		FROM json_each(?3) v CROSS JOIN kb_items i ON i.id = v.value WHERE true ON CONFLICT DO NOTHING`
	deleteRelationsTo   = `DELETE FROM kb_relations WHERE src = ?1 AND dst IN (SELECT value FROM json_each(?2))`
	deleteRelationsFrom = `DELETE FROM kb_relations WHERE dst = ?1 AND src IN (SELECT value FROM json_each(?2))`
	touchItems          = `UPDATE kb_items SET seq = ?1 WHERE id IN (SELECT value FROM json_each(?2))`
	touchNeighbours     = `UPDATE kb_items SET seq = ?1 WHERE id IN (
		SELECT dst FROM kb_relations WHERE src = ?2 UNION SELECT src FROM kb_relations WHERE dst = ?2)`
	dropRelationsTo   = `DELETE FROM kb_relations WHERE src = ?`
	dropRelationsFrom = `DELETE FROM kb_relations WHERE dst = ?`
	deleteItem        = `DELETE FROM kb_items WHERE id = ?`
	insertDeleted     = `INSERT INTO kb_deleted (id, seq) VALUES (?, ?)`

	// A new id is the highest, so it is the second end of a relation without direction.
	copyRelationsTo = `INSERT INTO kb_relations (src, src_type, dst, dst_type, kind)
		SELECT iif(kind = 'related', dst, ?2), iif(kind = 'related', dst_type, ?3),
			iif(kind = 'related', ?2, dst), iif(kind = 'related', ?3, dst_type), kind FROM kb_relations WHERE src = ?1`
	copyRelationsFrom = `INSERT INTO kb_relations (src, src_type, dst, dst_type, kind)
		SELECT src, src_type, ?2, ?3, kind FROM kb_relations WHERE dst = ?1`

	moveFormer    = `UPDATE kb_moved SET item = ?2 WHERE item = ?1`
	insertMoved   = `INSERT INTO kb_moved (id, type, item) VALUES (?, ?, ?)`
	moveStateItem = `UPDATE kb_state_items SET item = ?2 WHERE item = ?1`

	resolveIDs = `
		SELECT v.value, i.id, i.type, '' FROM json_each(?1) v CROSS JOIN kb_items i ON i.id = v.value
		UNION ALL
		SELECT v.value, i.id, i.type, m.type
			FROM json_each(?1) v CROSS JOIN kb_moved m ON m.id = v.value CROSS JOIN kb_items i ON i.id = m.item`

	setState = `INSERT OR REPLACE INTO kb_state (id, seq, content, updated_by, updated_at, tags) VALUES (1, ?, ?, ?, ?, ?)`

	deleteStateItems = `DELETE FROM kb_state_items`
	insertStateItems = `INSERT INTO kb_state_items (item) SELECT value FROM json_each(?)`

	retireStatuses = `UPDATE kb_statuses SET retired = 1
		WHERE retired = 0 AND name NOT IN (SELECT value FROM json_each(?))`
	upsertStatus = `INSERT INTO kb_statuses (name, closed, position) VALUES (?, ?, ?)
		ON CONFLICT (name) DO UPDATE SET position = excluded.position, retired = 0`
	// This is a separate statement, because it updates every item that has the status.
	closeStatus = `UPDATE kb_statuses SET closed = ?2 WHERE name = ?1 AND closed <> ?2`
)

// writeStatements returns all statements that a write may use.
func writeStatements() []string {
	return []string{
		selectItem, selectMoved, selectStatuses, selectState,
		nextSequence, insertItem, restoreItem, insertFormer, selectTypes, updateItem, insertTags, insertItemTags, updateItemTags, deleteItemTags,
		insertRelations, deleteRelationsTo, deleteRelationsFrom, touchItems, touchNeighbours,
		dropRelationsTo, dropRelationsFrom, deleteItem, insertDeleted,
		copyRelationsTo, copyRelationsFrom, moveFormer, insertMoved, moveStateItem, resolveIDs,
		setState, deleteStateItems, insertStateItems, retireStatuses, upsertStatus, closeStatus,
	}
}

// kbWriter is one write.
type kbWriter struct {
	p prepared
	// seq is the number of the write, set by its first change.
	seq int64
}

// number takes the next number of the sequence at the first change of the write. A write
// that changes nothing takes none.
func (w *kbWriter) number(ctx context.Context) (int64, error) {
	if w.seq != 0 {
		return w.seq, nil
	}
	err := one(ctx, w.p, nextSequence, nil, &w.seq)
	return w.seq, err
}

func (w *kbWriter) Item(ctx context.Context, id int64) (kb.Found, bool, error) {
	return findItem(ctx, w.p, id)
}

func (w *kbWriter) Resolve(ctx context.Context, ids []int64) (map[int64]kb.Place, error) {
	places := make(map[int64]kb.Place, len(ids))
	err := each(ctx, w.p, resolveIDs, []any{idList(ids)}, func(scan func(into ...any) error) error {
		var asked int64
		var place kb.Place
		err := scan(&asked, &place.ID, &place.Type, &place.Former.Type)
		if place.Former.Type != "" {
			place.Former.ID = asked
		}
		places[asked] = place
		return err
	})
	return places, err
}

// put runs insertItem, updateItem or restoreItem. They number their parameters alike.
func (w *kbWriter) put(ctx context.Context, text string, item *kb.Item, more ...any) error {
	seq, err := w.number(ctx)
	if err != nil {
		return err
	}
	err = one(ctx, w.p, text, append([]any{
		seq, item.ID, item.Type, item.Status, string(item.Priority),
		item.CreatedAt.UnixMicro(), item.UpdatedAt.UnixMicro(), micros(item.Start), micros(item.End),
		item.Title, item.Category, item.Version, item.Description, item.Content,
	}, more...), &item.ID, &item.Status)
	if errors.Is(err, sql.ErrNoRows) {
		return kb.ErrUnknownStatus
	}
	return err
}

func (w *kbWriter) tag(ctx context.Context, item *kb.Item) error {
	if len(item.Tags) == 0 {
		return nil
	}
	tags, err := textList(item.Tags)
	if err != nil {
		return err
	}
	// Most tags already exist.
	stmt, err := w.p(ctx, insertItemTags)
	if err != nil {
		return err
	}
	done, err := stmt.ExecContext(ctx, item.ID, item.UpdatedAt.UnixMicro(), tags)
	if err != nil {
		return err
	}
	if n, err := done.RowsAffected(); err != nil || n == int64(len(item.Tags)) {
		return err
	}
	if err := do(ctx, w.p, insertTags, tags); err != nil {
		return err
	}
	return do(ctx, w.p, insertItemTags, item.ID, item.UpdatedAt.UnixMicro(), tags)
}

// link adds relations. A relation is a change of the other end, too.
func (w *kbWriter) link(ctx context.Context, item *kb.Item, others []int64) error {
	if len(others) == 0 {
		return nil
	}
	list := idList(others)
	if err := do(ctx, w.p, insertRelations, item.ID, item.Type, list); err != nil {
		return err
	}
	return do(ctx, w.p, touchItems, w.seq, list)
}

func (w *kbWriter) Insert(ctx context.Context, item *kb.Item) error {
	if err := w.put(ctx, insertItem, item); err != nil {
		return err
	}
	if err := w.tag(ctx, item); err != nil {
		return err
	}
	ids := make([]int64, len(item.Related))
	for i, ref := range item.Related {
		ids[i] = ref.ID
	}
	return w.link(ctx, item, ids)
}

func (w *kbWriter) Restore(ctx context.Context, item *kb.Item, former []kb.Ref) (kept []kb.Ref, err error) {
	id := item.ID
	if err := w.put(ctx, restoreItem, item, kb.MaxKeptID); err != nil {
		return nil, err
	}
	if err := w.tag(ctx, item); err != nil || item.ID != id {
		return nil, err
	}
	for _, ref := range former {
		var free int64
		err := one(ctx, w.p, insertFormer, []any{ref.ID, ref.Type, item.ID}, &free)
		if errors.Is(err, sql.ErrNoRows) {
			continue
		}
		if err != nil {
			return nil, err
		}
		kept = append(kept, ref)
	}
	return kept, nil
}

func (w *kbWriter) Relate(ctx context.Context, edges []kb.Edge) error {
	if len(edges) == 0 {
		return nil
	}
	if _, err := w.number(ctx); err != nil {
		return err
	}
	others := map[int64][]int64{}
	var ids []int64
	for _, e := range edges {
		others[e.A] = append(others[e.A], e.B)
		ids = append(ids, e.A, e.B)
	}
	types := map[int64]string{}
	err := each(ctx, w.p, selectTypes, []any{idList(ids)}, func(scan func(into ...any) error) error {
		var id int64
		var kind string
		err := scan(&id, &kind)
		types[id] = kind
		return err
	})
	if err != nil {
		return err
	}
	for _, e := range edges {
		if list := others[e.A]; list != nil {
			others[e.A] = nil
			if err := do(ctx, w.p, insertRelations, e.A, types[e.A], idList(list)); err != nil {
				return err
			}
		}
	}
	return do(ctx, w.p, touchItems, w.seq, idList(ids))
}

func (w *kbWriter) Update(ctx context.Context, item *kb.Item, parts kb.Parts) error {
	if err := w.put(ctx, updateItem, item); err != nil {
		return err
	}
	if parts.Tags {
		if err := do(ctx, w.p, deleteItemTags, item.ID); err != nil {
			return err
		}
		if err := w.tag(ctx, item); err != nil {
			return err
		}
	} else if len(item.Tags) > 0 {
		if err := do(ctx, w.p, updateItemTags, item.ID, item.UpdatedAt.UnixMicro()); err != nil {
			return err
		}
	}
	if len(parts.Unlink) > 0 {
		list := idList(parts.Unlink)
		for _, text := range []string{deleteRelationsTo, deleteRelationsFrom} {
			if err := do(ctx, w.p, text, item.ID, list); err != nil {
				return err
			}
		}
		if err := do(ctx, w.p, touchItems, w.seq, list); err != nil {
			return err
		}
	}
	return w.link(ctx, item, parts.Link)
}

func (w *kbWriter) Delete(ctx context.Context, id int64) error {
	seq, err := w.number(ctx)
	if err != nil {
		return err
	}
	if err := do(ctx, w.p, touchNeighbours, seq, id); err != nil {
		return err
	}
	for _, text := range []string{dropRelationsTo, dropRelationsFrom, deleteItemTags, deleteItem} {
		if err := do(ctx, w.p, text, id); err != nil {
			return err
		}
	}
	return do(ctx, w.p, insertDeleted, id, seq)
}

func (w *kbWriter) Retype(ctx context.Context, former kb.Ref, item *kb.Item) error {
	item.ID = former.ID // allows a retired status to be kept
	if err := w.put(ctx, insertItem, item); err != nil {
		return err
	}
	if err := w.tag(ctx, item); err != nil {
		return err
	}
	for _, text := range []string{copyRelationsTo, copyRelationsFrom} {
		if err := do(ctx, w.p, text, former.ID, item.ID, item.Type); err != nil {
			return err
		}
	}
	for _, text := range []string{moveFormer, moveStateItem} {
		if err := do(ctx, w.p, text, former.ID, item.ID); err != nil {
			return err
		}
	}
	if err := w.Delete(ctx, former.ID); err != nil {
		return err
	}
	return do(ctx, w.p, insertMoved, former.ID, former.Type, item.ID)
}

func (w *kbWriter) State(ctx context.Context) (kb.State, error) { return readState(ctx, w.p) }

func (w *kbWriter) SetState(ctx context.Context, state *kb.State) error {
	seq, err := w.number(ctx)
	if err != nil {
		return err
	}
	tags, err := textList(state.Tags)
	if err != nil {
		return err
	}
	if err := do(ctx, w.p, setState, seq, state.Content, state.UpdatedBy, state.UpdatedAt.UnixMicro(), tags); err != nil {
		return err
	}
	if err := do(ctx, w.p, deleteStateItems); err != nil || len(state.Related) == 0 {
		return err
	}
	ids := make([]int64, len(state.Related))
	for i, ref := range state.Related {
		ids[i] = ref.ID
	}
	return do(ctx, w.p, insertStateItems, idList(ids))
}

func (w *kbWriter) SetStatuses(ctx context.Context, statuses []kb.Status) error {
	if _, err := w.number(ctx); err != nil {
		return err
	}
	names := make([]string, len(statuses))
	for i, s := range statuses {
		names[i] = s.Name
	}
	list, err := textList(names)
	if err != nil {
		return err
	}
	if err := do(ctx, w.p, retireStatuses, list); err != nil {
		return err
	}
	for i, s := range statuses {
		if err := do(ctx, w.p, upsertStatus, s.Name, s.Closed, i); err != nil {
			return err
		}
		if err := do(ctx, w.p, closeStatus, s.Name, s.Closed); err != nil {
			return err
		}
	}
	return nil
}
