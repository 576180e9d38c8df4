package upstream

import (
	"cmp"
	"context"
	"errors"
	"sync"
	"time"

	"genkan/internal/gateway"
)

const (
	// maxPooled is how many connections a server may have beside the shared one.
	maxPooled = 32
	// poolIdle is how long an unused connection stays open.
	poolIdle = 30 * time.Minute
)

// connPool holds the connections that not all callers share: those of one
// session, of one folder, or of one call at a time. A connection is opened by the
// first call that needs it and closed when it has been idle for poolIdle. Lists
// are read on the shared connection only.
type connPool struct {
	mu     sync.Mutex
	byKey  map[poolKey]*pooledConn
	closed bool
	// stated holds the answers to roots/list, by session.
	stated map[string]statedRoots
	open   sync.WaitGroup
}

// pooledConn is a connection of the pool, or one that is being opened.
type pooledConn struct {
	key poolKey
	// owner is the ClientID of the caller that opened the connection. It counts
	// against the owner's share, even if others with the same folder use it.
	owner string
	// watched are the subscriptions of its callers.
	watched watches
	// sessionEnded is set when the session that it was opened for has ended.
	sessionEnded bool
	// workspace is the client's workspace as last sent to the server.
	workspace workspace
	// cleanup removes the files that were made for the server; may be nil.
	cleanup func()
	// opened is closed when conn or err is set.
	opened chan struct{}
	conn   conn
	err    error

	// closing is closed to end the connection.
	closing chan struct{}

	// users counts calls and watchers counts subscriptions. Both keep the
	// connection open; only users make an exclusive one busy.
	users, watchers int
	lastUsed        time.Time
	idle            *time.Timer
}

// opener returns a function that opens a connection for a call.
func (s *Server) opener(call *gateway.Call, mode string, where workspace) func(context.Context, *pooledConn) (conn, error) {
	return func(ctx context.Context, one *pooledConn) (conn, error) {
		return s.openPooled(ctx, call, mode, where, one)
	}
}

// openPooled opens the connection of one.
func (s *Server) openPooled(ctx context.Context, call *gateway.Call, mode string, where workspace, one *pooledConn) (conn, error) {
	s.mu.Lock()
	known := s.known
	s.mu.Unlock()
	us := self{version: s.deps.Version, capabilities: capabilitiesFor(call, mode, one.key)}
	e := listeners{
		changed: func(gateway.Kind, listSignal) {}, // lists are read on the shared connection
		updated: one.watched.updated, progressed: one.watched.progressed, asked: s.asked, renewed: func() {},
	}
	set := s.set
	if where.dir != "" {
		// Callers with a token may be able to write in their folder, and a program
		// such as npx runs what it finds where it is started. So the process starts
		// elsewhere, unless the configuration says cwd.
		if !call.Identity.IsLocal() && set.Command != "" && set.Dir == "" {
			dir, remove, err := s.deps.Launcher.EmptyDir(set.Name)
			if err != nil {
				return nil, err
			}
			set.Dir, one.cleanup = dir, remove
		}
		set = set.in(where.dir)
	}
	one.workspace = where
	if err := s.stillAllowed(call, where); err != nil {
		return nil, err
	}
	c, err := s.dial(ctx, set, us, cmp.Or(one.key.era, s.eraToOpen(&known)), e, where.roots)
	if err != nil && one.key.isShared() && s.life.Err() == nil {
		s.refuseEra(err) // the shared connection works
		return nil, errEraRefused
	}
	if err != nil {
		return nil, err
	}
	if one.key.era != gateway.EraNone {
		if err := s.checkEra(c, one.key.era); err != nil {
			c.close()
			return nil, err
		}
	}
	// The folder may have been replaced by a link while the server started.
	if err := s.stillAllowed(call, where); err != nil {
		c.close()
		return nil, err
	}
	level, _ := call.LogLevel()
	if one.key.isShared() {
		s.mu.Lock()
		level = s.logLevel
		s.mu.Unlock()
	}
	if level != "" {
		s.sendLogLevel(ctx, c, level)
	}
	return c, nil
}

