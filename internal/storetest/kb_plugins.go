package storetest

import (
	"cmp"
	"context"
	"slices"
	"testing"

	"genkan/internal/gateway"
	"genkan/internal/kb"
	"genkan/internal/kb/semantic"
)

// testKBVectors: vectors of items, by model.
func testKBVectors(t *testing.T, s Stores) {
	ours, theirs := semantic.Hash{1}, semantic.Hash{2}
	begin := func(s Stores, model semantic.Hash) kb.Position {
		t.Helper()
		at, err := s.ItemVectors.BeginVectors(t.Context(), model)
		must(t, err)
		return at
	}
	of := func(s Stores, model semantic.Hash, ids ...int64) []semantic.Row {
		t.Helper()
		rows, err := s.ItemVectors.VectorsOf(t.Context(), model, ids)
		must(t, err)
		slices.SortFunc(rows, func(a, b semantic.Row) int { return cmp.Compare(a.Item, b.Item) })
		return rows
	}
	after := func(model semantic.Hash, item int64, limit int) []semantic.Row {
		t.Helper()
		rows, err := s.ItemVectors.VectorsAfter(t.Context(), model, item, limit)
		must(t, err)
		return rows
	}
	save := func(s Stores, model semantic.Hash, done kb.Position, rows ...semantic.Row) {
		t.Helper()
		must(t, s.ItemVectors.SaveVectors(t.Context(), model, rows, done))
	}
	wantEqual(t, begin(s, ours), kb.Position{})
	a, b, c := insert(t, s, kb.Item{Type: "docs"}), insert(t, s, kb.Item{Type: "issues"}), insert(t, s, kb.Item{})
	before, houseBefore := kbSequence(t, s), sequenceOf(t, s)
	row := func(item kb.Item, seq int64, vectors ...byte) semantic.Row {
		return semantic.Row{Item: item.ID, Seq: seq, Type: item.Type, Text: semantic.Hash{9, byte(seq)}, Chunks: len(vectors) / 2, Vectors: vectors}
	}
	ra, rb, rc := row(a, 1, 0, 255), row(b, 2, 1, 2, 3, 4), row(c, 3, 7, 8)
	save(s, ours, kb.Position{Seq: 2, ID: b.ID}, ra, rb)
	wantEqual(t, begin(s.Another(t), ours), kb.Position{Seq: 2, ID: b.ID})
	wantEqual(t, of(s, ours, c.ID, b.ID, a.ID, 999), []semantic.Row{ra, rb})
	wantEqual(t, of(s, theirs, a.ID), nil)
	save(s, ours, kb.Position{Seq: 3, ID: c.ID}, rc)
	wantEqual(t, after(ours, 0, 2), []semantic.Row{ra, rb})
	wantEqual(t, after(ours, b.ID, 2), []semantic.Row{rc})

	// One that comes late neither goes back nor brings back.
	save(s.Another(t), ours, kb.Position{Seq: 1, ID: a.ID}, row(b, 1, 6, 6))
	wantEqual(t, begin(s, ours), kb.Position{Seq: 3, ID: c.ID})
	wantEqual(t, of(s, ours, b.ID), []semantic.Row{rb})
	// A text that the model does not take has none.
	none := row(c, 4)
	save(s, ours, kb.Position{Seq: 4, ID: c.ID}, none)
	got := of(s, ours, c.ID)
	if len(got) != 1 || got[0].Chunks != 0 || len(got[0].Vectors) != 0 || got[0].Text != none.Text {
		t.Errorf("a row without vectors is %v", got)
	}

	// They go with their item, and do not come back.
	write(t, s, func(ctx context.Context, w kb.Writer) error { return w.Delete(ctx, b.ID) })
	save(s, ours, kb.Position{Seq: 5, ID: b.ID}, rb, ra)
	wantEqual(t, of(s, ours, a.ID, b.ID), []semantic.Row{ra})

	// Another model takes the place, row by row, and begins at the beginning.
	wantEqual(t, begin(s, theirs), kb.Position{})
	save(s, theirs, kb.Position{Seq: 1, ID: a.ID}, row(a, 1, 5, 5))
	wantEqual(t, of(s, ours, a.ID), nil)
	wantEqual(t, len(after(ours, 0, 10)), 1)
	save(s, ours, kb.Position{Seq: 9, ID: 9}) // somebody with the former one
	wantEqual(t, begin(s, theirs), kb.Position{Seq: 1, ID: a.ID})
	must(t, s.ItemVectors.ForgetVectors(t.Context(), theirs))
	wantEqual(t, after(theirs, 0, 10), nil)
	wantEqual(t, len(after(ours, 0, 10)), 1)
	wantEqual(t, begin(s, theirs), kb.Position{})

	count := func(at kb.Position) int {
		t.Helper()
		n, err := s.ItemVectors.ItemsAfter(t.Context(), at)
		must(t, err)
		return n
	}
	wantEqual(t, count(kb.Position{}), 2)
	wantEqual(t, count(kb.After(kbSequence(t, s))), 0)
	all := changesAfter(t, s, kb.Position{}, 10)
	wantEqual(t, count(all[0].Position), 1)

	if now := kbSequence(t, s); now != before+1 { // the deletion
		t.Errorf("vectors moved the sequence of the knowledge base from %d to %d", before, now)
	}
	if now := sequenceOf(t, s); now != houseBefore {
		t.Errorf("vectors moved the change sequence of the house from %d to %d", houseBefore, now)
	}
	_, err := s.ItemVectors.BeginVectors(canceled(t), ours)
	wantCode(t, err, gateway.CodeCanceled)
	wantCode(t, s.ItemVectors.SaveVectors(canceled(t), ours, nil, kb.Position{}), gateway.CodeCanceled)
	_, err = s.ItemVectors.VectorsAfter(canceled(t), ours, 0, 1)
	wantCode(t, err, gateway.CodeCanceled)
}

// testKBPluginValues: what plugins keep is each one's own.
func testKBPluginValues(t *testing.T, s Stores) {
	load := func(plugin, key string) string {
		t.Helper()
		value, ok, err := s.PluginValues.PluginValue(t.Context(), plugin, key)
		must(t, err)
		if !ok {
			return "none"
		}
		return string(value)
	}
	save := func(plugin, key string, value []byte) {
		t.Helper()
		must(t, s.PluginValues.SavePluginValue(t.Context(), plugin, key, value))
	}
	wantEqual(t, load("a", "k"), "none")
	save("a", "k", []byte("one"))
	save("a", "empty", []byte{})
	save("b", "k", []byte("\x00 other"))
	save("a", "k", []byte("two"))
	for _, name := range oddNames() {
		save("odd", name, []byte(name))
	}
	for _, name := range oddNames() {
		wantEqual(t, load("odd", name), name)
	}
	wantEqual(t, load("a", "k"), "two")
	wantEqual(t, load("a", "empty"), "")
	wantEqual(t, load("b", "k"), "\x00 other")
	keys, err := s.Another(t).PluginValues.PluginKeys(t.Context(), "a")
	must(t, err)
	wantEqual(t, keys, []string{"empty", "k"})
	save("a", "k", nil)
	save("a", "k", nil)
	wantEqual(t, load("a", "k"), "none")
}
