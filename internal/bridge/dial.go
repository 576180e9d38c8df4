package bridge

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"time"
)

// Dial sends a hello to the owner of a data directory's socket. The error is
// ErrNobody if there is no owner, or one that is shutting down, and a *RefusedError
// if the owner refuses.
func Dial(ctx context.Context, dataDir string, hello Hello) (net.Conn, Welcome, error) {
	p, err := runDirOf(dataDir)
	if err != nil {
		return nil, Welcome{}, err
	}
	path, err := p.socket()
	if err != nil {
		return nil, Welcome{}, err
	}
	dialer := net.Dialer{Timeout: helloPatience}
	conn, err := dialer.DialContext(ctx, "unix", path)
	if err != nil {
		if ctx.Err() != nil {
			return nil, Welcome{}, context.Cause(ctx)
		}
		// A crash leaves a socket without a listener behind.
		return nil, Welcome{}, fmt.Errorf("%w: %w", ErrNobody, err)
	}
	joined, welcome, err := sayHello(ctx, conn, hello)
	if err != nil {
		_ = conn.Close()
		return nil, welcome, err
	}
	return joined, welcome, nil
}

func sayHello(ctx context.Context, conn net.Conn, hello Hello) (net.Conn, Welcome, error) {
	var welcome Welcome
	if unix, ok := conn.(*net.UnixConn); ok {
		if err := checkPeer(unix); err != nil {
			return nil, welcome, err
		}
	}
	_ = conn.SetDeadline(time.Now().Add(helloPatience))
	stop := context.AfterFunc(ctx, func() { _ = conn.SetDeadline(time.Now()) })
	defer stop()
	hello.Protocol, hello.PID = Protocol, os.Getpid()
	joined := newBufferedConn(conn)
	err := writeLine(conn, hello)
	if err == nil {
		err = readLine(joined.r, &welcome)
	}
	switch {
	case err != nil && ctx.Err() != nil:
		return nil, welcome, context.Cause(ctx)
	case errors.Is(err, os.ErrDeadlineExceeded):
		return nil, welcome, errors.New("the genkan that runs does not answer")
	case err != nil: // the owner ended meanwhile
		return nil, welcome, fmt.Errorf("%w: %w", ErrNobody, err)
	case welcome.Refusal == RefusedGoingDown:
		return nil, welcome, ErrNobody
	case welcome.Refusal != "":
		return nil, welcome, &RefusedError{welcome}
	case welcome.Protocol != Protocol:
		return nil, welcome, errors.New("whoever answers on the socket is no genkan of this kind")
	}
	if !stop() {
		return nil, welcome, context.Cause(ctx)
	}
	return joined, welcome, conn.SetDeadline(time.Time{})
}
