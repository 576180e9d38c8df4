package kb_test

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"

	"genkan/internal/filelock"
	"genkan/internal/gateway"
	"genkan/internal/kb"
	"genkan/internal/testkit"
)

// counted is a store that counts the reads of scans and builds, and those of walks.
type counted struct {
	kb.Store
	items, neighbours atomic.Int64
	// between, if set, is called after each page of a feed, and afterItems after each page of
	// items.
	between, afterItems func()
}

func (c *counted) Changes(ctx context.Context, after kb.Position, limit int) ([]kb.Change, error) {
	page, err := c.Store.Changes(ctx, after, limit)
	if c.between != nil {
		c.between()
	}
	return page, err
}

func (c *counted) Links(ctx context.Context, after kb.Position, limit int) ([]kb.Link, error) {
	page, err := c.Store.Links(ctx, after, limit)
	if c.between != nil {
		c.between()
	}
	return page, err
}

func (c *counted) Items(ctx context.Context, after int64, limit int) ([]kb.Item, error) {
	page, err := c.Store.Items(ctx, after, limit)
	c.items.Add(1)
	if c.afterItems != nil {
		c.afterItems()
	}
	return page, err
}

func (c *counted) Neighbours(ctx context.Context, ids []int64) ([]kb.Edge, error) {
	c.neighbours.Add(1)
	return c.Store.Neighbours(ctx, ids)
}

// process is one process's view of a data directory.
type process struct {
	*kb.Base
	store   *counted
	indexes *kb.Indexes
	close   func()
}

// logOf returns a logger that writes to the test's log.
func logOf(t testing.TB) *slog.Logger {
	if testing.Verbose() {
		return slog.New(slog.NewTextHandler(t.Output(), nil))
	}
	return slog.New(slog.DiscardHandler)
}

