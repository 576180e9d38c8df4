package kb

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"genkan/internal/gateway"
)

// Base is a knowledge base. It is safe for concurrent use. Its methods fail
// with an *Error, or with a *gateway.Error if the call was cancelled.
type Base struct {
	store  Store
	finder Finder
	graph  Graph
	clock  func() time.Time
	// pages shares the reading of a list among concurrent callers.
	pages sharing[Page]
}

// Options are the options of New. Without a Finder or Graph, Base answers from the
// rows; without a clock, it uses the system clock.
type Options struct {
	Finder Finder
	Graph  Graph
	Now    func() time.Time
}

// New returns a knowledge base that uses the store.
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

// now returns the time with the precision that databases store.
func (b *Base) now() time.Time { return b.clock().UTC().Truncate(time.Microsecond) }

// Get returns an item. A reference from before a change of its type finds it, too.
func (b *Base) Get(ctx context.Context, ref Ref) (found Found, err error) {
	defer b.stamp(&err)
	if err := checkRef("type", "id", ref); err != nil {
		return Found{}, err
	}
	return find(ctx, b.store, "", ref)
}

// find is Get for a given store. Field is the argument that held the reference, if
// that was not the item's own.
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

// matches checks that a reference is a current or former one of the item with its id.
func matches(field string, ref Ref, place Place) error {
	for _, known := range []Ref{place.Ref, place.Former} {
		if ref.ID == known.ID && sameType(ref.Type, known.Type) {
			return nil
		}
	}
	return notFound(field, ref, place.Ref)
}

// List lists items, the last updated first. ByTag filters by tag.
func (b *Base) List(ctx context.Context, f Filter) (page Page, err error) {
	defer b.stamp(&err)
	f.Tag = ""
	if err := f.check(); err != nil {
		return Page{}, err
	}
	if f.Statuses, err = b.knownStatuses(ctx, f.Statuses); err != nil {
		return Page{}, err
	}
	return b.page(ctx, f)
}

// page reads a page of a list. Concurrent equal requests share one reading.
func (b *Base) page(ctx context.Context, f Filter) (Page, error) {
	key := question{}.texts(f.Types).text(f.Tag).texts(f.Statuses).flag(f.Closed).
		number(f.From.UnixMicro()).number(f.Until.UnixMicro()).number(int64(f.Limit)).number(int64(f.Offset))
	return b.pages.do(ctx, string(key), false, func(ctx context.Context) (Page, error) { return b.store.List(ctx, f) })
}

// Days converts two whole days in UTC, both inclusive, to bounds. Zero is no bound.
func Days(first, last time.Time) (from, until time.Time) {
	if !last.IsZero() {
		until = last.AddDate(0, 0, 1)
	}
	return first, until
}

func checkDays(from, until time.Time) error {
	if !from.IsZero() && !until.IsZero() && !from.Before(until) {
		first, last := from.Format(time.DateOnly), until.AddDate(0, 0, -1).Format(time.DateOnly)
		return Invalid("start_date", first, "Must not be after end_date (%s); it is %s", last, first)
	}
	return nil
}

// knownStatuses refuses unknown statuses and drops repetitions.
func (b *Base) knownStatuses(ctx context.Context, names []string) ([]string, error) {
	if len(names) == 0 {
		return nil, nil
	}
	names = unique(names)
	known, err := b.store.Statuses(ctx)
	if err != nil {
		return nil, err
	}
	for i, name := range names {
		if !slices.ContainsFunc(known, func(s Status) bool { return s.Name == name }) {
			return nil, unknownStatus(at("statuses", i), name, known)
		}
	}
	return names, nil
}

// unknownStatus returns an error that names the known statuses.
func unknownStatus(field, name string, known []Status) *Error {
	names := func(yield func(string) bool) {
		for _, s := range known {
			if !yield(s.Name) {
				return
			}
		}
	}
	hint := gateway.Textf("Referenced status does not exist. Statuses: %s", namesOf(known))
	if near := gateway.Nearest(name, names); near != "" {
		hint = gateway.Textf("Referenced status does not exist; did you mean %s? Statuses: %s", near, namesOf(known))
	}
	return violated(field, name, statusRule, hint)
}

