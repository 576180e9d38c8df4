package crashtest

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	_ "modernc.org/sqlite"

	"genkan/internal/kb"
	"genkan/internal/sqlite"
)

// The writing process is this test binary, told its orders.
const (
	roleVariable   = "GENKAN_CRASH_ROLE"
	ordersVariable = "GENKAN_CRASH_ORDERS"
	writeRole      = "write"
	smallDiskRole  = "small disk"
)

// orders are what a writing process is to do.
type orders struct {
	Path    string
	Seed    uint64
	Cycle   int
	Writers []int // their numbers
	// Writes is how many writes to make in all; 0 is until it is killed.
	Writes int64
	// Checkpoints has the write-ahead log moved into the database all the time,
	// so that kills meet this, too.
	Checkpoints bool
}

// newBase is the knowledge base as the house has it. Whoever writes and whoever
// checks has it from here.
func newBase(store kb.Store) *kb.Base { return kb.New(store, kb.Options{}) }

// say writes a line in one piece: what was said before a kill is always read.
func say(l line) {
	raw, err := json.Marshal(l)
	if err == nil {
		_, err = os.Stdout.Write(append(raw, '\n'))
	}
	if err != nil {
		os.Exit(2)
	}
}

// write is what the process does.
func write() int {
	ctx := context.Background()
	fail := func(err error) int {
		say(line{Error: err.Error()})
		return 1
	}
	var o orders
	if err := json.Unmarshal([]byte(os.Getenv(ordersVariable)), &o); err != nil {
		return fail(err)
	}
	store, err := sqlite.Open(ctx, o.Path, slog.New(slog.DiscardHandler))
	if err != nil {
		return fail(err)
	}
	say(line{Opened: true})
	base := newBase(store.Knowledge())
	own, hub, err := known(ctx, store.Knowledge())
	if err != nil {
		return fail(err)
	}
	if o.Checkpoints {
		go checkpoint(o.Path)
	}
	var wg sync.WaitGroup
	var begun atomic.Int64
	for _, id := range o.Writers {
		w := &writer{
			id: id, cycle: o.Cycle, base: base, hub: hub, own: own[id],
			rand: rand.New(rand.NewPCG(o.Seed, uint64(o.Cycle)<<8|uint64(id))),
		}
		if w.own == nil {
			w.own = map[string]kb.Ref{}
		}
		wg.Go(func() {
			for o.Writes == 0 || begun.Add(1) <= o.Writes {
				if err := w.step(ctx); err != nil {
					say(line{Error: fmt.Sprintf("writer %d: %v", id, err)})
					os.Exit(1)
				}
			}
		})
	}
	wg.Wait()
	if err := store.Close(); err != nil {
		return fail(err)
	}
	return 0
}

// known are the items of each writer.
func known(ctx context.Context, store kb.Store) (map[int]map[string]kb.Ref, kb.Ref, error) {
	own, hub := map[int]map[string]kb.Ref{}, kb.Ref{}
	for after := int64(0); ; {
		all, err := store.Items(ctx, after, 1000)
		if err != nil || len(all) == 0 {
			return own, hub, err
		}
		for _, it := range all {
			after = it.ID
			key, _, _ := strings.Cut(it.Title, " ")
			if key == hubKey {
				hub = it.Ref()
				continue
			}
			id := owner(key)
			if own[id] == nil {
				own[id] = map[string]kb.Ref{}
			}
			own[id][key] = it.Ref()
		}
	}
}

// checkpoint ends with the process. What it is refused is not its business.
func checkpoint(path string) {
	db, err := sql.Open("sqlite", path)
	for modes := []string{"PASSIVE", "RESTART", "TRUNCATE"}; err == nil; modes = append(modes[1:], modes[0]) {
		_, _ = db.Exec("PRAGMA wal_checkpoint(" + modes[0] + ")")
	}
}

// writer changes its own items, at random.
type writer struct {
	id, cycle, n int
	base         *kb.Base
	rand         *rand.Rand
	own          map[string]kb.Ref
	hub          kb.Ref
}

// A writer keeps about this many items, so that checking all of them stays quick.
const fewItems, manyItems = 4, 12

// step makes one write: it says which, makes it, and says that it was
// acknowledged.
func (w *writer) step(ctx context.Context) error {
	w.n++
	o := w.invent()
	say(line{Op: &o})
	refs, err := w.make(ctx, o)
	if err != nil {
		return fmt.Errorf("%+v: %w", o, err)
	}
	say(line{Done: &done{w.id, refs}})
	return nil
}

