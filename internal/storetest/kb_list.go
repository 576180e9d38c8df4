package storetest

import (
	"context"
	"slices"
	"testing"
	"time"

	"genkan/internal/kb"
)

func wantTags(t testing.TB, s Stores, want ...kb.Tag) {
	t.Helper()
	tags, err := s.Knowledge.Tags(t.Context())
	must(t, err)
	if !slices.Equal(tags, want) {
		t.Fatalf("tags %v, want %v", tags, want)
	}
}

// listed are the titles of a page, in one string, and the total.
func listed(t testing.TB, s Stores, f kb.Filter) (titles string, total int) {
	t.Helper()
	if f.Limit == 0 {
		f.Limit = 100
	}
	page, err := s.Knowledge.List(t.Context(), f)
	must(t, err)
	wantEqual(t, [2]int{page.Limit, page.Offset}, [2]int{f.Limit, f.Offset})
	for _, one := range page.Items {
		titles += one.Title
	}
	return titles, page.Total
}

func testKBList(t *testing.T, s Stores) {
	day := func(n int) time.Time { return time.Date(2026, 3, n, 0, 0, 0, 0, time.UTC) }
	for i, one := range []kb.Item{
		{Title: "a", Type: "docs", Status: "Open", UpdatedAt: day(1), Tags: []string{"x"}},
		{Title: "b", Type: "docs", Status: "Review", UpdatedAt: day(2).Add(-time.Microsecond), Tags: []string{"x", "y"}},
		{Title: "c", Type: "docs", Status: "Closed", UpdatedAt: day(2), Tags: []string{"x"}},
		{Title: "d", Type: "notes", Status: "Open", UpdatedAt: day(3)},
		{Title: "e", Type: "notes", Status: "Canceled", UpdatedAt: day(4), Tags: []string{"y", "x"}},
		{Title: "f", Type: "docs", Status: "Open", UpdatedAt: day(5)},
		{Title: "g", Type: "docs-2", Status: "Closed", UpdatedAt: day(6)},
	} {
		if item := insert(t, s, one); item.ID != int64(i+1) {
			t.Fatalf("%d is %d", i+1, item.ID)
		}
	}
	docs := []string{"docs"}
	for name, c := range map[string]struct {
		filter kb.Filter
		titles string
		total  int
	}{
		"open ones":               {kb.Filter{}, "fdba", 4},
		"all":                     {kb.Filter{Closed: true}, "gfedcba", 7},
		"of a type":               {kb.Filter{Types: docs}, "fba", 3},
		"all of a type":           {kb.Filter{Types: docs, Closed: true}, "fcba", 4},
		"of two types":            {kb.Filter{Types: []string{"notes", "docs-2"}, Closed: true}, "ged", 3},
		"of no type":              {kb.Filter{Types: []string{"nothing"}, Closed: true}, "", 0},
		"in a status":             {kb.Filter{Types: docs, Statuses: []string{"Closed"}}, "c", 1},
		"in statuses":             {kb.Filter{Types: docs, Statuses: []string{"Closed", "Open", "Testing"}}, "fca", 3},
		"in statuses, any type":   {kb.Filter{Statuses: []string{"Closed", "Canceled"}}, "gec", 3},
		"in statuses, two types":  {kb.Filter{Types: []string{"notes", "docs"}, Statuses: []string{"Open"}}, "fda", 3},
		"first page":              {kb.Filter{Closed: true, Limit: 2}, "gf", 7},
		"a page":                  {kb.Filter{Closed: true, Limit: 2, Offset: 3}, "dc", 7},
		"last page":               {kb.Filter{Closed: true, Limit: 2, Offset: 6}, "a", 7},
		"behind the last page":    {kb.Filter{Closed: true, Limit: 2, Offset: 9}, "", 7},
		"a page of a type":        {kb.Filter{Types: docs, Limit: 1, Offset: 1}, "b", 3},
		"a page in statuses":      {kb.Filter{Types: docs, Statuses: []string{"Open", "Closed"}, Limit: 1, Offset: 1}, "c", 3},
		"from a day":              {kb.Filter{Closed: true, From: day(4)}, "gfe", 3},
		"until a day":             {kb.Filter{Closed: true, Until: day(2)}, "ba", 2},
		"on a day":                {kb.Filter{Types: docs, Closed: true, From: day(2), Until: day(3)}, "c", 1},
		"between, a page":         {kb.Filter{Closed: true, From: day(2), Until: day(6), Limit: 2}, "fe", 4},
		"between, in statuses":    {kb.Filter{Types: docs, Statuses: []string{"Open", "Review"}, From: day(1), Until: day(2), Limit: 1}, "b", 2},
		"with a tag":              {kb.Filter{Tag: "x", Closed: true}, "ecba", 4},
		"with a tag, of a type":   {kb.Filter{Tag: "x", Types: docs, Closed: true}, "cba", 3},
		"with a tag, a page":      {kb.Filter{Tag: "x", Closed: true, Limit: 1, Offset: 1}, "c", 4},
		"with a tag, type, page":  {kb.Filter{Tag: "x", Types: docs, Closed: true, Limit: 1, Offset: 1}, "b", 3},
		"with a tag of nobody":    {kb.Filter{Tag: "z", Closed: true}, "", 0},
		"with no tag, page":       {kb.Filter{Tag: "z", Closed: true, Offset: 3}, "", 0},
		"with a tag, behind last": {kb.Filter{Tag: "x", Closed: true, Offset: 30}, "", 4},
	} {
		if titles, total := listed(t, s, c.filter); titles != c.titles || total != c.total {
			t.Errorf("%s: %q of %d, want %q of %d", name, titles, total, c.titles, c.total)
		}
	}
}

