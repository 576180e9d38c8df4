package kb

import (
	"context"
	"log/slog"
	"sync"
	"time"
)

// Follower is implemented by finders that derive data from the items.
type Follower interface {
	// Follow starts to apply the newest writes in the background and does not wait. It
	// is called after writes of many items, so that no search has to wait for all of
	// them.
	Follow()
}

// follow tells the finder of a large write.
func (b *Base) follow() {
	if f, ok := b.finder.(Follower); ok {
		f.Follow()
	}
}

// following is a run of Follow.
type following struct {
	mu      sync.Mutex
	running bool
	// last is the time of the last large write.
	last time.Time
	// from is the write at which the run started, and to the last one that it knows of.
	from, to int64
}

// Follow applies the newest writes in the background, including the build of a new
// file if one is due. It begins when no large write has come for a moment: an import
// is many writes, and to index it once costs least.
func (x *Indexes) Follow() {
	f := &x.following
	f.mu.Lock()
	defer f.mu.Unlock()
	f.last = time.Now()
	if f.running {
		return
	}
	f.from = max(0, x.text.at())
	f.to = f.from + 1
	f.running = x.start(x.follow)
}

func (x *Indexes) follow() {
	f := &x.following
	for {
		last := f.pause(x.alive, x.limits.quiet)
		x.building(f.progress(x.text.at()))
		err := x.catchUp(x.alive)
		x.building(0, 0)
		if err != nil && x.alive.Err() == nil {
			x.log.Warn("the index of the knowledge base could not follow an import", slog.Any("error", err))
		}
		f.mu.Lock()
		if err != nil || f.last.Equal(last) {
			f.running = false
			f.mu.Unlock()
			return
		}
		f.mu.Unlock()
	}
}

// pause waits until no large write has come for some time, and returns the time of
// the last one.
func (f *following) pause(ctx context.Context, quiet time.Duration) time.Time {
	for {
		f.mu.Lock()
		last := f.last
		f.mu.Unlock()
		left := quiet - time.Since(last)
		if left <= 0 {
			return last
		}
		select {
		case <-time.After(left):
		case <-ctx.Done():
			return last
		}
	}
}

// catchUp applies the writes that the store has when it is called.
func (x *Indexes) catchUp(ctx context.Context) error {
	seq, err := x.written(ctx, &x.text)
	if err != nil {
		return err
	}
	x.following.mu.Lock()
	x.following.to = max(seq, x.following.from+1)
	x.following.mu.Unlock()
	for x.text.at() < seq {
		before := x.text.at()
		if many, err := x.text.hasMany(ctx); err != nil {
			return err
		} else if many {
			x.text.renew(x.text.held())
		} else {
			j, _ := x.text.catchUp.join(x, x.text.advance)
			if <-j.done; j.err != nil {
				return j.err
			}
		}
		if built := x.text.builder.running(); built != nil {
			<-built.done
		}
		if x.text.at() == before { // such as while another process builds
			return nil
		}
	}
	graph, _ := x.edges.catchUp.join(x, x.edges.advance)
	<-graph.done
	return graph.err
}

// hasMany reports whether so many items are new that a new file is built at once
// instead of applying them one by one.
func (t *textIndex) hasMany(ctx context.Context) (bool, error) {
	h := t.held()
	if h == nil || t.dir == "" {
		return false, nil
	}
	all, err := t.indexes.store.List(ctx, Filter{Closed: true, Limit: 1})
	documents, _ := h.Len()
	return all.Total-documents > t.indexes.limits.due, err
}

// progress returns how many of the writes are applied. Total is 0 if nothing runs.
func (f *following) progress(at int64) (done, total int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if !f.running {
		return 0, 0
	}
	return int(min(max(at-f.from, 0), f.to-f.from)), int(f.to - f.from)
}
