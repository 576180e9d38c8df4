package upstream

import (
	"context"
	"errors"
	"sync"
	"time"

	"genkan/internal/gateway"
	"genkan/internal/jsonrpc"
)

func connectStdio(ctx context.Context, s *Server, set *Settings, us self, known gateway.Era, e ears, roots []byte) (conn, error) {
	ch, err := startChild(set, s.deps.Home, s.output, s.deps.Guard, s.log)
	if err != nil {
		return nil, err
	}
	c := newDuplexConn(s, newPipes(ch), e, roots)
	return c.start(func() (protocol, error) { return c.handshake(ctx, us, known) })
}

// pipes are the wire to a child: its standard input and output.
type pipes struct {
	child    *child
	lines    *jsonrpc.LineReader
	watching sync.WaitGroup
}

func newPipes(ch *child) *pipes {
	p := &pipes{child: ch, lines: jsonrpc.NewLineReader(ch.stdout)}
	p.watching.Go(p.watchProcess)
	return p
}

func (p *pipes) pid() int { return p.child.cmd.Process.Pid }

func (p *pipes) write(batch []byte) (int, error) {
	const portion = 256 << 10
	n, err := p.child.stdin.Write(batch[:min(len(batch), portion)])
	if err != nil {
		return n, &gateway.Error{Code: gateway.CodeUnavailable, Message: "it closed its input", Err: err}
	}
	return n, nil
}

func (p *pipes) next() ([]byte, error) {
	line, err := p.lines.Next()
	if err == nil || errors.Is(err, jsonrpc.ErrTooLarge) {
		return line, err
	}
	// The output ended. Usually the process did; then that is the cause.
	if p.child.gone(100 * time.Millisecond) {
		return nil, p.child.exitError()
	}
	return nil, &gateway.Error{Code: gateway.CodeUnavailable, Message: "it closed its output", Err: err}
}

// watchProcess ends the reading when the process has ended, even if somebody
// who left its group still holds its output.
func (p *pipes) watchProcess() {
	<-p.child.exited
	_ = p.child.stdout.SetReadDeadline(time.Now().Add(patienceForLastWords))
}

func (p *pipes) end() {
	p.child.end()
	p.watching.Wait()
}
