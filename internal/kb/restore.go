package kb

import (
	"context"
	"time"
)

// Restoration is the content of an import, with times and references from its origin.
// Tools do not use it: the creator of an item cannot choose its creation time.
type Restoration struct {
	Items []RestoredItem
	// Relations connect items that exist after the restoration. They do not change the
	// update times of items.
	Relations [][2]Ref
	// State, if it is not nil, replaces the text about the current state.
	State *State
}

// RestoredItem is an item to restore. Its neighbours are ignored.
type RestoredItem struct {
	// Item keeps its times; missing times are set to now. It keeps its id if that is
	// higher than any id ever assigned here, and gets a new id otherwise.
	Item Item
	// Former are references that the item had under other types. They are kept if the
	// item keeps its id and if no other item has had their ids.
	Former []Ref
}

// RestoredAs is the result of restoring an item.
type RestoredAs struct {
	Ref Ref
	// Former are the former references that were kept.
	Former []Ref
}

// MaxKeptID is the highest id that an item keeps, because new ids follow the highest
// one.
const MaxKeptID = 1_000_000_000

// Restore creates items and relations and replaces the state, all in one write.
func (b *Base) Restore(ctx context.Context, r Restoration) (all []RestoredAs, err error) {
	defer b.stamp(&err)
	if len(r.Items) > MaxBulk {
		return nil, Invalid("items", len(r.Items), "Must have at most %d entries", MaxBulk)
	}
	now := b.now()
	items := make([]RestoredItem, len(r.Items))
	for i := range r.Items {
		items[i] = r.Items[i]
		if err := items[i].prepare(now); err != nil {
			return nil, atIndex(err, "items", i)
		}
	}
	for i, pair := range r.Relations {
		for _, ref := range pair {
			if checkRef("", "", ref) != nil {
				return nil, Invalid(at("relations", i), ref.String(), "Must be a reference of the form type-id, such as docs-12")
			}
		}
	}
	if r.State != nil {
		r.State = new(*r.State) // its tags are changed
		if err := r.State.check(); err != nil {
			return nil, err
		}
	}
	err = b.store.Write(ctx, func(ctx context.Context, w Writer) error {
		all = make([]RestoredAs, len(items))
		for i := range items {
			item := items[i].Item
			former, err := w.Restore(ctx, &item, items[i].Former)
			if err != nil {
				return atIndex(statusOf(err, &item), "items", i)
			}
			all[i] = RestoredAs{item.Ref(), former}
		}
		if err := relate(ctx, w, r.Relations); err != nil {
			return err
		}
		if r.State == nil {
			return nil
		}
		state := *r.State
		if state.Related, err = resolve(ctx, w, "related", 0, r.State.Related); err != nil {
			return err
		}
		if state.UpdatedAt.IsZero() {
			state.UpdatedAt = now
		}
		state.UpdatedAt = state.UpdatedAt.UTC().Truncate(time.Microsecond)
		return w.SetState(ctx, &state)
	})
	if err != nil {
		return nil, b.nameStatuses(ctx, err)
	}
	b.follow()
	return all, nil
}

// prepare validates an item as far as possible by itself, like a new one, and fills
// in missing values. An item that ends before it starts is restored as it was.
func (r *RestoredItem) prepare(now time.Time) error {
	var wrong refusal
	i := &r.Item
	i.Related = nil
	kind, err := checkType("type", i.Type)
	wrong.refuse(err)
	i.Type = kind
	if i.ID < 0 {
		wrong.refuse(Invalid("id", i.ID, "Must be a positive integer"))
	}
	fields := Patch{
		Title: &i.Title, Description: &i.Description, Content: &i.Content, Status: &i.Status, Category: &i.Category, Version: &i.Version,
		Priority: &i.Priority, Start: &i.Start, End: &i.End, Tags: &i.Tags,
	}
	wrong.refuse(fields.check())
	i.Tags = *fields.Tags
	if i.Priority == "" {
		i.Priority = PriorityMedium
	}
	if checkTimes(&i.CreatedAt, &i.UpdatedAt) != nil {
		wrong.refuse(Invalid("created_at", i.CreatedAt.String(), "Must be in the years 0 to 9999, and so must updated_at"))
	}
	for n, ref := range r.Former {
		if checkRef("", "", ref) != nil {
			wrong.refuse(Invalid(at("former", n), ref.String(), "Must be a reference of the form type-id, such as docs-12"))
		}
	}
	if i.CreatedAt.IsZero() {
		i.CreatedAt = i.UpdatedAt
	}
	if i.CreatedAt.IsZero() {
		i.CreatedAt = now
	}
	if i.UpdatedAt.Before(i.CreatedAt) {
		i.UpdatedAt = i.CreatedAt
	}
	for _, t := range []*time.Time{&i.CreatedAt, &i.UpdatedAt} {
		*t = t.UTC().Truncate(time.Microsecond)
	}
	return wrong.err
}

// check validates a restored state and makes its tags as checkTags does.
func (s *State) check() (err error) {
	var r refusal
	r.refuse(checkText("state.content", s.Content, MaxContent))
	r.refuse(checkText("state.updated_by", s.UpdatedBy, MaxWords))
	r.refuse(checkRelated("related", s.Related))
	s.Tags, err = checkTags("tags", s.Tags)
	r.refuse(err)
	return r.err
}

// relate adds relations between existing items.
func relate(ctx context.Context, w Writer, pairs [][2]Ref) error {
	if len(pairs) == 0 {
		return nil
	}
	var ids []int64
	for _, pair := range pairs {
		ids = append(ids, pair[0].ID, pair[1].ID)
	}
	places, err := w.Resolve(ctx, unique(ids))
	if err != nil {
		return err
	}
	edges := make([]Edge, 0, len(pairs))
	for i, pair := range pairs {
		var ends [2]int64
		for n, ref := range pair {
			place, ok := places[ref.ID]
			if !ok {
				return notFound(at("relations", i), ref, Ref{})
			}
			if err := matches(at("relations", i), ref, place); err != nil {
				return err
			}
			ends[n] = place.ID
		}
		if ends[0] == ends[1] {
			return Invalid(at("relations", i), pair[0].String(), "An item cannot be related to itself")
		}
		edges = append(edges, Edge{min(ends[0], ends[1]), max(ends[0], ends[1])})
	}
	return w.Relate(ctx, edges)
}
