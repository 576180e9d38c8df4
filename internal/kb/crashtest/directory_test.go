package crashtest

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"genkan/internal/kb"
	"genkan/internal/sqlite"
)

// directory is a data directory with what must be in it.
type directory struct {
	t    *testing.T
	path string

	mu     *sync.Mutex // several processes speak at once
	ledger *ledger

	// store is nil while nobody here has the database open.
	store    *sqlite.Store
	follower *follower
	slowest  time.Duration // opening
	hub      kb.Ref
}

func (d *directory) hear(said line) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.ledger.hear(said)
}

func (d *directory) open() *sqlite.Store {
	d.t.Helper()
	if d.store == nil {
		begun := time.Now()
		store, err := sqlite.Open(context.WithoutCancel(d.t.Context()), d.path, slog.New(slog.DiscardHandler))
		if err != nil {
			d.t.Fatal(err)
		}
		d.store, d.slowest = store, max(d.slowest, time.Since(begun))
	}
	return d.store
}

func (d *directory) close() {
	if d.store != nil {
		if err := d.store.Close(); err != nil {
			d.t.Error(err)
		}
		d.store = nil
	}
}

// createHub adds the item that everybody relates to.
func (d *directory) createHub() {
	d.t.Helper()
	text := newText(0, 100)
	hub, err := newBase(d.open().Knowledge()).Create(d.t.Context(), "docs",
		kb.Patch{Title: new(title(hubKey, text)), Content: new(content(hubKey, text))})
	if err != nil {
		d.t.Fatal(err)
	}
	d.hub, d.ledger.seq, d.ledger.highest = hub.Ref(), 1, hub.ID
}

// touchHub is a write of somebody who has the database open while others are
// killed. A write that was killed between the log and its index is not seen by
// those who go on, but would be by whoever recovers the log when all have gone.
// Nobody was told of it, so both is right; the next write decides it for good.
func (d *directory) touchHub() {
	d.t.Helper()
	_, err := newBase(d.store.Knowledge()).Update(d.t.Context(), d.hub, kb.Patch{Version: new(fmt.Sprint(d.ledger.seq))})
	if err != nil {
		d.t.Fatal(err)
	}
	d.ledger.seq++
}

// derived are the checks of what is made of the items and kept beside them. Each
// compares the whole of it with the rows.
func (d *directory) derived(store kb.Store) map[string]func(ctx context.Context, base *kb.Base) error {
	return map[string]func(ctx context.Context, base *kb.Base) error{
		"who follows the changes": func(ctx context.Context, _ *kb.Base) error { return d.follower.check(ctx, store) },
		"the index and the graph": func(ctx context.Context, _ *kb.Base) error {
			indexes := kb.NewIndexes(store, kb.IndexOptions{Dir: filepath.Join(filepath.Dir(d.path), "kb-index")})
			health, err := indexes.Check(ctx)
			if err == nil && (!health.Good() || health.Items > 0 && !health.Indexed) {
				err = fmt.Errorf("%+v", health)
			}
			return errors.Join(err, indexes.Close())
		},
	}
}

// reckon opens the database as the next process would, and holds it against all
// that was said.
func (d *directory) reckon(when string, thorough bool) {
	d.t.Helper()
	ctx := d.t.Context()
	if d.store != nil {
		d.touchHub()
	}
	store := d.open().Knowledge()
	base := newBase(store)
	found, err := read(ctx, store, base, d.ledger.former())
	if err == nil {
		err = d.ledger.judge(found)
	}
	if err != nil {
		d.t.Fatalf("%s: %v", when, err)
	}
	for what, check := range d.derived(store) {
		if err := check(ctx, base); err != nil {
			d.t.Fatalf("%s: %s: %v", when, what, err)
		}
	}
	if err := sound(ctx, d.path, thorough); err != nil {
		d.t.Fatalf("%s: %v", when, err)
	}
}

