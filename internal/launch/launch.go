// Package launch is where the processes of MCP servers are started and ended:
// where a command is found, what environment it gets, what it shares with
// genkan, and how all that it started goes when it goes, or when genkan does.
// What is said to such a process is no business of this package.
package launch

import (
	"context"
	"crypto/rand"
	"log/slog"
	"os"
	"sync"
)

// Options say whose processes a Launcher starts.
type Options struct {
	// DataDir is where what outlives this process is noted; empty for nowhere.
	DataDir string
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

	// process tells this genkan from others, in the labels of containers; lock
	// shows that it lives.
	process string
	lock    *os.File
	// leaving are the containers of a server that are being removed; searched
	// are the servers whose left over ones have been looked for.
	leaving  map[string][]chan struct{}
	searched map[string]bool
}

// New makes a Launcher. Nothing is started with it, and the login shell is not
// asked unless AskLoginShell allows it.
func New(opt Options) *Launcher {
	l := &Launcher{opt: opt, process: rand.Text(), leaving: map[string][]chan struct{}{}, searched: map[string]bool{}}
	l.life, l.stop = context.WithCancel(context.Background())
	if len(opt.Guard) > 0 && needsGuard {
		l.guard = newGuard(opt.Guard, opt.Log)
	}
	return l
}

// Close ends what runs beside the children, and waits for containers that are
// being removed. Children that are still there are killed by the guard.
func (l *Launcher) Close() {
	l.mu.Lock()
	l.stop()
	l.mu.Unlock()
	l.beside.Wait()
	if l.opt.DataDir != "" {
		_ = os.RemoveAll(l.emptyDirs(l.process))
	}
	l.releaseProcessLock()
	l.guard.close()
}