func (w *writer) invent() op {
	o := op{Writer: w.id}
	keys := make([]string, 0, len(w.own))
	for key := range w.own {
		keys = append(keys, key)
	}
	slices.Sort(keys) // the seed decides, not the map
	w.rand.Shuffle(len(keys), func(i, j int) { keys[i], keys[j] = keys[j], keys[i] })
	switch dice := w.rand.IntN(100); {
	case len(keys) < fewItems || dice < 25 && len(keys) < manyItems:
		o.Kind = opCreate
		c := w.change(newKey(w.id, w.cycle, w.n), keys)
		c.Type, c.Text = w.kind(""), w.text()
		o.Changes = []change{c}
	case dice < 25 || dice < 40:
		o.Kind, o.Changes = opDelete, []change{{Key: keys[0]}}
	case dice < 55:
		o.Kind, o.Changes = opRetype, []change{{Key: keys[0], Type: w.kind(w.own[keys[0]].Type)}}
	case dice < 70:
		o.Kind = opBulk
		for _, key := range keys[:2+w.rand.IntN(3)] {
			o.Changes = append(o.Changes, w.change(key, keys))
		}
	default:
		o.Kind, o.Changes = opUpdate, []change{w.change(keys[0], keys)}
	}
	return o
}

// kind is a type that an item does not have.
func (w *writer) kind(not string) string {
	others := slices.DeleteFunc(kinds(), func(k string) bool { return k == not })
	return others[w.rand.IntN(len(others))]
}

// text is short most of the time; sometimes it takes many pages.
func (w *writer) text() *string {
	size := w.rand.IntN(500)
	if w.rand.IntN(8) == 0 {
		size = 20_000 + w.rand.IntN(30_000)
	}
	return new(newText(w.n, size))
}

// change is another text, status, other tags, other neighbours, or all of that.
func (w *writer) change(key string, keys []string) change {
	c := change{Key: key, Version: fmt.Sprintf("%d.%d", w.cycle, w.n)}
	if w.rand.IntN(2) == 0 {
		c.Status = new(statuses()[w.rand.IntN(3)])
	}
	if w.rand.IntN(2) == 0 {
		c.Text = w.text()
	}
	if w.rand.IntN(2) == 0 {
		// Some tags are everybody's: their counts are written by all.
		tags := []string{"all", fmt.Sprint("w", w.id), fmt.Sprint("n", w.n), "設計"}
		c.Tags = new(tags[:w.rand.IntN(1+len(tags))])
	}
	if w.rand.IntN(2) == 0 {
		related := []string{}
		if !w.hub.IsZero() && w.rand.IntN(2) == 0 {
			related = append(related, hubKey)
		}
		for _, other := range keys {
			if other != key && len(related) < 5 && w.rand.IntN(3) == 0 {
				related = append(related, other)
			}
		}
		c.Related = &related
	}
	return c
}

// make is the write itself. It returns the references that items got.
func (w *writer) make(ctx context.Context, o op) (map[string]kb.Ref, error) {
	key := o.Changes[0].Key
	switch o.Kind {
	case opCreate:
		it, err := w.base.Create(ctx, o.Changes[0].Type, w.patch(o.Changes[0]))
		w.own[key] = it.Ref()
		return map[string]kb.Ref{key: it.Ref()}, err
	case opRetype:
		found, err := w.base.ChangeType(ctx, w.own[key], o.Changes[0].Type)
		w.own[key] = found.Item.Ref()
		return map[string]kb.Ref{key: found.Item.Ref()}, err
	case opDelete:
		_, err := w.base.Delete(ctx, w.own[key])
		delete(w.own, key)
		return nil, err
	case opUpdate:
		_, err := w.base.Update(ctx, w.own[key], w.patch(o.Changes[0]))
		return nil, err
	default:
		edits := make([]kb.Edit, len(o.Changes))
		for i, c := range o.Changes {
			edits[i] = kb.Edit{Ref: w.own[c.Key], Patch: w.patch(c)}
		}
		_, err := w.base.BulkUpdate(ctx, edits)
		return nil, err
	}
}

func (w *writer) patch(c change) kb.Patch {
	p := kb.Patch{Version: &c.Version, Status: c.Status, Tags: c.Tags}
	if c.Text != nil {
		p.Title, p.Content = new(title(c.Key, *c.Text)), new(content(c.Key, *c.Text))
	}
	if c.Related != nil {
		refs := []kb.Ref{}
		for _, key := range *c.Related {
			if key == hubKey {
				refs = append(refs, w.hub)
			} else {
				refs = append(refs, w.own[key])
			}
		}
		p.Related = &refs
	}
	return p
}
