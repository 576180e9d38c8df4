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

// textIndex is the text index of Indexes. A small knowledge base has its index in
// memory. A larger one has a file and, in memory, the changes since.
//
// It finds what Scan finds, and differs where users expect more of an index:
//
//   - Latin words are compared as words and without their inflection: sign finds
//     signs and signed, but not design. Only the last word of a query may be a prefix
//     (desi finds design).
//   - A long mark at the end of a katakana word is optional.
//   - An unknown word is taken for a typing error of one letter. If no item has all
//     words, the items with the most words are found. Scan finds nothing in both cases.
//   - The index has nothing for a query without any letter or character. Scan answers
//     such a query.
//
// So both find the same items whenever Scan finds any, for words that are no part,
// inflection or misspelling of another word, and for runs of kanji and hiragana. The
// scores and the order are those of the index.
type textIndex struct {
	indexes *Indexes
	dir     string
	catchUp singleJob

	mu  sync.RWMutex // held by searches, and to replace the index
	now *heldIndex

	builder singleJob
	build   buildState
}

// heldIndex is an index in use. Only the catch-up job writes to it.
type heldIndex struct {
	*index.Index
	file IndexFile // zero if there is no file
	size int64     // of the file
	// removed is the number of items deleted since the file was built.
	removed int
	// verifying is held while the checksums of the file are compared.
	verifying sync.WaitGroup
}

func (h *heldIndex) close() error {
	h.verifying.Wait()
	return h.Close()
}

// pending returns the number of changes since the file was built.
func (h *heldIndex) pending() int {
	_, delta := h.Len()
	return delta + h.removed
}

func (t *textIndex) held() *heldIndex {
	t.mu.RLock()
	defer t.mu.RUnlock()
	return t.now
}

// put replaces the index in use. It waits for the searches of the old one.
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
		t.forget() // the damage was found while the index was opened
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

// advance opens the index if needed and applies the changes since.
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

// due reports whether a new file should be built.
func (t *textIndex) due(h *heldIndex) bool {
	l := &t.indexes.limits
	documents, _ := h.Len()
	return h.pending() > max(l.due, min(documents/8, l.dueMost)) || h.DeltaSize() > max(l.dueBytes, int(h.size/4))
}

// full reports whether the changes in memory have reached their limit.
func (t *textIndex) full(h *heldIndex) bool {
	l := &t.indexes.limits
	return h.pending() > l.most || h.DeltaSize() > max(l.mostBytes, int(h.size/2))
}

// batch holds changes that are applied together. It keeps the last change of each
// item.
type batch struct {
	seq     int64
	puts    map[int64]index.Document
	deletes []int64
	bytes   int
}

func (b *batch) add(c *Change) {
	b.seq = c.Seq
	if c.Deleted {
		// The item may have been put just before, and the index applies deletions first.
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

// documentOf returns the indexed fields of an item.
func documentOf(item *Item) index.Document {
	return index.Document{
		ID: item.ID, Type: item.Type, Status: item.Status,
		Title: item.Title, Description: item.Description, Content: item.Content,
		Tags: item.Tags, Updated: item.UpdatedAt.UnixMilli(),
	}
}

// follow applies the changes since the index's last write, in steps of a bounded size
// that end between two writes. The index equals the store only at the end of the feed.
// A concurrent search sees each item in its old or its new state, as a scan does. It
// returns false if there are so many changes that a new file is better.
func (t *textIndex) follow(ctx context.Context, h *heldIndex) (bool, error) {
	l := &t.indexes.limits
	target, err := t.indexes.store.Sequence(ctx)
	if err != nil {
		return false, err
	}
	at := After(h.Sequence())
	var step batch
	for {
		if t.full(h) {
			return false, nil
		}
		page, err := t.indexes.store.Changes(ctx, at, l.page)
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
			// A write is applied as a whole, and may be too large for that.
			if step.add(c); len(step.puts) > l.most || step.bytes > l.writeBytes {
				return false, nil
			}
			at = c.Position
		}
		if len(page) < l.page {
			break
		}
	}
	// A page that is not full ends at the store's sequence when it was read. Writes
	// that changed no item leave a gap before the target.
	if err := step.apply(h, max(target, at.Seq)); err != nil {
		t.damaged(h, err)
		return false, err
	}
	return true, nil
}

// use calls search with the index, if the index includes the write seq. It returns
// false if it does not, or if reading the file failed; the result of search is
// invalid then.
func (t *textIndex) use(seq int64, search func(x *index.Index)) bool {
	h, err := t.read(seq, search)
	if err != nil {
		t.damaged(h, err) // takes the lock that read has released
	}
	return h != nil && err == nil
}

// read is use under the lock.
func (t *textIndex) read(seq int64, search func(x *index.Index)) (*heldIndex, error) {
	t.mu.RLock()
	defer t.mu.RUnlock()
	h := t.now
	if h == nil || h.Sequence() < seq {
		return nil, nil
	}
	return h, index.Guard(func() { search(h.Index) })
}

// damaged stops using an index whose file is damaged. The next question starts to
// build a new one.
func (t *textIndex) damaged(h *heldIndex, why error) {
	t.build.setBad(h.file.Token, why)
	t.indexes.log.Warn("the text index is damaged and is built anew", slog.Any("error", why))
	if t.held() == h {
		t.forget()
	}
}

// ask waits until the index includes the write seq and calls search. It returns false
// if the rows must answer.
func (t *textIndex) ask(ctx context.Context, seq int64, search func(x *index.Index)) (bool, error) {
	// A new file may have replaced the index in between and may be behind.
	for range 3 {
		ok, err := t.indexes.reach(ctx, t, &t.catchUp, seq, t.indexes.limits.searchPatience)
		if !ok || err != nil {
			return false, err
		}
		if seq == 0 || t.use(seq, search) {
			return true, nil // nothing was ever written, or the index is up to date
		}
	}
	return false, nil
}

// search answers Search. It returns false if the rows must answer.
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
	hits.Each, err = shown(ctx, t.indexes.store, each, found.Text)
	return hits, err == nil, err
}

// indexQuery converts a query. Its bounds are whole days, so milliseconds are exact.
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

// suggestFrom is the number of hits that are searched for titles with the prefix in
// the middle.
const suggestFrom = 100

// suggest answers Suggest. It returns false if the rows must answer. Titles that
// begin with the query come first. If there are too few, titles with a word that
// begins with it follow, taken from the best hits.
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
	summaries, err := t.indexes.store.Summaries(ctx, ids)
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

// buildState is the state of the current and the last build.
type buildState struct {
	mu sync.Mutex
	// bad is the token of an unusable file, and why the reason.
	bad string
	why error
	// notBefore is the earliest time of the next build after a failure.
	notBefore time.Time
	// done and total are the progress of the build; total is 0 without one.
	done, total int
}
