package storetest

import (
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"

	"genkan/internal/gateway"
	"genkan/internal/testkit"
)

const rounds = 4 // writes of each writer

// writers is the number of goroutines on each handle.
var writers = testkit.Count(8, 16)

// inParallel runs work on two handles at once, with many goroutines on each.
// Every one has an id of its own.
func inParallel(one, two Stores, work func(s Stores, id int) error) error {
	errs := make([]error, 2*writers)
	var wg sync.WaitGroup
	begin := make(chan struct{})
	for id := range errs {
		wg.Go(func() {
			<-begin
			errs[id] = work([]Stores{one, two}[id%2], id)
		})
	}
	close(begin)
	wg.Wait()
	return errors.Join(errs...)
}

// testConcurrentTokens: nothing that was acknowledged is lost, and the change
// sequence counts every change.
func testConcurrentTokens(t *testing.T, one Stores) {
	two := one.Another(t)
	before := sequenceOf(t, one)
	name := func(id, round int) string { return fmt.Sprintf("t%02d-%02d", id, round) }
	must(t, inParallel(one, two, func(s Stores, id int) error {
		var last int64
		for round := range rounds {
			token := newToken(name(id, round), id%3 == 0)
			if err := s.Identity.AddToken(t.Context(), token); err != nil {
				return err
			}
			if round%2 == 1 { // every second one goes again
				if err := s.Identity.RevokeToken(t.Context(), token.Name); err != nil {
					return err
				}
			}
			sequence, err := s.Identity.ChangeSequence(t.Context())
			if err != nil {
				return err
			}
			if sequence <= last {
				return fmt.Errorf("the change sequence was %d, then %d after a change", last, sequence)
			}
			last = sequence
		}
		return nil
	}))

	var want []string
	changes := 0
	for id := range 2 * writers {
		for round := range rounds {
			changes += 1 + round%2
			if round%2 == 0 {
				want = append(want, name(id, round))
			}
		}
	}
	for _, s := range []Stores{one, two} {
		var got []string
		for _, token := range tokensOf(t, s) {
			got = append(got, token.Name)
		}
		if !slices.Equal(got, want) {
			t.Errorf("%d tokens are left, want %d", len(got), len(want))
		}
		if grown := sequenceOf(t, s) - before; grown < int64(changes) {
			t.Errorf("%d changes moved the change sequence by %d", changes, grown)
		}
	}
}

// testConcurrentLists: readers see one list or the other, never a mixture.
func testConcurrentLists(t *testing.T, one Stores) {
	two := one.Another(t)
	content := func(id int) []byte { return slices.Repeat([]byte{byte('A' + id)}, 8<<10) }
	must(t, one.Lists.SaveList(t.Context(), "shared", newList("A")))
	must(t, inParallel(one, two, func(s Stores, id int) error {
		for range rounds {
			list := newList("")
			list.Tools = content(id)
			if err := s.Lists.SaveList(t.Context(), "shared", list); err != nil {
				return err
			}
			if err := s.Lists.SaveList(t.Context(), fmt.Sprint("own ", id), list); err != nil {
				return err
			}
			got, found, err := s.Lists.LoadList(t.Context(), "shared")
			if err != nil || !found {
				return fmt.Errorf("found %v: %w", found, err)
			}
			if !slices.Equal(got.Tools, slices.Repeat(got.Tools[:1], 8<<10)) {
				return errors.New("a list is a mixture of two")
			}
		}
		return nil
	}))
	for id := range 2 * writers {
		if got := listOf(t, one, fmt.Sprint("own ", id)); !slices.Equal(got.Tools, content(id)) {
			t.Errorf("the list of %d was lost", id)
		}
	}
}

// testConcurrentOneName: of many who want the same name, one gets it.
func testConcurrentOneName(t *testing.T, one Stores) {
	two := one.Another(t)
	var mu sync.Mutex
	won := 0
	must(t, inParallel(one, two, func(s Stores, _ int) error {
		err := s.Identity.AddToken(t.Context(), newToken("editor", false))
		var e *gateway.Error
		if errors.As(err, &e) && e.Code == gateway.CodeConflict {
			return nil
		}
		mu.Lock()
		defer mu.Unlock()
		won++
		return err
	}))
	if won != 1 {
		t.Errorf("%d got the same name", won)
	}
}
