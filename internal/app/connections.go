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

	"genkan/internal/gateway"
)

// connections bounds the open connections, so that nobody can use up the file
// descriptors of the process.
//
// Those that have shown no good token are few. The longest idle ones are closed
// when another comes. A connection that was just opened has had no time to show
// its token, and a client may open hundreds at once; so it is closed only when it
// has been idle for a while, or when a quarter of the descriptors are used up.
//
// Those with a good token count against their client's share of half of the
// descriptors. When the share is used up, an idle connection of the same client is
// closed for a new one.
type connections struct {
	// most may stay for long, and crowd for the time of grace.
	most, crowd int
	grace       time.Duration
	shares      *gateway.Shares

	mu        sync.Mutex
	strangers list.List // of *connection without a good token, the longest idle first
	clients   map[string]map[*connection]struct{}
}

// Bounds of the connections without a good token, where descriptors are plenty
// and where they are few.
const (
	maxStrangers  = 256
	minStrangers  = 16
	strangerGrace = 2 * time.Second
)

func newConnections() *connections {
	descriptors := maxDescriptors()
	most := max(minStrangers, min(maxStrangers, descriptors/4))
	return &connections{
		most: most, crowd: max(most, descriptors/4), grace: strangerGrace,
		shares: gateway.NewShares(int64(max(minStrangers, descriptors/2))), clients: map[string]map[*connection]struct{}{},
	}
}

// connection is an open connection.
type connection struct {
	net.Conn
	among *connections
	// client is who has shown a good token on it first; nil before that.
	client atomic.Pointer[string]
	// idleSince is when its last request ended, in nanoseconds; 0 during a request.
	idleSince atomic.Int64

	// Guarded by among.mu.
	place  *list.Element // among the strangers; nil for others
	closed bool
}

// listener wraps the connections of a listener.
type listener struct {
	net.Listener
	among *connections
}

// Accept returns the next connection, and closes the longest idle strangers if
// there are too many.
func (l listener) Accept() (net.Conn, error) {
	conn, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	c := &connection{Conn: conn, among: l.among}
	for _, out := range l.among.add(c) {
		_ = out.Close()
	}
	return c, nil
}

// add counts a connection and returns those that must go for it.
func (cs *connections) add(c *connection) (out []*connection) {
	cs.mu.Lock()
	defer cs.mu.Unlock()
	now := time.Now()
	c.idleSince.Store(now.UnixNano())
	c.place = cs.strangers.PushBack(c)
	for cs.strangers.Len() > cs.most {
		idlest, _ := cs.strangers.Front().Value.(*connection)
		if cs.strangers.Len() <= cs.crowd && time.Duration(now.UnixNano()-idlest.idleSince.Load()) < cs.grace {
			break
		}
		idlest.forget()
		out = append(out, idlest)
	}
	return out
}

// forget takes the connection out of all counts. Called with among.mu held.
func (c *connection) forget() {
	if c.place != nil {
		c.among.strangers.Remove(c.place)
		c.place = nil
	}
	client := c.client.Load()
	if client == nil || c.closed {
		return
	}
	c.closed = true
	c.among.shares.Give(*client, 1)
	delete(c.among.clients[*client], c)
	if len(c.among.clients[*client]) == 0 {
		delete(c.among.clients, *client)
	}
}

// Close closes the connection.
func (c *connection) Close() error {
	c.among.mu.Lock()
	c.forget()
	c.among.mu.Unlock()
	return c.Conn.Close()
}

// CloseWrite ends the sending half, as net/http does before it closes a connection
// whose request it has not read to the end: or the client would not see the answer.
func (c *connection) CloseWrite() error {
	if half, ok := c.Conn.(interface{ CloseWrite() error }); ok {
		return half.CloseWrite()
	}
	return nil
}

// know notes that the connection of a request has shown a good token. It reports
// false when the client has as many connections as it may have, and none is idle.
func know(r *http.Request, client string) bool {
	c, _ := r.Context().Value(connKey{}).(*connection)
	if c == nil || c.client.Load() != nil {
		return true
	}
	out, ok := c.among.know(c, client)
	for _, one := range out {
		_ = one.Close()
	}
	return ok
}

func (cs *connections) know(c *connection, client string) (out []*connection, ok bool) {
	cs.mu.Lock()
	defer cs.mu.Unlock()
	if c.client.Load() != nil { // another request on it was first
		return nil, true
	}
	for !cs.shares.Take(client, 1) {
		idlest := cs.idlest(client)
		if idlest == nil {
			return out, false
		}
		idlest.forget()
		out = append(out, idlest)
	}
	c.forget() // it is no stranger any more
	c.idleSince.Store(0)
	c.client.Store(&client)
	if cs.clients[client] == nil {
		cs.clients[client] = map[*connection]struct{}{}
	}
	cs.clients[client][c] = struct{}{}
	return out, true
}

// idlest finds a connection of a client that has long been idle; nil for none. It
// looks at some of them only, which change from time to time. Called with mu held.
func (cs *connections) idlest(client string) (found *connection) {
	const sample = 64
	seen, least := 0, int64(0)
	for c := range cs.clients[client] {
		if since := c.idleSince.Load(); since != 0 && (found == nil || since < least) {
			found, least = c, since
		}
		if seen++; seen == sample {
			break
		}
	}
	return found
}

// connKey is the key of a request's connection in its context.
type connKey struct{}

// track has a server tell of its connections.
func track(server *http.Server) {
	server.ConnContext = func(ctx context.Context, conn net.Conn) context.Context {
		if c := trackedOf(conn); c != nil {
			return context.WithValue(ctx, connKey{}, c)
		}
		return ctx
	}
	server.ConnState = func(conn net.Conn, state http.ConnState) {
		c := trackedOf(conn)
		switch {
		case c == nil:
		case state == http.StateActive:
			c.used(0)
		case state == http.StateIdle:
			c.used(time.Now().UnixNano())
		}
	}
}

// used notes that a request began or ended.
func (c *connection) used(idleSince int64) {
	if c.client.Load() != nil {
		c.idleSince.Store(idleSince)
		return
	}
	c.among.mu.Lock()
	defer c.among.mu.Unlock()
	if c.place != nil {
		// A stranger is idle also while its request is read.
		c.idleSince.Store(time.Now().UnixNano())
		c.among.strangers.MoveToBack(c.place)
		return
	}
	c.idleSince.Store(idleSince)
}

// trackedOf finds the connection below TLS; nil for none.
func trackedOf(conn net.Conn) *connection {
	if secure, ok := conn.(*tls.Conn); ok {
		conn = secure.NetConn()
	}
	c, _ := conn.(*connection)
	return c
}
