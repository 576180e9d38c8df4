package fault

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"io"
	"sync"
)

// pipe is stdout, shared by all answers.
type pipe struct {
	mu    sync.Mutex
	w     *bufio.Writer
	noise bool
}

func newPipe(w io.Writer, noise bool) *pipe { return &pipe{w: bufio.NewWriter(w), noise: noise} }

func (p *pipe) begin(int) (messageWriter, error) {
	p.mu.Lock()
	if p.noise {
		// What real servers print: a banner, an empty line, a log line in
		// JSON that is no message.
		_, _ = p.w.WriteString("Server is running on stdio\n\n   \n{\"level\":\"info\",\"msg\":\"not JSON-RPC\"}\n")
	}
	return pipeWriter{p}, nil
}

// pipeWriter holds the pipe until its message has ended.
type pipeWriter struct{ p *pipe }

func (w pipeWriter) Write(b []byte) (int, error) { return w.p.w.Write(b) }
func (w pipeWriter) Flush()                      { _ = w.p.w.Flush() }

func (w pipeWriter) Close() error {
	defer w.p.mu.Unlock()
	_ = w.p.w.WriteByte('\n')
	return w.p.w.Flush()
}

// serveStdio reads a message per line until the input ends. Requests run at
// the same time; when the input ends, those that can still be answered are.
func serveStdio(ctx context.Context, cancel context.CancelCauseFunc, s *server, stdin io.Reader, stdout io.Writer) error {
	if s.opts.on(modeDeaf) {
		waitForTheEnd()
	}
	out := newPipe(stdout, s.opts.on(modeNoise))
	c := newConn(ctx, "", out)
	var running sync.WaitGroup
	input := bufio.NewReader(stdin)
	for {
		line, err := input.ReadBytes('\n')
		line = bytes.TrimSpace(line)
		if len(line) > 0 {
			s.record.line(line)
			s.receiveLine(c, out, line, &running)
		}
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return err
		}
	}
	if s.opts.on(modeIgnoreTerm) {
		waitForTheEnd()
	}
	cancel(errShutdown)
	running.Wait()
	return nil
}

func (s *server) receiveLine(c *conn, out *pipe, line []byte, running *sync.WaitGroup) {
	m, rpcErr := parseMessage(line)
	if rpcErr != nil {
		(&request{message: &message{}, out: out}).fail(rpcErr)
		return
	}
	if !m.isRequest() {
		c.receive(m)
		return
	}
	req := &request{message: m, conn: c, out: out}
	if err := s.admit(req, c.isOpen()); err != nil {
		req.fail(err)
		return
	}
	ctx, release, err := c.track(c.ended, req)
	if err != nil {
		req.fail(err)
		return
	}
	opened := make(chan struct{})
	req.opened = sync.OnceFunc(func() { close(opened) })
	running.Go(func() {
		defer req.opened()
		defer release()
		s.serve(ctx, req)
	})
	// What follows on the pipe relies on these two having taken effect.
	if (m.Method == "initialize" && !s.opts.on(modeHangInit)) || m.Method == "subscriptions/listen" {
		<-opened
	}
}
