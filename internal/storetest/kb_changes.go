package storetest

import (
	"context"
	"testing"

	"genkan/internal/kb"
)

func testKBSequence(t *testing.T, s Stores) {
	another := s.Another(t)
	wantEqual(t, kbSequence(t, s), 0)
	house := sequenceOf(t, s)
	for n := range int64(3) {
		insert(t, s, kb.Item{})
		wantEqual(t, kbSequence(t, another), n+1)
	}
	// A write that only looks is no change.
	write(t, s, func(ctx context.Context, w kb.Writer) error {
		_, _, err := w.Item(ctx, 1)
		return err
	})
	wantEqual(t, kbSequence(t, s), 3)
	wantEqual(t, sequenceOf(t, s), house)
}

// change is a kb.Change without the item.
type change struct {
	kb.Position
	Deleted bool
	Title   string
}

func changesAfter(t testing.TB, s Stores, after kb.Position, limit int) []change {
	t.Helper()
	all, err := s.Knowledge.Changes(t.Context(), after, limit)
	must(t, err)
	var out []change
	for _, c := range all {
		wantEqual(t, c.Item.ID, c.ID)
		out = append(out, change{c.Position, c.Deleted, c.Item.Title})
	}
	return out
}

func testKBChanges(t *testing.T, s Stores) {
	one, two := insert(t, s, kb.Item{Title: "one", Tags: []string{"b", "a"}}), insert(t, s, kb.Item{Title: "two"})
	three := insert(t, s, kb.Item{Title: "three", Related: []kb.Ref{one.Ref()}}) // moves one, too
	at := func(seq int64, item kb.Item) change {
		return change{kb.Position{Seq: seq, ID: item.ID}, false, item.Title}
	}
	want := []change{at(2, two), at(3, one), at(3, three)}
	wantEqual(t, changesAfter(t, s, kb.Position{}, 10), want)
	wantEqual(t, changesAfter(t, s, kb.After(2), 10), want[1:])
	wantEqual(t, changesAfter(t, s, kb.After(3), 10), nil)
	// Reading on within a write.
	wantEqual(t, changesAfter(t, s, kb.Position{}, 2), want[:2])
	wantEqual(t, changesAfter(t, s, want[1].Position, 2), want[2:])

	write(t, s, func(ctx context.Context, w kb.Writer) error { return w.Delete(ctx, one.ID) })
	deleted := change{kb.Position{Seq: 4, ID: one.ID}, true, ""}
	wantEqual(t, changesAfter(t, s, kb.After(3), 10), []change{deleted, at(4, three)})
	wantEqual(t, changesAfter(t, s.Another(t), kb.Position{}, 10), []change{at(2, two), deleted, at(4, three)})

	// All but the neighbours is told.
	full := insert(t, s, fullItem(two.Ref()))
	all, err := s.Knowledge.Changes(t.Context(), kb.After(4), 10)
	must(t, err)
	full.Related = nil
	wantItem(t, all[1].Item, full)
}

func linksAfter(t testing.TB, s Stores, after kb.Position, limit int) []kb.Link {
	t.Helper()
	all, err := s.Knowledge.Links(t.Context(), after, limit)
	must(t, err)
	return all
}

func testKBLinks(t *testing.T, s Stores) {
	one, two := insert(t, s, kb.Item{}), insert(t, s, kb.Item{})
	three := insert(t, s, kb.Item{Related: []kb.Ref{one.Ref(), two.Ref()}})
	link := func(seq int64, item kb.Item, others ...int64) kb.Link {
		return kb.Link{Position: kb.Position{Seq: seq, ID: item.ID}, Neighbours: others}
	}
	want := []kb.Link{link(3, one, three.ID), link(3, two, three.ID), link(3, three, one.ID, two.ID)}
	wantEqual(t, linksAfter(t, s, kb.Position{}, 10), want)
	wantEqual(t, linksAfter(t, s, want[0].Position, 1), want[1:2])

	// Taking a relation away is a change of both ends.
	write(t, s, func(ctx context.Context, w kb.Writer) error {
		found, _, err := w.Item(ctx, two.ID)
		if err != nil {
			return err
		}
		return w.Update(ctx, &found.Item, kb.Parts{Unlink: []int64{three.ID}})
	})
	wantEqual(t, linksAfter(t, s, kb.After(3), 10), []kb.Link{link(4, two), link(4, three, one.ID)})
	write(t, s, func(ctx context.Context, w kb.Writer) error { return w.Delete(ctx, one.ID) })
	gone := link(5, one)
	gone.Deleted = true
	wantEqual(t, linksAfter(t, s, kb.After(4), 10), []kb.Link{gone, link(5, three)})

	edges, err := s.Knowledge.Neighbours(t.Context(), []int64{one.ID, two.ID, three.ID})
	must(t, err)
	wantEqual(t, edges, nil)
	four := insert(t, s, kb.Item{Related: []kb.Ref{two.Ref(), three.Ref()}})
	for _, ids := range [][]int64{{four.ID}, {two.ID, three.ID}, {three.ID, four.ID, two.ID, 999}} {
		edges, err := s.Knowledge.Neighbours(t.Context(), ids)
		must(t, err)
		wantEqual(t, edges, []kb.Edge{{A: two.ID, B: four.ID}, {A: three.ID, B: four.ID}})
	}
}

// testKBWhole: who begins anew knows everything with the changes since.
func testKBWhole(t *testing.T, s Stores) {
	whole := func() kb.Relations {
		all, err := s.Knowledge.Relations(t.Context())
		must(t, err)
		return all
	}
	wantEqual(t, whole(), kb.Relations{})
	one, two := insert(t, s, fullItem()), insert(t, s, kb.Item{})
	three := insert(t, s, kb.Item{Related: []kb.Ref{one.Ref(), two.Ref()}})
	wantEqual(t, whole(), kb.Relations{
		Seq: 3, IDs: []int64{one.ID, two.ID, three.ID}, Edges: []kb.Edge{{A: one.ID, B: three.ID}, {A: two.ID, B: three.ID}},
	})
	write(t, s, func(ctx context.Context, w kb.Writer) error { return w.Delete(ctx, two.ID) })
	wantEqual(t, whole(), kb.Relations{Seq: 4, IDs: []int64{one.ID, three.ID}, Edges: []kb.Edge{{A: one.ID, B: three.ID}}})

	three.Related = nil
	for _, c := range []struct {
		after int64
		limit int
		want  []kb.Item
	}{
		{0, 10, []kb.Item{one, three}},
		{0, 1, []kb.Item{one}},
		{one.ID, 1, []kb.Item{three}},
		{three.ID, 1, nil},
	} {
		all, err := s.Knowledge.Items(t.Context(), c.after, c.limit)
		must(t, err)
		wantEqual(t, len(all), len(c.want))
		for i := range all {
			wantItem(t, all[i], c.want[i])
		}
	}
}

// testKBIndexFile: every process knows the file, and naming one is no change.
func testKBIndexFile(t *testing.T, s Stores) {
	insert(t, s, kb.Item{})
	before, another := kbSequence(t, s), s.Another(t)
	for _, want := range []kb.IndexFile{{}, {Seq: 1, Token: "a"}, {Seq: 7, Token: "b"}, {Seq: 2, Token: "c"}} {
		if want != (kb.IndexFile{}) {
			must(t, s.Knowledge.SetIndexFile(t.Context(), want))
		}
		got, err := another.Knowledge.IndexFile(t.Context())
		must(t, err)
		wantEqual(t, got, want)
	}
	wantEqual(t, kbSequence(t, another), before)
}
