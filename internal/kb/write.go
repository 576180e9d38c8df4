package kb

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"genkan/internal/gateway"
)

// Patch holds the fields to change. A nil field stays unchanged, and an empty one
// clears the value. A cleared status or priority becomes the default, and a title
// cannot be cleared.
type Patch struct {
	Title, Description, Content, Status, Category, Version *string

	Priority   *Priority
	Start, End *time.Time
	// Related replaces all neighbours, and Tags all tags.
	Related *[]Ref
	Tags    *[]string
	// These fields add and remove entries and keep all others, so two callers that change
	// a list at the same time lose nothing. Removals are applied last.
	AddRelated, RemoveRelated *[]Ref
	AddTags, RemoveTags       *[]string
}

// isZero reports whether the patch changes nothing.
func (p *Patch) isZero() bool { return *p == Patch{} }

// Edit is a patch with the reference of its item.
type Edit struct {
	Ref   Ref
	Patch Patch
}

// Create adds an item. The patch holds its fields; the title is required.
func (b *Base) Create(ctx context.Context, kind string, fields Patch) (item Item, err error) {
	defer b.stamp(&err)
	if kind, err = checkNew(kind, &fields); err != nil {
		return Item{}, err
	}
	now := b.now()
	err = b.store.Write(ctx, func(ctx context.Context, w Writer) error {
		item = Item{Type: kind, Priority: PriorityMedium, CreatedAt: now}
		if _, err := fields.apply(ctx, w, &item, now); err != nil {
			return err
		}
		return statusOf(w.Insert(ctx, &item), &item)
	})
	if err != nil {
		return Item{}, b.nameStatuses(ctx, err)
	}
	return item, nil
}

// Update changes an item.
func (b *Base) Update(ctx context.Context, ref Ref, patch Patch) (found Found, err error) {
	defer b.stamp(&err)
	all, err := b.edit(ctx, []Edit{{ref, patch}}, false)
	if err != nil {
		return Found{}, err
	}
	return all[0], nil
}

// BulkUpdate changes many items in one write, all or none of them.
func (b *Base) BulkUpdate(ctx context.Context, edits []Edit) (all []Found, err error) {
	defer b.stamp(&err)
	if len(edits) > MaxBulk {
		return nil, Invalid("updates", len(edits), "Must have at most %d entries", MaxBulk)
	}
	return b.edit(ctx, edits, true)
}

func (b *Base) edit(ctx context.Context, edits []Edit, bulk bool) ([]Found, error) {
	numbered := func(i int, err error) error {
		if bulk {
			return atIndex(err, "updates", i)
		}
		return err
	}
	edits = slices.Clone(edits) // check changes tags in place
	var r refusal
	for i := range edits {
		r.refuse(numbered(i, edits[i].check()))
	}
	if r.err != nil {
		return nil, r.err
	}
	if len(edits) == 0 {
		return nil, nil
	}
	if !bulk && edits[0].Patch.isZero() {
		found, err := find(ctx, b.store, "", edits[0].Ref)
		found.Changed = []string{}
		return []Found{found}, err
	}
	usual, err := b.usualStatus(ctx, edits)
	if err != nil {
		return nil, err
	}
	now := b.now()
	var all []Found
	err = b.store.Write(ctx, func(ctx context.Context, w Writer) error {
		all = make([]Found, 0, len(edits))
		for i := range edits {
			found, err := find(ctx, w, "", edits[i].Ref)
			if err != nil {
				return numbered(i, err)
			}
			if err := edits[i].Patch.update(ctx, w, &found, usual, now); err != nil {
				return numbered(i, err)
			}
			all = append(all, found)
		}
		return nil
	})
	if err != nil {
		return nil, b.nameStatuses(ctx, err)
	}
	return all, nil
}

