package bridge

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"sync"
	"time"

	"genkan/internal/filelock"
)

var (
	// ErrTaken means that another process owns the data directory's socket.
	ErrTaken = errors.New("another genkan has this place")
	// ErrNobody means that no process serves the data directory's socket.
	ErrNobody = errors.New("no genkan runs for this data directory")
)

// helloPatience is how long the first lines may take. Both processes are on one
// machine.
const helloPatience = 5 * time.Second

// Owner is the one process that serves a data directory's socket.
type Owner struct {
	runDir   runDir
	lock     *os.File
	shortDir string
	listener *net.UnixListener
	// predecessor is the former owner, which waits until this one serves.
	predecessor net.Conn

	release sync.Once
}

// Claim makes this process the owner. It returns ErrTaken if another process is. No
// process can join before Listen.
func Claim(dataDir string) (*Owner, error) {
	p, err := runDirOf(dataDir)
	if err != nil {
		return nil, err
	}
	if err := p.make(); err != nil {
		return nil, err
	}
	lock, err := filelock.Take(p.lockFile())
	if errors.Is(err, filelock.ErrTaken) {
		return nil, ErrTaken
	}
	if err != nil {
		return nil, err
	}
	return &Owner{runDir: p, lock: lock}, nil
}

// TakeOver makes this process the owner instead of a background process, which it
// asks to end. It returns ErrTaken if the owner stays.
func TakeOver(ctx context.Context, dataDir string, hello Hello) (*Owner, error) {
	hello.Purpose = PurposeRetire
	const tries = 5 // a process that joins may start another owner in between
	for range tries {
		o, err := Claim(dataDir)
		if !errors.Is(err, ErrTaken) {
			return o, err
		}
		predecessor, _, err := Dial(ctx, dataDir, hello)
		var refused *RefusedError
		switch {
		case errors.As(err, &refused):
			return nil, fmt.Errorf("%w: %w", ErrTaken, err)
		case err == nil:
			if o, err = Claim(dataDir); err == nil {
				o.predecessor = predecessor
				return o, nil
			}
			_ = predecessor.Close()
		case !errors.Is(err, ErrNobody):
			return nil, err
		}
		if err := pause(ctx, 20*time.Millisecond); err != nil {
			return nil, err
		}
	}
	return nil, ErrTaken
}

// Listen opens the socket.
func (o *Owner) Listen(ctx context.Context) error {
	path, shortDir, err := o.runDir.socketPath()
	if err != nil {
		return err
	}
	o.shortDir = shortDir
	// This process has the lock, so the process that left a socket there has ended.
	if info, err := os.Lstat(path); err == nil && info.Mode().Type() != fs.ModeSocket {
		return fmt.Errorf("%s is in the way: it is not a socket", path)
	}
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	var config net.ListenConfig
	l, err := config.Listen(ctx, "unix", path)
	if err != nil {
		return err
	}
	listener, ok := l.(*net.UnixListener)
	if !ok {
		_ = l.Close()
		return errors.New("the system has another kind of sockets")
	}
	o.listener = listener
	// Until here only the folder's mode has kept other users out.
	if err := os.Chmod(path, 0o600); err != nil {
		return err
	}
	if err := o.runDir.announce(path); err != nil {
		return err
	}
	if o.predecessor != nil {
		_ = o.predecessor.Close()
		o.predecessor = nil
	}
	return nil
}

// Serve calls handle for each connection with a valid hello, in a goroutine of its
// own, and closes the connection when handle returns. Serve returns after Release,
// when all connections are closed. The welcome is the answer to connections that
// are accepted.
func (o *Owner) Serve(welcome Welcome, handle func(*Incoming)) {
	welcome.Protocol, welcome.PID = Protocol, os.Getpid()
	var connections sync.WaitGroup
	defer connections.Wait()
	for {
		conn, err := o.listener.AcceptUnix()
		if errors.Is(err, net.ErrClosed) {
			return
		}
		if err != nil { // too many open files, and the like
			time.Sleep(50 * time.Millisecond)
			continue
		}
		connections.Go(func() {
			if in := readHello(conn, welcome); in != nil {
				handle(in)
			}
			_ = conn.Close()
		})
	}
}

// Release lets another process become the owner. Joined clients stay connected.
func (o *Owner) Release() {
	o.release.Do(func() {
		if o.predecessor != nil {
			_ = o.predecessor.Close()
		}
		if o.listener != nil {
			if o.isInPlace() {
				_ = os.Remove(o.runDir.addressFile())
			} else {
				o.listener.SetUnlinkOnClose(false)
			}
			_ = o.listener.Close() // removes the socket
		}
		if o.shortDir != "" {
			_ = os.Remove(o.shortDir)
		}
		filelock.Release(o.lock) // last: until here no other process has touched any of it
	})
}

// isInPlace reports whether the lock is still the file at its path. If the data
// directory was replaced, the new files belong to another owner.
func (o *Owner) isInPlace() bool {
	ours, errOurs := o.lock.Stat()
	there, errThere := os.Stat(o.runDir.lockFile())
	return errOurs == nil && errThere == nil && os.SameFile(ours, there)
}

// Incoming is a connection whose hello has been read and not answered yet.
type Incoming struct {
	Hello   Hello
	conn    *bufferedConn
	welcome Welcome
}

// readHello reads the hello of a connection. It returns nil if there is none, or it
// is refused.
func readHello(conn *net.UnixConn, welcome Welcome) *Incoming {
	if checkPeer(conn) != nil {
		return nil
	}
	in := &Incoming{
		conn:    newBufferedConn(conn),
		welcome: welcome,
	}
	_ = conn.SetDeadline(time.Now().Add(helloPatience))
	if err := readLine(in.conn.r, &in.Hello); err != nil {
		return nil
	}
	if in.Hello.Protocol != Protocol {
		in.Refuse(RefusedProtocol, fmt.Sprintf("it speaks protocol %d with others, not %d", Protocol, in.Hello.Protocol))
		return nil
	}
	return in
}

// Refuse answers the hello with a refusal.
func (in *Incoming) Refuse(refusal Refusal, reason string) {
	w := in.welcome
	w.Refusal, w.Reason = refusal, reason
	_ = writeLine(in.conn, w) // the other process may have gone
}

// Accept answers the hello with a welcome and returns the connection.
func (in *Incoming) Accept() (net.Conn, error) {
	if err := writeLine(in.conn, in.welcome); err != nil {
		return nil, err
	}
	return in.conn, in.conn.SetDeadline(time.Time{})
}

// bufferedConn is a connection whose first line has been read.
type bufferedConn struct {
	net.Conn
	r *bufio.Reader
}

func newBufferedConn(conn net.Conn) *bufferedConn {
	return &bufferedConn{Conn: conn, r: bufio.NewReader(conn)}
}

func (c *bufferedConn) Read(p []byte) (int, error) { return c.r.Read(p) }

// pause waits for d or until ctx ends.
func pause(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}