// stillAllowed checks again that a server may work in its client's folder and
// that the path still leads there.
func (s *Server) stillAllowed(call *gateway.Call, where workspace) error {
	if where.dir == "" {
		return nil
	}
	path, why := s.folder(call.Identity, where.dir)
	if path == where.dir {
		return nil
	}
	if path != "" {
		why = gateway.Textf("it was replaced by a link just now")
	}
	return &gateway.Error{
		Code: gateway.CodeInvalid, Unsent: true,
		Message: "server %s works in the client's folder, and may not work in %q: %s",
		Values:  []any{s.set.Name, where.dir, why},
	}
}

// poolKey identifies the callers that share a connection.
type poolKey struct {
	// root and session are empty where calls are not separated by them.
	root, session string
	// era is the era of the connection where it follows the callers.
	era gateway.Era
	// guest is set for callers with a token: the process was not started in their
	// folder. It is not set where there is a session.
	guest bool
	// exclusive connections carry one call at a time; number distinguishes them.
	exclusive bool
	number    int
}

// isShared reports whether a connection is shared by all callers of its era.
func (k poolKey) isShared() bool { return k.root == "" && k.session == "" }

// errPoolFull means that the caller may open no more connections.
var errPoolFull = errors.New("too many connections for some callers only")

// maxExclusive is how many exclusive connections one caller may have, so that
// nobody takes all.
const maxExclusive = maxPooled / 4

// acquirePooled returns the connection with a key, and opens it if there is none.
// Of several exclusive connections it takes the first that is free, so that
// successive calls use the same one.
func (s *Server) acquirePooled(ctx context.Context, client string, want poolKey, why purpose, openPooled func(context.Context, *pooledConn) (conn, error)) (lease, error) {
	b := &s.pool
	b.mu.Lock()
	if b.closed {
		b.mu.Unlock()
		return lease{}, s.removed()
	}
	found := b.find(&want, why)
	if found == nil {
		if want.number >= maxExclusive || !b.makeSpace(client) {
			held, all := b.held()[client], len(b.byKey)
			b.mu.Unlock()
			return lease{}, &gateway.Error{
				Code: gateway.CodeLimited, Unsent: true, RetryAfter: time.Second, Err: errPoolFull,
				Message: "server %s has no connection left for this client now: %d of %d are this client's, and all are in use. End some of the client's calls, or try again later",
				Values:  []any{s.set.Name, held, all},
			}
		}
		found = b.add(want, client)
		b.open.Go(func() { s.runPooled(found, openPooled) })
	}
	holders := &found.users
	if why == forWatch {
		holders = &found.watchers
	}
	*holders++
	if found.idle != nil {
		found.idle.Stop()
	}
	b.mu.Unlock()
	release := sync.OnceFunc(func() { b.release(found, holders) })
	select {
	case <-found.opened:
	case <-ctx.Done():
		release()
		return lease{}, s.notStarted(ctx)
	}
	if found.err != nil {
		release()
		return lease{}, unsent(found.err)
	}
	return lease{conn: found.conn, watched: &found.watched, pooled: found, release: release}, nil
}

// find returns the connection that a call may use. If there is none it returns
// nil, and want is the key of the one to open. Called with mu held.
func (b *connPool) find(want *poolKey, why purpose) *pooledConn {
	for ; want.number < maxExclusive; want.number++ {
		one := b.byKey[*want]
		if one == nil || !want.exclusive || one.users == 0 || why == forWatch {
			return one
		}
	}
	return nil
}

// makeSpace reports whether a client may open one more connection, and closes an
// idle one if that is needed. Clients share the pool as in gateway.Shares. A
// client that has used up its share loses its own longest-idle connection. Only a
// client without any connection takes that of another: the longest-idle one of
// the client that has the most. Otherwise many clients with one idle connection
// each would lock out the next. Called with mu held.
func (b *connPool) makeSpace(client string) bool {
	held := b.held()
	if gateway.WithinShare(int64(held[client]), 1, int64(maxPooled-len(b.byKey))) {
		return true
	}
	var victim *pooledConn
	for _, one := range b.byKey {
		switch {
		case !one.isIdle() || held[client] > 0 && one.owner != client:
		case victim == nil || held[one.owner] > held[victim.owner],
			held[one.owner] == held[victim.owner] && one.lastUsed.Before(victim.lastUsed):
			victim = one
		}
	}
	if victim == nil {
		return false
	}
	b.end(victim)
	return true
}