// update applies the patch to a found item and stores it, unless nothing changes. Usual is
// the status that a cleared one becomes.
func (p *Patch) update(ctx context.Context, w Writer, found *Found, usual string, now time.Time) error {
	before := found.Item
	parts, err := p.apply(ctx, w, &found.Item, now)
	if err != nil {
		return err
	}
	if found.Item.Status == "" && before.Status == usual {
		found.Item.Status = usual
	}
	if found.Changed = changedFrom(&before, &found.Item); len(found.Changed) == 0 {
		found.Item = before
		return nil
	}
	if err := statusOf(w.Update(ctx, &found.Item, parts), &found.Item); err != nil {
		return err
	}
	if p.Tags != nil {
		found.DroppedTags = without(before.Tags, found.Item.Tags)
	}
	if p.Related != nil {
		found.DroppedRelated = without(before.Related, found.Item.Related)
	}
	return nil
}

// changedFrom returns the names of the fields that differ, in the order of answers. The
// time of the update is none of them.
func changedFrom(before, after *Item) []string {
	changed := []string{}
	for _, field := range []struct {
		name string
		same bool
	}{
		{"title", before.Title == after.Title},
		{"description", before.Description == after.Description},
		{"content", before.Content == after.Content},
		{"status", before.Status == after.Status},
		{"priority", before.Priority == after.Priority},
		{"category", before.Category == after.Category},
		{"start_date", before.Start.Equal(after.Start)},
		{"end_date", before.End.Equal(after.End)},
		{"version", before.Version == after.Version},
		{"related", slices.Equal(before.Related, after.Related)},
		{"tags", slices.Equal(before.Tags, after.Tags)},
	} {
		if !field.same {
			changed = append(changed, field.name)
		}
	}
	return changed
}

// atIndex adds the entry of a list that an error is about.
func atIndex(err error, list string, i int) error {
	var own *Error
	if !errors.As(err, &own) {
		return err
	}
	e := *own
	e.Details.List, e.Details.Index = list, i
	e.Details.Others = slices.Clone(e.Details.Others)
	for n := range e.Details.Others {
		e.Details.Others[n].List, e.Details.Others[n].Index = list, i
	}
	return &e
}

// usualStatus returns the status of new items, if an edit clears a status.
func (b *Base) usualStatus(ctx context.Context, edits []Edit) (string, error) {
	if !slices.ContainsFunc(edits, func(e Edit) bool { return e.Patch.Status != nil && *e.Patch.Status == "" }) {
		return "", nil
	}
	known, err := b.Statuses(ctx)
	if i := slices.IndexFunc(known, func(s Status) bool { return !s.Closed }); i >= 0 {
		return known[i].Name, err
	}
	return "", err
}

// apply applies the patch to an item.
func (p *Patch) apply(ctx context.Context, w Writer, item *Item, now time.Time) (Parts, error) {
	item.UpdatedAt = now
	for _, text := range []struct{ to, from *string }{
		{&item.Title, p.Title},
		{&item.Description, p.Description},
		{&item.Content, p.Content},
		{&item.Status, p.Status},
		{&item.Category, p.Category},
		{&item.Version, p.Version},
	} {
		if text.from != nil {
			*text.to = *text.from
		}
	}
	if p.Priority != nil {
		item.Priority = cmp.Or(*p.Priority, PriorityMedium)
	}
	if p.Start != nil {
		item.Start = *p.Start
	}
	if p.End != nil {
		item.End = *p.End
	}
	if err := p.checkSpan(item.Start, item.End); err != nil {
		return Parts{}, err
	}
	var parts Parts
	if p.Tags != nil || p.AddTags != nil || p.RemoveTags != nil {
		tags := p.tags(item.Tags)
		if len(tags) > MaxTags {
			return Parts{}, Invalid("add_tags", len(tags), "An item must have at most %d tags", MaxTags)
		}
		item.Tags, parts.Tags = tags, true
	}
	if p.Related == nil && p.AddRelated == nil && p.RemoveRelated == nil {
		return parts, nil
	}
	related, err := p.related(ctx, w, item)
	if err != nil {
		return Parts{}, err
	}
	parts.Link, parts.Unlink = missing(related, item.Related), missing(item.Related, related)
	item.Related = related
	return parts, nil
}

