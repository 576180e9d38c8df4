package kb

import (
	"context"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"genkan/internal/kb/index"
)

// textIndex is the keeper's text index. A small knowledge base is in memory as a
// whole, read from the first change on; a larger one is a file and what has
// changed since.
//
// It finds what Scan finds, and differs where an index is expected to be better:
//
//   - Latin words are compared as words and without their inflection: sign finds
//     signs and signed, but not design. Only the last word of a query may go on
//     (desi finds design).
//   - A long mark at the end of a katakana word may be there or not.
//   - A word that nobody has is taken for a slip of one letter, and where no item
//     has all words those are found that have the most. Scan finds nothing then.
//   - Of a query without any letter or character there is nothing in the index;
//     such a query is answered by Scan.
//
// So for words that are no part, inflection or slip of another, and for runs of
// kanji and hiragana, both find the same items whenever Scan finds any. Scores and
// order are the index's own.
type textIndex struct {
	keeper *Keeper
	dir    string
	flight flight

	mu  sync.RWMutex // held by searches, and by who puts another index in place
	now *heldIndex

	builder flight
	build   buildState
}

// heldIndex is an index in use. Only who catches up with it writes to it.
type heldIndex struct {
	*index.Index
	file IndexFile // zero is none
	size int64     // of the file
	// removed is how many were taken out since the file.
	removed int
	// verifying is the reading of the whole file.
	verifying sync.WaitGroup
}

func (h *heldIndex) close() error {
	h.verifying.Wait()
	return h.Close()
}

// pending is how much is in memory.
func (h *heldIndex) pending() int {
	_, delta := h.Len()
	return delta + h.removed
}

func (t *textIndex) held() *heldIndex {
	t.mu.RLock()
	defer t.mu.RUnlock()
	return t.now
}

// put takes another index into use. Searches in the old one have ended then.
func (t *textIndex) put(h *heldIndex) error {
	t.mu.Lock()
	old := t.now
	t.now = h
	t.mu.Unlock()
	var err error
	if old != nil {
		err = old.close()
	}
	if h != nil && h.file.Token != "" && t.build.isBad(h.file.Token) {
		t.forget() // that was found out just now
	}
	return err
}

func (t *textIndex) at() int64 {
	if h := t.held(); h != nil {
		return h.Sequence()
	}
	return -1
}

func (t *textIndex) forget() { _ = t.put(nil) }

// advance opens what there is and catches up.
func (t *textIndex) advance(ctx context.Context) error {
	h := t.held()
	if h == nil {
		var err error
		if h, err = t.open(ctx); err != nil {
			return err
		}
		if h == nil { // there must be a file first
			t.renew(nil)
			return nil
		}
		if err := t.put(h); err != nil {
			return err
		}
	}
	done, err := t.follow(ctx, h)
	if err == nil && (!done || t.due(h)) {
		t.renew(h)
	}
	return err
}

// due says that there should be a new file.
func (t *textIndex) due(h *heldIndex) bool {
	l := &t.keeper.limits
	documents, _ := h.Len()
	return h.pending() > max(l.due, min(documents/8, l.dueMost)) || h.DeltaSize() > max(l.dueBytes, int(h.size/4))
}

// full says that no more changes are taken into memory.
func (t *textIndex) full(h *heldIndex) bool {
	l := &t.keeper.limits
	return h.pending() > l.most || h.DeltaSize() > max(l.mostBytes, int(h.size/2))
}

// batch are changes that are applied together, of each item the last.
type batch struct {
	seq     int64
	puts    map[int64]index.Document
	deletes []int64
	bytes   int
}

func (b *batch) add(c *Change) {
	b.seq = c.Seq
	if c.Deleted {
		// It may have been put just before, and the index deletes first.
		delete(b.puts, c.ID)
		b.deletes = append(b.deletes, c.ID)
		return
	}
	if b.puts == nil {
		b.puts = map[int64]index.Document{}
	}
	b.puts[c.ID] = documentOf(&c.Item)
	b.bytes += len(c.Item.Title) + len(c.Item.Description) + len(c.Item.Content)
}

func (b *batch) apply(h *heldIndex, seq int64) error {
	puts := make([]index.Document, 0, len(b.puts))
	for _, id := range slices.Sorted(maps.Keys(b.puts)) {
		puts = append(puts, b.puts[id])
	}
	if err := index.Guard(func() { h.Apply(seq, puts, b.deletes) }); err != nil {
		return err
	}
	h.removed += len(b.deletes)
	*b = batch{}
	return nil
}

// documentOf is what is indexed of an item.
func documentOf(item *Item) index.Document {
	return index.Document{
		ID: item.ID, Type: item.Type, Status: item.Status,
		Title: item.Title, Description: item.Description, Content: item.Content,
		Tags: item.Tags, Updated: item.UpdatedAt.UnixMilli(),
	}
}

