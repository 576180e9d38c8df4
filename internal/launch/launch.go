package launch

import (
	"context"
	"crypto/rand"
	"log/slog"
	"os"
	"sync"
)

// Options configure a Launcher.
type Options struct {
	// DataDir holds the state that outlives this process; empty for none.
	DataDir string
	// Home identifies the data directory. Children get it in InsideVariable.
	Home string
	// Guard is the command that calls RunGuard; empty for no guard.
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

	// process identifies this genkan in the labels of containers; lock is held
	// while it runs.
	process string
	lock    *os.File
	// leaving are the containers of a server that are being removed; searched are
	// the servers whose leftover containers were looked for.
	leaving  map[string][]chan struct{}
	searched map[string]bool
}

// New returns a Launcher. It starts nothing, and asks the login shell only if
// AskLoginShell allows it.
func New(opt Options) *Launcher {
	l := &Launcher{opt: opt, process: rand.Text(), leaving: map[string][]chan struct{}{}, searched: map[string]bool{}}
	l.life, l.stop = context.WithCancel(context.Background())
	if len(opt.Guard) > 0 && needsGuard {
		l.guard = newGuard(opt.Guard, opt.Log)
	}
	return l
}

// Close ends the guard, which kills the remaining children, and waits for
// containers that are being removed.
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
