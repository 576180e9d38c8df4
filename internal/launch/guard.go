package launch

import (
	"bufio"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/exec"
	"os/signal"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"
)

// guard is a small process that outlives genkan by a moment. It holds the end of
// a pipe and the ids of all process groups. When the pipe breaks, however genkan
// ended, it kills the groups that are left. A signal at the parent's death
// (pdeathsig) would miss grandchildren, and npx makes one.
type guard struct {
	command []string
	log     *slog.Logger

	mu     sync.Mutex
	groups map[int]bool
	pipe   io.WriteCloser
	closed bool
}

// newGuard returns a guard that runs command, which must call RunGuard. The
// process is started with the first child.
func newGuard(command []string, log *slog.Logger) *guard {
	return &guard{command: command, log: log, groups: map[int]bool{}}
}

func (g *guard) watch(group int) {
	if g == nil {
		return
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	g.groups[group] = true
	g.tell(fmt.Sprintf("+%d\n", group))
}

func (g *guard) unwatch(group int) {
	if g == nil {
		return
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	delete(g.groups, group)
	g.tell(fmt.Sprintf("-%d\n", group))
}

// tell writes to the guard. If the guard is not running, tell starts it and sends
// all groups.
func (g *guard) tell(line string) {
	if g.closed {
		return
	}
	if g.pipe != nil {
		if _, err := io.WriteString(g.pipe, line); err == nil {
			return
		}
		_ = g.pipe.Close()
		g.pipe = nil
	}
	if err := g.start(); err != nil {
		g.log.Warn("the guard process could not be started: children may be left behind if genkan is killed", "error", err)
	}
}

func (g *guard) start() error {
	cmd := exec.Command(g.command[0], g.command[1:]...) //nolint:gosec,noctx // our own executable, which outlives us on purpose
	cmd.Env = []string{"GOGC=off", "GOMAXPROCS=1"}
	setProcessGroup(cmd) // a Ctrl-C in the terminal is not for the guard
	pipe, err := cmd.StdinPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	go func() { _ = cmd.Wait() }()
	var all strings.Builder
	for group := range g.groups {
		fmt.Fprintf(&all, "+%d\n", group)
	}
	if _, err := io.WriteString(pipe, all.String()); err != nil {
		_ = pipe.Close()
		return err
	}
	g.pipe = pipe
	return nil
}

// close ends the guard process, which kills the remaining children.
func (g *guard) close() {
	if g == nil {
		return
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	g.closed = true
	if g.pipe != nil {
		_ = g.pipe.Close()
	}
}

// RunGuard runs the guard process: it reads "+GROUP" and "-GROUP" lines until the
// input ends, and then kills the groups that are left.
func RunGuard(input io.Reader) {
	signal.Ignore(os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	groups := map[int]bool{}
	for lines := bufio.NewScanner(input); lines.Scan(); {
		text := lines.Text()
		if len(text) < 2 {
			continue
		}
		group, err := strconv.Atoi(text[1:])
		if err != nil || group <= 1 {
			continue
		}
		if text[0] == '+' {
			groups[group] = true
		} else {
			delete(groups, group)
		}
	}
	if len(groups) == 0 {
		return
	}
	for group := range groups {
		terminateGroup(group)
	}
	time.Sleep(500 * time.Millisecond)
	for group := range groups {
		killGroup(group)
	}
}