// follow applies what has changed since the index's write, in steps of a bounded
// size that end between two writes. Only at the end of the feed the index is as
// the store was: a search that runs meanwhile sees each item as it was or as it
// is, which is what a scan sees, too. False: there is so much that a new file is
// the better way.
func (t *textIndex) follow(ctx context.Context, h *heldIndex) (bool, error) {
	l := &t.keeper.limits
	target, err := t.keeper.store.Sequence(ctx)
	if err != nil {
		return false, err
	}
	at := After(h.Sequence())
	var step batch
	for {
		if t.full(h) {
			return false, nil
		}
		page, err := t.keeper.store.Changes(ctx, at, l.page)
		if err != nil {
			return false, err
		}
		for i := range page {
			c := &page[i]
			if c.Seq > step.seq && (len(step.puts)+len(step.deletes) >= l.step || step.bytes >= l.stepBytes) {
				if err := step.apply(h, step.seq); err != nil {
					t.damaged(h, err)
					return false, err
				}
				if t.full(h) {
					return false, nil
				}
			}
			// One write is applied as a whole, and may be too large for that.
			if step.add(c); len(step.puts) > l.most || step.bytes > l.writeBytes {
				return false, nil
			}
			at = c.Position
		}
		if len(page) < l.page {
			break
		}
	}
	// A page that is not full ends where the store was when it was read. Writes
	// that changed no item leave a gap before the target.
	if err := step.apply(h, max(target, at.Seq)); err != nil {
		t.damaged(h, err)
		return false, err
	}
	return true, nil
}

// use lets a function search the index if that knows a write. False is also that
// the file was lost meanwhile; what the function has found does not count then.
func (t *textIndex) use(seq int64, search func(x *index.Index)) bool {
	h, err := t.read(seq, search)
	if err != nil {
		t.damaged(h, err) // when the lock is free again
	}
	return h != nil && err == nil
}

func (t *textIndex) read(seq int64, search func(x *index.Index)) (*heldIndex, error) {
	t.mu.RLock()
	defer t.mu.RUnlock()
	h := t.now
	if h == nil || h.Sequence() < seq {
		return nil, nil
	}
	return h, index.Guard(func() { search(h.Index) })
}

// damaged takes an index out of use whose file cannot be used. The next question
// begins to build another.
func (t *textIndex) damaged(h *heldIndex, why error) {
	t.build.setBad(h.file.Token, why)
	t.keeper.log.Warn("the text index is damaged and is built anew", slog.Any("error", why))
	if t.held() == h {
		t.forget()
	}
}

// ask catches up with a write and searches. False: it is the rows' turn.
func (t *textIndex) ask(ctx context.Context, seq int64, search func(x *index.Index)) (bool, error) {
	// A new file that has just come into use may be behind; then once more.
	for range 3 {
		ok, err := t.keeper.reach(ctx, t, &t.flight, seq, t.keeper.limits.searchPatience)
		if !ok || err != nil {
			return false, err
		}
		if seq == 0 || t.use(seq, search) {
			return true, nil // nothing was ever written, or all of it is known
		}
	}
	return false, nil
}

// search is Search, unless it is the rows' turn.
func (t *textIndex) search(ctx context.Context, seq int64, q Query) (Hits, bool, error) {
	searched := false
	var found index.Result
	ok, err := t.ask(ctx, seq, func(x *index.Index) {
		searched = true
		found = x.Search(indexQuery(q))
	})
	if !ok || err != nil || (searched && found.Words == 0) {
		return Hits{}, false, err
	}
	hits := Hits{Total: found.Total}
	each := make([]scored, len(found.Hits))
	for i, hit := range found.Hits {
		each[i] = scored{hit.ID, hit.Score}
	}
	hits.Each, err = shown(ctx, t.keeper.store, each, found.Text)
	return hits, err == nil, err
}

// indexQuery is a query as the index has it: days are whole, so that its bounds
// in milliseconds are exact.
func indexQuery(q Query) index.Query {
	in := index.Query{Text: q.Text, Types: q.Types, Statuses: q.Statuses, Limit: q.Limit, Offset: q.Offset}
	if q.Tag != "" {
		in.Tags = []string{q.Tag}
	}
	if !q.From.IsZero() {
		in.UpdatedFrom = q.From.UnixMilli()
	}
	if !q.Until.IsZero() {
		in.UpdatedTo = q.Until.UnixMilli() - 1
	}
	return in
}

// suggestFrom is among how many hits titles are looked for that have the beginning
// in their middle.
const suggestFrom = 100

// suggest is Suggest, unless it is the rows' turn. Titles that begin with the
// query are all known; if they are too few, those with a word that does are added,
// as far as they are among the best hits.
func (t *textIndex) suggest(ctx context.Context, seq int64, q Query) ([]string, bool, error) {
	begun := strings.TrimSpace(fold(q.Text))
	if begun == "" {
		return nil, true, nil
	}
	var titles []string
	var found index.Result
	ok, err := t.ask(ctx, seq, func(x *index.Index) {
		titles = x.Suggest(begun, q.Types, q.Limit)
		if len(titles) < q.Limit {
			found = x.Search(index.Query{Text: begun, Types: q.Types, Limit: suggestFrom})
		}
	})
	if !ok || err != nil || len(found.Hits) == 0 {
		return titles, ok, err
	}
	ids := make([]int64, len(found.Hits))
	for i, hit := range found.Hits {
		ids[i] = hit.ID
	}
	summaries, err := t.keeper.store.Summaries(ctx, ids)
	if err != nil {
		return nil, false, err
	}
	var more []completion
	for _, s := range summaries {
		if c, ok := complete(s.Title, begun); ok && c.rank > 0 && !slices.Contains(titles, s.Title) {
			more = append(more, c)
		}
	}
	return append(titles, firstCompletions(more, q.Limit-len(titles))...), true, nil
}

// buildState is what is known of building files.
type buildState struct {
	mu sync.Mutex
	// bad is the token of a file that cannot be used, and why.
	bad string
	why error
	// notBefore is when to try again after a failure.
	notBefore time.Time
	// done and total are how far it is; total is 0 when nobody builds.
	done, total int
}
