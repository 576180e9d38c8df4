package storetest

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"genkan/internal/kb"
)

// model is a simple knowledge base in memory that stores are compared with.
type model struct {
	items  map[int64]kb.Item // without neighbours
	edges  map[kb.Edge]bool
	former map[int64]kb.Place
	moves  int
}

func edge(a, b int64) kb.Edge { return kb.Edge{A: min(a, b), B: max(a, b)} }

func (m *model) neighbours(id int64) []kb.Ref {
	var out []kb.Ref
	for e := range m.edges {
		switch id {
		case e.A:
			out = append(out, kb.Ref{Type: m.items[e.B].Type, ID: e.B})
		case e.B:
			out = append(out, kb.Ref{Type: m.items[e.A].Type, ID: e.A})
		}
	}
	slices.SortFunc(out, func(a, b kb.Ref) int { return cmp.Compare(a.ID, b.ID) })
	return out
}

func (m *model) relate(id int64, others []kb.Ref) {
	maps.DeleteFunc(m.edges, func(e kb.Edge, _ bool) bool { return e.A == id || e.B == id })
	for _, other := range others {
		m.edges[edge(id, m.place(other.ID))] = true
	}
}

// place is where an id leads.
func (m *model) place(id int64) int64 {
	if place, ok := m.former[id]; ok {
		return place.ID
	}
	return id
}

func (m *model) remove(id int64) {
	delete(m.items, id)
	m.relate(id, nil)
	maps.DeleteFunc(m.former, func(_ int64, p kb.Place) bool { return p.ID == id })
}

// testKBModel makes random changes through the knowledge base, compares all that
// can be read with the model, and follows the changes as an index would.
func testKBModel(t *testing.T, s Stores) {
	now := instant()
	base := kb.New(s.Knowledge, kb.Options{Now: func() time.Time { now = now.Add(time.Second); return now }})
	m := &model{}
	rapid.Check(t, func(t *rapid.T) {
		for _, item := range m.items { // what a check before has left
			if _, err := base.Delete(context.Background(), item.Ref()); err != nil {
				t.Fatal(err)
			}
		}
		m = &model{items: map[int64]kb.Item{}, edges: map[kb.Edge]bool{}, former: map[int64]kb.Place{}}
		f := &follower{items: map[int64]kb.Item{}, links: map[int64][]int64{}}
		f.follow(t, s)
		for range rapid.IntRange(1, 8).Draw(t, "steps") {
			m.step(t, base)
		}
		m.compare(t, s, base)
		f.follow(t, s)
		f.compare(t, m)
	})
}

// someRef is a reference of an item that exists, perhaps a former one.
func (m *model) someRef(t *rapid.T) (kb.Ref, bool) {
	var all []kb.Ref
	for id, item := range m.items {
		all = append(all, kb.Ref{Type: item.Type, ID: id})
	}
	for _, place := range m.former {
		all = append(all, place.Former)
	}
	if len(all) == 0 {
		return kb.Ref{}, false
	}
	slices.SortFunc(all, func(a, b kb.Ref) int { return cmp.Compare(a.ID, b.ID) })
	return rapid.SampledFrom(all).Draw(t, "ref"), true
}

func (m *model) draw(t *rapid.T, self int64) kb.Patch {
	title := rapid.SampledFrom([]string{"a", "b", "設計"}).Draw(t, "title")
	p := kb.Patch{Title: &title}
	if rapid.Bool().Draw(t, "with status") {
		status := rapid.SampledFrom([]string{"Open", "Review", "Closed"}).Draw(t, "status")
		p.Status = &status
	}
	if rapid.Bool().Draw(t, "with tags") {
		tags := rapid.SliceOfN(rapid.SampledFrom([]string{"x", "y", "z"}), 0, 4).Draw(t, "tags")
		p.Tags = &tags
	}
	if rapid.Bool().Draw(t, "with related") {
		related := []kb.Ref{}
		for range rapid.IntRange(0, 4).Draw(t, "n") {
			if ref, ok := m.someRef(t); ok && m.place(ref.ID) != self {
				related = append(related, ref)
			}
		}
		p.Related = &related
	}
	return p
}

