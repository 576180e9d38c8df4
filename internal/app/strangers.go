package app

import (
	"container/list"
	"context"
	"crypto/tls"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
	"time"
)

// Connections that have shown no good token could use up the process's file
// descriptors, so their number is bounded. The longest idle ones are closed when
// another comes. Connections with a good token do not count.
//
// A connection that was just opened has had no time to show its token, and a
// client may open hundreds at once. So it is closed only when it has been idle for
// a while, or when half of the descriptors are used up.

// maxStrangers bounds the idle connections without a good token where descriptors
// are plenty; minStrangers where they are few.
const (
	maxStrangers  = 256
	minStrangers  = 16
	strangerGrace = 2 * time.Second
)

// strangers are the connections that have not shown a good token.
type strangers struct {
	// most may stay for long, and crowd for the time of grace.
	most, crowd int
	grace       time.Duration

	mu    sync.Mutex
	conns list.List // of *strangerConn, the longest idle first
}

func newStrangers() *strangers {
	most := max(minStrangers, min(maxStrangers, maxDescriptors()/4))
	return &strangers{most: most, crowd: max(most, maxDescriptors()/2), grace: strangerGrace}
}

// strangerConn is a connection, known or not.
type strangerConn struct {
	net.Conn
	among *strangers
	known atomic.Bool // has shown a good token

	// Guarded by among.mu.
	place *list.Element // nil when it does not count
	since time.Time     // idle since then
}

// strangerListener wraps the connections of a listener.
type strangerListener struct {
	net.Listener
	among *strangers
}

// Accept returns the next connection, and closes the longest idle strangers if
// there are too many.
func (l strangerListener) Accept() (net.Conn, error) {
	conn, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	c := &strangerConn{Conn: conn, among: l.among}
	for _, out := range l.among.add(c) {
		_ = out.Close()
	}
	return c, nil
}

// add counts a connection and returns those that must go for it.
func (s *strangers) add(c *strangerConn) (out []*strangerConn) {
	s.mu.Lock()
	defer s.mu.Unlock()
	c.since = time.Now()
	c.place = s.conns.PushBack(c)
	for s.conns.Len() > s.most {
		idlest, _ := s.conns.Front().Value.(*strangerConn)
		if s.conns.Len() <= s.crowd && c.since.Sub(idlest.since) < s.grace {
			break
		}
		idlest.leave()
		out = append(out, idlest)
	}
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
				c.since = time.Now()
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