// tags returns the tags of an item after the patch.
func (p *Patch) tags(now []string) []string {
	if p.Tags != nil {
		now = *p.Tags
	}
	if p.AddTags != nil {
		now = unique(slices.Concat(now, *p.AddTags))
	}
	if p.RemoveTags != nil {
		now = without(now, *p.RemoveTags)
	}
	return now
}

// related returns the neighbours of an item after the patch, ordered by id.
func (p *Patch) related(ctx context.Context, w Writer, item *Item) ([]Ref, error) {
	related := item.Related
	for _, change := range []struct {
		field string
		refs  *[]Ref
		apply func(given []Ref)
	}{
		{"related", p.Related, func(given []Ref) { related = given }},
		{"add_related", p.AddRelated, func(given []Ref) {
			related = slices.Concat(related, without(given, related))
			slices.SortFunc(related, byID)
		}},
		{"remove_related", p.RemoveRelated, func(given []Ref) { related = without(related, given) }},
	} {
		if change.refs == nil {
			continue
		}
		given, err := resolve(ctx, w, change.field, item.ID, *change.refs)
		if err != nil {
			return nil, err
		}
		change.apply(given)
	}
	return related, nil
}

// without returns a list without the elements of another.
func without[T comparable](list, remove []T) []T {
	return slices.DeleteFunc(slices.Clone(list), func(one T) bool { return slices.Contains(remove, one) })
}

func byID(a, b Ref) int { return cmp.Compare(a.ID, b.ID) }

// resolve returns the items that references mean, each once, ordered by id. It refuses
// a reference to the item itself. Field is the argument that has the references.
func resolve(ctx context.Context, w Writer, field string, self int64, refs []Ref) ([]Ref, error) {
	if len(refs) == 0 {
		return nil, nil
	}
	ids := make([]int64, len(refs))
	for i, ref := range refs {
		ids[i] = ref.ID
	}
	places, err := w.Resolve(ctx, ids)
	if err != nil {
		return nil, err
	}
	out := make([]Ref, 0, len(refs))
	for i, ref := range refs {
		place, ok := places[ref.ID]
		if !ok {
			return nil, notFound(at(field, i), ref, Ref{})
		}
		if err := matches(at(field, i), ref, place); err != nil {
			return nil, err
		}
		if place.ID == self {
			return nil, Invalid(at(field, i), ref.String(), "An item cannot be related to itself")
		}
		out = append(out, place.Ref)
	}
	slices.SortFunc(out, byID)
	return slices.Compact(out), nil
}

// missing returns the ids of the references that are in the first list but not in the
// second. Both are ordered.
func missing(in, from []Ref) []int64 {
	var out []int64
	for _, ref := range in {
		if _, ok := slices.BinarySearchFunc(from, ref.ID, func(r Ref, id int64) int { return cmp.Compare(r.ID, id) }); !ok {
			out = append(out, ref.ID)
		}
	}
	return out
}

// statusOf names the status that a store did not know.
func statusOf(err error, item *Item) error {
	if errors.Is(err, ErrUnknownStatus) {
		return violated("status", item.Status, statusRule, gateway.Text{})
	}
	return err
}

// nameStatuses adds the known statuses to the error of an unknown status. It must not
// be called within a write, where only the writer may be used.
func (b *Base) nameStatuses(ctx context.Context, err error) error {
	var own *Error
	if !errors.As(err, &own) || own.Code != CodeConstraintViolation || own.Details.Field != "status" {
		return err
	}
	known, failed := b.store.Statuses(ctx)
	if failed != nil {
		return err
	}
	name, _ := own.Details.Value.(string)
	named := *own
	named.Details.Hint = unknownStatus("status", name, current(known)).Details.Hint
	if slices.ContainsFunc(known, func(s Status) bool { return s.Retired && s.Name == name }) {
		named.Details.Hint = gateway.Textf("Items that have this status keep it, but no other gets it any more. Statuses: %s", namesOf(current(known)))
	}
	return &named
}

// Delete removes an item and its relations. It returns the deleted item.
func (b *Base) Delete(ctx context.Context, ref Ref) (found Found, err error) {
	defer b.stamp(&err)
	if err := checkRef("type", "id", ref); err != nil {
		return Found{}, err
	}
	err = b.store.Write(ctx, func(ctx context.Context, w Writer) (err error) {
		if found, err = find(ctx, w, "", ref); err != nil {
			return err
		}
		return w.Delete(ctx, found.Item.ID)
	})
	return found, err
}

