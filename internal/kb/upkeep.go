package kb

import (
	"context"
	"sync"

	"genkan/internal/gateway"
)

// Upkeep checks and rebuilds the data derived from items. It does one task at a time.
type Upkeep struct {
	indexes *Indexes
	begin   func(what string) Progress

	mu sync.Mutex
	// work is the task that runs, and progress takes how far it is.
	work     Work
	progress Progress
}

// Progress takes the progress of a task.
type Progress interface {
	Report(done, total int64)
	// End is called once, with why the task failed.
	End(err error)
}

// NewUpkeep returns an Upkeep. begin is called when a task begins; what is one of the
// kinds of work.
func NewUpkeep(indexes *Indexes, begin func(what string) Progress) *Upkeep {
	return &Upkeep{indexes: indexes, begin: begin}
}

// start starts a task. It returns an error if another task is running.
func (u *Upkeep) start(what string) error {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.work.What != "" {
		return gateway.Errorf(gateway.CodeConflict, "the knowledge base is being checked or rebuilt already; wait until that is done")
	}
	u.work, u.progress = Work{What: what}, u.begin(what)
	return nil
}

func (u *Upkeep) report(done, total int) {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.work.Done, u.work.Total = done, total
	u.progress.Report(int64(done), int64(total))
}

func (u *Upkeep) end(err error) {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.progress.End(err)
	u.work, u.progress = Work{}, nil
}

// glanceLimit is the size up to which Look reads a file of the index whole.
const glanceLimit = 64 << 20

// Look returns the state of the knowledge base without reading all of it, and the
// task that is running.
func (u *Upkeep) Look(ctx context.Context) (Glance, Work, error) {
	g, err := u.indexes.Glance(ctx, glanceLimit)
	u.mu.Lock()
	defer u.mu.Unlock()
	work := u.work
	if done, total := u.indexes.Building(); work.What == "" && total > 0 {
		work = Work{What: WorkRebuild, Done: done, Total: total}
	}
	return g, work, err
}

// Check compares the index and the graph with all rows.
func (u *Upkeep) Check(ctx context.Context) (Health, error) {
	if err := u.start(WorkCheck); err != nil {
		return Health{}, err
	}
	health, err := u.indexes.CheckWith(ctx, u.report)
	u.end(err)
	return health, err
}

// Rebuild rebuilds the index and the graph.
func (u *Upkeep) Rebuild(ctx context.Context) error {
	if err := u.start(WorkRebuild); err != nil {
		return err
	}
	err := u.indexes.Rebuild(ctx, u.report)
	u.end(err)
	return err
}
