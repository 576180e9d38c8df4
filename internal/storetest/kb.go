package storetest

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/google/go-cmp/cmp"

	"genkan/internal/gateway"
	"genkan/internal/kb"
)

// kbTests are those of the knowledge base.
func kbTests() map[string]func(*testing.T, Stores) {
	return map[string]func(*testing.T, Stores){
		"KBItems":        testKBItems,
		"KBTexts":        testKBTexts,
		"KBUpdate":       testKBUpdate,
		"KBSequence":     testKBSequence,
		"KBChanges":      testKBChanges,
		"KBLinks":        testKBLinks,
		"KBWhole":        testKBWhole,
		"KBIndexFile":    testKBIndexFile,
		"KBRetype":       testKBRetype,
		"KBRefused":      testKBRefused,
		"KBStatuses":     testKBStatuses,
		"KBRetired":      testKBRetiredStatuses,
		"KBRestore":      testKBRestore,
		"KBState":        testKBState,
		"KBCanceled":     testKBCanceled,
		"KBList":         testKBList,
		"KBListOrder":    testKBListOrder,
		"KBTags":         testKBTags,
		"KBConcurrent":   testKBConcurrent,
		"KBOwnErrors":    testKBOwnErrors,
		"KBModel":        testKBModel,
		"KBVectors":      testKBVectors,
		"KBPluginValues": testKBPluginValues,
	}
}

// write makes a change that must succeed.
func write(t testing.TB, s Stores, change func(ctx context.Context, w kb.Writer) error) {
	t.Helper()
	must(t, s.Knowledge.Write(t.Context(), change))
}

// insert adds an item with the usual fields where it has none.
func insert(t testing.TB, s Stores, item kb.Item) kb.Item {
	t.Helper()
	if item.Type == "" {
		item.Type = "docs"
	}
	if item.Title == "" {
		item.Title = "title"
	}
	if item.Priority == "" {
		item.Priority = kb.PriorityMedium
	}
	if item.CreatedAt.IsZero() {
		item.CreatedAt = instant()
	}
	if item.UpdatedAt.IsZero() {
		item.UpdatedAt = instant()
	}
	write(t, s, func(ctx context.Context, w kb.Writer) error {
		one := item
		err := w.Insert(ctx, &one)
		if err == nil {
			item = one
		}
		return err
	})
	return item
}

func itemOf(t testing.TB, s Stores, id int64) kb.Found {
	t.Helper()
	found, ok, err := s.Knowledge.Item(t.Context(), id)
	must(t, err)
	if !ok {
		t.Fatalf("there is no item %d", id)
	}
	return found
}

func wantNoItem(t testing.TB, s Stores, id int64) {
	t.Helper()
	_, ok, err := s.Knowledge.Item(t.Context(), id)
	must(t, err)
	if ok {
		t.Fatalf("there is an item %d", id)
	}
}

func kbSequence(t testing.TB, s Stores) int64 {
	t.Helper()
	n, err := s.Knowledge.Sequence(t.Context())
	must(t, err)
	return n
}

// wantItem compares items; nil and empty lists are the same.
func wantItem(t testing.TB, got, want kb.Item) {
	t.Helper()
	if diff := cmp.Diff(want, got, cmpopts.EquateEmpty()); diff != "" {
		t.Fatalf("(-want +got)\n%s", diff)
	}
}

func fullItem(related ...kb.Ref) kb.Item {
	return kb.Item{
		Type: "設計-docs", Title: "API設計", Description: "短い説明", Content: "# 内容\n" + strings.Repeat("長い ", 30_000),
		Status: "Review", Priority: kb.PriorityHigh, Category: "backend", Version: "1.0.0-β",
		Start: instant().Add(-time.Hour), End: time.Date(1969, 1, 2, 3, 4, 5, 678000, time.UTC),
		Tags: []string{"zebra", "api", "日本語"}, Related: related,
		CreatedAt: instant(), UpdatedAt: instant().Add(time.Second),
	}
}

