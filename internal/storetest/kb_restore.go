package storetest

import (
	"context"
	"errors"
	"testing"
	"time"

	"genkan/internal/kb"
)

// What is restored keeps its times, and its id where nobody can have had that.
func testKBRestore(t *testing.T, s Stores) {
	restore := func(item kb.Item, former ...kb.Ref) (kb.Item, []kb.Ref) {
		t.Helper()
		var kept []kb.Ref
		write(t, s, func(ctx context.Context, w kb.Writer) (err error) {
			kept, err = w.Restore(ctx, &item, former)
			return err
		})
		return item, kept
	}
	long := instant().Add(-1000 * time.Hour)
	want := fullItem()
	want.ID, want.Type, want.CreatedAt, want.UpdatedAt, want.Related = 7, "docs", long, long.Add(time.Hour), nil
	got, kept := restore(want, kb.Ref{Type: "notes", ID: 3}, kb.Ref{Type: "notes", ID: 7}, kb.Ref{Type: "notes", ID: 9})
	wantEqual(t, got, want)
	wantEqual(t, kept, []kb.Ref{{Type: "notes", ID: 3}}) // others are not former ones
	wantEqual(t, itemOf(t, s, 7).Item, want)
	wantEqual(t, itemOf(t, s, 3).Item.ID, 7)
	former, err := s.Knowledge.Former(t.Context(), []int64{3, 7})
	must(t, err)
	wantEqual(t, former, map[int64][]kb.Ref{7: {{Type: "notes", ID: 3}}})

	// What was, or may have been, somebody's id is not given again, nor one so high
	// that there would be none left.
	for _, id := range []int64{7, 5, 0, 8, kb.MaxKeptID + 1} {
		again, kept := restore(kb.Item{ID: id, Type: "docs", Title: "x", CreatedAt: long, UpdatedAt: long}, kb.Ref{Type: "notes", ID: 4})
		if again.ID == id || again.ID > 12 || kept != nil {
			t.Errorf("%d became %d, with %v", id, again.ID, kept)
		}
	}
	wantEqual(t, insert(t, s, kb.Item{}).ID, int64(13))
	next, _ := restore(kb.Item{ID: 40, Type: "docs", Title: "x", CreatedAt: long, UpdatedAt: long})
	wantEqual(t, next.ID, int64(40))
	wantEqual(t, insert(t, s, kb.Item{}).ID, int64(41))

	// A retired status is one that it may have had.
	write(t, s, func(ctx context.Context, w kb.Writer) error {
		return w.SetStatuses(ctx, []kb.Status{{Name: "Only"}})
	})
	old, _ := restore(kb.Item{Type: "docs", Title: "x", Status: "Review", CreatedAt: long, UpdatedAt: long})
	wantEqual(t, itemOf(t, s, old.ID).Item.Status, "Review")
	err = s.Knowledge.Write(t.Context(), func(ctx context.Context, w kb.Writer) error {
		_, err := w.Restore(ctx, &kb.Item{Type: "docs", Title: "x", Status: "Nowhere"}, nil)
		return err
	})
	if !errors.Is(err, kb.ErrUnknownStatus) {
		t.Errorf("%v", err)
	}

	// Relations are told to who follows them, and update nobody.
	seq, err := s.Knowledge.Sequence(t.Context())
	must(t, err)
	for range 2 {
		write(t, s, func(ctx context.Context, w kb.Writer) error {
			return w.Relate(ctx, []kb.Edge{{A: 7, B: 40}, {A: 7, B: 8}, {A: 8, B: 40}})
		})
	}
	wantEqual(t, itemOf(t, s, 7).Item.UpdatedAt, want.UpdatedAt)
	wantEqual(t, itemOf(t, s, 40).Item.Related, []kb.Ref{{Type: "docs", ID: 7}, {Type: "docs", ID: 8}})
	links, err := s.Knowledge.Links(t.Context(), kb.After(seq), 9)
	must(t, err)
	wantEqual(t, len(links), 3)
}
