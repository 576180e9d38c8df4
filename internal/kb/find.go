package kb

import (
	"context"
	"slices"
	"time"
)

// Finder finds items by their words. Title, description and content count.
type Finder interface {
	Search(ctx context.Context, q Query) (Hits, error)
	// Suggest completes what somebody has begun to type.
	Suggest(ctx context.Context, q Query) ([]string, error)
}

// Query is what somebody looks for.
type Query struct {
	Text string
	// Types and Statuses are alternatives; none is all.
	Types, Statuses []string
	// Tag, if it is not empty, is one that items must have.
	Tag string
	// From and Until bound when items were updated, as a Filter's do.
	From, Until   time.Time
	Limit, Offset int
}

// passes reports whether an item is one of those that are looked among.
func (q *Query) passes(item *Item) bool {
	return oneOf(item.Type, q.Types) && oneOf(item.Status, q.Statuses) &&
		(q.Tag == "" || slices.Contains(item.Tags, q.Tag)) &&
		!item.UpdatedAt.Before(q.From) && (q.Until.IsZero() || item.UpdatedAt.Before(q.Until))
}

// Hits are items that were found, the best first.
type Hits struct {
	Each []Hit
	// Total is how many there are on all pages.
	Total int
}

// Hit is one of them. The snippet is a piece of its text with the match between
// double asterisks.
type Hit struct {
	ID      int64
	Score   float64
	Snippet string
}

// Match is a hit with what lists say of the item.
type Match struct {
	Summary
	Score   float64
	Snippet string
}

// Matches are a page of what was found.
type Matches struct {
	Items         []Match
	Total         int
	Limit, Offset int
}

// Search finds items, in whichever status unless the query names some.
func (b *Base) Search(ctx context.Context, q Query) (found Matches, err error) {
	defer b.stamp(&err)
	if err := checkQuery(q.Text); err != nil {
		return Matches{}, err
	}
	if err := checkTypes("types", q.Types); err != nil {
		return Matches{}, err
	}
	if err := checkPage(&q.Limit, q.Offset, UsualPage, MaxPage); err != nil {
		return Matches{}, err
	}
	if q.Tag != "" {
		if err := checkTag(q.Tag); err != nil {
			return Matches{}, err
		}
	}
	if err := checkDays(q.From, q.Until); err != nil {
		return Matches{}, err
	}
	if q.Statuses, err = b.knownStatuses(ctx, q.Statuses); err != nil {
		return Matches{}, err
	}
	hits, err := b.finder.Search(ctx, q)
	if err != nil {
		return Matches{}, err
	}
	ids := make([]int64, len(hits.Each))
	for i, hit := range hits.Each {
		ids[i] = hit.ID
	}
	known, err := b.summaries(ctx, ids)
	if err != nil {
		return Matches{}, err
	}
	found = Matches{Total: hits.Total, Limit: q.Limit, Offset: q.Offset}
	for _, hit := range hits.Each {
		if s, ok := known[hit.ID]; ok { // it may just have gone
			found.Items = append(found.Items, Match{s, hit.Score, hit.Snippet})
		}
	}
	return found, nil
}

// Suggest completes what somebody has begun to type, by titles.
func (b *Base) Suggest(ctx context.Context, q Query) (suggestions []string, err error) {
	defer b.stamp(&err)
	if err := checkQuery(q.Text); err != nil {
		return nil, err
	}
	if err := checkTypes("types", q.Types); err != nil {
		return nil, err
	}
	if err := checkPage(&q.Limit, 0, UsualSuggestions, MaxSuggestions); err != nil {
		return nil, err
	}
	q.Offset = 0
	return b.finder.Suggest(ctx, q)
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
