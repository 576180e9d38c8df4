package cli

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"genkan/internal/api/client"
	"genkan/internal/gateway"
)

// importAtOnce is how many items are written at the same time: writes that come
// together share a commit.
const importAtOnce = 8

// A batch of relations is bounded in entries and bytes: a request has a limit.
const (
	mostInBatch  = 500
	bytesInBatch = 256 << 10
)

// carryOut makes and changes items, and then the relations between them, which need
// both ends. It fails when genkan is not to be had any more; what is wrong with one
// item is noted, and the others go on.
func (in *itemImport) carryOut(ctx context.Context, remote *client.Client, p *importPlan) error {
	var work []*incomingItem
	for _, i := range in.incoming {
		if i.known == nil || len(i.changes) > 0 {
			work = append(work, i)
		}
	}
	if err := in.writeItems(ctx, remote, work); err != nil {
		return err
	}
	if err := in.relate(ctx, remote, p); err != nil {
		return err
	}
	for _, i := range in.incoming {
		switch {
		case i.ref == "": // it has failed
		case i.known == nil:
			in.report.Created++
		case i.touched:
			in.report.Updated++
		default:
			in.report.Unchanged++
		}
	}
	return nil
}

func (in *itemImport) writeItems(ctx context.Context, remote *client.Client, work []*incomingItem) error {
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	progress := newBar(in.command, in.say("importing"), len(work))
	defer progress.clear()
	// Items that are the same but for their relations are written one after the
	// other, so that the next import finds them in the same order.
	var shares [importAtOnce][]int
	for n, i := range work {
		share := sumOf(i.item)[0] % importAtOnce
		shares[share] = append(shares[share], n)
	}
	errs := make([]error, len(work))
	var writers sync.WaitGroup
	for _, share := range shares {
		writers.Go(func() {
			for _, n := range share {
				if ctx.Err() != nil {
					return
				}
				errs[n] = patiently(ctx, func() error { return writeItem(ctx, remote, work[n]) })
				if errs[n] != nil && !ofTheItem(errs[n]) {
					stop(errs[n])
				}
				progress.step()
			}
		})
	}
	writers.Wait()
	if err := context.Cause(ctx); err != nil {
		return gateway.AsError(err)
	}
	for n, err := range errs {
		if err != nil {
			in.fail(work[n].place, in.language.Error(gateway.AsError(err)))
		}
	}
	return nil
}

// ofTheItem reports whether a failure is about what was sent, so that the next item
// may fare better.
func ofTheItem(err error) bool {
	switch gateway.AsError(err).Code {
	case gateway.CodeInvalid, gateway.CodeNotFound, gateway.CodeConflict:
		return true
	default:
		return false
	}
}

// patiently does something again when genkan asks to wait, as a rate limit does.
func patiently(ctx context.Context, do func() error) error {
	for {
		err := do()
		var e *gateway.Error
		if !errors.As(err, &e) || e.Code != gateway.CodeLimited {
			return err
		}
		select {
		case <-time.After(max(e.RetryAfter, time.Second)):
		case <-ctx.Done():
			return err
		}
	}
}

// writeItem makes or changes one item, without its relations.
func writeItem(ctx context.Context, remote *client.Client, i *incomingItem) error {
	if i.known != nil {
		item, err := remote.ChangeItem(ctx, i.ref, i.changes)
		if err == nil {
			i.ref, i.touched = item.Ref(), true
		} else {
			i.ref = ""
		}
		return err
	}
	f := i.item
	item, err := remote.AddItem(ctx, client.NewItem{
		Type: f.Type, Title: f.Title, Description: f.Description, Content: f.Content, Status: f.Status, Priority: f.Priority,
		Category: f.Category, Version: f.Version, StartDate: shownMoment(f.Start), EndDate: shownMoment(f.End), Tags: f.Tags,
	})
	if err == nil {
		i.ref, i.touched = item.Ref(), true
	}
	return err
}

func shownMoment(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format(time.RFC3339Nano)
}

