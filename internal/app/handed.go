package app

import (
	"net"
	"net/http"
	"sync"
)

// handedListener is a listener whose connections were accepted elsewhere.
type handedListener struct {
	conns  chan net.Conn
	closed chan struct{}
	once   sync.Once
}

func newHandedListener() *handedListener {
	return &handedListener{conns: make(chan net.Conn), closed: make(chan struct{})}
}

// hand gives a connection to the server and returns when it is closed.
func (l *handedListener) hand(conn net.Conn) {
	handed := &handedConn{Conn: conn, closed: make(chan struct{})}
	select {
	case l.conns <- handed:
		<-handed.closed
	case <-l.closed:
	}
}

func (l *handedListener) Accept() (net.Conn, error) {
	select {
	case conn := <-l.conns:
		return conn, nil
	case <-l.closed:
		return nil, http.ErrServerClosed
	}
}

func (l *handedListener) Close() error {
	l.once.Do(func() { close(l.closed) })
	return nil
}

func (l *handedListener) Addr() net.Addr { return &net.UnixAddr{Net: "unix"} }

// handedConn tells when it is closed.
type handedConn struct {
	net.Conn
	once   sync.Once
	closed chan struct{}
}

func (c *handedConn) Close() error {
	c.once.Do(func() { close(c.closed) })
	return c.Conn.Close()
}
