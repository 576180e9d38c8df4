package main

import (
	"cmp"
	"hash/fnv"
	"slices"

	"genkan/internal/search"
)

// heldAside are the queries that lessons are made of, and those that are left to
// be measured.
type heldAside struct {
	// lessons are the queries of each tool, in the order in which it learns them.
	lessons map[string][]string
	rest    []query
	// others are for tools that learned nothing; lessons must not harm them.
	others []query
}

// holdAside takes n queries of each tool that has more than n. What is measured
// are the other queries for such tools, whatever number of lessons is given. With
// apart a task is held aside or measured as a whole, so that nothing is measured
// on the work that the lessons came from.
func holdAside(queries []query, n int, apart bool) heldAside {
	queries = slices.Clone(queries)
	slices.SortStableFunc(queries, func(a, b query) int { return cmp.Compare(shuffled(a.unit(apart)), shuffled(b.unit(apart))) })
	byTool := map[string][]int{}
	for i, q := range queries {
		for _, id := range q.Relevant {
			byTool[id] = append(byTool[id], i)
		}
	}
	held := map[string]bool{}
	ids := make([]string, 0, len(byTool))
	for id, list := range byTool {
		if len(list) > n {
			ids = append(ids, id)
		}
	}
	slices.Sort(ids)
	for _, id := range ids {
		for _, i := range byTool[id][:n] {
			held[queries[i].unit(apart)] = true
		}
	}
	out := heldAside{lessons: map[string][]string{}}
	for _, id := range ids {
		for _, i := range byTool[id] {
			if held[queries[i].unit(apart)] {
				out.lessons[id] = append(out.lessons[id], queries[i].Query)
			}
		}
	}
	for _, q := range queries {
		switch {
		case held[q.unit(apart)]:
		case slices.ContainsFunc(q.Relevant, func(id string) bool { return len(out.lessons[id]) > 0 }):
			out.rest = append(out.rest, q)
		default:
			out.others = append(out.others, q)
		}
	}
	return out
}

// unit is what is held aside as a whole: a query, or all queries of its task.
func (q query) unit(apart bool) string {
	if apart && q.Task != "" {
		return q.Task
	}
	return q.Query
}

// shuffled is an order that has nothing to do with that of the file, and is always
// the same.
func shuffled(text string) uint64 {
	h := fnv.New64a()
	_, _ = h.Write([]byte(text)) // a hash takes every write
	return h.Sum64()
}

// evidence is what n lessons of each tool teach.
func (h heldAside) evidence(tools []tool, n int) *search.Evidence {
	var all []search.Lesson
	for _, t := range tools {
		list := h.lessons[t.ID]
		for _, text := range list[:min(n, len(list))] {
			all = append(all, search.Lesson{Server: t.Server, Tool: t.Name, Terms: search.Terms(text), Weight: 1})
		}
	}
	return search.NewEvidence(all)
}

// steps are how many lessons are given one after the other to see how the search
// grows.
func steps(n int) []int {
	list := []int{0}
	for _, k := range []int{1, 2, 5, 10} {
		if k < n {
			list = append(list, k)
		}
	}
	return append(list, n)
}