// textOf is what Texts tell of an item.
func textOf(item kb.Item) kb.Item {
	return kb.Item{
		ID: item.ID, Type: item.Type, Title: item.Title, Description: item.Description, Content: item.Content,
		Status: item.Status, Priority: item.Priority, Tags: item.Tags, CreatedAt: item.CreatedAt, UpdatedAt: item.UpdatedAt,
	}
}

func testKBItems(t *testing.T, s Stores) {
	wantNoItem(t, s, 1)
	other := insert(t, s, kb.Item{})
	wantItem(t, other, kb.Item{
		ID: other.ID, Type: "docs", Title: "title", Status: "Open", Priority: kb.PriorityMedium,
		CreatedAt: instant(), UpdatedAt: instant(),
	})
	full := insert(t, s, fullItem(other.Ref()))
	if full.ID <= other.ID {
		t.Errorf("after %d comes %d", other.ID, full.ID)
	}
	want := fullItem(other.Ref())
	want.ID = full.ID
	for _, handle := range []Stores{s, s.Another(t)} {
		found := itemOf(t, handle, full.ID)
		wantItem(t, found.Item, want)
		wantEqual(t, found.Former, kb.Ref{})
		wantEqual(t, itemOf(t, handle, other.ID).Item.Related, []kb.Ref{full.Ref()})
	}
	all, err := s.Knowledge.Summaries(t.Context(), []int64{full.ID, 999, other.ID, full.ID})
	must(t, err)
	fullSummary, otherSummary := want.Summary(), other.Summary()
	wantEqual(t, all, []kb.Summary{fullSummary, otherSummary, fullSummary})
	texts, err := s.Knowledge.Texts(t.Context(), []int64{full.ID, 999, other.ID, full.ID})
	must(t, err)
	fullText, otherText := textOf(want), textOf(other)
	wantEqual(t, texts, []kb.Item{fullText, otherText, fullText})
	if none, err := s.Knowledge.Texts(t.Context(), nil); err != nil || len(none) > 0 {
		t.Errorf("%d items, %v", len(none), err)
	}

	// An id is never used again.
	write(t, s, func(ctx context.Context, w kb.Writer) error { return w.Delete(ctx, full.ID) })
	wantNoItem(t, s, full.ID)
	wantItem(t, itemOf(t, s, other.ID).Item, other)
	if again := insert(t, s, kb.Item{}); again.ID <= full.ID {
		t.Errorf("id %d was used again as %d", full.ID, again.ID)
	}
}

func testKBTexts(t *testing.T, s Stores) {
	for _, text := range append(oddNames(), "<b>'\"\\;--%_?", "e\u0301", "\U0001f600\u2028", "a\r\n\tb") {
		if strings.ContainsRune(text, 0) || text == "" {
			continue // the knowledge base refuses these
		}
		item := insert(t, s, kb.Item{
			Type: text, Title: text, Description: text, Content: text, Category: text, Version: text, Tags: []string{text, text + `","` + text, "plain"},
		})
		wantItem(t, itemOf(t, s, item.ID).Item, item)
		neighbour := insert(t, s, kb.Item{Related: []kb.Ref{item.Ref()}})
		wantEqual(t, itemOf(t, s, neighbour.ID).Item.Related, []kb.Ref{item.Ref()})
		page, err := s.Knowledge.List(t.Context(), kb.Filter{Types: []string{text}, Tag: text, Closed: true, Limit: 5})
		must(t, err)
		wantEqual(t, page.Items, []kb.Summary{item.Summary()})
	}
}

