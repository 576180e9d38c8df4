package kb

import (
	"context"
	"slices"
	"strings"
	"time"
)

// Finder searches items by the words in title, description and content. Concurrent
// callers may share an answer, so callers must not modify it.
type Finder interface {
	Search(ctx context.Context, q Query) (Hits, error)
	// Suggest completes the beginning of a title.
	Suggest(ctx context.Context, q Query) ([]string, error)
}

// Query is a search query.
type Query struct {
	Text string
	// Types and Statuses list alternatives. An empty list matches all.
	Types, Statuses []string
	// Tag, if it is not empty, restricts the search to items with this tag.
	Tag string
	// From and Until bound the time of the last update, as in Filter.
	From, Until   time.Time
	Limit, Offset int
}

// passes reports whether an item matches the filters of the query.
func (q *Query) passes(item *Item) bool {
	return oneOf(item.Type, q.Types) && oneOf(item.Status, q.Statuses) &&
		(q.Tag == "" || slices.Contains(item.Tags, q.Tag)) &&
		!item.UpdatedAt.Before(q.From) && (q.Until.IsZero() || item.UpdatedAt.Before(q.Until))
}

// Hits are search results, the best first.
type Hits struct {
	Each []Match
	// Total is the number of results on all pages.
	Total int
}

// Match is an item that a search found. The snippet is a piece of its text with the
// matches between double asterisks.
type Match struct {
	Summary
	Score   float64
	Snippet string
}

// Matches is a page of search results.
type Matches struct {
	Items         []Match
	Total         int
	Limit, Offset int
}

// Search finds items. It includes all statuses unless the query names some. An item whose
// reference, or number after a #, is the whole query comes first.
func (b *Base) Search(ctx context.Context, q Query) (found Matches, err error) {
	defer b.stamp(&err)
	if err := q.check(UsualPage, MaxPage); err != nil {
		return Matches{}, err
	}
	if q.Statuses, err = b.knownStatuses(ctx, q.Statuses); err != nil {
		return Matches{}, err
	}
	named, err := b.named(ctx, &q)
	if err != nil {
		return Matches{}, err
	}
	words := q
	if len(named) > 0 { // it takes the place before all others
		words.Limit, words.Offset = max(q.Limit-1, 1), max(q.Offset-1, 0)
		if q.Offset > 0 {
			words.Limit = q.Limit
		}
	}
	hits, err := b.finder.Search(ctx, words)
	if err != nil || len(named) == 0 {
		return Matches{Items: hits.Each, Total: hits.Total, Limit: q.Limit, Offset: q.Offset}, err
	}
	all := slices.DeleteFunc(slices.Clone(hits.Each), func(m Match) bool { return m.ID == named[0].ID })
	total := hits.Total + 1 - (len(hits.Each) - len(all))
	if q.Offset == 0 {
		if len(all) > 0 {
			named[0].Score += all[0].Score
		}
		all = append(named, all...)
	}
	return Matches{Items: all[:min(len(all), q.Limit)], Total: total, Limit: q.Limit, Offset: q.Offset}, nil
}

// named returns the item that a query names, if it passes its filters.
func (b *Base) named(ctx context.Context, q *Query) ([]Match, error) {
	text := strings.TrimSpace(fold(q.Text))
	number, alone := strings.CutPrefix(text, "#")
	if alone {
		text = "any-" + number
	}
	ref, ok := splitRef(text)
	if !ok {
		return nil, nil
	}
	found, ok, err := b.store.Item(ctx, ref.ID)
	named := func(known Ref) bool { return fold(known.String()) == text }
	if err != nil || !ok || !q.passes(&found.Item) || !alone && !named(found.Item.Ref()) && !named(found.Former) {
		return nil, err
	}
	return shown(ctx, b.store, []scored{{ref.ID, 1}}, q.Text)
}

// Suggest completes the beginning of a title.
func (b *Base) Suggest(ctx context.Context, q Query) (suggestions []string, err error) {
	defer b.stamp(&err)
	q.Offset = 0
	if err := q.check(UsualSuggestions, MaxSuggestions); err != nil {
		return nil, err
	}
	return b.finder.Suggest(ctx, q)
}

// scored is a search result whose item has not been read yet.
type scored struct {
	id    int64
	score float64
}

// shown reads all found items at once and makes the snippets. The query is the one
// that the finder used, after its corrections.
func shown(ctx context.Context, store Store, found []scored, query string) ([]Match, error) {
	if len(found) == 0 {
		return nil, nil
	}
	ids := make([]int64, len(found))
	for i := range found {
		ids[i] = found[i].id
	}
	items, err := store.Texts(ctx, ids)
	if err != nil {
		return nil, err
	}
	marks := newMarker(query)
	matches := make([]Match, 0, len(items))
	for i := range items {
		item := &items[i]
		for found[0].id != item.ID { // the item was just deleted
			found = found[1:]
		}
		matches = append(matches, Match{item.Summary(), found[0].score, marks.snippet(item)})
	}
	return matches, nil
}

func (b *Base) summaries(ctx context.Context, ids []int64) (map[int64]Summary, error) {
	if len(ids) == 0 {
		return nil, nil
	}
	all, err := b.store.Summaries(ctx, ids)
	known := make(map[int64]Summary, len(all))
	for _, s := range all {
		known[s.ID] = s
	}
	return known, err
}