// openProcess opens a data directory as another process would.
func openProcess(t testing.TB, dir string, settings ...func(*kb.Indexes)) *process {
	t.Helper()
	s := openDatabase(t, filepath.Join(dir, "genkan.db"))
	p := &process{store: &counted{Store: s.Knowledge()}}
	p.indexes = kb.NewIndexes(p.store, kb.IndexOptions{Dir: filepath.Join(dir, "kb-index"), Log: logOf(t)})
	for _, set := range settings {
		set(p.indexes)
	}
	p.Base = kb.New(p.store, kb.Options{Finder: p.indexes, Graph: p.indexes})
	closed := false
	p.close = func() {
		if closed {
			return
		}
		closed = true
		if err := p.indexes.Close(); err != nil {
			t.Error(err)
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}
	t.Cleanup(p.close)
	return p
}

// fill adds items in a few large writes. Each item has its number, two words and two
// neighbours.
func (p *process) fill(t testing.TB, items int) {
	t.Helper()
	words := []string{"gateway", "server", "retry", "設計", "検索の実装", "ユーザー管理"}
	for done := 0; done < items; {
		err := p.store.Write(t.Context(), func(ctx context.Context, w kb.Writer) error {
			var refs []kb.Ref
			for i := range min(1000, items-done) {
				n := done + i
				item := kb.Item{
					Type: fmt.Sprint("type", n%3), Priority: kb.PriorityMedium, CreatedAt: time.UnixMicro(int64(n)), UpdatedAt: time.UnixMicro(int64(n)),
					Title:       fmt.Sprintf("Item %d about %s", n, words[n%len(words)]),
					Description: fmt.Sprintf("common number%d", n),
					Content:     strings.Repeat(words[n*7%len(words)]+" and "+words[n*5%len(words)]+"。", 1+n%20),
					Related:     refs[max(0, len(refs)-2):],
				}
				if err := w.Insert(ctx, &item); err != nil {
					return err
				}
				refs = append(refs, item.Ref())
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		done += min(1000, items-done)
	}
}

// total searches and returns the number of results.
func (p *process) total(t testing.TB, query string) int {
	t.Helper()
	found, err := p.Search(context.Background(), kb.Query{Text: query, Limit: 1})
	if err != nil {
		t.Fatal(err)
	}
	return found.Total
}

// built waits until there is an index with a file other than the given one. It asks
// questions all the time, because a question starts a build.
func (p *process) built(t testing.TB, before string) string {
	t.Helper()
	var path string
	testkit.Eventually(t, func() bool {
		p.total(t, "common")
		path, _ = p.indexes.HeldFile()
		return path != "" && path != before
	}, "the index has a new file")
	return path
}

// sameAsRows compares the results and snippets of the indexes with those of Scan. No word
// is a part, inflection or misspelling of another, so that both must find the same items.
func sameAsRows(t interface {
	Helper()
	Fatalf(format string, values ...any)
}, p *process, q kb.Query,
) {
	t.Helper()
	ctx := context.Background()
	want, err := kb.NewScan(p.store).Search(ctx, q)
	if err != nil {
		t.Fatalf("scan: %v", err)
	}
	got, err := p.indexes.Search(ctx, q)
	if err != nil {
		t.Fatalf("search: %v", err)
	}
	if want.Total == 0 && len(strings.Fields(q.Text)) > 1 {
		return // the index finds those that have the most words
	}
	snippets := func(h kb.Hits) map[int64]string {
		all := map[int64]string{}
		for _, hit := range h.Each {
			all[hit.ID] = hit.Snippet
			if !strings.Contains(hit.Snippet, "**") {
				t.Fatalf("%q: nothing is marked in %q", q.Text, hit.Snippet)
			}
		}
		return all
	}
	if diff := gocmp.Diff(snippets(want), snippets(got)); diff != "" || want.Total != got.Total {
		t.Fatalf("%+v: %d and not %d (-want +got)\n%s", q, got.Total, want.Total, diff)
	}
}

// TestIndexesOrder: an index in memory, a file, and a file with later changes give the
// same order, scores and snippets.
func TestIndexesOrder(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	memory := openProcess(t, dir, (*kb.Indexes).Patient, func(k *kb.Indexes) { k.InMemory(1_000_000) })
	memory.fill(t, 120)
	memory.total(t, "common")
	file := openProcess(t, dir, (*kb.Indexes).Patient, func(k *kb.Indexes) { k.InMemory(40) })
	first := file.built(t, "")
	same := func(when string) {
		t.Helper()
		for _, query := range []string{"common", "gateway", "設計", "検索の実装 retry", "ユーザ管理", "number7", "gatway", "server 運用"} {
			q := kb.Query{Text: query, Limit: 50, Offset: 3}
			want, err := memory.indexes.Search(t.Context(), q)
			if err != nil {
				t.Fatal(err)
			}
			got, err := file.indexes.Search(t.Context(), q)
			if diff := gocmp.Diff(want, got); err != nil || diff != "" || want.Total == 0 {
				t.Errorf("%s: %q: %d found, %v (-memory +file)\n%s", when, query, want.Total, err, diff)
			}
		}
	}
	same("file")
	memory.fill(t, 20)
	for id := range int64(15) {
		content := "設計 changed common"
		ref := kb.Ref{Type: fmt.Sprint("type", (3*id)%3), ID: 3*id + 1}
		if _, err := memory.Update(t.Context(), ref, kb.Patch{Content: &content}); err != nil {
			t.Fatal(err)
		}
	}
	same("changed since")
	if path, _ := file.indexes.HeldFile(); path != first {
		t.Errorf("there is another file: %s", path)
	}
	memory.fill(t, 60)
	file.built(t, first)
	same("new file")
	if path, ok := memory.indexes.HeldFile(); !ok || path != "" {
		t.Errorf("the index in memory has a file: %q", path)
	}
	if left, _ := filepath.Glob(filepath.Join(dir, "kb-index", "*.index*")); len(left) != 1 {
		t.Errorf("files: %v", left)
	}
}

// TestIndexesAreLazy: nothing is opened before the first question, and small knowledge
// bases have no file.
func TestIndexesAreLazy(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	p := openProcess(t, dir, (*kb.Indexes).Patient)
	if n := p.total(t, "anything"); n != 0 {
		t.Errorf("%d found", n)
	}
	if _, err := p.Suggest(t.Context(), kb.Query{Text: "a"}); err != nil {
		t.Error(err)
	}
	if _, ok := p.indexes.HeldFile(); ok || p.store.items.Load() != 0 {
		t.Error("there is an index of nothing")
	}
	p.fill(t, 300)
	if n := p.total(t, "common"); n != 300 {
		t.Errorf("%d found", n)
	}
	if path, ok := p.indexes.HeldFile(); !ok || path != "" || p.store.items.Load() != 0 {
		t.Errorf("index: %v, file: %q, and %d pages were scanned", ok, path, p.store.items.Load())
	}
	if _, err := p.Related(t.Context(), kb.Ref{Type: "type0", ID: 1}, 2, 50); err != nil || p.store.neighbours.Load() != 0 {
		t.Errorf("%v, and %d times the rows were asked", err, p.store.neighbours.Load())
	}
	if entries, _ := os.ReadDir(filepath.Join(dir, "kb-index")); len(entries) != 0 {
		t.Errorf("there are files: %v", entries)
	}
	// A write that changes no item counts, too.
	if _, _, err := p.SetState(t.Context(), kb.StatePatch{Content: "all is well"}); err != nil {
		t.Fatal(err)
	}
	if n := p.total(t, "common"); n != 300 || p.store.items.Load() != 0 {
		t.Errorf("%d found, and %d pages were scanned", n, p.store.items.Load())
	}
	// Signs alone are no words; the rows answer such a query.
	title := "a->b"
	if _, err := p.Create(t.Context(), "docs", kb.Patch{Title: &title}); err != nil {
		t.Fatal(err)
	}
	if n := p.total(t, "->"); n != 1 {
		t.Errorf("%d found", n)
	}
}

// TestIndexesWaitForNobody: while another process builds, the rows answer, and then all
// processes use the new file.
func TestIndexesWaitForNobody(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	small := func(k *kb.Indexes) { k.InMemory(10) }
	one, two := openProcess(t, dir, small), openProcess(t, dir, small)
	one.fill(t, 50)
	if err := os.MkdirAll(filepath.Dir(one.indexes.LockPath()), 0o700); err != nil {
		t.Fatal(err)
	}
	lock, err := filelock.Take(one.indexes.LockPath())
	if err != nil {
		t.Fatal(err)
	}
	for range 5 {
		if n := one.total(t, "common"); n != 50 {
			t.Errorf("%d found", n)
		}
	}
	if err := one.indexes.Rebuild(t.Context(), nil); err == nil || !strings.Contains(err.Error(), "another process is building") {
		t.Errorf("Rebuild: %v", err)
	}
	if _, ok := one.indexes.HeldFile(); ok {
		t.Error("there is an index")
	}
	filelock.Release(lock)
	path := one.built(t, "")
	if n := two.total(t, "common"); n != 50 {
		t.Errorf("%d found", n)
	}
	if other := two.built(t, ""); other != path {
		t.Errorf("%s and %s", path, other)
	}
}

// TestIndexesImpatient: the rows answer a question that would wait too long for the
// changes of others. The catch-up continues, even when its caller gives up.
func TestIndexesImpatient(t *testing.T) {
	p := openProcess(t, t.TempDir(), (*kb.Indexes).Patient)
	p.fill(t, 20)
	reading, goOn := make(chan bool, 100), make(chan bool)
	p.store.between = func() {
		reading <- true
		<-goOn
	}
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		<-reading
		cancel()
	}()
	if _, err := p.indexes.Search(ctx, kb.Query{Text: "common", Limit: 5}); !errors.Is(err, context.Canceled) {
		t.Errorf("given up: %v", err)
	}
	p.indexes.Impatient()
	if n := p.total(t, "common"); n != 20 || p.store.items.Load() == 0 {
		t.Errorf("%d found, and %d pages were scanned", n, p.store.items.Load())
	}
	close(goOn)
	p.indexes.Patient()
	scanned := p.store.items.Load()
	if n := p.total(t, "common"); n != 20 || p.store.items.Load() != scanned {
		t.Errorf("%d found, and %d more pages were scanned", n, p.store.items.Load()-scanned)
	}
}

// TestIndexesClose: Close cancels a running build, and the rows answer later questions.
func TestIndexesClose(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	p := openProcess(t, dir, func(k *kb.Indexes) { k.InMemory(10) })
	p.fill(t, 300)
	p.total(t, "common")
	if err := p.indexes.Close(); err != nil {
		t.Fatal(err)
	}
	if n := p.total(t, "common"); n != 300 {
		t.Errorf("%d found", n)
	}
	if _, err := p.Related(t.Context(), kb.Ref{Type: "type0", ID: 1}, 1, 10); err != nil {
		t.Error(err)
	}
	if left, _ := filepath.Glob(filepath.Join(dir, "kb-index", "*.new-*")); len(left) != 0 {
		t.Errorf("left behind: %v", left)
	}
}

// TestIndexesFeed: items are changed, deleted and created while their changes are read.
func TestIndexesFeed(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	p := openProcess(t, dir, func(k *kb.Indexes) { k.SmallLimits(); k.InMemory(1000); k.LargeSteps() })
	other := openProcess(t, dir)
	p.fill(t, 6)
	if n := p.total(t, "common"); n != 6 {
		t.Fatalf("%d found", n)
	}
	walk := func() int {
		found, err := p.indexes.Related(t.Context(), 1, 3, 100)
		if err != nil {
			t.Fatal(err)
		}
		return len(found.Nodes)
	}
	walk()
	title, related := "another common", []kb.Ref{{Type: "type0", ID: 1}}
	var added []kb.Ref
	add := func() {
		item, err := other.Create(t.Context(), "docs", kb.Patch{Title: &title, Related: &related})
		if err != nil {
			t.Error(err)
		}
		added = append(added, item.Ref())
	}
	for range 4 {
		add()
	}
	times := 0
	p.store.between = func() { // what was just read is gone, and something new is there
		if times++; times <= 8 && times%2 == 1 {
			if _, err := other.Delete(t.Context(), added[0]); err != nil {
				t.Error(err)
			}
			added = added[1:]
			add()
		}
	}
	for range 3 {
		if n := p.total(t, "another"); n != 4 {
			t.Errorf("%d found", n)
		}
		if n := walk(); n != 9 {
			t.Errorf("%d around", n)
		}
	}
	p.store.between = nil
	sameAsRows(t, p, kb.Query{Text: "another", Limit: 100})
	if h, err := p.indexes.Check(t.Context()); err != nil || !h.Good() || !h.Indexed || h.Items != 10 {
		t.Errorf("%+v, %v", h, err)
	}
}

// TestIndexesRebuildThatCannotWrite: the error names the place, and the rows still answer.
func TestIndexesRebuildThatCannotWrite(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	p := openProcess(t, dir)
	p.fill(t, 10)
	p.indexes.InMemory(0)
	p.indexes.Impatient()
	if err := os.WriteFile(filepath.Join(dir, "kb-index"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	err := p.indexes.Rebuild(t.Context(), nil)
	if e := gateway.AsError(err); e.Code != gateway.CodeUnavailable || !strings.Contains(e.Error(), filepath.Join(dir, "kb-index")) {
		t.Errorf("%v", err)
	}
	if n := p.total(t, "common"); n != 10 {
		t.Errorf("%d found", n)
	}
}

// TestIndexesRebuild: Rebuild reports its progress and can be canceled.
func TestIndexesRebuild(t *testing.T) {
	t.Parallel()
	p := openProcess(t, t.TempDir(), (*kb.Indexes).Patient, func(k *kb.Indexes) { k.InMemory(10) })
	p.fill(t, 250)
	var told []int
	if err := p.indexes.Rebuild(t.Context(), func(done, total int) { told = append(told, done, total) }); err != nil {
		t.Fatal(err)
	}
	if want := []int{250, 250}; !slices.Equal(told, want) {
		t.Errorf("told %v", told)
	}
	path, _ := p.indexes.HeldFile()
	ctx, cancel := context.WithCancel(t.Context())
	err := p.indexes.Rebuild(ctx, func(int, int) { cancel() })
	if now, _ := p.indexes.HeldFile(); err == nil || now != path {
		t.Errorf("given up: %v, and the file is %s", err, now)
	}
	if done, total := p.indexes.Building(); cmp.Or(done, total) != 0 {
		t.Errorf("it still builds: %d of %d", done, total)
	}
	if n := p.total(t, "common"); n != 250 {
		t.Errorf("%d found", n)
	}
}
