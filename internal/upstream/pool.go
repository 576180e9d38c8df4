package upstream

import (
	"context"
	"errors"
	"sync"
	"time"

	"genkan/internal/gateway"
)

const (
	// maxPooled is how many connections a server may have beside the first.
	maxPooled = 32
	// poolIdle is how long one is kept that nobody uses.
	poolIdle = 30 * time.Minute
)

// connPool are connections for some callers only: of one session, of one
// folder, or of one call at a time; they grow from the trunk, the connection
// that everybody shares. They are opened by the call that needs
// them and closed when nobody has for long. The lists come from the first
// connection, which everybody shares.
type connPool struct {
	mu     sync.Mutex
	byKey  map[poolKey]*pooledConn
	closed bool
	// stated are the roots that clients have stated, by session.
	stated map[string]statedRoots
	open   sync.WaitGroup
}

type pooledConn struct {
	key poolKey
	// owner is the ClientID of the caller that opened it, whose share it counts
	// against, also where others of the same folder use it.
	owner string
	// watched are the resources that its callers want to hear of.
	watched watches
	// sessionEnded: the session that it was for is over.
	sessionEnded bool
	// workspace is where its client works, as its server knows it.
	workspace workspace
	// cleanup removes what was made for its server; nil for nothing.
	cleanup func()
	// opened is closed when conn or err is set.
	opened chan struct{}
	conn   conn
	err    error

	// closing is closed when it is to end.
	closing chan struct{}

	// users are calls; watchers keep it open, but leave it to one call.
	users, watchers int
	lastUsed        time.Time
	idle            *time.Timer
}

// openPooled opens a connection for a branch.
func (s *Server) openPooled(ctx context.Context, call *gateway.Call, mode string, where workspace, one *pooledConn) (conn, error) {
	s.mu.Lock()
	known := s.known
	s.mu.Unlock()
	us := self{version: s.deps.Version, capabilities: capabilitiesFor(call, mode, one.key)}
	e := listeners{
		changed: func(gateway.Kind, listSignal) {}, // lists are the first connection's
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
	c, err := s.dial(ctx, set, us, known.Era, e, where.roots)
	if err != nil {
		return nil, err
	}
	// Somebody may have put a link in the folder's place while the server started.
	if err := s.stillAllowed(call, where); err != nil {
		c.close()
		return nil, err
	}
	if level, _ := call.LogLevel(); level != "" {
		s.sendLogLevel(ctx, c, level)
	}
	return c, nil
}

// stillAllowed checks once more that a server may work in its client's folder,
// and that the path still leads there.
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
		Message: "server %s works in the client's folder, and the folder %q was not used: %s",
		Values:  []any{s.set.Name, where.dir, why},
	}
}

// poolKey says whose a branch is.
type poolKey struct {
	// root and session are empty where they make no difference.
	root, session string
	// guest: its callers have a token, so that its process was not started in their
	// folder. It makes no difference where there is a session.
	guest bool
	// exclusive: one call at a time; number tells such branches apart.
	exclusive bool
	number    int
}

// errPoolFull: no more connections may be opened for the caller.
var errPoolFull = errors.New("too many connections for some callers only")

// maxExclusive is how many connections a caller may have for calls that stand
// exclusive: nobody may take all.
const maxExclusive = maxPooled / 4

// pooledConn finds or opens the connection under a key, for a client. Of those for one call at a
// time the first that is free is taken, so that one call after the other finds
// the same.
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

// find returns the branch under a key that a call may use, or nil and the key
// of the one to open. Called with mu held.
func (b *connPool) find(want *poolKey, why purpose) *pooledConn {
	for ; want.number < maxExclusive; want.number++ {
		one := b.byKey[*want]
		if one == nil || !want.exclusive || one.users == 0 || why == forWatch {
			return one
		}
	}
	return nil
}

// makeSpace makes sure that a client may open one more. Clients share the
// connPool as in gateway.Shares. A client that has used up its share gets its new
// pooledConn in place of its own longest-idle one. Only a client without any branch
// takes that of another: the longest-idle one of the client that has the most.
// Otherwise many clients with one idle branch each would lock out the next.
// Called with mu held.
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

// held counts the branches of each client. Called with mu held.
func (b *connPool) held() map[string]int {
	held := map[string]int{}
	for _, one := range b.byKey {
		held[one.owner]++
	}
	return held
}

// add makes an entry for a branch that is being opened. Called with mu held.
func (b *connPool) add(key poolKey, owner string) *pooledConn {
	if b.byKey == nil {
		b.byKey = map[poolKey]*pooledConn{}
	}
	one := &pooledConn{key: key, owner: owner, opened: make(chan struct{}), closing: make(chan struct{}), lastUsed: time.Now()}
	b.byKey[key] = one
	return one
}

// end takes a branch out of the list and has it closed. Called with mu held.
func (b *connPool) end(one *pooledConn) {
	if b.drop(one) {
		close(one.closing)
	}
}

// endAll has all branches closed; the next calls open others.
func (b *connPool) endAll() {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, one := range b.byKey {
		b.end(one)
	}
}

// Forget ends what was only there for a session that is over.
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

// release gives up a call's seat, or a watcher's.
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

// drop takes a branch out of the list. Called with mu held.
func (b *connPool) drop(one *pooledConn) bool {
	if b.byKey[one.key] != one {
		return false
	}
	delete(b.byKey, one.key)
	return true
}

// runPooled opens a branch and waits until its connection is lost.
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

// close ends all branches and waits for them. The server's life has ended.
func (b *connPool) close() {
	b.mu.Lock()
	b.closed = true
	b.mu.Unlock()
	b.open.Wait()
}

// count is how many there are.
func (b *connPool) count() int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return len(b.byKey)
}
