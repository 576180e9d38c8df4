// Package connections bounds the open connections of an HTTP server, so that no
// client can use up the file descriptors of the process.
//
// Connections without a valid token are anonymous and few. When a new connection
// exceeds their limit, the anonymous connections that have been idle longest are
// closed. A new connection has had no time to present its token, and a client may
// open hundreds at once. So a connection is closed only after a grace period, or
// when anonymous connections use a quarter of the descriptors.
//
// Connections with a valid token count against their client's share of half of the
// descriptors. When the share is used up, an idle connection of the same client is
// closed for a new one.
package connections

import (
	"container/list"
	"context"
	"crypto/tls"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"genkan/internal/gateway"
)

// Limits of the anonymous connections: the first applies where descriptors are
// plenty, the second where they are few.
const (
	maxAnonymous   = 256
	minAnonymous   = 16
	anonymousGrace = 2 * time.Second
)

// Limit bounds the connections that the server accepts from l by the descriptors
// that the process may use. It returns the listener to serve and sets ConnContext
// and ConnState of the server. The server's handler reports the clients of requests
// with Authenticated.
func Limit(server *http.Server, l net.Listener) net.Listener {
	return newLimiter(maxDescriptors()).limit(server, l)
}

// Authenticated notes that a request has presented a valid token of a client. It
// reports false if the client has as many connections as it may have and none of
// them is idle.
func Authenticated(r *http.Request, client string) bool {
	c, _ := r.Context().Value(connKey{}).(*connection)
	if c == nil || c.client.Load() != nil {
		return true
	}
	evicted, ok := c.limiter.assign(c, client)
	closeAll(evicted)
	return ok
}

// limiter counts the open connections of a server.
type limiter struct {
	// most anonymous connections may stay open, and burst for the grace period.
	most, burst int
	grace       time.Duration
	// shares divides the other connections between clients.
	shares *gateway.Shares

	mu        sync.Mutex
	anonymous list.List // of *connection, the longest idle first
	clients   map[string]map[*connection]struct{}
}

func newLimiter(descriptors int) *limiter {
	most := max(minAnonymous, min(maxAnonymous, descriptors/4))
	return &limiter{
		most: most, burst: max(most, descriptors/4), grace: anonymousGrace,
		shares:  gateway.NewShares(int64(max(minAnonymous, descriptors/2))),
		clients: map[string]map[*connection]struct{}{},
	}
}

func (m *limiter) limit(server *http.Server, l net.Listener) net.Listener {
	server.ConnContext = func(ctx context.Context, conn net.Conn) context.Context {
		if c := unwrap(conn); c != nil {
			return context.WithValue(ctx, connKey{}, c)
		}
		return ctx
	}
	server.ConnState = func(conn net.Conn, state http.ConnState) {
		c := unwrap(conn)
		switch {
		case c == nil:
		case state == http.StateActive:
			c.setIdleSince(0)
		case state == http.StateIdle:
			c.setIdleSince(time.Now().UnixNano())
		}
	}
	return listener{l, m}
}

// add counts a new connection and returns those to close for it.
func (m *limiter) add(c *connection) (evicted []*connection) {
	m.mu.Lock()
	defer m.mu.Unlock()
	now := time.Now()
	c.idleSince.Store(now.UnixNano())
	c.place = m.anonymous.PushBack(c)
	for m.anonymous.Len() > m.most {
		idlest, _ := m.anonymous.Front().Value.(*connection)
		if m.anonymous.Len() <= m.burst && time.Duration(now.UnixNano()-idlest.idleSince.Load()) < m.grace {
			break
		}
		idlest.remove()
		evicted = append(evicted, idlest)
	}
	return evicted
}

// assign counts an anonymous connection as one of a client and returns the
// client's connections to close for it. It reports false if the client's share is
// used up.
func (m *limiter) assign(c *connection, client string) (evicted []*connection, ok bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if c.client.Load() != nil { // a concurrent request on it came first
		return nil, true
	}
	for !m.shares.Take(client, 1) {
		idlest := m.idlest(client)
		if idlest == nil {
			return evicted, false
		}
		idlest.remove()
		evicted = append(evicted, idlest)
	}
	c.remove() // from the anonymous ones
	c.idleSince.Store(0)
	c.client.Store(&client)
	if m.clients[client] == nil {
		m.clients[client] = map[*connection]struct{}{}
	}
	m.clients[client][c] = struct{}{}
	return evicted, true
}

// idlest returns a connection of a client that has been idle for long; nil if none
// is idle. It looks at a random sample of them. Called with mu held.
func (m *limiter) idlest(client string) (found *connection) {
	const sample = 64
	seen, least := 0, int64(0)
	for c := range m.clients[client] {
		if since := c.idleSince.Load(); since != 0 && (found == nil || since < least) {
			found, least = c, since
		}
		if seen++; seen == sample {
			break
		}
	}
	return found
}

// listener counts the connections of a listener.
type listener struct {
	net.Listener
	limiter *limiter
}

// Accept returns the next connection. It closes the longest idle anonymous
// connections if there are too many.
func (l listener) Accept() (net.Conn, error) {
	conn, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	c := &connection{Conn: conn, limiter: l.limiter}
	closeAll(l.limiter.add(c))
	return c, nil
}

func closeAll(evicted []*connection) {
	for _, c := range evicted {
		_ = c.Close()
	}
}

// connection is an open connection.
type connection struct {
	net.Conn
	limiter *limiter
	// client is the client that first presented a valid token on it; nil while the
	// connection is anonymous.
	client atomic.Pointer[string]
	// idleSince is when its last request ended, in nanoseconds; 0 during a request.
	idleSince atomic.Int64

	// Guarded by limiter.mu.
	place  *list.Element // in limiter.anonymous; nil if the connection is not in it
	closed bool
}

// remove takes the connection out of all counts. Called with limiter.mu held.
func (c *connection) remove() {
	if c.place != nil {
		c.limiter.anonymous.Remove(c.place)
		c.place = nil
	}
	client := c.client.Load()
	if client == nil || c.closed {
		return
	}
	c.closed = true
	c.limiter.shares.Give(*client, 1)
	delete(c.limiter.clients[*client], c)
	if len(c.limiter.clients[*client]) == 0 {
		delete(c.limiter.clients, *client)
	}
}

// Close closes the connection.
func (c *connection) Close() error {
	c.limiter.mu.Lock()
	c.remove()
	c.limiter.mu.Unlock()
	return c.Conn.Close()
}

// CloseWrite closes the sending half. net/http does so before it closes a connection
// whose request it has not read to the end, so that the client sees the response.
func (c *connection) CloseWrite() error {
	if half, ok := c.Conn.(interface{ CloseWrite() error }); ok {
		return half.CloseWrite()
	}
	return nil
}

// setIdleSince notes that a request began or ended.
func (c *connection) setIdleSince(idleSince int64) {
	if c.client.Load() != nil {
		c.idleSince.Store(idleSince)
		return
	}
	c.limiter.mu.Lock()
	defer c.limiter.mu.Unlock()
	if c.place != nil {
		// An anonymous connection counts as idle while its request is read.
		c.idleSince.Store(time.Now().UnixNano())
		c.limiter.anonymous.MoveToBack(c.place)
		return
	}
	c.idleSince.Store(idleSince)
}

// connKey is the context key of a request's connection.
type connKey struct{}

// unwrap returns the connection below TLS; nil if the limiter does not count it.
func unwrap(conn net.Conn) *connection {
	if secure, ok := conn.(*tls.Conn); ok {
		conn = secure.NetConn()
	}
	c, _ := conn.(*connection)
	return c
}
