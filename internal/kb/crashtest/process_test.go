package crashtest

import (
	"bufio"
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"testing"
	"time"
)

// moment is when a process is killed: so long after it has said so many lines.
// No lines are its start.
type moment struct {
	lines int
	more  time.Duration
}

// never lets a process end by itself.
var never = moment{lines: -1}

// process is one that writes.
type process struct {
	// opening is how long it took to open the database; 0 if it did not get there.
	opening time.Duration

	t      *testing.T
	cmd    *exec.Cmd
	stderr bytes.Buffer
	ended  chan struct{}
}

// start starts a process and kills it at a moment. Every line that it says is
// heard, also what was in the pipe when it was killed.
func start(t *testing.T, o orders, hear func(line) error, m moment) *process {
	t.Helper()
	told, err := json.Marshal(o)
	if err != nil {
		t.Fatal(err)
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	p := &process{t: t, cmd: exec.CommandContext(t.Context(), self), ended: make(chan struct{})}
	p.cmd.Env = append(os.Environ(), roleVariable+"="+writeRole, ordersVariable+"="+string(told),
		"GORACE=atexit_sleep_ms=0") // the race detector lingers for a second otherwise
	p.cmd.Stderr = &p.stderr
	out, err := p.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	begun := time.Now()
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	kill := func() {
		if m.more == 0 {
			_ = p.cmd.Process.Kill()
			return
		}
		time.AfterFunc(m.more, func() { _ = p.cmd.Process.Kill() })
	}
	if m.lines == 0 {
		kill()
	}
	go func() {
		defer close(p.ended)
		lines := bufio.NewReader(out)
		for n := 1; ; n++ {
			raw, err := lines.ReadBytes('\n')
			if err != nil {
				break // and what is no whole line was not said
			}
			var said line
			if err := json.Unmarshal(raw, &said); err != nil {
				t.Errorf("%s: %v", raw, err)
				break
			}
			if said.Opened {
				p.opening = time.Since(begun)
			}
			if err := hear(said); err != nil {
				t.Errorf("a process that writes: %v", err)
				break
			}
			if n == m.lines {
				kill()
			}
		}
		err := p.cmd.Wait() // closes the pipe, so whoever still writes ends, too
		if m == never && err != nil {
			t.Errorf("a process that writes: %v", err)
		}
	}()
	return p
}

// wait waits for its end.
func (p *process) wait() {
	p.t.Helper()
	<-p.ended
	if p.stderr.Len() > 0 {
		p.t.Errorf("a process that writes said on stderr:\n%s", &p.stderr)
	}
	if p.t.Failed() {
		p.t.FailNow()
	}
}
