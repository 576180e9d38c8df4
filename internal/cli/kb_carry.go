package cli

import (
	"context"
	"errors"
	"sync"
	"time"

	"genkan/internal/api/client"
	"genkan/internal/gateway"
)

// importAtOnce is how many items are written at the same time, because concurrent
// writes share a commit.
const importAtOnce = 8

// A request has a limit, so batches are bounded in entries and bytes.
const (
	mostInBatch  = 500
	bytesInBatch = 256 << 10
)

// carryOut creates and changes items, then adds the relations between them, which
// need both ends, and then writes the state. It fails if genkan can no longer be
// reached. A failure of one item is recorded, and the others continue.
func (in *itemImport) carryOut(ctx context.Context, remote *client.Client, p *importPlan) error {
	var fresh, changed []*incomingItem
	for _, i := range in.incoming {
		switch {
		case i.known == nil:
			fresh = append(fresh, i)
		case len(i.changes) > 0:
			changed = append(changed, i)
		}
	}
	if err := in.restoreItems(ctx, remote, fresh); err != nil {
		return err
	}
	if err := in.changeItems(ctx, remote, changed); err != nil {
		return err
	}
	if err := in.relate(ctx, remote, p); err != nil {
		return err
	}
	if err := in.restoreState(ctx, remote, p); err != nil {
		return err
	}
	for _, i := range in.incoming {
		switch {
		case i.ref == "": // the item has failed
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

func (in *itemImport) changeItems(ctx context.Context, remote *client.Client, work []*incomingItem) error {
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	progress := newBar(in.command, in.say("importing"), len(work))
	defer progress.clear()
	var shares [importAtOnce][]int
	for n := range work {
		shares[n%importAtOnce] = append(shares[n%importAtOnce], n)
	}
	errs := make([]error, len(work))
	var writers sync.WaitGroup
	for _, share := range shares {
		writers.Go(func() {
			for _, n := range share {
				if ctx.Err() != nil {
					return
				}
				errs[n] = retryLimited(ctx, func() error { return changeItem(ctx, remote, work[n]) })
				if errs[n] != nil && !ofTheItem(errs[n]) {
					stop(errs[n])
				}
				progress.step()
			}
		})
	}
	writers.Wait()
	if err := context.Cause(ctx); err != nil {
		var e *gateway.Error
		if errors.As(err, &e) {
			return e
		}
		return canceled(ctx) // by a signal
	}
	for n, err := range errs {
		if err != nil {
			work[n].ref = ""
			in.fail(work[n].place, in.language.Error(gateway.AsError(err)))
		}
	}
	return nil
}

// ofTheItem reports whether a failure is specific to the item, so that the next
// item may succeed.
func ofTheItem(err error) bool {
	switch gateway.AsError(err).Code {
	case gateway.CodeInvalid, gateway.CodeNotFound, gateway.CodeConflict:
		return true
	default:
		return false
	}
}

// retryLimited repeats a request when genkan asks to wait, as a rate limit does.
func retryLimited(ctx context.Context, do func() error) error {
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

// changeItem updates one item with the fields that differ in its file.
func changeItem(ctx context.Context, remote *client.Client, i *incomingItem) error {
	item, err := remote.ChangeItem(ctx, i.ref, i.changes)
	if err != nil {
		return err // the reference stays, because the item may be tried again
	}
	i.ref, i.touched = item.Ref(), true
	return nil
}

func shownMoment(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format(time.RFC3339Nano)
}
