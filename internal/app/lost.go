package app

import (
	"context"
	"errors"
	"time"

	"genkan/internal/sqlite"
)

const (
	// lostPace is how often the process checks that its database is still at its
	// path. Writes check it themselves.
	lostPace = 500 * time.Millisecond
	// lostNotice is how long the process goes on after its database is lost, so
	// that clients and health checks hear why it stops.
	lostNotice = 2 * time.Second
	// lostDrain is how long calls may then go on.
	lostDrain = 2 * time.Second
)

// watchDatabase notices when the database is removed, moved or replaced.
func (p *Process) watchDatabase(ctx context.Context) {
	ticks := time.NewTicker(lostPace)
	defer ticks.Stop()
	for {
		select {
		case <-ticks.C:
		case <-ctx.Done():
			return
		}
		if err := p.store.Check(); errors.Is(err, sqlite.ErrGone) {
			p.log.Error("the database is not at its path any more: genkan stops", "error", err)
			p.lostBecause = err
			close(p.lost)
			return
		}
	}
}

// Health reports why the process cannot serve; nil if it can.
func (p *Process) Health() error {
	select {
	case <-p.lost:
		return p.lostBecause
	default:
		return nil
	}
}

// whileHealthy returns a context that ends with ctx, or when the database has been
// lost for a moment. Then Health is its cause.
func (p *Process) whileHealthy(ctx context.Context) (context.Context, context.CancelFunc) {
	ctx, end := context.WithCancelCause(ctx)
	go func() {
		select {
		case <-p.lost:
		case <-ctx.Done():
			return
		}
		notice := time.NewTimer(lostNotice)
		defer notice.Stop()
		select {
		case <-notice.C:
			end(p.Health())
		case <-ctx.Done():
		}
	}()
	return ctx, func() { end(nil) }
}
