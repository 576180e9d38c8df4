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
	// Items and Relations are how many rows there are.
	Items, Relations int
	// Indexed says that there is an index; without one, searches read every item
	// until it is built.
	Indexed bool
	// File and FileSize are those of the index; empty if it is in memory alone.
	File     string
	FileSize int64
	// Damage is what is wrong with the file, or why it is not used.
	Damage error
	// MissingTexts are items that the index lacks or has with other texts, and
	// MissingLinks those that have other neighbours in the graph; the first hundred
	// of each.
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

// mostMissing is how many items a Health names at most.
const mostMissing = 100

// checkPatience is how long a check waits for index and graph to catch up.
const checkPatience = time.Minute

// checkTries is how often a check begins anew because something was written.
const checkTries = 5

// Check compares index and graph with all rows.
func (x *Indexes) Check(ctx context.Context) (Health, error) { return x.CheckWith(ctx, nil) }

// CheckWith is Check that tells how many of how many items are done. It may begin
// anew.
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
		x.text.damaged(held, h.Damage) // or searches would go on with it
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
			h.Moving = true // another index has come into use
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

// Rebuild makes index and graph anew from the rows. Progress, which may be nil, is
// told how many of how many items are done. Questions are answered meanwhile.
func (x *Indexes) Rebuild(ctx context.Context, progress func(done, total int)) error {
	x.edges.forget() // it is read again when it is asked for
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
			// The caller may give up, and the indexes may be closed.
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
		<-e.done // it ends with the caller's context, too
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

// drop forgets the index and makes the database name no file, so that the next
// search begins with the rows.
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

// Building tells how far the background is with building the text index; a total
// of 0 is that it does not.
func (x *Indexes) Building() (done, total int) {
	b := &x.text.build
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.done, b.total
}
