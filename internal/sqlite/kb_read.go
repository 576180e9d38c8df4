package sqlite

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"slices"
	"time"

	"genkan/internal/kb"
)

const (
	summaryColumns = `i.id, i.type, i.title, i.status, i.priority, i.created_at, i.updated_at, ` + tagsOfItem
	itemColumns    = `i.id, i.type, i.title, s.name, i.priority, i.created_at, i.updated_at, i.description, i.content, i.category, i.version, i.start_at, i.end_at`

	// Tags come in the order of the primary key of the lookup, which is their own order.
	// Neighbours are sorted afterwards in Go: sorting a few rows in SQL costs more than
	// everything else.
	tagsOfItem = `(SELECT json_group_array(t.name)
		FROM kb_item_tags x CROSS JOIN kb_tags t ON t.id = x.tag WHERE x.item = i.id)`
	relatedOfItem = `(SELECT json_group_array(n.ref) FROM (
			SELECT dst_type || '-' || dst AS ref FROM kb_relations WHERE src = i.id
			UNION ALL SELECT src_type || '-' || src FROM kb_relations WHERE dst = i.id) n)`

	selectSequence = `SELECT value FROM kb_sequence WHERE id = 1`
	selectItem     = `SELECT ` + itemColumns + `, ` + tagsOfItem + `, ` + relatedOfItem + `
		FROM kb_items i CROSS JOIN kb_statuses s ON s.id = i.status WHERE i.id = ?`
	selectItems = `SELECT ` + itemColumns + `, ` + tagsOfItem + `, '[]'
		FROM kb_items i CROSS JOIN kb_statuses s ON s.id = i.status WHERE i.id > ? ORDER BY i.id LIMIT +?`
	selectMoved     = `SELECT type, item FROM kb_moved WHERE id = ?`
	selectFormer    = `SELECT m.item, m.type, m.id FROM json_each(?) v CROSS JOIN kb_moved m ON m.item = v.value ORDER BY m.item, m.id`
	selectTypes     = `SELECT i.id, i.type FROM json_each(?) v CROSS JOIN kb_items i ON i.id = v.value`
	selectSummaries = `SELECT ` + summaryColumns + ` FROM json_each(?) v CROSS JOIN kb_items i ON i.id = v.value`
	selectTexts     = `SELECT ` + summaryColumns + `, i.description, i.content
		FROM json_each(?) v CROSS JOIN kb_items i ON i.id = v.value`
	selectNeighbours = `
		SELECT min(r.src, r.dst) AS a, max(r.src, r.dst) AS b
			FROM json_each(?1) v CROSS JOIN kb_relations r ON r.src = v.value
		UNION
		SELECT min(r.src, r.dst), max(r.src, r.dst)
			FROM json_each(?1) v CROSS JOIN kb_relations r ON r.dst = v.value
		ORDER BY a, b`
	selectTags     = `SELECT name, items FROM kb_tags WHERE items > 0 ORDER BY items DESC, name`
	selectAllTypes = `SELECT type, sum(items) AS items FROM kb_counts GROUP BY type ORDER BY items DESC, type LIMIT +?`
	statusNames    = `SELECT id, name FROM kb_statuses`
	selectStatuses = `SELECT name, closed, retired FROM kb_statuses s
		WHERE retired = 0 OR EXISTS (SELECT 1 FROM kb_counts c WHERE c.status = s.id) ORDER BY retired, position, id`
	selectState = `SELECT content, updated_by, updated_at, tags,
		(SELECT json_group_array(i.type || '-' || i.id) FROM kb_state_items x CROSS JOIN kb_items i ON i.id = x.item)
		FROM kb_state WHERE id = 1`

	// positions selects the positions after a given one, of items and of deleted items.
	positions = `(SELECT seq, id, deleted FROM (
			SELECT * FROM (SELECT seq, id, 0 AS deleted FROM kb_items WHERE (seq, id) > (?1, ?2) ORDER BY seq, id LIMIT +?3)
			UNION ALL
			SELECT * FROM (SELECT seq, id, 1 FROM kb_deleted WHERE (seq, id) > (?1, ?2) ORDER BY seq, id LIMIT +?3)
		) ORDER BY seq, id LIMIT +?3)`
	selectChanges = `SELECT p.seq, p.id, p.deleted, coalesce(i.type, ''), coalesce(i.title, ''), coalesce(s.name, ''),
			coalesce(i.priority, ''), i.created_at, i.updated_at, coalesce(i.description, ''), coalesce(i.content, ''),
			coalesce(i.category, ''), coalesce(i.version, ''), i.start_at, i.end_at, ` + tagsOfItem + `
		FROM ` + positions + ` p LEFT JOIN kb_items i ON p.deleted = 0 AND i.id = p.id LEFT JOIN kb_statuses s ON s.id = i.status
		ORDER BY p.seq, p.id`
	selectLinks = `SELECT p.seq, p.id, p.deleted, (SELECT json_group_array(n.id) FROM (
			SELECT dst AS id FROM kb_relations WHERE src = p.id UNION ALL SELECT src FROM kb_relations WHERE dst = p.id) n)
		FROM ` + positions + ` p ORDER BY p.seq, p.id`
)

