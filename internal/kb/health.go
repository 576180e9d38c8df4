package kb

import (
	"context"
	"errors"
	"io/fs"
	"slices"
	"time"

	"genkan/internal/filelock"
	"genkan/internal/gateway"
	"genkan/internal/kb/graph"
	"genkan/internal/kb/index"
)

// Health compares the index and the graph with the database.
type Health struct {
	// Sequence is the change sequence at which they were compared.
	Sequence int64
	// Items and Relations are the numbers of rows.
	Items, Relations int
	// Indexed is set if there is an index. Without one, searches read every item until it
	// is built.
	Indexed bool
	// File and FileSize describe the index file. They are empty if the index is in memory.
	File     string
	FileSize int64
	// Damage is the damage of the file, or the reason why the file is not used.
	Damage error
	// MissingTexts are items that the index lacks or has with different texts.
	// MissingLinks are items with different neighbours in the graph. Each holds at most
	// the first hundred.
	MissingTexts, MissingLinks []int64
	// ExtraTexts and ExtraItems are the numbers of items in the index and in the
	// graph, minus the number in the database.
	ExtraTexts, ExtraItems int
	// ExtraRelations is the number of relations in the graph, minus the number in
	// the database.
	ExtraRelations int
	// Moving is set when items were written during every attempt, so the result is
	// not certain.
	Moving bool
}

// Good reports whether nothing is wrong.
func (h *Health) Good() bool {
	return h.Damage == nil && len(h.MissingTexts)+len(h.MissingLinks) == 0 &&
		h.ExtraTexts == 0 && h.ExtraItems == 0 && h.ExtraRelations == 0
}

// mostMissing is the maximum number of items that a Health names.
const mostMissing = 100

// checkPatience is the time that a check waits for the index and the graph to catch up.
const checkPatience = time.Minute

// checkTries is the maximum number of attempts of a check during concurrent writes.
const checkTries = 5

// Check compares the index and the graph with all rows.
func (x *Indexes) Check(ctx context.Context) (Health, error) { return x.CheckWith(ctx, nil) }

// CheckWith is Check with progress reports: it calls progress with the numbers of
// compared and of all items. After concurrent writes it starts again from zero.
func (x *Indexes) CheckWith(ctx context.Context, progress func(done, total int)) (Health, error) {
	if progress == nil {
		progress = func(int, int) {}
	}
	var h Health
	for range checkTries {
		h = Health{}
		if err := x.check(ctx, &h, progress); err != nil || !h.Moving || h.Good() {
			return h, err
		}
	}
	return h, nil
}

func (x *Indexes) check(ctx context.Context, h *Health, progress func(done, total int)) error {
	before, err := x.written(ctx, &x.text)
	if err != nil {
		return err
	}
	ok, err := x.reach(ctx, &x.text, &x.text.catchUp, before, checkPatience)
	if err != nil {
		return err
	}
	h.Sequence = before
	held := x.text.held()
	if ok && held != nil {
		h.Indexed = true
		if held.file.Token != "" {
			h.File, h.FileSize = x.text.path(held.file), held.size
		}
	}
	if err := x.checkTexts(ctx, h, progress); err != nil {
		return err
	}
	if h.Indexed && h.Damage != nil {
		x.text.damaged(held, h.Damage) // otherwise searches would still use it
	}
	if err := x.checkLinks(ctx, h); err != nil {
		return err
	}
	after, err := x.store.Sequence(ctx)
	h.Moving = h.Moving || after != before
	return err
}

func (x *Indexes) checkTexts(ctx context.Context, h *Health, progress func(done, total int)) error {
	all, err := x.store.List(ctx, Filter{Closed: true, Limit: 1})
	if err != nil {
		return err
	}
	progress(0, all.Total)
	if h.Indexed {
		x.text.use(0, func(x *index.Index) { h.Damage = x.Verify() })
	} else {
		h.Damage = x.text.build.reason()
	}
	for item, err := range allItems(ctx, x.store, scanPage) {
		if err != nil {
			return err
		}
		h.Items++
		if h.Items%scanPage == 0 {
			progress(h.Items, max(h.Items, all.Total))
		}
		if !h.Indexed || len(h.MissingTexts) == mostMissing {
			continue
		}
		document, has := documentOf(item), false
		if !x.text.use(h.Sequence, func(x *index.Index) { has = x.Has(&document) }) {
			h.Moving = true // another index was put into use
			return nil
		}
		if !has {
			h.MissingTexts = append(h.MissingTexts, item.ID)
		}
	}
	x.text.use(h.Sequence, func(x *index.Index) {
		if h.Indexed {
			documents, _ := x.Len()
			h.ExtraTexts = documents - h.Items
		}
	})
	return nil
}