// relate adds the relations that the files name.
func (in *itemImport) relate(ctx context.Context, remote *client.Client, p *importPlan) error {
	g := relations{}
	for ref, k := range p.known {
		for _, other := range k.item.Related {
			g.add(ref, other)
		}
	}
	missing := relations{}
	byRef, byActual := in.byOwnRef(), map[string]*incomingItem{}
	for _, i := range in.incoming {
		byActual[i.ref] = i
	}
	for _, i := range in.incoming {
		if i.ref == "" {
			continue
		}
		for _, text := range i.item.Related {
			target := ""
			if other := byRef[sourcedRef{i.source, text}]; other != nil {
				target = other.ref
			} else if i.mayMean(p, text) {
				target = text
			}
			switch {
			case target == "":
				in.drop(droppedRelation+text, i.place)
			case target != i.ref && !g[i.ref][target]:
				g.add(i.ref, target)
				missing.add(i.ref, target)
			}
		}
	}
	return in.sendRelations(ctx, remote, g, missing, byActual)
}

// relations are neighbours by reference, each end having the other.
type relations map[string]map[string]bool

func (r relations) add(a, b string) {
	for _, pair := range [][2]string{{a, b}, {b, a}} {
		if r[pair[0]] == nil {
			r[pair[0]] = map[string]bool{}
		}
		r[pair[0]][pair[1]] = true
	}
}

// sendRelations writes what is missing. An update replaces all neighbours of an
// item, so it names all that it is to have in the end. Items with few neighbours
// come first and write their relations with those that have many, which may be more
// than one update can name.
func (in *itemImport) sendRelations(ctx context.Context, remote *client.Client, whole, missing relations, byActual map[string]*incomingItem) error {
	order := slices.SortedFunc(maps.Keys(missing), func(a, b string) int {
		return cmp.Or(cmp.Compare(len(whole[a]), len(whole[b])), strings.Compare(a, b))
	})
	progress := newBar(in.command, in.say("relating"), len(order))
	defer progress.clear()
	var batch []client.ItemUpdate
	size := 0
	send := func() error {
		if len(batch) == 0 {
			return nil
		}
		err := in.sendBatch(ctx, remote, batch, byActual)
		batch, size = nil, 0
		return err
	}
	written := relations{}
	for n, ref := range order {
		progress.at(n)
		due := false
		for other := range missing[ref] {
			due = due || !written[ref][other]
			for _, one := range []string{ref, other} {
				if i := byActual[one]; i != nil && one != "" {
					i.touched = true
				}
			}
		}
		if !due {
			continue
		}
		for other := range missing[ref] {
			written.add(ref, other)
		}
		all := slices.Sorted(maps.Keys(whole[ref]))
		kind, id, _ := cutRef(ref)
		batch = append(batch, client.ItemUpdate{Type: kind, ID: id, Data: client.ItemChange{Related: &all}})
		for _, other := range all {
			size += len(other) + 3
		}
		if len(batch) == mostInBatch || size > bytesInBatch {
			if err := send(); err != nil {
				return err
			}
		}
	}
	return send()
}

// cutRef splits a reference that genkan has given.
func cutRef(ref string) (kind string, id int64, ok bool) {
	at := strings.LastIndexByte(ref, '-')
	if at < 0 {
		return "", 0, false
	}
	id, err := strconv.ParseInt(ref[at+1:], 10, 64)
	return ref[:at], id, err == nil
}

// sendBatch writes relations of many items at once, or one by one if something is
// wrong with any of them.
func (in *itemImport) sendBatch(ctx context.Context, remote *client.Client, batch []client.ItemUpdate, byActual map[string]*incomingItem) error {
	err := patiently(ctx, func() error {
		_, err := remote.ChangeItems(ctx, client.BulkUpdate{Updates: batch})
		return err
	})
	if err == nil || !ofTheItem(err) {
		return err
	}
	for _, one := range batch {
		ref := one.Type + "-" + strconv.FormatInt(one.ID, 10)
		err := patiently(ctx, func() error {
			_, err := remote.ChangeItem(ctx, ref, map[string]any{"related": *one.Data.Related})
			return err
		})
		if err != nil && !ofTheItem(err) {
			return err
		}
		if i := byActual[ref]; err != nil && i != nil {
			in.fail(i.place, in.language.Error(gateway.AsError(err)))
		}
	}
	return nil
}
