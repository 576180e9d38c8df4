package app

import (
	"context"
	"path/filepath"
	"sync"

	"genkan/internal/gateway"
	"genkan/internal/kb"
)

// KnowledgeIndex is the folder of the knowledge base's index in a data directory.
func KnowledgeIndex(dataDir string) string { return filepath.Join(dataDir, "kb-index") }

// upkeep checks what is derived from items and makes it anew, one thing at a time.
type upkeep struct {
	indexes *kb.Indexes

	mu sync.Mutex
	kb.Work
}

// begin takes the turn; false if it is somebody's.
func (u *upkeep) begin(what string) error {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.What != "" {
		return gateway.Errorf(gateway.CodeConflict, "the knowledge base is being checked or rebuilt already; wait until that is done")
	}
	u.Work = kb.Work{What: what}
	return nil
}

func (u *upkeep) progress(done, total int) {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.Done, u.Total = done, total
}

func (u *upkeep) end() {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.Work = kb.Work{}
}

// glanced is how large a file of the index is read as a whole for who only looks.
const glanced = 64 << 20

// Look tells how the knowledge base is without reading it, and what is being done
// with it.
func (u *upkeep) Look(ctx context.Context) (kb.Glance, kb.Work, error) {
	g, err := u.indexes.Glance(ctx, glanced)
	u.mu.Lock()
	defer u.mu.Unlock()
	work := u.Work
	if done, total := u.indexes.Building(); work.What == "" && total > 0 {
		work = kb.Work{What: kb.WorkRebuild, Done: done, Total: total}
	}
	return g, work, err
}

// Check compares index and graph with all rows.
func (u *upkeep) Check(ctx context.Context) (kb.Health, error) {
	if err := u.begin(kb.WorkCheck); err != nil {
		return kb.Health{}, err
	}
	defer u.end()
	return u.indexes.CheckWith(ctx, u.progress)
}

// Rebuild makes index and graph anew.
func (u *upkeep) Rebuild(ctx context.Context) error {
	if err := u.begin(kb.WorkRebuild); err != nil {
		return err
	}
	defer u.end()
	return u.indexes.Rebuild(ctx, u.progress)
}
