package cli

import (
	"cmp"
	"context"
	"slices"

	"genkan/internal/api/client"
	"genkan/internal/gateway"
	"genkan/internal/kb/exchange"
)

// restoreItems creates new items with the times of their files and, if these are
// free, with their ids. It begins with the lowest id, because an id can be kept
// only if it is higher than all before it.
func (in *itemImport) restoreItems(ctx context.Context, remote *client.Client, fresh []*incomingItem) error {
	slices.SortStableFunc(fresh, func(a, b *incomingItem) int {
		if (a.item.ID == 0) != (b.item.ID == 0) {
			return cmp.Compare(b.item.ID, a.item.ID) // items without an id come last
		}
		return cmp.Or(cmp.Compare(a.source, b.source), cmp.Compare(a.item.ID, b.item.ID))
	})
	progress := newBar(in.command, in.say("importing"), len(fresh))
	defer progress.clear()
	done := 0
	size := func(i *incomingItem) int { return len(i.item.Title) + len(i.item.Description) + len(i.item.Content) }
	return inBatches(fresh, size, func(batch []*incomingItem) error {
		err := in.restoreBatch(ctx, remote, batch)
		done += len(batch)
		progress.at(done)
		return err
	})
}

// inBatches splits a list into parts that fit into a request.
func inBatches[T any](list []T, size func(T) int, send func(batch []T) error) error {
	for len(list) > 0 {
		n, bytes := 0, 0
		for n < len(list) && n < mostInBatch && (n == 0 || bytes+size(list[n]) <= bytesInBatch) {
			bytes += size(list[n])
			n++
		}
		if err := send(list[:n]); err != nil {
			return err
		}
		list = list[n:]
	}
	return nil
}

// restoreBatch creates items together, or one by one if one of them is refused.
func (in *itemImport) restoreBatch(ctx context.Context, remote *client.Client, batch []*incomingItem) error {
	var all client.Restoration
	for _, i := range batch {
		all.Items = append(all.Items, restored(i.item))
	}
	var became client.Restored
	err := retryLimited(ctx, func() (err error) {
		became, err = remote.Restore(ctx, all)
		return err
	})
	switch {
	case err == nil:
		for n, i := range batch {
			i.ref, i.touched = became.Items[n].Ref, true
			for _, former := range i.item.Former {
				if !slices.Contains(became.Items[n].Former, former) {
					in.drop("former: "+former, i.place)
				}
			}
		}
		return nil
	case !ofTheItem(err):
		return err
	case len(batch) == 1:
		in.fail(batch[0].place, in.language.Error(gateway.AsError(err)))
		return nil
	}
	for _, one := range batch {
		if err := in.restoreBatch(ctx, remote, []*incomingItem{one}); err != nil {
			return err
		}
	}
	return nil
}

func restored(f exchange.Item) client.RestoredItem {
	return client.RestoredItem{
		ID: f.ID, Type: f.Type, Title: f.Title, Description: f.Description, Content: f.Content, Status: f.Status, Priority: f.Priority,
		Category: f.Category, Version: f.Version, StartDate: shownMoment(f.Start), EndDate: shownMoment(f.End), Tags: f.Tags,
		CreatedAt: shownMoment(f.CreatedAt), UpdatedAt: shownMoment(f.UpdatedAt), Former: f.Former,
	}
}

// relatedPair is a relation to add.
type relatedPair struct {
	a, b string
	at   place
}

// relate adds the relations of the files. Adding a relation does not update an
// item.
func (in *itemImport) relate(ctx context.Context, remote *client.Client, p *importPlan) error {
	there := relations{}
	for ref, k := range p.known {
		for _, other := range k.item.Related {
			there.add(ref, other)
		}
	}
	byRef, byActual := in.byOwnRef(), map[string]*incomingItem{}
	for _, i := range in.incoming {
		byActual[i.ref] = i
	}
	var missing []relatedPair
	for _, i := range in.incoming {
		if i.ref == "" {
			continue
		}
		for _, text := range i.item.Related {
			target := in.target(p, byRef, i.source, text, i)
			if target == "" {
				in.drop(droppedRelation+text, i.place)
				continue
			}
			if target != i.ref && !there[i.ref][target] {
				there.add(i.ref, target)
				missing = append(missing, relatedPair{i.ref, target, i.place})
			}
		}
	}
	progress := newBar(in.command, in.say("relating"), len(missing))
	defer progress.clear()
	done := 0
	return inBatches(missing, func(p relatedPair) int { return len(p.a) + len(p.b) + len(`{"a":"","b":""},`) }, func(batch []relatedPair) error {
		err := in.relateBatch(ctx, remote, batch, byActual)
		done += len(batch)
		progress.at(done)
		return err
	})
}

