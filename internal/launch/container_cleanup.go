package launch

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"genkan/internal/filelock"
)

// The labels of genkan's containers.
const (
	// ownerLabel names the data directory and the server.
	ownerLabel = "genkan"
	// processLabel names the genkan process that started the container.
	processLabel = "genkan.process"
)

const (
	// patienceWithRemoval is how long removing a container may take.
	patienceWithRemoval = 15 * time.Second
	// patienceWithSearch is how long the search for leftover containers may take.
	patienceWithSearch = 8 * time.Second
)

// childContainer is the container that a child runs.
type childContainer struct {
	run    containerRun
	server string
	// file and env are those of the container tool.
	file, dir string
	env       []string
	// name is the name of the container, the user's or genkan's.
	name string
}

// labelContainer adds a name and labels to a command that runs a container, so
// that the container can be found again. It waits until the former containers of
// the server are removed: they may hold a name, a port or a volume.
func (l *Launcher) labelContainer(ctx context.Context, command Command, run containerRun, file string, env []string) (*childContainer, []string) {
	b := &childContainer{run: run, server: command.Server, file: file, dir: command.Dir, env: env, name: run.name}
	l.mu.Lock()
	leaving := l.leaving[command.Server]
	first := !l.searched[command.Server]
	l.searched[command.Server] = true
	l.mu.Unlock()
	for _, gone := range leaving {
		select {
		case <-gone:
		case <-ctx.Done():
		}
	}
	options := []string{"--label", ownerLabel + "=" + l.owner(command.Server)}
	if l.holdProcessLock() {
		options = append(options, "--label", processLabel+"="+l.process)
		if first {
			l.removeLeftOvers(ctx, b)
		}
	}
	if b.name == "" {
		b.name = "genkan-" + command.Server + "-" + strings.ToLower(rand.Text()[:10])
		options = append(options, "--name", b.name)
	}
	return b, run.with(command.Args, options...)
}

// owner returns the label of a server of this data directory and machine: several
// machines may use one daemon.
func (l *Launcher) owner(server string) string {
	machine, _ := os.Hostname()
	sum := sha256.Sum256([]byte(machine + "\x00" + l.opt.Home))
	return hex.EncodeToString(sum[:8]) + "/" + server
}

// endContainer ends the container of a child that has ended, in the background.
func (l *Launcher) endContainer(b *childContainer) {
	gone := make(chan struct{})
	l.mu.Lock()
	closed := l.life.Err() != nil
	if !closed {
		l.leaving[b.server] = append(l.leaving[b.server], gone)
		l.beside.Go(func() { l.remove(b, gone) })
	}
	l.mu.Unlock()
	if closed {
		l.remove(b, gone)
	}
}

func (l *Launcher) remove(b *childContainer, gone chan struct{}) {
	ctx, cancel := context.WithTimeout(context.Background(), patienceWithRemoval)
	defer cancel()
	var err error
	if b.run.name == "" {
		err = l.removeContainers(ctx, b, b.name)
	} else {
		// Without --rm the user wants to keep it.
		_, err = b.tool(ctx, "stop", "-t", "2", b.name)
	}
	if err != nil { // it has ended by itself, as a rule
		l.opt.Log.Debug("a container was not removed", "server", b.server, "container", b.name, "error", err)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	close(gone)
	left := l.leaving[b.server][:0]
	for _, other := range l.leaving[b.server] {
		if other != gone {
			left = append(left, other)
		}
	}
	l.leaving[b.server] = left
}

func (l *Launcher) removeContainers(ctx context.Context, b *childContainer, names ...string) error {
	args := []string{"rm", "--force"}
	if b.run.remove { // as --rm does
		args = append(args, "--volumes")
	}
	_, err := b.tool(ctx, append(args, names...)...)
	return err
}

// tool runs docker or podman and returns the output.
func (b *childContainer) tool(ctx context.Context, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, b.file, b.run.tool(args...)...) //nolint:gosec // the tool that the user's command runs
	cmd.Dir, cmd.Env = b.dir, b.env
	setProcessGroup(cmd)
	cmd.Cancel = func() error {
		killGroup(cmd.Process.Pid)
		return nil
	}
	cmd.WaitDelay = time.Second
	out, err := cmd.Output()
	var exit *exec.ExitError
	if errors.As(err, &exit) && len(exit.Stderr) > 0 {
		err = errors.New(strings.TrimSpace(string(exit.Stderr)))
	}
	return string(out), err
}

// removeLeftOvers removes the server's containers whose genkan was killed.
func (l *Launcher) removeLeftOvers(ctx context.Context, b *childContainer) {
	ctx, cancel := context.WithTimeout(ctx, patienceWithSearch)
	defer cancel()
	listed, err := b.tool(ctx, "ps", "--all", "--quiet", "--filter", "label="+ownerLabel+"="+l.owner(b.server))
	if ids := strings.Fields(listed); err == nil && len(ids) > 0 {
		format := `{{.Id}} {{index .Config.Labels "` + processLabel + `"}}`
		listed, err = b.tool(ctx, append([]string{"inspect", "--format", format}, ids...)...)
		var dead []string
		for line := range strings.Lines(listed) {
			// Leave containers alone whose process is not known to have ended.
			if fields := strings.Fields(line); len(fields) == 2 && fields[1] != l.process && l.hasEnded(fields[1]) {
				dead = append(dead, fields[0])
			}
		}
		if len(dead) > 0 {
			l.opt.Log.Info("containers of a genkan that was killed are removed", "server", b.server, "count", len(dead))
			err = l.removeContainers(ctx, b, dead...)
		}
	}
	if err != nil {
		l.opt.Log.Debug("containers that may be left over were not looked for", "server", b.server, "error", err)
	}
}

// lockOf returns the file that a genkan with containers locks while it runs.
func (l *Launcher) lockOf(process string) string {
	return filepath.Join(l.opt.DataDir, "containers", process+".lock")
}

// holdProcessLock takes the lock that shows other processes that this one runs.
// It reports false if it cannot.
func (l *Launcher) holdProcessLock() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.lock != nil {
		return true
	}
	if l.opt.DataDir == "" || l.life.Err() != nil {
		return false
	}
	file := l.lockOf(l.process)
	err := os.MkdirAll(filepath.Dir(file), 0o700)
	if err == nil {
		l.lock, err = filelock.Take(file)
	}
	if err != nil {
		l.opt.Log.Warn("containers may be left behind if genkan is killed", "error", err)
	}
	return err == nil
}

// hasEnded reports whether another genkan of the data directory has ended.
func (l *Launcher) hasEnded(process string) bool {
	if strings.Trim(process, "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567") != "" {
		return false // none that we could have called so
	}
	if _, err := os.Stat(l.lockOf(process)); err != nil {
		return errors.Is(err, os.ErrNotExist)
	}
	lock, err := filelock.Take(l.lockOf(process))
	if err != nil {
		return false
	}
	filelock.Release(lock)
	_ = os.Remove(l.lockOf(process))
	return true
}

// releaseProcessLock releases the lock when no container is left.
func (l *Launcher) releaseProcessLock() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.lock != nil {
		filelock.Release(l.lock)
		_ = os.Remove(l.lockOf(l.process))
		l.lock = nil
	}
}
