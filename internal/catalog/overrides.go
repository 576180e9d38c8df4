package catalog

import (
	"context"
	"sync"
	"sync/atomic"
	"time"
)

// Overrides are what people say about tools, and when each tool was listed first.
// All catalogs of a process share one, so they outlive reloads.
type Overrides struct {
	store   OverrideStore
	clock   func() time.Time
	current atomic.Pointer[map[ToolKey]Override]

	changing sync.Mutex // serialises changes, which wait for the store

	mu sync.Mutex // guards what follows
	// since says when each tool of a server was listed first. Only what the
	// server lists now is kept.
	since map[string]map[string]time.Time
}

// NewOverrides makes an empty one; Load fills it.
func NewOverrides(store OverrideStore, clock func() time.Time) *Overrides {
	o := &Overrides{store: store, clock: clock, since: map[string]map[string]time.Time{}}
	o.current.Store(&map[ToolKey]Override{})
	return o
}

// Load reads the overrides of the store.
func (o *Overrides) Load(ctx context.Context) error {
	o.changing.Lock()
	defer o.changing.Unlock()
	all, err := o.store.Overrides(ctx)
	if err != nil {
		return err
	}
	o.current.Store(&all)
	return nil
}

// Change changes the override of a tool. Catalogs apply it when they refresh the
// list of its server.
func (o *Overrides) Change(ctx context.Context, key ToolKey, change func(*Override) error) (Override, error) {
	o.changing.Lock()
	defer o.changing.Unlock()
	now, err := o.store.ChangeOverride(ctx, key, func(one *Override) error {
		if err := change(one); err != nil {
			return err
		}
		one.Tidy()
		return one.Check()
	})
	if err != nil {
		return Override{}, err
	}
	fresh := make(map[ToolKey]Override, len(*o.current.Load())+1)
	for k, v := range *o.current.Load() {
		fresh[k] = v
	}
	fresh[key] = now
	o.current.Store(&fresh)
	return now, nil
}

// of returns the override of a tool. Nil Overrides have none.
func (o *Overrides) of(key ToolKey) Override {
	if o == nil {
		return Override{}
	}
	return (*o.current.Load())[key]
}

// listed records what a server lists now, and returns when each tool was listed
// first.
func (o *Overrides) listed(server string, names []string) map[string]time.Time {
	since := make(map[string]time.Time, len(names))
	if o == nil {
		return since
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	now := o.clock().UTC()
	for _, name := range names {
		at, known := o.since[server][name]
		if !known {
			at = now
		}
		since[name] = at
	}
	o.since[server] = since
	return since
}
