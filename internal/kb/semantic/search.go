package semantic

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"

	"genkan/internal/kb"
	"genkan/internal/kb/plugin"
)

// These are the notes of answers. Like all texts of the tools they are part of the
// protocol and stay English.
const (
	noteDown = "These were found by words alone: the embeddings endpoint gives no vector for the query. " +
		"See whether it runs, and check kb.semantic in the configuration; the log says more. It is asked again soon."
	noteAnew    = "These were found by words alone: the model gives vectors of another length than before, and those of all items are made anew."
	noteStore   = "These were found by words alone: the vectors of items could not be read; the log says more."
	notePending = "Items that were changed lately are found by words alone until their vectors are made; pending says how many."
)

// answer is the answer of semantic_search.
type answer struct {
	Items []any `json:"items"`
	// Total is the number of items found. Words and meaning each find at most pool items.
	Total int `json:"total"`
	Limit int `json:"limit"`
	// Pending is the number of items without a current vector.
	Pending int    `json:"pending"`
	Note    string `json:"note,omitempty"`
}

// Call answers a call of semantic_search.
func (p *Plugin) Call(ctx context.Context, call plugin.Call) (any, error) {
	in := call.Arguments
	q := kb.Query{Text: in.Text("query"), Types: in.Types("types"), Limit: pool}
	limit := in.Count("limit", maxLimit)
	if err := in.Err(); err != nil {
		return nil, err
	}
	if limit == 0 {
		limit = usualLimit
	}
	// The search by words comes first: it validates the query before the query is sent
	// anywhere.
	words, err := p.db.Search(ctx, q)
	if err != nil {
		return nil, err
	}
	found, of, notes := p.meant(ctx, q, words)
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	pending, err := p.opt.Store.ItemsAfter(ctx, p.worker.position())
	if err != nil {
		return nil, err
	}
	if pending > 0 {
		signal(p.worker.wake)
		notes = append(notes, notePending)
	}
	all := fuse(words, found, of, p.cfg.weight())
	items, err := p.shown(ctx, all[:min(limit, len(all))])
	if err != nil {
		return nil, err
	}
	return answer{Items: items, Total: len(all), Limit: limit, Pending: pending, Note: strings.Join(notes, " ")}, nil
}

// meant returns the items found by meaning, and the nearness of those found by words. A
// failure is a note, because the words have found something.
func (p *Plugin) meant(ctx context.Context, q kb.Query, words kb.Matches) (found []nearness, of map[int64]nearness, notes []string) {
	vector := p.vector(ctx, q.Text)
	if vector == nil {
		return nil, nil, []string{noteDown}
	}
	also := make([]int64, len(words.Items))
	for i := range words.Items {
		also[i] = words.Items[i].ID
	}
	found, of, err := p.index.nearest(ctx, ask(vector), q.Types, pool, also)
	if errors.Is(err, errLengths) {
		// The query's cached vector may be from before the model changed.
		p.forget()
		if vector = p.vector(ctx, q.Text); vector == nil {
			return nil, nil, []string{noteDown}
		}
		found, of, err = p.index.nearest(ctx, ask(vector), q.Types, pool, also)
	}
	switch {
	case errors.Is(err, errLengths):
		p.worker.beginAnew()
		notes = append(notes, noteAnew)
	case err != nil && ctx.Err() == nil:
		p.log.Warn("the vectors of items cannot be read", "error", err)
		notes = append(notes, noteStore)
	}
	return found, of, notes
}

// forget clears the cached vectors of queries.
func (p *Plugin) forget() {
	p.mu.Lock()
	clear(p.queries)
	p.mu.Unlock()
}

// vector returns the vector of a query, or nil if it is not available soon.
func (p *Plugin) vector(ctx context.Context, text string) []float32 {
	p.mu.Lock()
	known, silent := p.queries[text], p.opt.Now().Before(p.silentUntil)
	p.mu.Unlock()
	if known != nil || silent {
		return known
	}
	soon, cancel := context.WithTimeout(ctx, p.opt.Patience)
	defer cancel()
	vectors, err := p.embedder.Embed(soon, []string{text})
	if ctx.Err() != nil {
		return nil // the caller has gone, which is not the endpoint's fault
	}
	if err == nil {
		if len(vectors) != 1 {
			err = errStrange
		} else if length, _ := measure(vectors[0]); length == 0 {
			err = errStrange
		}
	}
	p.tell(err)
	p.mu.Lock()
	defer p.mu.Unlock()
	if err != nil {
		p.silentUntil = p.opt.Now().Add(silence)
		return nil
	}
	if len(p.queries) >= mostQueries {
		clear(p.queries)
	}
	p.queries[text] = vectors[0]
	return vectors[0]
}

// candidate is an item that was found by its words, its meaning, or both.
type candidate struct {
	id      int64
	score   float64
	snippet string // from the search by words; empty for items found by meaning alone
	chunk   int
}

// fuse sorts the found items by score: the score of the words relative to the best one,
// plus the nearness relative to the nearest, multiplied by weight. It does not use
// ranks, because a weak model would then overrule good words.
func fuse(words kb.Matches, found []nearness, of map[int64]nearness, weight float64) []candidate {
	if of == nil {
		weight = 0 // only words count
	}
	best := 0.0
	for i := range words.Items {
		best = max(best, words.Items[i].Score)
	}
	all := make([]candidate, 0, len(words.Items)+len(found))
	by := make(map[int64]bool, len(words.Items))
	for i := range words.Items {
		m := &words.Items[i]
		score := 1.0
		if best > 0 {
			score = m.Score / best
		}
		n := of[m.ID]
		all = append(all, candidate{m.ID, (1-weight)*score + weight*n.near, m.Snippet, n.chunk})
		by[m.ID] = true
	}
	for _, n := range found {
		if !by[n.id] {
			all = append(all, candidate{id: n.id, score: weight * n.near, chunk: n.chunk})
		}
	}
	slices.SortFunc(all, func(a, b candidate) int {
		return cmp.Or(cmp.Compare(b.score, a.score), cmp.Compare(a.id, b.id))
	})
	return all
}

// shown returns the items of an answer. It leaves out items that were just deleted.
func (p *Plugin) shown(ctx context.Context, list []candidate) ([]any, error) {
	ids := make([]int64, len(list))
	for i, c := range list {
		ids[i] = c.id
	}
	summaries, err := p.db.Summaries(ctx, ids)
	if err != nil {
		return nil, err
	}
	of := make(map[int64]kb.Summary, len(summaries))
	for _, s := range summaries {
		of[s.ID] = s
	}
	items := make([]any, 0, len(list))
	for _, c := range list {
		s, ok := of[c.id]
		if !ok {
			continue
		}
		if c.snippet == "" {
			item, err := p.db.Get(ctx, kb.Ref{Type: s.Type, ID: s.ID})
			var gone *kb.Error
			if errors.As(err, &gone) && gone.Code == kb.CodeItemNotFound {
				continue
			}
			if err != nil {
				return nil, err
			}
			c.snippet = snippet(&item.Item, c.chunk)
		}
		items = append(items, kb.AnswerMatch(kb.Match{Summary: s, Score: c.score, Snippet: c.snippet}))
	}
	return items, nil
}
