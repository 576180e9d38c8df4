package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// patience is how long a process may take until it is ready.
const patience = 30 * time.Second

// lab is the workshop of one run: a directory, and processes that do not
// outlive it.
type lab struct {
	ctx     context.Context //nolint:containedctx // the run's own life, which its processes share
	dir     string
	keep    bool // the directory stays
	self    string
	genkan  string // the binary
	fixture string // the binary
	mcpgo   string // the binary
	// sdkClient is the Go SDK's own conformance client.
	sdkClient string
	node      node
	python    python
	site      string // where the pages are that server-fetch fetches
	progress  io.Writer

	processes []*process
	logs      int
}

// openLab prepares a directory. Programs are built and installed by whoever
// needs them.
func openLab(ctx context.Context, opt options, progress io.Writer) (*lab, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	l := &lab{ctx: ctx, self: self, genkan: opt.genkan, keep: opt.keep != "", progress: progress}
	if l.keep {
		if l.dir, err = filepath.Abs(opt.keep); err == nil {
			err = os.MkdirAll(l.dir, 0o755)
		}
	} else {
		l.dir, err = os.MkdirTemp("", "genkan-conformance-")
	}
	if err != nil {
		return nil, err
	}
	if l.genkan == "" {
		l.say("building genkan")
		l.genkan, err = l.buildIn(".", "genkan", "./cmd/genkan")
	}
	if err != nil {
		l.close()
		return nil, err
	}
	return l, nil
}

func (l *lab) say(format string, args ...any) { fmt.Fprintf(l.progress, format+"\n", args...) }

// build builds a program of a module that this one requires.
func (l *lab) build(name, pkg string) (string, error) { return l.buildIn("conformance", name, pkg) }

// buildIn builds a program of the module in a directory.
func (l *lab) buildIn(dir, name, pkg string) (string, error) {
	binary := filepath.Join(l.dir, executable(name))
	cmd := exec.CommandContext(l.ctx, "go", "build", "-trimpath", "-buildvcs=false", "-o", binary, pkg)
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("%s does not build: %w\n%s", name, err, out)
	}
	return binary, nil
}

// process is a program that was started.
type process struct {
	name  string
	cmd   *exec.Cmd
	log   string
	ended chan struct{}
}

// start starts a program, which writes to a log in the lab.
func (l *lab) start(name string, command ...string) (*process, error) {
	return l.startWith(name, nil, command...)
}

// startWith is start with variables of its own.
func (l *lab) startWith(name string, env []string, command ...string) (*process, error) {
	l.logs++
	p := &process{
		name: name, ended: make(chan struct{}),
		log: filepath.Join(l.dir, fmt.Sprintf("%s-%d.log", name, l.logs)),
	}
	log, err := os.Create(p.log)
	if err != nil {
		return nil, err
	}
	defer func() { _ = log.Close() }()
	p.cmd = exec.CommandContext(l.ctx, command[0], command[1:]...)
	p.cmd.Env = append(cleanEnvironment(), env...)
	p.cmd.Stdout, p.cmd.Stderr = log, log
	// Asked to end, genkan ends its children; killed, its guard does.
	p.cmd.Cancel = func() error { return p.cmd.Process.Signal(os.Interrupt) }
	p.cmd.WaitDelay = 10 * time.Second
	if err := p.cmd.Start(); err != nil {
		return nil, err
	}
	go func() {
		_ = p.cmd.Wait()
		close(p.ended)
	}()
	l.processes = append(l.processes, p)
	return p, nil
}

// cleanEnvironment is what programs see: settings of whoever runs this (PORT,
// LOG_LEVEL, NODE_OPTIONS) must not become part of the result.
func cleanEnvironment() []string {
	var env []string
	for _, name := range []string{"PATH", "HOME", "TMPDIR", "SystemRoot", "LOCALAPPDATA"} {
		if v, ok := os.LookupEnv(name); ok {
			env = append(env, name+"="+v)
		}
	}
	return env
}

// stop ends the program, politely at first.
func (p *process) stop() {
	_ = p.cmd.Process.Signal(os.Interrupt)
	select {
	case <-p.ended:
	case <-time.After(10 * time.Second):
		_ = p.cmd.Process.Kill()
		<-p.ended
	}
}

// lastWords is the end of what the program said.
func (p *process) lastWords() string {
	raw, err := os.ReadFile(p.log)
	if err != nil {
		return err.Error()
	}
	return strings.TrimSpace(string(raw[max(0, len(raw)-2000):]))
}

// until asks again and again whether something is so, while the program runs.
func (p *process) until(ctx context.Context, what string, isSo func(context.Context) error) error {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	for {
		err := isSo(ctx)
		if err == nil {
			return nil
		}
		select {
		case <-p.ended:
			return fmt.Errorf("%s ended before it was %s: %s", p.name, what, p.lastWords())
		case <-ctx.Done():
			return fmt.Errorf("%s is not %s: %w; its log: %s", p.name, what, errors.Join(err, context.Cause(ctx)), p.lastWords())
		case <-time.After(10 * time.Millisecond):
		}
	}
}

func (p *process) untilListening(ctx context.Context, address string) error {
	return p.until(ctx, "listening", func(ctx context.Context) error {
		conn, err := new(net.Dialer).DialContext(ctx, "tcp", address)
		if err == nil {
			_ = conn.Close()
		}
		return err
	})
}

// stopAll ends what was started, newest first.
func (l *lab) stopAll() {
	for i := len(l.processes) - 1; i >= 0; i-- {
		l.processes[i].stop()
	}
	l.processes = nil
}

// close ends everything and removes what nobody wants to keep.
func (l *lab) close() {
	l.stopAll()
	if !l.keep {
		_ = os.RemoveAll(l.dir)
	}
}

// freeAddress finds a port that nobody uses. Somebody could take it before the
// program does; then the program says so and the run fails.
func freeAddress() (string, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	defer func() { _ = l.Close() }()
	return l.Addr().String(), nil
}
