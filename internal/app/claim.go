package app

import (
	"context"
	"errors"
	"time"

	"genkan/internal/bridge"
)

// claimAgain is how often a process that is not the owner tries to become it.
const claimAgain = 2 * time.Second

// joining is the reception of a process that serves HTTP.
type joining struct {
	handedOver, ended chan struct{}
}

// letOthersJoin opens the reception until ctx ends, as soon as this process is
// the owner. Visitors are told that it listens on the given host:port.
func (p *Process) letOthersJoin(ctx context.Context, listen string) joining {
	j := joining{handedOver: make(chan struct{}), ended: make(chan struct{})}
	if !p.opt.Joinable {
		close(j.handedOver)
		close(j.ended)
		return j
	}
	go func() {
		defer close(j.ended)
		owner := p.claim(ctx)
		if owner == nil {
			close(j.handedOver)
			return
		}
		r := p.newReception(owner, 0, false)
		r.handedOver = j.handedOver
		r.welcome.Listen, r.welcome.TLS = listen, p.Config().TLS.CertFile != ""
		r.serve(ctx)
	}()
	return j
}

// claim waits until this process owns the data directory's socket. A
// background process makes way; another one that serves HTTP is outlived.
func (p *Process) claim(ctx context.Context) *bridge.Owner {
	ticker := time.NewTicker(claimAgain)
	defer ticker.Stop()
	for told := false; ; {
		owner, err := bridge.TakeOver(ctx, p.opt.DataDir, bridge.Hello{Version: p.buildID})
		if err == nil {
			if err = owner.Listen(ctx); err == nil {
				return owner
			}
			owner.Release()
		}
		switch {
		case ctx.Err() != nil:
			return nil
		case !errors.Is(err, bridge.ErrTaken):
			p.log.Warn("the data directory's socket cannot be used: `genkan stdio` will serve by itself, and the command line finds this process only with --listen", "error", err)
			return nil
		case !told:
			told = true
			p.tellOfOther(err)
		}
		select {
		case <-ticker.C:
		case <-ctx.Done():
			return nil
		}
	}
}

// tellOfOther logs that another process owns the socket.
func (p *Process) tellOfOther(err error) {
	var other *bridge.RefusedError
	if errors.As(err, &other) {
		p.log.Warn("another genkan serves this data directory: both start servers of their own, and the command line and `genkan stdio` speak with the other one; "+
			"stop one of them, or give this one a data directory of its own with --data", "other_listens_on", other.Listen, "other_process_id", other.PID)
		return
	}
	p.log.Info("`genkan stdio` joins another genkan for now", "reason", err)
}