// read reads all that there is. Nobody writes meanwhile.
func read(ctx context.Context, store kb.Store, base *kb.Base, former []kb.Ref) (r rows, err error) {
	r.Found = map[kb.Ref]kb.Ref{}
	for _, ref := range former {
		found, err := base.Get(ctx, ref)
		var own *kb.Error
		switch {
		case err == nil:
			r.Found[ref] = found.Item.Ref()
		case !errors.As(err, &own) || own.Code != kb.CodeItemNotFound:
			return r, err
		}
	}
	var failed [5]error
	r.Seq, failed[0] = store.Sequence(ctx)
	r.Tags, failed[1] = base.Tags(ctx)
	r.Relations, failed[2] = store.Relations(ctx)
	page, err := base.List(ctx, kb.Filter{Closed: true, Limit: 1})
	r.Total, failed[3] = page.Total, err
	r.Counts = map[string]int{}
	for _, kind := range kinds() {
		for _, status := range statuses() {
			page, err := base.List(ctx, kb.Filter{Types: []string{kind}, Statuses: []string{status}, Limit: 1})
			failed[4] = errors.Join(failed[4], err)
			if page.Total > 0 {
				r.Counts[kind+" "+status] = page.Total
			}
		}
	}
	if err := errors.Join(failed[:]...); err != nil {
		return r, err
	}
	for after := int64(0); ; after = r.Items[len(r.Items)-1].ID {
		all, err := store.Items(ctx, after, 1000)
		if err != nil || len(all) == 0 {
			return r, err
		}
		for _, it := range all {
			found, err := base.Get(ctx, it.Ref())
			if err != nil {
				return r, err
			}
			r.Items = append(r.Items, found.Item)
		}
	}
}

// sound asks SQLite itself: all indexes and foreign keys if it is to be thorough.
func sound(ctx context.Context, path string, thorough bool) (err error) {
	db, err := sql.Open("sqlite", path)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	check := "quick_check"
	if thorough {
		check = "integrity_check"
	}
	var verdict string
	if err := db.QueryRowContext(ctx, "PRAGMA "+check).Scan(&verdict); err != nil || verdict != "ok" {
		return fmt.Errorf("%s: %s, %w", check, verdict, err)
	}
	if !thorough {
		return nil
	}
	var table string
	err = db.QueryRowContext(ctx, "PRAGMA foreign_key_check").Scan(&table, new(any), new(any), new(any))
	if errors.Is(err, sql.ErrNoRows) {
		return nil
	}
	return fmt.Errorf("a foreign key of %s leads nowhere, %w", table, err)
}

// follower knows the items by their changes only, as an index does, and outlives
// the processes that write.
type follower struct {
	at    kb.Position
	items map[int64]kb.Item
	links map[int64][]int64
}

func newFollower() *follower {
	return &follower{items: map[int64]kb.Item{}, links: map[int64][]int64{}}
}

// check reads what came since, and compares it with everything.
func (f *follower) check(ctx context.Context, store kb.Store) error {
	const limit = 50
	for {
		changes, err := store.Changes(ctx, f.at, limit)
		if err != nil {
			return err
		}
		links, err := store.Links(ctx, f.at, limit)
		if err != nil || len(links) != len(changes) {
			return fmt.Errorf("%d links and %d changes, %w", len(links), len(changes), err)
		}
		for i, c := range changes {
			f.at = c.Position
			delete(f.items, c.ID)
			delete(f.links, c.ID)
			if !c.Deleted {
				f.items[c.ID], f.links[c.ID] = c.Item, links[i].Neighbours
			}
		}
		if len(changes) < limit {
			break
		}
	}
	all, err := store.Items(ctx, 0, 1_000_000)
	if err != nil {
		return err
	}
	if len(all) != len(f.items) {
		return fmt.Errorf("knows %d items of %d", len(f.items), len(all))
	}
	var ids []int64
	for _, it := range all {
		ids = append(ids, it.ID)
		if known := f.items[it.ID]; known.Title != it.Title || known.Content != it.Content || known.Status != it.Status || !slices.Equal(known.Tags, it.Tags) {
			return fmt.Errorf("knows %s as %q", it.Ref(), known.Title)
		}
	}
	edges, err := store.Neighbours(ctx, ids)
	if err != nil {
		return err
	}
	known := 0
	for _, others := range f.links {
		known += len(others)
	}
	for _, e := range edges {
		if !slices.Contains(f.links[e.A], e.B) || !slices.Contains(f.links[e.B], e.A) {
			return fmt.Errorf("does not know that %d and %d are related", e.A, e.B)
		}
	}
	if known != 2*len(edges) {
		return fmt.Errorf("knows %d ends of %d relations", known, len(edges))
	}
	return nil
}