func (m *model) apply(item *kb.Item, p kb.Patch, at time.Time) {
	item.Title, item.UpdatedAt = *p.Title, at
	if p.Status != nil {
		item.Status = *p.Status
	}
	if p.Tags != nil {
		item.Tags = nil
		for _, tag := range *p.Tags {
			if !slices.Contains(item.Tags, tag) {
				item.Tags = append(item.Tags, tag)
			}
		}
	}
	m.items[item.ID] = *item
	if p.Related != nil {
		m.relate(item.ID, *p.Related)
	}
}

func (m *model) step(t *rapid.T, base *kb.Base) {
	ctx := context.Background()
	ok := func(err error) {
		if err != nil {
			t.Fatal(err)
		}
	}
	ref, some := m.someRef(t)
	self := m.place(ref.ID)
	switch action := rapid.IntRange(0, 6).Draw(t, "action"); {
	case action <= 2 || !some:
		kind, p := rapid.SampledFrom([]string{"docs", "a-b"}).Draw(t, "type"), m.draw(t, 0)
		got, err := base.Create(ctx, kind, p)
		ok(err)
		m.apply(&kb.Item{ID: got.ID, Type: kind, Status: "Open", Priority: kb.PriorityMedium, CreatedAt: got.CreatedAt}, p, got.UpdatedAt)
	case action == 3:
		p := m.draw(t, self)
		got, err := base.Update(ctx, ref, p)
		ok(err)
		item := m.items[self]
		m.apply(&item, p, got.Item.UpdatedAt)
	case action == 4:
		_, err := base.Delete(ctx, ref)
		ok(err)
		m.remove(self)
	case action == 5:
		m.moves++
		kind := fmt.Sprint("type", m.moves)
		got, err := base.ChangeType(ctx, ref, kind)
		ok(err)
		item, neighbours, former := m.items[self], m.neighbours(self), maps.Clone(m.former)
		place := kb.Place{Ref: got.Item.Ref(), Former: kb.Ref{Type: item.Type, ID: self}}
		m.remove(self)
		item.ID, item.Type, item.UpdatedAt = got.Item.ID, kind, got.Item.UpdatedAt
		m.items[item.ID] = item
		m.former[self] = place
		for id, before := range former {
			if before.ID == self {
				m.former[id] = kb.Place{Ref: place.Ref, Former: before.Former}
			}
		}
		m.relate(item.ID, neighbours)
	default:
		// All or nothing: the last entry is wrong.
		edits := []kb.Edit{{Ref: ref, Patch: m.draw(t, self)}, {Ref: kb.Ref{Type: "docs", ID: 1 << 40}, Patch: m.draw(t, 0)}}
		_, err := base.BulkUpdate(ctx, edits)
		var refused *kb.Error
		if !errors.As(err, &refused) || refused.Code != kb.CodeItemNotFound || refused.Details.Index != 1 {
			t.Fatalf("%v", err)
		}
	}
}