// ChangeType gives an item another type and with that a new id. Its relations are
// kept, and its former reference still finds it.
func (b *Base) ChangeType(ctx context.Context, ref Ref, kind string) (found Found, err error) {
	defer b.stamp(&err)
	if kind, err = checkRetype(ref, kind); err != nil {
		return Found{}, err
	}
	now := b.now()
	err = b.store.Write(ctx, func(ctx context.Context, w Writer) (err error) {
		if found, err = find(ctx, w, "", ref); err != nil {
			return err
		}
		found.Changed = []string{}
		if found.Item.Type == kind {
			return nil // a repeated call: the type was changed before
		}
		found.Changed = []string{"id", "type"}
		former := found.Item.Ref()
		found.Item.Type, found.Item.UpdatedAt = kind, now
		found.Former = Ref{strings.TrimSpace(ref.Type), ref.ID}
		return w.Retype(ctx, former, &found.Item)
	})
	return found, err
}

// StatePatch holds the fields of the state to change. A nil field stays unchanged.
type StatePatch struct {
	Content   string
	UpdatedBy string
	Related   *[]Ref
	Tags      *[]string
}

// SetState changes the text about the current state. It returns the names of the fields
// that changed.
func (b *Base) SetState(ctx context.Context, p StatePatch) (state State, changed []string, err error) {
	defer b.stamp(&err)
	if err := p.check(); err != nil {
		return State{}, nil, err
	}
	now := b.now()
	err = b.store.Write(ctx, func(ctx context.Context, w Writer) (err error) {
		if state, err = w.State(ctx); err != nil {
			return err
		}
		before := state
		state.Content, state.UpdatedBy, state.UpdatedAt = p.Content, p.UpdatedBy, now
		if p.Tags != nil {
			state.Tags = *p.Tags
		}
		if p.Related != nil {
			if state.Related, err = resolve(ctx, w, "related", 0, *p.Related); err != nil {
				return err
			}
		}
		if changed = changedState(&before, &state); len(changed) == 0 {
			state = before
			return nil
		}
		return w.SetState(ctx, &state)
	})
	return state, changed, err
}

func changedState(before, after *State) []string {
	changed := []string{}
	for _, field := range []struct {
		name string
		same bool
	}{
		{"content", before.Content == after.Content},
		{"updated_by", before.UpdatedBy == after.UpdatedBy},
		{"related", slices.Equal(before.Related, after.Related)},
		{"tags", slices.Equal(before.Tags, after.Tags)},
	} {
		if !field.same {
			changed = append(changed, field.name)
		}
	}
	return changed
}

// SetStatuses replaces the statuses that can be assigned to items; the first open one
// is the default. Items keep their statuses. It writes nothing if the statuses are
// unchanged.
func (b *Base) SetStatuses(ctx context.Context, statuses []Status) (err error) {
	defer b.stamp(&err)
	if len(statuses) == 0 || len(statuses) > MaxStatuses {
		return Invalid("statuses", len(statuses), "Must be 1 to %d", MaxStatuses)
	}
	seen, open := map[string]bool{}, false
	for i, s := range statuses {
		if _, err := checkType(at("statuses", i), s.Name); err != nil {
			return err
		}
		if seen[s.Name] {
			return Invalid(at("statuses", i), s.Name, "Must be there once")
		}
		seen[s.Name], open = true, open || !s.Closed
	}
	if !open {
		return Invalid("statuses", len(statuses), "One must be open")
	}
	now, err := b.store.Statuses(ctx)
	if err != nil || slices.Equal(current(now), statuses) {
		return err
	}
	return b.store.Write(ctx, func(ctx context.Context, w Writer) error { return w.SetStatuses(ctx, statuses) })
}

// current returns the statuses without the retired ones.
func current(all []Status) []Status {
	return slices.DeleteFunc(slices.Clone(all), func(s Status) bool { return s.Retired })
}
