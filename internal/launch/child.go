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

// Command is what to start.
type Command struct {
	// Server is the name of the server that the process is.
	Server string
	Name   string
	Args   []string
	// Env is what the process gets beside what every process gets.
	Env map[string]gateway.Secret
	// Dir is the folder that it runs in; empty for ours.
	Dir string
	// Errors is where its standard error goes.
	Errors io.Writer
}

// Child is a process and everything that it starts: they share a process
// group, and are ended together.
type Child struct {
	// Stdin and Stdout are our ends of its pipes.
	Stdin, Stdout *os.File

	cmd     *exec.Cmd
	tree    *tree
	exited  chan struct{} // closed when the process has ended
	waitErr error
	stop    sync.Once
}

// Patience with a child that is told to end: first its input is closed, then
// it gets a SIGTERM, then it is killed.
const (
	PatienceAfterEOF  = 2 * time.Second
	patienceAfterTerm = 2 * time.Second

	// PatienceForLastWords is waited for twice, for errors and for answers, when
	// somebody who left the group holds both: a crash is to be noticed within
	// 100 ms.
	PatienceForLastWords = 40 * time.Millisecond
	patienceForLateWords = time.Second
)

// Start starts a command with a clean environment. A command that has to be
// looked for far away takes a few seconds, but ctx ends that.
func (l *Launcher) Start(ctx context.Context, command Command) (*Child, error) {
	cmd, container, err := l.prepare(ctx, command)
	if err != nil {
		return nil, err
	}
	// Our own pipes, not StdoutPipe's: Wait must not wait for grandchildren
	// that hold them open.
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
		return nil, startError(command.Name, err)
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
		// Whatever it left behind goes with it.
		family.kill()
		family.close()
		l.guard.unwatch(cmd.Process.Pid)
		if container != nil {
			l.unpack(container)
		}
		// Its last words say why it ended. Somebody who left the group may
		// still hold the pipe, and is not waited for.
		select {
		case <-lastWords:
		case <-time.After(PatienceForLastWords):
		}
		close(c.exited)
		// On a busy machine they may not have been read yet; they are not thrown
		// away, though nobody waits for them any more.
		select {
		case <-lastWords:
		case <-time.After(patienceForLateWords):
		}
		closeAll(errR)
		l.opt.Log.Debug("child ended", "server", command.Server, "process_id", cmd.Process.Pid, "error", c.waitErr)
	}()
	return c, nil
}

// prepare makes the process of a command, but does not start it, and the
// container that it stands for, if it does.
func (l *Launcher) prepare(ctx context.Context, command Command) (*exec.Cmd, *box, error) {
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
	var container *box
	if run, ok := parseContainerRun(goos, command.Name, args); ok {
		container, args = l.pack(ctx, command, run, file, env)
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

func startError(command string, err error) error {
	e := &gateway.Error{Code: gateway.CodeUnavailable, Err: err}
	switch {
	case errors.Is(err, os.ErrPermission):
		e.Message, e.Values = "its command %q may not be executed", []any{command}
	case errors.Is(err, os.ErrNotExist):
		e.Message, e.Values = "its command %q or its directory does not exist", []any{command}
	default:
		e.Message, e.Values = "its command %q could not be started", []any{command}
	}
	return e
}

// PID is the process id.
func (c *Child) PID() int { return c.cmd.Process.Pid }

// Exited is closed when the process has ended.
func (c *Child) Exited() <-chan struct{} { return c.exited }

// ExitError says how the process ended.
func (c *Child) ExitError() error {
	e := gateway.Errorf(gateway.CodeUnavailable, "its process ended without an error")
	if state := c.cmd.ProcessState; state != nil && !state.Success() {
		e = gateway.Errorf(gateway.CodeUnavailable, "its process ended with %s", state.String())
	}
	// What an exit status says has been said.
	if exit := new(exec.ExitError); !errors.As(c.waitErr, &exit) {
		e.Err = c.waitErr
	}
	return e
}

// End ends the child and its group, gently first, and returns when they are
// gone. The pipes are closed then.
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

// Gone waits for the end of the process, and reports whether it came in time.
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
