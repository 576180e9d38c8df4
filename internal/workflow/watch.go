package workflow

import (
	"context"
	"fmt"
	"strings"
	"time"
)

// watchInterval is how often the database is checked for changes.
const watchInterval = time.Second

// Watch loads the workflows again when another process has changed them. sequence
// returns a number that grows with every change of the database. It returns when ctx
// ends.
func (l *Library) Watch(ctx context.Context, sequence func(ctx context.Context) (int64, error)) {
	ticks := time.NewTicker(watchInterval)
	defer ticks.Stop()
	seen := int64(-1)
	for {
		select {
		case <-ticks.C:
		case <-ctx.Done():
			return
		}
		now, err := sequence(ctx)
		if err != nil || now == seen {
			continue // other users of the store report its errors
		}
		if err := l.catchUp(ctx); err != nil {
			l.engine.opt.Log.Error("workflows that another process has changed are not taken over; the former ones stay in force", "error", err)
			continue
		}
		seen = now
	}
}

// catchUp loads the workflows if they are not those that were loaded last.
func (l *Library) catchUp(ctx context.Context) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	running, err := l.running(ctx)
	if err != nil {
		return err
	}
	off, err := l.store.Switch(ctx)
	if err != nil {
		return err
	}
	loaded, err := l.fingerprint(ctx, running, off)
	if err != nil || loaded == l.loaded {
		return err
	}
	_, err = l.load(ctx)
	return err
}

// fingerprint tells whether workflows must be compiled again.
func (l *Library) fingerprint(ctx context.Context, running []*Definition, off Switch) (string, error) {
	modules, err := l.store.Modules(ctx)
	var b strings.Builder
	_, _ = fmt.Fprintln(&b, "off", off.Off)
	for _, d := range running {
		_, _ = fmt.Fprintln(&b, "workflow", d.ID, d.Version, d.UpdatedAt)
	}
	for _, m := range modules {
		_, _ = fmt.Fprintln(&b, "module", m.ID, m.Version, m.UpdatedAt)
	}
	return b.String(), err
}