// Sequence returns the number of the last write.
func (k *Knowledge) Sequence(ctx context.Context) (seq int64, err error) {
	err = k.readPoint(ctx, "read the sequence of the knowledge base", func(ctx context.Context, p prepared) error {
		return one(ctx, p, selectSequence, nil, &seq)
	})
	return seq, err
}

// Item finds an item by its current id or a former one.
func (k *Knowledge) Item(ctx context.Context, id int64) (found kb.Found, ok bool, err error) {
	err = k.readPoint(ctx, "read an item", func(ctx context.Context, p prepared) (err error) {
		found, ok, err = findItem(ctx, p, id)
		return err
	})
	return found, ok, err
}

func findItem(ctx context.Context, p prepared, id int64) (found kb.Found, ok bool, err error) {
	err = readItem(ctx, p, id, &found.Item)
	if !errors.Is(err, sql.ErrNoRows) {
		return found, err == nil, err
	}
	var current int64
	err = one(ctx, p, selectMoved, []any{id}, &found.Former.Type, &current)
	if err == nil {
		found.Former.ID = id
		// The item may have moved again between the two reads; the next read finds it then.
		err = readItem(ctx, p, current, &found.Item)
	}
	if errors.Is(err, sql.ErrNoRows) {
		return kb.Found{}, false, nil
	}
	return found, err == nil, err
}

func readItem(ctx context.Context, p prepared, id int64, item *kb.Item) error {
	stmt, err := p(ctx, selectItem)
	if err != nil {
		return err
	}
	return scanItem(stmt.QueryRowContext(ctx, id).Scan, item)
}

func scanItem(scan func(into ...any) error, item *kb.Item) error {
	var created, updated int64
	var start, end sql.NullInt64
	var tags, related string
	err := scan(&item.ID, &item.Type, &item.Title, &item.Status, &item.Priority, &created, &updated,
		&item.Description, &item.Content, &item.Category, &item.Version, &start, &end, &tags, &related)
	if err != nil {
		return err
	}
	item.CreatedAt, item.UpdatedAt = time.UnixMicro(created).UTC(), time.UnixMicro(updated).UTC()
	item.Start, item.End = fromMicros(start), fromMicros(end)
	if item.Tags, err = textsFrom(tags); err != nil {
		return err
	}
	item.Related, err = refsFrom(related)
	return err
}

// Former returns the references that items had under other types.
func (k *Knowledge) Former(ctx context.Context, ids []int64) (all map[int64][]kb.Ref, err error) {
	err = k.read(ctx, "read former references", func(ctx context.Context, p prepared) error {
		all = map[int64][]kb.Ref{}
		return each(ctx, p, selectFormer, []any{idList(ids)}, func(scan func(into ...any) error) error {
			var item int64
			var ref kb.Ref
			err := scan(&item, &ref.Type, &ref.ID)
			all[item] = append(all[item], ref)
			return err
		})
	})
	return all, err
}

// Summaries returns the summaries of the items that exist, in the order of the ids.
func (k *Knowledge) Summaries(ctx context.Context, ids []int64) (all []kb.Summary, err error) {
	err = k.readPoint(ctx, "read items", func(ctx context.Context, p prepared) (err error) {
		all, err = k.summaries(ctx, p, len(ids), selectSummaries, []any{idList(ids)})
		return err
	})
	return inOrderOf(ids, all, func(s *kb.Summary) int64 { return s.ID }), err
}

