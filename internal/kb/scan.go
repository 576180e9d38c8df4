package kb

import (
	"cmp"
	"context"
	"iter"
	"runtime"
	"slices"
	"strings"
)

// Scan is a Finder that reads every item. It defines the correct answers, against
// which the index is tested, and answers while there is no index.
type Scan struct {
	store Store
	// slots limits the number of concurrent scans. A scan may use a core for a second or
	// more, and many scans must not slow down everything else.
	slots chan struct{}
}

// NewScan returns a Scan of the store.
func NewScan(store Store) *Scan {
	return &Scan{store: store, slots: make(chan struct{}, max(1, runtime.GOMAXPROCS(0)/2))}
}

// scanPage is the number of items in memory at a time. An item may have 400 KB.
const scanPage = 32

// each calls pass with every item.
func (s *Scan) each(ctx context.Context, pass func(*Item)) error {
	select {
	case s.slots <- struct{}{}:
		defer func() { <-s.slots }()
	case <-ctx.Done():
		return ctx.Err()
	}
	for item, err := range allItems(ctx, s.store, scanPage) {
		if err != nil {
			return err
		}
		pass(item)
	}
	return nil
}

// allItems returns all items in the order of their ids and reads them page by page.
// It ends after an error.
func allItems(ctx context.Context, store Store, page int) iter.Seq2[*Item, error] {
	return func(yield func(*Item, error) bool) {
		for last := int64(0); ; {
			items, err := store.Items(ctx, last, page)
			if err != nil {
				yield(nil, err)
				return
			}
			for i := range items {
				last = items[i].ID
				if !yield(&items[i], nil) {
					return
				}
			}
			if len(items) < page {
				return
			}
		}
	}
}

// Search finds the items that contain all words of the query.
func (s *Scan) Search(ctx context.Context, q Query) (Hits, error) {
	words := strings.Fields(fold(q.Text))
	if len(words) == 0 {
		return Hits{}, nil
	}
	phrase := strings.Join(words, " ")
	var all []scored
	err := s.each(ctx, func(item *Item) {
		if !q.passes(item) {
			return
		}
		if score, ok := rate(item, words, phrase); ok {
			all = append(all, scored{item.ID, score})
		}
	})
	if err != nil {
		return Hits{}, err
	}
	hits := Hits{Total: len(all)}
	slices.SortFunc(all, func(a, b scored) int {
		return cmp.Or(cmp.Compare(b.score, a.score), cmp.Compare(a.id, b.id))
	})
	from := min(q.Offset, len(all))
	hits.Each, err = shown(ctx, s.store, all[from:min(from+q.Limit, len(all))], q.Text)
	return hits, err
}

// These are the weights of the fields.
const titleWeight, descriptionWeight, contentWeight = 4, 2, 1

// rate returns the score of an item: 1 if its title has all words, and more if it has
// them as a phrase.
func rate(item *Item, words []string, phrase string) (float64, bool) {
	title, description := fold(item.Title), fold(item.Description)
	content, folded := "", false
	total := 0
	for _, word := range words {
		switch {
		case strings.Contains(title, word):
			total += titleWeight
		case strings.Contains(description, word):
			total += descriptionWeight
		default:
			if !folded { // folded last, because it is the longest and often not needed
				content, folded = fold(item.Content), true
			}
			if !strings.Contains(content, word) {
				return 0, false
			}
			total += contentWeight
		}
	}
	score := float64(total) / float64(titleWeight*len(words))
	if strings.Contains(title, phrase) {
		score++
	}
	return score, true
}

// Suggest finds titles that begin with the query, then titles with a word that does.
func (s *Scan) Suggest(ctx context.Context, q Query) ([]string, error) {
	begun := strings.TrimSpace(fold(q.Text))
	if begun == "" {
		return nil, nil
	}
	var all []completion
	err := s.each(ctx, func(item *Item) {
		if c, ok := complete(item.Title, begun); ok && oneOf(item.Type, q.Types) {
			all = append(all, c)
		}
	})
	if err != nil {
		return nil, err
	}
	return firstCompletions(all, q.Limit), nil
}

// completion is a title that completes the typed text. Rank is 0 if the title begins
// with that text.
type completion struct {
	rank          int
	folded, title string
}

// complete reports whether a title, or a word of it, begins with the typed text.
func complete(title, begun string) (completion, bool) {
	folded := fold(title)
	for at := 0; ; at++ {
		i := strings.Index(folded[at:], begun)
		if i < 0 {
			return completion{}, false
		}
		if at += i; beginsWord(folded, at) {
			return completion{min(at, 1), folded, title}, true
		}
	}
}

// firstCompletions returns the first titles in the order of suggestions, without
// repetitions.
func firstCompletions(all []completion, limit int) []string {
	slices.SortFunc(all, func(a, b completion) int {
		return cmp.Or(cmp.Compare(a.rank, b.rank), cmp.Compare(a.folded, b.folded), cmp.Compare(a.title, b.title))
	})
	var titles []string
	for _, one := range slices.CompactFunc(all, func(a, b completion) bool { return a.title == b.title }) {
		if len(titles) < limit {
			titles = append(titles, one.title)
		}
	}
	return titles
}

// oneOf reports whether types contains kind. An empty list contains all types.
func oneOf(kind string, types []string) bool { return len(types) == 0 || slices.Contains(types, kind) }