// testKBListOrder: among items that were updated at once the higher id is first.
func testKBListOrder(t *testing.T, s Stores) {
	for _, title := range []string{"a", "b", "c", "d"} {
		insert(t, s, kb.Item{Title: title, Tags: []string{"x"}, Status: map[string]string{"b": "Closed", "c": "Review"}[title]})
	}
	for _, f := range []kb.Filter{
		{Closed: true},
		{Types: []string{"docs"}, Closed: true},
		{Types: []string{"docs"}, Statuses: []string{"Open", "Closed", "Review"}},
		{Tag: "x", Closed: true},
	} {
		if titles, _ := listed(t, s, f); titles != "dcba" {
			t.Errorf("%+v: %s", f, titles)
		}
		// The order is the same however it is cut into pages.
		f.Limit = 1
		var all string
		for f.Offset = range 4 {
			titles, _ := listed(t, s, f)
			all += titles
		}
		wantEqual(t, all, "dcba")
	}
	// What is updated comes first.
	write(t, s, func(ctx context.Context, w kb.Writer) error {
		found, _, err := w.Item(ctx, 1)
		if err != nil {
			return err
		}
		found.Item.UpdatedAt = instant().Add(time.Microsecond)
		return w.Update(ctx, &found.Item, kb.Parts{})
	})
	for _, f := range []kb.Filter{{Closed: true}, {Tag: "x", Closed: true}} {
		if titles, _ := listed(t, s, f); titles != "adcb" {
			t.Errorf("%+v: %s", f, titles)
		}
	}
}

func testKBTags(t *testing.T, s Stores) {
	wantTags(t, s)
	one := insert(t, s, kb.Item{Tags: []string{"b", "a"}})
	two := insert(t, s, kb.Item{Tags: []string{"b", "A"}})
	wantTags(t, s, kb.Tag{Name: "b", Count: 2}, kb.Tag{Name: "A", Count: 1}, kb.Tag{Name: "a", Count: 1})
	write(t, s, func(ctx context.Context, w kb.Writer) error { return w.Delete(ctx, one.ID) })
	wantTags(t, s, kb.Tag{Name: "A", Count: 1}, kb.Tag{Name: "b", Count: 1})
	// A tag that goes and comes back in one write.
	write(t, s, func(ctx context.Context, w kb.Writer) error {
		item := two
		item.Tags = nil
		if err := w.Update(ctx, &item, kb.Parts{Tags: true}); err != nil {
			return err
		}
		item.Tags = []string{"b"}
		return w.Update(ctx, &item, kb.Parts{Tags: true})
	})
	wantTags(t, s, kb.Tag{Name: "b", Count: 1})
}
