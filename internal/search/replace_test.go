package search

import (
	"fmt"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// TestAnyWayThere: servers may come, change and go in any order: what is found is
// what an index that was made at once finds, to the last digit.
func TestAnyWayThere(t *testing.T) {
	m := newMaker(4)
	// Each server's tools, as they may be at different times. Some share the names
	// of others' tools, and most of their words.
	versions := map[string][]Server{}
	var names []string
	var all []Server
	for i := range 6 {
		name := fmt.Sprint("server-", i)
		names = append(names, name)
		for v := range 3 {
			versions[name] = append(versions[name], m.server(name, 1+(7*i+5*v)%12))
		}
		all = append(all, versions[name]...)
	}
	queries := make([]Query, 100)
	for i := range queries {
		queries[i] = Query{Text: m.query(all, 1+i%3), About: m.text(i % 2), Limit: 1 + i%30}
	}
	rapid.Check(t, func(r *rapid.T) {
		x := New()
		is := map[string]Server{}
		for range rapid.IntRange(1, 20).Draw(r, "steps") {
			name := rapid.SampledFrom(names).Draw(r, "server")
			if rapid.IntRange(0, 3).Draw(r, "goes") == 0 {
				delete(is, name)
				x = x.Without(name)
				continue
			}
			is[name] = rapid.SampledFrom(versions[name]).Draw(r, "version")
			x = x.With(is[name])
		}
		var list []Server
		for _, name := range rapid.Permutation(names).Draw(r, "order") {
			if s, ok := is[name]; ok {
				list = append(list, s)
			}
		}
		atOnce := New(list...)
		for _, q := range rapid.SliceOfN(rapid.SampledFrom(queries), 8, 8).Draw(r, "queries") {
			if diff := cmp.Diff(shown(atOnce.Search(q)), shown(x.Search(q))); diff != "" {
				r.Fatalf("%s\n%s", q.Text, diff)
			}
		}
	})
}

// shown is all of a result that can be seen.
func shown(r Result) []string {
	list := []string{fmt.Sprint(r.Total, " ", r.Confidence)}
	for _, h := range r.Hits {
		list = append(list, fmt.Sprint(h.Server, " ", h.Document.ID, " ", h.Score))
	}
	return list
}

// TestForgottenWords: what a house once said does not fill the memory for ever.
func TestForgottenWords(t *testing.T) {
	m := newMaker(5)
	stays := m.server("stays", 30)
	x := New(stays)
	want := shown(x.Search(Query{Text: stays.Documents[3].Description}))
	for i := range 100 {
		guest := m.server("guest", 2)
		for j := range 50 {
			guest.Documents[0].Description += fmt.Sprintf(" once%dupon%da%dtime", i, j, i*j)
		}
		x = x.With(guest)
	}
	x = x.Without("guest")
	if n, alone := len(x.words.list), len(New(stays).words.list); n > 3*alone+1024 {
		t.Errorf("%d words are kept, and %d are in use", n, alone)
	}
	if diff := cmp.Diff(want, shown(x.Search(Query{Text: stays.Documents[3].Description}))); diff != "" {
		t.Error(diff)
	}
}

// TestSearchingMeanwhile: whoever searches an index finds the same however many
// searches and changes there are beside.
func TestSearchingMeanwhile(t *testing.T) {
	m := newMaker(6)
	list := m.servers(10, 10)
	x := New(list...)
	var queries []Query
	var want [][]string
	for i := range 20 {
		queries = append(queries, Query{Text: m.query(list, 1+i%4), About: m.text(i % 3), Limit: 20})
		want = append(want, shown(x.Search(queries[i])))
	}
	others := make([]Server, 10)
	for i := range others {
		others[i] = m.server(fmt.Sprint("server-", i), 5+i)
	}
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			for i, q := range queries {
				if diff := cmp.Diff(want[i], shown(x.Search(q))); diff != "" {
					t.Error(diff)
				}
			}
		})
	}
	for range 2 {
		wg.Go(func() {
			next := x
			for i, s := range others {
				next = next.With(s)
				next.Search(queries[i])
				next = next.Without(list[i/2].Name)
			}
		})
	}
	wg.Wait()
}

// TestTheBest: a short list of hits begins as a long one does, wherever in the
// house they stand.
func TestTheBest(t *testing.T) {
	m := newMaker(7)
	list := m.servers(7, 9)
	x := New(list...)
	for i := range 50 {
		q := Query{Text: m.query(list, 1+i%3), Limit: 1000}
		all := x.Search(q)
		for _, limit := range []int{1, 2, 5, 20} {
			q.Limit = limit
			r := x.Search(q)
			if r.Total != all.Total || len(r.Hits) != min(limit, all.Total) {
				t.Fatalf("%d hits of %d, and %d of all", len(r.Hits), r.Total, all.Total)
			}
			for j, h := range r.Hits {
				if h.Document != all.Hits[j].Document || h.Score != all.Hits[j].Score {
					t.Fatalf("%q: hit %d of %d is %s (%f), and of all %s (%f)", q.Text, j, limit, h.Document.ID, h.Score, all.Hits[j].Document.ID, all.Hits[j].Score)
				}
			}
		}
	}
}
