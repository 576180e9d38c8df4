package testkit

import (
	"bufio"
	"bytes"
	"context"
	"io"
	"os"
	"os/exec"
	"sync"
	"testing"
	"time"
)

// Conn is one client's connection to what is being tested: messages out,
// messages in.
type Conn interface {
	// Send sends one JSON-RPC message.
	Send(line []byte) error
	// Receive waits for the next message, in whatever way it comes. It returns
	// io.EOF when there will be none.
	Receive(ctx context.Context) ([]byte, error)
	Close() error
}

// inbox is an unbounded queue of messages: whoever reads for a Conn must
// never wait for the test to take them.
type inbox struct {
	mu       sync.Mutex
	messages [][]byte
	closed   bool
	changed  chan struct{} // closed and replaced with every change
}

func newInbox() *inbox { return &inbox{changed: make(chan struct{})} }

func (b *inbox) put(msg []byte) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.messages = append(b.messages, msg)
	b.signal()
}

func (b *inbox) close() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.closed = true
	b.signal()
}

func (b *inbox) signal() {
	close(b.changed)
	b.changed = make(chan struct{})
}

func (b *inbox) take(ctx context.Context) ([]byte, error) {
	for {
		b.mu.Lock()
		if len(b.messages) > 0 {
			msg := b.messages[0]
			b.messages = b.messages[1:]
			b.mu.Unlock()
			return msg, nil
		}
		closed, changed := b.closed, b.changed
		b.mu.Unlock()
		if closed {
			return nil, io.EOF
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	}
}

// pipeConn is a message per line.
type pipeConn struct {
	in    *inbox
	out   io.Writer
	close func() error
}

// NewPipeConn speaks a message per line over a pair of pipes: r is what the
// server writes, w what it reads. Close closes w, if it can be closed, and
// then waits until r has ended.
func NewPipeConn(r io.Reader, w io.Writer) Conn {
	c := &pipeConn{in: newInbox(), out: w}
	done := make(chan struct{})
	go func() {
		defer close(done)
		defer c.in.close()
		lines := bufio.NewReader(r)
		for {
			line, err := lines.ReadBytes('\n')
			if line = bytes.TrimRight(line, "\r\n"); len(line) > 0 {
				c.in.put(line)
			}
			if err != nil {
				return
			}
		}
	}()
	c.close = func() error {
		var err error
		if closer, ok := w.(io.Closer); ok {
			err = closer.Close()
		}
		<-done
		return err
	}
	return c
}

func (c *pipeConn) Send(line []byte) error {
	// In one write, so that several may send at the same time.
	_, err := c.out.Write(append(oneLine(line), '\n'))
	return err
}

// oneLine copies a message without its line breaks, which JSON has only
// between tokens.
func oneLine(msg []byte) []byte {
	return bytes.Map(func(r rune) rune {
		if r == '\n' || r == '\r' {
			return ' '
		}
		return r
	}, msg)
}

func (c *pipeConn) Receive(ctx context.Context) ([]byte, error) { return c.in.take(ctx) }
func (c *pipeConn) Close() error                                { return c.close() }

// StartStdio starts a command, with exactly the given environment, and speaks
// to it over stdin and stdout. Its stderr is logged if the test fails. The
// process is killed if it does not end within a second of losing its input.
func StartStdio(tb testing.TB, command string, argv []string, env map[string]string) Conn {
	tb.Helper()
	cmd := exec.Command(command, argv...)
	cmd.Env = []string{} // not nil, which would mean ours
	for name, value := range env {
		cmd.Env = append(cmd.Env, name+"="+value)
	}
	stderr := &tail{}
	cmd.Stderr = stderr
	cmd.WaitDelay = 100 * time.Millisecond
	stdin, err := cmd.StdinPipe()
	if err != nil {
		tb.Fatal(err)
	}
	stdout, theirs, err := os.Pipe()
	if err != nil {
		tb.Fatal(err)
	}
	cmd.Stdout = theirs
	err = cmd.Start()
	_ = theirs.Close()
	if err != nil {
		_ = stdout.Close()
		tb.Fatal(err)
	}
	c := NewPipeConn(stdout, stdin).(*pipeConn)
	closePipes := c.close
	c.close = sync.OnceValue(func() error {
		kill := time.AfterFunc(time.Second, func() { _ = cmd.Process.Kill() })
		defer kill.Stop()
		_ = stdin.Close() // fails if the server is gone already
		_ = cmd.Wait()    // how it ended is not the connection's business
		// Not left to the end of the output, which a grandchild may hold open.
		_ = stdout.Close()
		_ = closePipes()
		return nil
	})
	tb.Cleanup(func() {
		_ = c.close()
		if text := stderr.String(); tb.Failed() && text != "" {
			tb.Logf("stderr of %s:\n%s", command, text)
		}
	})
	return c
}
