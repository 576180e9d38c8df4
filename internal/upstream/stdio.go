package upstream

import (
	"context"
	"errors"
	"sync"
	"time"

	"genkan/internal/gateway"
	"genkan/internal/jsonrpc"
	"genkan/internal/launch"
)

// maxChildMessage is the size of the largest message that a command is sent. The
// TypeScript SDK accepts 10 MiB.
const maxChildMessage = 8 << 20

func connectStdio(ctx context.Context, s *Server, set *Settings, us self, known gateway.Era, e listeners, roots []byte) (conn, error) {
	s.output.started(time.Now())
	ch, err := s.deps.Launcher.Start(ctx, launch.Command{
		Server: set.Name, Name: set.Command, Args: set.Args, Env: set.Env, Dir: set.Dir, Errors: s.output,
	})
	if err != nil {
		return nil, err
	}
	c := newDuplexConn(s, newPipes(ch), e, roots)
	c.maxMessage = maxChildMessage
	connected, err := c.start(func() (protocol, error) { return c.handshake(ctx, us, known) })
	if err != nil && gateway.AsError(err).Message == launch.EndedWell { // it is no server
		err = gateway.Errorf(gateway.CodeUnavailable, "its command ended (exit status 0) before it answered as an MCP server; check the command and its arguments")
	}
	return connected, err
}

// pipes is the wire to a command: its standard input and output.
type pipes struct {
	child    *launch.Child
	lines    *jsonrpc.LineReader
	output   countingReader
	watching sync.WaitGroup
	// read is closed, by ended, when the output was read to its end.
	read  <-chan struct{}
	ended func()
}

func newPipes(ch *launch.Child) *pipes {
	read := make(chan struct{})
	p := &pipes{child: ch, output: countingReader{Reader: ch.Stdout}, read: read, ended: sync.OnceFunc(func() { close(read) })}
	p.lines = jsonrpc.NewLineReader(&p.output)
	p.watching.Go(p.watchProcess)
	return p
}

func (p *pipes) pid() int         { return p.child.PID() }
func (p *pipes) received() uint64 { return p.output.reads.Load() }

func (p *pipes) write(batch []byte) (int, error) {
	const portion = 256 << 10
	n, err := p.child.Stdin.Write(batch[:min(len(batch), portion)])
	if err != nil {
		// As with its output: usually the process has ended, which is the cause.
		if p.child.Gone(100 * time.Millisecond) {
			select {
			case <-p.read: // what it printed says why
			case <-time.After(time.Second):
			}
			return n, p.child.ExitError()
		}
		return n, &gateway.Error{Code: gateway.CodeUnavailable, Message: "it closed its input", Err: err}
	}
	return n, nil
}

func (p *pipes) next() ([]byte, error) {
	line, err := p.lines.Next()
	if err == nil || errors.Is(err, jsonrpc.ErrTooLarge) {
		return line, err
	}
	p.ended()
	// The output ended. Usually the process has ended, which is the cause.
	if p.child.Gone(100 * time.Millisecond) {
		return nil, p.child.ExitError()
	}
	return nil, &gateway.Error{Code: gateway.CodeUnavailable, Message: "it closed its output", Err: err}
}

// watchProcess stops reading when the process has ended, even if a descendant
// that left its process group still holds the output.
func (p *pipes) watchProcess() {
	<-p.child.Exited()
	_ = p.child.Stdout.SetReadDeadline(time.Now().Add(launch.PatienceForLastWords))
}

func (p *pipes) end() {
	p.child.End()
	p.watching.Wait()
}