// summaries reads at most most rows and scans their additional columns.
func (k *Knowledge) summaries(ctx context.Context, p prepared, most int, text string, args []any, also ...any) (all []kb.Summary, err error) {
	// Values of type any are scanned without conversion.
	var id, status, created, updated any
	var kind, title, priority, tags string
	into := append([]any{&id, &kind, &title, &status, &priority, &created, &updated, &tags}, also...)
	all, statuses := make([]kb.Summary, 0, most), make([]int64, 0, most)
	err = each(ctx, p, text, args, func(scan func(into ...any) error) error {
		if err := scan(into...); err != nil {
			return err
		}
		names, err := textsFrom(tags)
		statuses = append(statuses, number(status))
		all = append(all, kb.Summary{
			ID: number(id), Type: kind, Title: title, Priority: kb.Priority(priority), Tags: names,
			CreatedAt: moment(created), UpdatedAt: moment(updated),
		})
		return err
	})
	if err != nil {
		return nil, err
	}
	for i := range all {
		if all[i].Status, err = k.statusName(ctx, p, statuses[i]); err != nil {
			return nil, err
		}
	}
	return all, nil
}

// Texts returns the items that exist, in the order of the ids.
func (k *Knowledge) Texts(ctx context.Context, ids []int64) (all []kb.Item, err error) {
	err = k.readPoint(ctx, "read items", func(ctx context.Context, p prepared) error {
		all = make([]kb.Item, 0, len(ids))
		statuses := make([]int64, 0, len(ids))
		var id, status, created, updated any
		var item kb.Item
		var priority, tags string
		into := []any{&id, &item.Type, &item.Title, &status, &priority, &created, &updated, &tags, &item.Description, &item.Content}
		err := each(ctx, p, selectTexts, []any{idList(ids)}, func(scan func(into ...any) error) error {
			if err := scan(into...); err != nil {
				return err
			}
			var err error
			item.ID, item.CreatedAt, item.UpdatedAt, item.Priority = number(id), moment(created), moment(updated), kb.Priority(priority)
			item.Tags, err = textsFrom(tags)
			all, statuses = append(all, item), append(statuses, number(status))
			return err
		})
		for i := 0; err == nil && i < len(all); i++ {
			all[i].Status, err = k.statusName(ctx, p, statuses[i])
		}
		return err
	})
	return inOrderOf(ids, all, func(item *kb.Item) int64 { return item.ID }), err
}

// inOrderOf sorts rows into the order of their ids. SQLite reads them in that order but
// does not promise it, and sorting in SQL would copy all texts.
func inOrderOf[T any](ids []int64, read []T, id func(*T) int64) []T {
	at := 0
	for i := range read {
		for at < len(ids) && ids[at] != id(&read[i]) {
			at++
		}
		at++
	}
	if at <= len(ids) {
		return read
	}
	places := make(map[int64]int, len(ids))
	for i, one := range ids {
		places[one] = i
	}
	slices.SortFunc(read, func(a, b T) int { return cmp.Compare(places[id(&a)], places[id(&b)]) })
	return read
}

// statusName returns the name of a status. It caches names for ever, because they never
// change. So only committed names may be read here.
func (k *Knowledge) statusName(ctx context.Context, p prepared, id int64) (string, error) {
	if names := k.statusNames.Load(); names != nil && (*names)[id] != "" {
		return (*names)[id], nil
	}
	names := map[int64]string{}
	err := each(ctx, p, statusNames, nil, func(scan func(into ...any) error) error {
		var id int64
		var name string
		err := scan(&id, &name)
		names[id] = name
		return err
	})
	if err != nil {
		return "", err
	}
	k.statusNames.Store(&names)
	return names[id], nil
}

func number(value any) int64 {
	n, _ := value.(int64)
	return n
}

func moment(value any) time.Time { return time.UnixMicro(number(value)).UTC() }

// Neighbours returns the relations that have one of the items as an end.
func (k *Knowledge) Neighbours(ctx context.Context, ids []int64) (edges []kb.Edge, err error) {
	err = k.read(ctx, "read relations", func(ctx context.Context, p prepared) error {
		edges = nil // a retry starts from an empty list
		return each(ctx, p, selectNeighbours, []any{idList(ids)}, func(scan func(into ...any) error) error {
			var e kb.Edge
			err := scan(&e.A, &e.B)
			edges = append(edges, e)
			return err
		})
	})
	return edges, err
}

