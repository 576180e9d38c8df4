package upstream

import (
	"errors"
	"io"
	"log/slog"
	"os"
	"os/exec"
	"sync"
	"time"

	"genkan/internal/gateway"
)

// child is a process and everything that it starts: they share a process
// group, and are ended together.
type child struct {
	cmd    *exec.Cmd
	stdin  *os.File
	stdout *os.File
	guard  *Guard

	exited  chan struct{} // closed when the process has ended
	waitErr error
	stop    sync.Once
}

// Patience with a child that is told to end: first its input is closed, then
// it gets a SIGTERM, then it is killed.
const (
	patienceAfterEOF  = 2 * time.Second
	patienceAfterTerm = 2 * time.Second

	// Waited for twice, for errors and for answers, when somebody who left the
	// group holds both: a crash is to be noticed within 100 ms.
	patienceForLastWords = 40 * time.Millisecond
)

// startChild starts the command with a clean environment. What it writes to
// its standard error goes to errors.
func startChild(set *Settings, home string, stderr io.Writer, guard *Guard, log *slog.Logger) (*child, error) {
	cmd := exec.Command(set.Command, set.Args...) //nolint:gosec,noctx // the command is the user's own; its life is the supervisor's
	cmd.Dir = set.Dir
	cmd.Env = childEnvironment(os.Environ(), set.Env, home)
	setProcessGroup(cmd)
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
		return nil, startError(set, err)
	}
	guard.watch(cmd.Process.Pid)
	c := &child{cmd: cmd, stdin: inW, stdout: outR, guard: guard, exited: make(chan struct{})}
	lastWords := make(chan struct{})
	go func() {
		defer close(lastWords)
		_, _ = io.Copy(stderr, errR)
	}()
	go func() {
		c.waitErr = cmd.Wait()
		// Whatever it left behind goes with it.
		killGroup(cmd.Process.Pid)
		guard.unwatch(cmd.Process.Pid)
		// Its last words say why it ended. Somebody who left the group may
		// still hold the pipe, and is not waited for.
		select {
		case <-lastWords:
		case <-time.After(patienceForLastWords):
		}
		close(c.exited)
		closeAll(errR)
		log.Debug("child ended", "process_id", cmd.Process.Pid, "error", c.waitErr)
	}()
	return c, nil
}

func closeAll(files ...*os.File) {
	for _, f := range files {
		_ = f.Close()
	}
}

func startError(set *Settings, err error) error {
	e := &gateway.Error{Code: gateway.CodeUnavailable, Err: err}
	switch {
	case errors.Is(err, exec.ErrNotFound):
		e.Message, e.Values = "its command %q was not found; install it, or give its full path", []any{set.Command}
	case errors.Is(err, os.ErrPermission):
		e.Message, e.Values = "its command %q may not be executed", []any{set.Command}
	case errors.Is(err, os.ErrNotExist):
		e.Message, e.Values = "its command %q or its directory does not exist", []any{set.Command}
	default:
		e.Message, e.Values = "its command %q could not be started", []any{set.Command}
	}
	return e
}

// exitError says how the process ended.
func (c *child) exitError() error {
	e := gateway.Errorf(gateway.CodeUnavailable, "its process ended without an error")
	if state := c.cmd.ProcessState; state != nil && !state.Success() {
		e = gateway.Errorf(gateway.CodeUnavailable, "its process ended with %s", state.String())
	}
	e.Err = c.waitErr
	return e
}

// end ends the child and its group, gently first, and returns when they are
// gone. The pipes are closed then.
func (c *child) end() {
	c.stop.Do(func() {
		_ = c.stdin.Close()
		if !c.gone(patienceAfterEOF) {
			terminateGroup(c.cmd.Process.Pid)
			if !c.gone(patienceAfterTerm) {
				killGroup(c.cmd.Process.Pid)
			}
		}
		<-c.exited
		_ = c.stdout.Close()
	})
}

func (c *child) gone(within time.Duration) bool {
	timer := time.NewTimer(within)
	defer timer.Stop()
	select {
	case <-c.exited:
		return true
	case <-timer.C:
		return false
	}
}