// statusRule is the rule that the status of an item exists.
const statusRule = "fk_items_status_id"

func namesOf(statuses []Status) gateway.Texts {
	names := make([]string, len(statuses))
	for i, s := range statuses {
		names[i] = s.Name
	}
	return gateway.Names(names)
}

// Tags lists all tags of items, the most used first.
func (b *Base) Tags(ctx context.Context) (tags []Tag, err error) {
	defer b.stamp(&err)
	return b.store.Tags(ctx)
}

// ByTag lists the items that have a tag, in any status, the last updated first.
func (b *Base) ByTag(ctx context.Context, tag string, types []string, limit, offset int) (page Page, err error) {
	defer b.stamp(&err)
	f := Filter{Types: types, Tag: tag, Closed: true, Limit: limit, Offset: offset}
	if err := f.checkByTag(); err != nil {
		return Page{}, err
	}
	return b.page(ctx, f)
}

// Types lists the types that items have, the most used first: at most one more than
// ShownTypes.
func (b *Base) Types(ctx context.Context) (types []Type, err error) {
	defer b.stamp(&err)
	return b.store.Types(ctx, ShownTypes+1)
}

// count returns the number of items of a type, or with a tag, in any status.
func (b *Base) count(ctx context.Context, f Filter) (n int, err error) {
	defer b.stamp(&err)
	f.Closed, f.Limit = true, 1
	page, err := b.store.List(ctx, f)
	return page.Total, err
}

// unknownType says that no item has a type, and which types there are.
func (b *Base) unknownType(ctx context.Context, kind string) (gateway.Text, error) {
	types, err := b.Types(ctx)
	kind = gateway.Short(kind)
	if len(types) == 0 {
		return gateway.Textf("No item has the type %s; there are no items yet", kind), err
	}
	return gateway.Textf("No item has the type %s. Types in use: %s", kind, typeNames(types)), err
}

// maxNearTags is how many tags a hint suggests.
const maxNearTags = 3

// unknownTag says that no item has a tag, and which tags may be meant.
func (b *Base) unknownTag(ctx context.Context, tag string) (gateway.Text, error) {
	tags, err := b.Tags(ctx)
	shown := gateway.Short(tag)
	if err != nil || len(tags) == 0 {
		return gateway.Textf("No item has the tag %s; there are no tags yet", shown), err
	}
	var near []string
	for len(near) < maxNearTags {
		next := gateway.Nearest(tag, func(yield func(string) bool) {
			for _, known := range tags {
				if !slices.Contains(near, known.Name) && !yield(known.Name) {
					return
				}
			}
		})
		if next == "" {
			break
		}
		near = append(near, next)
	}
	if len(near) == 0 {
		return gateway.Textf("No item has the tag %s; get_tags lists the tags", shown), nil
	}
	return gateway.Textf("No item has the tag %s; did you mean %s?", shown, gateway.List(near)), nil
}

// nameTypes adds the types that there are to the error of a missing item, if its type is
// none of them.
func (b *Base) nameTypes(ctx context.Context, err error) error {
	var own *Error
	if !errors.As(err, &own) || own.Code != CodeItemNotFound || !own.Details.Actual.IsZero() {
		return err
	}
	n, failed := b.count(ctx, Filter{Types: []string{strings.TrimSpace(own.Details.Ref.Type)}})
	named := *own
	if failed == nil && n == 0 {
		named.Details.Hint, failed = b.unknownType(ctx, own.Details.Ref.Type)
	}
	if failed != nil {
		return err
	}
	return &named
}

// Statuses lists the statuses that can be assigned to items, in order.
func (b *Base) Statuses(ctx context.Context) (statuses []Status, err error) {
	defer b.stamp(&err)
	all, err := b.store.Statuses(ctx)
	return current(all), err
}

// State returns the text about the current state.
func (b *Base) State(ctx context.Context) (state State, err error) {
	defer b.stamp(&err)
	return b.store.State(ctx)
}

// unique drops repetitions and keeps the order.
func unique[T comparable](list []T) []T {
	if len(list) < 2 {
		return list
	}
	var out []T
	seen := make(map[T]bool, len(list))
	for _, one := range list {
		if !seen[one] {
			seen[one], out = true, append(out, one)
		}
	}
	return out
}
