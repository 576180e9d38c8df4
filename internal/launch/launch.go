// Package launch is where the processes of MCP servers are started and ended:
// where a command is found, what environment it gets, what it shares with
// genkan, and how all that it started goes when it goes, or when genkan does.
// What is said to such a process is no business of this package.
package launch

import (
	"context"
	"log/slog"
	"sync"
)

// Options say whose processes a Launcher starts.
type Options struct {
	// Home tells the data directory from others; children learn of it.
	Home string
	// Guard is the command that ends in RunGuard; empty for none.
	Guard []string
	Log   *slog.Logger
}

// Launcher starts the processes of one genkan.
type Launcher struct {
	opt   Options
	guard *guard

	life   context.Context //nolint:containedctx // of what runs beside the children
	stop   context.CancelFunc
	beside sync.WaitGroup

	mu          sync.Mutex
	mayAskShell bool
	shellPath   *shellPath // nil until it is needed
}

// New makes a Launcher. Nothing is started with it, and the login shell is not
// asked unless AskLoginShell allows it.
func New(opt Options) *Launcher {
	l := &Launcher{opt: opt}
	l.life, l.stop = context.WithCancel(context.Background())
	if len(opt.Guard) > 0 {
		l.guard = newGuard(opt.Guard, opt.Log)
	}
	return l
}

// Close ends what runs beside the children. Children that are still there are
// killed by the guard.
func (l *Launcher) Close() {
	l.mu.Lock()
	l.stop()
	l.mu.Unlock()
	l.beside.Wait()
	l.guard.close()
}
