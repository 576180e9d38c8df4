package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// lab is the workshop of one run: a directory that vanishes, and processes
// that do not outlive it.
type lab struct {
	ctx        context.Context //nolint:containedctx // the run's own life, which its processes share
	dir        string
	self       string
	genkan     []string // the command of genkan
	rival      string   // another build of it; "" for none
	token      string   // opens every house
	scale      scale
	profileDir string
	kbDir      string // where knowledge bases are kept; "" for the user's cache
	kbItems    []int  // how large they are
	noC        bool   // nothing is compared with SQLite in C
	csqlite    string // the binary, once it is built
	progress   io.Writer

	processes []*process
	load      *loader
}

// process is a subject, or one of its neighbours.
type process struct {
	name    string
	cmd     *exec.Cmd
	address string
	stdin   io.WriteCloser
	stdout  *bufio.Reader
	pipe    io.Closer // below stdout
	stderr  string    // where it goes to
	ended   chan struct{}
}

// start starts a command. Its standard error goes to a file in the lab: that
// is where genkan's log is written to while it is measured.
func (l *lab) start(name string, command ...string) (*process, error) {
	p := &process{name: name, ended: make(chan struct{})}
	p.stderr = filepath.Join(l.dir, fmt.Sprintf("%s-%d.log", name, len(l.processes)))
	log, err := os.Create(p.stderr)
	if err != nil {
		return nil, err
	}
	defer func() { _ = log.Close() }()
	p.cmd = exec.CommandContext(l.ctx, command[0], command[1:]...)
	p.cmd.Env = cleanEnvironment()
	p.cmd.Dir = l.dir
	p.cmd.Stderr = log
	dieWithParent(p.cmd)
	in, err := p.cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, outW, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	p.cmd.Stdout = outW
	p.stdin, p.stdout, p.pipe = in, bufio.NewReader(out), out
	err = p.cmd.Start()
	_ = outW.Close()
	if err != nil {
		_ = out.Close()
		return nil, err
	}
	go func() {
		_ = p.cmd.Wait()
		close(p.ended)
	}()
	l.processes = append(l.processes, p)
	return p, nil
}

// raceOptions is the one variable for children of a race detector's binary: its
// processes sleep for a second before they end, unless they are told not to.
const raceOptions = "GORACE"

// cleanEnvironment is what the processes see: settings of whoever runs the
// bench (PORT, LOG_LEVEL, GOGC) must not become part of the result.
func cleanEnvironment() []string {
	var env []string
	for _, name := range []string{"PATH", "HOME", "TMPDIR", raceOptions} {
		if v, ok := os.LookupEnv(name); ok {
			env = append(env, name+"="+v)
		}
	}
	return env
}

// role starts this binary in a role that tells its address.
func (l *lab) role(name string, args ...string) (*process, error) {
	p, err := l.start(name, append([]string{l.self, roleCommand, name}, args...)...)
	if err != nil {
		return nil, err
	}
	line, err := p.stdout.ReadString('\n')
	if err != nil {
		return nil, fmt.Errorf("%s did not start: %s", name, p.lastWords())
	}
	p.address = strings.TrimSpace(line)
	return p, nil
}

// lastWords is the end of what the process said.
func (p *process) lastWords() string {
	raw, err := os.ReadFile(p.stderr)
	if err != nil {
		return err.Error()
	}
	return strings.TrimSpace(string(raw[max(0, len(raw)-2000):]))
}

// stop ends the process, politely at first: genkan ends its children then, and
// a profile is written.
func (p *process) stop() {
	defer func() { _ = p.pipe.Close() }()
	_ = p.stdin.Close()
	_ = p.cmd.Process.Signal(os.Interrupt)
	select {
	case <-p.ended:
	case <-time.After(10 * time.Second):
		_ = p.cmd.Process.Kill()
		<-p.ended
	}
}

// close ends everything that was started, newest first, and removes the lab.
func (l *lab) close() {
	for i := len(l.processes) - 1; i >= 0; i-- {
		l.processes[i].stop()
	}
	_ = os.RemoveAll(l.dir)
}

// memory is what the kernel says about a process's memory, in bytes.
type memory struct{ anon, rss int64 }

func (p *process) memory() (memory, error) {
	raw, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", p.cmd.Process.Pid))
	if err != nil {
		return memory{}, err
	}
	var m memory
	for line := range strings.Lines(string(raw)) {
		key, value, _ := strings.Cut(line, ":")
		kib, _ := strconv.ParseInt(strings.TrimSpace(strings.TrimSuffix(strings.TrimSpace(value), "kB")), 10, 64)
		switch key {
		case "RssAnon":
			m.anon = kib << 10
		case "VmRSS":
			m.rss = kib << 10
		}
	}
	if m.anon == 0 || m.rss == 0 {
		return m, errors.New("the kernel does not tell RssAnon and VmRSS")
	}
	return m, nil
}

// loader is the load generator, in a process of its own.
type loader struct {
	p        *process
	jobs     *json.Encoder
	outcomes *json.Decoder
}

func (l *lab) startLoader() error {
	p, err := l.start("load", l.self, roleCommand, "load")
	if err != nil {
		return err
	}
	l.load = &loader{p: p, jobs: json.NewEncoder(p.stdin), outcomes: json.NewDecoder(p.stdout)}
	return nil
}

// run has a job done.
func (g *loader) run(j job) (outcome, error) {
	var o outcome
	if err := g.jobs.Encode(j); err != nil {
		return o, err
	}
	if err := g.outcomes.Decode(&o); err != nil {
		return o, fmt.Errorf("the load generator ended: %w %s", err, g.p.lastWords())
	}
	if o.Error != "" {
		return o, fmt.Errorf("%s of %s at %s: %s", j.Target.Method, j.Target.Era, j.Target.Address, o.Error)
	}
	return o, nil
}
