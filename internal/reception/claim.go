package reception

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"genkan/internal/bridge"
)

// claimInterval is how often Claim tries to become the owner.
const claimInterval = 2 * time.Second

// Claim makes this process the owner of the data directory's socket and listens on
// it. A background process gives the socket up at once; a process that serves HTTP
// keeps it until it ends. Claim returns nil when ctx ends or the socket cannot be
// used.
func Claim(ctx context.Context, dataDir, build string, log *slog.Logger) *bridge.Owner {
	return claim(ctx, dataDir, build, log, claimInterval)
}

func claim(ctx context.Context, dataDir, build string, log *slog.Logger, interval time.Duration) *bridge.Owner {
	ticker := time.NewTicker(interval)
	defer ticker.Stop()
	for logged := false; ; {
		owner, err := bridge.TakeOver(ctx, dataDir, bridge.Hello{Version: build})
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
			log.Warn("the data directory's socket cannot be used: `genkan stdio` will serve by itself, and the command line finds this process only with --listen", "error", err)
			return nil
		case !logged:
			logged = true
			logOwner(log, err)
		}
		select {
		case <-ticker.C:
		case <-ctx.Done():
			return nil
		}
	}
}

// logOwner logs that another process owns the socket.
func logOwner(log *slog.Logger, err error) {
	var other *bridge.RefusedError
	if errors.As(err, &other) {
		log.Warn("another genkan serves this data directory: both start servers of their own, and the command line and `genkan stdio` speak with the other one; "+
			"stop one of them, or give this one a data directory of its own with --data", "other_listens_on", other.Listen, "other_process_id", other.PID)
		return
	}
	log.Info("`genkan stdio` joins another genkan for now", "reason", err)
}
