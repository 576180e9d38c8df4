package kb

import (
	"cmp"
	"context"
	"slices"
	"strings"
)

// Scan is a Finder that reads every item. It is the truth that an index is held
// against, and answers while there is none.
type Scan struct{ store Store }

// NewScan makes one.
func NewScan(store Store) *Scan { return &Scan{store} }

// scanPage is how many items are in memory at a time.
const scanPage = 200

// each passes every item.
func (s *Scan) each(ctx context.Context, pass func(*Item)) error {
	for last := int64(0); ; {
		items, err := s.store.Items(ctx, last, scanPage)
		if err != nil {
			return err
		}
		for i := range items {
			last = items[i].ID
			pass(&items[i])
		}
		if len(items) < scanPage {
			return nil
		}
	}
}

// Search finds the items that have all words of the query somewhere.
func (s *Scan) Search(ctx context.Context, q Query) (Hits, error) {
	words := strings.Fields(fold(q.Text))
	if len(words) == 0 {
		return Hits{}, nil
	}
	phrase := strings.Join(words, " ")
	var all []Hit
	err := s.each(ctx, func(item *Item) {
		if !oneOf(item.Type, q.Types) {
			return
		}
		if score, ok := rate(item, words, phrase); ok {
			all = append(all, Hit{ID: item.ID, Score: score})
		}
	})
	if err != nil {
		return Hits{}, err
	}
	hits := Hits{Total: len(all)}
	slices.SortFunc(all, func(a, b Hit) int {
		return cmp.Or(cmp.Compare(b.Score, a.Score), cmp.Compare(a.ID, b.ID))
	})
	from := min(q.Offset, len(all))
	for _, hit := range all[from:min(from+q.Limit, len(all))] {
		found, ok, err := s.store.Item(ctx, hit.ID)
		if err != nil {
			return Hits{}, err
		}
		if ok {
			hit.Snippet = snippetOf(&found.Item, words)
			hits.Each = append(hits.Each, hit)
		}
	}
	return hits, nil
}

// The weights of the fields.
const titleWeight, descriptionWeight, contentWeight = 4, 2, 1

// rate is 1 for an item whose title has all words, and more if it has them in a
// row.
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
			if !folded { // it is the longest, and often not needed
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

// snippetOf prefers what the title does not say.
func snippetOf(item *Item, words []string) string {
	for _, text := range []string{item.Description, item.Content, item.Title} {
		if s, ok := snippet(text, words); ok {
			return s
		}
	}
	return ""
}

// Suggest finds titles that begin with the query, then those with a word that
// does.
func (s *Scan) Suggest(ctx context.Context, q Query) ([]string, error) {
	type candidate struct {
		rank          int
		folded, title string
	}
	begun := strings.TrimSpace(fold(q.Text))
	if begun == "" {
		return nil, nil
	}
	var all []candidate
	err := s.each(ctx, func(item *Item) {
		if !oneOf(item.Type, q.Types) {
			return
		}
		title := fold(item.Title)
		for at := 0; ; {
			i := strings.Index(title[at:], begun)
			if i < 0 {
				return
			}
			if at += i; beginsWord(title, at) {
				all = append(all, candidate{min(at, 1), title, item.Title})
				return
			}
			at++
		}
	})
	if err != nil {
		return nil, err
	}
	slices.SortFunc(all, func(a, b candidate) int {
		return cmp.Or(cmp.Compare(a.rank, b.rank), cmp.Compare(a.folded, b.folded), cmp.Compare(a.title, b.title))
	})
	var titles []string
	for _, one := range slices.CompactFunc(all, func(a, b candidate) bool { return a.title == b.title }) {
		if len(titles) < q.Limit {
			titles = append(titles, one.title)
		}
	}
	return titles, nil
}

// oneOf reports whether a type is wanted; none is all.
func oneOf(kind string, types []string) bool { return len(types) == 0 || slices.Contains(types, kind) }
