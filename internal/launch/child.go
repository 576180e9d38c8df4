package launch

import (
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"runtime"
	"sync"
	"time"

	"genkan/internal/gateway"
)

// Command is a process to start.
type Command struct {
	// Server is the name of the server.
	Server string
	Name   string
	Args   []string
	// Env is added to the environment that every process gets.
	Env map[string]gateway.Secret
	// Dir is the working directory; empty for genkan's.
	Dir string
	// Errors receives the standard error.
	Errors io.Writer
}

// Child is a process and its descendants. They share a process group and are
// ended together.
type Child struct {
	// Stdin and Stdout are genkan's ends of the pipes.
	Stdin, Stdout *os.File

	cmd     *exec.Cmd
	tree    *tree
	exited  chan struct{} // closed when the process has ended
	waitErr error
	stop    sync.Once
}

// How long End waits after each step: it closes the input, then sends SIGTERM,
// then kills.
const (
	PatienceAfterEOF  = 2 * time.Second
	patienceAfterTerm = 2 * time.Second

	// PatienceForLastWords is how long the output is read after the process has
	// ended. It is waited for twice, for errors and for answers, if a descendant
	// that left the group holds both: a crash must be noticed within 100 ms.
	PatienceForLastWords = 40 * time.Millisecond
	patienceForLateWords = time.Second
)

// Start starts a command with a clean environment. Finding the command may take a
// few seconds; ctx ends that.
func (l *Launcher) Start(ctx context.Context, command Command) (*Child, error) {
	cmd, container, err := l.prepare(ctx, command)
	if err != nil {
		return nil, err
	}
	// Not StdoutPipe: Wait must not wait for grandchildren that hold the pipes
	// open.
	inR, inW, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	outR, outW, err := os.Pipe()
	if err != nil {
		closeAll(inR, inW)
		return nil, err
	}
	errR, errW, err := os.Pipe()
	if err != nil {
		closeAll(inR, inW, outR, outW)
		return nil, err
	}
	cmd.Stdin, cmd.Stdout, cmd.Stderr = inR, outW, errW
	err = cmd.Start()
	closeAll(inR, outW, errW)
	if err != nil {
		closeAll(inW, outR, errR)
		return nil, startError(command, err)
	}
	family, err := newTree(cmd.Process)
	if err != nil {
		l.opt.Log.Warn("what the server starts may outlive it", "server", command.Server, "error", err)
	}
	l.guard.watch(cmd.Process.Pid)
	c := &Child{cmd: cmd, tree: family, Stdin: inW, Stdout: outR, exited: make(chan struct{})}
	lastWords := make(chan struct{})
	go func() {
		defer close(lastWords)
		_, _ = io.Copy(command.Errors, errR)
	}()
	go func() {
		c.waitErr = cmd.Wait()
		// End the descendants, too.
		family.kill()
		family.close()
		l.guard.unwatch(cmd.Process.Pid)
		if container != nil {
			l.endContainer(container)
		}
		// The last output says why the process ended. A descendant that left the
		// group may still hold the pipe; do not wait for it.
		select {
		case <-lastWords:
		case <-time.After(PatienceForLastWords):
		}
		close(c.exited)
		// On a busy machine the output may not have been read yet. It is still
		// kept, but nobody waits for it.
		select {
		case <-lastWords:
		case <-time.After(patienceForLateWords):
		}
		closeAll(errR)
		l.opt.Log.Debug("child ended", "server", command.Server, "process_id", cmd.Process.Pid, "error", c.waitErr)
	}()
	return c, nil
}

