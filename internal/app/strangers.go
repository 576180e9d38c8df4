package app

import (
	"container/list"
	"context"
	"crypto/tls"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
)

// Connections that have shown no good token could use up the process's file
// descriptors, so their number is bounded. The longest idle one is closed when
// another comes. Connections with a good token do not count.

// maxStrangers bounds the connections without a good token where descriptors are
// plenty; minStrangers where they are few.
const (
	maxStrangers = 256
	minStrangers = 16
)

// strangers are the connections that have not shown a good token.
type strangers struct {
	most int

	mu    sync.Mutex
	conns list.List // of *strangerConn, the longest idle first
}

func newStrangers() *strangers {
	return &strangers{most: max(minStrangers, min(maxStrangers, maxDescriptors()/4))}
}

// strangerConn is a connection, known or not.
type strangerConn struct {
	net.Conn
	among *strangers
	known atomic.Bool   // has shown a good token
	place *list.Element // nil when it does not count; guarded by among.mu
}

// strangerListener wraps the connections of a listener.
type strangerListener struct {
	net.Listener
	among *strangers
}

// Accept returns the next connection, and closes the longest idle stranger if
// there are too many.
func (l strangerListener) Accept() (net.Conn, error) {
	conn, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	c := &strangerConn{Conn: conn, among: l.among}
	if out := l.among.add(c); out != nil {
		_ = out.Close()
	}
	return c, nil
}

// add counts a connection and returns the one that must go for it; nil for none.
func (s *strangers) add(c *strangerConn) *strangerConn {
	s.mu.Lock()
	defer s.mu.Unlock()
	c.place = s.conns.PushBack(c)
	if s.conns.Len() <= s.most {
		return nil
	}
	out, _ := s.conns.Front().Value.(*strangerConn)
	out.leave()
	return out
}

// leave takes the connection out of the count. Called with among.mu held.
func (c *strangerConn) leave() {
	if c.place != nil {
		c.among.conns.Remove(c.place)
		c.place = nil
	}
}

// Close closes the connection.
func (c *strangerConn) Close() error {
	c.among.mu.Lock()
	c.leave()
	c.among.mu.Unlock()
	return c.Conn.Close()
}

// connKey is the key of a request's connection in its context.
type connKey struct{}

// track has a server tell of its connections.
func track(server *http.Server) {
	server.ConnContext = func(ctx context.Context, conn net.Conn) context.Context {
		if c := strangerOf(conn); c != nil {
			return context.WithValue(ctx, connKey{}, c)
		}
		return ctx
	}
	server.ConnState = func(conn net.Conn, state http.ConnState) {
		if state != http.StateActive && state != http.StateIdle {
			return
		}
		if c := strangerOf(conn); c != nil && !c.known.Load() {
			c.among.mu.Lock()
			if c.place != nil {
				c.among.conns.MoveToBack(c.place)
			}
			c.among.mu.Unlock()
		}
	}
}

// strangerOf finds the connection below TLS; nil for none.
func strangerOf(conn net.Conn) *strangerConn {
	if secure, ok := conn.(*tls.Conn); ok {
		conn = secure.NetConn()
	}
	c, _ := conn.(*strangerConn)
	return c
}

// know notes that the connection of a request has shown a good token.
func know(r *http.Request) {
	c, _ := r.Context().Value(connKey{}).(*strangerConn)
	if c == nil || c.known.Load() {
		return
	}
	c.known.Store(true)
	c.among.mu.Lock()
	c.leave()
	c.among.mu.Unlock()
}
