package kb_test

import (
	"context"
	"fmt"
	"log/slog"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"genkan/internal/kb"
	"genkan/internal/sqlite"
)

// Several callers in two processes add and remove tags and relations at the same time. All
// changes take effect.
func TestAddingAtTheSameTimeLosesNothing(t *testing.T) {
	path := filepath.Join(t.TempDir(), "genkan.db")
	var bases []*kb.Base
	for range 2 {
		s, err := sqlite.Open(t.Context(), path, slog.New(slog.DiscardHandler))
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = s.Close() })
		bases = append(bases, kb.New(s.Knowledge(), kb.Options{}))
	}
	const callers = 16
	create := func(fields kb.Patch) kb.Ref {
		t.Helper()
		title := "an item"
		fields.Title = &title
		item, err := bases[0].Create(t.Context(), "docs", fields)
		if err != nil {
			t.Fatal(err)
		}
		return item.Ref()
	}
	var old, fresh []string
	var oldRefs, freshRefs []kb.Ref
	for i := range callers {
		old, fresh = append(old, fmt.Sprintf("old %d", i)), append(fresh, fmt.Sprintf("fresh %d", i))
		oldRefs, freshRefs = append(oldRefs, create(kb.Patch{})), append(freshRefs, create(kb.Patch{}))
	}
	center := create(kb.Patch{Tags: &old, Related: &oldRefs})
	var all sync.WaitGroup
	for i := range callers {
		all.Go(func() {
			if _, err := bases[i%2].Update(t.Context(), center, kb.Patch{
				AddTags: &[]string{fresh[i]}, RemoveTags: &[]string{old[i]},
				AddRelated: &[]kb.Ref{freshRefs[i]}, RemoveRelated: &[]kb.Ref{oldRefs[i]},
			}); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	found, err := bases[0].Get(t.Context(), center)
	if err != nil {
		t.Fatal(err)
	}
	slices.Sort(found.Item.Tags)
	slices.Sort(fresh)
	if !slices.Equal(found.Item.Tags, fresh) || !slices.Equal(found.Item.Related, freshRefs) {
		t.Errorf("tags %q, related %v", found.Item.Tags, found.Item.Related)
	}
}

// The maximum number of tags holds for added tags, too.
func TestAddedTagsAreLimited(t *testing.T) {
	b := newBase(t)
	tags := make([]string, kb.MaxTags)
	for i := range tags {
		tags[i] = fmt.Sprint(i)
	}
	title := "full"
	item, err := b.Create(t.Context(), "docs", kb.Patch{Title: &title, Tags: &tags})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := b.Update(t.Context(), item.Ref(), kb.Patch{AddTags: &[]string{"one more"}}); err == nil {
		t.Error("one more was added")
	}
	if _, err := b.Update(t.Context(), item.Ref(), kb.Patch{AddTags: &[]string{"one more"}, RemoveTags: &[]string{"0"}}); err != nil {
		t.Error(err)
	}
}

// A write that changes nothing leaves the update time, the rows and the change sequence as
// they are. In a bulk update that holds for each item.
func TestNoChangeWritesNothing(t *testing.T) {
	b := newBase(t)
	tools := kb.NewTools(b.Base, kb.Languages{})
	for _, arguments := range []string{
		`{"type":"docs","title":"one"}`,
		`{"type":"docs","title":"two","description":"d","content":"c","status":"Review","priority":"LOW","category":"x",` +
			`"start_date":"2026-02-01","end_date":"2026-03-01","version":"1","related":["docs-1"],"tags":["a","b"]}`,
	} {
		talk(t, tools, "create_item", arguments)
	}
	talk(t, tools, "update_current_state", `{"content":"s","updated_by":"me","related":["docs-1"],"tags":["t"]}`)
	before := kept(t, b.store)
	for _, c := range [][2]string{
		{"update_item", `{"type":"docs","id":2}`},
		{"update_item", `{"type":"docs","id":2,"title":"two","description":"d","content":"c","status":"Review","priority":"LOW","category":"x",` +
			`"start_date":"2026-02-01T09:00:00+09:00","end_date":"2026-03-01","version":"1","related":["docs-1","docs-1"],"tags":["a","b","a "]}`},
		{"update_item", `{"type":"docs","id":2,"add_tags":["a"],"remove_tags":["c"],"add_related":["docs-1"]}`},
		{"update_item", `{"type":"docs","id":1,"status":"","priority":null,"start_date":"","tags":[],"content":""}`},
		{"bulk_update", `{"updates":[{"type":"docs","id":1,"data":{"title":"one"}},{"type":"docs","id":2,"data":{}}]}`},
		{"update_current_state", `{"content":"s","updated_by":"me"}`},
		{"update_current_state", `{"content":"s","updated_by":"me","related":["docs-1"],"tags":["t"]}`},
	} {
		if answer := talk(t, tools, c[0], c[1]); !strings.Contains(answer, `"changed":[]`) || strings.Contains(answer, `"dropped`) {
			t.Errorf("%s %s: %s", c[0], c[1], answer)
		}
		if diff := cmp.Diff(before, kept(t, b.store)); diff != "" {
			t.Fatalf("%s %s changed something:\n%s", c[0], c[1], diff)
		}
	}
	answer := talk(t, tools, "bulk_update", `{"updates":[{"type":"docs","id":1,"data":{"title":"one"}},{"type":"docs","id":2,"data":{"title":"new"}}]}`)
	changes, err := b.store.Changes(t.Context(), kb.After(before[0].(int64)), 10)
	if err != nil || len(changes) != 1 || changes[0].ID != 2 || changes[0].Seq != before[0].(int64)+1 {
		t.Errorf("%v, %v: %s", changes, err, answer)
	}
}

func talk(t *testing.T, tools *kb.Tools, name, arguments string) string {
	t.Helper()
	answer, err := call(t.Context(), tools, []byte(`{"name":"`+name+`","arguments":`+arguments+`}`))
	if err != nil || strings.HasPrefix(string(answer), `{"code":`) {
		t.Fatalf("%s %s: %s, %v", name, arguments, answer, err)
	}
	return string(answer)
}

// Items that are in the database with surrounding white space in their types or with
// impossible dates can still be found and changed, and a restored item keeps its dates.
func TestItemsFromBefore(t *testing.T) {
	b := newBase(t)
	day := func(n int) time.Time { return time.Date(2026, 2, n, 0, 0, 0, 0, time.UTC) }
	item := kb.Item{Type: " docs", Title: "old", Priority: kb.PriorityMedium, Start: day(2), End: day(1), CreatedAt: day(1), UpdatedAt: day(1)}
	if err := b.store.Write(t.Context(), func(ctx context.Context, w kb.Writer) error { return w.Insert(ctx, &item) }); err != nil {
		t.Fatal(err)
	}
	for _, kind := range []string{"docs", " docs"} {
		if found, err := b.Get(t.Context(), kb.Ref{Type: kind, ID: item.ID}); err != nil || found.Item.Title != "old" {
			t.Errorf("%q: %v, %v", kind, found.Item, err)
		}
	}
	title := "new"
	found, err := b.Update(t.Context(), kb.Ref{Type: "docs", ID: item.ID}, kb.Patch{Title: &title})
	if err != nil || found.Item.Title != "new" || !found.Item.Start.Equal(day(2)) {
		t.Errorf("%v, %v", found.Item, err)
	}
	item.ID, item.Tags = 0, []string{" a", "a "}
	all, err := b.Restore(t.Context(), kb.Restoration{Items: []kb.RestoredItem{{Item: item}}, State: &kb.State{Content: "x", Tags: []string{" t"}}})
	if err != nil || all[0].Ref.Type != "docs" {
		t.Fatalf("%v, %v", all, err)
	}
	found, err = b.Get(t.Context(), all[0].Ref)
	if err != nil || !found.Item.Start.Equal(day(2)) || !found.Item.End.Equal(day(1)) || !slices.Equal(found.Item.Tags, []string{"a"}) {
		t.Errorf("%v, %v", found.Item, err)
	}
	if state, err := b.State(t.Context()); err != nil || !slices.Equal(state.Tags, []string{"t"}) {
		t.Errorf("%v, %v", state, err)
	}
	_, err = b.Restore(t.Context(), kb.Restoration{Items: []kb.RestoredItem{{Item: kb.Item{ID: -1, Tags: []string{" "}}}}})
	const want = "1002 Validation failed: items[0]: type: Type is required and must not be empty; id: Must be a positive integer; " +
		"title: Title is required and must not be empty; tags[0]: A tag must not be empty"
	if err == nil || err.Error() != want {
		t.Errorf("%v", err)
	}
}
