package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"math"
	"strings"

	"genkan/internal/kb"
)

// List lists items, the last updated first, among equals the higher id first.
func (k *Knowledge) List(ctx context.Context, f kb.Filter) (page kb.Page, err error) {
	q, err := newListQuery(f)
	if err != nil {
		return kb.Page{}, err
	}
	// A list whose items must be counted may take long, so it can be interrupted.
	read := k.readPoint
	if q.counted == "" {
		read = k.read
	}
	err = read(ctx, "list items", func(ctx context.Context, p prepared) (err error) {
		page = kb.Page{Limit: f.Limit, Offset: f.Offset}
		text, args := q.page(f.Limit, f.Offset)
		var total any
		var also []any
		if q.counted != "" {
			also = append(also, &total)
		}
		if page.Items, err = k.summaries(ctx, p, min(f.Limit, kb.MaxPage), text, args, also...); err != nil {
			return err
		}
		page.Total = f.Offset + len(page.Items)
		switch n := len(page.Items); {
		case n < f.Limit && (n > 0 || f.Offset == 0):
			return nil // this was the last page
		case n > 0 && q.counted != "":
			page.Total = int(number(total))
			return nil
		}
		text, args = q.total()
		err = one(ctx, p, text, args, &page.Total)
		if errors.Is(err, sql.ErrNoRows) { // no such tag
			page.Total, err = 0, nil
		}
		return err
	})
	return page, err
}

// listQuery builds the statements of a list. A list of items in several statuses
// consists of branches. Each branch walks along one index and ends after a page; the
// results are then sorted. Sorting all matching items would take a second at a million.
// The texts come from a small set, so that they can stay prepared.
type listQuery struct {
	branches []branch
	// counted is the expression for a stored total, or empty if the items must be counted.
	counted string
	args    []any
}

// branch selects the items for which where holds. It is read in the order of
// updated_at, id.
type branch struct {
	from, id, updated, where string
	args                     []any
}

const bounded = ` AND updated_at >= ? AND updated_at < ?`

func newListQuery(f kb.Filter) (*listQuery, error) {
	types, err := textList(f.Types)
	if err != nil {
		return nil, err
	}
	statuses, err := textList(f.Statuses)
	if err != nil {
		return nil, err
	}
	if f.Tag != "" {
		return tagQuery(f, types), nil
	}
	from, until := int64(math.MinInt64), int64(math.MaxInt64)
	if !f.From.IsZero() {
		from = f.From.UnixMicro()
	}
	if !f.Until.IsZero() {
		until = f.Until.UnixMicro()
	}
	q := &listQuery{}
	add := func(where string, args ...any) {
		q.branches = append(q.branches, branch{
			"kb_items i", "i.id", "i.updated_at", where + bounded, append(args, from, until),
		})
	}
	closed := []int{0}
	if f.Closed || len(f.Statuses) > 0 {
		closed = []int{0, 1}
	}
	switch {
	case len(f.Types) == 1 && len(f.Statuses) > 0:
		for _, name := range f.Statuses {
			add(`type = ? AND status = (SELECT id FROM kb_statuses WHERE name = ?)`, f.Types[0], name)
		}
	case len(f.Types) == 1:
		for _, c := range closed {
			add(`type = ? AND closed = ?`, f.Types[0], c)
		}
	default:
		// Any other list walks along the index of times and skips items that do not match.
		for _, c := range closed {
			where, args := `closed = ?`, []any{c}
			if len(f.Types) > 0 {
				where, args = where+` AND type IN (SELECT value FROM json_each(?))`, append(args, types)
			}
			if len(f.Statuses) > 0 {
				where, args = where+` AND status IN (SELECT id FROM kb_statuses WHERE name IN (SELECT value FROM json_each(?)))`,
					append(args, statuses)
			}
			add(where, args...)
		}
	}
	if f.From.IsZero() && f.Until.IsZero() {
		q.count(f, types, statuses)
	}
	return q, nil
}

// count uses stored totals where they exist.
func (q *listQuery) count(f kb.Filter, types, statuses string) {
	var where []string
	switch {
	case len(f.Types) == 1:
		where, q.args = append(where, `c.type = ?`), append(q.args, f.Types[0])
	case len(f.Types) > 0:
		where, q.args = append(where, `c.type IN (SELECT value FROM json_each(?))`), append(q.args, types)
	}
	switch {
	case len(f.Types) == 1 && len(f.Statuses) > 0: // the same number of statement texts as for pages
		where = append(where, `s.name IN (?`+strings.Repeat(`, ?`, len(f.Statuses)-1)+`)`)
		for _, name := range f.Statuses {
			q.args = append(q.args, name)
		}
	case len(f.Statuses) > 0:
		where, q.args = append(where, `s.name IN (SELECT value FROM json_each(?))`), append(q.args, statuses)
	case !f.Closed:
		where = append(where, `s.closed = 0`)
	}
	q.counted = `SELECT coalesce(sum(c.items), 0) FROM kb_counts c CROSS JOIN kb_statuses s ON s.id = c.status`
	if len(where) > 0 {
		q.counted += ` WHERE ` + strings.Join(where, ` AND `)
	}
}

func tagQuery(f kb.Filter, types string) *listQuery {
	b := branch{`kb_item_tags x`, `x.item`, `x.updated_at`, `tag = (SELECT id FROM kb_tags WHERE name = ?)`, []any{f.Tag}}
	if len(f.Types) > 0 {
		b.from = `kb_item_tags x CROSS JOIN kb_items y ON y.id = x.item`
		b.where += ` AND y.type IN (SELECT value FROM json_each(?))`
		b.args = append(b.args, types)
		return &listQuery{branches: []branch{b}}
	}
	return &listQuery{branches: []branch{b}, counted: `SELECT items FROM kb_tags WHERE name = ?`, args: []any{f.Tag}}
}

func (b *branch) ordered() string {
	return `SELECT ` + b.id + ` AS id, ` + b.updated + ` AS updated_at FROM ` + b.from + ` WHERE ` + b.where +
		` ORDER BY ` + b.updated + ` DESC, ` + b.id + ` DESC`
}

// page returns the statement of one page. Each row includes the total if it is stored:
// a separate query would cost half as much as the page.
func (q *listQuery) page(limit, offset int) (string, []any) {
	var ordered, total string
	var args []any
	if q.counted != "" {
		total, args = `, (`+q.counted+`)`, append(args, q.args...)
	}
	if len(q.branches) == 1 {
		ordered, args = q.branches[0].ordered(), append(args, q.branches[0].args...)
	} else {
		var parts []string
		for i := range q.branches {
			parts = append(parts, `SELECT * FROM (`+q.branches[i].ordered()+` LIMIT +?)`)
			args = append(append(args, q.branches[i].args...), limit+offset)
		}
		ordered = `SELECT id, updated_at FROM (` + strings.Join(parts, ` UNION ALL `) + `) ORDER BY updated_at DESC, id DESC`
	}
	return `SELECT ` + summaryColumns + total + ` FROM (` + ordered + ` LIMIT +? OFFSET +?) p
		CROSS JOIN kb_items i ON i.id = p.id
		ORDER BY p.updated_at DESC, p.id DESC`, append(args, limit, offset)
}

// total returns the statement that counts the items on all pages.
func (q *listQuery) total() (string, []any) {
	if q.counted != "" {
		return q.counted, q.args
	}
	var parts []string
	var args []any
	for _, b := range q.branches {
		parts = append(parts, `(SELECT count(*) FROM `+b.from+` WHERE `+b.where+`)`)
		args = append(args, b.args...)
	}
	return `SELECT ` + strings.Join(parts, ` + `), args
}
