package storetest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"

	"genkan/internal/kb"
)

// testKBConcurrent: nothing that was acknowledged is lost, and every write has
// its number.
func testKBConcurrent(t *testing.T, one Stores) {
	two := one.Another(t)
	hub := insert(t, one, kb.Item{})
	must(t, inParallel(one, two, func(s Stores, id int) error {
		for round := range rounds {
			err := s.Knowledge.Write(t.Context(), func(ctx context.Context, w kb.Writer) error {
				item := fullItem(hub.Ref())
				item.Content, item.Title, item.Tags = "", fmt.Sprintf("%d-%d", id, round), []string{"all", fmt.Sprint("t", id)}
				return w.Insert(ctx, &item)
			})
			if err != nil {
				return err
			}
		}
		return nil
	}))
	written := 2 * writers * rounds
	for _, s := range []Stores{one, two} {
		wantEqual(t, kbSequence(t, s), int64(1+written))
		wantEqual(t, len(itemOf(t, s, hub.ID).Item.Related), written)
		page, err := s.Knowledge.List(t.Context(), kb.Filter{Tag: "all", Closed: true, Limit: 100})
		must(t, err)
		wantEqual(t, page.Total, written)
		var titles []string
		for _, c := range changesAfter(t, s, kb.After(1), 1000) {
			titles = append(titles, c.Title)
		}
		slices.Sort(titles)
		wantEqual(t, len(slices.Compact(titles)), written+1) // with the hub
	}
}

// testKBOwnErrors: of many writes at once each has its own fate.
func testKBOwnErrors(t *testing.T, one Stores) {
	two := one.Another(t)
	must(t, inParallel(one, two, func(s Stores, id int) error {
		for round := range rounds {
			refusal := fmt.Errorf("%d in round %d", id, round)
			err := s.Knowledge.Write(t.Context(), func(ctx context.Context, w kb.Writer) error {
				item := fullItem()
				item.Content, item.Title = "", refusal.Error()
				if id%4 == 1 {
					item.Status = "Nowhere"
				}
				if err := w.Insert(ctx, &item); err != nil {
					return err
				}
				if id%4 == 2 {
					return refusal
				}
				return nil
			})
			want := map[int]error{1: kb.ErrUnknownStatus, 2: refusal}[id%4]
			if !errors.Is(err, want) {
				return fmt.Errorf("%w, want %w", err, want)
			}
		}
		return nil
	}))
	page, err := one.Knowledge.List(t.Context(), kb.Filter{Closed: true, Limit: 1})
	must(t, err)
	wantEqual(t, page.Total, writers*rounds)
	wantEqual(t, kbSequence(t, one), int64(writers*rounds))
}
