package script

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"sync"
	"time"
)

// worker is a worker process, as genkan sees it.
type worker struct {
	cmd    *exec.Cmd
	in     *os.File
	out    *os.File
	writer *bufio.Writer
	reader *bufio.Reader
	errors head
	memory memoryGauge
	kill   func()

	// known are the ids of the programs that it has.
	known map[string]bool
	// base and mapped are the memory that it had when it had started, grown how much it
	// had grown when that was last seen, since when it is idle.
	base, mapped, grown int
	since               time.Duration

	exited chan struct{} // closed when the process has ended
}

// helloTime is how long a worker may take to start on a machine that is very busy.
const helloTime = 30 * time.Second

// startWorker starts a worker.
func startWorker(file string) (*worker, error) {
	inChild, in, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	out, outChild, err := os.Pipe()
	if err != nil {
		_ = errors.Join(in.Close(), inChild.Close())
		return nil, err
	}
	w := &worker{
		in: in, out: out,
		writer: bufio.NewWriterSize(in, 64<<10), reader: bufio.NewReaderSize(out, 64<<10),
		known: map[string]bool{}, exited: make(chan struct{}),
	}
	w.cmd = exec.Command(file, command) //nolint:noctx // our own executable, which serves many jobs
	w.cmd.Args[0] = "genkan"
	w.cmd.Env = []string{}
	w.cmd.Dir = rootDir
	w.cmd.Stdin, w.cmd.Stdout, w.cmd.Stderr = inChild, outChild, &w.errors
	setAttributes(w.cmd)
	err = w.cmd.Start()
	_ = errors.Join(inChild.Close(), outChild.Close())
	if err != nil {
		_ = errors.Join(in.Close(), out.Close())
		return nil, err
	}
	lowerPriority(w.cmd.Process.Pid)
	w.kill = func() { _ = w.cmd.Process.Kill() }
	w.memory.open(w.cmd.Process.Pid)
	wait := func() {
		_ = w.cmd.Wait()
		w.memory.close()
		_ = errors.Join(in.Close(), out.Close())
		close(w.exited)
	}
	_ = out.SetReadDeadline(time.Now().Add(helloTime))
	hello, err := readFrame(w.reader, 1<<10)
	if err == nil && (hello.kind != frameHello || string(hello.fields[0]) != protocol) {
		err = fmt.Errorf("it says %q where %q was expected: the program file was replaced; restart genkan", hello.fields[0], protocol)
	}
	if err != nil {
		w.kill()
		wait()
		return nil, fmt.Errorf("a worker process did not start: %w %s", err, w.errors.line())
	}
	_ = out.SetReadDeadline(time.Time{})
	w.base, w.mapped = w.memory.read()
	go wait()
	return w, nil
}

// isSmall reports whether a worker that was allowed more memory than is usual can be used
// with the usual limit. What it has mapped stays mapped.
func (w *worker) isSmall() bool {
	_, mapped := w.memory.read()
	return parentSeesMemory && mapped-w.mapped <= DefaultMemory/2
}

func (w *worker) send(kind byte, fields ...[]byte) error {
	if err := writeFrame(w.writer, kind, fields...); err != nil {
		return err
	}
	return w.writer.Flush()
}

// head keeps the beginning of what is written to it.
type head struct {
	mu   sync.Mutex
	text bytes.Buffer
}

var _ io.Writer = (*head)(nil)

func (h *head) Write(p []byte) (int, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	const most = 4 << 10
	h.text.Write(p[:min(len(p), most-min(most, h.text.Len()))])
	return len(p), nil
}

func (h *head) String() string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.text.String()
}

// line returns the first line.
func (h *head) line() string {
	line, _, _ := strings.Cut(strings.TrimSpace(h.String()), "\n")
	return line
}
