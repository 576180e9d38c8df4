package app

import (
	"context"
	"time"
)

const (
	// lostNotice is how long the process keeps serving after its database is lost,
	// so that clients and health checks learn why it stops.
	lostNotice = 2 * time.Second
	// lostDrain is how long calls may run on after lostNotice.
	lostDrain = 2 * time.Second
)

// watchDatabase notices when the database is removed, moved or replaced.
func (p *Process) watchDatabase(ctx context.Context) {
	if err := p.store.WaitGone(ctx); err != nil {
		p.log.Error("the database is not at its path any more: genkan stops", "error", err)
		p.lostBecause = err
		close(p.lost)
	}
}

// Health returns why the process cannot serve; nil if it can.
func (p *Process) Health() error {
	select {
	case <-p.lost:
		return p.lostBecause
	default:
		return nil
	}
}

// whileHealthy returns a context that ends with ctx, or lostNotice after the
// database was lost. In the second case Health is its cause.
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