func (m *model) compare(t *rapid.T, s Stores, base *kb.Base) {
	ctx := context.Background()
	same := func(what string, got, want any, err error) {
		t.Helper()
		if diff := gocmp.Diff(want, got, cmpopts.EquateEmpty()); err != nil || diff != "" {
			t.Fatalf("%s: %v (-want +got)\n%s", what, err, diff)
		}
	}
	counts := map[string]int{}
	var all []kb.Summary
	for id, item := range m.items {
		item.Related = m.neighbours(id)
		found, err := base.Get(ctx, item.Ref())
		same("an item", found, kb.Found{Item: item}, err)
		for _, tag := range item.Tags {
			counts[tag]++
		}
		all = append(all, item.Summary())
	}
	for id, place := range m.former {
		found, err := base.Get(ctx, place.Former)
		same("a former item", kb.Ref{Type: found.Item.Type, ID: found.Item.ID}, place.Ref, err)
		same("a former reference", found.Former, kb.Ref{Type: place.Former.Type, ID: id}, nil)
	}
	slices.SortFunc(all, func(a, b kb.Summary) int {
		return cmp.Or(b.UpdatedAt.Compare(a.UpdatedAt), cmp.Compare(b.ID, a.ID))
	})
	page, err := s.Knowledge.List(ctx, kb.Filter{Closed: true, Limit: 1000})
	same("the list", page.Items, all, err)
	byStatus := map[string]int{}
	for _, one := range all {
		byStatus[one.Status]++
	}
	for status, n := range byStatus {
		page, err := s.Knowledge.List(ctx, kb.Filter{Statuses: []string{status}, Limit: 1})
		same("a total", page.Total, n, err)
	}
	var tags []kb.Tag
	for name, n := range counts {
		tags = append(tags, kb.Tag{Name: name, Count: n})
	}
	slices.SortFunc(tags, func(a, b kb.Tag) int { return cmp.Or(cmp.Compare(b.Count, a.Count), cmp.Compare(a.Name, b.Name)) })
	got, err := s.Knowledge.Tags(ctx)
	same("the tags", got, tags, err)

	byType := map[string]int{}
	for _, one := range all {
		byType[one.Type]++
	}
	var types []kb.Type
	for name, n := range byType {
		types = append(types, kb.Type{Name: name, Count: n})
	}
	slices.SortFunc(types, func(a, b kb.Type) int { return cmp.Or(cmp.Compare(b.Count, a.Count), cmp.Compare(a.Name, b.Name)) })
	for _, limit := range []int{1, 100} {
		gotTypes, err := s.Knowledge.Types(ctx, limit)
		same("the types", gotTypes, types[:min(limit, len(types))], err)
	}
}

// follower knows the knowledge base by its changes only.
type follower struct {
	at    kb.Position
	items map[int64]kb.Item
	links map[int64][]int64
}

func (f *follower) follow(t *rapid.T, s Stores) {
	limit := rapid.IntRange(1, 5).Draw(t, "limit")
	ctx := context.Background()
	for {
		changes, err := s.Knowledge.Changes(ctx, f.at, limit)
		if err != nil {
			t.Fatal(err)
		}
		links, err := s.Knowledge.Links(ctx, f.at, limit)
		if err != nil || len(links) != len(changes) {
			t.Fatalf("%d links and %d changes: %v", len(links), len(changes), err)
		}
		for i, c := range changes {
			if links[i].Position != c.Position || links[i].Deleted != c.Deleted {
				t.Fatalf("%+v is %+v", links[i], c)
			}
			f.at = c.Position
			delete(f.items, c.ID)
			delete(f.links, c.ID)
			if !c.Deleted {
				f.items[c.ID], f.links[c.ID] = c.Item, links[i].Neighbours
			}
		}
		if len(changes) < limit {
			return
		}
	}
}

func (f *follower) compare(t *rapid.T, m *model) {
	if diff := gocmp.Diff(m.items, f.items, cmpopts.EquateEmpty()); diff != "" {
		t.Fatalf("who follows the changes knows something else (-want +got)\n%s", diff)
	}
	edges := map[kb.Edge]bool{}
	for id, others := range f.links {
		for _, other := range others {
			edges[edge(id, other)] = true
			if !slices.Contains(f.links[other], id) {
				t.Fatalf("%d knows %d, and not the other way", id, other)
			}
		}
	}
	if diff := gocmp.Diff(m.edges, edges, cmpopts.EquateEmpty()); diff != "" {
		t.Fatalf("who follows the changes knows other relations (-want +got)\n%s", diff)
	}
}
