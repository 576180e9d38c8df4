package kb_test

import (
	"fmt"
	"log/slog"
	"path/filepath"
	"slices"
	"sync"
	"testing"

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