// Tags returns all tags of items.
func (k *Knowledge) Tags(ctx context.Context) (tags []kb.Tag, err error) {
	err = k.read(ctx, "list tags", func(ctx context.Context, p prepared) error {
		tags = nil
		return each(ctx, p, selectTags, nil, func(scan func(into ...any) error) error {
			var tag kb.Tag
			err := scan(&tag.Name, &tag.Count)
			tags = append(tags, tag)
			return err
		})
	})
	return tags, err
}

// Types returns the types that items have.
func (k *Knowledge) Types(ctx context.Context, limit int) (types []kb.Type, err error) {
	err = k.read(ctx, "list types", func(ctx context.Context, p prepared) error {
		types = nil
		return each(ctx, p, selectAllTypes, []any{limit}, func(scan func(into ...any) error) error {
			var one kb.Type
			err := scan(&one.Name, &one.Count)
			types = append(types, one)
			return err
		})
	})
	return types, err
}

// Statuses returns all statuses in order.
func (k *Knowledge) Statuses(ctx context.Context) (all []kb.Status, err error) {
	err = k.readPoint(ctx, "list statuses", func(ctx context.Context, p prepared) (err error) {
		all, err = readStatuses(ctx, p)
		return err
	})
	return all, err
}

func readStatuses(ctx context.Context, p prepared) (all []kb.Status, err error) {
	err = each(ctx, p, selectStatuses, nil, func(scan func(into ...any) error) error {
		var one kb.Status
		err := scan(&one.Name, &one.Closed, &one.Retired)
		all = append(all, one)
		return err
	})
	return all, err
}

// State returns the text about the current state.
func (k *Knowledge) State(ctx context.Context) (state kb.State, err error) {
	err = k.readPoint(ctx, "read the current state", func(ctx context.Context, p prepared) (err error) {
		state, err = readState(ctx, p)
		return err
	})
	return state, err
}

func readState(ctx context.Context, p prepared) (state kb.State, err error) {
	var updated int64
	var tags, related string
	err = one(ctx, p, selectState, nil, &state.Content, &state.UpdatedBy, &updated, &tags, &related)
	if errors.Is(err, sql.ErrNoRows) {
		return kb.State{}, nil
	}
	if err != nil {
		return kb.State{}, err
	}
	state.UpdatedAt = time.UnixMicro(updated).UTC()
	if state.Tags, err = textsFrom(tags); err != nil {
		return kb.State{}, err
	}
	state.Related, err = refsFrom(related)
	return state, err
}

// Changes returns the items that were changed or deleted after a position.
func (k *Knowledge) Changes(ctx context.Context, after kb.Position, limit int) (all []kb.Change, err error) {
	err = k.read(ctx, "read the changes of items", func(ctx context.Context, p prepared) error {
		all = nil
		return each(ctx, p, selectChanges, []any{after.Seq, after.ID, limit}, func(scan func(into ...any) error) error {
			var c kb.Change
			var created, updated, start, end sql.NullInt64
			var tags string
			item := &c.Item
			err := scan(&c.Seq, &c.ID, &c.Deleted, &item.Type, &item.Title, &item.Status, &item.Priority, &created, &updated,
				&item.Description, &item.Content, &item.Category, &item.Version, &start, &end, &tags)
			if err != nil {
				return err
			}
			item.ID, item.CreatedAt, item.UpdatedAt = c.ID, fromMicros(created), fromMicros(updated)
			item.Start, item.End = fromMicros(start), fromMicros(end)
			item.Tags, err = textsFrom(tags)
			all = append(all, c)
			return err
		})
	})
	return all, err
}

// Links returns the neighbours of the items that were changed or deleted after a
// position.
func (k *Knowledge) Links(ctx context.Context, after kb.Position, limit int) (all []kb.Link, err error) {
	err = k.read(ctx, "read the changes of relations", func(ctx context.Context, p prepared) error {
		all = nil
		return each(ctx, p, selectLinks, []any{after.Seq, after.ID, limit}, func(scan func(into ...any) error) error {
			var l kb.Link
			var neighbours string
			if err := scan(&l.Seq, &l.ID, &l.Deleted, &neighbours); err != nil {
				return err
			}
			var err error
			l.Neighbours, err = idsFrom(neighbours)
			all = append(all, l)
			return err
		})
	})
	return all, err
}
