package kb

import (
	"context"
	"slices"
	"strings"
	"time"

	"genkan/internal/gateway"
)

// Base is a knowledge base. It is safe for concurrent use. Its methods fail
// with an *Error, or with the *gateway.Error of a call that was given up.
type Base struct {
	store  Store
	finder Finder
	graph  Graph
	clock  func() time.Time
	// pages are the lists that several ask for at the same time.
	pages sharing[Page]
}

// Options are what a Base has beside its store. What is not given is answered
// from the rows, or by the clock of this machine.
type Options struct {
	Finder Finder
	Graph  Graph
	Now    func() time.Time
}

// New makes a knowledge base of a store.
func New(store Store, o Options) *Base {
	b := &Base{store: store, finder: o.Finder, graph: o.Graph, clock: o.Now}
	if b.finder == nil {
		b.finder = NewScan(store)
	}
	if b.graph == nil {
		b.graph = NewWalk(store)
	}
	if b.clock == nil {
		b.clock = time.Now
	}
	return b
}

// now is as exact as databases keep it.
func (b *Base) now() time.Time { return b.clock().UTC().Truncate(time.Microsecond) }

// Get finds an item. A reference from before its type was changed finds it, too.
func (b *Base) Get(ctx context.Context, ref Ref) (found Found, err error) {
	defer b.stamp(&err)
	if err := checkRef("type", "id", ref); err != nil {
		return Found{}, err
	}
	return find(ctx, b.store, "", ref)
}

// find is Get for whoever has a store. Field is the argument that held the
// reference, if that was not the item's own.
func find(ctx context.Context, s interface {
	Item(ctx context.Context, id int64) (Found, bool, error)
}, field string, ref Ref,
) (Found, error) {
	found, ok, err := s.Item(ctx, ref.ID)
	if err != nil {
		return Found{}, err
	}
	if !ok {
		return Found{}, notFound(field, ref, Ref{})
	}
	if err := matches(field, ref, Place{found.Item.Ref(), found.Former}); err != nil {
		return Found{}, err
	}
	return found, nil
}

// matches checks that a reference is one of the item that has its id.
func matches(field string, ref Ref, place Place) error {
	if ref == place.Ref || ref == place.Former {
		return nil
	}
	return notFound(field, ref, place.Ref)
}

// List lists items, the last updated first. Filters about tags are ByTag's.
func (b *Base) List(ctx context.Context, f Filter) (page Page, err error) {
	defer b.stamp(&err)
	if err := checkPage(&f.Limit, f.Offset, UsualPage, MaxPage); err != nil {
		return Page{}, err
	}
	if err := checkTypes("type", f.Types); err != nil {
		return Page{}, err
	}
	if !f.From.IsZero() && !f.Until.IsZero() && !f.From.Before(f.Until) {
		return Page{}, Invalid("start_date", f.From.Format(time.DateOnly), "Must not be after end_date")
	}
	f.Tag = ""
	if f.Statuses = unique(f.Statuses); len(f.Statuses) > 0 {
		known, err := b.store.Statuses(ctx)
		if err != nil {
			return Page{}, err
		}
		for i, name := range f.Statuses {
			if !slices.ContainsFunc(known, func(s Status) bool { return s.Name == name }) {
				return Page{}, unknownStatus(at("statuses", i), name, known)
			}
		}
	}
	f.Types = unique(f.Types)
	return b.page(ctx, f)
}

// page reads a part of a list, once for all who ask for it at the same time.
func (b *Base) page(ctx context.Context, f Filter) (Page, error) {
	key := question{}.texts(f.Types).text(f.Tag).texts(f.Statuses).flag(f.Closed).
		number(f.From.UnixMicro()).number(f.Until.UnixMicro()).number(int64(f.Limit)).number(int64(f.Offset))
	return b.pages.do(ctx, string(key), false, func(ctx context.Context) (Page, error) { return b.store.List(ctx, f) })
}

// Days makes a filter's bounds of two whole days in UTC, both inclusive; zero is
// no bound.
func (f *Filter) Days(first, last time.Time) {
	f.From, f.Until = first, time.Time{}
	if !last.IsZero() {
		f.Until = last.AddDate(0, 0, 1)
	}
}

// unknownStatus names the statuses that there are.
func unknownStatus(field, name string, known []Status) *Error {
	names := make([]string, len(known))
	for i, s := range known {
		names[i] = s.Name
	}
	hint := "Referenced status does not exist. "
	if near := gateway.Nearest(name, slices.Values(names)); near != "" {
		hint = "Referenced status does not exist; did you mean " + near + "? "
	}
	return violated(field, name, "fk_items_status_id", hint+"Statuses: "+strings.Join(names, ", "))
}

// Tags lists all tags that items have, the most used first.
func (b *Base) Tags(ctx context.Context) (tags []Tag, err error) {
	defer b.stamp(&err)
	return b.store.Tags(ctx)
}

// ByTag lists the items that have a tag, in whichever status, the last updated
// first.
func (b *Base) ByTag(ctx context.Context, tag string, types []string, limit, offset int) (page Page, err error) {
	defer b.stamp(&err)
	if strings.TrimSpace(tag) == "" {
		return Page{}, Invalid("tag", tag, "Tag is required and must not be empty")
	}
	if err := checkText("tag", tag, MaxTag); err != nil {
		return Page{}, err
	}
	if err := checkTypes("types", types); err != nil {
		return Page{}, err
	}
	if err := checkPage(&limit, offset, UsualPage, MaxPage); err != nil {
		return Page{}, err
	}
	return b.page(ctx, Filter{Types: unique(types), Tag: tag, Closed: true, Limit: limit, Offset: offset})
}

// Statuses lists the statuses in their order.
func (b *Base) Statuses(ctx context.Context) (statuses []Status, err error) {
	defer b.stamp(&err)
	return b.store.Statuses(ctx)
}

// State is the text about where things stand.
func (b *Base) State(ctx context.Context) (state State, err error) {
	defer b.stamp(&err)
	return b.store.State(ctx)
}

// unique drops repetitions and keeps the order.
func unique[T comparable](list []T) []T {
	var out []T
	seen := make(map[T]bool, len(list))
	for _, one := range list {
		if !seen[one] {
			seen[one], out = true, append(out, one)
		}
	}
	return out
}
