package registry

import (
	"bytes"
	"context"
	"slices"
	"time"

	"genkan/internal/config"
)

// watchInterval is how often the database is checked for changes.
const watchInterval = time.Second

// Watch reloads the configuration when another process has changed a registered
// server. It returns when ctx ends.
func (r *Registry) Watch(ctx context.Context) {
	ticks := time.NewTicker(watchInterval)
	defer ticks.Stop()
	seen := int64(-1)
	for {
		select {
		case <-ticks.C:
		case <-ctx.Done():
			return
		}
		sequence, err := r.opt.Store.ChangeSequence(ctx)
		if err != nil || sequence == seen {
			continue // other users of the store report its errors
		}
		seen = sequence
		stored, err := r.opt.Store.StoredServers(ctx)
		if err != nil {
			seen = -1
			continue
		}
		same := slices.EqualFunc(stored, r.opt.InForce(), func(a, b config.StoredServer) bool {
			return a.Name == b.Name && bytes.Equal(a.Definition, b.Definition)
		})
		if same {
			continue
		}
		if err := r.opt.Reload(); err != nil {
			r.opt.Log.Error("servers that another process has changed are not taken over; the former ones stay in force", "error", err)
		}
	}
}