func (x *Indexes) checkLinks(ctx context.Context, h *Health) error {
	seq, err := x.written(ctx, &x.edges)
	if err != nil {
		return err
	}
	if ok, err := x.reach(ctx, &x.edges, &x.edges.catchUp, seq, checkPatience); !ok || err != nil {
		h.Moving = true
		return err
	}
	all, err := x.store.Relations(ctx)
	if err != nil {
		return err
	}
	h.Relations = len(all.Edges)
	g := x.edges.now.Load()
	if g == nil { // nothing was ever written
		return nil
	}
	v := g.View()
	if v.Sequence() != all.Seq {
		h.Moving = true
		return nil
	}
	items, relations := v.Size()
	h.ExtraItems, h.ExtraRelations = items-len(all.IDs), relations-len(all.Edges)
	return missingLinks(ctx, v, all, h)
}

// missingLinks compares the neighbours of each item.
func missingLinks(ctx context.Context, v *graph.View, all Relations, h *Health) error {
	neighbours := make(map[int64][]int64, len(all.IDs))
	for _, e := range all.Edges {
		neighbours[e.A] = append(neighbours[e.A], e.B)
		neighbours[e.B] = append(neighbours[e.B], e.A)
	}
	for _, id := range all.IDs {
		if len(h.MissingLinks) == mostMissing {
			return nil
		}
		want := neighbours[id]
		slices.Sort(want)
		found, err := v.Related(ctx, id, 1, len(want)+1)
		if err != nil && !errors.Is(err, graph.ErrUnknown) {
			return err
		}
		same := err == nil && slices.EqualFunc(found.Nodes, want, func(n graph.Node, id int64) bool { return n.ID == id })
		if !same {
			h.MissingLinks = append(h.MissingLinks, id)
		}
	}
	return nil
}

// Rebuild builds the index and the graph from the rows. It calls progress, which may
// be nil, with the numbers of finished and of all items. Questions are answered
// meanwhile.
func (x *Indexes) Rebuild(ctx context.Context, progress func(done, total int)) error {
	x.edges.forget() // the next question reads it again
	all, err := x.store.List(ctx, Filter{Closed: true, Limit: 1})
	if err != nil {
		return err
	}
	if x.text.dir == "" || all.Total <= x.limits.inMemory {
		if err := x.text.drop(ctx); err != nil {
			return err
		}
		if progress != nil {
			progress(all.Total, all.Total)
		}
		return nil
	}
	for {
		e, own := x.text.builder.join(x, func(alive context.Context) error {
			// The context ends when the caller gives up or when the indexes are closed.
			both, cancel := context.WithCancel(ctx)
			defer cancel()
			defer context.AfterFunc(alive, cancel)()
			return x.text.rebuild(both, true, progress)
		})
		if !own { // another build is under way
			select {
			case <-e.done:
				continue
			case <-ctx.Done():
				return ctx.Err()
			}
		}
		<-e.done // the caller's context ends it, too
		if errors.Is(e.err, filelock.ErrTaken) {
			return gateway.Errorf(gateway.CodeConflict,
				"another process is building the text index of the knowledge base: wait until it is done, and try again if that is still needed")
		}
		var file *fs.PathError
		if errors.As(e.err, &file) {
			return &gateway.Error{
				Code: gateway.CodeUnavailable, Err: e.err,
				Message: "the text index of the knowledge base could not be written to %s: make that a folder that genkan may write to, with free space, and try again",
				Values:  []any{x.text.dir},
			}
		}
		return e.err
	}
}

// drop discards the index and clears the file name in the database, so that the next
// search starts from the rows.
func (t *textIndex) drop(ctx context.Context) error {
	named, err := t.indexes.store.IndexFile(ctx)
	if err != nil {
		return err
	}
	if named.Token != "" {
		if err := t.indexes.store.SetIndexFile(ctx, IndexFile{}); err != nil {
			return err
		}
	}
	return t.put(nil)
}

// Building returns the progress of the background work on the text index: a build, or
// Follow. Total is 0 if none runs.
func (x *Indexes) Building() (done, total int) {
	b := &x.text.build
	b.mu.Lock()
	done, total = b.done, b.total
	b.mu.Unlock()
	if total > 0 {
		return done, total
	}
	return x.following.progress(x.text.at())
}
