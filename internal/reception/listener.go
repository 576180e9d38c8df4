package reception

import (
	"net"
	"net/http"
	"sync"
)

// Listener is a net.Listener for connections that were accepted elsewhere.
type Listener struct {
	conns  chan net.Conn
	closed chan struct{}
	once   sync.Once
}

// NewListener makes a Listener.
func NewListener() *Listener {
	return &Listener{conns: make(chan net.Conn), closed: make(chan struct{})}
}

// Pass passes a connection to the server of the listener and returns when the
// server has closed it. A closed listener takes no connections.
func (l *Listener) Pass(conn net.Conn) {
	passed := &passedConn{Conn: conn, closed: make(chan struct{})}
	select {
	case l.conns <- passed:
		<-passed.closed
	case <-l.closed:
	}
}

// Accept returns the next connection that is passed to Pass.
func (l *Listener) Accept() (net.Conn, error) {
	select {
	case conn := <-l.conns:
		return conn, nil
	case <-l.closed:
		return nil, http.ErrServerClosed
	}
}

// Close stops accepting connections. Accepted ones stay open.
func (l *Listener) Close() error {
	l.once.Do(func() { close(l.closed) })
	return nil
}

// Addr returns a socket without a path.
func (l *Listener) Addr() net.Addr { return &net.UnixAddr{Net: "unix"} }

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
