package main

import (
	"fmt"
	"slices"
	"testing"
)

// What is measured is never what was learned from, also not in another query of
// the same task when tasks are kept apart.
func TestHoldAside(t *testing.T) {
	var queries []query
	for n := range 60 {
		queries = append(queries, query{
			Query: fmt.Sprint("query ", n), Task: fmt.Sprint("task ", n/3),
			Relevant: []string{fmt.Sprint("often ", n%4), fmt.Sprint("once ", n)},
		})
	}
	taskOf := map[string]string{}
	for _, q := range queries {
		taskOf[q.Query] = q.Task
	}
	for _, apart := range []bool{false, true} {
		h := holdAside(queries, 5, apart)
		if len(h.lessons) != 4 || len(h.rest) == 0 {
			t.Fatalf("apart %t: %d tools have lessons, %d queries are left", apart, len(h.lessons), len(h.rest))
		}
		learned := map[string]bool{}
		for id, list := range h.lessons {
			if len(list) < 5 {
				t.Errorf("apart %t: %s has %d lessons", apart, id, len(list))
			}
			for _, text := range list {
				learned[text] = true
				if apart {
					learned[taskOf[text]] = true
				}
			}
		}
		for _, q := range slices.Concat(h.rest, h.others) {
			if learned[q.Query] || learned[q.Task] {
				t.Errorf("apart %t: %s is measured and learned from", apart, q.Query)
			}
		}
		again := holdAside(queries, 5, apart)
		if !slices.EqualFunc(h.rest, again.rest, func(a, b query) bool { return a.Query == b.Query }) {
			t.Error("the rest is another one each time")
		}
	}
}

func TestSteps(t *testing.T) {
	for n, want := range map[int][]int{1: {0, 1}, 3: {0, 1, 2, 3}, 5: {0, 1, 2, 5}, 10: {0, 1, 2, 5, 10}, 20: {0, 1, 2, 5, 10, 20}} {
		if got := steps(n); !slices.Equal(got, want) {
			t.Errorf("%d: %v", n, got)
		}
	}
}
