package reception

import (
	"net"
	"net/http"
	"sync"
)

// listener is a net.Listener for connections that were accepted elsewhere.
type listener struct {
	conns  chan net.Conn
	closed chan struct{}
	once   sync.Once
}

func newListener() *listener {
	return &listener{conns: make(chan net.Conn), closed: make(chan struct{})}
}

// serve passes a connection to the server of the listener and returns when the
// server has closed it. A closed listener takes no connections.
func (l *listener) serve(conn net.Conn) {
	passed := &passedConn{Conn: conn, closed: make(chan struct{})}
	select {
	case l.conns <- passed:
		<-passed.closed
	case <-l.closed:
	}
}

// Accept returns the next connection that is passed to serve.
func (l *listener) Accept() (net.Conn, error) {
	select {
	case conn := <-l.conns:
		return conn, nil
	case <-l.closed:
		return nil, http.ErrServerClosed
	}
}

// Close stops accepting connections. Accepted ones stay open.
func (l *listener) Close() error {
	l.once.Do(func() { close(l.closed) })
	return nil
}

// Addr returns a socket without a path.
func (l *listener) Addr() net.Addr { return &net.UnixAddr{Net: "unix"} }

// passedConn signals that it is closed.
type passedConn struct {
	net.Conn
	once   sync.Once
	closed chan struct{}
}

// Close closes the connection.
func (c *passedConn) Close() error {
	c.once.Do(func() { close(c.closed) })
	return c.Conn.Close()
}