// held counts the connections of each client. Called with mu held.
func (b *connPool) held() map[string]int {
	held := map[string]int{}
	for _, one := range b.byKey {
		held[one.owner]++
	}
	return held
}

// add adds a connection that is being opened. Called with mu held.
func (b *connPool) add(key poolKey, owner string) *pooledConn {
	if b.byKey == nil {
		b.byKey = map[poolKey]*pooledConn{}
	}
	one := &pooledConn{key: key, owner: owner, opened: make(chan struct{}), closing: make(chan struct{}), lastUsed: time.Now()}
	b.byKey[key] = one
	return one
}

// end removes a connection from the pool and closes it. Called with mu held.
func (b *connPool) end(one *pooledConn) {
	if b.drop(one) {
		close(one.closing)
	}
}

// endAll closes all connections; the next calls open new ones.
func (b *connPool) endAll() {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, one := range b.byKey {
		b.end(one)
	}
}

// Forget closes the connections of a session that has ended.
func (s *Server) Forget(session string) {
	b := &s.pool
	b.mu.Lock()
	defer b.mu.Unlock()
	delete(b.stated, session)
	for key, one := range b.byKey {
		if key.session == session {
			if one.sessionEnded = true; one.isIdle() {
				b.end(one)
			}
		}
	}
}

func (b *pooledConn) isIdle() bool { return b.users+b.watchers == 0 }

// release returns a connection to the pool. holders is the counter that was
// raised for the lease.
func (b *connPool) release(one *pooledConn, holders *int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	*holders--
	one.lastUsed = time.Now()
	switch {
	case !one.isIdle() || b.closed:
	case one.sessionEnded:
		b.end(one)
	default:
		one.idle = time.AfterFunc(poolIdle, func() {
			b.mu.Lock()
			defer b.mu.Unlock()
			if one.isIdle() {
				b.end(one)
			}
		})
	}
}

// drop removes a connection from the pool. It reports false if the connection
// was removed before. Called with mu held.
func (b *connPool) drop(one *pooledConn) bool {
	if b.byKey[one.key] != one {
		return false
	}
	delete(b.byKey, one.key)
	return true
}

// runPooled opens a connection, waits until it is lost or unwanted, and closes it.
func (s *Server) runPooled(one *pooledConn, openPooled func(context.Context, *pooledConn) (conn, error)) {
	b := &s.pool
	ctx, cancel := context.WithTimeoutCause(s.life, s.set.StartupTimeout, s.startTimeout())
	c, err := openPooled(ctx, one)
	if err != nil && ctx.Err() != nil {
		err = context.Cause(ctx)
	}
	cancel()
	one.conn, one.err = c, err
	close(one.opened)
	if err == nil {
		select {
		case <-c.lost():
		case <-one.closing:
		case <-s.life.Done():
		}
	}
	b.mu.Lock()
	b.drop(one)
	if one.idle != nil {
		one.idle.Stop()
	}
	b.mu.Unlock()
	if err == nil {
		c.close()
	}
	if one.cleanup != nil {
		one.cleanup()
	}
}

// close waits until all connections are closed. The server's life has ended.
func (b *connPool) close() {
	b.mu.Lock()
	b.closed = true
	b.mu.Unlock()
	b.open.Wait()
}

// count returns the number of connections.
func (b *connPool) count() int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return len(b.byKey)
}

// conns returns all open connections to the server.
func (s *Server) conns() []conn {
	var all []conn
	s.mu.Lock()
	if s.conn != nil {
		all = append(all, s.conn)
	}
	s.mu.Unlock()
	for _, one := range s.pool.of(func(poolKey) bool { return true }) {
		select {
		case <-one.opened:
			if one.err == nil {
				all = append(all, one.conn)
			}
		default:
		}
	}
	return all
}

// of returns the connections whose keys match.
func (b *connPool) of(match func(poolKey) bool) (found []*pooledConn) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for key, one := range b.byKey {
		if match(key) {
			found = append(found, one)
		}
	}
	return found
}