func testKBUpdate(t *testing.T, s Stores) {
	one, two, three := insert(t, s, kb.Item{}), insert(t, s, kb.Item{}), insert(t, s, kb.Item{})
	item := insert(t, s, fullItem(one.Ref(), two.Ref()))
	changed := item
	changed.Title, changed.Status, changed.Start, changed.Category = "another", "Closed", time.Time{}, ""
	changed.UpdatedAt, changed.Tags, changed.Related = instant().Add(time.Hour), []string{"api", "new"}, []kb.Ref{two.Ref(), three.Ref()}
	write(t, s, func(ctx context.Context, w kb.Writer) error {
		copied := changed
		if err := w.Update(ctx, &copied, kb.Parts{Tags: true, Link: []int64{three.ID}, Unlink: []int64{one.ID}}); err != nil {
			return err
		}
		seen, _, err := w.Item(ctx, item.ID) // a write sees what it has done
		wantItem(t, seen.Item, changed)
		return err
	})
	wantItem(t, itemOf(t, s, item.ID).Item, changed)
	wantItem(t, itemOf(t, s, one.ID).Item, one)
	wantEqual(t, itemOf(t, s, three.ID).Item.Related, []kb.Ref{item.Ref()})
	wantTags(t, s, kb.Tag{Name: "api", Count: 1}, kb.Tag{Name: "new", Count: 1})
}

func testKBRetype(t *testing.T, s Stores) {
	one := insert(t, s, kb.Item{})
	item := insert(t, s, fullItem(one.Ref()))
	last := insert(t, s, kb.Item{Related: []kb.Ref{item.Ref()}})
	write(t, s, func(ctx context.Context, w kb.Writer) error {
		return w.SetState(ctx, &kb.State{UpdatedAt: instant(), Related: []kb.Ref{item.Ref()}})
	})
	retype := func(former kb.Item, kind string) kb.Item {
		moved := former
		write(t, s, func(ctx context.Context, w kb.Writer) error {
			moved = former
			moved.Type = kind
			return w.Retype(ctx, former.Ref(), &moved)
		})
		if moved.ID <= former.ID {
			t.Errorf("%v became %v", former.Ref(), moved.Ref())
		}
		return moved
	}
	first := itemOf(t, s, item.ID).Item
	second := retype(first, "notes")
	third := retype(second, "tasks")
	for _, former := range []kb.Ref{first.Ref(), second.Ref()} {
		found := itemOf(t, s, former.ID)
		wantItem(t, found.Item, third)
		wantEqual(t, found.Former, former)
	}
	wantEqual(t, itemOf(t, s, third.ID).Former, kb.Ref{})
	wantEqual(t, third.Related, []kb.Ref{one.Ref(), last.Ref()})
	for _, neighbour := range []kb.Item{one, last} {
		wantEqual(t, itemOf(t, s, neighbour.ID).Item.Related, []kb.Ref{third.Ref()})
	}
	state, err := s.Knowledge.State(t.Context())
	must(t, err)
	wantEqual(t, state.Related, []kb.Ref{third.Ref()})
	write(t, s, func(ctx context.Context, w kb.Writer) error {
		places, err := w.Resolve(ctx, []int64{first.ID, third.ID, one.ID, 999})
		wantEqual(t, places, map[int64]kb.Place{
			first.ID: {Ref: third.Ref(), Former: first.Ref()}, third.ID: {Ref: third.Ref()}, one.ID: {Ref: one.Ref()},
		})
		return err
	})
	wantTags(t, s, kb.Tag{Name: "api", Count: 1}, kb.Tag{Name: "zebra", Count: 1}, kb.Tag{Name: "日本語", Count: 1})

	// With the item go its former references.
	write(t, s, func(ctx context.Context, w kb.Writer) error { return w.Delete(ctx, third.ID) })
	for _, gone := range []kb.Item{first, second, third} {
		wantNoItem(t, s, gone.ID)
	}
}

