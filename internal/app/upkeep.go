package app

import (
	"context"
	"path/filepath"
	"sync"

	"genkan/internal/gateway"
	"genkan/internal/kb"
)

// KnowledgeIndex returns the folder of the knowledge base's index in a data
// directory.
func KnowledgeIndex(dataDir string) string { return filepath.Join(dataDir, "kb-index") }

// upkeep checks and rebuilds the data derived from items. It does one task at a
// time.
type upkeep struct {
	indexes *kb.Indexes
	newWork func(what string) *work

	mu sync.Mutex
	kb.Work
	live *work
}

// begin starts a task. It returns an error if another task is running.
func (u *upkeep) begin(what string) error {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.What != "" {
		return gateway.Errorf(gateway.CodeConflict, "the knowledge base is being checked or rebuilt already; wait until that is done")
	}
	u.Work, u.live = kb.Work{What: what}, u.newWork(what)
	return nil
}

func (u *upkeep) progress(done, total int) {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.Done, u.Total = done, total
	u.live.report(int64(done), int64(total))
}

func (u *upkeep) end(err error) {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.live.end(err)
	u.Work, u.live = kb.Work{}, nil
}

// glanceLimit is the size up to which Look reads a file of the index whole.
const glanceLimit = 64 << 20

// Look returns the state of the knowledge base without reading all of it, and the
// task that is running.
func (u *upkeep) Look(ctx context.Context) (kb.Glance, kb.Work, error) {
	g, err := u.indexes.Glance(ctx, glanceLimit)
	u.mu.Lock()
	defer u.mu.Unlock()
	work := u.Work
	if done, total := u.indexes.Building(); work.What == "" && total > 0 {
		work = kb.Work{What: kb.WorkRebuild, Done: done, Total: total}
	}
	return g, work, err
}

// Check compares the index and the graph with all rows.
func (u *upkeep) Check(ctx context.Context) (kb.Health, error) {
	if err := u.begin(kb.WorkCheck); err != nil {
		return kb.Health{}, err
	}
	health, err := u.indexes.CheckWith(ctx, u.progress)
	u.end(err)
	return health, err
}

// Rebuild rebuilds the index and the graph.
func (u *upkeep) Rebuild(ctx context.Context) error {
	if err := u.begin(kb.WorkRebuild); err != nil {
		return err
	}
	err := u.indexes.Rebuild(ctx, u.progress)
	u.end(err)
	return err
}