// prepare returns the command that is to be started, and its container if it runs
// one.
func (l *Launcher) prepare(ctx context.Context, command Command) (*exec.Cmd, *childContainer, error) {
	const goos = runtime.GOOS
	var file string
	var env []string
	err := exec.ErrNotFound
	if name, rest, ok := unwrapCmd(goos, command.Name, command.Args); ok {
		inner := command
		inner.Name, inner.Args = name, rest
		if file, env, err = l.locate(ctx, inner); err == nil {
			command = inner
		} // else it may be a word of cmd's own
	}
	if err != nil {
		if file, env, err = l.locate(ctx, command); err != nil {
			return nil, nil, err
		}
	}
	args := command.Args
	var container *childContainer
	if run, ok := parseContainerRun(goos, command.Name, args); ok {
		container, args = l.labelContainer(ctx, command, run, file, env)
	}
	var line string
	if isBatch(goos, file) {
		if line, err = batchLine(file, args); err != nil {
			return nil, nil, err
		}
		file = cmdFile(env)
	}
	cmd := exec.Command(file, args...) //nolint:noctx // the command is the user's own; its life is the supervisor's
	cmd.Args[0] = command.Name
	cmd.Dir, cmd.Env = command.Dir, env
	if l.opt.Home != "" {
		cmd.Env = append(cmd.Env, InsideVariable+"="+inside(os.Getenv(InsideVariable), l.opt.Home))
	}
	setProcessGroup(cmd)
	if line != "" {
		setCommandLine(cmd, line)
	}
	return cmd, container, nil
}

func closeAll(files ...*os.File) {
	for _, f := range files {
		_ = f.Close()
	}
}

func startError(command Command, err error) error {
	why := gateway.Textf("its command %q could not be started", command.Name)
	switch {
	case errors.Is(err, os.ErrNotExist) && !exists(command.Dir):
		why = gateway.Textf("the folder %q that it is to run in does not exist", command.Dir)
	case errors.Is(err, os.ErrNotExist):
		why = gateway.Textf("its command %q does not exist", command.Name)
	case errors.Is(err, os.ErrPermission):
		why = gateway.Textf("its command %q may not be executed", command.Name)
	}
	e := failed(gateway.CodeUnavailable, why)
	e.Err = err
	return e
}

// exists reports whether a folder is there; "" is the folder of genkan.
func exists(dir string) bool {
	if dir == "" {
		return true
	}
	_, err := os.Stat(dir)
	return !errors.Is(err, os.ErrNotExist)
}

// failed returns the error of a command that cannot be started. Only the user whom
// genkan runs as reads why, because that names commands and folders.
func failed(code gateway.Code, why gateway.Text) *gateway.Error {
	return gateway.Errorf(code, "%s", gateway.Private{
		Full: why, Public: gateway.Textf("its command could not be started; ask whoever runs this genkan to look at it"),
	})
}

// PID returns the process id.
func (c *Child) PID() int { return c.cmd.Process.Pid }

// Exited is closed when the process has ended.
func (c *Child) Exited() <-chan struct{} { return c.exited }

// EndedWell is the message about a process that ended with exit status 0.
const EndedWell = "its process ended without an error"

// ExitError returns how the process ended.
func (c *Child) ExitError() error {
	e := gateway.Errorf(gateway.CodeUnavailable, EndedWell)
	if state := c.cmd.ProcessState; state != nil && state.ExitCode() > 0 {
		e = gateway.Errorf(gateway.CodeUnavailable, "its process ended with exit status %d", state.ExitCode())
	} else if state != nil && !state.Success() {
		e = gateway.Errorf(gateway.CodeUnavailable, "its process ended with %s", state.String())
	}
	// The exit status is part of the message.
	if exit := new(exec.ExitError); !errors.As(c.waitErr, &exit) {
		e.Err = c.waitErr
	}
	return e
}

// End ends the process group, gently first, and returns when it has ended and the
// pipes are closed.
func (c *Child) End() {
	c.stop.Do(func() {
		_ = c.Stdin.Close()
		if !c.Gone(PatienceAfterEOF) {
			c.tree.terminate()
			if !c.Gone(patienceAfterTerm) {
				c.tree.kill()
			}
		}
		<-c.exited
		_ = c.Stdout.Close()
	})
}

// Gone reports whether the process ends within the given time.
func (c *Child) Gone(within time.Duration) bool {
	timer := time.NewTimer(within)
	defer timer.Stop()
	select {
	case <-c.exited:
		return true
	case <-timer.C:
		return false
	}
}