// snapshot is all that can be read.
func snapshot(t testing.TB, s Stores) []any {
	t.Helper()
	changes, err := s.Knowledge.Changes(t.Context(), kb.Position{}, 10_000)
	must(t, err)
	tags, err := s.Knowledge.Tags(t.Context())
	must(t, err)
	statuses, err := s.Knowledge.Statuses(t.Context())
	must(t, err)
	state, err := s.Knowledge.State(t.Context())
	must(t, err)
	page, err := s.Knowledge.List(t.Context(), kb.Filter{Closed: true, Limit: 1})
	must(t, err)
	return []any{kbSequence(t, s), changes, linksAfter(t, s, kb.Position{}, 10_000), tags, statuses, state, page}
}

func testKBRefused(t *testing.T, s Stores) {
	one := insert(t, s, fullItem())
	before := snapshot(t, s)
	refusal := errors.New("no")
	for name, c := range map[string]struct {
		change func(ctx context.Context, w kb.Writer) error
		want   error
	}{
		"after everything": {func(ctx context.Context, w kb.Writer) error {
			item := fullItem(one.Ref())
			if err := w.Insert(ctx, &item); err != nil {
				return err
			}
			if err := w.SetState(ctx, &kb.State{Content: "x", UpdatedAt: instant()}); err != nil {
				return err
			}
			if err := w.Delete(ctx, one.ID); err != nil {
				return err
			}
			return refusal
		}, refusal},
		"insert with an unknown status": {func(ctx context.Context, w kb.Writer) error {
			return w.Insert(ctx, &kb.Item{Type: "a", Title: "b", Status: "open", CreatedAt: instant(), UpdatedAt: instant()})
		}, kb.ErrUnknownStatus},
		"update with an unknown status": {func(ctx context.Context, w kb.Writer) error {
			item := one
			item.Status = "Nowhere"
			return w.Update(ctx, &item, kb.Parts{})
		}, kb.ErrUnknownStatus},
	} {
		if err := s.Knowledge.Write(t.Context(), c.change); !errors.Is(err, c.want) {
			t.Errorf("%s: %v", name, err)
		}
		if diff := cmp.Diff(before, snapshot(t, s)); diff != "" {
			t.Errorf("%s changed something:\n%s", name, diff)
		}
	}
}

func testKBState(t *testing.T, s Stores) {
	stateOf := func() kb.State {
		state, err := s.Knowledge.State(t.Context())
		must(t, err)
		return state
	}
	wantEqual(t, stateOf(), kb.State{})
	one, two := insert(t, s, kb.Item{}), insert(t, s, kb.Item{})
	want := kb.State{
		Content: "# いま\n", UpdatedBy: "ai-start", UpdatedAt: instant(),
		Related: []kb.Ref{one.Ref(), two.Ref()}, Tags: []string{"b", "a"},
	}
	write(t, s, func(ctx context.Context, w kb.Writer) error { return w.SetState(ctx, &want) })
	wantEqual(t, stateOf(), want)
	wantTags(t, s) // a state's tags are nobody's
	write(t, s, func(ctx context.Context, w kb.Writer) error { return w.Delete(ctx, one.ID) })
	want.Related = want.Related[1:]
	wantEqual(t, stateOf(), want)
	write(t, s, func(ctx context.Context, w kb.Writer) error { return w.SetState(ctx, &kb.State{UpdatedAt: instant()}) })
	wantEqual(t, stateOf(), kb.State{UpdatedAt: instant()})
}

func testKBCanceled(t *testing.T, s Stores) {
	before := snapshot(t, s)
	_, _, err := s.Knowledge.Item(canceled(t), 1)
	wantCode(t, err, gateway.CodeCanceled)
	_, err = s.Knowledge.List(canceled(t), kb.Filter{Limit: 1})
	wantCode(t, err, gateway.CodeCanceled)
	err = s.Knowledge.Write(canceled(t), func(ctx context.Context, w kb.Writer) error {
		item := fullItem()
		return w.Insert(ctx, &item)
	})
	wantCode(t, err, gateway.CodeCanceled)
	wantEqual(t, snapshot(t, s), before)
}
