package storetest

import (
	"context"
	"errors"
	"slices"
	"testing"

	"genkan/internal/kb"
)

func testKBStatuses(t *testing.T, s Stores) {
	statuses := func() []kb.Status {
		all, err := s.Knowledge.Statuses(t.Context())
		must(t, err)
		return all
	}
	set := func(all ...kb.Status) error {
		return s.Knowledge.Write(t.Context(), func(ctx context.Context, w kb.Writer) error { return w.SetStatuses(ctx, all) })
	}
	wantEqual(t, statuses(), kb.DefaultStatuses())
	item := insert(t, s, kb.Item{Status: "Review"})
	another := s.Another(t)
	want := []kb.Status{{Name: "New"}, {Name: "Review", Closed: true}}
	must(t, set(want...))
	wantEqual(t, statuses(), want)
	// Its items are closed with it.
	for closed, n := range map[bool]int{false: 0, true: 1} {
		for _, types := range [][]string{nil, {"docs"}} {
			page, err := s.Knowledge.List(t.Context(), kb.Filter{Types: types, Closed: closed, Limit: 1})
			must(t, err)
			wantEqual(t, page.Total, n)
		}
	}
	wantEqual(t, insert(t, s, kb.Item{}).Status, "New")
	for _, handle := range []Stores{s, another} {
		page, err := handle.Knowledge.List(t.Context(), kb.Filter{Closed: true, Limit: 9})
		must(t, err)
		wantEqual(t, []string{page.Items[0].Status, page.Items[1].Status}, []string{"New", "Review"})
	}
	wantEqual(t, itemOf(t, s, item.ID).Item.Status, "Review")
}

// A status that is not among those that are set any more stays where it is.
func testKBRetiredStatuses(t *testing.T, s Stores) {
	set := func(all ...kb.Status) {
		write(t, s, func(ctx context.Context, w kb.Writer) error { return w.SetStatuses(ctx, all) })
	}
	statuses := func() []kb.Status {
		all, err := s.Another(t).Knowledge.Statuses(t.Context())
		must(t, err)
		return all
	}
	listed := func(f kb.Filter) (ids []int64) {
		f.Limit = 9
		page, err := s.Knowledge.List(t.Context(), f)
		must(t, err)
		wantEqual(t, page.Total, len(page.Items))
		for _, item := range page.Items {
			ids = append(ids, item.ID)
		}
		return ids
	}
	one, two := insert(t, s, kb.Item{Status: "Review"}), insert(t, s, kb.Item{Status: "Completed"})
	set(kb.Status{Name: "Done", Closed: true}, kb.Status{Name: "Todo"})
	old := []kb.Status{{Name: "Review", Retired: true}, {Name: "Completed", Closed: true, Retired: true}}
	wantEqual(t, statuses(), append([]kb.Status{{Name: "Done", Closed: true}, {Name: "Todo"}}, old...))
	wantEqual(t, insert(t, s, kb.Item{}).Status, "Todo") // the first open one, not the first one

	wantEqual(t, listed(kb.Filter{Statuses: []string{"Completed", "Review"}}), []int64{two.ID, one.ID})
	wantEqual(t, slices.Contains(listed(kb.Filter{}), one.ID), true)
	wantEqual(t, slices.Contains(listed(kb.Filter{}), two.ID), false) // it is as closed as it was

	// What changes otherwise keeps it, also under another type; nothing else gets it.
	write(t, s, func(ctx context.Context, w kb.Writer) error {
		item := itemOf(t, s, one.ID).Item
		item.Title = "another"
		return w.Update(ctx, &item, kb.Parts{})
	})
	write(t, s, func(ctx context.Context, w kb.Writer) error {
		item := two
		item.Type = "moved"
		return w.Retype(ctx, two.Ref(), &item)
	})
	wantEqual(t, itemOf(t, s, one.ID).Item.Status, "Review")
	wantEqual(t, itemOf(t, s, two.ID).Item.Status, "Completed")
	for _, change := range []func(ctx context.Context, w kb.Writer) error{
		func(ctx context.Context, w kb.Writer) error {
			return w.Insert(ctx, &kb.Item{Type: "a", Title: "b", Status: "Review", CreatedAt: instant(), UpdatedAt: instant()})
		},
		func(ctx context.Context, w kb.Writer) error {
			item := itemOf(t, s, one.ID).Item
			item.Status = "Completed"
			return w.Update(ctx, &item, kb.Parts{})
		},
	} {
		if err := s.Knowledge.Write(t.Context(), change); !errors.Is(err, kb.ErrUnknownStatus) {
			t.Errorf("%v", err)
		}
	}

	// It goes with its last item, and comes back when it is set again, open or not.
	write(t, s, func(ctx context.Context, w kb.Writer) error { return w.Delete(ctx, one.ID) })
	wantEqual(t, statuses()[2:], old[1:])
	set(kb.Status{Name: "Completed"}, kb.Status{Name: "Review"})
	wantEqual(t, statuses(), []kb.Status{{Name: "Completed"}, {Name: "Review"}, {Name: "Todo", Retired: true}})
	wantEqual(t, len(listed(kb.Filter{})), 2)
}