// target returns the item that a reference in a file means here; empty for none.
func (in *itemImport) target(p *importPlan, byRef map[sourcedRef]*incomingItem, source int, text string, from *incomingItem) string {
	if other := byRef[sourcedRef{source, text}]; other != nil {
		return other.ref
	}
	if from.mayMean(p, text) {
		return text
	}
	return ""
}

// relations maps references to their neighbours. Each relation is stored at both
// ends.
type relations map[string]map[string]bool

func (r relations) add(a, b string) {
	for _, pair := range [][2]string{{a, b}, {b, a}} {
		if r[pair[0]] == nil {
			r[pair[0]] = map[string]bool{}
		}
		r[pair[0]][pair[1]] = true
	}
}

// relateBatch adds relations together, or one by one if one of them is refused.
func (in *itemImport) relateBatch(ctx context.Context, remote *client.Client, batch []relatedPair, byActual map[string]*incomingItem) error {
	var all client.Restoration
	for _, pair := range batch {
		all.Relations = append(all.Relations, client.ItemPair{A: pair.a, B: pair.b})
	}
	err := retryLimited(ctx, func() error {
		_, err := remote.Restore(ctx, all)
		return err
	})
	switch {
	case err == nil:
		for _, pair := range batch {
			for _, ref := range []string{pair.a, pair.b} {
				if i := byActual[ref]; i != nil {
					i.touched = true
				}
			}
		}
		return nil
	case !ofTheItem(err):
		return err
	case len(batch) == 1:
		in.fail(batch[0].at, in.language.Error(gateway.AsError(err)))
		return nil
	}
	for _, one := range batch {
		if err := in.relateBatch(ctx, remote, []relatedPair{one}, byActual); err != nil {
			return err
		}
	}
	return nil
}

// These are the outcomes for the state, the text about the present state of things.
const (
	stateTaken = "taken"
	stateSame  = "unchanged"
	stateOlder = "older" // the existing state is newer, and stays
)

// incomingState is the state of a file.
type incomingState struct {
	place

	state  exchange.State
	source int
}

// planState decides whether to import the state of the files. It is imported if
// there is none yet, or an older one.
func (in *itemImport) planState(ctx context.Context, remote *client.Client, p *importPlan) error {
	if in.state == nil {
		return nil
	}
	here, err := remote.State(ctx)
	if err != nil {
		return err
	}
	file := in.state.state
	switch at := here.Metadata.UpdatedAt; {
	case at == nil:
		p.state = stateTaken
	case file.Content == here.Content && slices.Equal(uniqueTexts(file.Tags), here.Metadata.Tags):
		p.state = stateSame
	case !file.UpdatedAt.IsZero() && !exact(file.UpdatedAt).After(*at):
		p.state = stateOlder
	default:
		p.state = stateTaken
	}
	return nil
}

// restoreState writes the state with its time.
func (in *itemImport) restoreState(ctx context.Context, remote *client.Client, p *importPlan) error {
	in.report.State = p.state
	if p.state != stateTaken {
		return nil
	}
	s := in.state.state
	state := client.RestoredState{
		Content: s.Content, UpdatedBy: s.UpdatedBy, UpdatedAt: shownMoment(s.UpdatedAt), Tags: uniqueTexts(s.Tags), Related: []string{},
	}
	byRef := in.byOwnRef()
	// Beside items, the state comes from the same knowledge base as they do. Alone,
	// it is about this one.
	var from incomingItem
	if slices.ContainsFunc(in.incoming, func(i *incomingItem) bool { return i.source == in.state.source }) {
		from.item.ID = 1
	}
	for _, text := range s.Related {
		if target := in.target(p, byRef, in.state.source, text, &from); target != "" {
			state.Related = append(state.Related, target)
		} else {
			in.drop(droppedRelation+text, in.state.place)
		}
	}
	err := retryLimited(ctx, func() error {
		_, err := remote.Restore(ctx, client.Restoration{State: &state})
		return err
	})
	if err != nil && ofTheItem(err) {
		in.report.State = ""
		in.fail(in.state.place, in.language.Error(gateway.AsError(err)))
		return nil
	}
	return err
}

// stateWords tells people what happens to the state.
func (in *itemImport) stateWords(what string) string {
	switch what {
	case stateTaken:
		return in.say("The text about the current state is taken over.")
	case stateSame:
		return in.say("The text about the current state is there already.")
	case stateOlder:
		return in.say("The text about the current state that is here is newer, and stays.")
	default:
		return ""
	}
}

// exportedState returns the state for a file; nil if it was never written.
func exportedState(s client.State) *exchange.State {
	if s.Metadata.UpdatedAt == nil {
		return nil
	}
	out := &exchange.State{UpdatedAt: *s.Metadata.UpdatedAt, Tags: s.Metadata.Tags, Related: s.Metadata.Related, Content: s.Content}
	if by := s.Metadata.UpdatedBy; by != nil {
		out.UpdatedBy = *by
	}
	return out
}
